package reproduce

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/isa"
	"github.com/halfulp/halfulp/rns"
)

// SumN is the number of addends that the paper times.
const SumN = 1000000

// The tables of a sum report.
const (
	tableData     = "table 1"
	tableAccuracy = "table 2"
	tableTimes    = "figures 6 and 7"
	tableSpeedups = "speed-ups"
	tableLengths  = "length of the vector"
)

const (
	timeOfRun     = "time"
	relativeError = "relative error"
	ratio         = "ratio of times"
)

// sumMethod is a summation of package rns on the CPU.
type sumMethod struct {
	name, algorithm string
	order           int // in the paper's tables: recursive, pairwise, hybrid
	sum             sumRoutine
}

// sumRoutine is a summation of package rns.
type sumRoutine func(x *rns.Vector, o *rns.Options) (*rns.Number, error)

var cpuSums = []sumMethod{
	{"recursive", "Reduce1", 0, rns.Reduce1},
	{"pairwise", "Reduce2", 1, rns.Reduce2},
	{"hybrid", "Reduce3", 2, rns.Reduce3},
}

// rnsOptions returns options of package rns for the CPU.
func (e *experiment) rnsOptions() *rns.Options {
	return &rns.Options{Options: halfulp.Options{Device: cpuDevice, Threads: e.Threads, Context: e.Context}}
}

// title is the name of the method in tables.
func (m *sumMethod) title() string { return m.algorithm + " " + m.name }

const (
	cpuDevice    = "cpu"
	exactMethod  = "halfulp.Sum"
	doubleMethod = "float64, recursive"
	floatMethod  = "float32, recursive"
)

// residueLoops is a way to run the loops over residues on a processor.
type residueLoops struct {
	name  string
	level isa.Set
}

// loops returns the ways of this machine that the active level allows.
func loops() []residueLoops {
	scalar := residueLoops{"scalar", isa.Portable}
	if isa.Level() < isa.AVX2 {
		return []residueLoops{scalar}
	}
	return []residueLoops{{"SIMD", isa.Level()}, scalar}
}

// base makes the base with these loops active; it keeps them.
func (l residueLoops) base(make func(int) (*rns.Base, error), p int) (*rns.Base, error) {
	defer isa.Force(l.level)()
	return make(p)
}

// Sum runs the experiments of 003: the accuracy of the summations on its three sets
// (tables 1 and 2), and their times for o.N doubles, uniform in [0, 1] (figures 6 and 7).
func Sum(o Options) (*Report, error) {
	if o.N == 0 {
		o.N = SumN
	}
	most := rns.SummationPrecisions[len(rns.SummationPrecisions)-1]
	b, err := rns.SummationBase(most)
	if err != nil {
		return nil, err
	}
	if err := o.fits(float64(max(o.N, SumN+1)) * numberBytes(b)); err != nil {
		return nil, err
	}
	e, err := o.start(sumPlan(o.N))
	if err != nil {
		return nil, err
	}
	r := &Report{
		Name:    sumName,
		Source:  "K. Isupov, V. Knyazkov, A. Kuvaev, Multiple-precision summation on CPUs and GPUs with the library MPRES, 2018",
		Command: o.Command, Machine: o.Machine, Time: time.Now().UTC().Format(time.RFC3339), N: o.N, GPU: e.gpuTitle(),
	}
	for _, set := range sumSets() {
		if err := e.accuracy(r, set); err != nil {
			return nil, err
		}
	}
	if err := e.sumTimes(r); err != nil {
		return nil, err
	}
	r.speedups()
	r.sumFindings()
	r.Notes = sumNotes(r.GPU)
	e.finish(r)
	return r, r.layOut()
}

// numberBytes is the memory of a number in an array, in bytes.
func numberBytes(b *rns.Base) float64 { return float64(4*b.Len() + 4 + 4 + 32) }

// fits returns an error if that many bytes are more than the limit.
func (o *Options) fits(bytes float64) error {
	if o.MemoryLimit > 0 && bytes > float64(o.MemoryLimit) {
		return fmt.Errorf("n = %d takes %.3g GiB, the memory limit is %.3g GiB", o.N, bytes/(1<<30), float64(o.MemoryLimit)/(1<<30))
	}
	return nil
}

// exactBits is a precision that holds every sum of the sets exactly.
const exactBits = 4096

// accuracy sums a set in all precisions and by all methods.
func (e *experiment) accuracy(r *Report, set sumSet) error {
	if err := e.next(); err != nil {
		return err
	}
	x := halfulp.NewVectorFloat64(len(set.terms), 1, set.terms)
	opt := &halfulp.Options{Device: cpuDevice, Threads: e.Threads, Context: e.Context}
	s, err := halfulp.Sum(x, halfulp.MP(exactBits), opt)
	if err != nil {
		return err
	}
	exact := s.Big()
	r.add(Record{Table: tableData, Case: set.name, Method: "exact", Quantity: "sum", HereText: set.text(s.Float64()), PaperText: set.exact})
	var single float32
	double := 0.0
	for _, t := range set.terms {
		single += float32(t)
		double += t
	}
	r.add(
		Record{
			Table: tableData, Case: set.name, Method: floatMethod, Device: cpuDevice, Bits: 24, Quantity: relativeError,
			Here: errorOf(big.NewFloat(float64(single)), exact), HereText: set.text(float64(single)), Paper: known(set.floatE), PaperText: set.float,
		},
		Record{
			Table: tableData, Case: set.name, Method: doubleMethod, Device: cpuDevice, Bits: 53, Quantity: relativeError,
			Here: errorOf(big.NewFloat(double), exact), HereText: set.text(double), Paper: known(set.doublE), PaperText: set.double,
		},
	)
	for _, p := range rns.SummationPrecisions {
		cells, ok := set.mpres[p]
		if !ok {
			continue // the paper times this precision only
		}
		if err := e.next(); err != nil {
			return err
		}
		b, err := rns.SummationBase(p)
		if err != nil {
			return err
		}
		v := b.VectorOf(x)
		for _, m := range cpuSums {
			z, err := m.sum(v, e.rnsOptions())
			if err != nil {
				return err
			}
			got, err := z.Big()
			if err != nil {
				return err
			}
			cell := cells[m.order]
			r.add(Record{
				Table: tableAccuracy, Case: set.name, Method: m.title(), Device: cpuDevice, Bits: p, Moduli: b.Len(),
				Quantity: relativeError, Here: errorOf(got, exact), HereText: set.text(z.Float64()),
				Paper: known(cell.err), PaperText: cell.sum,
			})
		}
		f := halfulp.MP(uint(p))
		s, err := halfulp.Sum(x, f, opt)
		if err != nil {
			return err
		}
		r.add(Record{
			Table: tableAccuracy, Case: set.name, Method: exactMethod, Device: cpuDevice, Bits: p, Quantity: relativeError,
			Here: errorOf(s.Big(), exact), HereText: set.text(s.Float64()),
		})
	}
	return nil
}

// text prints a sum with the paper's number of digits.
func (s *sumSet) text(x float64) string { return significant(&x, s.digits) }

// errorOf returns |got - exact| / |exact|.
func errorOf(got, exact *big.Float) *float64 {
	d := new(big.Float).SetPrec(2*exactBits).Sub(got, exact)
	d.Quo(d.Abs(d), new(big.Float).Abs(exact))
	f, _ := d.Float64()
	return &f
}

// sumTimes measures the sums of uniform doubles.
func (e *experiment) sumTimes(r *Report) error {
	data := uniform(e.N)
	sink := 0.0
	if err := e.next(); err != nil {
		return err
	}
	ms, runs, err := e.measure(nil, func() error {
		s := 0.0
		for _, x := range data {
			s += x
		}
		sink += s
		return nil
	})
	if err != nil {
		return err
	}
	_ = sink
	r.add(Record{Table: tableTimes, Method: doubleMethod, Device: cpuDevice, Quantity: timeOfRun, Unit: "ms", Here: &ms, Runs: runs})
	r.sumPaper()
	x := halfulp.NewVectorFloat64(len(data), 1, data)
	for _, p := range rns.SummationPrecisions {
		for _, l := range loops() {
			if err := e.sumTimesOf(r, l, p, x); err != nil {
				return err
			}
		}
		if e.gpu != nil {
			if err := e.gpuSumTimes(r, p, x); err != nil {
				return err
			}
		}
		if err := e.next(); err != nil {
			return err
		}
		opt := &halfulp.Options{Device: cpuDevice, Threads: e.Threads, Context: e.Context}
		ms, runs, err := e.measure(nil, func() error {
			_, err := halfulp.Sum(x, halfulp.MP(uint(p)), opt)
			return err
		})
		if err != nil {
			return err
		}
		r.add(Record{
			Table: tableTimes, Method: exactMethod, Device: cpuDevice, Bits: p, Quantity: timeOfRun, Unit: "ms", Here: &ms, Runs: runs,
		})
	}
	return nil
}

func (e *experiment) sumTimesOf(r *Report, l residueLoops, p int, x *halfulp.Vector) error {
	b, err := l.base(rns.SummationBase, p)
	if err != nil {
		return err
	}
	if l.level != isa.Portable && !b.SIMD() {
		return nil // too few moduli: it would be the scalar loop
	}
	record := func(method string, ms float64, runs int) {
		r.add(Record{
			Table: tableTimes, Method: method, Device: cpuDevice, Residues: l.name, Bits: p, Moduli: b.Len(),
			Quantity: timeOfRun, Unit: "ms", Here: &ms, Runs: runs,
		})
	}
	if err := e.next(); err != nil {
		return err
	}
	var v *rns.Vector
	ms, runs, err := e.measure(func() { v = nil }, func() error {
		v = b.VectorOf(x)
		return nil
	})
	if err != nil {
		return err
	}
	record(conversion, ms, runs)
	for _, m := range cpuSums {
		if err := e.next(); err != nil {
			return err
		}
		ms, runs, err := e.measure(nil, func() error {
			_, err := m.sum(v, e.rnsOptions())
			return err
		})
		if err != nil {
			return err
		}
		record(m.title(), ms, runs)
	}
	return nil
}

const conversion = "conversion of the doubles"

// The devices of the paper.
const (
	paperSumCPU = "Core i5-4590, paper"
	paperSumGPU = "GTX 1050 Ti, paper"
)

// sumPaper adds the times that the paper's text gives. Its figures 6 and 7 have no numbers.
func (r *Report) sumPaper() {
	k := Record{Table: tableTimes, Method: doubleMethod, Device: paperSumCPU, Quantity: timeOfRun, Unit: "ms", Paper: known(1)}
	r.add(k)
	k.Device, k.Paper = paperSumGPU, known(191)
	r.add(k)
}

// sumTime returns the time of a method on a device in a precision, nil if it was not measured. On
// the CPU it is the time of the first loops that have records.
func (r *Report) sumTime(method, device string, bits int) *Record {
	for _, loop := range []string{"SIMD", "scalar", ""} {
		for _, k := range r.find(tableTimes) {
			whole := k.Case == "" || strings.HasPrefix(k.Case, "scaled")
			if k.Method == method && k.Device == device && k.Bits == bits && k.Residues == loop && k.Here != nil && whole {
				return &k
			}
		}
	}
	return nil
}

// Ratios of times: the ratios of the paper's text, and further ones.
const (
	ratio1P    = "Reduce1P / Reduce3, 256 blocks"
	ratio2P    = "Reduce2P / Reduce3, 256 blocks"
	ratioCPU1  = "Reduce1 on the CPU / Reduce3, 256 blocks"
	ratioCPU2  = "Reduce2 on the CPU / Reduce3, 256 blocks"
	ratioCPU3  = "Reduce3 on the CPU / Reduce3, 256 blocks"
	ratioExact = "Reduce3, 256 blocks / halfulp.Sum on the CPU"
	ratioTuned = "Reduce3, 256 blocks / Reduce3, tuned"
	ratio1SP   = "Reduce1S / Reduce1P"
	ratio2SP   = "Reduce2S / Reduce2P"
	ratio12    = "Reduce1 / Reduce2, both on the CPU"
	ratio13    = "Reduce1 / Reduce3, both on the CPU"
	ratio23    = "Reduce2 / Reduce3, both on the CPU"
)

// speedupBits and speedupModuli are the bits and moduli of the paper's ratios.
const speedupBits, speedupModuli = 480, 64

// speedups adds the ratios of the measured times beside the ratios that the paper's text gives, and
// also the ratios at other precisions.
func (r *Report) speedups() {
	gpu := r.GPU
	hybrid := blocksTitle(paperBlocks)
	cpu1, cpu2, cpu3 := cpuSums[0].title(), cpuSums[1].title(), cpuSums[2].title()
	for _, s := range []struct {
		what               string
		slow, slowDevice   string
		quick, quickDevice string
		paper              *float64 // nil: the text gives no number
	}{
		{ratio1P, reduce1P, gpu, hybrid, gpu, known(62)},
		{ratio2P, reduce2P, gpu, hybrid, gpu, known(48)},
		{ratioCPU1, cpu1, cpuDevice, hybrid, gpu, known(2)},
		{ratioCPU2, cpu2, cpuDevice, hybrid, gpu, known(2)},
		{ratioCPU3, cpu3, cpuDevice, hybrid, gpu, nil},
		{ratio1SP, reduce1S, gpu, reduce1P, gpu, known(11)},
		{ratio2SP, reduce2S, gpu, reduce2P, gpu, known(13)},
		{ratioTuned, hybrid, gpu, "Reduce3 hybrid" + tuned, gpu, nil},
		{ratioExact, hybrid, gpu, exactMethod, cpuDevice, nil},
		{ratio12, cpu1, cpuDevice, cpu2, cpuDevice, nil},
		{ratio13, cpu1, cpuDevice, cpu3, cpuDevice, nil},
		{ratio23, cpu2, cpuDevice, cpu3, cpuDevice, nil},
	} {
		for _, bits := range rns.SummationPrecisions {
			k := Record{Table: tableSpeedups, Method: s.what, Bits: bits, Quantity: ratio}
			if bits == speedupBits {
				k.Moduli, k.Paper = speedupModuli, s.paper
			}
			slow, quick := r.sumTime(s.slow, s.slowDevice, bits), r.sumTime(s.quick, s.quickDevice, bits)
			if slow != nil && quick != nil {
				k.Device, k.Residues, k.Moduli, k.Case = slow.Device, slow.Residues, slow.Moduli, orOther(slow.Case, quick.Case)
				k.Here = known(*slow.Here / *quick.Here)
			}
			if k.Here != nil || k.Paper != nil {
				r.add(k)
			}
		}
	}
}

// orOther returns the text, or another one if it is empty.
func orOther(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// sumTexts lays the records out as tables.
func (r *Report) sumTexts() {
	data := textTable{
		title:  "Table 1: sets of doubles, their exact sums, and recursive sums in float and double (relative errors; the paper cuts them at 1)",
		header: []string{"set", "arithmetic", "sum, here", "error, here", "sum, paper", "error, paper"},
	}
	for _, k := range r.find(tableData) {
		data.rows = append(data.rows, []string{k.Case, k.Method, k.HereText, significant(k.Here, 2), k.PaperText, significant(k.Paper, 1)})
	}
	accuracy := textTable{
		title:  "Table 2: sums in RNS arithmetic, and correctly rounded ones (relative errors; the paper cuts them at 1)",
		header: []string{"set", "bits (moduli)", "algorithm", "sum, here", "error, here", "sum, paper", "error, paper"},
	}
	for _, k := range r.find(tableAccuracy) {
		accuracy.rows = append(accuracy.rows, []string{
			k.Case, bitsOf(k), k.Method, k.HereText, significant(k.Here, 2), k.PaperText, significant(k.Paper, 1),
		})
	}
	times := textTable{
		title:  fmt.Sprintf("Figures 6 and 7: ms for %d doubles, uniform in [0, 1], fastest of 1 to %d runs", r.N, maxRuns),
		header: []string{"algorithm", "device", "residues"},
	}
	bits := rns.SummationPrecisions
	for _, p := range bits {
		times.header = append(times.header, fmt.Sprintf("%d bits", p))
	}
	times.rows = pivot(r.find(tableTimes), bits, doubleMethod)
	for _, k := range r.find(tableTimes) {
		if k.Method == doubleMethod {
			x := k.Here
			if x == nil {
				x = k.Paper
			}
			times.rows = append(times.rows, []string{doubleMethod, k.Device, "", short(x)})
		}
	}
	r.text = append([]textTable{data, accuracy, times, r.speedupText(bits)}, r.kernelText(bits)...)
}

// speedupText returns the table of ratios by precision, with the paper's.
func (r *Report) speedupText(bits []int) textTable {
	t := textTable{
		title:  fmt.Sprintf("Ratios of times; the paper's text gives those at %d bits, its figures 6 and 7 have no numbers", speedupBits),
		header: []string{"ratio"},
	}
	for _, p := range bits {
		t.header = append(t.header, fmt.Sprintf("%d bits", p))
	}
	t.header = append(t.header, fmt.Sprintf("paper, %d bits", speedupBits))
	var row []string
	last := ""
	for _, k := range r.find(tableSpeedups) {
		if k.Method != last {
			last = k.Method
			row = append([]string{k.Method}, make([]string, len(bits)+1)...)
			t.rows = append(t.rows, row)
		}
		if k.Case != "" {
			row[0] = k.Method + ", " + k.Case
		}
		row[1+slices.Index(bits, k.Bits)] = short(k.Here)
		if k.Paper != nil {
			row[1+len(bits)] = short(k.Paper)
		}
	}
	return t
}

func bitsOf(k Record) string {
	if k.Moduli == 0 {
		return strconv.Itoa(k.Bits)
	}
	return fmt.Sprintf("%d (%d)", k.Bits, k.Moduli)
}

// pivot returns a row for every method, device and kind of loop, with the figures measured here by
// precision. Rows are in the order of the records, but SIMD before scalar loops and these before
// others. It leaves out the method but.
func pivot(records []Record, bits []int, but string) [][]string {
	var rows [][]string
	at := map[[3]string]int{}
	for _, k := range records {
		key := [3]string{k.Method, k.Device, k.Residues}
		if k.Case != "" {
			key[0] += ", " + k.Case
		}
		if k.Method == but {
			continue
		}
		i, ok := at[key]
		if !ok {
			i = len(rows)
			at[key] = i
			rows = append(rows, append(key[:], make([]string, len(bits))...))
		}
		for j, p := range bits {
			if p == k.Bits {
				rows[i][len(key)+j] = k.time()
			}
		}
	}
	rank := map[string]int{"SIMD": 0, "scalar": 1, "": 2}
	slices.SortStableFunc(rows, func(a, b []string) int { return rank[a[2]] - rank[b[2]] })
	return rows
}

// curve returns the line of the records that match, by precision, of the figures here or of the
// paper's figures.
func curve(name string, style int, records []Record, paper bool, match func(Record) bool) line {
	l := line{name: name, style: style}
	for _, k := range records {
		y := k.Here
		if paper {
			y = k.Paper
		}
		if y != nil && k.Bits > 0 && match(k) {
			l.points = append(l.points, [2]float64{float64(k.Bits), *y})
		}
	}
	return l
}

func (r *Report) sumPlots() {
	times := figure{
		name: r.Name, yLabel: "ms",
		title: fmt.Sprintf("RNS sums of %d doubles, uniform in [0, 1], on the CPU", r.N),
	}
	records := r.find(tableTimes)
	for _, l := range []string{"SIMD", "scalar"} {
		if !slices.ContainsFunc(records, func(k Record) bool { return k.Residues == l }) {
			continue
		}
		p := panel{title: "CPU, " + l + " loops over residues"}
		for _, m := range cpuSums {
			name := m.title()
			p.lines = append(p.lines, curve(name, m.order, records, false, func(k Record) bool { return k.Method == name && k.Residues == l }))
		}
		p.lines = append(p.lines,
			curve(conversion, 3, records, false, func(k Record) bool { return k.Method == conversion && k.Residues == l }),
			curve(exactMethod+", correctly rounded", 4, records, false, func(k Record) bool { return k.Method == exactMethod }))
		times.panels = append(times.panels, p)
	}
	accuracy := figure{name: r.Name + "-accuracy", title: "Relative errors of sums", yLabel: "relative error"}
	records = r.find(tableAccuracy)
	for _, set := range []string{"set 1", "set 2", "set 3"} {
		for _, paper := range []bool{false, true} {
			p := panel{title: set + ", here"}
			if paper {
				p.title = set + ", paper"
			}
			for _, m := range cpuSums {
				method := m.title()
				p.lines = append(p.lines, curve(method, m.order, records, paper, func(k Record) bool { return k.Case == set && k.Method == method }))
			}
			p.lines = append(p.lines, curve(exactMethod+", correctly rounded", 4, records, paper, func(k Record) bool {
				return k.Case == set && k.Method == exactMethod
			}))
			accuracy.panels = append(accuracy.panels, p)
		}
	}
	r.plots = []figure{times, accuracy}
	if r.GPU != "" {
		r.plots = append(r.plots, r.gpuSumPlot())
	}
}

// gpuSumPlot makes figures 6 and 7 of the paper: the CPU's Reduce1 and Reduce2 with Reduce3 on the
// GPU, and all sums that run on the GPU.
func (r *Report) gpuSumPlot() figure {
	six, seven := panel{title: "Figure 6: Reduce1, Reduce2 on the CPU, Reduce3 on the GPU"}, panel{title: "Figure 7: GPU"}
	curve := func(p *panel, method, device string, style int) {
		l := line{name: method, style: style}
		for _, bits := range rns.SummationPrecisions {
			if k := r.sumTime(method, device, bits); k != nil {
				l.points = append(l.points, [2]float64{float64(bits), *k.Here})
			}
		}
		p.lines = append(p.lines, l)
	}
	for i, m := range cpuSums[:2] {
		curve(&six, m.title(), cpuDevice, i)
	}
	for _, m := range gpuSums(rns.Options{}) {
		curve(&seven, m.title, r.GPU, len(cpuSums[:2])+m.style)
		if strings.HasPrefix(m.title, "Reduce3") {
			curve(&six, m.title, r.GPU, len(cpuSums[:2])+m.style)
		}
	}
	return figure{
		name: r.Name + "-gpu", yLabel: "ms", panels: []panel{six, seven},
		title: fmt.Sprintf("RNS sums of %d doubles, uniform in [0, 1], on %s", r.N, r.GPU),
	}
}

// sumNotes returns the notes of a report with the rows of a GPU, "" for none.
func sumNotes(gpu string) []string {
	notes := []string{
		"The addends are doubles, and errors are relative to their exact sum. Set 3 has terms x^i / i! of powers and factorials rounded to doubles: their exact sum and their sums in float and double are the paper's to the last digit. That sum is not the series: exp(-4 pi) is 3.48734236e-6, and rounding its terms changes 1.4e-6 of it.",
		"Set 2 at 120 and 240 bits: the paper has 6e-13, here the sums are exact. 1 and multiples of 2^-106 below 2 fit 107 bits, so no order of additions can round in 120. An error of 6.1e-13 is what 10^6 addends of 58 * 2^-59 in place of 1e-16 give: the paper's addends seem to have lost their last bits in conversion.",
		"Set 2 at 60 bits: the paper has 9e-13 three times. Recursive summation here stays below that, rounding to nearest; pairwise and hybrid sums, in which an addend goes through some tens of roundings instead of 10^6, are far more accurate, as they should be. In the paper the addends limit them as well.",
		"Set 1 at 120 bits, pairwise: the paper has 0, here one rounding of a partial sum near 20460 to 120 bits leaves an error, as in the other two orders. Which sums round depends on where the leftovers of the stack are added.",
		"Set 3: at 30 bits no digit is right on either side, and the digits depend on every rounding. At 60 bits the orders of magnitude are the paper's, and recursive summation is more accurate here. Significands are not normalised, so bits depend on how a value came about.",
		"Reduce3 adds in the order of 64 blocks of 32 threads, whatever number of goroutines runs them. The paper does not say how many blocks its table 2 has.",
		"SIMD loops take 8 residues a step: with the 4 moduli of 30 bits they are the scalar ones and are left out. Conversion of the doubles to RNS is in no other row. The paper's CPU was an Intel Core i5-4590.",
		"halfulp.Sum is the exact engine: the exact sum rounded once to p bits, whatever the order. An error of 0 at p bits means that the sum fits in them.",
	}
	if gpu == "" {
		return append(notes, "Reduce1S, 1P, 2S, 2P and Reduce3 on a GPU are not measured: figures that are not there were not measured, and none is estimated.")
	}
	return append(notes,
		"Rows of "+gpu+": numbers are in its memory; a time is from the call until the host has the sum. Blocks of Reduce3 have 32 threads, as the paper does not say how many; tuned, blocks and threads are those with which this GPU is fastest: rns.TuneSum found them, here or before, and remembers them. Each sum had the bits of the CPU's in the same order, so table 2 holds for the GPU, too.",
		fmt.Sprintf("Reduce1S, 1P, 2S and 2P are chains of additions. They are run with all numbers, unless %d of them show that this would take more than %v: then their time is that of %d and of half as many, continued in a line, and their rows say so. P has a thread for each modulus, but at most 32.", fewNumbers, longestChain, fewNumbers),
		"Kernels: sum and tree are Reduce3, pairs is Reduce2 over all numbers. One thread has all residues of a number in local memory. Occupancy is what registers and shared memory leave room for.")
}
