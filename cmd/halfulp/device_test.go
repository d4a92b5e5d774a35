package main

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/halfulp/halfulp/cuda"
	"github.com/halfulp/halfulp/internal/cudadrv"
	"github.com/halfulp/halfulp/internal/cudadrv/fake"
	"github.com/halfulp/halfulp/internal/gpu"
)

// TestDeviceFails runs commands on fake GPUs that fail: status 1, one line that says what
// happened and where, and no file.
func TestDeviceFails(t *testing.T) {
	dir := t.TempDir()
	a, x, out := filepath.Join(dir, "A.mtx"), filepath.Join(dir, "x.mtx"), filepath.Join(dir, "z.mtx")
	for _, args := range [][]string{{"gen", "random", "20", "20", "--out", a}, {"gen", "random", "20", "1", "--out", x}} {
		if status := run(args, nil, io.Discard, io.Discard); status != 0 {
			t.Fatalf("%v: exit status %d", args, status)
		}
	}
	for _, c := range []struct {
		call   string // that fails
		code   cudadrv.Code
		memory uint64
		want   string
	}{
		{"MemAlloc", cudadrv.IllegalAddress, 0, "cuda:0: device lost: "},
		{"MemcpyHtoDAsync", cudadrv.LaunchFailed, 0, "cuda:0: device lost: "},
		{"ModuleLoadData", cudadrv.UnsupportedPTX, 0, "NVIDIA driver too old"},
		{"", 0, 100, "cuda:0: out of memory: asked for [0-9]+ bytes, 100 bytes free of 100 bytes"},
	} {
		for command, operands := range map[string][]string{"gemm": {a, a}, "gemv": {a, x}, "sum": {a}, "dot": {x, x}} {
			drv := &fake.Driver{TotalMemory: c.memory}
			dev, err := cuda.OpenDriver(drv, 0)
			if err != nil {
				t.Fatal(err)
			}
			if c.call != "" {
				drv.Fail(c.call, 0, c.code)
			}
			restore := gpu.Substitute(dev)
			var stdout, stderr strings.Builder
			args := append(append([]string{command}, operands...), "--device", "cuda:0", "--out", out)
			status := run(args, nil, &stdout, &stderr)
			restore()
			line := regexp.MustCompile("^halfulp: [^\n]*" + c.want + "[^\n]*\n$")
			if status != exitFailed || stdout.Len() > 0 || !line.MatchString(stderr.String()) {
				t.Errorf("%s, %s fails: status %d, stderr %q", command, c.call, status, stderr.String())
			}
			if left, err := os.ReadDir(dir); err != nil || len(left) != 2 {
				t.Errorf("%s, %s fails: files %v, %v", command, c.call, left, err)
			}
			if n := dev.Counters().InUse; n != 0 {
				t.Errorf("%s, %s fails: %d bytes are left in use", command, c.call, n)
			}
		}
	}
}
