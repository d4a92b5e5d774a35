package main

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/cli"
	"github.com/halfulp/halfulp/internal/mpitest"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/mpi"
)

// TestNoMPI starts the program as mpiexec does, without MPI: it must say how to install one.
func TestNoMPI(t *testing.T) {
	testlength.SkipRace(t, "the programs that it starts are not watched")
	if runtime.GOOS != "linux" || strconv.IntSize < 64 {
		t.Skip("left out: MPI on Linux alone, in programs of 64 bits")
	}
	c := exec.Command(testProgram(t), "sum", "-")
	c.Env = []string{"PMI_RANK=0", "PATH=" + t.TempDir()}
	c.Stdin = strings.NewReader("1\n")
	out, err := c.CombinedOutput()
	if err == nil {
		t.Skip("the loader finds an MPI")
	}
	if c.ProcessState.ExitCode() != 1 || !strings.Contains(string(out), "halfulp: started by mpiexec:") || !strings.Contains(string(out), mpi.Install) {
		t.Errorf("%v: %s", err, out)
	}
}

// TestFailingProcesses ends runs of two processes by a failure of one of them or by a signal. They
// must end by themselves, leave existing files unchanged, and leave no temporary file.
func TestFailingProcesses(t *testing.T) {
	testlength.SkipRace(t, "the programs that it starts are not watched")
	mpiexec := mpitest.Mpiexec(t)
	dir := t.TempDir()
	halfulp := testProgram(t)
	t.Chdir(dir)
	if out, err := exec.Command(halfulp, "gen", "random", "300", "300", "--format", "mp:4000", "--out", "L.npz").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	script := "#!/bin/sh\n[ \"$PMI_RANK\" != 1 ] || " + "eval \"$SECOND\"\nexec " + halfulp + " \"$@\"\n"
	for name, text := range map[string]string{"lost.sh": script, "E.mtx": "old\n"} {
		if err := os.WriteFile(name, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	// another program of the same version: one with another build ID
	text, err := os.ReadFile(halfulp)
	if err != nil {
		t.Fatal(err)
	}
	id := regexp.MustCompile(`[\w-]{20}/[\w-]{20}/`).FindIndex(text[:4096])
	if id == nil {
		t.Fatal("no build ID")
	}
	text[id[0]] ^= 1
	if err := errors.Join(os.Mkdir("other", 0o700), os.WriteFile("other/halfulp", text, 0o700)); err != nil {
		t.Fatal(err)
	}
	before := list(t, dir)
	for _, x := range []struct {
		name, second string // what the second process does first
		signal       os.Signal
		want         string
	}{
		{"file", "cd /", nil, "halfulp: process 1: L.npz: no such file"},
		{"command", "set -- \"$@\" --memory 1M", nil, "the same command"},
		{"program", "exec ./other/halfulp \"$@\"", nil, "the same command of the same version"},
		{"early end", "exit 3", nil, "has ended before it joined"},
		{"interrupt", ": >\"$STARTED\"", syscall.SIGINT, ""},
		{"terminate", ": >\"$STARTED\"", syscall.SIGTERM, ""},
	} {
		t.Run(x.name, func(t *testing.T) {
			c := exec.Command("timeout", "240", mpiexec, "-n", "2", "./lost.sh", "gemm", "L.npz", "L.npz", "--format", "mp:4000", "--method", "direct", "--out", "E.mtx")
			started := filepath.Join(t.TempDir(), "started")
			c.Env = append(os.Environ(), "SECOND="+x.second, "STARTED="+started)
			var out bytes.Buffer
			c.Stdout, c.Stderr, c.WaitDelay = &out, &out, 5*time.Second
			start := time.Now()
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			if x.signal != nil {
				for limit := time.Now().Add(2 * time.Minute); !exists(started) && time.Now().Before(limit); {
					time.Sleep(10 * time.Millisecond)
				}
				time.Sleep(time.Second)
				if err := c.Process.Signal(x.signal); err != nil {
					t.Fatal(err)
				}
			}
			err := c.Wait()
			// After a signal the status is mpiexec's own: MPICH's can fail with 0.
			if err == nil && x.signal == nil || time.Since(start) > 4*time.Minute || !strings.Contains(out.String(), x.want) {
				t.Errorf("after %v: %v, %s", time.Since(start), err, out.String())
			}
			after := list(t, dir)
			for range 2400 { // mpiexec need not wait for the processes
				if slices.Equal(after, before) {
					break
				}
				time.Sleep(50 * time.Millisecond)
				after = list(t, dir)
			}
			if old, err := os.ReadFile("E.mtx"); err != nil || string(old) != "old\n" {
				t.Errorf("the output became %.40q, %v", old, err)
			}
			if !slices.Equal(after, before) {
				t.Errorf("files %v, there were %v", after, before)
			}
		})
	}
}

// exists reports whether a file exists.
func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// fullDisk is a standard output without space.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) {
	return 0, &fs.PathError{Op: "write", Path: os.Stdout.Name(), Err: syscall.ENOSPC}
}

// TestFullOutput checks that output which does not fit is not an error of the command line:
// results, help and versions.
func TestFullOutput(t *testing.T) {
	for _, command := range []string{"sum -", "stats -", "det -", "cond -", "inv -", "lu -", "gen identity 2", "convert -", "--help", "sum --help", "help sum", "version", "--version", "info", "man", "completion bash"} {
		var stderr bytes.Buffer
		status := run(strings.Fields(command), strings.NewReader("1\n"), fullDisk{}, &stderr)
		if want := "halfulp: standard output: " + syscall.ENOSPC.Error() + "\n"; status != 1 || stderr.String() != want {
			t.Errorf("%s: status %d, %s", command, status, &stderr)
		}
	}
}

// TestClosedOutput starts the program with its standard output closed: a lost result must be an
// error, and a result that goes to a file must not.
func TestClosedOutput(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("left out: how Go opens standard output is known on Linux")
	}
	t.Chdir(t.TempDir())
	for _, x := range []struct {
		command string
		status  int
	}{
		{"gen identity 2", 1}, {"gen identity 2 --out I.csv", 0}, {"det I.csv", 1}, {"version", 1}, {"--help", 1},
		{"det I.csv --out d.txt", 0},
	} {
		c := exec.Command("sh", "-c", "halfulp "+x.command+" >&-; exit $?")
		out, _ := c.CombinedOutput()
		want := ""
		if x.status > 0 {
			want = "halfulp: standard output: file already closed\n"
		}
		if c.ProcessState.ExitCode() != x.status || string(out) != want {
			t.Errorf("%s: status %d, %q", x.command, c.ProcessState.ExitCode(), out)
		}
		out, err := exec.Command("sh", "-c", "halfulp "+x.command+" >/dev/null; exit $?").CombinedOutput()
		if err != nil || len(out) > 0 {
			t.Errorf("%s >/dev/null: %v, %q", x.command, err, out)
		}
	}
}

// TestUnchecked: the warning about entries that --check-hardware did not compare appears even with
// --quiet.
func TestUnchecked(t *testing.T) {
	for _, x := range []struct {
		asked bool
		check *halfulp.Check
		want  string
	}{
		{false, nil, ""},
		{true, nil, "nothing was compared"},
		{true, &halfulp.Check{Unchecked: 3}, "nothing was compared"},
		{true, &halfulp.Check{Compared: 7}, ""},
		{true, &halfulp.Check{Compared: 7, Unchecked: 2}, "2 of 9 entries of products"},
	} {
		var stderr bytes.Buffer
		j := &job{env: &cli.Environment{Stderr: &stderr}, print: &printFlags{Quiet: true}, how: &runFlags{Check: x.asked}}
		j.report(&halfulp.Stats{Check: x.check})
		if got := stderr.String(); (got == "") != (x.want == "") || !strings.Contains(got, x.want) {
			t.Errorf("%v, %+v: %q, want %q", x.asked, x.check, got, x.want)
		}
	}
}
