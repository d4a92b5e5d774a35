package reproduce

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/ozaki"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// The tables of an Ozaki report.
const (
	tableOzakiMean   = "table 2"
	tableOzakiRatio  = "table 3"
	tableOzakiTimes  = "figure 7"
	tableOzakiErrors = "figures 8 to 25"
	tableOzakiShares = "figures 26 to 30"
	tableOzakiSpeeds = "section 5.2.1"
	tableOzakiDigits = "section 5.2.3"
	tableOzakiExact  = "figures 1 to 4"
)

const (
	meanError    = "mean of the largest relative errors"
	scaleError   = "scale of the largest relative errors"
	worstError   = "largest relative error"
	worstBound   = "largest bound of the relative error"
	improvement  = "improvement of the error"
	speedUp      = "speed-up over float64"
	slowerUpTo   = "largest n at which float64 is faster"
	leastDigits  = "least number of digits gained over float32"
	mostDigits   = "largest number of digits gained over float32"
	firstProduct = "largest error of the product of the first slices"
)

const (
	float32Method     = "float32"
	float64Method     = "float64"
	doubleFloatMethod = "double-float"
	exactGemm         = "halfulp.Gemm"
)

// literalMethod and slicesMethod are the products of package ozaki: the paper's, and its own.
func literalMethod(k int) string { return slicesMethod(k) + ", literal" }
func slicesMethod(k int) string  { return fmt.Sprintf("%d slices", k) }

// maxOzakiSlices is the paper's largest number of slices.
const maxOzakiSlices = 6

// The splits of package ozaki, in the order of the tables, and their names.
var ozakiSplits = []struct {
	split  ozaki.Split
	name   string
	method func(k int) string
}{
	{ozaki.Literal, "literal", literalMethod},
	{ozaki.Scaled, "scaled", slicesMethod},
}

// ozakiMethod is a way to multiply.
type ozakiMethod struct {
	name   string
	slices int // K, 1 for float32; 0 for others
	style  int
	paper  int // its place in table 2, or -1
	// run computes d.c. It fills the bounds of errors if the method has bounds; bound may be nil.
	run func(e *experiment, d *ozakiData, bound *halfulp.Matrix) ([]halfulp.Stage, error)
	// bounded reports whether run fills the bounds.
	bounded bool
	// fetch copies the result to d.c; it is nil if the result is there already.
	fetch func(e *experiment, d *ozakiData) error
}

// ozakiMethods are the methods on the CPU, in the order of the tables.
func ozakiMethods() []ozakiMethod {
	product := func(name string, split ozaki.Split, k, paper int) ozakiMethod {
		return ozakiMethod{name, k, k - 1, paper, func(e *experiment, d *ozakiData, bound *halfulp.Matrix) ([]halfulp.Stage, error) {
			var s ozaki.Stats
			o := e.ozakiOptions(split, k, bound)
			o.Stats = &s
			err := ozaki.Gemm(halfulp.NoTrans, halfulp.NoTrans, 1, d.a, d.b, 0, d.c, o)
			return s.Stages, err
		}, true, nil}
	}
	list := []ozakiMethod{product(float32Method, ozaki.Literal, 1, 0)}
	for _, s := range ozakiSplits {
		for k := 2; k <= maxOzakiSlices; k++ {
			list = append(list, product(s.method(k), s.split, k, ozakiPlace(s.split, k)))
		}
	}
	return append(list,
		ozakiMethod{float64Method, 0, 6, 6, func(e *experiment, d *ozakiData, _ *halfulp.Matrix) ([]halfulp.Stage, error) {
			multiplyFloat64(d)
			return nil, e.Context.Err()
		}, false, nil},
		ozakiMethod{doubleFloatMethod, 0, 7, -1, func(e *experiment, d *ozakiData, bound *halfulp.Matrix) ([]halfulp.Stage, error) {
			var s ozaki.Stats
			o := e.ozakiOptions(0, 0, bound)
			o.Stats = &s
			err := ozaki.GemmDoubleFloat(halfulp.NoTrans, halfulp.NoTrans, 1, d.a, d.b, 0, d.c, o)
			return s.Stages, err
		}, true, nil},
		ozakiMethod{exactGemm, 0, 8, -1, func(e *experiment, d *ozakiData, _ *halfulp.Matrix) ([]halfulp.Stage, error) {
			return nil, e.exactProduct(d.a, d.b, d.c)
		}, false, nil},
	)
}

// ozakiPlace is the column of K slices in table 2, which has them for the paper's split.
func ozakiPlace(split ozaki.Split, k int) int {
	if split == ozaki.Literal {
		return k - 1
	}
	return -1
}

func (e *experiment) ozakiOptions(split ozaki.Split, k int, bound *halfulp.Matrix) *ozaki.Options {
	return &ozaki.Options{Slices: k, Split: split, Bound: bound, Options: halfulp.Options{Threads: e.Threads, Context: e.Context, MemoryLimit: e.MemoryLimit}}
}

// multiplyFloat64 is gonum's DGEMM. Its matrices are stored by rows: it multiplies the transposes.
func multiplyFloat64(d *ozakiData) {
	general := func(m *halfulp.Matrix) blas64.General {
		x, ld, _ := m.RawFloat64()
		return blas64.General{Rows: d.n, Cols: d.n, Stride: ld, Data: x}
	}
	blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, general(d.b), general(d.a), 0, general(d.c))
}

// timeSizes returns the sizes at which products are timed, in order: the sizes at which errors are
// measured, and the paper's smaller ones, whose times show from which size on a product is faster.
func timeSizes(sizes []int) []int {
	all := slices.Clone(sizes)
	for _, n := range paperTimeSizes {
		if n < slices.Max(sizes) {
			all = append(all, n)
		}
	}
	return sorted(all)
}

// Ozaki runs the experiments of 002: products by float32, 2 to 6 slices and float64, of
// matrices of the given sizes, spreads and numbers of seeds.
func Ozaki(o Options, sizes []int, seeds int, phis []float64) (*Report, error) {
	sizes, phis = sorted(sizes), sorted(phis)
	all, largest := timeSizes(sizes), float64(slices.Max(sizes))
	if err := o.fits(8 * 8 * largest * largest); err != nil {
		return nil, err
	}
	e, err := o.start(ozakiPlan(sizes, seeds, phis))
	if err != nil {
		return nil, err
	}
	methods := ozakiMethods()
	if e.gpu != nil {
		if methods, err = e.gpuOzakiMethods(); err != nil {
			return nil, err
		}
	}
	r := &Report{
		Name:    ozakiName,
		Source:  "K. Nanai, N. Fujimoto, Evaluation of double-precision matrix multiplication based on the Ozaki scheme with a small constant number of split matrices in single-precision for gaming GPUs, 2021",
		Command: o.Command, Machine: o.Machine, Time: time.Now().UTC().Format(time.RFC3339), GPU: e.gpuTitle(),
	}
	for _, n := range all {
		if err := e.ozakiSize(r, methods, n, seeds, phis, slices.Contains(sizes, n)); err != nil {
			return nil, err
		}
	}
	for _, n := range sizes {
		for _, phi := range phis {
			r.ozakiMeans(methods, n, phi, seeds)
		}
	}
	r.ozakiSpeeds(all)
	r.ozakiDigits(sizes, phis)
	r.Notes = ozakiNotes(r.GPU)
	r.ozakiFindings(sizes, all, phis)
	e.finish(r)
	return r, r.layOut()
}

// sorted returns the different numbers of a list in order.
func sorted[T int | float64](list []T) []T {
	list = slices.Clone(list)
	slices.Sort(list)
	return slices.Compact(list)
}

// where returns the device of records: the GPU if there is one.
func (e *experiment) where() string {
	if e.gpu == nil {
		return cpuDevice
	}
	return e.gpu.title
}

// where returns the device of the report's records.
func (r *Report) where() string {
	if r.GPU == "" {
		return cpuDevice
	}
	return r.GPU
}

// place returns where in words.
func (r *Report) place() string {
	if r.GPU == "" {
		return "the CPU"
	}
	return r.GPU
}

func phiCase(phi float64) string { return "phi = " + strconv.FormatFloat(phi, 'g', -1, 64) }

// ozakiSize measures products of a size: their times, and if errors is set, errors for each spread
// and seed.
func (e *experiment) ozakiSize(r *Report, methods []ozakiMethod, n, seeds int, phis []float64, errors bool) error {
	d, err := e.newOzakiData(n)
	if err != nil {
		return err
	}
	defer d.gpu.free()
	for i, phi := range phis {
		for seed := 1; seed <= seeds; seed++ {
			timed := i == 0 && seed == 1
			if !errors && !timed {
				continue
			}
			if err := e.next(); err != nil {
				return err
			}
			if err := e.fill(d, phi, seed); err != nil {
				return err
			}
			for _, m := range methods {
				if !timed {
					break
				}
				if err := e.next(); err != nil {
					return err
				}
				if err := e.ozakiTime(r, m, d); err != nil {
					return err
				}
			}
			if !errors {
				continue
			}
			if err := e.ozakiCase(r, methods, d, seed == 1); err != nil {
				return err
			}
		}
	}
	if !errors {
		return nil
	}
	return e.firstSlices(r, methods[0], d)
}

// ozakiCase multiplies the matrices of a seed by all methods.
func (e *experiment) ozakiCase(r *Report, methods []ozakiMethod, d *ozakiData, bounds bool) error {
	if err := e.next(); err != nil {
		return err
	}
	if err := e.reference(d); err != nil {
		return err
	}
	for _, m := range methods {
		if err := e.next(); err != nil {
			return err
		}
		record := func(quantity string, x float64) Record {
			return Record{Table: tableOzakiErrors, Case: phiCase(d.phi), N: d.n, Seed: d.seed, Method: m.name, Device: e.where(), Quantity: quantity, Here: &x}
		}
		var bound *halfulp.Matrix
		if bounds && m.bounded {
			bound = d.bound
		}
		if _, err := m.run(e, d, bound); err != nil {
			return err
		}
		if m.fetch != nil {
			if err := m.fetch(e, d); err != nil {
				return err
			}
		}
		worst, scale := e.worst(d)
		r.add(record(worstError, worst), record(scaleError, scale))
		if bound != nil {
			r.add(record(worstBound, e.largest(d, bound)))
		}
	}
	return nil
}

// firstSlices multiplies the first slices of both factors in float32, which must be without error.
func (e *experiment) firstSlices(r *Report, single ozakiMethod, d *ozakiData) error {
	if err := e.next(); err != nil {
		return err
	}
	first := *d
	var err error
	if first.a, err = e.firstSlice(d.a, false); err != nil {
		return err
	}
	if first.b, err = e.firstSlice(d.b, true); err != nil {
		return err
	}
	if err := e.upload(&first); err != nil {
		return err
	}
	if err := e.reference(&first); err != nil {
		return err
	}
	if _, err := single.run(e, &first, nil); err != nil {
		return err
	}
	if single.fetch != nil {
		if err := single.fetch(e, &first); err != nil {
			return err
		}
	}
	x, _ := e.worst(&first)
	r.add(Record{Table: tableOzakiExact, Case: phiCase(d.phi), N: d.n, Seed: d.seed, Method: single.name, Device: e.where(), Quantity: firstProduct, Here: &x})
	return nil
}

// ozakiTime measures a method, and the shares of its stages in all runs.
func (e *experiment) ozakiTime(r *Report, m ozakiMethod, d *ozakiData) error {
	var stages []halfulp.Stage
	total := time.Duration(0)
	ms, runs, err := e.measure(nil, func() error {
		list, err := m.run(e, d, nil)
		for i, s := range list {
			if i == len(stages) {
				stages = append(stages, halfulp.Stage{Name: s.Name})
			}
			stages[i].Time += s.Time
			total += s.Time
		}
		return err
	})
	if err != nil {
		return err
	}
	r.add(Record{Table: tableOzakiTimes, N: d.n, Method: m.name, Device: e.where(), Quantity: timeOfRun, Unit: "ms", Here: &ms, Runs: runs})
	if m.slices < 2 {
		return nil
	}
	for _, s := range stages {
		x := 100 * float64(s.Time) / float64(max(total, 1))
		r.add(Record{Table: tableOzakiShares, Case: s.Name, N: d.n, Method: m.name, Device: e.where(), Quantity: share, Unit: "%", Here: &x})
	}
	return nil
}

// ozakiMeans adds the means of a size and spread, and their ratios to the means of float32.
func (r *Report) ozakiMeans(methods []ozakiMethod, n int, phi float64, seeds int) {
	paper, known := paperErrors[phi][n]
	ratios, improvements := paperRatios[phi][n], paperImprovements[phi][n]
	single := 0.0
	for _, m := range methods {
		mean, scale := 0.0, 0.0
		for _, k := range r.find(tableOzakiErrors) {
			if k.N == n && k.Case == phiCase(phi) && k.Method == m.name {
				switch k.Quantity {
				case worstError:
					mean += *k.Here / float64(seeds)
				case scaleError:
					scale += *k.Here / float64(seeds)
				}
			}
		}
		known := known && m.paper >= 0
		k := Record{Table: tableOzakiMean, Case: phiCase(phi), N: n, Method: m.name, Device: r.where(), Quantity: meanError, Here: &mean}
		if known {
			k.Paper = &paper[m.paper]
		}
		r.add(k)
		k.Quantity, k.Here, k.Paper = scaleError, &scale, nil
		r.add(k)
		if m.name == float32Method {
			single = mean
			continue
		}
		k = Record{Table: tableOzakiRatio, Case: phiCase(phi), N: n, Method: m.name, Device: r.where()}
		improved, times := single/mean, r.ozakiMs(m.name, n)/r.ozakiMs(float32Method, n)
		k.Quantity, k.Here = improvement, &improved
		if known {
			k.Paper = &improvements[m.paper-1]
		}
		r.add(k)
		k.Quantity, k.Here, k.Paper = ratio, &times, nil
		if known {
			k.Paper = &ratios[m.paper-1]
		}
		r.add(k)
	}
}

// ozakiSpeeds adds the speed of slices relative to float64, and the size from which on they are
// faster.
func (r *Report) ozakiSpeeds(sizes []int) {
	for _, s := range ozakiSplits {
		for k := 2; k <= maxOzakiSlices; k++ {
			record := Record{Table: tableOzakiSpeeds, Method: s.method(k), Device: r.where()}
			var slower *float64
			for _, n := range sizes {
				x := r.ozakiMs(float64Method, n) / r.ozakiMs(s.method(k), n)
				if math.IsNaN(x) {
					continue
				}
				if slower == nil {
					slower = known(0)
				}
				if x <= 1 {
					slower = known(float64(n))
				}
				one := record
				one.N, one.Quantity, one.Here = n, speedUp, &x
				if p := paperSpeedUps[n][k-2]; p != 0 && s.split == ozaki.Literal {
					one.Paper = &p
				}
				r.add(one)
			}
			record.Quantity, record.Here = slowerUpTo, slower
			if s.split == ozaki.Literal {
				record.Paper = known(float64(paperSlowerUpTo[k-2]))
			}
			if slower != nil {
				r.add(record)
			}
		}
	}
}

// ozakiDigits adds the decimal digits that slices gain over float32, for the paper's sizes if there
// are any. The paper gives them for phi = 0.1.
func (r *Report) ozakiDigits(sizes []int, phis []float64) {
	own := sizes
	sizes = slices.DeleteFunc(slices.Clone(sizes), func(n int) bool { return paperErrors[paperDigitsPhi][n] == [7]float64{} })
	some := len(sizes) > 0
	if !some {
		sizes = own
	}
	for _, s := range ozakiSplits {
		for k := 2; k <= maxOzakiSlices; k++ {
			for _, phi := range phis {
				least, most := math.Inf(1), math.Inf(-1)
				for _, n := range sizes {
					if x := r.value(tableOzakiRatio, s.method(k), improvement, phi, n); x.Here != nil {
						least, most = min(least, math.Log10(*x.Here)), max(most, math.Log10(*x.Here))
					}
				}
				one := Record{Table: tableOzakiDigits, Case: phiCase(phi), Method: s.method(k), Device: r.where(), Quantity: leastDigits, Here: &least}
				two := one
				two.Quantity, two.Here = mostDigits, &most
				if some && s.split == ozaki.Literal && phi == paperDigitsPhi {
					one.Paper, two.Paper = &paperDigits[k-2][0], &paperDigits[k-2][1]
				}
				r.add(one, two)
			}
		}
	}
}

// value returns the record of a table for a method, spread and size, an empty one if there is none.
func (r *Report) value(table, method, quantity string, phi float64, n int) Record {
	for _, k := range r.Records {
		if k.Table == table && k.Method == method && k.Quantity == quantity && k.N == n && k.Case == phiCase(phi) {
			return k
		}
	}
	return Record{}
}

// ozakiMs is the time of a method.
func (r *Report) ozakiMs(method string, n int) float64 {
	for _, k := range r.find(tableOzakiTimes) {
		if k.Method == method && k.N == n {
			return *k.Here
		}
	}
	return math.NaN()
}

// ozakiNotes are the notes of a report of a GPU, "" for the CPU.
func ozakiNotes(gpu string) []string {
	single := "float32 is one product of matrices rounded to float32. Its products, and those of K slices, are chains of fused multiply-adds over k in order, on the CPU; the paper's are cuBLAS's."
	double := "float64 is gonum's DGEMM, double-float a product in numbers of two float32 words, halfulp.Gemm the correctly rounded product: its error is that of one rounding. Times are of operands in memory, the fastest of some runs for one spread: no method's time depends on the numbers, but for halfulp.Gemm's."
	if gpu != "" {
		single = "float32 and float64 are cuBLAS's SGEMM and DGEMM, and slices are multiplied by its SGEMM, as in the paper; where there is no cuBLAS, by a kernel of this program, and float64 is left out."
		double = "double-float is a product in numbers of two float32 words, halfulp.Gemm the correctly rounded product: its error is that of one rounding. Times are of operands in the GPU's memory, from the call to the end of its work as the host sees it, the fastest of some runs for one spread; stages are measured by the GPU's clock."
	}
	return []string{
		"Figures are of square matrices of random numbers (ru - 0.5) exp(phi rn); the generator is another one than the paper's, so figures of a seed do not correspond.",
		"The largest relative error of all entries is that of an entry near zero. It is a Fréchet variable of index 1: one seed in ten has an error ten times the usual, a mean has no expectation, and the mean of ten seeds varies by a factor of " + short(known(newScatter(OzakiPaperSeeds, 1).spread())) + " either way. Its scale varies little, m times the m-th largest error for some m. The last rows of table 2 have the quotient of the paper's mean and the one to expect from the scale here, its geometric mean over all sizes and spreads that the paper has, and the range of 99 % of such quotients if both are of the same algorithm.",
		single,
		"Literal slices are found as in the paper, (single(A) + σ) - σ in float32 with the remainders in float64: half of their numbers, the positive ones, have one bit less than α, so that a slice adds α bits. The scaled slices that this program takes by default are the nearest integers and add α + 1 bits: the error of K slices is smaller by up to a factor of 2^(K-1).",
		"Relative errors above 1 are no mistake: where rows and columns have large numbers, sums that cancel keep no digit in float32.",
		double,
		"Bounds are those that package ozaki gives for every entry, of the first seed: they hold for any numbers with these norms of rows and columns, and any order of additions. The table has their largest relative to the entry.",
	}
}
