package halfulp

import (
	"fmt"
	"math/big"

	"github.com/halfulp/halfulp/internal/direct"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/superacc"
)

// maxSpan bounds the bits that a statistic may need at once to divide exactly.
const maxSpan = 1 << 26

// moments holds the exact sums that statistics need: n the number of entries, sum of the entries,
// square of their squares, products of the products of neighbours.
type moments struct {
	n                     int64
	sum, square, products *superacc.Acc
}

// A sample is a vector whose statistic the call r computes, on the host or on a device.
type sample struct {
	*run
	x num.Vec
}

// entry returns entry i as a vector on the host.
func (s sample) entry(i int) (num.Vec, error) {
	m, err := place.OnHost(num.Vec{Arr: s.x.Arr, Off: s.x.At(i), Inc: 1, N: 1}.Mat())
	return m.Col(0), err
}

// sums returns the exact sums in list over the vector.
func (s sample) sums(list ...direct.Moment) (sums []*superacc.Acc, err error) {
	if s.at != nil {
		return s.at.Moments(s.Config(), s.x, list...)
	}
	for _, k := range list {
		a, err := k.Exact(s.work(), s.x)
		if err != nil {
			return nil, err
		}
		sums = append(sums, a)
	}
	return sums, nil
}

// moments returns the exact sums in list.
func (s sample) moments(list ...direct.Moment) (m moments, err error) {
	sums, err := s.sums(list...)
	if err != nil {
		return m, err
	}
	m.n = int64(s.x.N)
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
func (m moments) variation() *superacc.Acc {
	d := new(superacc.Acc)
	d.AddScaled(m.square, integer(m.n))
	d.AddMul(true, m.sum, m.sum)
	return d
}

// integer returns n > 0 as an exact number.
func integer(n int64) num.Real {
	return num.Real{Class: num.Finite, Mag: []uint64{uint64(n)}}
}

// statistic returns compute(x), rounded to format f.
func statistic(name string, x *Vector, f Format, opt *Options, compute func(x sample, f Format) (num.Real, error)) (Scalar, error) {
	r, err := begin(name, opt, x.vec().Arr)
	if err != nil {
		return Scalar{}, err
	}
	v, err := compute(sample{r, x.vec()}, f)
	if err != nil {
		return Scalar{}, r.end(err)
	}
	r.exact.Add(1)
	r.stage("sums")
	return r.scalar(f, v), r.end(nil)
}

// Mean returns RN((∑ x_i)/n), the mean of the n entries of x rounded once to format f; NaN for the
// empty vector. See Rounding, Special values, Devices and Errors in the package documentation.
func Mean(x *Vector, f Format, opt *Options) (Scalar, error) {
	return statistic("Mean", x, f, opt, mean)
}

func mean(x sample, f Format) (num.Real, error) {
	m, err := x.moments(direct.First)
	if err != nil || m.n == 0 {
		return num.Real{Class: num.NaN}, err
	}
	v := m.sum.RootValue(f.View())
	if v.Class == num.Finite {
		v = superacc.Quotient(f.View(), v, big.NewInt(m.n))
	}
	return v, nil
}

// StdDev returns the sample standard deviation
//
//	RN(√(∑ (x_i - m)² / (n-1))) = RN(√((n ∑ x_i² - (∑ x_i)²) / (n (n-1)))), m the exact mean,
//
// rounded once to format f. It is NaN for fewer than two entries, or if an entry is infinite or
// NaN. See Rounding, Devices and Errors in the package documentation.
func StdDev(x *Vector, f Format, opt *Options) (Scalar, error) {
	return statistic("StdDev", x, f, opt, stdDev)
}

func stdDev(x sample, f Format) (num.Real, error) {
	m, err := x.moments(direct.First, direct.Second)
	if err != nil || m.n < 2 || !m.sum.Finite() {
		return num.Real{Class: num.NaN}, err
	}
	v := m.variation().RootValue(f.View())
	if v.Class == num.Finite {
		d := big.NewInt(m.n)
		v = superacc.Root(f.View(), v, d.Mul(d, big.NewInt(m.n-1)))
	}
	return v, nil
}

// Autocorr1 returns the lag-1 autocorrelation coefficient as NIST defines it,
//
//	RN(∑_{i<n} (x_i - m)(x_{i+1} - m) / ∑ (x_i - m)²), m the exact mean,
//
// rounded once to format f. It is NaN if the denominator is 0, or if an entry is infinite or NaN.
// The error wraps [ErrMemory] if the exponents of x spread so far that the exact quotient does not
// fit. See Rounding, Devices and Errors in the package documentation.
func Autocorr1(x *Vector, f Format, opt *Options) (Scalar, error) {
	return statistic("Autocorr1", x, f, opt, autocorr1)
}

// autocorr1 multiplies numerator and denominator by n². With the sum S, the sum of squares Q and
// the sum P of products of neighbours, the quotient is (n² P - (n+1) S² + n S (x_1 + x_n)) / (n (n
// Q - S²)).
func autocorr1(x sample, f Format) (num.Real, error) {
	nan := num.Real{Class: num.NaN}
	m, err := x.moments(direct.First, direct.Second, direct.Neighbours)
	if err != nil {
		return nan, err
	}
	if m.n < 2 || !m.sum.Finite() {
		return nan, nil
	}
	ends := new(superacc.Acc)
	for _, i := range []int{0, x.x.N - 1} {
		v, err := x.entry(i)
		if err != nil {
			return nan, err
		}
		ends.AddVec(v)
	}

	n := integer(m.n)
	square, sumEnds := new(superacc.Acc), new(superacc.Acc)
	square.AddMul(false, m.sum, m.sum)
	sumEnds.AddMul(false, m.sum, ends)
	above, below := new(superacc.Acc), new(superacc.Acc)
	squareN := n
	squareN.Mag = num.FromInt(nil, new(big.Int).Mul(big.NewInt(m.n), big.NewInt(m.n)))
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
	return superacc.Quotient(f.View(), a, num.ToInt(b.Mag)), nil
}
