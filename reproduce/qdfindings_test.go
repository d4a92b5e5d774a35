package reproduce

import (
	"slices"
	"strings"
	"testing"

	"github.com/halfulp/halfulp"
)

// fakeQD is a report of a GPU whose rates are the C2050's times gpu, on a machine whose CPU has the
// rates of the paper's CPU times cpu, by the published algorithms and by ours alike.
func fakeQD(t *testing.T, cpu, gpu float64) *Report {
	t.Helper()
	r := &Report{Name: qdName, GPU: "cuda:0, test", Machine: Machine{CPU: "test", Threads: 4}}
	r.qdPaper()
	here := func(k Record, x float64) {
		k.Paper, k.Here = nil, &x
		r.add(k)
	}
	for _, k := range slices.Clone(r.Records) {
		device, factor := cpuDevice, cpu
		if k.Device == paperDevices[qdC2050] {
			device, factor = r.GPU, gpu
		}
		if k.Device != paperDevices[0] && k.Device != paperDevices[qdC2050] || strings.HasSuffix(k.Table, "-2") || k.Quantity == gpuOverCPU || k.Quantity == timesSlower {
			continue
		}
		if k.Quantity == timeOfRun {
			factor = 1 / factor
		}
		k.Device = device
		switch {
		case k.Table == tableQDGemm:
			for _, k.Method = range []string{qdNative, qdSquareBlocks} {
				here(k, *k.Paper*factor)
			}
		case k.Table == tableQDSquare || k.Table == tableQDLinear:
			here(k, *k.Paper*factor)
			if k.Table == tableQDLinear {
				k.Table, k.Method = tableQDSolve, "native, zero pivots alone"
				here(k, *k.Paper*factor)
			}
		default:
			x := *k.Paper * factor
			here(k, x)
			if k.Case != qdFloat64 {
				k.Case += qdPublished
				here(k, x)
			}
		}
	}
	r.add(Record{Table: tableQDBits, Case: qdDD + qdPublished, Device: r.GPU, Quantity: "results with the CPU's bits", Here: known(100)})
	e, err := (&Options{Threads: 1}).start(plan{})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.qdAccuracy(r); err != nil {
		t.Fatal(err)
	}
	r.qdCounts()
	r.qdRatios()
	r.Claim, r.Findings = qdClaim, r.qdFindings()
	if err := r.layOut(); err != nil {
		t.Fatal(err)
	}
	return r
}

// outcomesOf are the outcomes of findings by the beginnings of their names.
func outcomesOf(t *testing.T, r *Report) func(what string) Outcome {
	return func(what string) Outcome {
		t.Helper()
		for _, f := range r.Findings {
			if strings.HasPrefix(f.What, what) || strings.HasSuffix(f.What, what) {
				return f.Outcome
			}
		}
		t.Errorf("there is no finding about %s", what)
		return ""
	}
}

// TestQDFindings: verdicts follow the records. There is one for each table and algorithm.
func TestQDFindings(t *testing.T) {
	speeds := []string{"table 5.1-1", "table 5.1-3", "table 5.1-5", "table 5.2.5-1", "table 5.2.5-3", "table 6.2.2-1", "table 6.3.2-1", "table 6.3.2-3"}
	ratios := []string{"table 5.1-2", "table 5.1-4", "table 5.1-6", "table 5.2.5-2", "table 5.2.5-4", "table 6.2.2-2", "table 6.3.2-2", "table 6.3.2-4"}
	for _, test := range []struct {
		cpu, gpu      float64
		speeds, gains Outcome
	}{
		{1, 1.1, Confirmed, Confirmed},
		{1, 0.4, Differs, Differs},
		{0.1, 0.4, Differs, Confirmed},
		{10, 2, Confirmed, Differs},
	} {
		r := fakeQD(t, test.cpu, test.gpu)
		of := outcomesOf(t, r)
		for _, table := range speeds {
			if o := of(table); o != test.speeds {
				t.Errorf("CPU times %g, GPU times %g: %s is %s", test.cpu, test.gpu, table, o)
			}
		}
		for _, table := range ratios {
			if o := of(table); o != test.gains {
				t.Errorf("CPU times %g, GPU times %g: %s is %s", test.cpu, test.gpu, table, o)
			}
			for _, k := range r.find(table) {
				if k.Here == nil {
					continue
				}
				p := paperQDRatios[table][strings.TrimSuffix(k.Case, qdPublished)]
				want, ok := p[k.Method]
				if !ok {
					want = p[""]
				}
				// The paper rounds its ratios, and some have slips.
				q := *k.Here / (want[qdC2050-1] * test.gpu / test.cpu)
				slip := table == "table 5.2.5-2" || table == "table 5.2.5-4"
				if !slip && (q < 0.96 || q > 1.04) {
					t.Errorf("%s, %s %s: %g, %g times the paper's", table, k.Case, k.Method, *k.Here, q)
				}
			}
		}
		for what, want := range map[string]Outcome{
			"table 1-1": NotMeasured, "section 2, Split": Confirmed, "section 2, Quick-Two-Sum": Confirmed, "section 2, Two-Sum": Confirmed,
			"section 2, Three-Sum": Confirmed, "section 2, Two-Prod": Confirmed, "section 3.2, Renorm": Differs, "section 3.3, addition": Confirmed,
			"section 3.3, sums that cancel": Differs, "section 3.4": Confirmed, "section 3.5": Confirmed, "table 3.6-1": outcome(test.cpu >= 1),
			"table 3.6-2, operations": Differs, "table 3.6-2, coefficients": Confirmed, "table 3.6-3": Confirmed, "section 4.1": Confirmed,
			"section 5.1, one operation": Confirmed, "section 5.2.1": Confirmed, "section 5.2.2": Differs, "section 5.2.3": Differs,
			"section 5.2.4": Confirmed, "section 6.2, shapes": Confirmed, "section 7": Confirmed,
		} {
			if o := of(what); o != want {
				t.Errorf("CPU times %g, GPU times %g: %s is %s, want %s", test.cpu, test.gpu, what, o, want)
			}
		}
		for _, f := range r.Findings {
			if f.Paper == "" || f.Verdict == "" || (f.Here == "") != (f.Outcome == NotMeasured) {
				t.Errorf("%+v", f)
			}
		}
	}
}

func outcome(confirmed bool) Outcome {
	if confirmed {
		return Confirmed
	}
	return Differs
}

// TestQDCancel: the operands of sums that cancel are expansions, and the published algorithms err
// where ours do not.
func TestQDCancel(t *testing.T) {
	for _, f := range []halfulp.Format{halfulp.DD, halfulp.QD} {
		x, y := qdVector(f, 20, 1), qdVector(f, 20, 2)
		qdCancel(x, y)
		for _, v := range []*halfulp.Vector{x, y} {
			w := v.View().Arr
			for i := range 20 {
				for k := 1; k < w.Terms(); k++ {
					if w.F64[k-1][i]+w.F64[k][i] != w.F64[k-1][i] || w.F64[k][i] == 0 {
						t.Errorf("%v: words %x and %x", f, w.F64[k-1][i], w.F64[k][i])
					}
				}
			}
		}
	}
	r := fakeQD(t, 1, 1)
	list := r.find(tableQDAccuracy)
	for _, format := range []string{qdDD, qdQD} {
		published, ours := qdHere(list, format+qdPublished, qdCancelling, "", relativeError), qdHere(list, format, qdCancelling, "", relativeError)
		if *published < 1e6*(*ours) || *published == 0 {
			t.Errorf("%s: published %g, ours %g", format, *published, *ours)
		}
	}
}

// TestQDCounts: short forms differ from the paper's counts by one Quick-Two-Sum for each Renorm.
func TestQDCounts(t *testing.T) {
	short := qdShortCounts()
	const more = 3 // in the paper's Renorm
	if n := qdCounts["publishedAddQD"].split + more; float64(n) != paperCounts[qdQD]["+"][0] {
		t.Errorf("+ has %d", n)
	}
	if n := short["*"] + more; float64(n) != paperCounts[qdQD]["*"][0] {
		t.Errorf("* has %d", n)
	}
}
