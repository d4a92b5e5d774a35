package reproduce

import (
	"errors"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/halfulp/halfulp"
)

// TestQD runs the experiment on small vectors and matrices.
func TestQD(t *testing.T) { testQD(t, cpuDevice) }

// TestQDDevice runs it on the machine's GPU.
func TestQDDevice(t *testing.T) {
	if err := CheckDevice("cuda:0"); errors.Is(err, halfulp.ErrDevice) && os.Getenv("HALFULP_WANT_GPU") == "" {
		t.Skip("no GPU:", err)
	}
	testQD(t, "cuda:0")
}

func testQD(t *testing.T, device string) {
	t.Helper()
	defer func(n int) { qdLong = n }(qdLong)
	qdLong = 5000
	var last float64
	r, err := QD(Options{N: 36, Device: device, Threads: 2, MemoryLimit: 1 << 30, Machine: Machine{CPU: "test"}, Progress: func(done float64) {
		if done < last || done > 1 {
			t.Errorf("progress %v after %v", done, last)
		}
		last = done
	}})
	if err != nil {
		t.Fatal(err)
	}
	if last < 0.9 {
		t.Errorf("the last progress is %v", last)
	}
	formats, operations, gpu := len(qdFormats), len(qdOperations), 0
	if device != cpuDevice {
		gpu = 1
	}
	for table, want := range map[string][2]int{ // figures here, and of the paper
		tableQDScalars: {3 * formats, 9},
		tableQDCompute: {(1 + 2*gpu) * formats * operations, 2 * formats * operations},
		tableQDMemory:  {(1 + gpu) * formats * operations, 0},
		tableQDGemm:    {(2 + 2*gpu) * formats, 2 * formats},
		tableQDSolve:   {(3 + 3*gpu) * formats, 3 * formats},
	} {
		var got [2]int
		for _, k := range r.find(table) {
			switch {
			case k.Paper != nil && k.Here == nil:
				got[1]++
			case k.Paper == nil && k.Here != nil && *k.Here > 0 && !math.IsInf(*k.Here, 0):
				got[0]++
			default:
				t.Errorf("%+v", k)
			}
		}
		if got != want {
			t.Errorf("%s has %v figures, want %v", table, got, want)
		}
	}
	if n := len(qdPaper); n != 9+28+4+6 {
		t.Errorf("the paper has %d figures", n)
	}
	var b strings.Builder
	if err := r.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Table 3.6", "Table 6.3", "24 x 48 by 48 x 24", "sqrt"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the text lacks %q:\n%s", want, b.String())
		}
	}
	for _, f := range r.Files() {
		var b strings.Builder
		if err := f.Write(&b); err != nil || b.Len() == 0 {
			t.Errorf("%s: %v", f.Name, err)
		}
	}
}
