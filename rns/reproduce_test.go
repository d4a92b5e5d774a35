package rns_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/cuda"
	"github.com/halfulp/halfulp/internal/gpu"
	"github.com/halfulp/halfulp/internal/reproduce"
	"github.com/halfulp/halfulp/rns"
)

// TestReproduce runs the experiments with a GPU: its rows, and results of other bits than
// the CPU's, which are errors.
func TestReproduce(t *testing.T) {
	for _, c := range []struct {
		name string
		run  func(reproduce.Options) (*reproduce.Report, error)
		base func(p int) (*rns.Base, error)
		bits []int
		n    int
		rows []string // as many for every kind of inputs
		sets int
		long bool

		kernels []string
	}{
		{"mpres-gemv", reproduce.Gemv, rns.GemvBase, rns.GemvPrecisions, 9, []string{
			"algorithm 1", "algorithm 1, transposed", "algorithm 1, tuned", "algorithm 1, transposed, tuned", "basic implementation", "basic implementation, transposed",
		}, 2, false, []string{"dot", "tree", "map"}},
		{"mpres-sum", reproduce.Sum, rns.SummationBase, rns.SummationPrecisions, 20001, []string{
			"Reduce1S recursive, of 20000 numbers", "Reduce1P recursive, of 20000 numbers", "Reduce2S pairwise, of 20000 numbers",
			"Reduce2P pairwise, of 20000 numbers", "Reduce2 pairwise, over all", "Reduce3 hybrid", "Reduce3 hybrid, tuned",
		}, 1, true, []string{
			"sum", "tree", "pairs", "recursive, one thread", "recursive, a group", "pairwise, one thread", "pairwise, a group",
		}},
	} {
		if c.long && testing.Short() {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			dev := rns.NewReference(t, c.base, c.bits, false)
			blocks := rns.Options{Blocks: 128, BlockSize: 128}
			rns.RememberSum(t, dev, c.base, c.bits, c.n, blocks)
			restore := gpu.Substitute(dev)
			tables := loadTables(t, dev, c.base, c.bits)
			r, err := c.run(reproduce.Options{N: c.n, Device: "cuda:0", Machine: reproduce.Machine{GPUs: []string{"some"}}})
			restore()
			if err != nil {
				t.Fatal(err)
			}
			checkRows(t, r, dev, c.rows, c.sets, c.bits)
			checkKernels(t, r, c.kernels, c.bits)
			if n := dev.Counters().InUse; n != tables {
				t.Errorf("%d bytes are left in use, %d by tables", n, tables)
			}

			restore = gpu.Substitute(rns.NewReference(t, c.base, c.bits, true))
			defer restore()
			if _, err := c.run(reproduce.Options{N: 9, Device: "cuda:0"}); err == nil || !strings.Contains(err.Error(), "other bits") {
				t.Errorf("wrong results: error %v", err)
			}
		})
	}
}

// loadTables returns the memory in use once the tables of all bases are on the device.
func loadTables(t *testing.T, dev *cuda.Device, base func(p int) (*rns.Base, error), bits []int) int64 {
	t.Helper()
	for _, p := range bits {
		b, err := base(p)
		if err != nil {
			t.Fatal(err)
		}
		x, err := b.NewArray(1).To("cuda:0")
		if err != nil {
			t.Fatal(err)
		}
		x.Free()
	}
	return dev.Counters().InUse
}

func checkRows(t *testing.T, r *reproduce.Report, dev *cuda.Device, rows []string, sets int, bits []int) {
	t.Helper()
	title := "cuda:0, " + dev.Info().Name
	found := map[string]int{}
	for _, k := range r.Records {
		if k.Device != title || k.Quantity != "time" {
			continue
		}
		isTuned := strings.HasSuffix(k.Method, ", tuned")
		if isTuned && k.BlockSize == 0 || strings.HasPrefix(k.Method, "Reduce3") && isTuned != (k.Blocks == 128 && k.BlockSize == 128) {
			t.Errorf("blocks: %+v", k)
		}
		if k.Here == nil || *k.Here <= 0 || k.Paper != nil || k.Runs < 1 || k.Residues != "" {
			t.Errorf("no time: %+v", k)
		}
		found[k.Method]++
	}
	for _, m := range rows {
		if found[m] != sets*len(bits) {
			t.Errorf("%s: %d times, want %d", m, found[m], sets*len(bits))
		}
	}
	if len(found) != len(rows) {
		t.Errorf("rows %v, want %v", found, rows)
	}
	var text bytes.Buffer
	if err := r.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	for _, m := range rows {
		if s := text.String(); !strings.Contains(s, "\n"+m+"  ") || strings.Contains(s, "not used") || !strings.Contains(s, title+"; ") || strings.Contains(s, "not measured") {
			t.Fatalf("%s: text\n%s", m, s)
		}
	}
	for _, k := range r.Records {
		if strings.HasSuffix(k.Method, "both on the GPU") != (k.Table == "speed-ups" && k.Device == title) {
			t.Errorf("ratio %+v", k)
		}
	}
	for _, f := range r.Files() {
		var b bytes.Buffer
		if err := f.Write(&b); err != nil {
			t.Errorf("%s: %v", f.Name, err)
		}
		if strings.HasSuffix(f.Name, ".svg") && !strings.Contains(f.Name, "accuracy") && !strings.Contains(b.String(), "GPU: ") && !strings.Contains(b.String(), title) {
			t.Errorf("%s has no panel of the GPU", f.Name)
		}
	}
}

// checkKernels wants registers, memory and occupancy of every kernel, those of the fake driver.
func checkKernels(t *testing.T, r *reproduce.Report, kernels []string, bits []int) {
	t.Helper()
	type cell struct {
		kernel, quantity string
		bits             int
	}
	found := map[cell]float64{}
	for _, k := range r.Records {
		if k.Table != "kernels" || k.Paper != nil {
			continue
		}
		if k.Here == nil || k.BlockSize < 1 || k.Moduli == 0 || k.Device != r.GPU {
			t.Errorf("kernel %+v", k)
			continue
		}
		found[cell{k.Method, k.Quantity, k.Bits}] = *k.Here
		if k.Quantity == "occupancy" {
			// 2 blocks of that many threads, in whole warps, of 2048 threads
			if want := 100 * float64((k.BlockSize+31)/32*64) / 2048; *k.Here != want {
				t.Errorf("kernel %s, %d bits: occupancy %v, want %v", k.Method, k.Bits, *k.Here, want)
			}
		}
	}
	for _, k := range kernels {
		for _, p := range bits {
			if got := found[cell{k, "registers", p}]; got != 32 {
				t.Errorf("kernel %s, %d bits: %v registers", k, p, got)
			}
			for _, q := range []string{"local memory", "shared memory", "occupancy"} {
				if _, ok := found[cell{k, q, p}]; !ok {
					t.Errorf("kernel %s, %d bits: no %s", k, p, q)
				}
			}
			if shared := found[cell{k, "shared memory", p}]; (shared > 0) != strings.HasPrefix(k, "pair") {
				t.Errorf("kernel %s, %d bits: %v bytes of shared memory", k, p, shared)
			}
		}
	}
	if len(found) != 4*len(kernels)*len(bits) {
		t.Errorf("%d figures of kernels, want %d", len(found), 4*len(kernels)*len(bits))
	}
	var text bytes.Buffer
	if err := r.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	for _, k := range kernels {
		if !strings.Contains(text.String(), "\n"+k+"  ") {
			t.Errorf("no row of kernel %s in\n%s", k, text.String())
		}
	}
}

// TestReproduceDevice refuses devices that are not there.
func TestReproduceDevice(t *testing.T) {
	defer gpu.Substitute()()
	for _, name := range []string{"cuda:0", "cuda:x", "auto", "cuda:0,1"} {
		for _, run := range []func(reproduce.Options) (*reproduce.Report, error){reproduce.Sum, reproduce.Gemv} {
			if _, err := run(reproduce.Options{N: 4, Device: name}); !errors.Is(err, halfulp.ErrDevice) || !strings.Contains(err.Error(), name) {
				t.Errorf("%s: error %v", name, err)
			}
		}
	}
}
