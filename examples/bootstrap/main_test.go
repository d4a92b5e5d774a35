package main

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/halfulp/halfulp/internal/mpitest"
	"github.com/halfulp/halfulp/internal/testlength"
)

// TestProcesses runs the program alone and under mpiexec: the same bits.
func TestProcesses(t *testing.T) {
	testlength.SkipEmulated(t, "no program starts another there")
	mpitest.Mpiexec(t)
	program := filepath.Join(t.TempDir(), "bootstrap")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	alone, err := exec.Command(program, "-scale", "500").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, alone)
	}
	bits := regexp.MustCompile(`(?m)^sha256 .*$`)
	want := bits.FindString(string(alone))
	if want == "" {
		t.Fatalf("no hash: %s", alone)
	}
	for _, n := range []int{1, 2, 4} {
		out, err := mpitest.Output(t, n, program, "-scale", "500")
		if err != nil || len(bits.FindAllString(out, -1)) != 1 || bits.FindString(out) != want {
			t.Errorf("%d processes: %v\n%swant %s", n, err, out, want)
		}
	}
}
