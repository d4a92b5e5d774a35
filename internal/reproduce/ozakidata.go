package reproduce

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/raw"
)

// Sizes and spreads of 002. OzakiSizes are those that take a minute; the paper goes on to 4096.
var (
	OzakiSizes = []int{128, 256, 512, 1024}
	OzakiPhi   = []float64{0.1, 1, 2}
)

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

// paperRatios is table 3 of 002: times by 2 to 6 slices and float64, divided by that of
// float32. Its ratios of errors are those of table 2.
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

// ozakiData are the operands of a product, with the exact result rounded to DD.
type ozakiData struct {
	n, seed int
	phi     float64
	a, b, c *halfulp.Matrix
	exact   *halfulp.Matrix
	gpu     *ozakiResident // nil on the CPU
}

// ozakiData makes the operands of a seed: (ru - 0.5) exp(phi rn), ru uniform in [0, 1), rn normal.
// Each column has a generator of its own.
func (e *experiment) ozakiData(n int, phi float64, seed int) (*ozakiData, error) {
	matrix := func(which uint64) (*halfulp.Matrix, error) {
		m := halfulp.NewMatrix(halfulp.Float64, n, n)
		x, _, _ := m.RawFloat64()
		return m, par.For(e.Context, e.Threads, n, func(_, j int) {
			rng := rand.New(rand.NewPCG(uint64(seed)<<1|which, uint64(n)<<32|uint64(j)))
			for i := range n {
				x[i+j*n] = (rng.Float64() - 0.5) * math.Exp(phi*rng.NormFloat64())
			}
		})
	}
	d := &ozakiData{n: n, seed: seed, phi: phi, c: halfulp.NewMatrix(halfulp.Float64, n, n), exact: halfulp.NewMatrix(halfulp.DD, n, n)}
	var err error
	if d.a, err = matrix(0); err != nil {
		return nil, err
	}
	if d.b, err = matrix(1); err != nil {
		return nil, err
	}
	return d, e.exactProduct(d, d.exact)
}

// exactProduct computes the correctly rounded product.
func (e *experiment) exactProduct(d *ozakiData, z *halfulp.Matrix) error {
	_, err := halfulp.Gemm(halfulp.NoTrans, halfulp.NoTrans, halfulp.Float(1), d.a, d.b, halfulp.Float(0), z,
		&halfulp.Options{Device: e.exactDevice(), Threads: e.Threads, Context: e.Context})
	return err
}

// exactDevice is where exact products are computed: their bits are the same everywhere.
func (e *experiment) exactDevice() string {
	if e.gpu == nil {
		return cpuDevice
	}
	return e.Device
}

// worst returns the largest relative error of an entry of c.
func (e *experiment) worst(d *ozakiData) float64 {
	exact := raw.Matrix(d.exact).Arr.F64
	c, _, _ := d.c.RawFloat64()
	return e.largestOf(d.n, func(i int) float64 {
		high, low := exact[0][i], exact[1][i]
		if diff := math.Abs((c[i] - high) - low); diff != 0 {
			return diff / math.Abs(high)
		}
		return 0
	})
}

// largest returns the largest quotient of a bound and the exact entry.
func (e *experiment) largest(d *ozakiData, bound *halfulp.Matrix) float64 {
	exact := raw.Matrix(d.exact).Arr.F64
	b, _, _ := bound.RawFloat64()
	return e.largestOf(d.n, func(i int) float64 {
		if b[i] != 0 {
			return b[i] / math.Abs(exact[0][i])
		}
		return 0
	})
}

// largestOf returns the largest of the n² numbers f(i), NaN if one is.
func (e *experiment) largestOf(n int, f func(i int) float64) float64 {
	columns := make([]float64, n+1) // at least a 0

	_ = par.For(e.Context, e.Threads, n, func(_, j int) { // a cancelled experiment ends soon
		for i := range n {
			columns[j] = max(columns[j], f(i+j*n))
		}
	})
	return slices.Max(columns)
}
