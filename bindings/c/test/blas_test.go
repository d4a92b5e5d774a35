package test

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// widths are the drop-in libraries: their names, and the compiler flags of programs with their
// width of integers.
var widths = []struct {
	name, blas, flag string
}{
	{"32", "halfulpblas", "-UILP64"},
	{"64", "halfulpblas64", "-DILP64"},
}

// result is the outcome of a program.
type result struct {
	out, err string
	status   int
}

// runProgram runs a program with additional environment variables.
func runProgram(t *testing.T, env []string, name string, args ...string) result {
	t.Helper()
	c := exec.Command(name, args...)
	c.Env = append(os.Environ(), env...)
	c.Dir = t.TempDir()
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	err := c.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return result{out.String(), errs.String(), c.ProcessState.ExitCode()}
}

// TestBLAS runs all routines of the drop-in BLAS against loops, and again in a process that is
// forked after the first call.
func TestBLAS(t *testing.T) {
	calls := t.TempDir()
	c := exec.Command("go", "run", "./bindings/blas/generate", "-calls")
	c.Dir = "../../.."
	out, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(calls, "calls.inc"), out, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, w := range widths {
		t.Run(w.name, func(t *testing.T) {
			program := compile(t, "testdata/blas.c", w.flag, "-I"+calls, "-L"+folder(t)+"/lib", "-l"+w.blas)
			for _, args := range [][]string{nil, {"forked"}} {
				if r := runProgram(t, nil, program, args...); r.status != 0 || r.out != "passed\n" {
					t.Errorf("arguments %q: status %d\n%s%s", args, r.status, r.out, r.err)
				}
			}
		})
	}
}

// folder returns the folder of the libraries.
func folder(t *testing.T) string {
	dir, err := library()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestShim tests the functions of the drop-in BLAS other than computing.
func TestShim(t *testing.T) {
	for _, w := range widths {
		t.Run(w.name, func(t *testing.T) {
			dir := folder(t)
			program := compile(t, "testdata/shim.c", w.flag, "-L"+dir+"/lib", "-l"+w.blas)
			behind := filepath.Join(t.TempDir(), "libbehind.so")
			if out, err := exec.Command(cmp.Or(os.Getenv("CC"), "gcc"), "-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror", w.flag, "testdata/behind.c", "-o", behind, "-lm").CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			other := dir + "/lib/lib" + widths[1].blas + ".so"
			if w.name == "64" {
				other = dir + "/lib/lib" + widths[0].blas + ".so"
			}
			t.Run("folder", func(t *testing.T) {
				r := runProgram(t, nil, "sh", "-c", "cd "+dir+"/lib && LD_LIBRARY_PATH=. exec "+program+" folder")
				if r.status != 0 || r.err != "" {
					t.Errorf("status %d\n%s", r.status, r.err)
				}
			})
			suffix := "isamax_: 2\nisamax_64_: none\n"
			if w.name == "64" {
				suffix = "isamax_: 0\nisamax_64_: 0\n"
			}
			for _, test := range []struct {
				try, env string
				status   int
				out, err string // regular expressions
			}{
				{"fork-before", "", 0, ``, ``},
				{"threads", "", 0, ``, ``},
				{"xerbla", "", 1, ``, ` \*\* On entry to DGEMM parameter number  8 had an illegal value\n`},
				{"cblas_xerbla", "", 1, ``, `Parameter 8 to routine cblas_dsyr was incorrect\n`},
				{"suffix", "", 0, suffix, ``},
				{"mode", "", 0, `0x1.0000000000001p\+0 0x0.0000000004p-1022 kept\n`, ``},
				{"complex", "HALFULP_BLAS_BEHIND=" + behind, 0, `3.52141e\+06 -11-29i 1\+1.5i\n`, ``},
				{"complex", "HALFULP_BLAS_BEHIND=" + other, -1, ``, "lib" + w.blas + `: HALFULP_BLAS_BEHIND: .* is not another BLAS with integers of ` + w.name + ` bits\n`},
				{"complex", "HALFULP_BLAS_BEHIND=/none", -1, ``, "lib" + w.blas + `: HALFULP_BLAS_BEHIND: /none: .*\n`},
				{"fork-before", "HALFULP_LIBRARY=/none", -1, ``, `(?s).*libhalfulp.so cannot be loaded: /none: .*`},
				{"verify", "HALFULP_BLAS_BEHIND=" + behind + " HALFULP_BLAS_VERIFY=1", 0, `3.0000000000000018 nan 10 15 22\n`,
					"lib" + w.blas + `: process \d+, results of .*/libbehind.so compared with correctly rounded ones\nroutine .*\n` +
						`ddot +1 +1 +100.0000% +4 +0\ndgemm +1 +4 +25.0000% +0 +1\n`},
			} {
				if test.try == "mode" && runtime.GOARCH != "amd64" {
					continue
				}
				t.Run(test.try+" "+filepath.Base(test.env), func(t *testing.T) {
					r := runProgram(t, strings.Fields(test.env), program, test.try)
					matches := func(pattern, text string) bool { return regexp.MustCompile(`\A` + pattern + `\z`).MatchString(text) }
					if test.status == -1 && r.status != -1 || test.status >= 0 && r.status != test.status || !matches(test.out, r.out) || !matches(test.err, r.err) {
						t.Errorf("status %d, output:\n%s%s", r.status, r.out, r.err)
					}
				})
			}
		})
	}
}

// TestNetlib runs the test programs of the reference BLAS if Debian's packages libblas-test and
// libblas64-test are installed.
func TestNetlib(t *testing.T) {
	for i, w := range widths {
		programs := "/usr/lib/x86_64-linux-gnu/blas" + []string{"", "64"}[i]
		for _, program := range []struct{ name, input string }{
			{"xblat1d", ""}, {"xblat1s", ""}, {"xblat2d", "dblat2.in"}, {"xblat3s", "sblat3.in"}, {"xdcblat1", ""}, {"xdcblat2", "din2"}, {"xblat3z", "zblat3.in"},
		} {
			t.Run(w.name+" "+program.name, func(t *testing.T) {
				if _, err := os.Stat(programs + "/" + program.name); err != nil {
					t.Skip("Debian's libblas-test and libblas64-test are not installed")
				}
				input := "/dev/null"
				if program.input != "" {
					input = programs + "/" + program.input
				}
				preload := "LD_PRELOAD=" + folder(t) + "/lib/lib" + w.blas + ".so"
				line := fmt.Sprintf("%s %s/%s <%s && cat *.out 2>/dev/null || true", preload, programs, program.name, input)
				r := runProgram(t, nil, "sh", "-c", line)
				if r.err != "" || !strings.Contains(r.out, "PASS") || regexp.MustCompile(`(?i)fail|\*\*\*|suspect`).MatchString(r.out) {
					t.Errorf("status %d\n%s%s", r.status, r.out, r.err)
				}
			})
		}
	}
}
