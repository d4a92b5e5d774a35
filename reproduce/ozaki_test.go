package reproduce

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/halfulp/halfulp"
	_ "github.com/halfulp/halfulp/cuda"
)

// TestOzaki runs the experiment on small matrices.
func TestOzaki(t *testing.T) { testOzaki(t, cpuDevice) }

// TestOzakiDevice runs the experiment on the machine's GPU.
func TestOzakiDevice(t *testing.T) {
	if err := CheckDevice("cuda:0"); errors.Is(err, halfulp.ErrDevice) && os.Getenv("HALFULP_WANT_GPU") == "" {
		t.Skip("no GPU:", err)
	}
	testOzaki(t, "cuda:0")
}

func testOzaki(t *testing.T, device string) {
	t.Helper()
	sizes, phis := []int{48, 16}, []float64{1, 0.1}
	const seeds = 2
	var last float64
	r, err := Ozaki(Options{Device: device, Threads: 2, MemoryLimit: 1 << 30, Machine: Machine{CPU: "test"}, Progress: func(done float64) {
		if done < last || done > 1 {
			t.Errorf("progress %v after %v", done, last)
		}
		last = done
	}}, sizes, seeds, phis)
	if err != nil {
		t.Fatal(err)
	}
	if last == 0 { // shares are of measured times: the last step may have any
		t.Error("no progress is reported")
	}
	methods := len(ozakiMethods())
	errs, bounds := map[string]float64{}, 0
	for _, k := range r.find(tableOzakiErrors) {
		key := k.Case + k.Method + count(k.N) + " " + count(k.Seed)
		switch k.Quantity {
		case worstError:
			errs[key] = *k.Here
		case worstBound:
			if bounds++; errs[key] > *k.Here {
				t.Errorf("%s: error %g above its bound %g", key, errs[key], *k.Here)
			}
		}
	}
	if want := len(sizes) * len(phis) * seeds * methods; len(errs) != want {
		t.Errorf("%d errors, want %d", len(errs), want)
	}
	if want := len(sizes) * len(phis) * (methods - 2); bounds != want && device == cpuDevice {
		t.Errorf("%d bounds, want %d", bounds, want)
	}
	for _, k := range r.find(tableOzakiMean) {
		switch {
		case k.Quantity != meanError:
		case k.Method == exactGemm && *k.Here > 0x1p-53:
			t.Errorf("n = %d: the correctly rounded product has an error of %g", k.N, *k.Here)
		case k.Method == slicesMethod(4) && *k.Here > 1e-8, k.Method == literalMethod(5) && *k.Here > 1e-8, k.Method == float32Method && *k.Here < 1e-7:
			t.Errorf("n = %d, %s: error %g", k.N, k.Method, *k.Here)
		}
	}
	if n := len(r.find(tableOzakiTimes)); n != len(sizes)*methods {
		t.Errorf("%d times", n)
	}
	first := r.find(tableOzakiExact)
	if len(first) != len(sizes) {
		t.Errorf("%d products of first slices", len(first))
	}
	for _, k := range first {
		if *k.Here != 0 {
			t.Errorf("n = %d: the product of the first slices has an error of %g", k.N, *k.Here)
		}
	}
	shares := map[string]float64{}
	for _, k := range r.find(tableOzakiShares) {
		shares[k.Method+count(k.N)] += *k.Here
	}
	if len(shares) != len(sizes)*2*(maxOzakiSlices-1) {
		t.Errorf("shares of %d products", len(shares))
	}
	for name, sum := range shares {
		if math.Abs(sum-100) > 1e-6 {
			t.Errorf("%s: shares add up to %g %%", name, sum)
		}
	}
	for _, f := range r.Findings {
		if f.What == "" || f.Paper == "" || f.Verdict == "" || f.Outcome == "" || f.Outcome != NotMeasured && f.Here == "" || strings.Contains(f.Here+f.Exact+f.Verdict, "NaN") {
			t.Errorf("finding %+v", f)
		}
		if f.What == "table 2" && f.Outcome != NotMeasured {
			t.Errorf("table 2 is %s without its sizes", f.Outcome)
		}
	}
	var names []string
	for _, base := range []string{"", "-16-literal-seeds", "-16-literal-time", "-16-scaled-seeds", "-16-scaled-time",
		"-48-literal-seeds", "-48-literal-time", "-48-scaled-seeds", "-48-scaled-time", "-shares-literal", "-shares-scaled"} {
		names = append(names, "ozaki"+base+".png", "ozaki"+base+".svg")
	}
	checkFiles(t, r, "ozaki.csv ozaki.json "+strings.Join(names, " "), "double-float", "halfulp.Gemm", "6 slices")
}

// ozakiLike returns a report with errors of all methods that are scale(paper, rng) for each cell of
// table 2 and ten seeds; scaled slices have the errors of the paper's slices.
func ozakiLike(scale func(column int, paper float64, rng *rand.Rand) float64) *Report {
	r := &Report{}
	rng, usual := rand.New(rand.NewPCG(5, 6)), newScatter(OzakiPaperSeeds, 1).middle
	for _, phi := range OzakiPhi {
		for _, n := range []int{1024, 2048, 4096} {
			methods := ozakiMethods()
			for _, m := range methods {
				column := max(m.paper, m.slices-1, 0)
				for seed := 1; seed <= 10; seed++ {
					x := scale(column, paperErrors[phi][n][column], rng)
					y := x / usual
					r.add(Record{Table: tableOzakiErrors, Case: phiCase(phi), N: n, Seed: seed, Method: m.name, Quantity: worstError, Here: &x},
						Record{Table: tableOzakiErrors, Case: phiCase(phi), N: n, Seed: seed, Method: m.name, Quantity: scaleError, Here: &y})
				}
				if phi == OzakiPhi[0] {
					ms := 3.0
					r.add(Record{Table: tableOzakiTimes, N: n, Method: m.name, Here: &ms})
				}
			}
			r.ozakiMeans(methods, n, phi, 10)
		}
	}
	return r
}

// TestOzakiPaper checks the figures that are derived from the paper's figures.
func TestOzakiPaper(t *testing.T) {
	r := ozakiLike(func(_ int, paper float64, _ *rand.Rand) float64 { return 2 * paper })
	found := 0
	for _, k := range r.find(tableOzakiRatio) {
		if k.Method == literalMethod(6) && k.Quantity == ratio && k.N == 1024 && k.Case == phiCase(2) {
			found++
			if *k.Paper != 27.8 || *k.Here != 1 {
				t.Errorf("ratio of times %g, paper %g", *k.Here, *k.Paper)
			}
		}
		if k.Method == float64Method && k.Quantity == improvement && k.N == 1024 && k.Case == phiCase(2) {
			found++
			// table 3
			if *k.Paper != 3.02e8 || math.Abs(*k.Here / *k.Paper - 1) > 0.01 {
				t.Errorf("improvement by float64 %g, paper %g", *k.Here, *k.Paper)
			}
		}
		if k.Method == slicesMethod(3) && k.Paper != nil {
			t.Errorf("the paper has no %s: %+v", k.Method, k)
		}
	}
	if found != 2 {
		t.Errorf("%d ratios", found)
	}
	r.ozakiSpeeds([]int{1024, 2048, 4096})
	for _, k := range r.find(tableOzakiSpeeds) {
		if k.Method == literalMethod(2) && k.N == 4096 {
			found++
			if *k.Here != 1 || *k.Paper != 8.44 {
				t.Errorf("speed-up %g, paper %g", *k.Here, *k.Paper)
			}
		}
		if k.Method == literalMethod(3) && k.Quantity == slowerUpTo {
			found++
			if *k.Here != 4096 || *k.Paper != 512 {
				t.Errorf("float64 is faster up to %g, in the paper to %g", *k.Here, *k.Paper)
			}
		}
	}
	r.ozakiDigits([]int{1024, 2048, 4096}, OzakiPhi)
	if gain := r.ozakiGain(literalMethod(6), 0.1); found != 4 || gain != "7.9 to 9.9" {
		t.Errorf("%d figures, 6 slices gain %s digits", found, gain)
	}
}

// TestOzakiScatter checks that errors of the paper's scale agree with table 2, and that errors of
// another scale do not, for each method.
func TestOzakiScatter(t *testing.T) {
	s := newScatter(OzakiPaperSeeds, 1)
	if s.low >= s.middle || s.middle >= s.high || s.spread() < 3 || s.spread() > 30 {
		t.Errorf("scatter %+v", s)
	}
	// The median of a mean of 10 Fréchet variables of scale 1 is near log 10 + 1.6.
	if s.middle < 3 || s.middle > 5.5 {
		t.Errorf("median %g", s.middle)
	}
	like := func(factor func(column int) float64) *Report {
		return ozakiLike(func(column int, paper float64, rng *rand.Rand) float64 {
			return factor(column) * paper * math.Exp(0.2*rng.NormFloat64())
		})
	}
	if f := like(func(int) float64 { return 1 }).ozakiMeanFinding(); f.Outcome != Confirmed || !strings.HasPrefix(f.Verdict, "Met as printed") {
		t.Errorf("errors like the paper's: %+v", f)
	}
	for column := range 7 {
		for _, factor := range []float64{1. / 8, 8} {
			f := like(func(c int) float64 {
				if c == column {
					return factor
				}
				return 1
			}).ozakiMeanFinding()
			name := float32Method
			if column > 0 {
				name = literalMethod(column + 1)
			}
			if column == 6 {
				name = float64Method
			}
			if f.Outcome != Differs || !strings.HasPrefix(f.Verdict, "Not met by "+name) {
				t.Errorf("errors of %s %g times the paper's: %+v", name, factor, f)
			}
		}
	}
}

func TestOzakiLimits(t *testing.T) {
	if _, err := Ozaki(Options{MemoryLimit: 1 << 30}, []int{1 << 20}, 1, OzakiPhi); err == nil || !strings.Contains(err.Error(), "GiB") {
		t.Errorf("error %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	_, err := Ozaki(Options{MemoryLimit: 1 << 30, Context: ctx, Progress: func(float64) {
		if n++; n == 3 {
			cancel()
		}
	}}, []int{16}, 1, OzakiPhi)
	if !errors.Is(err, context.Canceled) || n != 3 {
		t.Errorf("error %v after %d steps", err, n)
	}
}
