package halfulp_test

import (
	"bytes"
	"debug/elf"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/halfulp/halfulp/internal/testlength"
)

// sumProgram is a program that calls Sum alone.
const sumProgram = `package main

import (
	"fmt"

	"github.com/halfulp/halfulp"
)

func main() {
	x := halfulp.NewVectorFloat64(3, 1, []float64{1e16, 1, -1e16})
	fmt.Println(halfulp.Sum(x, halfulp.Float64, nil))
}
`

// TestWeight builds programs with and without GPUs. It checks their sizes, whether they need
// libraries of the system, and the errors of those without GPUs if a GPU is requested.
func TestWeight(t *testing.T) {
	if !testlength.Long() {
		t.Skip("builds programs")
	}
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	main := filepath.Join(dir, "main.go")
	if err := os.WriteFile(main, []byte(sumProgram), 0o666); err != nil {
		t.Fatal(err)
	}
	const megabyte = 1_000_000
	// The first program contains gonum, which Matrix needs for its methods on gonum's matrices, and
	// tables of functions with their names and lines.
	for _, c := range []struct {
		name   string
		args   []string
		most   int64
		static bool
	}{
		{"sum", []string{main}, 6*megabyte + megabyte/2, true},
		{"halfulp", []string{"-ldflags=-s -w", "./cmd/halfulp"}, 21 * megabyte, false},
		{"cpu", []string{"-ldflags=-s -w", "-tags=nogpu,nompi", "./cmd/halfulp"}, 15*megabyte + megabyte/2, true},
	} {
		file := filepath.Join(dir, c.name)
		t.Setenv("CGO_ENABLED", "0")
		runIn(t, ".", "go", append([]string{"build", "-trimpath", "-o", file}, c.args...)...)
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %.1f MB", c.name, float64(info.Size())/megabyte)
		if info.Size() > c.most {
			t.Errorf("%s has %d bytes, want at most %d", c.name, info.Size(), c.most)
		}
		if c.static && runtime.GOOS == "linux" && !isStatic(t, file) {
			t.Errorf("%s needs libraries of the system", c.name)
		}
	}
	if got := runIn(t, ".", filepath.Join(dir, "sum")); !strings.HasPrefix(got, "1 ") {
		t.Errorf("the sum is %s", got)
	}
	out, err := exec.Command(filepath.Join(dir, "cpu"), "gen", "hilbert", "2").Output()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(filepath.Join(dir, "cpu"), "sum", "-", "--device", "cuda:0")
	cmd.Stdin = strings.NewReader(string(out))
	text, err := cmd.CombinedOutput()
	const want = "device \"cuda:0\": no such device: this is the CPU-only build of halfulp (tag nogpu)\n"
	if cmd.ProcessState.ExitCode() != 2 || !strings.HasSuffix(string(text), want) {
		t.Errorf("asked for a GPU it says %q, %v", text, err)
	}
}

// isStatic reports whether an ELF file needs no dynamic loader.
func isStatic(t *testing.T, file string) bool {
	f, err := elf.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			return false
		}
	}
	return true
}

// TestNoGPULinked checks that neither the library nor the packages of methods link the driver's
// loader or kernels.
func TestNoGPULinked(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip(err)
	}
	deps := runIn(t, ".", "go", "list", "-deps", ".", "./rns", "./expansion", "./ozaki", "./matfile")
	for name := range strings.FieldsSeq(deps) {
		for _, part := range []string{"purego", "/internal/cuda", "/internal/gpu", "/internal/kernels", "/internal/cublas", "/internal/rnsgpu", "/internal/expgpu", "/internal/ozgpu"} {
			if strings.Contains(name, part) {
				t.Errorf("%s is linked", name)
			}
		}
	}
}

// TestTree checks the size of the repository: bytes of all files, bytes of the records of
// measurements, lines of assembly, and words of pages that are to be read at once.
func TestTree(t *testing.T) {
	list, err := exec.Command("git", "ls-files", "-z").Output()
	if err != nil {
		t.Skip("no git, or no clone: ", err)
	}
	var all, records, assembly int64
	for name := range strings.SplitSeq(strings.Trim(string(list), "\x00"), "\x00") {
		text, err := os.ReadFile(filepath.FromSlash(name))
		if errors.Is(err, fs.ErrNotExist) {
			continue // deleted, but not yet from the index
		} else if err != nil {
			t.Fatal(err)
		}
		all += int64(len(text))
		if strings.HasPrefix(name, "bench/records/") {
			records += int64(len(text))
		}
		if strings.HasSuffix(name, ".s") {
			assembly += int64(bytes.Count(text, []byte("\n")))
		}
	}
	for _, c := range []struct {
		what      string
		got, most int64
	}{
		{"bytes in the repository", all, 15_000_000}, // 0.6 MB of it PTX
		{"bytes of records", records, 900_000},
		{"lines of assembly", assembly, 85_000},
		{"words of CHANGELOG.md", words(t, "CHANGELOG.md"), 1500},
		{"words of CONTRIBUTING.md", words(t, "CONTRIBUTING.md"), 900},
		{"words of README.md", words(t, "README.md"), 1000},
		{"words of docs/benchmarks.md", words(t, "docs/benchmarks.md"), 2200},
	} {
		t.Logf("%d %s", c.got, c.what)
		if c.got > c.most {
			t.Errorf("%d %s, want at most %d", c.got, c.what, c.most)
		}
	}
}

// words returns the number of words of a file.
func words(t *testing.T, name string) int64 {
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return int64(len(strings.Fields(string(text))))
}
