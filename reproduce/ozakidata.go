package reproduce

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/par"
)

// Sizes, seeds and spreads of 002. OzakiSizes are the sizes that take a minute.
var (
	OzakiSizes      = []int{128, 256, 512, 1024}
	OzakiPaperSizes = []int{128, 256, 512, 1024, 2048, 4096}
	OzakiPhi        = []float64{0.1, 1, 2}
)

// OzakiPaperSeeds is the paper's number of seeds.
const OzakiPaperSeeds = 10

// paperErrors is table 2 of 002: the mean of the largest relative errors by float32, 2 to 6
// slices, and float64.
var paperErrors = map[float64]map[int][7]float64{
	0.1: {
		1024: {2.95, 1.05e-2, 4.93e-4, 3.97e-6, 3.50e-8, 3.57e-10, 6.92e-9},
		2048: {1.74e1, 2.45e-1, 8.26e-3, 2.29e-4, 4.55e-6, 7.54e-8, 9.40e-9},
		4096: {2.18e1, 2.92, 4.81e-2, 6.48e-4, 8.64e-6, 2.71e-7, 4.88e-8},
	},
	1: {
		1024: {1.69, 1.33e-1, 4.34e-3, 9.09e-5, 4.18e-7, 7.87e-9, 3.42e-9},
		2048: {3.26, 6.63e-1, 7.01e-2, 2.85e-3, 5.53e-5, 6.37e-7, 1.16e-8},
		4096: {1.14e1, 1.83, 6.02e-1, 7.69e-3, 1.87e-4, 4.54e-6, 2.16e-8},
	},
	2: {
		1024: {1.72e-1, 3.45e-2, 4.68e-3, 1.08e-4, 2.38e-6, 3.65e-8, 5.69e-10},
		2048: {1.75, 8.40e-1, 1.09e-1, 1.77e-2, 2.12e-4, 4.10e-6, 9.80e-9},
		4096: {2.12e1, 1.68e1, 3.24, 6.86e-2, 4.99e-3, 5.05e-5, 1.69e-8},
	},
}

// paperRatios is table 3 of 002: times of 2 to 6 slices and float64, divided by the time of
// float32.
var paperRatios = map[float64]map[int][6]float64{
	0.1: {
		1024: {4.74, 9.29, 14.6, 20.7, 27.5, 21.8},
		2048: {4.69, 9.31, 14.8, 21.2, 27.4, 28.6},
		4096: {4.05, 8.31, 13.6, 20.0, 27.8, 33.0},
	},
	1: {
		1024: {4.71, 9.21, 14.5, 20.5, 27.3, 21.7},
		2048: {4.64, 9.22, 14.7, 20.9, 27.7, 28.5},
		4096: {4.05, 8.32, 13.6, 20.0, 27.7, 31.8},
	},
	2: {
		1024: {4.77, 9.37, 14.8, 20.9, 27.8, 22.1},
		2048: {4.66, 9.27, 14.7, 20.9, 27.8, 28.7},
		4096: {4.05, 8.26, 13.5, 19.9, 28.1, 33.1},
	},
}

// paperSpeedUps are the speed-ups over float64 of 2 to 6 slices in section 5.2.1. The speed-up of 6
// slices of 2048 is about 1, and at 1024 they are slower.
var paperSpeedUps = map[int][5]float64{
	1024: {4.66, 2.36, 1.50, 1.06},
	2048: {6.15, 3.09, 1.93, 1.34},
	4096: {8.44, 4.14, 2.50, 1.71, 1.14},
}

// paperSlowerUpTo are the sizes above which 2 to 6 slices are faster than float64, from the same
// section.
var paperSlowerUpTo = [5]int{128, 512, 512, 1024, 2048}

// paperTimeSizes are the sizes of figures 7 and 26 to 30.
var paperTimeSizes = []int{128, 256, 512, 1024, 2048, 4096}

// paperDigits are the decimal digits that 2 to 6 slices gain over float32, from and to, in section
// 5.2.3 for phi = 0.1.
var paperDigits = [5][2]float64{{0, 2}, {2, 3}, {4, 5}, {6, 7}, {7, 9}}

const paperDigitsPhi = 0.1

// paperImprovements is table 3 of 002: the error of float32, divided by the errors of 2 to 6 slices
// and of float64.
var paperImprovements = map[float64]map[int][6]float64{
	0.1: {
		1024: {2.81e2, 5.97e3, 7.43e5, 8.41e7, 8.25e9, 4.26e8},
		2048: {7.09e1, 2.10e3, 7.60e4, 3.82e6, 2.31e8, 1.85e9},
		4096: {7.45, 4.52e2, 3.36e4, 2.52e6, 8.03e7, 4.46e8},
	},
	1: {
		1024: {1.27e1, 3.89e2, 1.86e4, 4.04e6, 2.15e8, 4.94e8},
		2048: {4.91, 4.65e1, 1.14e3, 5.89e4, 5.11e6, 2.82e8},
		4096: {6.24, 1.89e1, 1.48e3, 6.10e4, 2.51e6, 5.27e8},
	},
	2: {
		1024: {4.98, 3.66e1, 1.59e3, 7.22e4, 4.70e6, 3.02e8},
		2048: {2.09, 1.61e1, 9.89e1, 8.27e3, 4.28e5, 1.79e8},
		4096: {1.26, 6.55, 3.10e2, 4.26e3, 4.20e5, 1.25e9},
	},
}

// ozakiData are the operands of a product, with the exact result rounded to DD.
type ozakiData struct {
	n, seed        int
	phi            float64
	a, b, c, bound *halfulp.Matrix
	exact          *halfulp.Matrix
	gpu            *ozakiResident // nil on the CPU
}

// newOzakiData returns the memory for products of that size. The caller frees its GPU memory.
func (e *experiment) newOzakiData(n int) (*ozakiData, error) {
	d := &ozakiData{n: n, exact: halfulp.NewMatrix(halfulp.DD, n, n)}
	for _, m := range []**halfulp.Matrix{&d.a, &d.b, &d.c, &d.bound} {
		*m = halfulp.NewMatrix(halfulp.Float64, n, n)
	}
	if e.gpu == nil {
		return d, nil
	}
	var err error
	d.gpu, err = e.newOzakiResident(n)
	return d, err
}

// fill makes the operands of a seed: (ru - 0.5) exp(phi rn), ru uniform in [0, 1), rn normal.
// Each column has a generator of its own.
func (e *experiment) fill(d *ozakiData, phi float64, seed int) error {
	d.phi, d.seed = phi, seed
	for which, m := range []*halfulp.Matrix{d.a, d.b} {
		x, _, _ := m.RawFloat64()
		if err := par.For(e.Context, e.Threads, d.n, func(_, j int) {
			rng := rand.New(rand.NewPCG(uint64(seed)<<1|uint64(which), uint64(d.n)<<32|uint64(j)))
			for i := range d.n {
				x[i+j*d.n] = (float64(rng.Float64()) - 0.5) * math.Exp(phi*rng.NormFloat64())
			}
		}); err != nil {
			return err
		}
	}
	return e.upload(d)
}

// reference computes the exact product of d's operands, rounded to DD.
func (e *experiment) reference(d *ozakiData) error {
	if d.gpu == nil {
		return e.exactProduct(d.a, d.b, d.exact)
	}
	if err := e.exactProduct(d.gpu.a, d.gpu.b, d.gpu.exact); err != nil {
		return err
	}
	return e.download(d.exact, d.gpu.exact)
}

// exactProduct computes the correctly rounded product, where its operands live.
func (e *experiment) exactProduct(a, b, z *halfulp.Matrix) error {
	err := halfulp.Gemm(halfulp.NoTrans, halfulp.NoTrans, halfulp.Float(1), a, b, halfulp.Float(0), z,
		&halfulp.Options{Device: halfulp.CPU, Threads: e.Threads, Context: e.Context})
	return err
}

// firstSlice returns the paper's first slice of a square matrix, of its columns if columns is true,
// else of its rows: (single(x) + σ) - σ, σ = 2^(⌈log2 max |x|⌉ + β), β = ⌈(24 + log2 n)/2⌉.
func (e *experiment) firstSlice(m *halfulp.Matrix, columns bool) (*halfulp.Matrix, error) {
	n := m.Rows()
	first := halfulp.NewMatrix(halfulp.Float64, n, n)
	x, _, _ := m.RawFloat64()
	y, _, _ := first.RawFloat64()
	beta := int(math.Ceil((24 + math.Log2(float64(n))) / 2))
	return first, par.For(e.Context, e.Threads, n, func(_, v int) {
		from, step := v, n
		if columns {
			from, step = v*n, 1
		}
		most := 0.0
		for h := range n {
			most = max(most, math.Abs(x[from+h*step]))
		}
		fraction, exponent := math.Frexp(most)
		if fraction == 0.5 {
			exponent--
		}
		sigma := float32(math.Ldexp(1, exponent+beta))
		for h := range n {
			at := from + h*step
			y[at] = float64(float32(float32(x[at])+sigma) - sigma)
		}
	})
}

// worst returns the largest relative error of an entry of c, and the scale of such errors: m times
// the m-th largest of the columns' largest errors, m = n/32. Few seeds are enough for the scale.
func (e *experiment) worst(d *ozakiData) (worst, scale float64) {
	exact := d.exact.View().Arr.F64
	c, _, _ := d.c.RawFloat64()
	columns := e.largestOf(d.n, func(i int) float64 {
		high, low := exact[0][i], exact[1][i]
		if diff := math.Abs((c[i] - high) - low); diff != 0 {
			return diff / math.Abs(high)
		}
		return 0
	})
	m := max(d.n/32, 1)
	return columns[d.n-1], float64(m) * columns[d.n-m]
}

// largest returns the largest quotient of a bound and the exact entry.
func (e *experiment) largest(d *ozakiData, bound *halfulp.Matrix) float64 {
	exact := d.exact.View().Arr.F64
	b, _, _ := bound.RawFloat64()
	return e.largestOf(d.n, func(i int) float64 {
		if b[i] != 0 {
			return b[i] / math.Abs(exact[0][i])
		}
		return 0
	})[d.n-1]
}

// largestOf returns the largest of the numbers f(i) of each column, in order. A NaN makes its
// column infinite.
func (e *experiment) largestOf(n int, f func(i int) float64) []float64 {
	columns := make([]float64, n)
	_ = par.For(e.Context, e.Threads, n, func(_, j int) { // a cancelled experiment ends soon
		for i := range n {
			if x := f(i + j*n); x > columns[j] {
				columns[j] = x
			} else if x != x {
				columns[j] = math.Inf(1)
			}
		}
	})
	slices.Sort(columns)
	return columns
}
