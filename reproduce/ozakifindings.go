package reproduce

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// ozakiFindings reports on the paper's claim, tables, figures and algorithms.
func (r *Report) ozakiFindings(sizes, all []int, phis []float64) {
	r.Claim = "On a GPU whose float64 arithmetic is 32 times as slow as its float32 arithmetic, a product of float64 matrices " +
		"from 3 to 21 products of 2 to 6 float32 slices is more accurate than one in float32, and with 2 slices up to 8.44 times as fast as one in float64."
	table1 := Finding{What: "table 1", Paper: "GeForce RTX 2080 SUPER: 3072 cores, 1650 MHz, 8 GB", Here: r.place(), Outcome: NotMeasured,
		Verdict: "The paper's machine: errors do not depend on it, times do."}
	if r.GPU == "" {
		table1.Here = r.Machine.CPU
	}
	r.Findings = []Finding{
		r.ozakiFirstFinding("figures 1 to 4, equations 4 to 13, algorithm 1"),
		r.ozakiAlgorithmFinding("figure 5, algorithm 2", 2, 2),
		r.ozakiAlgorithmFinding("equations 14 to 16", 3, maxOzakiSlices),
		{What: "figure 6", Paper: "atomicMax of non-negative floats by their bits", Here: "atomicMax of the 64 bits of |x|, on GPUs", Outcome: NotMeasured,
			Verdict: "A listing. The kernels ozakiMaxima and ozakiLiteral find the largest numbers of rows and columns so; their slices have the CPU's bits in the tests of package ozaki."},
		table1,
		r.ozakiSpeedFinding(all),
		r.ozakiSeedFinding("figures 8 to 10", 0.1, sizes),
		r.ozakiSeedFinding("figures 11 to 13", 1, sizes),
		r.ozakiSeedFinding("figures 14 to 16", 2, sizes),
		r.ozakiMeanFinding(),
		r.ozakiTradeFinding(sizes, phis),
		r.ozakiRatioFinding(),
		r.ozakiDigitFinding(),
		r.ozakiShareFinding(all),
	}
}

// verdict returns Confirmed or Differs.
func verdict(holds bool) Outcome {
	if holds {
		return Confirmed
	}
	return Differs
}

// ozakiFirstFinding is about products of first slices.
func (r *Report) ozakiFirstFinding(what string) Finding {
	f := Finding{What: what, Paper: "the product of the first slices has no error", Outcome: NotMeasured}
	worst, products := 0.0, 0
	var ns []int
	for _, k := range r.find(tableOzakiExact) {
		worst = max(worst, *k.Here)
		ns, products = append(ns, k.N), products+1
	}
	if products == 0 {
		return f
	}
	f.Here, f.Exact, f.Outcome = "largest error "+short(&worst), "the same numbers", verdict(worst == 0)
	f.Verdict = fmt.Sprintf("The slices of α = ⌊(24 - ⌈log2 n⌉)/2⌋ bits were multiplied in float32 for n = %s, and no entry differs from the exact product.", numbers(ns))
	if worst != 0 {
		f.Verdict = "Products of first slices are rounded here."
	}
	return f
}

// numbers lists numbers.
func numbers[T int | float64](list []T) string {
	var words []string
	for _, n := range list {
		words = append(words, fmt.Sprint(n))
	}
	return strings.Join(words, ", ")
}

// ozakiLists returns the means of table 2, for a spread and the largest size that both have, for
// the numbers of slices in [from, to]; 1 is float32.
func (r *Report) ozakiLists(from, to int) (paper, here, exact string) {
	for _, phi := range OzakiPhi {
		for _, n := range []int{4096, 2048, 1024} {
			row := paperErrors[phi][n]
			var papers, heres []string
			for k := from; k <= to; k++ {
				method := literalMethod(k)
				if k == 1 {
					method = float32Method
				}
				x := r.value(tableOzakiMean, method, meanError, phi, n).Here
				if x == nil {
					break
				}
				papers, heres = append(papers, short(&row[k-1])), append(heres, short(x))
			}
			if len(heres) < to-from+1 {
				continue
			}
			where := fmt.Sprintf(" (%d to %d slices, n = %d, phi = %g)", from, to, n, phi)
			if from == to {
				where = fmt.Sprintf(" (%d slices, n = %d, phi = %g)", from, n, phi)
			}
			exact = short(r.value(tableOzakiMean, exactGemm, meanError, phi, n).Here)
			return strings.Join(papers, ", ") + where, strings.Join(heres, ", ") + where, exact
		}
	}
	return "", "", ""
}

// ozakiAlgorithmFinding is about errors of literal slices, for the numbers of slices in [from, to].
func (r *Report) ozakiAlgorithmFinding(what string, from, to int) Finding {
	paper := fmt.Sprintf("errors of %d slices: table 2", from)
	if to > from {
		paper = fmt.Sprintf("errors of %d to %d slices: table 2", from, to)
	}
	f := Finding{What: what, Paper: paper, Outcome: NotMeasured,
		Verdict: "The paper's errors are of n = 1024, 2048, 4096, and such a size was not measured."}
	var fits, fails []string
	for k := from; k <= to; k++ {
		p, ok := r.ozakiAgainst(literalMethod(k), k-1)
		if !ok {
			return f
		}
		text := fmt.Sprintf("%s (of %s to %s) for %d slices", short(&p.quotient), short(&p.low), short(&p.high), k)
		if p.within() {
			fits = append(fits, text)
		} else {
			fails = append(fails, text)
		}
	}
	f.Paper, f.Here, f.Exact = r.ozakiLists(from, to)
	f.Outcome = verdict(fails == nil)
	f.Verdict = "The algorithm to the letter, ozaki.Literal, has the paper's errors: means in the paper divided by those to expect are " +
		strings.Join(fits, ", ") + ", where 99 % of such quotients lie within the range."
	if fails != nil {
		f.Verdict = "Means in the paper divided by those to expect from ozaki.Literal are beyond the range of 99 % of such quotients: " + strings.Join(fails, ", ") + "."
	}
	return f
}

// ozakiMeanFinding is about table 2.
func (r *Report) ozakiMeanFinding() Finding {
	f := Finding{What: "table 2", Paper: "means of the largest relative errors for n = 1024, 2048, 4096", Outcome: NotMeasured,
		Verdict: "No such size was measured."}
	var fails []string
	least, most := math.Inf(1), 0.0
	for i, method := range ozakiColumns(ozakiSplits[0].split, literalMethod)[:7] {
		p, ok := r.ozakiAgainst(method, i)
		switch {
		case !ok && method == float64Method:
			continue
		case !ok:
			return f
		case !p.within():
			fails = append(fails, fmt.Sprintf("%s (%s, of %s to %s)", method, short(&p.quotient), short(&p.low), short(&p.high)))
		}
		least, most = min(least, p.quotient), max(most, p.quotient)
	}
	f.Paper, f.Here, f.Exact = r.ozakiLists(1, maxOzakiSlices)
	f.Outcome = verdict(fails == nil)
	scaled, _ := r.ozakiAgainst(slicesMethod(maxOzakiSlices), maxOzakiSlices-1)
	if fails == nil {
		f.Verdict = fmt.Sprintf("Met as printed: the paper's means are %s to %s times those to expect from the errors here, within what such means vary.", short(&least), short(&most))
	} else {
		f.Verdict = "Not met by " + strings.Join(fails, ", ") + "."
	}
	f.Verdict += fmt.Sprintf(" The scaled slices of this program have one bit more each: for 6 of them the paper's means are %s times those to expect.", short(&scaled.quotient))
	return f
}

// ozakiSpeedFinding is about figure 7 and section 5.2.1.
func (r *Report) ozakiSpeedFinding(all []int) Finding {
	n := slices.Max(all)
	f := Finding{What: "figure 7, section 5.2.1", Paper: "2 to 6 slices are 8.44, 4.14, 2.50, 1.71, 1.14 times as fast as float64 for n = 4096; 2 are slower up to n = 128, 3 and 4 to 512, 5 to 1024",
		Outcome: NotMeasured, Verdict: "float64 was not measured: there is no cuBLAS."}
	var speeds, upTo []string
	faster := true
	for k := 2; k <= maxOzakiSlices; k++ {
		x := r.ozakiMs(float64Method, n) / r.ozakiMs(literalMethod(k), n)
		if math.IsNaN(x) {
			return f
		}
		speeds = append(speeds, short(&x))
		for _, one := range r.find(tableOzakiSpeeds) {
			if one.Method == literalMethod(k) && one.Quantity == slowerUpTo {
				upTo = append(upTo, fmt.Sprint(*one.Here))
			}
		}
		// the paper's 6 slices are faster at 4096 alone
		faster = faster && (x > 1 || n <= paperSlowerUpTo[k-2])
	}
	exact := r.ozakiMs(float64Method, n) / r.ozakiMs(exactGemm, n)
	double := r.ozakiMs(float64Method, n) / r.ozakiMs(float32Method, n)
	f.Here = fmt.Sprintf("%s times as fast for n = %d; float64 is faster up to n = %s", strings.Join(speeds, ", "), n, strings.Join(upTo, ", "))
	f.Exact = short(&exact) + " times as fast"
	f.Outcome = verdict(faster)
	f.Verdict = fmt.Sprintf("float64 takes %s times as long as float32 here for n = %d, 33.0 times in the paper for 4096; K slices are faster where their K (K + 1)/2 products in float32 take less.", short(&double), n)
	if r.GPU == "" {
		f.Verdict += " On the CPU float64 is gonum's product, which has slower kernels than the products in float32 have."
	}
	return f
}

// ozakiSeedFinding is about errors by seed for a spread.
func (r *Report) ozakiSeedFinding(what string, phi float64, sizes []int) Finding {
	f := Finding{What: what, Outcome: NotMeasured, Verdict: "Such a spread was not measured."}
	f.Paper = map[float64]string{
		0.1: "phi = 0.1: for every seed more slices have a smaller error; 6 are better than float64 for some",
		1:   "phi = 1: more slices tend to have a smaller error, with one exception in 30 seeds",
		2:   "phi = 2: so for n = 1024; for 2048 and 4096 more slices are sometimes worse, also than float32",
	}[phi]
	cases, small, large, single, better := 0, 0, 0, 0, 0
	exact := 0.0
	for _, n := range sizes {
		bySeed := map[int]map[string]float64{}
		for _, k := range r.find(tableOzakiErrors) {
			if k.N == n && k.Case == phiCase(phi) && k.Quantity == worstError {
				if bySeed[k.Seed] == nil {
					bySeed[k.Seed] = map[string]float64{}
				}
				bySeed[k.Seed][k.Method] = *k.Here
			}
		}
		for _, errs := range bySeed {
			cases++
			last, worse := errs[float32Method], false
			for k := 2; k <= maxOzakiSlices; k++ {
				x := errs[literalMethod(k)]
				worse = worse || x >= last
				last = x
			}
			if worse && n <= 1024 {
				small++
			} else if worse {
				large++
			}
			if errs[literalMethod(2)] >= errs[float32Method] {
				single++
			}
			if double, ok := errs[float64Method]; ok && last < double {
				better++
			}
			exact = max(exact, errs[exactGemm])
		}
	}
	if cases == 0 {
		return f
	}
	f.Here = fmt.Sprintf("more slices have a larger error in %d of %d seeds and sizes n = %s; 2 slices are worse than float32 in %d, 6 better than float64 in %d", small+large, cases, numbers(sizes), single, better)
	f.Exact = "largest error " + short(&exact)
	most := slices.Max(sizes)
	switch phi {
	case 0.1:
		f.Outcome = verdict(small+large == 0)
		f.Verdict = "More slices had a smaller error in every case."
	case 1:
		f.Outcome = verdict(10*(small+large) <= 3*cases)
		f.Verdict = "More slices tend to have a smaller error here as well."
	default:
		f.Outcome = verdict(5*small <= cases && (most <= 1024 || large > 0))
		f.Verdict = "The larger the product, the more often a few slices do not help: as in the paper."
		if most <= 1024 {
			f.Verdict = "More slices tend to have a smaller error; the sizes for which the paper has many exceptions were not measured."
		}
	}
	if f.Outcome == Differs {
		f.Verdict = fmt.Sprintf("Exceptions are %d of %d here, another share than in the paper: the largest relative error varies much from seed to seed.", small+large, cases)
	}
	return f
}

// ozakiTradeFinding is about figures 17 to 25.
func (r *Report) ozakiTradeFinding(sizes []int, phis []float64) Finding {
	f := Finding{What: "figures 17 to 25", Paper: "a slice more takes longer and is more accurate, between float32 and float64", Outcome: NotMeasured}
	cells, slower, better, beside := 0, 0, 0, 0
	for _, n := range sizes {
		for _, phi := range phis {
			for k := 2; k <= maxOzakiSlices; k++ {
				before := literalMethod(k - 1)
				if k == 2 {
					before = float32Method
				}
				x, y := r.value(tableOzakiMean, before, scaleError, phi, n).Here, r.value(tableOzakiMean, literalMethod(k), scaleError, phi, n).Here
				if x == nil || y == nil {
					continue
				}
				cells++
				if r.ozakiMs(literalMethod(k), n) > r.ozakiMs(before, n) {
					slower++
				}
				if *y < *x {
					better++
				}
				if r.ozakiMs(exactGemm, n) <= r.ozakiMs(literalMethod(k), n) {
					beside++
				}
			}
		}
	}
	if cells == 0 {
		return f
	}
	f.Here = fmt.Sprintf("a slice more takes longer in %d of %d cases, and has smaller errors in %d", slower, cells, better)
	f.Exact = fmt.Sprintf("no slower than the slices in %d of them, and correctly rounded", beside)
	f.Outcome = verdict(slower >= cells*9/10 && better >= cells*9/10)
	f.Verdict = "Time buys accuracy, slice by slice, as in the paper."
	if f.Outcome == Differs {
		f.Verdict = "A slice more does not always take longer or help here."
	}
	return f
}

// ozakiRatioFinding is about table 3.
func (r *Report) ozakiRatioFinding() Finding {
	f := Finding{What: "table 3", Paper: "for n = 4096, phi = 0.1 times are 4.05, 8.31, 13.6, 20.0, 27.8 times float32's for 2 to 6 slices, 33.0 for float64; errors are those of table 2", Outcome: NotMeasured,
		Verdict: "The paper's sizes were not measured."}
	var quotients []float64
	var double *Record
	for _, k := range r.find(tableOzakiRatio) {
		if k.Quantity != ratio || k.Paper == nil || math.IsNaN(*k.Here) {
			continue
		}
		if k.Method == float64Method {
			double = &k
			continue
		}
		quotients = append(quotients, *k.Here / *k.Paper)
	}
	if quotients == nil {
		return f
	}
	least, most := slices.Min(quotients), slices.Max(quotients)
	f.Here = fmt.Sprintf("times of slices, relative to float32, are %s to %s times the paper's", short(&least), short(&most))
	holds := least > 0.5 && most < 2
	f.Verdict = "Slices cost as many float32 products here as in the paper, and some time to split and add."
	if !holds {
		f.Verdict = "Splitting and adding weigh otherwise beside the products here than on the paper's GPU."
	}
	if double != nil {
		near := *double.Here > *double.Paper/2 && *double.Here < 2**double.Paper
		f.Here += fmt.Sprintf("; float64 takes %s times as long as float32 for n = %d, %s in the paper", short(double.Here), double.N, short(double.Paper))
		if !near {
			f.Verdict += " float64 is no such burden on this machine."
		}
		holds = holds && near
	}
	f.Exact = short(r.value(tableOzakiRatio, exactGemm, ratio, paperDigitsPhi, quotientSize(r)).Here)
	if f.Exact != "" {
		f.Exact += " times as long as float32"
	}
	f.Verdict += " Its errors are those of table 2: " + strings.ToLower(string(r.ozakiMeanFinding().Outcome)) + "."
	f.Outcome = verdict(holds)
	return f
}

// quotientSize returns the largest size with figures of the paper, 0 if there is none.
func quotientSize(r *Report) (n int) {
	for _, k := range r.find(tableOzakiRatio) {
		if k.Paper != nil {
			n = max(n, k.N)
		}
	}
	return n
}

// ozakiDigitFinding is about the digits of section 5.2.3.
func (r *Report) ozakiDigitFinding() Finding {
	f := Finding{What: "section 5.2.3", Outcome: NotMeasured, Verdict: "The spread 0.1 was not measured for the paper's sizes."}
	var papers, heres []string
	for _, d := range paperDigits {
		papers = append(papers, fmt.Sprintf("%g to %g", d[0], d[1]))
	}
	f.Paper = "digits more than float32 by 2 to 6 slices: " + strings.Join(papers, ", ")
	holds := true
	for k := 2; k <= maxOzakiSlices; k++ {
		d := paperDigits[k-2]
		gain := r.ozakiGain(literalMethod(k), paperDigitsPhi)
		if gain == "" {
			continue
		}
		heres = append(heres, gain)
		least, most := r.value(tableOzakiDigits, literalMethod(k), leastDigits, paperDigitsPhi, 0), r.value(tableOzakiDigits, literalMethod(k), mostDigits, paperDigitsPhi, 0)
		if least.Paper == nil {
			return f
		}
		holds = holds && *least.Here > d[0]-1 && *most.Here < d[1]+1.5
	}
	if len(heres) < maxOzakiSlices-1 {
		return f
	}
	f.Here, f.Outcome = strings.Join(heres, ", "), verdict(holds)
	if gain := r.ozakiGain(slicesMethod(maxOzakiSlices), paperDigitsPhi); gain != "" {
		f.Here += "; by 6 scaled slices " + gain
	}
	f.Verdict = "So many digits are gained here, within one digit."
	if !holds {
		f.Verdict = "Other numbers of digits are gained here: quotients of means vary by more than a digit."
	}
	return f
}

// ozakiShareFinding is about figures 26 to 30.
func (r *Report) ozakiShareFinding(all []int) Finding {
	f := Finding{What: "figures 26 to 30", Paper: "the share of products grows with n; for small n splitting has a large share", Outcome: NotMeasured}
	share := func(n, k, stage int) float64 {
		at := 0
		for _, s := range r.find(tableOzakiShares) {
			if s.N != n || s.Method != literalMethod(k) {
				continue
			}
			if at == stage {
				return *s.Here
			}
			at++
		}
		return math.NaN()
	}
	small, large := slices.Min(all), slices.Max(all)
	if small == large || math.IsNaN(share(small, 2, 0)) {
		f.Verdict = "Times of one size alone were measured."
		return f
	}
	grows, fades := 0, 0
	for k := 2; k <= maxOzakiSlices; k++ {
		if share(large, k, 1) > share(small, k, 1) {
			grows++
		}
		if share(large, k, 0) < share(small, k, 0) {
			fades++
		}
	}
	list := func(n, stage int) string {
		var words []string
		for k := 2; k <= maxOzakiSlices; k++ {
			words = append(words, fmt.Sprintf("%.0f", share(n, k, stage)))
		}
		return strings.Join(words, ", ")
	}
	f.Here = fmt.Sprintf("products by 2 to 6 slices take %s %% for n = %d and %s %% for n = %d; splitting %s %% and %s %%", list(small, 1), small, list(large, 1), large, list(small, 0), list(large, 0))
	f.Outcome = verdict(grows == maxOzakiSlices-1 && fades == maxOzakiSlices-1)
	f.Verdict = "As in the paper: splitting weighs most beside small products, and fades beside large ones."
	if f.Outcome == Differs {
		f.Verdict = fmt.Sprintf("The share of products grows with n for %d of 5 numbers of slices, and that of splitting becomes less for %d.", grows, fades)
	}
	return f
}
