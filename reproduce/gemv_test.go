package reproduce

import (
	"maps"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/rns"
)

// TestGemv runs the experiment on a small matrix.
func TestGemv(t *testing.T) {
	r, err := Gemv(Options{N: 24, Threads: 2, Machine: Machine{CPU: "test"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range r.find(tableGemv) {
		switch {
		case k.Device == paperGPU:
			if k.Here != nil || k.HereText != "" || k.Paper == nil {
				t.Errorf("a figure of the paper: %+v", k)
			}
		case k.Here == nil || *k.Here <= 0 || k.Runs < 1 || k.Paper != nil:
			t.Errorf("no time: %+v", k)
		}
	}
	if n, want := len(r.find(tableGemv)), 6*5+2*5*(6+2); n != want {
		t.Errorf("%d times, want %d", n, want)
	}
	total, paper := 0.0, 0.0
	for _, k := range r.find(tableStages) {
		if k.Quantity == share {
			total += *k.Here
			paper += *k.Paper
		}
	}
	if math.Abs(total-100) > 1e-9 || math.Abs(paper-99.9) > 1e-9 { // the paper's add up to that
		t.Errorf("stages take %v %%, in the paper %v %%", total, paper)
	}
	// Errors are below their bounds, and errors of full significands are not 0.
	bounds := r.find(tableBounds)
	errs := 0
	for i, k := range bounds {
		if k.Quantity != relativeError {
			continue
		}
		errs++
		e, _, err := big.ParseFloat(k.HereText, 10, 100, big.ToNearestEven)
		if err != nil {
			t.Fatal(err)
		}
		if k.Here == nil && e.MantExp(nil) > -1022 {
			t.Errorf("%s is left out", k.HereText)
		}
		limit := new(big.Float).SetMantExp(big.NewFloat(1), -k.Bits)
		if !strings.HasPrefix(k.Method, exactGemv) {
			next := bounds[i+1]
			if next.Quantity != boundOf || next.Method != k.Method || next.Bits != k.Bits {
				t.Fatalf("no bound after %+v", k)
			}
			limit, _, err = big.ParseFloat(next.HereText, 10, 100, big.ToNearestEven)
			if err != nil {
				t.Fatal(err)
			}
			if limit.MantExp(nil) < -k.Bits || limit.MantExp(nil) > 20-k.Bits {
				t.Errorf("%s, %d bits: bound %s", k.Method, k.Bits, next.HereText)
			}
		}
		if e.Cmp(limit) > 0 || (e.Sign() == 0) != (k.Case == quarter) {
			t.Errorf("%s, %s, %d bits: error %s, limit %.2g", k.Method, k.Case, k.Bits, k.HereText, limit)
		}
	}
	if want := 2 * 5 * 8; errs != want {
		t.Errorf("%d errors, want %d", errs, want)
	}
	checkFiles(t, r, "mpres-gemv.csv mpres-gemv.json mpres-gemv.png mpres-gemv.svg mpres-gemv-stages.png mpres-gemv-stages.svg",
		"algorithm 1, transposed", "CAMPARY", "GTX 1080, paper, M = N = 1000")
	checkFindings(t, r)
}

// gemvOutcomes are the outcomes of the findings, by their subjects.
func gemvOutcomes(r *Report) map[string]Outcome {
	m := map[string]Outcome{}
	for _, f := range r.Findings {
		m[f.What] = f.Outcome
	}
	return m
}

// checkFindings checks that every part of the paper has a finding, and that verdicts follow the
// figures.
func checkFindings(t *testing.T, r *Report) {
	t.Helper()
	if r.Claim == "" {
		t.Error("no claim")
	}
	want := map[string]Outcome{
		"table 1": NotMeasured, "table 2": Confirmed, "figure 1": Confirmed, "figure 2": Confirmed,
		"algorithm 1": Confirmed, "figure 3": Confirmed, "figure 4": Confirmed, "figure 5": Confirmed,
		"formulas 1 to 5, 7, 9 to 15": NotMeasured, "formula 6": Confirmed, "formula 8": NotMeasured, "formulas 16 to 19": Confirmed, "formula 20": Confirmed,
		"table 3": NotMeasured, "table 4, " + digitsKernel: NotMeasured, "table 4, " + rowSumKernel: NotMeasured,
	}
	for _, k := range paperGemv {
		want["table 5, "+k.method] = NotMeasured // without a GPU
	}
	if got := gemvOutcomes(r); !maps.Equal(got, want) {
		t.Errorf("findings %v, want %v", got, want)
	}
	for _, f := range r.Findings {
		if f.Paper == "" || f.Verdict == "" || f.Outcome == Confirmed && f.Here == "" {
			t.Errorf("finding %+v", f)
		}
	}
	// Other figures give other verdicts.
	for _, c := range []struct{ table, quantity, what string }{
		{tableLayout, lengthOf, "table 2"}, {tableFigure1, residuesOf, "figure 1"}, {tableFigure2, entriesOf, "figure 2"},
		{tableAlgorithm, launchesOf, "algorithm 1"}, {tableRoundoff, roundoff, "formula 6"}, {tableBounds, ofBound, "formulas 16 to 19"}, {tablePeak, peak, "formula 20"},
	} {
		altered := *r
		altered.Records, altered.Findings = slices.Clone(r.Records), nil
		for i, k := range altered.Records {
			if k.Table == c.table && k.Quantity == c.quantity {
				altered.Records[i].Here = known(*k.Here + 2)
				break
			}
		}
		altered.gemvFindings()
		if got := gemvOutcomes(&altered)[c.what]; got != Differs {
			t.Errorf("%s: %s with another %s", c.what, got, c.quantity)
		}
	}
}

// TestDivergence counts lanes that wait.
func TestDivergence(t *testing.T) {
	for _, c := range []struct {
		rows, n, block int
		want           float64
	}{
		{1000, 32, 64, 0}, // a warp a number
		{1000, 8, 64, 0},  // 125 blocks of 8 numbers
		{9, 8, 64, 1 - 72.0/96},
		{1000, 7, 70, 1 - 7.0/9.6}, // 70 lanes in three warps, 100 times
		{1, 4, 64, 1 - 4.0/32},
	} {
		if got := digitDivergence(c.rows, c.n, c.block); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%+v: divergence %v", c, got)
		}
	}
	b, err := rns.GemvBase(106)
	if err != nil {
		t.Fatal(err)
	}
	// One row of x that the product by a of ones sums; β y is 0.
	of := func(x ...int64) *gemvData {
		d := &gemvData{b: b, al: b.NewNumber().SetInt64(1), be: b.NewNumber(), ar: b.NewMatrix(1, len(x)), xr: b.NewVector(len(x)), yr: b.NewVector(1)}
		for j, v := range x {
			d.ar.Set(0, j, d.al)
			d.xr.Set(j, b.NewNumber().SetInt64(v))
		}
		return d
	}
	ones := make([]int64, 64)
	for i := range ones {
		ones[i] = 1
	}
	for _, c := range []struct {
		name  string
		x     []int64
		block int
		want  float64
	}{
		// 32 lanes copy, 32 add; then 16, 8, ... add.
		{"ones", ones, 32, 1 - (64+31)/(64+5*32.0)},
		{"nothing", []int64{0, 0, 0}, 32, 0},
		{"one", []int64{5}, 1, 1 - 1/32.0},
		// Lane 0 copies, then adds; lane 1 copies, then cancels; the sums add one lane.
		{"a difference", []int64{3, 7, 3, -7}, 2, 1 - (2+2)/(3*32.0-32)},
		// 3 - 7 changes the sign: added and negated, by one lane.
		{"a change of sign", []int64{3, -7}, 1, 1 - 3/96.0},
		// 3 + 2^40: one is aligned.
		{"exponents", []int64{3, 1 << 40}, 1, 1 - 3/96.0},
	} {
		if got := of(c.x...).sumDivergence(c.block); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%s: divergence %v, want %v", c.name, got, c.want)
		}
	}
}

// TestGemvRuns: the fastest of the runs counts, the steps as published without the copies, and the
// result belongs to the exact product's data.
func TestGemvRuns(t *testing.T) {
	e, err := (&Options{N: 8, Threads: 1}).start(plan{})
	if err != nil {
		t.Fatal(err)
	}
	d, err := e.gemvData(whole, 106)
	if err != nil {
		t.Fatal(err)
	}
	host := &operands{a: d.ar, x: d.xr, y: d.yr.Clone(), startY: d.yr}
	runs, err := e.gemvRuns(d, host, gemvs()[0], gemvs()[2])
	if err != nil {
		t.Fatal(err)
	}
	want := d.yr.Clone()
	if err := rns.Gemv(halfulp.NoTrans, d.al, d.ar, d.xr, d.be, want, nil); err != nil {
		t.Fatal(err)
	}
	for i, k := range runs {
		if !k.z.Same(want) || k.runs < minRuns || k.runs > maxRuns || k.runs != runs[0].runs || k.ms <= 0 {
			t.Errorf("run %d: %+v", i, k)
		}
	}
	total := 0.0
	for _, s := range runs[0].stages[:launches] {
		total += s.Time.Seconds() * 1e3
	}
	if len(runs[0].stages) != launches+1 || math.Abs(total-runs[0].ms) > 1e-9 || len(runs[1].stages) != 1 {
		t.Errorf("%d stages of %v ms, in all %v ms; ours has %d", len(runs[0].stages), total, runs[0].ms, len(runs[1].stages))
	}
}
