package reproduce

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/rns"
)

// TestChainTimes: times of sums that take too long are extrapolated linearly, and the records say
// so.
func TestChainTimes(t *testing.T) {
	defer func(d time.Duration) { longestChain = d }(longestChain)
	longestChain = time.Second
	var sizes []int
	linear := func(perNumber float64) func(n int, enough time.Duration) (float64, int, error) {
		sizes = nil
		return func(n int, enough time.Duration) (float64, int, error) {
			sizes = append(sizes, n)
			return 5 + perNumber*float64(n), 1, nil
		}
	}
	for _, c := range []struct {
		n, most   int
		perNumber float64
		sizes     string
		cases     string
		ms        float64
	}{
		{1000, 100, 0.5, "[100 1000]", "[]", 505},
		{1000, 0, 10, "[1000]", "[]", 10005},
		{100, 100, 10, "[100]", "[]", 1005},
		{1000, 100, 2, "[100 100 50]", "[scaled from 50 and 100 numbers 50 numbers 100 numbers]", 2005},
	} {
		list, err := chainTimes(Record{Method: "m", Bits: 30}, c.n, c.most, linear(c.perNumber))
		if err != nil {
			t.Fatal(err)
		}
		var cases []string
		for _, k := range list {
			cases = append(cases, k.Case)
			if k.Method != "m" || k.Bits != 30 {
				t.Errorf("%+v", k)
			}
		}
		got := fmt.Sprint(cases)
		if got != c.cases && !(c.cases == "[]" && len(cases) == 1 && cases[0] == "") {
			t.Errorf("%+v: cases %v", c, got)
		}
		if fmt.Sprint(sizes) != c.sizes || *list[0].Here != c.ms {
			t.Errorf("%+v: sizes %v, %v ms", c, sizes, *list[0].Here)
		}
	}
	want := errors.New("failed")
	if _, err := chainTimes(Record{}, 10, 5, func(int, time.Duration) (float64, int, error) { return 0, 0, want }); !errors.Is(err, want) {
		t.Errorf("error %v", err)
	}
}

// aSumReport is a report for a GPU with the paper's times: 1 ms for Reduce3 with its blocks, and
// the paper's multiples of that for the others.
func aSumReport(n int) *Report {
	r := &Report{Name: sumName, N: n, GPU: "cuda:0, test"}
	for _, bits := range rns.SummationPrecisions {
		add := func(method, device, residues string, ms float64) {
			r.add(Record{Table: tableTimes, Method: method, Device: device, Residues: residues, Bits: bits, Quantity: timeOfRun, Unit: "ms", Here: &ms})
		}
		for i, ms := range []float64{2, 2.2, 1.9} {
			if bits == 60 && i == 0 {
				ms = 4
			}
			add(cpuSums[i].title(), cpuDevice, "scalar", 9)
			add(cpuSums[i].title(), cpuDevice, "SIMD", ms)
		}
		add(exactMethod, cpuDevice, "", 0.1)
		for _, m := range gpuSums(rns.Options{}) {
			ms := map[string]float64{reduce1S: 62 * 11, reduce1P: 62, reduce2S: 48 * 13, reduce2P: 48}[m.title]
			if ms == 0 {
				ms = 1
			}
			add(m.title, r.GPU, "", ms)
		}
	}
	for _, n := range []int{n / 100, n / 10, n} {
		r.add(Record{Table: tableLengths, N: n, Here: known(1)})
	}
	r.add(Record{Table: tableTimes, Method: doubleMethod, Device: cpuDevice, Here: known(1)})
	r.sumPaper()
	for _, set := range sumSets() {
		for bits, cells := range set.mpres {
			for i, c := range cells {
				r.add(Record{Table: tableAccuracy, Case: set.name, Method: cpuSums[i].title(), Bits: bits, Here: known(c.err), Paper: known(c.err), PaperText: c.sum})
			}
		}
		r.add(Record{Table: tableData, Case: set.name, Method: "exact", HereText: set.exact, PaperText: set.exact})
	}
	return r
}

// sumOutcomes are the outcomes of a report's findings, by their subjects.
func sumOutcomes(r *Report) map[string]Outcome {
	r.Records = slices.DeleteFunc(r.Records, func(k Record) bool { return k.Table == tableSpeedups })
	r.speedups()
	r.sumFindings()
	m := map[string]Outcome{}
	for _, f := range r.Findings {
		m[f.What] = f.Outcome
	}
	return m
}

// TestSumFindings: a machine like the paper's confirms all findings that can be confirmed; other
// machines differ where they should.
func TestSumFindings(t *testing.T) {
	r := aSumReport(SumN)
	for what, got := range sumOutcomes(r) {
		if want := (what == "Figure 1"); (got == NotMeasured) != want || got == Differs {
			t.Errorf("%s: %s", what, got)
		}
	}
	if n := len(r.Findings); n != 4+3+4+6+2 {
		t.Errorf("%d findings", n)
	}
	for _, f := range r.Findings {
		if f.What == "" || f.Paper == "" || f.Verdict == "" || f.Outcome != NotMeasured && f.Here == "" {
			t.Errorf("%+v", f)
		}
	}
	r.sumTexts()
	r.sumPlots()
	checkPlots(t, r)
	if len(r.plots) != 3 || r.plots[2].name != sumName+"-gpu" {
		t.Errorf("%d plots", len(r.plots))
	}
	for _, k := range r.find(tableSpeedups) {
		if k.Here == nil || k.Paper != nil && *k.Here / *k.Paper > 1.5 {
			t.Errorf("%+v", k)
		}
	}
	for _, c := range []struct {
		what    string
		change  func(k *Record)
		outcome Outcome
		said    string
	}{
		{"Table 1", func(k *Record) { k.HereText = strings.Replace(k.HereText, "2e-18", "3e-18", 1) }, Differs, "3e-18 for 2e-18"},
		{"Table 2", func(k *Record) {
			if k.Case == "set 2" && k.Bits == 60 {
				k.Here = known(1e-3)
			}
		}, Differs, "0.0010 for 9e-13"},
		{"Text on table 2: accurate from 16 moduli, 120 bits, on", func(k *Record) {
			if k.Table == tableAccuracy && k.Bits == 120 {
				k.Here = known(1e-3)
			}
		}, Differs, "worse"},
		{"Figure 6: Reduce1, Reduce2 on the CPU, Reduce3 on the GPU", func(k *Record) {
			if k.Method == blocksTitle(paperBlocks) && k.Bits == 30 {
				k.Here = known(20)
			}
		}, Differs, "4 of 5"},
		{"Figure 7: the summations on the GPU", func(k *Record) {
			if k.Method == reduce2P && k.Bits == 30 {
				k.Here = known(1e6)
			}
		}, Differs, "9 of 10"},
		{"Text on figures 6 and 7: " + ratio1P + ", 480 bits", func(k *Record) {
			if k.Method == reduce1P {
				k.Here, k.Case = known(620), "scaled from 1 and 2 numbers"
			}
		}, Confirmed, "by 10 times more"},
		{"Text on figures 6 and 7: " + ratio2SP + ", 480 bits", func(k *Record) {
			if k.Method == reduce2S {
				k.Here = known(48)
			}
		}, Differs, "Not faster"},
		{"Text on figures 6 and 7: " + ratio2SP + ", 480 bits", func(k *Record) {
			if k.Method == reduce2S {
				k.Here = known(480 / 2)
			}
		}, Differs, "less so"},
		{"Text on figures 6 and 7: n = 8 moduli, 60 bits", func(k *Record) {
			if k.Method == cpuSums[1].title() && k.Bits == 60 {
				k.Here = known(4)
			}
		}, Differs, "not faster"},
		{"Text on figures 6 and 7: the speed-up of Reduce3 grows with the vector", func(k *Record) {
			if k.Table == tableLengths {
				k.Here = known(float64(k.N))
			}
		}, Differs, "not at all"},
		{"Text on figures 6 and 7: recursive sum in double", func(k *Record) {
			if k.Method == doubleMethod && k.Here != nil {
				k.Here = known(5)
			}
		}, Differs, "Another CPU"},
	} {
		r := aSumReport(SumN)
		for i := range r.Records {
			c.change(&r.Records[i])
		}
		if got := sumOutcomes(r)[c.what]; got != c.outcome {
			t.Errorf("%s: %s", c.what, got)
		}
		i := slices.IndexFunc(r.Findings, func(f Finding) bool { return f.What == c.what })
		if i < 0 || !strings.Contains(r.Findings[i].Verdict, c.said) {
			t.Errorf("%s: %+v does not say %q", c.what, r.Findings[max(i, 0)], c.said)
		}
	}
	// Without a GPU nothing is said about one.
	r = aSumReport(SumN)
	r.Records = slices.DeleteFunc(r.Records, func(k Record) bool { return k.Device == r.GPU || k.Table == tableLengths })
	r.GPU = ""
	missing := 0
	for what, got := range sumOutcomes(r) {
		if got == NotMeasured {
			missing++
		} else if strings.Contains(what, "256 blocks") || strings.Contains(what, "Figure 7") {
			t.Errorf("%s: %s", what, got)
		}
	}
	if missing != 3+1+2+6+1 {
		t.Errorf("%d findings are not measured", missing)
	}
}

// TestSumDevice runs the experiment on the machine's GPU.
func TestSumDevice(t *testing.T) {
	if err := CheckDevice("cuda:0"); errors.Is(err, halfulp.ErrDevice) && os.Getenv("HALFULP_WANT_GPU") == "" {
		t.Skip("no GPU:", err)
	}
	defer func(d time.Duration) { longestChain = d }(longestChain)
	chains := []string{ratio1P, ratio2P, ratio1SP, ratio2SP}
	for _, longestChain = range []time.Duration{longestChain, 0} {
		r, err := Sum(Options{N: 2*fewNumbers + 1, Device: "cuda:0", Machine: Machine{CPU: "test"}})
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range r.find(tableSpeedups) {
			if k.Here == nil || !(*k.Here > 0) || strings.HasPrefix(k.Case, "scaled") != (longestChain == 0 && slices.Contains(chains, k.Method)) {
				t.Errorf("%+v", k)
			}
		}
		if n := len(r.find(tableLengths)); n != 3 {
			t.Errorf("%d lengths", n)
		}
		for _, f := range r.Findings {
			if f.Outcome == NotMeasured && f.What != "Figure 1" && !strings.Contains(f.What, "double") {
				t.Errorf("%+v", f)
			}
		}
		checkPlots(t, r)
		checkPaper(t, r)
	}
}
