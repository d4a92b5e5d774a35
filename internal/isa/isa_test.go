package isa

import (
	"os"
	"slices"
	"strings"
	"testing"
)

func TestMain(m *testing.M) {
	os.Unsetenv(Env) // the tests look at the machine
	os.Exit(m.Run())
}

func TestParse(t *testing.T) {
	for l := Portable; l <= AMX; l++ {
		if got, err := Parse(l.String()); got != l || err != nil {
			t.Errorf("Parse(%q) = %v, %v", l.String(), got, err)
		}
	}
	for _, s := range []string{"", "AVX2", "sse2", "avx512vnni"} {
		if _, err := Parse(s); err == nil || !strings.Contains(err.Error(), "portable, neon, avx2, avx512, amx") {
			t.Errorf("Parse(%q): error %v does not list the names", s, err)
		}
	}
}

func TestFromEnv(t *testing.T) {
	for _, c := range []struct {
		value     string
		available []Set
		want      Set
		err       string
	}{
		{"", []Set{AVX2, Portable}, AVX2, ""},
		{"portable", []Set{AVX512, AVX2, Portable}, Portable, ""},
		{"avx2", []Set{AVX2, Portable}, AVX2, ""},
		{"neon", []Set{NEON, Portable}, NEON, ""},
		{"amx", []Set{AMX, AVX512, AVX2, Portable}, AMX, ""},
		{"amx", []Set{AVX512, AVX2, Portable}, AVX512, `HALFULP_LEVEL: level "amx" is not available here, the best is "avx512"`},
		{"avx512", []Set{AVX2, Portable}, AVX2, `HALFULP_LEVEL: level "avx512" is not available here, the best is "avx2"`},
		{"neon", []Set{AVX2, Portable}, AVX2, `HALFULP_LEVEL: level "neon" is not available here, the best is "avx2"`},
		{"avx2", []Set{NEON, Portable}, NEON, `HALFULP_LEVEL: level "avx2" is not available here, the best is "neon"`},
		{"sve2", []Set{NEON, Portable}, NEON, `HALFULP_LEVEL: unknown level "sve2"`},
	} {
		got, err := fromEnv(c.value, c.available)
		if got != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("fromEnv(%q, %v) = %v, %v; want %v, %q", c.value, c.available, got, err, c.want, c.err)
		}
	}
}

func TestForce(t *testing.T) {
	if ls := Levels(); ls[0] != Best() || ls[len(ls)-1] != Portable || !slices.IsSortedFunc(ls, func(a, b Set) int { return int(b - a) }) {
		t.Fatalf("Levels() = %v, best %v", ls, Best())
	}
	if err := CheckEnv(); err != nil {
		t.Fatal(err)
	}
	for _, l := range Levels() {
		restore := Force(l)
		inner := Force(Portable)
		if Level() != Portable || HasVNNI() || HasIFMA() {
			t.Errorf("forced portable: Level() = %v, HasVNNI() = %v, HasIFMA() = %v", Level(), HasVNNI(), HasIFMA())
		}
		inner()
		if Level() != l {
			t.Errorf("Level() = %v after the inner Force ended, want %v", Level(), l)
		}
		restore()
		t.Logf("level %v, VNNI %v", l, vnni && l >= AVX512)
	}
	if Level() != Best() {
		t.Errorf("Level() = %v after all Forces ended, want %v", Level(), Best())
	}
	if Best() < AMX {
		defer func() {
			if recover() == nil {
				t.Error("Force of an unavailable level did not panic")
			}
		}()
		Force(Best() + 1)
	}
}
