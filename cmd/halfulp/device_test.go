package main

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/halfulp/halfulp/internal/cli"
	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/cudadrv"
	"github.com/halfulp/halfulp/internal/cudadrv/fake"
	"github.com/halfulp/halfulp/internal/gpu/mem"
)

// TestDeviceFails runs commands on fake GPUs that fail: status 1, one line that says what
// happened and where, and no file.
func TestDeviceFails(t *testing.T) {
	dir := t.TempDir()
	a, x, out := filepath.Join(dir, "A.mtx"), filepath.Join(dir, "x.mtx"), filepath.Join(dir, "z")
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
		for _, args := range [][]string{
			{"gemm", a, a},
			{"gemv", a, x},
			{"sum", a},
			{"dot", x, x},
			{"sum", a, "--method", "rns-hybrid"},
			{"dot", x, x, "--method", "rns-pairwise"},
			{"gemv", a, x, "--method", "rns-gemv"},
			{"spmv", a, x, "--method", "rns-ell"},
			{"map", "div", a, a, "--method", "rns-elementwise"},
		} {
			command := strings.Join(args, " ")
			drv := &fake.Driver{TotalMemory: c.memory}
			for _, name := range rnsKernels {
				drv.Kernel(name, func(*fake.Launch) {})
			}
			dev, err := cuda.OpenDriver(drv, 0)
			if err != nil {
				t.Fatal(err)
			}
			if c.call != "" {
				drv.Fail(c.call, 0, c.code)
			}
			restore := mem.Substitute(dev)
			var stdout, stderr strings.Builder
			status := run(append(args, "--device", "cuda:0", "--out", out), nil, &stdout, &stderr)
			restore()
			line := regexp.MustCompile("^halfulp: [^\n]*" + c.want + "[^\n]*\n$")
			if status != cli.ExitFailed || stdout.Len() > 0 || !line.MatchString(stderr.String()) {
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

// rnsKernels are the kernels of package rns.
var rnsKernels = []string{
	"rnsSum", "rnsDot", "rnsTree", "rnsMap", "rnsPairs", "rnsRecursiveS", "rnsRecursiveP", "rnsPairwiseS", "rnsPairwiseP", "rnsSparse",
}

// TestRNSOnDevice runs every method of package rns on the machine's GPU: results and bounds equal
// the CPU's.
func TestRNSOnDevice(t *testing.T) {
	if _, err := cuda.Open(0); errors.Is(err, cuda.ErrNoDevice) && os.Getenv("HALFULP_WANT_GPU") == "" {
		t.Skip("no GPU:", err)
	}
	dir := t.TempDir()
	file := func(name string, rows, cols, seed string) string {
		path := filepath.Join(dir, name)
		args := []string{"gen", "random", rows, cols, "--seed", seed, "--format", "mp:150", "--out", path}
		if status := run(args, nil, io.Discard, io.Discard); status != 0 {
			t.Fatalf("%v: exit status %d", args, status)
		}
		return path
	}
	a, x, y := file("A.mtx", "37", "53", "1"), file("x.mtx", "53", "1", "2"), file("y.mtx", "37", "1", "3")
	hilbert, b := filepath.Join(dir, "hilbert.mtx"), file("b.mtx", "12", "1", "4")
	if status := run([]string{"gen", "hilbert", "12", "--format", "mp:150", "--out", hilbert}, nil, io.Discard, io.Discard); status != 0 {
		t.Fatalf("exit status %d", status)
	}
	empty := filepath.Join(dir, "empty.mtx")
	if err := os.WriteFile(empty, []byte("%%MatrixMarket matrix array real general\n0 1\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, method := range rnsMethods {
		for _, command := range method.commands {
			operands := map[string][][]string{
				"sum": {{a}, {empty}}, "asum": {{a}}, "dot": {{x, x}, {empty, empty}}, "nrm2": {{a}, {empty}},
				"map":  {{"add", a, a}, {"sub", x, x}, {"mul", a, a}, {"div", x, x}, {"sqrt", a}, {"fma", x, x, x}, {"sqrt", empty}},
				"gemv": {{a, x}, {a, x, y, "--alpha", "-0.75", "--beta", "3"}, {a, y, x, "--trans", "--alpha", "0.1"}, {a, x, "--alpha", "0"}},
				"spmv": {{a, x}}, "cg": {{hilbert, b}, {hilbert, b, b, "--preconditioner", "jacobi", "--blocks", "3", "--block-size", "2"}},
			}[command]
			for _, o := range operands {
				for _, flags := range [][]string{{"--format", "mp:120"}, {"--format", "mp:400", "--precision", "150", "--moduli", "40"}} {
					if method.name == "rns-hybrid" {
						flags = append(flags, "--blocks", "3", "--block-size", "7")
					}
					got := map[string]any{}
					for _, device := range []string{"cpu", "cuda:0"} {
						args := append(append([]string{command}, o...), "--in", "mp:150", "--json", "--method", method.name, "--device", device)
						var stdout, stderr strings.Builder
						if status := run(append(args, flags...), nil, &stdout, &stderr); status != 0 {
							t.Fatalf("%v: exit status %d, %s", args, status, stderr.String())
						}
						var result map[string]any
						if err := json.Unmarshal([]byte(stdout.String()), &result); err != nil {
							t.Fatal(err)
						}
						stats := result["stats"].(map[string]any)
						if stats["device"] != device {
							t.Errorf("%v: device %v", args, stats["device"])
						}
						result["stats"] = stats["rns"]
						got[device] = result
					}
					if !reflect.DeepEqual(got["cpu"], got["cuda:0"]) {
						t.Errorf("%s %v, %v: cuda:0 has\n%v\nthe CPU\n%v", method.name, o, flags, got["cuda:0"], got["cpu"])
					}
				}
			}
		}
	}
	// Bases that the kernels do not support are errors before files are read.
	var stderr strings.Builder
	status := run([]string{"sum", filepath.Join(dir, "none"), "--method", "rns-hybrid", "--precision", "60", "--moduli", "4", "--device", "cuda:0"}, nil, io.Discard, &stderr)
	if want := "halfulp: method rns-hybrid on cuda:0: "; status != cli.ExitMisuse || !strings.HasPrefix(stderr.String(), want) || !strings.Contains(stderr.String(), "is not odd and below 2^30") {
		t.Errorf("moduli of 31 bits: status %d, %q", status, stderr.String())
	}
}
