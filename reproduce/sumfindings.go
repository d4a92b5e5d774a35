package reproduce

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/halfulp/halfulp/rns"
)

// sumFindings compares every table, figure, algorithm and statement of 003 with the records.
func (r *Report) sumFindings() {
	r.Claim = "Sums in a residue number system are accurate from 120 bits (16 moduli) on, and the same on CPUs and GPUs; of the " +
		"summations, the hybrid one of blocks on a GPU is the fastest: with 256 blocks at 480 bits 62 and 48 times faster than chains " +
		"of additions parallel over the moduli there, twice as fast as a CPU."
	r.Findings = slices.Concat(
		[]Finding{r.sumData(), r.sumErrors(), r.sumAccurate(), r.sumAdditions()},
		r.sumAlgorithms(),
		[]Finding{
			{
				What: "Figure 1", Paper: "a number made on the CPU, copied to the GPU and back, in C", Outcome: NotMeasured,
				Verdict: "A fragment of code without figures. rns.Vector.On and rns.Vector.Host do what it does.",
			},
			r.doubleFinding(), r.figure6(), r.figure7(),
		},
		r.ratioFindings(),
		[]Finding{r.lowPrecision(), r.lengthFinding()})
}

// milliseconds returns a time for a finding.
func milliseconds(k *Record) string { return short(k.Here) + " ms" }

// sumData is about table 1.
func (r *Report) sumData() Finding {
	f := Finding{What: "Table 1", Paper: "sums of three sets in 4096 bits, float and double", Outcome: Confirmed}
	same, all := 0, 0
	var others []string
	for _, k := range r.find(tableData) {
		here, err := strconv.ParseFloat(k.HereText, 64)
		paper, err2 := strconv.ParseFloat(k.PaperText, 64)
		if all++; err == nil && err2 == nil && here == paper {
			same++
			continue
		}
		others = append(others, fmt.Sprintf("%s, %s: %s for %s", k.Case, k.Method, k.HereText, k.PaperText))
	}
	f.Here = fmt.Sprintf("%d of %d sums are the same in the paper's digits", same, all)
	f.Exact = "the sums in 4096 bits"
	f.Verdict = "Sets, exact sums and what float and double make of them are the paper's."
	if same < all {
		f.Outcome, f.Verdict = Differs, "Sums differ: "+strings.Join(others, "; ")+"."
	}
	return f
}

// sumErrors is about table 2.
func (r *Report) sumErrors() Finding {
	f := Finding{What: "Table 2", Paper: "relative errors of three sums of three sets at 30 to 240 bits, cut at 1"}
	near, smaller, all := 0, 0, 0
	var larger []string
	exact := true
	for _, k := range r.find(tableAccuracy) {
		if k.Method == exactMethod {
			exact = exact && *k.Here <= math.Ldexp(1, -k.Bits)
			continue
		}
		if k.Paper == nil {
			continue
		}
		all++
		switch here, paper := min(*k.Here, 1), *k.Paper; {
		case here == paper || here <= 10*paper && here >= paper/10:
			near++
		case here < paper:
			smaller++
		default:
			larger = append(larger, fmt.Sprintf("%s, %d bits, %s: %s for %s", k.Case, k.Bits, k.Method, significant(k.Here, 2), significant(k.Paper, 1)))
		}
	}
	f.Here = fmt.Sprintf("%d of %d within a factor of 10, %d smaller, %d larger", near, all, smaller, len(larger))
	f.Exact = "every error below one unit of 2^-p"
	if !exact {
		f.Exact = "an error above 2^-p"
	}
	if f.Outcome, f.Verdict = Confirmed, "Errors have the paper's orders of magnitude."; near < all {
		f.Outcome = Differs
		f.Verdict = fmt.Sprintf("%d errors are smaller here, as the notes on set 2 and set 3 explain", smaller)
		if len(larger) > 0 {
			f.Verdict += "; larger are " + strings.Join(larger, "; ")
		}
		f.Verdict += "."
	}
	return f
}

// worstSum returns the largest error of the sums with bits or more, here and in the paper.
func (r *Report) worstSum(bits int) (here, paper float64) {
	for _, k := range r.find(tableAccuracy) {
		if k.Method != exactMethod && k.Bits >= bits && k.Paper != nil {
			here, paper = max(here, *k.Here), max(paper, *k.Paper)
		}
	}
	return here, paper
}

func (r *Report) sumAccurate() Finding {
	here, paper := r.worstSum(120)
	f := Finding{
		What: "Text on table 2: accurate from 16 moduli, 120 bits, on", Paper: "errors up to " + significant(&paper, 1),
		Here: "errors up to " + significant(&here, 2), Outcome: Confirmed, Verdict: "From 120 bits on, no sum is worse than the paper's worst.",
	}
	if here > paper {
		f.Outcome, f.Verdict = Differs, "A sum of 120 bits or more is worse than the paper's worst."
	}
	return f
}

func (r *Report) sumAdditions() Finding {
	here, paper := r.worstSum(240)
	f := Finding{
		What: "Algorithms 1 and 2 (figure 2): uAdd, Add", Paper: "errors of sums at 240 bits up to " + significant(&paper, 1),
		Here: "up to " + significant(&here, 2), Outcome: Confirmed,
		Verdict: "All sums here are made of these additions: residues apart, rounded where the interval evaluation passes its limit.",
	}
	if here > paper {
		f.Outcome, f.Verdict = Differs, "Sums made of these additions have larger errors at 240 bits than the paper's."
	}
	return f
}

// sumAlgorithms returns findings about Reduce1 to Reduce3: the same bits on the CPU and the GPU.
// Without the same bits there are no times.
func (r *Report) sumAlgorithms() []Finding {
	var list []Finding
	for i, a := range []struct {
		what string
		on   []string
	}{
		{"Algorithm 3 (figure 3): Reduce1 on CPU, 1S and 1P on GPU", []string{reduce1S, reduce1P}},
		{"Algorithm 4 (figure 4): Reduce2 on CPU, 2S and 2P on GPU", []string{reduce2S, reduce2P}},
		{"Algorithm 5 (figure 5): Reduce3 by blocks on GPU", []string{blocksTitle(paperBlocks)}},
	} {
		f := Finding{What: a.what, Paper: "CPU and GPU bit for bit", Outcome: NotMeasured}
		if i == 2 {
			f.Paper = "blocks on the GPU, their sums on the CPU"
		}
		runs := 0
		for _, method := range a.on {
			for _, bits := range rns.SummationPrecisions {
				if r.sumTime(method, r.GPU, bits) != nil {
					runs++
				}
			}
		}
		cpu := r.sumTime(cpuSums[i].title(), cpuDevice, speedupBits)
		switch {
		case runs > 0:
			f.Outcome, f.Here = Confirmed, fmt.Sprintf("%d sums on %s, bit for bit the CPU's in the same order", runs, r.GPU)
			f.Verdict = "The GPU's sums are the CPU's, at all precisions."
		case cpu != nil:
			f.Here = milliseconds(cpu) + fmt.Sprintf(" on the CPU at %d bits", speedupBits)
			f.Verdict = "Runs on the CPU; to compare it with a GPU takes one."
		}
		list = append(list, f)
	}
	return list
}

func (r *Report) doubleFinding() Finding {
	f := Finding{
		What: "Text on figures 6 and 7: recursive sum in double", Outcome: NotMeasured,
		Paper: "1 ms (CPU), 191 ms (one thread of the GPU)",
	}
	for _, k := range r.find(tableTimes) {
		if k.Method != doubleMethod || k.Here == nil {
			continue
		}
		f.Here = fmt.Sprintf("%s for %d numbers (CPU)", milliseconds(&k), r.N)
		switch {
		case r.N != SumN:
			f.Verdict = fmt.Sprintf("The paper's are of %d numbers.", SumN)
		case *k.Here <= 2 && *k.Here >= 0.5:
			f.Outcome, f.Verdict = Confirmed, "The CPU takes about as long as the paper's."
		default:
			f.Outcome, f.Verdict = Differs, "Another CPU, another time."
		}
	}
	f.Verdict += " A chain of doubles on one thread of a GPU was not run."
	f.Verdict = strings.TrimSpace(f.Verdict)
	return f
}

func (r *Report) figure6() Finding {
	f := Finding{
		What: "Figure 6: Reduce1, Reduce2 on the CPU, Reduce3 on the GPU", Outcome: NotMeasured, Verdict: needsGPU,
		Paper: fmt.Sprintf("Reduce3 with 256 blocks is the fastest, twice as fast as the others at %d bits; the figure has no numbers", speedupBits),
	}
	cpu1, cpu2 := r.sumTime(cpuSums[0].title(), cpuDevice, speedupBits), r.sumTime(cpuSums[1].title(), cpuDevice, speedupBits)
	if cpu1 == nil || cpu2 == nil {
		return f
	}
	f.Here = fmt.Sprintf("Reduce1 %s, Reduce2 %s on the CPU at %d bits", milliseconds(cpu1), milliseconds(cpu2), speedupBits)
	if k := r.sumTime(exactMethod, cpuDevice, speedupBits); k != nil {
		f.Exact = milliseconds(k) + " on the CPU"
	}
	hybrid := r.sumTime(blocksTitle(paperBlocks), r.GPU, speedupBits)
	if hybrid == nil {
		return f
	}
	f.Here += ", Reduce3 with 256 blocks " + milliseconds(hybrid)
	fastest, all := 0, 0
	for _, bits := range rns.SummationPrecisions {
		a, b, c := r.sumTime(cpuSums[0].title(), cpuDevice, bits), r.sumTime(cpuSums[1].title(), cpuDevice, bits), r.sumTime(blocksTitle(paperBlocks), r.GPU, bits)
		if a == nil || b == nil || c == nil {
			continue
		}
		if all++; *c.Here < min(*a.Here, *b.Here) {
			fastest++
		}
	}
	f.Outcome, f.Verdict = Confirmed, fmt.Sprintf("Reduce3 is the fastest at all %d precisions.", all)
	if fastest < all {
		f.Outcome, f.Verdict = Differs, fmt.Sprintf("Reduce3 is the fastest at %d of %d precisions.", fastest, all)
	}
	return f
}

func (r *Report) figure7() Finding {
	f := Finding{
		What: "Figure 7: the summations on the GPU", Outcome: NotMeasured, Verdict: needsGPU,
		Paper: "Reduce3 is the fastest, S the slowest; the figure has no numbers",
	}
	ordered, all := 0, 0
	for _, bits := range rns.SummationPrecisions {
		hybrid := r.sumTime(blocksTitle(paperBlocks), r.GPU, bits)
		for _, pair := range [][2]string{{reduce1S, reduce1P}, {reduce2S, reduce2P}} {
			s, p := r.sumTime(pair[0], r.GPU, bits), r.sumTime(pair[1], r.GPU, bits)
			if hybrid == nil || s == nil || p == nil {
				continue
			}
			if all++; *hybrid.Here < *p.Here && *p.Here < *s.Here {
				ordered++
			}
			if bits == speedupBits {
				if f.Here != "" {
					f.Here += "; "
				}
				f.Here += fmt.Sprintf("%s %s, %s %s", pair[0], milliseconds(s), pair[1], milliseconds(p))
			}
		}
		if hybrid != nil && bits == speedupBits {
			f.Here += fmt.Sprintf("; %s %s, at %d bits", blocksTitle(paperBlocks), milliseconds(hybrid), bits)
		}
	}
	if all == 0 {
		return f
	}
	f.Outcome, f.Verdict = Confirmed, "Reduce3 is faster than P and P than S, in both summations at all precisions."
	if ordered < all {
		f.Outcome, f.Verdict = Differs, fmt.Sprintf("In %d of %d cases Reduce3 is faster than P and P than S.", ordered, all)
	}
	return f
}

// ratioFindings are about the ratios of the text.
func (r *Report) ratioFindings() []Finding {
	var list []Finding
	for _, k := range r.find(tableSpeedups) {
		if k.Paper == nil {
			continue
		}
		f := Finding{
			What: fmt.Sprintf("Text on figures 6 and 7: %s, %d bits", k.Method, k.Bits), Outcome: NotMeasured, Verdict: needsGPU,
			Paper: fmt.Sprintf("%s x (%s)", strconv.FormatFloat(*k.Paper, 'g', -1, 64), strings.TrimSuffix(paperSumGPU, paperSuffix)),
		}
		if k.Here != nil {
			f.Here = short(k.Here) + " x"
			if k.Case != "" {
				f.Here += " (" + k.Case + ")"
			}
			switch q := *k.Here / *k.Paper; {
			case q > 1.5:
				f.Outcome, f.Verdict = Confirmed, "Holds, and by "+significant(&q, 2)+" times more than in the paper."
			case q >= 1/1.5:
				f.Outcome, f.Verdict = Confirmed, "About as in the paper."
			case *k.Here > 1:
				f.Outcome, f.Verdict = Differs, "Faster, but less so than in the paper."
			default:
				f.Outcome, f.Verdict = Differs, "Not faster here."
			}
			if r.N != SumN {
				f.Verdict += fmt.Sprintf(" Of %d numbers, the paper's are %d.", r.N, SumN)
			}
		}
		list = append(list, f)
	}
	return list
}

func (r *Report) lowPrecision() Finding {
	f := Finding{
		What: "Text on figures 6 and 7: n = 8 moduli, 60 bits", Outcome: NotMeasured,
		Paper: "slower than more moduli, for many roundings; pairwise much faster than recursive",
	}
	low, high := r.sumTime(cpuSums[0].title(), cpuDevice, 60), r.sumTime(cpuSums[0].title(), cpuDevice, 120)
	pairwise := r.sumTime(cpuSums[1].title(), cpuDevice, 60)
	if low == nil || high == nil || pairwise == nil {
		return f
	}
	f.Here = fmt.Sprintf("recursive %s at 60 bits, %s at 120; pairwise %s at 60", milliseconds(low), milliseconds(high), milliseconds(pairwise))
	slower, quicker := *low.Here > *high.Here, *low.Here > 1.1**pairwise.Here
	switch {
	case slower && quicker:
		f.Outcome, f.Verdict = Confirmed, "60 bits are slower than 120, and pairwise summation is faster than recursive there."
	case slower:
		f.Outcome, f.Verdict = Differs, "60 bits are slower than 120, but pairwise summation is not faster than recursive."
	case quicker:
		f.Outcome, f.Verdict = Differs, "Pairwise summation is faster than recursive, but 60 bits are not slower than 120."
	default:
		f.Outcome, f.Verdict = Differs, "60 bits are not slower than 120, nor is pairwise summation faster than recursive."
	}
	return f
}

func (r *Report) lengthFinding() Finding {
	f := Finding{
		What: "Text on figures 6 and 7: the speed-up of Reduce3 grows with the vector", Paper: "in proportion to the length (not shown)",
		Outcome: NotMeasured, Verdict: needsGPU,
	}
	list := r.find(tableLengths)
	if len(list) < 2 {
		return f
	}
	rate := func(k Record) float64 { return float64(k.N) / *k.Here }
	first, last := list[0], list[len(list)-1]
	f.Here = fmt.Sprintf("%d numbers %s, %d numbers %s", first.N, milliseconds(&first), last.N, milliseconds(&last))
	grows, length := rate(last)/rate(first), float64(last.N)/float64(first.N)
	f.Verdict = fmt.Sprintf("Against a sum whose time is proportional to the length, the speed-up grows %s times where the vector grows %s times", short(&grows), short(&length))
	switch {
	case grows > length/2:
		f.Outcome = Confirmed
		f.Verdict += "."
	case grows > 1:
		f.Outcome = Differs
		f.Verdict += ": less than in proportion."
	default:
		f.Outcome = Differs
		f.Verdict += ": not at all."
	}
	return f
}
