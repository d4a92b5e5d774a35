package testseed

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestParse has all kinds of values of the variable.
func TestParse(t *testing.T) {
	for text, want := range map[string]uint64{"0": 0, "7": 7, "18446744073709551615": 1<<64 - 1} {
		if seed, set := parse(text); seed != want || !set {
			t.Errorf("%s: %d, %v", text, seed, set)
		}
	}
	if seed, set := parse(""); seed != 0 || set {
		t.Errorf("unset: %d, %v", seed, set)
	}
	a, set := parse("random")
	if b, _ := parse("random"); a == b || !set {
		t.Errorf("random: %d, %d, %v", a, b, set)
	}
	for _, text := range []string{"-1", "x", "1.5", "18446744073709551616", "Random"} {
		func() {
			defer func() {
				if got, _ := recover().(string); !strings.HasPrefix(got, Env+"="+text+": want ") {
					t.Errorf("%s: panic with %q", text, got)
				}
			}()
			parse(text)
		}()
	}
}

// TestFailing fails where asked to: it shows what a failing test prints.
func TestFailing(t *testing.T) {
	if os.Getenv("TESTSEED_FAILS") == "" {
		t.Skip("TestPrinted runs it")
	}
	t.Errorf("drew %d %d", Of(t), Rand(t, 3, 4).Uint64())
}

// TestPrinted runs a test that fails: the same seeds each time, others with the variable set, and
// what is printed repeats them.
func TestPrinted(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	run := func(value string) (drew, seed string) {
		c := exec.Command(program, "-test.run=^TestFailing$")
		c.Env = append(os.Environ(), "TESTSEED_FAILS=1", Env+"="+value)
		out, _ := c.CombinedOutput()
		d := regexp.MustCompile(`drew (\d+ \d+)`).FindSubmatch(out)
		s := regexp.MustCompile(Env + `=(\d+) go test -run '\^TestFailing\$'`).FindSubmatch(out)
		if d == nil || s == nil {
			t.Fatalf("%s=%s: %s", Env, value, out)
		}
		return string(d[1]), string(s[1])
	}
	fixed, _ := run("")
	if again, _ := run(""); again != fixed {
		t.Errorf("%s and %s", fixed, again)
	}
	if own := rand.New(rand.NewPCG(3, 4)).Uint64(); !strings.HasSuffix(fixed, " "+strconv.FormatUint(own, 10)) {
		t.Errorf("drew %s, want %d", fixed, own)
	}
	varied, seed := run("random")
	if varied == fixed {
		t.Errorf("drew %s with a random seed", varied)
	}
	if again, s := run(seed); again != varied || s != seed {
		t.Errorf("%s with seed %s, %s with %s", varied, seed, again, s)
	}
	if seven, s := run("7"); seven == fixed || s != "7" {
		t.Errorf("%s with seed %s", seven, s)
	}
}
