package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/halfulp/halfulp/internal/mpitest"
)

// build builds the program.
func build(t *testing.T, dir string) string {
	t.Helper()
	name := filepath.Join(dir, "halfulp")
	out, err := exec.Command("go", "build", "-o", name, ".").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return name
}

// TestProcesses runs commands under mpiexec: the bits are those of one process, one process speaks,
// and what goes wrong anywhere ends all of them in words and leaves no file.
func TestProcesses(t *testing.T) {
	mpitest.Mpiexec(t)
	dir := t.TempDir()
	halfulp := build(t, dir)
	t.Chdir(dir)
	must := func(args ...string) string {
		t.Helper()
		out, err := exec.Command(halfulp, args...).CombinedOutput()
		if err != nil {
			t.Fatalf("halfulp %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	under := func(n int, args ...string) (string, error) {
		return mpitest.Output(t, time.Minute, n, halfulp, args...)
	}
	must("gen", "random", "70", "90", "--format", "mp:106", "--out", "A.mtx")
	must("gen", "random", "90", "65", "--format", "mp:106", "--seed", "2", "--out", "B.npz")
	must("gen", "random", "90", "1", "--format", "mp:106", "--seed", "3", "--out", "x.csv")
	for _, args := range [][]string{
		{"gemm", "A.mtx", "B.npz", "--format", "mp:424"},
		{"syrk", "A.mtx", "--format", "qd"},
		{"gemm", "A.mtx", "B.npz", "--device", "cpu"},
		{"gemm", "A.mtx", "B.npz", "--method", "direct"},
		{"gemv", "A.mtx", "x.csv"},
		{"dot", "x.csv", "x.csv", "--format", "mp:200"},
		{"sum", "A.mtx", "--digits", "30"},
		{"nrm2", "A.mtx"},
		{"solve", "B.npz", "B.npz", "--help"},
		{"rank", "A.mtx"},
	} {
		want := must(append(args, "-q")...)
		for _, n := range []int{1, 2, 3} {
			got, err := under(n, append(args, "-q")...)
			if err != nil || got != want {
				t.Errorf("%d processes, %v: %v, %.200q, want %.200q", n, args, err, got, want)
			}
		}
	}
	if out, err := under(2, "gemm", "A.mtx", "B.npz", "--grid", "2x1", "-q", "--out", "C.npz", "--stats", "--device", "cpu"); err != nil || !strings.Contains(out, "mpi:2x1") || !strings.Contains(out, "0-1 cpu") || strings.Count(out, "method") != 1 {
		t.Errorf("%v: %s", err, out)
	}
	must("gemm", "A.mtx", "B.npz", "-q", "--out", "D.npz")
	c, _ := os.ReadFile("C.npz")
	if d, _ := os.ReadFile("D.npz"); len(c) == 0 || string(c) != string(d) {
		t.Error("files differ")
	}

	before := list(t, dir)
	for _, x := range []struct {
		want string
		args []string
	}{
		{"halfulp: nix.mtx: no such file or directory", []string{"gemm", "A.mtx", "nix.mtx", "--out", "E.mtx"}},
		{"cuda:999", []string{"gemm", "A.mtx", "B.npz", "--device", "cuda:999", "--out", "E.mtx"}},
		{"there are 2", []string{"gemm", "A.mtx", "B.npz", "--grid", "2x2", "--out", "E.mtx"}},
		{"no grid of processes", []string{"gemm", "A.mtx", "B.npz", "--grid", "2", "--out", "E.mtx"}},
		{"halfulp:", []string{"gemm", "A.mtx", "A.mtx", "--out", "E.mtx"}},
	} {
		out, err := under(2, x.args...)
		if err == nil || strings.Count(out, x.want) != 1 {
			t.Errorf("%v: %v, %s", x.args, err, out)
		}
	}
	// Processes of different commands.
	out, err := mpitest.Output(t, time.Minute, 1, halfulp, "gemm", "A.mtx", "B.npz", "--out", "E.mtx", ":", "-n", "1", halfulp, "sum", "A.mtx", "--out", "E.mtx")
	if err == nil || strings.Count(out, "do not all run the same command") != 1 {
		t.Errorf("different commands: %v, %s", err, out)
	}
	// One process cannot read its file: the others do not wait for it.
	script := "#!/bin/sh\n[ \"$PMI_RANK\" != 1 ] || cd /\nexec " + halfulp + " \"$@\"\n"
	if err := os.WriteFile(filepath.Join(dir, "lost.sh"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	before = append(before, "lost.sh")
	start := time.Now()
	out, err = mpitest.Output(t, time.Minute, 2, "./lost.sh", "gemm", "A.mtx", "B.npz", "--out", "E.mtx")
	if err == nil || strings.Count(out, "process 1: halfulp: A.mtx: no such file") != 1 || time.Since(start) > 30*time.Second {
		t.Errorf("a process without a file, after %v: %v, %s", time.Since(start), err, out)
	}
	// A process that is killed ends the others.
	script = "#!/bin/sh\n[ \"$PMI_RANK\" != 1 ] || exec timeout --signal=KILL 1 " + halfulp + " \"$@\"\nexec " + halfulp + " \"$@\"\n"
	if err := os.WriteFile(filepath.Join(dir, "lost.sh"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	must("gen", "random", "900", "900", "--format", "mp:4000", "--out", "L.npz")
	before = append(before, "L.npz")
	start = time.Now()
	if out, err = mpitest.Output(t, time.Minute, 2, "./lost.sh", "gemm", "L.npz", "L.npz", "--format", "mp:4000", "--out", "E.mtx"); err == nil || time.Since(start) > 30*time.Second {
		t.Errorf("a process that is killed, after %v: %v, %s", time.Since(start), err, out)
	}
	slices.Sort(before)
	if after := list(t, dir); !slices.Equal(after, before) {
		t.Errorf("files %v, there were %v", after, before)
	}
}

// list returns the names of the files of a folder.
func list(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}
