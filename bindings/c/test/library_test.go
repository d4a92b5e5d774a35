// Package test builds the C library and runs C programs that call it.
package test

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/halfulp/halfulp/bindings/c/internal/table"
)

// library builds the library once and returns the folder that contains lib and include.
var library = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "libhalfulp")
	if err != nil {
		return "", err
	}
	c := exec.Command("../../../scripts/lib.sh", dir)
	c.Stderr = os.Stderr
	return dir, c.Run()
})

func TestMain(m *testing.M) {
	status := m.Run()
	if dir, err := library(); err == nil {
		os.RemoveAll(dir)
	}
	os.Exit(status)
}

// compile compiles a program of testdata and returns its name.
func compile(t *testing.T, source string, flags ...string) string {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("the C library is built on Linux")
	}
	cc := os.Getenv("CC")
	if cc == "" {
		cc = "gcc"
	}
	if _, err := exec.LookPath(cc); err != nil {
		t.Skip("there is no C compiler")
	}
	dir, err := library()
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), strings.TrimSuffix(filepath.Base(source), filepath.Ext(source)))
	args := append([]string{"-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-O1", "-I" + dir + "/include", source, "-o", program}, flags...)
	args = append(args, "-L"+dir+"/lib", "-Wl,--as-needed", "-lhalfulp", "-lm", "-lpthread", "-ldl", "-Wl,-rpath,"+dir+"/lib")
	if out, err := exec.Command(cc, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", source, err, out)
	}
	return program
}

// TestPrograms runs the C programs that test themselves.
func TestPrograms(t *testing.T) {
	for _, name := range []string{"data", "routines", "rational", "calls", "direct"} {
		t.Run(name, func(t *testing.T) {
			program := compile(t, "testdata/"+name+".c")
			out, err := exec.Command(program, t.TempDir()).CombinedOutput()
			if err != nil || string(out) != "passed\n" {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// TestExamples compiles the examples whose libraries are installed and checks their output.
func TestExamples(t *testing.T) {
	for _, e := range []struct {
		source, compiler, header string
		flags                    []string
		want                     string
	}{
		{"../examples/hilbert.c", "gcc", "/usr/include/mpfr.h", []string{"-lmpfr", "-lgmp"}, "-12\n1716\n-60060\n"},
		{"../examples/solve.cpp", "g++", "/usr/include/eigen3/Eigen/Core", []string{"-I/usr/include/eigen3"}, "-7.9999999499642058"},
	} {
		t.Run(filepath.Base(e.source), func(t *testing.T) {
			if _, err := os.Stat(e.header); err != nil {
				t.Skipf("%s is not here", e.header)
			}
			if _, err := exec.LookPath(e.compiler); err != nil {
				t.Skipf("there is no %s", e.compiler)
			}
			dir, err := library()
			if err != nil {
				t.Fatal(err)
			}
			program := filepath.Join(t.TempDir(), "example")
			args := append([]string{"-Wall", "-Wextra", "-O1", "-I" + dir + "/include", e.source, "-o", program, "-L" + dir + "/lib", "-lhalfulp", "-Wl,-rpath," + dir + "/lib"}, e.flags...)
			if out, err := exec.Command(e.compiler, args...).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			out, err := exec.Command(program).CombinedOutput()
			if err != nil || !strings.HasPrefix(strings.TrimSpace(string(out)), strings.TrimSpace(e.want)) {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// TestGuide runs the programs on the page about C and compares their output with the text after
// each program.
func TestGuide(t *testing.T) {
	page, err := os.ReadFile("../../../docs/guide/c.md")
	if err != nil {
		t.Fatal(err)
	}
	list := regexp.MustCompile("(?ms)^```c\n(.*?)^```\n\n```text\n(.*?)^```$").FindAllStringSubmatch(string(page), -1)
	if len(list) == 0 {
		t.Fatal("the page has no program")
	}
	for _, block := range list {
		source := filepath.Join(t.TempDir(), "guide.c")
		if err := os.WriteFile(source, []byte(block[1]), 0o666); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command(compile(t, source)).CombinedOutput()
		if err != nil || string(out) != block[2] {
			t.Errorf("%v\n%s, want\n%s", err, out, block[2])
		}
	}
}

// TestLoading loads the library at run time, also in a program that uses other floating-point
// modes.
func TestLoading(t *testing.T) {
	for _, name := range []string{"loading", "mode"} {
		program := compile(t, "testdata/"+name+".c")
		dir, err := library()
		if err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command(program, dir+"/lib/libhalfulp.so").CombinedOutput()
		if err != nil || string(out) != "passed\n" {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}

// TestInterrupt checks that Ctrl-C ends a program that does not handle it.
func TestInterrupt(t *testing.T) {
	c := exec.Command(compile(t, "testdata/interrupted.c"))
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || line != "begun\n" {
		t.Fatalf("%q, %v", line, err)
	}
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	err = c.Wait()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGINT {
		t.Errorf("the program ended with %v", err)
	}
}

// TestFresh checks that the generated files equal the files that the table generates, and that the
// reference, which only the website has, names and declares every function of the header.
func TestFresh(t *testing.T) {
	page := filepath.Join(t.TempDir(), "reference.md")
	for _, args := range [][]string{{"-check"}, {"-reference", page}} {
		c := exec.Command("go", append([]string{"run", "./internal/generate"}, args...)...)
		c.Dir = ".."
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("%q: %v\n%s", args, err, out)
		}
	}
	reference, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	functions := 0
	for _, g := range table.All() {
		for _, f := range g.Functions {
			functions++
			for _, part := range []string{"\n### halfulp_" + f.Name + "\n", "\nint halfulp_" + f.Name + "(", "\n\n" + f.Doc + "\n"} {
				if !strings.Contains(string(reference), part) {
					t.Errorf("the reference lacks %q", part)
				}
			}
		}
	}
	if functions < 100 {
		t.Errorf("the table has %d functions", functions)
	}
}

// TestSymbols checks that the library exports only its own names.
func TestSymbols(t *testing.T) {
	if _, err := exec.LookPath("nm"); err != nil {
		t.Skip("there is no nm")
	}
	dir, err := library()
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("nm", "-D", "--defined-only", dir+"/lib/libhalfulp.so").Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		if name := fields[len(fields)-1]; !strings.HasPrefix(name, "halfulp_") {
			t.Errorf("the library exports %s", name)
		}
	}
}
