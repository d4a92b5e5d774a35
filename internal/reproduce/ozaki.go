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
)

const (
	meanError  = "mean of the largest relative errors"
	worstError = "largest relative error"
	worstBound = "largest bound of the relative error"
	meanBound  = "mean of the largest bounds of the relative error"
)

const (
	float32Method     = "float32"
	float64Method     = "float64"
	doubleFloatMethod = "double-float"
	exactGemm         = "halfulp.Gemm"
)

func slicesMethod(k int) string { return fmt.Sprintf("%d slices", k) }

// maxOzakiSlices is the paper's largest number of slices.
const maxOzakiSlices = 6

// ozakiMethod is a way to multiply; paper is its place in table 2, or -1.
type ozakiMethod struct {
	name  string
	style int
	paper int
	// run computes d.c. It fills the bounds of errors where there are any; bound may be nil.
	run func(e *experiment, d *ozakiData, bound *halfulp.Matrix) ([]halfulp.Stage, error)
	// bounded says that it fills them.
	bounded bool
	// fetch copies the result to d.c; nil if it is there.
	fetch func(e *experiment, d *ozakiData) error
}

// ozakiMethods are the methods on the CPU, in the order of the tables.
func ozakiMethods() []ozakiMethod {
	var list []ozakiMethod
	for k := 1; k <= maxOzakiSlices; k++ {
		name := slicesMethod(k)
		if k == 1 {
			name = float32Method
		}
		list = append(list, ozakiMethod{name, k - 1, k - 1, func(e *experiment, d *ozakiData, bound *halfulp.Matrix) ([]halfulp.Stage, error) {
			s, err := ozaki.Gemm(halfulp.NoTrans, halfulp.NoTrans, 1, d.a, d.b, 0, d.c, e.ozakiOptions(k, bound))
			return s.Stages, err
		}, true, nil})
	}
	return append(list,
		ozakiMethod{float64Method, 6, 6, func(e *experiment, d *ozakiData, _ *halfulp.Matrix) ([]halfulp.Stage, error) {
			multiplyFloat64(d)
			return nil, e.Context.Err()
		}, false, nil},
		ozakiMethod{doubleFloatMethod, 7, -1, func(e *experiment, d *ozakiData, bound *halfulp.Matrix) ([]halfulp.Stage, error) {
			s, err := ozaki.GemmDoubleFloat(halfulp.NoTrans, halfulp.NoTrans, 1, d.a, d.b, 0, d.c, e.ozakiOptions(0, bound))
			return s.Stages, err
		}, true, nil},
		ozakiMethod{exactGemm, 8, -1, func(e *experiment, d *ozakiData, _ *halfulp.Matrix) ([]halfulp.Stage, error) {
			return nil, e.exactProduct(d, d.c)
		}, false, nil},
	)
}

func (e *experiment) ozakiOptions(k int, bound *halfulp.Matrix) *ozaki.Options {
	return &ozaki.Options{Slices: k, Bound: bound, Threads: e.Threads, Context: e.Context, MemoryLimit: e.MemoryLimit}
}

// multiplyFloat64 is gonum's DGEMM. Its matrices lie by rows: it multiplies the transposes.
func multiplyFloat64(d *ozakiData) {
	general := func(m *halfulp.Matrix) blas64.General {
		x, ld, _ := m.RawFloat64()
		return blas64.General{Rows: d.n, Cols: d.n, Stride: ld, Data: x}
	}
	blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, general(d.b), general(d.a), 0, general(d.c))
}

// OzakiTime is about how long Ozaki takes for so many seeds and spreads of each size on two
// processors.
func OzakiTime(sizes []int, cases int) time.Duration {
	sum := time.Second
	for _, n := range sizes {
		k := float64(n) / 1024
		sum += 8*time.Second + time.Duration(k*k*k*float64(cases)*6*float64(time.Second))
	}
	return sum
}

// Ozaki runs the experiments of 002: products by float32, 2 to 6 slices and float64, of
// matrices of the given sizes, spreads and numbers of seeds.
func Ozaki(o Options, sizes []int, seeds int, phis []float64) (*Report, error) {
	sizes, phis = sorted(sizes), sorted(phis)
	largest := float64(slices.Max(sizes))
	if err := o.fits(6 * 8 * largest * largest); err != nil {
		return nil, err
	}
	methods := ozakiMethods()
	e, err := o.start(len(sizes)*len(phis)*seeds*(1+len(methods)), 0)
	if err != nil {
		return nil, err
	}
	if e.gpu != nil {
		if methods, err = e.gpuOzakiMethods(); err != nil {
			return nil, err
		}
	}
	r := &Report{
		Name:    "ozaki",
		Source:  "K. Nanai, N. Fujimoto, Evaluation of double-precision matrix multiplication based on the Ozaki scheme with a small constant number of split matrices in single-precision for gaming GPUs, 2021",
		Command: o.Command, Machine: o.Machine, Time: time.Now().UTC().Format(time.RFC3339), GPU: e.gpuTitle(),
	}
	for _, n := range sizes {
		for i, phi := range phis {
			for seed := 1; seed <= seeds; seed++ {
				if err := e.ozakiCase(r, methods, n, phi, seed, i == 0 && seed == 1); err != nil {
					return nil, err
				}
			}
			r.ozakiMeans(methods, n, phi)
		}
	}
	r.ozakiTexts(methods, sizes, phis)
	r.ozakiPlots(methods, sizes, phis)
	r.Notes = ozakiNotes(r.GPU)
	return r, nil
}

// sorted returns the different numbers of a list in order.
func sorted[T int | float64](list []T) []T {
	list = slices.Clone(list)
	slices.Sort(list)
	return slices.Compact(list)
}

// where is the device of records: the GPU if there is one.
func (e *experiment) where() string {
	if e.gpu == nil {
		return cpuDevice
	}
	return e.gpu.title
}

// where is the device of the report's records.
func (r *Report) where() string {
	if r.GPU == "" {
		return cpuDevice
	}
	return r.GPU
}

// place is where in words.
func (r *Report) place() string {
	if r.GPU == "" {
		return "the CPU"
	}
	return r.GPU
}

func phiCase(phi float64) string { return "phi = " + strconv.FormatFloat(phi, 'g', -1, 64) }

// ozakiCase multiplies the matrices of a seed by all methods, and times them if asked to.
func (e *experiment) ozakiCase(r *Report, methods []ozakiMethod, n int, phi float64, seed int, timed bool) error {
	if err := e.next(); err != nil {
		return err
	}
	d, err := e.ozakiData(n, phi, seed)
	if err != nil {
		return err
	}
	if e.gpu != nil {
		defer func() { d.gpu.free() }()
		if err := e.toGPU(d); err != nil {
			return err
		}
	}
	bound := halfulp.NewMatrix(halfulp.Float64, n, n)
	for _, m := range methods {
		if err := e.next(); err != nil {
			return err
		}
		record := func(table, quantity string, x float64) Record {
			return Record{Table: table, Case: phiCase(phi), N: n, Seed: seed, Method: m.name, Device: e.where(), Quantity: quantity, Here: &x}
		}
		if timed {
			if err := e.ozakiTime(r, m, d); err != nil {
				return err
			}
		}
		if _, err := m.run(e, d, bound); err != nil {
			return err
		}
		if m.fetch != nil {
			if err := m.fetch(e, d); err != nil {
				return err
			}
		}
		r.add(record(tableOzakiErrors, worstError, e.worst(d)))
		if m.bounded {
			r.add(record(tableOzakiErrors, worstBound, e.largest(d, bound)))
		}
	}
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
	if m.paper < 1 || m.paper >= maxOzakiSlices {
		return nil
	}
	for _, s := range stages {
		x := 100 * float64(s.Time) / float64(max(total, 1))
		r.add(Record{Table: tableOzakiShares, Case: s.Name, N: d.n, Method: m.name, Device: e.where(), Quantity: share, Unit: "%", Here: &x})
	}
	return nil
}

// ozakiMeans adds the means of a size and spread, and their ratios to those of float32.
func (r *Report) ozakiMeans(methods []ozakiMethod, n int, phi float64) {
	mean := func(method, quantity string) (float64, bool) {
		sum, count := 0.0, 0
		for _, k := range r.find(tableOzakiErrors) {
			if k.N == n && k.Case == phiCase(phi) && k.Method == method && k.Quantity == quantity {
				sum += *k.Here
				count++
			}
		}
		return sum / float64(count), count > 0
	}
	paper, known2 := paperErrors[phi][n]
	ratios := paperRatios[phi][n]
	single, _ := mean(float32Method, worstError)
	for _, m := range methods {
		k := Record{Table: tableOzakiMean, Case: phiCase(phi), N: n, Method: m.name, Device: r.where(), Quantity: meanError}
		x, _ := mean(m.name, worstError)
		k.Here = &x
		known := known2 && m.paper >= 0
		if known {
			k.Paper = &paper[m.paper]
		}
		r.add(k)
		if b, ok := mean(m.name, worstBound); ok {
			k.Quantity, k.Here, k.Paper = meanBound, &b, nil
			r.add(k)
		}
		if m.name == float32Method {
			continue
		}
		k = Record{Table: tableOzakiRatio, Case: phiCase(phi), N: n, Method: m.name, Device: r.where()}
		improved, times := single/x, r.ozakiMs(m.name, n)/r.ozakiMs(float32Method, n)
		k.Quantity, k.Here = "improvement of the error", &improved
		if known {
			p := paper[0] / paper[m.paper]
			k.Paper = &p
		}
		r.add(k)
		k.Quantity, k.Here, k.Paper = ratio, &times, nil
		if known {
			k.Paper = &ratios[m.paper-1]
		}
		r.add(k)
	}
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

// closeness returns the geometric mean of the quotients of errors here and in the paper, and
// how many there are.
func (r *Report) closeness(match func(Record) bool) (mean float64, n int) {
	sum := 0.0
	for _, k := range r.find(tableOzakiMean) {
		if k.Paper != nil && match(k) {
			sum += math.Log(*k.Here / *k.Paper)
			n++
		}
	}
	return math.Exp(sum / float64(max(n, 1))), n
}

// ozakiNotes are the notes of a report of a GPU, "" for the CPU.
func ozakiNotes(gpu string) []string {
	single := "float32 is one product of matrices rounded to float32, after scaling by powers of two. Its products, and those of K slices, are chains of fused multiply-adds over k in order, on the CPU; the paper's are cuBLAS's."
	double := "float64 is gonum's DGEMM, double-float a product in numbers of two float32 words, halfulp.Gemm the correctly rounded product: its error is that of one rounding. Times are of operands in memory, the fastest of some runs for one spread: no method's time depends on the numbers, but for halfulp.Gemm's."
	if gpu != "" {
		single = "float32 and float64 are cuBLAS's SGEMM and DGEMM, and slices are multiplied by its SGEMM, as in the paper; where there is no cuBLAS, by a kernel of this program, and float64 is left out."
		double = "double-float is a product in numbers of two float32 words, halfulp.Gemm the correctly rounded product: its error is that of one rounding. Times are of operands in the GPU's memory, from the call to the end of its work as the host sees it, the fastest of some runs for one spread; stages are measured by the GPU's clock."
	}
	return []string{
		"Figures are of square matrices of random numbers (ru - 0.5) exp(phi rn); the generator is another one than the paper's, so figures of a seed do not correspond. The largest relative error of all entries is that of an entry near zero: it varies much from seed to seed, and so does the mean of a few.",
		single,
		"Slices here have one bit more each than the paper's half of numbers has, for they are found by rounding to integers in place of adding and subtracting σ: so errors of K slices are smaller by up to a factor of 2^(K-1).",
		"Relative errors above 1 are no mistake: where rows and columns have large numbers, sums that cancel keep no digit in float32.",
		double,
		"Bounds are those that ozaki.Gemm gives for every entry: they hold for any numbers with these norms of rows and columns, and any order of additions. The table has their largest relative to the entry.",
	}
}
