package reproduce

import (
	"context"
	"errors"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/halfulp/halfulp"
)

// TestOzaki runs the experiment on small matrices.
func TestOzaki(t *testing.T) { testOzaki(t, cpuDevice) }

// TestOzakiDevice runs it on the machine's GPU.
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
	if last < 0.9 {
		t.Errorf("the last progress is %v", last)
	}
	methods := len(ozakiMethods())
	errs, bounds := map[string]float64{}, map[string]float64{}
	for _, k := range r.find(tableOzakiErrors) {
		key := k.Case + k.Method + count(k.N) + " " + count(k.Seed)
		switch k.Quantity {
		case worstError:
			errs[key] = *k.Here
		case worstBound:
			bounds[key] = *k.Here
		}
	}
	if want := len(sizes) * len(phis) * seeds * methods; len(errs) != want {
		t.Errorf("%d errors, want %d", len(errs), want)
	}
	for key, bound := range bounds {
		if errs[key] > bound {
			t.Errorf("%s: error %g above its bound %g", key, errs[key], bound)
		}
	}
	for _, k := range r.find(tableOzakiMean) {
		switch {
		case k.Quantity != meanError:
		case k.Method == exactGemm && *k.Here > 0x1p-53:
			t.Errorf("n = %d: the correctly rounded product has an error of %g", k.N, *k.Here)
		case k.Method == slicesMethod(4) && *k.Here > 1e-8, k.Method == float32Method && *k.Here < 1e-7:
			t.Errorf("n = %d, %s: error %g", k.N, k.Method, *k.Here)
		}
	}
	if n := len(r.find(tableOzakiTimes)); n != len(sizes)*methods {
		t.Errorf("%d times", n)
	}
	shares := map[string]float64{}
	for _, k := range r.find(tableOzakiShares) {
		shares[k.Method+count(k.N)] += *k.Here
	}
	if len(shares) != len(sizes)*(maxOzakiSlices-1) {
		t.Errorf("shares of %d products", len(shares))
	}
	for name, sum := range shares {
		if math.Abs(sum-100) > 1e-6 {
			t.Errorf("%s: shares add up to %g %%", name, sum)
		}
	}
	var names []string
	for _, base := range []string{"", "-errors-16", "-error-time-16", "-errors-48", "-error-time-48", "-shares"} {
		names = append(names, "ozaki"+base+".png", "ozaki"+base+".svg")
	}
	checkFiles(t, r, "ozaki.csv ozaki.json "+strings.Join(names, " "), "double-float", "halfulp.Gemm", "6 slices")
}

// TestOzakiPaper checks what is derived from the paper's figures.
func TestOzakiPaper(t *testing.T) {
	r := &Report{}
	methods := ozakiMethods()
	for _, m := range methods {
		x, ms := 2*paperErrors[2][1024][max(m.paper, 0)], 3.0
		r.add(Record{Table: tableOzakiErrors, Case: phiCase(2), N: 1024, Seed: 1, Method: m.name, Quantity: worstError, Here: &x},
			Record{Table: tableOzakiTimes, N: 1024, Method: m.name, Here: &ms})
	}
	r.ozakiMeans(methods, 1024, 2)
	if x, n := r.closeness(func(Record) bool { return true }); n != 7 || math.Abs(x-2) > 1e-12 {
		t.Errorf("twice the paper's errors are %g times them, %d figures", x, n)
	}
	found := 0
	for _, k := range r.find(tableOzakiRatio) {
		if k.Method == slicesMethod(6) && k.Quantity == ratio {
			found++
			if *k.Paper != 27.8 || *k.Here != 1 {
				t.Errorf("ratio of times %g, paper %g", *k.Here, *k.Paper)
			}
		}
		if k.Method == float64Method && k.Quantity != ratio {
			found++
			if math.Abs(*k.Paper/3.02e8-1) > 0.01 { // table 3
				t.Errorf("improvement by float64 in the paper %g", *k.Paper)
			}
		}
	}
	if found != 2 {
		t.Errorf("%d ratios", found)
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
