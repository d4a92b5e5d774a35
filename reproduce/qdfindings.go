package reproduce

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/halfulp/halfulp/expansion"
)

// qdClaim is the claim of 004.
const qdClaim = "Double-double and quad-double arithmetic runs on GPUs with almost all of their speed: a Tesla C2050 multiplies and solves in quad-double up to 100 times as fast as a CPU, nearly as much faster as single operations are."

// qdC2050 is the paper's fastest GPU.
const qdC2050 = 3

// qdText returns a figure of a finding with three digits.
func qdText(x float64) string { return short(&x) }

// A span is several figures in short.
type span struct {
	n         int
	low, high float64
	logs      float64
}

func (s *span) add(x float64) {
	if s.n == 0 || x < s.low {
		s.low = x
	}
	if s.n == 0 || x > s.high {
		s.high = x
	}
	s.n++
	s.logs += math.Log(x)
}

// mean is the geometric mean.
func (s *span) mean() float64 { return math.Exp(s.logs / float64(max(s.n, 1))) }

func (s *span) String() string {
	switch {
	case s.n == 0:
		return ""
	case qdText(s.low) == qdText(s.high):
		return qdText(s.low)
	}
	return qdText(s.low) + " to " + qdText(s.high)
}

// A qdFinder collects the findings of a report.
type qdFinder struct {
	r    *Report
	list []Finding
}

// add adds a finding. Without figures for the paper's method it is not measured.
func (f *qdFinder) add(what, paper, here, exact string, confirmed bool, verdict string) {
	k := Finding{What: what, Paper: paper, Here: here, Exact: exact, Outcome: Differs, Verdict: verdict}
	switch {
	case here == "":
		k.Outcome = NotMeasured
	case confirmed:
		k.Outcome = Confirmed
	}
	f.list = append(f.list, k)
}

// qdFindings compares every table and algorithm of the paper with the records.
func (r *Report) qdFindings() []Finding {
	f := &qdFinder{r: r}
	f.add("table 1-1", "240, 480 and 448 cores, 78, 168 and 515 GFlops in double precision: Tesla C1060, GeForce GTX 480, Tesla C2050", "", "", false,
		"Properties of three cards of 2010, of which there is none here. "+r.qdMachine())
	f.primitives()
	f.arithmetic()
	f.scalars()
	f.sameBits()
	f.rates(tableQDFixed, "speed of vectors in memory, by 128 blocks of 128 threads")
	f.ratios("table 5.1-2")
	f.rates(tableQDSpread, "the same, by a thread for each number")
	f.schemes()
	f.ratios("table 5.1-4")
	f.rates(tableQDCompute, "the same, many times on the same numbers")
	f.ratios("table 5.1-6")
	f.functions()
	f.rates(tableQDFunctions, "functions of vectors in memory")
	f.ratios("table 5.2.5-2")
	f.rates(tableQDCached, "functions, many times of the same numbers")
	f.ratios("table 5.2.5-4")
	f.matrices("section 6.1.1", "each thread of 8 x 8 makes an entry of a tile of C, from tiles of A and B in shared memory", tableQDGemm, "table 6.2.2-2", qdSquareBlocks)
	f.matrices("section 6.2.1", "Gauss-Jordan elimination; rows are exchanged for zeros alone, a thread an entry, 8 x 8 threads a block", tableQDSquare, "table 6.3.2-2", qdSquareBlocks)
	f.matrices("section 6.2.1", "the same with 128 threads in a line", tableQDLinear, "table 6.3.2-4", qdLinearBlocks)
	f.blockShapes()
	f.conclusion()
	return f.list
}

func (r *Report) qdMachine() string {
	if r.GPU == "" {
		return "Measured on " + r.Machine.CPU + " without a GPU."
	}
	return "Measured on " + r.Machine.CPU + " and " + r.GPU + "."
}

// primitives are the functions of section 2.
func (f *qdFinder) primitives() {
	for _, p := range []struct {
		name, function string
		paper          int
		verdict        string
	}{
		{"Split", "split", 4, "Free of errors below 2^996. Not used but in tests: a fused multiply-add does what it is for."},
		{"Quick-Two-Sum", "fastTwoSum", 3, "Free of errors for |a| >= |b|; where sums cancel in Renorm that does not always hold."},
		{"Two-Sum", "twoSum", 6, "Free of errors whatever the operands, unless the sum overflows."},
		{"Three-Sum", "threeSum", 18, "The three results have the exact sum; the first is the sum to about an ulp, not always to the nearest as the text says."},
		{"Two-Prod", "twoProd", 17, fmt.Sprintf("The same bits come from a fused multiply-add in %d operations, which is what runs here.", qdCounts["twoProd"].fused)},
	} {
		n := qdCounts[p.function].split
		f.add("section 2, "+p.name, fmt.Sprintf("%d operations on doubles", p.paper), fmt.Sprintf("%d operations", n), "", n == p.paper, p.verdict)
	}
	overlap := 0.0
	for _, k := range f.r.find(tableQDAccuracy) {
		if k.Quantity == notNormal {
			overlap = *k.Here
		}
	}
	f.add("section 3.2, Renorm", "five words become four in the normal form |a_i+1| <= ulp(a_i) / 2", fmt.Sprintf("%d operations; %s %% of sums that cancel are not in that form", qdCounts["publishedRenorm"].split, qdText(100*overlap)), "",
		overlap == 0, "As printed it does not store the last word, which is mended here. Where leading words cancel one pass can leave words that overlap in a bit; arrays are stored in the one form of their format.")
}

// qdDigits returns the correct decimal digits of a result with this error.
func qdDigits(x float64) float64 { return -math.Log10(max(x, 1e-300)) }

// qdWanted are the digits that the paper names for the formats.
var qdWanted = map[string]float64{qdDD: 31, qdQD: 62}

// accuracy returns the accuracy of the published algorithm and of ours for an operation in both
// formats: the finding's figures, whether both have the digits that the paper names, and words
// about it.
func (f *qdFinder) accuracy(operation string) (here string, enough bool, verdict string) {
	list := f.r.find(tableQDAccuracy)
	var heres, ours []string
	enough = true
	for _, format := range []string{qdDD, qdQD} {
		x, y := qdHere(list, format+qdPublished, operation, "", relativeError), qdHere(list, format, operation, "", relativeError)
		if x == nil || y == nil {
			return "", false, "Not measured."
		}
		heres = append(heres, fmt.Sprintf("%s %s", format, qdText(*x)))
		ours = append(ours, fmt.Sprintf("%s %s", format, qdText(*y)))
		enough = enough && qdDigits(*x) >= qdWanted[format]
	}
	word := "have"
	if !enough {
		word = "do not have"
	}
	return "largest relative error " + strings.Join(heres, ", "), enough,
		fmt.Sprintf("Results of %d random arguments %s the 31 and 62 digits that the paper names. Our algorithm: %s.", qdArguments, word, strings.Join(ours, ", "))
}

// arithmetic adds findings about the algorithms of sections 3.3 to 3.5.
func (f *qdFinder) arithmetic() {
	here, enough, verdict := f.accuracy("+")
	f.add("section 3.3, addition and subtraction", "network of Two-Sum and Three-Sum; 62 digits", here, f.rounded("+"), enough, verdict)
	here, enough, verdict = f.accuracy(qdCancelling)
	f.add("section 3.3, sums that cancel", "62 digits", here, f.rounded(qdCancelling), enough, verdict+" The paper's sum has a bound relative to |a| + |b| alone.")
	here, enough, verdict = f.accuracy("*")
	f.add("section 3.4, multiplication", "terms to order u⁴: 212 bits, 62 digits", here, "", enough, verdict)
	here, enough, verdict = f.accuracy("/")
	f.add("section 3.5, division", "long division with five terms; 62 digits", here, "", enough, verdict)
}

// rounded returns the errors of the exact engine's sums.
func (f *qdFinder) rounded(operation string) string {
	list := f.r.find(tableQDAccuracy)
	var parts []string
	for _, format := range []string{qdDD, qdQD} {
		if x := qdHere(list, format+qdRounded, operation, "", relativeError); x != nil {
			parts = append(parts, fmt.Sprintf("%s %s", format, qdText(*x)))
		}
	}
	return strings.Join(parts, ", ")
}

// functions adds findings about the algorithms of section 5.2.
func (f *qdFinder) functions() {
	for _, p := range []struct{ name, operation, paper, more string }{
		{"section 5.2.1, square root", "sqrt", "a x, x = 1/√a by three steps of Newton's iteration, where two are enough", ""},
		{"section 5.2.2, exponential", "exp", "reduction by ln 2 and k = 256, 18 terms of the series", " The 256th power multiplies the relative error of e^r by 256, which costs 8 bits."},
		{"section 5.2.3, logarithm", "log", "three steps of Newton's iteration on e^x", " Its error is that of e^x, and absolute: it counts for more near ln 1 = 0."},
		{"section 5.2.4, sine and cosine", "sin", "reduction by 2π, π/2 and π/1024, 10 terms of each series", ""},
	} {
		here, enough, verdict := f.accuracy(p.operation)
		if enough {
			p.more = ""
		}
		f.add(p.name, p.paper, here, "", enough, verdict+p.more)
	}
}

// scalars adds findings about the tables of section 3.6.
func (f *qdFinder) scalars() {
	f.rates(tableQDScalars, "speed of one thread")
	list := f.r.find(tableQDCounts)
	var paper, here, fused []string
	same := true
	for _, format := range []string{qdDD, qdQD} {
		for _, op := range []string{"+", "*", "/"} {
			p := paperCounts[format][op][0]
			x, y := qdHere(list, format+qdPublished, op, "", countSplit), qdHere(list, format+qdPublished, op, "", counted)
			paper, here, fused = append(paper, qdText(p)), append(here, qdText(*x)), append(fused, qdText(*y))
			same = same && *x == p
		}
	}
	shape := func(list []string) string {
		return "dd + * / " + strings.Join(list[:3], " ") + ", qd " + strings.Join(list[3:], " ")
	}
	forms := qdShortCounts()
	f.add("table 3.6-2, operations on doubles", shape(paper), shape(here), "", same,
		fmt.Sprintf("Counted in the source of the algorithms as sections 3.3 to 3.5 print them, with Split. The paper counts shorter forms of × and ÷: products without terms of order u⁴ have %d here, four terms of the quotient %d. With fused multiply-adds %s.", forms["*"], forms["/"], shape(fused)))
	var printed, share span
	for _, format := range []string{qdDD, qdQD} {
		for _, op := range []string{"+", "-", "*", "/"} {
			printed.add(paperCounts[format][op][1])
			if x := qdHere(list, format+qdPublished, op, cpuDevice, coefficient); x != nil {
				share.add(*x)
			}
		}
	}
	f.add("table 3.6-2, coefficients", printed.String(), share.String(), "", share.n > 0 && share.mean() >= printed.mean()/2,
		fmt.Sprintf("Share of the time in which sums of doubles would be done, at the speed measured here, with fused multiply-adds counted once. The geometric mean is %s, the paper's %s; from half of that on operations on doubles are what takes the time.", qdText(share.mean()), qdText(printed.mean())))
	slower := f.r.find(tableQDSlower)
	var times, ours, papers span
	for _, format := range []string{qdDD, qdQD} {
		for _, op := range []string{"+", "-", "*", "/"} {
			papers.add(paperSlower[format][op])
			if x := qdHere(slower, format+qdPublished, op, cpuDevice, timesSlower); x != nil {
				times.add(*x)
			}
			if x := qdHere(slower, format, op, cpuDevice, timesSlower); x != nil {
				ours.add(*x)
			}
		}
	}
	f.add("table 3.6-3", papers.String()+" times slower than doubles", times.String()+" times", "", times.n > 0 && times.mean() <= papers.mean(),
		fmt.Sprintf("In the geometric mean operations are %s times slower than those of doubles, in the paper %s times, by our algorithms %s times (%s).", qdText(times.mean()), qdText(papers.mean()), qdText(ours.mean()), ours.String()))
}

// sameBits adds the finding about section 4.1.
func (f *qdFinder) sameBits() {
	n := 0.0
	for _, k := range f.r.find(tableQDBits) {
		if strings.HasSuffix(k.Case, qdPublished) {
			n += *k.Here
		}
	}
	here := ""
	if n > 0 {
		here = fmt.Sprintf("%.0f results compared, all with the same bits", n)
	}
	f.add("section 4.1", "the arithmetic on the GPU is that on the CPU; numbers are one or two double2", here, "", n > 0,
		"The kernels are translated from the CPU's source, operation by operation; a difference would end the experiment. Numbers are stored by words, one array for each.")
}

// rates compares a table of operations a ms, by the published algorithms, with the paper's: the GPU
// with the paper's fastest GPU, the CPU with its CPU.
func (f *qdFinder) rates(table, title string) {
	list := f.r.find(table)
	device, index := f.r.GPU, qdC2050
	if device == "" || table == tableQDScalars {
		device, index = cpuDevice, 0
	}
	var quotients, ours span
	spans := map[string]*span{}
	at := func(format string) *span {
		if spans[format] == nil {
			spans[format] = &span{}
		}
		return spans[format]
	}
	var exact span
	for _, format := range []string{qdFloat64, qdDD, qdQD} {
		kind := format + qdPublished
		if format == qdFloat64 {
			kind = format
		}
		for op, p := range paperRates[table][format] {
			at("paper " + format).add(p[index])
			if x := qdHere(list, kind, op, device, operations); x != nil {
				at(format).add(*x)
				if format != qdFloat64 {
					quotients.add(*x / p[index])
				}
			}
			if x := qdHere(list, format, op, device, operations); x != nil && format != qdFloat64 {
				ours.add(*x / p[index])
			}
			if x := qdHere(list, format+qdRounded, op, device, operations); x != nil {
				exact.add(*x)
			}
		}
	}
	text := func(prefix string) string {
		var parts []string
		for _, format := range []string{qdFloat64, qdDD, qdQD} {
			if s := at(prefix + format); s.n > 0 {
				parts = append(parts, format+" "+s.String())
			}
		}
		return strings.Join(parts, "; ")
	}
	here, exactly := text(""), ""
	if here != "" {
		here += " operations a ms on " + device
	}
	if exact.n > 0 {
		exactly = "sums " + exact.String() + " a ms"
	}
	verdict := fmt.Sprintf("By the paper's algorithms dd and qd are %s times as fast as in the paper (geometric mean %s), by ours %s times.", quotients.String(), qdText(quotients.mean()), ours.String())
	if device == cpuDevice && table != tableQDScalars {
		verdict += " The GPU's columns are not measured."
	}
	f.add(fmt.Sprintf("%s, %s", table, title), fmt.Sprintf("%s operations a ms on %s", text("paper "), strings.TrimSuffix(paperDevices[index], paperSuffix)), here, exactly, quotients.mean() >= 1 && quotients.n > 0, verdict)
}

// ratios compares a table of speed-ups of the GPU over the CPU with the paper's for its fastest
// GPU.
func (f *qdFinder) ratios(table string) {
	list := f.r.find(table)
	var paper, here, ours span
	for _, format := range []string{qdDD, qdQD} {
		for op, p := range paperQDRatios[table][format] {
			paper.add(p[qdC2050-1])
			if x := qdHere(list, format+qdPublished, op, f.r.GPU, gpuOverCPU); x != nil {
				here.add(*x)
			}
			if x := qdHere(list, format, op, f.r.GPU, gpuOverCPU); x != nil {
				ours.add(*x)
			}
		}
	}
	f.speedUps(table, paper, here, ours)
}

// speedUps adds the finding about a table of speed-ups. They are confirmed if their geometric mean
// is at least half of the paper's, since CPUs differ.
func (f *qdFinder) speedUps(table string, paper, here, ours span) {
	text, verdict := "", "No GPU was measured."
	if here.n > 0 {
		text = here.String() + " times"
		verdict = fmt.Sprintf("Of dd and qd, the GPU over the CPU's %d threads: geometric mean %s, in the paper %s.", f.r.Machine.Threads, qdText(here.mean()), qdText(paper.mean()))
		if ours.n > 0 {
			verdict += fmt.Sprintf(" By our algorithms, which the CPU does by SIMD instructions: %s times.", ours.String())
		}
	}
	f.add(table, paper.String()+" times on C2050", text, "", here.n > 0 && here.mean() >= paper.mean()/2, verdict)
}

// schemes compares the two ways to spread vectors over threads.
func (f *qdFinder) schemes() {
	fixed, spread := f.r.find(tableQDFixed), f.r.find(tableQDSpread)
	var q span
	for _, format := range []string{qdFloat64, qdDD, qdQD} {
		for _, k := range qdKinds {
			if !strings.HasPrefix(k.name, format) {
				continue
			}
			for op := range paperRates[tableQDFixed][format] {
				x, y := qdHere(fixed, k.name, op, f.r.GPU, operations), qdHere(spread, k.name, op, f.r.GPU, operations)
				if f.r.GPU != "" && x != nil && y != nil {
					q.add(*y / *x)
				}
			}
		}
	}
	here, verdict := "", "No GPU was measured."
	if q.n > 0 {
		here = qdText(100*(q.mean()-1)) + " % faster"
		verdict = fmt.Sprintf("Of doubles, dd and qd a thread for each number is %s times as fast as 128 blocks of 128 threads, which a GPU with more than 128 multiprocessors, or more threads in each, does not fill.", q.String())
	}
	f.add("section 5.1, one operation a thread", "12 % faster", here, "", q.n > 0 && q.mean() >= 1.05, verdict)
}

// matrices adds a finding about an algorithm of section 6 and its two tables, for the paper's way
// to multiply or solve if it was measured, beside our own.
func (f *qdFinder) matrices(section, algorithm, table, ratios, way string) {
	list, ours := f.r.find(table), f.r.find(table)
	native, exact := qdNative, qdExact
	if table != tableQDGemm {
		ours = f.r.find(tableQDSolve)
		native, exact = qdSolver(expansion.ZeroPivoting, expansion.NativeUpdates), qdSolver(expansion.PartialPivoting, expansion.ExactUpdates)
	}
	var paperTimes, paperRatios, own span
	var times, rounded []string
	var quotients, up, upOurs span
	device, index := f.r.GPU, qdC2050
	if device == "" {
		device, index = cpuDevice, 0
	}
	of := strings.TrimSuffix(paperDevices[index], paperSuffix)
	for _, format := range []string{qdFloat64, qdDD, qdQD} {
		p := paperMatrices[table][format]
		paperTimes.add(p[0][index])
		if format != qdFloat64 {
			paperRatios.add(paperQDRatios[ratios][format][""][qdC2050-1])
		}
		if x := qdHere(list, format, way, device, timeOfRun); x != nil {
			times = append(times, fmt.Sprintf("%s %s s", format, qdText(*x)))
		}
		if x := qdHere(list, format, way, device, operations); x != nil && format != qdFloat64 {
			quotients.add(*x / p[1][index])
		}
		if x := qdHere(ours, format, native, device, operations); x != nil && format != qdFloat64 {
			own.add(*x / p[1][index])
		}
		if x := qdHere(ours, format, exact, device, timeOfRun); x != nil {
			rounded = append(rounded, fmt.Sprintf("%s %s s", format, qdText(*x)))
		}
		for _, k := range f.r.find(ratios) {
			if k.Here != nil && k.Case == format && k.Method == way && format != qdFloat64 {
				up.add(*k.Here)
			}
		}
		for _, k := range append(f.r.find(ratios), f.r.find("tables 6.3.2-2 and 6.3.2-4")...) {
			if k.Here != nil && k.Case == format && k.Method == native && format != qdFloat64 {
				upOurs.add(*k.Here)
			}
		}
	}
	verdict := "That way was not measured."
	if quotients.n > 0 {
		verdict = fmt.Sprintf("At the paper's count of operations dd and qd are %s times as fast as on the paper's %s. The arithmetic of the entries is ours.", quotients.String(), of)
	}
	if own.n > 0 {
		verdict += fmt.Sprintf(" Our own way (%s) is %s times as fast as there.", native, own.String())
	}
	n := 0
	for _, k := range ours {
		if k.Here != nil && (k.Device == f.r.GPU || f.r.GPU == "") {
			n = k.N
		}
	}
	if n != QDN {
		verdict += fmt.Sprintf(" Here n = %d, a smaller size than the paper's %d.", n, QDN)
	}
	what := section + " and " + table
	f.add(what, fmt.Sprintf("%s; %s s on %s", algorithm, paperTimes.String(), of), strings.Join(times, ", "), strings.Join(rounded, ", "), quotients.n > 0 && quotients.mean() >= 1, verdict)
	f.speedUps(ratios, paperRatios, up, upOurs)
}

// blockShapes adds the statement of section 6.2 about both shapes of blocks.
func (f *qdFinder) blockShapes() {
	square, linear := f.r.find(tableQDSquare), f.r.find(tableQDLinear)
	var paper, here span
	for _, format := range []string{qdFloat64, qdDD, qdQD} {
		paper.add(paperMatrices[tableQDLinear][format][0][qdC2050] / paperMatrices[tableQDSquare][format][0][qdC2050])
		x, y := qdHere(square, format, qdSquareBlocks, f.r.GPU, timeOfRun), qdHere(linear, format, qdLinearBlocks, f.r.GPU, timeOfRun)
		if f.r.GPU != "" && x != nil && y != nil {
			here.add(*y / *x)
		}
	}
	verdict := "Not measured: the shapes of blocks exist on GPUs alone."
	if here.n > 0 {
		verdict = fmt.Sprintf("Systems with blocks in a line take %s times as long as with square ones; in the paper %s times.", here.String(), paper.String())
	}
	f.add("section 6.2, shapes of blocks", "there is no great difference: linear blocks take "+paper.String()+" times as long", here.String(), "", here.n > 0 && here.low >= 0.5 && here.high <= 2, verdict)
}

// conclusion adds the finding about section 7: matrices gain as much from the GPU as single
// operations do.
func (f *qdFinder) conclusion() {
	var matrices, single span
	for _, t := range qdRatioTables {
		for _, k := range f.r.find(t.table) {
			if k.Here == nil || k.Case != qdQD && k.Case != qdQD+qdPublished {
				continue
			}
			switch {
			case t.from == tableQDCompute:
				single.add(*k.Here)
			case slices.Contains([]string{tableQDGemm, tableQDSquare, tableQDLinear, tableQDSolve}, t.from) && !strings.HasPrefix(k.Method, qdExact):
				matrices.add(*k.Here)
			}
		}
	}
	here, verdict := "", "No GPU was measured."
	if matrices.n > 0 && single.n > 0 {
		here = fmt.Sprintf("matrices %s times, operations %s times", matrices.String(), single.String())
		verdict = fmt.Sprintf("Geometric means over our ways and the paper's: matrices of qd %s, single operations %s. It is confirmed where matrices gain at least half of what operations do.", qdText(matrices.mean()), qdText(single.mean()))
	}
	f.add("section 7", "quad-double matrices up to 100 times as fast as on a CPU; operations 34.57 to 45.27 times", here, "", matrices.n > 0 && matrices.mean() >= single.mean()/2, verdict)
}
