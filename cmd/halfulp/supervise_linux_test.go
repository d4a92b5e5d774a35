package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/halfulp/halfulp/internal/testlength"
)

// limited returns a command that runs the program with 4 GB of address space. It skips the test if
// the program does not start with that, as with a race detector.
func limited(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	const script = `ulimit -v 4000000 && exec halfulp "$@"`
	if err := exec.Command("sh", "-c", script, "sh", "version").Run(); err != nil {
		t.Skipf("the program does not run in 4 GB of address space: %v", err)
	}
	return exec.Command("sh", append([]string{"-c", script, "sh"}, args...)...)
}

// TestMemoryRefused: if a limit of the system refuses memory, there is one line and status 1.
func TestMemoryRefused(t *testing.T) {
	testlength.SkipRace(t, "the detector ends a program with too little address space")
	dir := t.TempDir()
	x := filepath.Join(dir, "x.npy")
	if status := run([]string{"gen", "random", "30000", "1", "--out", x}, nil, io.Discard, io.Discard); status != 0 {
		t.Fatalf("gen: exit status %d", status)
	}
	const said = "not enough memory: the system limits this process to 3.815 GiB of address space (ulimit -v)"
	for _, c := range []struct {
		flag, want string
	}{{"--quiet", "halfulp: " + said + "\n"}, {"--json", `{"error":"` + said + `","status":1}` + "\n"}} {
		args := []string{"syrk", x, "--memory", "100G", c.flag}
		if c.flag != "--json" {
			args = append(args, "--out", filepath.Join(dir, "z.npy"))
		}
		cmd := limited(t, args...)
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		var exit *exec.ExitError
		if err := cmd.Run(); !errors.As(err, &exit) || exit.ExitCode() != 1 || stderr.String() != c.want || stdout.Len() > 0 {
			t.Errorf("%v: %v, stdout %.200q, stderr %.2000q, want %q", cmd.Args, err, &stdout, &stderr, c.want)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) > 1 {
		t.Errorf("left behind: %v", left)
	}
}

// TestSupervised runs commands under a limit that is not reached: nothing else differs.
func TestSupervised(t *testing.T) {
	for _, c := range []struct {
		args, input, stdout, stderr string
		status                      int
	}{
		{"sum -", "1 2.5\n", "3.5\n", "", 0},
		{"sum none.mtx", "", "", "halfulp: none.mtx: no such file or directory\n", 1},
		{"sum --format f65 -", "", "", "halfulp: --format", 2},
	} {
		cmd := limited(t, strings.Fields(c.args)...)
		var stdout, stderr strings.Builder
		cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(c.input), &stdout, &stderr
		_ = cmd.Run()
		if status := cmd.ProcessState.ExitCode(); status != c.status || stdout.String() != c.stdout || !strings.HasPrefix(stderr.String(), c.stderr) || (stderr.Len() > 0) != (c.stderr != "") {
			t.Errorf("%s: status %d, stdout %q, stderr %q, want %+v", c.args, status, &stdout, &stderr, c)
		}
	}
}

// TestSupervisedSignals sends signals to a supervised run that waits for input.
func TestSupervisedSignals(t *testing.T) {
	for s, word := range map[syscall.Signal]string{syscall.SIGINT: "interrupted", syscall.SIGTERM: "terminated", syscall.SIGKILL: ""} {
		if signal.Ignored(s) { // and so in what is started here, unless this test takes it
			taken := make(chan os.Signal, 1)
			signal.Notify(taken, s)
			defer signal.Stop(taken)
		}
		cmd := limited(t, "sum", "-")
		var stderr strings.Builder
		cmd.Stderr = &stderr
		r, in, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		cmd.Stdin = r
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		r.Close()
		if _, err := io.WriteString(in, ones); err != nil { // the child reads
			t.Fatal(err)
		}
		if err := cmd.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		state := cmd.ProcessState.Sys().(syscall.WaitStatus)
		if s == syscall.SIGKILL {
			if !state.Signaled() || state.Signal() != s {
				t.Errorf("%v: %v", s, cmd.ProcessState)
			}
			// The reader has gone.
			for deadline := time.Now().Add(time.Minute); err == nil && time.Now().Before(deadline); {
				_, err = io.WriteString(in, ones)
			}
			if !errors.Is(err, syscall.EPIPE) {
				t.Errorf("%v: the child reads on: %v", s, err)
			}
		} else if state.ExitStatus() != 128+int(s) || stderr.String() != "halfulp: "+word+"\n" {
			t.Errorf("%v: %v, stderr %q", s, cmd.ProcessState, &stderr)
		}
		in.Close()
	}
}
