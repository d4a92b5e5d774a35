package reproduce

import (
	"fmt"
	"strings"

	"github.com/halfulp/halfulp/rns"
)

// gemvClaim is the claim of 001.
const gemvClaim = "Multiple-precision operations that are split into kernels for signs, exponents and interval evaluations, for digits, and for rounding make GEMV in a residue number system faster on a GPU than one thread an operation, and from 212 bits on faster than the packages of 2020."

// verdictOf returns Confirmed with the sentence yes if ok, else Differs with the sentence no.
func verdictOf(ok bool, yes, no string) (Outcome, string) {
	if ok {
		return Confirmed, yes
	}
	return Differs, no
}

const (
	onGTX      = ", GTX 1080"
	needsGPU   = "Needs a GPU (--device cuda:N): no GPU was measured."
	noMeasure  = "There is nothing to measure."
	unitRatio  = "%.3g times"
	unitMillis = " ms"
)

// gemvFindings compares every table, figure, algorithm and formula of 001 with the measurements.
func (r *Report) gemvFindings() {
	r.Findings = append(r.Findings, Finding{
		What: "table 1", Paper: "eight packages for accurate computations on GPUs, and where they are", Outcome: NotMeasured,
		Verdict: "A list of software. " + noMeasure + " CUMP, CAMPARY and GARPREC stand in table 5 as printed.",
	})
	r.findLayout()
	r.findAlgorithm()
	r.findFormulas()
	r.findStages()
	r.findMetrics()
	r.findTimes()
}

// all reports whether there are records of a table, all of them 100 %, and lists them.
func (r *Report) all(table string) (text string, ok bool) {
	records := r.find(table)
	var list []string
	ok = len(records) > 0
	for _, k := range records {
		list = append(list, fmt.Sprintf("%s: %.4g %s", k.Method, *k.Here, k.Unit))
		ok = ok && *k.Here == 100
	}
	return strings.Join(list, ", "), ok
}

// findLayout is about table 2 and figures 1 and 2.
func (r *Report) findLayout() {
	for _, f := range []struct{ what, paper, yes, no string }{
		{
			tableLayout, "mp_array_t: digits n L, sign L, exp L, eval 2 L, buf L, len L",
			"Arrays of package rns have these parts in these lengths; buf and len have a place in the copies on a GPU that algorithm 1 works on, where GEMV does not use buf.",
			"An array has other lengths.",
		},
		{
			tableFigure1, "residues of sums, differences and products are computed apart from each other",
			"Every residue of a sum and of a product is that of the operands' residues modulo its modulus.", "Some residue is another.",
		},
		{
			tableFigure2, "a 3 x 4 matrix by columns, LDA = 4, n = 4: digits of a number next to each other, lower bounds of evaluations before upper ones",
			"All 12 entries have their digits and both bounds where the figure has them.", "Some entry is elsewhere.",
		},
	} {
		text, ok := r.all(f.what)
		k := Finding{What: f.what, Paper: f.paper, Here: text}
		k.Outcome, k.Verdict = verdictOf(ok, f.yes, f.no)
		r.Findings = append(r.Findings, k)
	}
}

// findAlgorithm is about algorithm 1 and its figures.
func (r *Report) findAlgorithm() {
	text, ok := "", true
	for _, k := range r.find(tableAlgorithm) {
		ok = ok && *k.Here == launches
		text += fmt.Sprintf("%.0f on %s, ", *k.Here, k.Device)
	}
	ok = ok && text != ""
	text = strings.TrimSuffix(text, ", ")
	same := " Its result has the bits of ours, for A and for its transpose, at every precision."
	yes := "It runs as published, each step a launch on a GPU and a pass over the data on a CPU." + same
	if r.GPU == "" {
		yes = "It runs as published, each step a pass over the data; no GPU was named for the launches." + same
	}
	for _, f := range []struct{ what, paper, yes string }{
		{"algorithm 1", "ten launches of kernels: three for each of α x, β y and B, one for the sums", yes},
		{"figure 3", "an entrywise operation is three kernels: signs, exponents and evaluations; digits; rounding", "α x, β y and B are three steps each, B on a two-dimensional grid."},
		{"figure 4", "B = A diag(α x), its rows summed by a block each, β y added", "The product with A runs so, with the bits of ours."},
		{"figure 5", "B = diag(α x) A, its columns summed by a block each, β y added", "The product with the transpose runs so, with the bits of ours."},
	} {
		k := Finding{What: f.what, Paper: f.paper, Here: "steps: " + text}
		k.Outcome, k.Verdict = verdictOf(ok, f.yes, "The number of steps is another.")
		r.Findings = append(r.Findings, k)
	}
}

// findFormulas is about the formulas: the unit roundoff, the block size, the bounds, the bandwidth.
func (r *Report) findFormulas() {
	r.Findings = append(r.Findings, Finding{
		What: "formulas 1 to 5, 7, 9 to 15", Paper: "definitions, and steps of the proof of (16) to (19)", Outcome: NotMeasured, Verdict: noMeasure + " What they lead to is below.",
	})
	most := 0.0
	for _, k := range r.find(tableRoundoff) {
		most = max(most, *k.Here)
	}
	k := Finding{What: tableRoundoff, Paper: "|δ| < u < 4/√M for sums and products", Here: fmt.Sprintf("at most %.2g u", most)}
	k.Outcome, k.Verdict = verdictOf(most > 0 && most < 1, "Rounding errors of sums and products of full significands stay below u, at all precisions.", "A rounding error is u or more, or none was seen.")
	r.Findings = append(r.Findings, k)

	k = Finding{What: tableMinBS, Paper: fmt.Sprintf("MinBS = MaxThreads / MaxBlocks: %d as an example, which %d numbers of 4 moduli fill", paperMinBS, paperMinBS/4), Outcome: NotMeasured, Verdict: needsGPU}
	for _, f := range r.find(tableMinBS) {
		k.Here = fmt.Sprintf("%.0f threads on %s", *f.Here, f.Device)
		k.Outcome, k.Verdict = verdictOf(*f.Here == *f.Paper, "This GPU asks for as many; blocks for digits have the least multiple of n threads that is enough.",
			"This GPU asks for another number; blocks for digits have the least multiple of n threads that is enough.")
	}
	r.Findings = append(r.Findings, k)

	most, count := 0.0, 0
	for _, f := range r.find(tableBounds) {
		if f.Quantity == ofBound {
			most, count = max(most, *f.Here), count+1
		}
	}
	k = Finding{
		What: "formulas 16 to 19", Paper: "‖y* - ŷ‖ / ‖y*‖ ≤ γ_{N+2} ‖ |α A| |x| + |β y| ‖ / ‖y*‖, u < 4/√M",
		Here: fmt.Sprintf("error / bound at most %.2g, of %d products", most, count), Exact: "below 2^-p for every entry",
	}
	k.Outcome, k.Verdict = verdictOf(count > 0 && most <= 1, "Every error is within its bound, which assumes the worst of each rounding.", "An error is beyond its bound.")
	r.Findings = append(r.Findings, k)

	k = Finding{What: tablePeak, Paper: fmt.Sprintf("%.1f GB/s"+onGTX, paperPeak)}
	ok := false
	for _, f := range r.find(tablePeak) {
		k.Here = fmt.Sprintf("%.1f GB/s", *f.Here)
		ok = k.Here+onGTX == k.Paper
	}
	k.Outcome, k.Verdict = verdictOf(ok, "The product of clock, width and transfers is that.", "The product of clock, width and transfers is another.")
	r.Findings = append(r.Findings, k)
}

// findStages is about table 3.
func (r *Report) findStages() {
	f := Finding{What: tableStages, Paper: fmt.Sprintf("sums of rows %s %%, digits of B %s %%, their signs, exponents and evaluations %s %%"+onGTX+", %d bits",
		short(&paperStages[5].percent), short(&paperStages[3].percent), short(&paperStages[2].percent), stageBits)}
	devices := r.devicesOf(tableStages)
	var list []string
	order := false
	for _, d := range devices {
		sums, digits, esi := r.gemvValue(tableStages, rowSumKernel, d, share), r.gemvValue(tableStages, digitsKernel, d, share), r.gemvValue(tableStages, paperStages[2].kernel, d, share)
		list = append(list, fmt.Sprintf("sums %s %%, digits %s %%, signs to evaluations %s %% on %s", short(sums), short(digits), short(esi), d))
		order = *sums > *digits && *digits > *esi
	}
	f.Here = strings.Join(list, "; ")
	last := devices[len(devices)-1]
	f.Outcome, f.Verdict = verdictOf(order, "The order is the paper's on "+last+": the sums take most, then the digits of B.", "The order of the three is another on "+last+".")
	if r.GPU == "" {
		f.Outcome, f.Verdict = NotMeasured, needsGPU+" The shares here are those of a CPU."
	}
	r.Findings = append(r.Findings, f)
}

// findMetrics is about table 4.
func (r *Report) findMetrics() {
	var here [2][3]*float64
	for i, k := range paperKernels {
		f := Finding{What: tableMetrics + ", " + k.name, Paper: fmt.Sprintf("occupancy %s %%, divergence %s %%, bandwidth %s GB/s"+onGTX, short(&k.occupancy), short(&k.divergence), short(&k.bandwidth))}
		f.Outcome, f.Verdict = NotMeasured, needsGPU
		for m := range metrics {
			here[i][m] = r.gemvValue(tableMetrics, k.name, r.GPU, metrics[m].name)
		}
		if v := r.gemvValue(tableMetrics, k.name, cpuDevice, divergence); v != nil {
			f.Here = fmt.Sprintf("divergence %s %%, counted", short(v))
		}
		if r.GPU != "" {
			f.Here = fmt.Sprintf("occupancy %s %%, divergence %s %%, bandwidth %s GB/s, %s", short(here[i][0]), short(here[i][1]), short(here[i][2]), r.GPU)
		}
		r.Findings = append(r.Findings, f)
	}
	if r.GPU == "" {
		return
	}
	n := len(r.Findings)
	digits, sums := here[0], here[1]
	r.Findings[n-2].Outcome, r.Findings[n-2].Verdict = verdictOf(*digits[1] == 0 && *digits[0] > *sums[0] && *digits[2] > *sums[2],
		"Without divergence, at a higher occupancy and bandwidth than the sums. Counted and computed, not read from hardware counters.",
		"Not all of no divergence, a higher occupancy and a higher bandwidth than the sums hold. Counted and computed, not read from hardware counters.")
	r.Findings[n-1].Outcome, r.Findings[n-1].Verdict = verdictOf(*sums[1] > 0 && *sums[0] < 50,
		"Lanes wait for each other, and shared memory or registers leave less than half of the warps. Counted and computed, not read from hardware counters.",
		"Either no lane waits or half of the warps or more run. Counted and computed, not read from hardware counters.")
}

// times returns the times of a method at all precisions, nil unless all are there.
func (r *Report) times(method, device, inputs string) []float64 {
	var list []float64
	for _, p := range rns.GemvPrecisions {
		for _, k := range r.find(tableGemv) {
			if k.Method == method && k.Device == device && k.Case == inputs && k.Bits == p && k.Here != nil {
				list = append(list, *k.Here)
			}
		}
	}
	if len(list) != len(rns.GemvPrecisions) {
		return nil
	}
	return list
}

// timeSpan returns the first and the last of times.
func timeSpan(ms []float64) string {
	if ms == nil {
		return ""
	}
	return fmt.Sprintf("%s to %s%s", short(&ms[0]), short(&ms[len(ms)-1]), unitMillis)
}

// below counts the precisions at which x is less than y.
func below(x, y []float64) int {
	n := 0
	for i := range x {
		if x[i] < y[i] {
			n++
		}
	}
	return n
}

// findTimes is about table 5, for the authors' inputs.
func (r *Report) findTimes() {
	device := cpuDevice
	if r.GPU != "" {
		device = r.GPU
	}
	of := func(method string) []float64 { return r.times(method, device, quarter) }
	published, ours, exact := of(algorithm1), of(fused), of(exactGemv)
	all := len(rns.GemvPrecisions)
	for _, m := range paperGemv {
		f := Finding{What: tableGemv + ", " + m.method, Paper: timeSpan(m.ms[:]) + " at 106 to 1696 bits" + onGTX}
		here := of(m.method)
		if here == nil {
			f.Outcome, f.Verdict = NotMeasured, "A package of others, whose GPU program is not run here: as printed."
			r.Findings = append(r.Findings, f)
			continue
		}
		f.Here, f.Exact = timeSpan(here)+", "+device, timeSpan(exact)
		if strings.HasSuffix(m.method, transposed) {
			f.Exact = timeSpan(of(exactGemv + transposed))
		}
		switch {
		case r.GPU == "":
			f.Outcome, f.Verdict = NotMeasured, needsGPU+" The times here are those of a CPU."
		case m.method == algorithm1:
			n := below(published, of(basic))
			f.Outcome, f.Verdict = verdictOf(n == all, "Faster than the basic implementation at all precisions, as in the paper.",
				fmt.Sprintf("Faster than the basic implementation at %d of %d precisions; in the paper at all.", n, all))
		case m.method == basic:
			low, high := here[0]/published[0], here[all-1]/published[all-1]
			ratios := fmt.Sprintf(unitRatio+" its time at 106 bits and "+unitRatio+" at 1696, in the paper %.3g and %.3g.",
				low, high, m.ms[0]/paperGemv[0].ms[0], m.ms[all-1]/paperGemv[0].ms[all-1])
			f.Outcome, f.Verdict = verdictOf(below(published, here) == all,
				"Slower than algorithm 1 at all precisions: "+ratios, "Not slower than algorithm 1 at all precisions: "+ratios)
		default:
			n := below(here, published)
			f.Outcome, f.Verdict = verdictOf(n == all, "Faster than without transposing at all precisions, as in the paper.",
				fmt.Sprintf("Faster than without transposing at %d of %d precisions; in the paper at all.", n, all))
		}
		r.Findings = append(r.Findings, f)
	}
	if r.GPU == "" {
		return
	}
	more := float64(rns.GemvPrecisions[all-1]) / float64(rns.GemvPrecisions[0])
	growth, printed := published[all-1]/published[0], paperGemv[0].ms[all-1]/paperGemv[0].ms[0]
	f := Finding{
		What: "section 6.2, growth", Paper: fmt.Sprintf("time grows linearly with the precision: "+unitRatio+" from 106 to 1696 bits"+onGTX, printed),
		Here: fmt.Sprintf(unitRatio+", %s", growth, device),
	}
	if exact != nil {
		f.Exact = fmt.Sprintf(unitRatio, exact[all-1]/exact[0])
	}
	f.Outcome, f.Verdict = verdictOf(growth <= more, fmt.Sprintf("No more than the precision grows, %.3g times.", more), fmt.Sprintf("More than the precision grows, %.3g times.", more))
	r.Findings = append(r.Findings, f)
	r.Findings = append(r.Findings, r.tunedFinding())
	k := Finding{What: "ours beside algorithm 1", Paper: "B in memory, ten launches", Here: timeSpan(ours) + ", " + device, Exact: timeSpan(exact)}
	n := below(ours, published)
	k.Outcome, k.Verdict = verdictOf(n == all, "Products added as they are made, in four launches, take less time at all precisions, with the same bits.",
		fmt.Sprintf("Products added as they are made, in four launches, take less time at %d of %d precisions.", n, all))
	r.Findings = append(r.Findings, k)
}

// tunedFinding compares ours with tuned blocks and with the default, for all inputs.
func (r *Report) tunedFinding() Finding {
	const noise = 1.02
	rows, least, most := 0, 0.0, 0.0
	for _, inputs := range []string{quarter, whole} {
		for _, method := range []string{fused, fused + transposed} {
			standard, fastest := r.times(method, r.GPU, inputs), r.times(method+tuned, r.GPU, inputs)
			for i := range min(len(standard), len(fastest)) {
				ratio := fastest[i] / standard[i]
				if rows++; rows == 1 {
					least, most = ratio, ratio
				}
				least, most = min(least, ratio), max(most, ratio)
			}
		}
	}
	f := Finding{
		What: "conclusion, tuning", Paper: "automatic tuning by precision and size is planned",
		Here: fmt.Sprintf("%.3g to %.3g times the default's time, in %d rows, %s", least, most, rows, r.GPU),
	}
	f.Outcome, f.Verdict = verdictOf(rows > 0 && most <= noise, "It is here, and tuned blocks are never slower than the default beyond 2 %.", "It is here, but tuned blocks are slower than the default somewhere.")
	return f
}
