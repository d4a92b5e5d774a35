//go:build unix

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/halfulp/halfulp/internal/mpitest"
	"github.com/halfulp/halfulp/internal/testlength"
)

// TestInterrupt sends signals to runs that wait for input, compute or write. It checks the exit
// status, that there is one line of output, and that no file is left.
func TestInterrupt(t *testing.T) {
	big := filepath.Join(t.TempDir(), "A.mtx")
	if status := run([]string{"gen", "random", "500", "500", "--bits", "20", "--out", big}, nil, io.Discard, io.Discard); status != 0 {
		t.Fatalf("gen: exit status %d", status)
	}
	text, err := os.ReadFile(big)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		args   string
		input  string // read before the signal, except what a pipe holds
		signal syscall.Signal
		ready  func(dir string) bool // whether it is time for the signal
	}{
		{"reading", "sum - --out z", ones, syscall.SIGINT, after(0)},
		{"computing", "gemm - " + big + " --method direct --format mp:60000 --out z", string(text), syscall.SIGINT, after(time.Second)},
		{"writing", "gen random 700 700 --format mp:3000 --out z.gz", "", syscall.SIGTERM, written},
		{"hung up", "gen random 700 700 --format mp:3000 --out z.gz", "", syscall.SIGHUP, written},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel() // they wait
			if signal.Ignored(c.signal) {
				t.Skipf("%v is ignored here, and so in what is started here", c.signal)
			}
			dir := t.TempDir()
			cmd := exec.Command("halfulp", strings.Fields(c.args)...)
			cmd.Dir = dir
			var stdout, stderr strings.Builder
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			in, err := cmd.StdinPipe() // stays open where there is nothing to compute
			if err != nil {
				t.Fatal(err)
			}
			defer in.Close()
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if _, err := io.WriteString(in, c.input); err != nil {
				t.Fatal(err)
			}
			if c.name == "computing" {
				in.Close()
			}
			for !c.ready(dir) { // go test ends a run that never gets there
				time.Sleep(time.Millisecond)
			}
			if err := cmd.Process.Signal(c.signal); err != nil {
				t.Fatal(err)
			}
			var exit *exec.ExitError
			if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 128+int(c.signal) {
				t.Errorf("%v, stderr %q, want exit status %d", err, stderr.String(), 128+int(c.signal))
			}
			word := map[syscall.Signal]string{syscall.SIGHUP: "hung up", syscall.SIGINT: "interrupted", syscall.SIGTERM: "terminated"}[c.signal]
			if want := fmt.Sprintf("halfulp: %s\n", word); stderr.String() != want {
				t.Errorf("stderr %q, want %q", stderr.String(), want)
			}
			if stdout.Len() > 0 {
				t.Errorf("stdout %q", stdout.String())
			}
			left, err := os.ReadDir(dir)
			if err != nil || len(left) > 0 {
				t.Errorf("left behind: %v, %v", left, err)
			}
		})
	}
}

// TestInterruptTwice sends two signals at once to a run that writes: no temporary file is left.
func TestInterruptTwice(t *testing.T) {
	if signal.Ignored(syscall.SIGINT) {
		t.Skip("interrupts are ignored here, and so in what is started here")
	}
	for range testlength.Of(1, 1, 3) {
		dir := t.TempDir()
		cmd := exec.Command("halfulp", strings.Fields("gen random 700 700 --format mp:3000 --out z.gz")...)
		cmd.Dir = dir
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for limit := time.Now().Add(2 * time.Minute); !written(dir) && time.Now().Before(limit); {
			time.Sleep(time.Millisecond)
		}
		for _, s := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGINT, syscall.SIGTERM, syscall.SIGCONT} {
			if err := cmd.Process.Signal(s); err != nil {
				t.Fatal(err)
			}
		}
		err := cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code != 128+int(syscall.SIGINT) && code != 128+int(syscall.SIGTERM) {
			t.Errorf("%v: exit status %d", err, code)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("left behind: %v, %v", left, err)
		}
	}
}

// TestInterruptedProcess sends signals to one of two processes while the result is written: both
// end with the status of the signal, in one message, and leave no new file, not even a temporary
// one.
func TestInterruptedProcess(t *testing.T) {
	mpiexec := mpitest.Mpiexec(t)
	halfulp, err := exec.LookPath("halfulp")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	input, script := filepath.Join(dir, "M.npz"), filepath.Join(dir, "noted.sh")
	if status := run([]string{"gen", "random", "120", "120", "--format", "mp:4000", "--out", input}, nil, io.Discard, io.Discard); status != 0 {
		t.Fatalf("gen: exit status %d", status)
	}
	if err := os.WriteFile(script, []byte("#!/bin/sh\necho $$ >pid$PMI_RANK\nexec "+halfulp+" \"$@\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		process int
		signals []syscall.Signal
		args    string
		want    string
		slow    bool // the other process stops for a second
	}{
		{1, []syscall.Signal{syscall.SIGTERM}, "--out out/E.mtx.gz", "process 1: halfulp: terminated\n", false},
		{0, []syscall.Signal{syscall.SIGINT}, "--out out/E.mtx", "halfulp: interrupted\n", false},
		{1, []syscall.Signal{syscall.SIGHUP}, "--out out/E.mtx --grid 1x2", "process 1: halfulp: hung up\n", false},
		{1, []syscall.Signal{syscall.SIGINT, syscall.SIGTERM}, "--out out/E.mtx.gz", "", false},
		{1, []syscall.Signal{syscall.SIGINT, syscall.SIGTERM}, "--out out/E.mtx.gz", "", true},
	} {
		t.Run(fmt.Sprint(x.process, x.signals, x.args, x.slow), func(t *testing.T) {
			for _, s := range x.signals {
				if signal.Ignored(s) {
					t.Skipf("%v is ignored here, and so in what is started here", s)
				}
			}
			for range 10 { // the result may be there before the signal
				at := t.TempDir()
				to := filepath.Join(at, "out")
				if err := os.Mkdir(to, 0o700); err != nil {
					t.Fatal(err)
				}
				c := exec.Command("timeout", append(strings.Fields("240 "+mpiexec+" -n 2 "+script+" gemm "+input+" "+input+" --format mp:4000"), strings.Fields(x.args)...)...)
				var out bytes.Buffer
				c.Dir, c.Stdout, c.Stderr, c.WaitDelay = at, &out, &out, 5*time.Second
				if err := c.Start(); err != nil {
					t.Fatal(err)
				}
				for limit := time.Now().Add(2 * time.Minute); !written(to) && time.Now().Before(limit); {
					time.Sleep(time.Millisecond)
				}
				pid := func(process int) int {
					text, err := os.ReadFile(filepath.Join(at, fmt.Sprint("pid", process)))
					n, err2 := strconv.Atoi(strings.TrimSpace(string(text)))
					if err := errors.Join(err, err2); err != nil {
						t.Fatal(err)
					}
					return n
				}
				one, other := pid(x.process), pid(1-x.process)
				if x.slow {
					_ = syscall.Kill(other, syscall.SIGSTOP) // it may have ended, as below
				}
				for _, s := range x.signals {
					_ = syscall.Kill(one, s)
				}
				if x.slow {
					time.Sleep(time.Second)
					_ = syscall.Kill(other, syscall.SIGCONT)
				}
				err = c.Wait()
				if err == nil && exists(filepath.Join(to, strings.Fields(x.args)[1][len("out/"):])) {
					continue
				}
				if code := c.ProcessState.ExitCode(); code != 128+int(x.signals[0]) && code != 128+int(x.signals[len(x.signals)-1]) {
					t.Errorf("%v, %s", err, &out)
				}
				if x.want != "" && out.String() != x.want {
					t.Errorf("%q, want %q", &out, x.want)
				}
				if left := list(t, to); left != nil {
					t.Errorf("left behind: %v", left)
				}
				return
			}
			t.Error("no signal came in time")
		})
	}
}

// ones are more numbers than a pipe holds: when they are written, the program reads.
var ones = strings.Repeat("1\n", 100000)

// written reports whether some file in dir holds something.
func written(dir string) bool {
	left, _ := os.ReadDir(dir)
	for _, e := range left {
		if i, err := e.Info(); err == nil && i.Size() > 0 {
			return true
		}
	}
	return false
}

// TestHangUpIgnored sends SIGHUP to a run that was started to ignore it.
func TestHangUpIgnored(t *testing.T) {
	nohup, err := exec.LookPath("nohup")
	if err != nil {
		t.Skip(err)
	}
	self, err := exec.LookPath("halfulp")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(nohup, self, "sum", "-")
	var stdout strings.Builder
	cmd.Stdout = &stdout
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(in, ones); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	time.Sleep(200 * time.Millisecond)
	if _, err := io.WriteString(in, "3\n"); err != nil {
		t.Error(err)
	}
	in.Close()
	if err := cmd.Wait(); err != nil || stdout.String() != "100003\n" {
		t.Errorf("%v, stdout %q", err, stdout.String())
	}
}

// after returns a function that is true from d after its first call on.
func after(d time.Duration) func(string) bool {
	var start time.Time
	return func(string) bool {
		if start.IsZero() {
			start = time.Now()
		}
		return time.Since(start) > d
	}
}
