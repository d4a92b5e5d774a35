// Package test builds the C library and runs C programs that call it.
package test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// library builds the library once and returns the folder of lib and include.
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
	args = append(args, "-L"+dir+"/lib", "-lhalfulp", "-lm", "-lpthread", "-Wl,-rpath,"+dir+"/lib")
	if out, err := exec.Command(cc, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", source, err, out)
	}
	return program
}

// TestPrograms runs the C programs that test themselves.
func TestPrograms(t *testing.T) {
	for _, name := range []string{"data", "routines", "calls", "direct"} {
		t.Run(name, func(t *testing.T) {
			program := compile(t, "testdata/"+name+".c")
			out, err := exec.Command(program, t.TempDir()).CombinedOutput()
			if err != nil || string(out) != "passed\n" {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// TestFresh proves that generated files are those of the table.
func TestFresh(t *testing.T) {
	c := exec.Command("go", "run", "./internal/generate", "-check")
	c.Dir = ".."
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestSymbols proves that the library exports no other names than its own.
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
