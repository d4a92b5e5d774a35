package halfulp

import (
	"fmt"
	"math/big"

	"github.com/halfulp/halfulp/internal/direct"
	"github.com/halfulp/halfulp/internal/gpu"
	"github.com/halfulp/halfulp/internal/num"
)

// maxSpan is the most bits that a statistic may need at once to divide exactly.
const maxSpan = 1 << 26

// moments holds exact sums over a vector.
type moments struct {
	n                     int64
	sum, square, products *direct.Acc
}

// A sample is a vector of the host or of a GPU.
type sample struct {
	n     int
	sums  func(list ...direct.Moment) ([]*direct.Acc, error)
	entry func(i int) (num.Vec, error)
}

// sample returns x, to be summed where r runs.
func (r *run) sample(x num.Vec) sample {
	return sample{x.N, func(list ...direct.Moment) (sums []*direct.Acc, err error) {
		if r.gpu != nil {
			sums, _, err = gpu.Moments(r.gpu, r.config(), x, list...)
			return sums, err
		}
		for _, k := range list {
			a, err := k.Exact(r.work(), x)
			if err != nil {
				return nil, err
			}
			sums = append(sums, a)
		}
		return sums, nil
	}, func(i int) (num.Vec, error) { return num.Vec{Arr: x.Arr, Off: x.At(i), N: 1}, nil }}
}

// moments returns the sums that are listed.
func (x sample) moments(list ...direct.Moment) (m moments, err error) {
	sums, err := x.sums(list...)
	if err != nil {
		return m, err
	}
	m.n = int64(x.n)
	for i, k := range list {
		switch k {
		case direct.First:
			m.sum = sums[i]
		case direct.Second:
			m.square = sums[i]
		case direct.Neighbours:
			m.products = sums[i]
		}
	}
	return m, nil
}

// variation returns n ∑ x_i² - (∑ x_i)² = n ∑ (x_i - mean)².
func (m moments) variation() *direct.Acc {
	d := new(direct.Acc)
	d.AddScaled(m.square, integer(m.n))
	d.AddMul(true, m.sum, m.sum)
	return d
}

// integer returns n > 0.
func integer(n int64) num.Real {
	return num.Real{Class: num.Finite, Mag: []uint64{uint64(n)}}
}

// statistic returns what compute makes of x rounded to format f.
func statistic(name string, x *Vector, f Format, opt *Options, compute func(x sample, f Format) (num.Real, error)) (Scalar, Stats, error) {
	r, err := beginOn(name, opt)
	if err != nil {
		return Scalar{}, Stats{}, err
	}
	v, err := compute(r.sample(x.v), f)
	return r.computed(name, v, f, err)
}

// computed is the end of a statistic.
func (r *run) computed(name string, v num.Real, f Format, err error) (Scalar, Stats, error) {
	if err != nil {
		return Scalar{}, r.end(), fmt.Errorf("%s: %w", name, deviceError(err))
	}
	r.exact.Add(1)
	r.stage("sums")
	return r.scalar(f, v), r.end(), nil
}

// Mean returns RN((∑ x_i)/n), the mean of the n entries of x rounded once to
// format f; NaN for the empty vector. Special values and errors are those of
// Sum.
func Mean(x *Vector, f Format, opt *Options) (Scalar, Stats, error) {
	return statistic("Mean", x, f, opt, mean)
}

func mean(x sample, f Format) (num.Real, error) {
	m, err := x.moments(direct.First)
	if err != nil || m.n == 0 {
		return num.Real{Class: num.NaN}, err
	}
	v := m.sum.RootValue(f.f)
	if v.Class == num.Finite {
		v = direct.Quotient(f.f, v, big.NewInt(m.n))
	}
	return v, nil
}

// StdDev returns the sample standard deviation
//
//	RN(√(∑ (x_i - m)² / (n-1))) = RN(√((n ∑ x_i² - (∑ x_i)²) / (n (n-1)))), m the exact mean,
//
// rounded once to format f; NaN for fewer than two entries or if an entry is
// infinite or NaN. Errors are those of Sum.
func StdDev(x *Vector, f Format, opt *Options) (Scalar, Stats, error) {
	return statistic("StdDev", x, f, opt, stdDev)
}

func stdDev(x sample, f Format) (num.Real, error) {
	m, err := x.moments(direct.First, direct.Second)
	if err != nil || m.n < 2 || !m.sum.Finite() {
		return num.Real{Class: num.NaN}, err
	}
	v := m.variation().RootValue(f.f)
	if v.Class == num.Finite {
		d := big.NewInt(m.n)
		v = direct.Root(f.f, v, d.Mul(d, big.NewInt(m.n-1)))
	}
	return v, nil
}

// Autocorr1 returns the lag-1 autocorrelation coefficient as NIST defines it,
//
//	RN(∑_{i<n} (x_i - m)(x_{i+1} - m) / ∑ (x_i - m)²), m the exact mean,
//
// rounded once to format f; NaN if the denominator is 0 or if an entry is
// infinite or NaN. Errors are those of Sum, and ErrMemory if the exponents of x
// spread so far that the exact quotient does not fit.
func Autocorr1(x *Vector, f Format, opt *Options) (Scalar, Stats, error) {
	return statistic("Autocorr1", x, f, opt, autocorr1)
}

// autocorr1 multiplies numerator and denominator by n²: with S the sum, Q the sum
// of squares and P the sum of products of neighbours, the quotient is
// (n² P - (n+1) S² + n S (x_1 + x_n)) / (n (n Q - S²)).
func autocorr1(x sample, f Format) (num.Real, error) {
	nan := num.Real{Class: num.NaN}
	m, err := x.moments(direct.First, direct.Second, direct.Neighbours)
	if err != nil {
		return nan, err
	}
	if m.n < 2 || !m.sum.Finite() {
		return nan, nil
	}
	ends := new(direct.Acc)
	for _, i := range []int{0, x.n - 1} {
		v, err := x.entry(i)
		if err != nil {
			return nan, err
		}
		ends.AddVec(v)
	}

	n := integer(m.n)
	square, sumEnds := new(direct.Acc), new(direct.Acc)
	square.AddMul(false, m.sum, m.sum)
	sumEnds.AddMul(false, m.sum, ends)
	above, below := new(direct.Acc), new(direct.Acc)
	squareN := n
	squareN.Mag = direct.FromInt(nil, new(big.Int).Mul(big.NewInt(m.n), big.NewInt(m.n)))
	above.AddScaled(m.products, squareN)
	minus := integer(m.n + 1)
	minus.Neg = true
	above.AddScaled(square, minus)
	above.AddScaled(sumEnds, n)
	below.AddScaled(m.variation(), n)
	if max(above.Span(), below.Span()) > maxSpan {
		return nan, fmt.Errorf("%w: exponents spread over more than %d bits", ErrMemory, maxSpan)
	}
	a, b := above.Exact(), below.Exact()
	switch {
	case b.Class == num.Zero:
		return nan, nil
	case a.Class == num.Zero:
		return a, nil
	}
	a.Exp -= b.Exp
	return direct.Quotient(f.f, a, direct.ToInt(b.Mag)), nil
}
