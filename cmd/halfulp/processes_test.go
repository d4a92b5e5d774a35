package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/halfulp/halfulp/internal/mpitest"
	"github.com/halfulp/halfulp/internal/testlength"
)

// testProgram returns the program, which is this test's by another name.
func testProgram(t *testing.T) string {
	t.Helper()
	name, err := exec.LookPath("halfulp")
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// TestProcesses runs commands under mpiexec: the bits are the same as in one process, one process
// prints, and an error in any process ends all of them with a message and leaves no file.
func TestProcesses(t *testing.T) {
	testlength.SkipRace(t, "the programs that it starts are not watched")
	mpitest.Mpiexec(t)
	dir := t.TempDir()
	halfulp := testProgram(t)
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
		return mpitest.Output(t, n, halfulp, args...)
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
	out, err := mpitest.Output(t, 1, halfulp, "gemm", "A.mtx", "B.npz", "--out", "E.mtx", ":", "-n", "1", halfulp, "sum", "A.mtx", "--out", "E.mtx")
	if err == nil || strings.Count(out, "do not all run the same command") != 1 {
		t.Errorf("different commands: %v, %s", err, out)
	}
	// One process cannot read its file: the others do not wait for it.
	script := "#!/bin/sh\n[ \"$PMI_RANK\" != 1 ] || cd /\nexec " + halfulp + " \"$@\"\n"
	if err := os.WriteFile(filepath.Join(dir, "lost.sh"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	before = append(before, "lost.sh")
	out, err = mpitest.Output(t, 2, "./lost.sh", "gemm", "A.mtx", "B.npz", "--out", "E.mtx")
	if err == nil || strings.Count(out, "halfulp: process 1: A.mtx: no such file") != 1 || errors.Is(err, mpitest.ErrLimit) {
		t.Errorf("a process without a file: %v, %s", err, out)
	}
	// A process that is killed ends the others.
	script = "#!/bin/sh\n[ \"$PMI_RANK\" != 1 ] || exec timeout --signal=KILL 1 " + halfulp + " \"$@\"\nexec " + halfulp + " \"$@\"\n"
	if err := os.WriteFile(filepath.Join(dir, "lost.sh"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	must("gen", "random", "300", "300", "--format", "mp:4000", "--out", "L.npz")
	before = append(before, "L.npz")
	if out, err = mpitest.Output(t, 2, "./lost.sh", "gemm", "L.npz", "L.npz", "--format", "mp:4000", "--method", "direct", "--out", "E.mtx"); err == nil || errors.Is(err, mpitest.ErrLimit) {
		t.Errorf("a process that is killed: %v, %s", err, out)
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

// TestGridFiles runs commands whose operands and results live on a grid: files have the bytes of
// one process, and a file that is wrong or missing in one process ends all with a message.
func TestGridFiles(t *testing.T) {
	testlength.SkipRace(t, "the programs that it starts are not watched")
	mpitest.Mpiexec(t)
	dir := t.TempDir()
	halfulp := testProgram(t)
	t.Chdir(dir)
	must := func(args ...string) string {
		t.Helper()
		out, err := exec.Command(halfulp, args...).CombinedOutput()
		if err != nil {
			t.Fatalf("halfulp %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	must("gen", "random", "150", "90", "--format", "mp:106", "--out", "A.mtx")
	must("gen", "random", "90", "165", "--format", "mp:106", "--seed", "2", "--out", "B.npz")
	must("gen", "random", "66", "66", "--format", "dd", "--seed", "3", "--out", "S.npy")
	must("gen", "random", "1", "66", "--format", "dd", "--seed", "4", "--out", "x.csv")
	must("gen", "hilbert", "12", "--format", "mp:106", "--out", "H.mtx")
	for _, x := range []struct {
		n    int
		grid string
		out  string
		args []string
	}{
		{2, "1x2", "C.npz", []string{"gemm", "A.mtx", "B.npz", "--format", "mp:424"}},
		{3, "3x1", "C.mtx", []string{"gemm", "A.mtx", "A.mtx", "--transa", "--digits", "20"}},
		{4, "2x2", "C.npy", []string{"gemm", "A.mtx", "B.npz", "--format", "qd"}},
		{2, "2x1", "C.csv.gz", []string{"gemm", "A.mtx", "B.npz"}},
		{2, "1x2", "C.txt", []string{"gemm", "A.mtx", "B.npz", "--to", "mtx"}},
		{2, "1x2", "C.npy", []string{"solve", "S.npy", "x.csv"}},
		{2, "1x2", "C.mtx", []string{"gemm", "x.csv:2-40", "x.csv:3,1", "--transa"}},
		{2, "2x1", "", []string{"inv", "S.npy"}},
		{2, "2x1", "", []string{"det", "S.npy", "--log"}},
		{2, "2x1", "F.npz", []string{"lu", "S.npy"}},
		{2, "2x1", "", []string{"solve", "S.npy", "x.csv", "--enclose"}},
		{2, "2x1", "L.npy", []string{"chol", "H.mtx", "--uplo", "upper"}},
	} {
		args := append(x.args, "-q")
		if x.out != "" {
			args = append(args, "--out", x.out)
		}
		want := must(args...)
		file, _ := os.ReadFile(x.out)
		got, err := mpitest.Output(t, x.n, halfulp, append(args, "--grid", x.grid)...)
		if err != nil || got != want {
			t.Errorf("%v on %s: %v, %.200q, want %.200q", args, x.grid, err, got, want)
		}
		if again, _ := os.ReadFile(x.out); string(again) != string(file) {
			t.Errorf("%v on %s: another file of %d bytes, not %d", args, x.grid, len(again), len(file))
		}
	}
	// A wrong entry in the part of the last process, and infinity in a system.
	text, err := os.ReadFile("A.mtx")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	lines[len(lines)-20] = "1.5x"
	wrong := fmt.Sprintf("halfulp: wrong.mtx:%d: \"1.5x\" is not a number", len(lines)-19)
	if err := os.WriteFile("wrong.mtx", []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("inf.csv", []byte("1,2\n3,inf\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	script := "#!/bin/sh\n[ \"$PMI_RANK\" != 1 ] || cd /\nexec " + halfulp + " \"$@\"\n"
	if err := os.WriteFile("lost.sh", []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	before := list(t, dir)
	for _, x := range []struct {
		want, program string
		args          []string
	}{
		{wrong, halfulp, []string{"gemm", "wrong.mtx", "B.npz"}},
		{refused(t, halfulp, "inv", "inf.csv"), halfulp, []string{"inv", "inf.csv"}},
		{"halfulp: B.npz: the .npz file has no matrix", halfulp, []string{"gemm", "A.mtx", "B.npz:3"}},
		{"halfulp: A.mtx: this is no table of which columns", halfulp, []string{"gemm", "A.mtx:1-90", "B.npz"}},
		{"halfulp: S.npy: this is no table of which columns", halfulp, []string{"inv", "S.npy:1"}},
		{"halfulp: process 1: A.mtx: no such file or directory", "./lost.sh", []string{"gemm", "A.mtx", "B.npz"}},
	} {
		out, err := mpitest.Output(t, 2, x.program, append(x.args, "--out", "E.npz", "--grid", "1x2")...)
		if err == nil || strings.Count(out, x.want) != 1 || strings.Count(out, "halfulp:") != 1 {
			t.Errorf("%v: %v, %s, want %s", x.args, err, out, x.want)
		}
	}
	if after := list(t, dir); !slices.Equal(after, before) {
		t.Errorf("files %v, there were %v", after, before)
	}
}

// refused returns the output of a command that fails.
func refused(t *testing.T, program string, args ...string) string {
	t.Helper()
	out, err := exec.Command(program, args...).CombinedOutput()
	if err == nil {
		t.Fatalf("%v: %s", args, out)
	}
	return string(out)
}

// TestDifferentFiles starts processes in different folders, which have different matrices of one
// name: every command must report it, in all processes.
func TestDifferentFiles(t *testing.T) {
	mpitest.Mpiexec(t)
	halfulp := testProgram(t)
	t.Chdir(t.TempDir())
	script := "#!/bin/sh\ncd $PMI_RANK\nexec " + halfulp + " \"$@\"\n"
	if err := os.WriteFile("apart.sh", []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	const banner = "%%MatrixMarket matrix "
	for name, texts := range map[string][3]string{
		"equal.csv":  {"2,1\n1,3\n", "2,1\n1,3\n", "2,1\n1,3\n"},
		"number.csv": {"2,1\n1,3\n", "2,1\n1,3\n", "2,1\n1,4\n"},
		"sign.csv":   {"2,1\n1,0\n", "2,1\n1,-0\n", "2,1\n1,0\n"},
		"shape.csv":  {"2,1\n1,3\n", "2\n1\n1\n3\n", "2,1,1,3\n"},
		"sparse.mtx": {banner + "coordinate real general\n2 2 1\n1 1 5\n", banner + "coordinate real general\n2 2 1\n1 2 5\n", banner + "coordinate real general\n2 2 1\n1 1 5\n"},
		"x.csv":      {"1\n2\n", "1\n2\n", "1\n2\n"},
		"none.csv":   {"1\n2\n", "", "1\n2\n"},
	} {
		for p, text := range texts {
			dir := fmt.Sprint(p)
			if err := os.MkdirAll(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if text == "" {
				continue
			}
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	const have = " another file of this name than process 0\n"
	for _, x := range []struct{ want, command string }{
		{"7\n", "sum equal.csv"},
		{"halfulp: number.csv: process 2 has" + have, "sum number.csv"},
		{"halfulp: number.csv: process 2 has" + have, "gemm equal.csv number.csv --out E.mtx"},
		{"halfulp: number.csv: process 2 has" + have, "solve equal.csv x.csv --enclose --radius-a number.csv"},
		{"halfulp: number.csv: process 2 has" + have, "lstsq number.csv x.csv"},
		{"halfulp: sign.csv: process 1 has" + have, "convert sign.csv --out E.mtx"},
		{"halfulp: shape.csv: processes 1 and 2 have" + have, "stats shape.csv"},
		{"halfulp: shape.csv: processes 1 and 2 have" + have, "gen vandermonde --nodes shape.csv"},
		{"halfulp: sparse.mtx: process 1 has" + have, "spmv sparse.mtx x.csv --out E.mtx"},
		{"halfulp: number.csv: process 2 has" + have, "inv number.csv --grid 1x3 --out E.mtx"},
		{"halfulp: process 1: none.csv: no such file or directory\n", "sum none.csv"},
	} {
		out, err := mpitest.Output(t, 3, "./apart.sh", strings.Fields(x.command)...)
		var exit *exec.ExitError
		if out != x.want || errors.As(err, &exit) != strings.Contains(x.want, "halfulp") || exit != nil && exit.ExitCode() != 1 {
			t.Errorf("%s: %v, %q, want %q", x.command, err, out, x.want)
		}
	}
	if left, err := filepath.Glob("*/*E.mtx*"); err != nil || left != nil {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
