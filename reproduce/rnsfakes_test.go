//go:build rnsfakes

package reproduce_test

import (
	"bytes"
	"strconv"
	"strings"
	"testing"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/cudadrv/fake"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/reproduce"
	"github.com/halfulp/halfulp/rns"
)

// TestWithFakes runs the experiments with a GPU: it checks the GPU's rows, and that results with
// other bits than the CPU's are errors. [TestReproduce] runs it.
func TestWithFakes(t *testing.T) {
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
			"algorithm 1", "algorithm 1, transposed", "algorithm 1, fused", "algorithm 1, fused, transposed",
			"algorithm 1, fused, tuned", "algorithm 1, fused, transposed, tuned", "basic implementation", "basic implementation, transposed",
			"halfulp.Gemv", "halfulp.Gemv, transposed",
		}, 2, false, []string{"dot", "tree", "map", "signs, exponents, evaluations", "digits", "rounding", "row sums", "basic"}},
		{"mpres-sum", reproduce.Sum, rns.SummationBase, rns.SummationPrecisions, 20001, []string{
			"Reduce1S recursive", "Reduce1P recursive", "Reduce2S pairwise", "Reduce2P pairwise", "Reduce2 pairwise, over all",
			"Reduce3 (32 blocks)", "Reduce3 (64 blocks)", "Reduce3 (128 blocks)", "Reduce3 (256 blocks)", "Reduce3 (512 blocks)",
			"Reduce3 hybrid, tuned",
		}, 1, true, []string{
			"sum", "tree", "pairs", "recursive, one thread", "recursive, a group", "pairwise, one thread", "pairwise, a group",
		}},
	} {
		if c.long && !testlength.Long() {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			if c.name == "mpres-gemv" && strconv.IntSize == 32 {
				t.Skip("the exact engine's arguments of kernels are laid out for 64 bits, as NVIDIA's driver is")
			}
			dev := rns.NewReference(t, c.base, c.bits, false)
			blocks := rns.Options{Blocks: 128, BlockSize: 128}
			rns.RememberBlocks(t, dev, c.base, c.bits, c.n, blocks)
			restore := mem.Substitute(dev)
			tables := loadTables(t, dev, c.base, c.bits)
			r, err := c.run(reproduce.Options{N: c.n, Device: "cuda:0", Machine: reproduce.Machine{GPUs: []string{"some"}}})
			restore()
			if err != nil {
				t.Fatal(err)
			}
			checkRows(t, r, dev, c.rows, c.sets, c.bits)
			if c.name == "mpres-gemv" {
				checkGemvFindings(t, r)
			}
			checkKernels(t, r, c.kernels, c.bits)
			if n := dev.Counters().InUse; n != tables {
				t.Errorf("%d bytes are left in use, %d by tables", n, tables)
			}

			restore = mem.Substitute(rns.NewReference(t, c.base, c.bits, true))
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
		x, err := b.NewArrayOn("cuda:0", 1)
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
		if k.Device != title || k.Quantity != "time" || k.Table == "table 3" {
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
		// Reduce3 with 256 blocks is there for other lengths as well.
		if n := sets * len(bits); found[m] != n && (m != "Reduce3 (256 blocks)" || found[m] < n) {
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
		if k.Table == "speed-ups" && k.Paper != nil && (k.Here == nil || *k.Here <= 0) {
			t.Errorf("no ratio: %+v", k)
		}
	}
	for _, f := range r.Files() {
		var b bytes.Buffer
		if err := f.Write(&b); err != nil {
			t.Errorf("%s: %v", f.Name, err)
		}
		if strings.HasSuffix(f.Name, ".svg") && !strings.Contains(f.Name, "accuracy") && f.Name != "mpres-sum.svg" && !strings.Contains(b.String(), "GPU: ") && !strings.Contains(b.String(), title) {
			t.Errorf("%s has no panel of the GPU", f.Name)
		}
	}
}

// checkGemvFindings checks that the findings which need a GPU are measured.
func checkGemvFindings(t *testing.T, r *reproduce.Report) {
	t.Helper()
	measured := 0
	for _, f := range r.Findings {
		peer := strings.HasSuffix(f.What, "CUMP") || strings.HasSuffix(f.What, "CAMPARY") || strings.HasSuffix(f.What, "GARPREC")
		if list := f.What == "table 1" || strings.HasPrefix(f.What, "formulas 1 to 5"); (f.Outcome == reproduce.NotMeasured) != (peer || list) {
			t.Errorf("%s: %s", f.What, f.Outcome)
		}
		if strings.HasPrefix(f.What, "table") && strings.Contains(f.Here, r.GPU) {
			measured++
		}
	}
	if measured != 6 { // tables 3, 4 (two kernels) and 5 (three methods)
		t.Errorf("%d findings of tables on the GPU", measured)
	}
	figures := map[string]int{}
	for _, k := range r.Records {
		if k.Device == r.GPU && k.Here != nil {
			figures[k.Table+", "+k.Quantity]++
		}
	}
	// The fake device takes 1 ms between any two events.
	for _, k := range r.Records {
		if k.Device == r.GPU && k.Method == "algorithm 1" && k.Quantity == "time" && *k.Here != 10 {
			t.Errorf("ten steps of 1 ms take %v ms", *k.Here)
		}
	}
	for name, want := range map[string]int{
		"table 3, time": 6, "table 3, share of the time": 6, "table 4, occupancy": 2, "table 4, divergence": 2, "table 4, bandwidth": 2,
		"algorithm 1, launches": 1, "formula 8, MinBS": 1,
	} {
		if figures[name] != want {
			t.Errorf("%s: %d figures, want %d", name, figures[name], want)
		}
	}
}

// checkKernels checks registers, memory and occupancy of every kernel, as set by the fake driver.
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
			if shared := found[cell{k, "shared memory", p}]; (shared > fake.DeclaredShared) != (strings.HasPrefix(k, "pair") || k == "row sums") {
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
