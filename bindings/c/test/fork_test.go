package test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

// TestFork calls the drop-in BLAS in processes that were forked after the first call.
func TestFork(t *testing.T) {
	for _, w := range widths {
		t.Run(w.name, func(t *testing.T) {
			program := compile(t, "testdata/forks.c", w.flag, "-L"+folder(t)+"/lib", "-l"+w.blas)
			for _, try := range []string{"right", "again", "threads", "same", "closed", "ignored", "ends"} {
				t.Run(try, func(t *testing.T) {
					if r := runProgram(t, nil, program, try); r.status != 0 || r.out != "passed\n" || r.err != "" {
						t.Errorf("status %d\n%s%s", r.status, r.out, r.err)
					}
				})
			}
			fails := func(try, env, text string) {
				t.Run(try+" "+filepath.Base(env), func(t *testing.T) {
					r := runProgram(t, []string{env}, program, try)
					if r.status != 1 || r.out != "signal 6\nfailed\n" || !regexp.MustCompile(`\A`+text+`\z`).MatchString(r.err) {
						t.Errorf("status %d\n%s%s", r.status, r.out, r.err)
					}
				})
			}
			fails("killed", "", "lib"+w.blas+`: ddot: process \d+, the helper of process \d+, has ended\n`)

			// The libraries alone, without the program.
			alone := t.TempDir()
			for _, name := range []string{"halfulp", w.blas} {
				link(t, filepath.Join(folder(t), "lib", "lib"+name+".so"), filepath.Join(alone, "lib"+name+".so"))
			}
			refused := "lib" + w.blas + `: halfulp_blas_ddot: process \d+ was forked from process \d+ .*; no helper process computes for it: `
			fails("right", "LD_LIBRARY_PATH="+alone, refused+"there is no program halfulpblas-helper beside the library\n")
			helper := filepath.Join(alone, "halfulpblas-helper")
			if err := os.WriteFile(helper, []byte("#!/bin/sh\n"), 0o666); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(helper, 0o777); err != nil {
				t.Fatal(err)
			}
			fails("right", "LD_LIBRARY_PATH="+alone, refused+"halfulpblas-helper ended at once\n")
		})
	}
}

// link makes a second name of a file.
func link(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Link(from, to); err != nil {
		t.Fatal(err)
	}
}

// TestSystemLinks runs ldconfig on a folder with a link to the drop-in BLAS, as the installation of
// a package does with the system's folders, and checks that it makes no link with another name.
func TestSystemLinks(t *testing.T) {
	const ldconfig = "/sbin/ldconfig"
	if _, err := os.Stat(ldconfig); err != nil {
		t.Skip("there is no ldconfig")
	}
	dir := systemFolder(t)
	if out, err := exec.Command(ldconfig, "-n", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 1 {
		t.Errorf("the folder has %v", list)
	}
}

// systemFolder returns a folder with a link libblas.so.3, through which programs of Linux
// distributions find the drop-in BLAS.
func systemFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Symlink(filepath.Join(folder(t), "lib", "libhalfulpblas.so"), filepath.Join(dir, "libblas.so.3")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestForkPython runs processes of Python's multiprocessing with the system's NumPy.
func TestForkPython(t *testing.T) {
	const python = "/usr/bin/python3"
	if exec.Command(python, "-c", "import numpy").Run() != nil {
		t.Skip(python + " has no NumPy")
	}
	r := runProgram(t, []string{"LD_LIBRARY_PATH=" + systemFolder(t)}, python, abs(t, "testdata/forks.py"))
	if r.status == 3 {
		t.Skip(r.out)
	}
	if r.status != 0 || r.out != "passed\n" || r.err != "" {
		t.Errorf("status %d\n%s%s", r.status, r.out, r.err)
	}
}

// TestForkR runs R's function mclapply.
func TestForkR(t *testing.T) {
	if _, err := exec.LookPath("Rscript"); err != nil {
		t.Skip("there is no R")
	}
	r := runProgram(t, []string{"R_LD_LIBRARY_PATH=" + systemFolder(t)}, "Rscript", "--vanilla", abs(t, "testdata/forks.R"))
	if r.status != 0 || r.out != "passed\n" || r.err != "" {
		t.Errorf("status %d\n%s%s", r.status, r.out, r.err)
	}
}

func abs(t *testing.T, name string) string {
	t.Helper()
	name, err := filepath.Abs(name)
	if err != nil {
		t.Fatal(err)
	}
	return name
}
