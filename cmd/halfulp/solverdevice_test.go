package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/halfulp/halfulp/internal/gpu/gputest"
	"github.com/halfulp/halfulp/internal/gpu/mem"
)

// TestSolversOnDevice runs commands of package linsolve with operands that live on a GPU: a fake
// one whose kernels are written in Go. They print what they print on the CPU.
func TestSolversOnDevice(t *testing.T) {
	devs, _ := gputest.References(t, 1)
	defer mem.Substitute(devs...)()
	dir := t.TempDir()
	output := func(args ...string) string {
		var stdout, stderr strings.Builder
		if status := run(args, nil, &stdout, &stderr); status != 0 {
			t.Fatalf("%v: exit status %d, %s", args, status, stderr.String())
		}
		return stdout.String() + stderr.String()
	}
	a, b, h := filepath.Join(dir, "A.mtx"), filepath.Join(dir, "b.mtx"), filepath.Join(dir, "H.mtx")
	larger, definite := filepath.Join(dir, "L.mtx"), filepath.Join(dir, "P.mtx")
	output("gen", "random", "9", "9", "--format", "mp:106", "--out", a)
	output("gen", "random", "9", "2", "--format", "mp:106", "--seed", "3", "--out", b)
	output("gen", "hilbert", "5", "--format", "mp:106", "--out", h)
	output("gen", "random", "26", "26", "--format", "mp:106", "--out", larger)
	output("syrk", larger, "--format", "mp:106", "--out", definite)
	for _, args := range [][]string{
		{"solve", a, b}, {"inv", a}, {"det", a}, {"det", a, "--log"}, {"chol", h}, {"chol", definite}, {"lu", a}, {"lu", larger}, {"qr", a}, {"qr", a, "--pivoted"}, {"ldlt", h},
	} {
		args = append(args, "--format", "mp:106", "--digits", "40", "--quiet")
		want := output(args...)
		if got := output(append(args, "--device", "cuda:0")...); got != want {
			t.Errorf("%v: on the device %s, want %s", args, got, want)
		}
		// Such small determinants and factors are without products, on the host.
		onHost := args[0] == "det" || args[0] == "qr" || (args[0] == "lu" || args[0] == "chol") && args[1] != larger && args[1] != definite
		if got := output(append(args, "--device", "cuda:0", "--stats")...); !onHost && !strings.Contains(got, " cuda:0\n") {
			t.Errorf("%v: no device in %s", args, got)
		}
	}
}
