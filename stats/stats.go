// Package stats computes statistics of vectors, each rounded once from the exact value.
//
//	mean, err := stats.Mean(x, halfulp.Float64, nil)
//	deviation, err := stats.StdDev(x, halfulp.MP(200), nil)
//
// Rounding, Special values, Devices, Errors and Statistics are as in the documentation of package
// halfulp: a statistic of a vector that lives on a device is computed there.
package stats

import (
	"fmt"
	"math/big"
	"sync"
	"time"

	"github.com/halfulp/halfulp"
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

// A sample is a vector whose statistic a call computes, on the host or on a device.
type sample struct {
	place.Settings
	at place.Place // nil for the host
	x  num.Vec
}

// begin checks the options of routine name, and determines where it runs: on the device where x
// lives, or for a vector of the host where the options say.
func begin(name string, x num.Vec, opt *halfulp.Options) (s sample, err error) {
	s.x = x
	if s.at, err = place.Common(name, x.Arr); err != nil {
		return s, err
	}
	if s.Settings, err = opt.Settings(); err == nil {
		err = s.Unchecked(name)
	}
	if err == nil && s.Method == string(halfulp.Residue) {
		err = fmt.Errorf("method %q: %w: this routine has the method direct only (want auto or direct)", s.Method, halfulp.ErrMethod)
	}
	if err == nil && s.at == nil && s.Device.IsPlace() {
		var p place.Place
		if p, err = s.Device.Open(); err == nil {
			s.at = p.First()
		}
	}
	if err == nil {
		err = place.Ended(s.Ctx, s.at)
	}
	if err != nil {
		return s, fmt.Errorf("%s: %w", name, err)
	}
	return s, nil
}

// work returns the settings of the loops on the host, for a number of sums over the vector.
func (s sample) work(sums int) func() direct.Work {
	var mu sync.Mutex
	done := 0.0
	return func() direct.Work {
		w := direct.Work{Run: s.Run}
		if s.Progress != nil {
			w.Done = func(part, of int) {
				mu.Lock()
				defer mu.Unlock()
				done += float64(part) / float64(of) / float64(sums)
				s.Progress(min(1, done))
			}
		}
		return w
	}
}

// entry returns entry i as a vector on the host.
func (s sample) entry(i int) (num.Vec, error) {
	m, err := place.OnHost(num.Vec{Arr: s.x.Arr, Off: s.x.At(i), Inc: 1, N: 1}.Mat())
	return m.Col(0), err
}

// sums returns the exact sums in list over the vector.
func (s sample) sums(list ...direct.Moment) (sums []*superacc.Acc, err error) {
	if s.at != nil {
		sums, err = s.at.Moments(s.Config(), s.x, list...)
		if err == nil && s.Progress != nil {
			s.Progress(1)
		}
		return sums, err
	}
	work := s.work(len(list))
	for _, k := range list {
		a, err := k.Exact(work(), s.x)
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

// statistic returns compute(x), rounded to format f, and reports how it ran.
func statistic(name string, x *halfulp.Vector, f halfulp.Format, opt *halfulp.Options, compute func(x sample, f num.Format) (num.Real, error)) (halfulp.Scalar, error) {
	start := time.Now()
	s, err := begin(name, x.View(), opt)
	if err != nil {
		return halfulp.Scalar{}, err
	}
	v, err := compute(s, f.View())
	st := halfulp.Stats{Device: place.Label(s.at), Method: halfulp.Direct, Threads: s.Threads}
	var z halfulp.Scalar
	if err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	} else {
		a := num.New(f.View(), 1)
		flags := a.Set(0, v)
		z = halfulp.ScalarOf(num.ScalarOf(a))
		st.Exact, st.Overflow, st.Underflow = 1, count(flags&num.Overflow), count(flags&num.Underflow)
		st.Stages = []halfulp.Stage{{Name: "sums", Time: time.Since(start)}}
	}
	if opt != nil && opt.Stats != nil {
		*opt.Stats = st
	}
	return z, err
}

// count returns 1 for a flag that is set, otherwise 0.
func count(f num.Flags) int64 {
	if f != 0 {
		return 1
	}
	return 0
}

// Mean returns RN((∑ x_i)/n), the mean of the n entries of x rounded once to format f; NaN for the
// empty vector. See Rounding, Special values, Devices and Errors in the documentation
// of package halfulp.
func Mean(x *halfulp.Vector, f halfulp.Format, opt *halfulp.Options) (halfulp.Scalar, error) {
	return statistic("Mean", x, f, opt, mean)
}

func mean(x sample, f num.Format) (num.Real, error) {
	m, err := x.moments(direct.First)
	if err != nil || m.n == 0 {
		return num.Real{Class: num.NaN}, err
	}
	v := m.sum.RootValue(f)
	if v.Class == num.Finite {
		v = superacc.Quotient(f, v, big.NewInt(m.n))
	}
	return v, nil
}

// StdDev returns the sample standard deviation
//
//	RN(√(∑ (x_i - m)² / (n-1))) = RN(√((n ∑ x_i² - (∑ x_i)²) / (n (n-1)))), m the exact mean,
//
// rounded once to format f. It is NaN for fewer than two entries, or if an entry is infinite or
// NaN. See Rounding, Devices and Errors in the documentation
// of package halfulp.
func StdDev(x *halfulp.Vector, f halfulp.Format, opt *halfulp.Options) (halfulp.Scalar, error) {
	return statistic("StdDev", x, f, opt, stdDev)
}

func stdDev(x sample, f num.Format) (num.Real, error) {
	m, err := x.moments(direct.First, direct.Second)
	if err != nil || m.n < 2 || !m.sum.Finite() {
		return num.Real{Class: num.NaN}, err
	}
	v := m.variation().RootValue(f)
	if v.Class == num.Finite {
		d := big.NewInt(m.n)
		v = superacc.Root(f, v, d.Mul(d, big.NewInt(m.n-1)))
	}
	return v, nil
}

// Autocorr1 returns the lag-1 autocorrelation coefficient as NIST defines it,
//
//	RN(∑_{i<n} (x_i - m)(x_{i+1} - m) / ∑ (x_i - m)²), m the exact mean,
//
// rounded once to format f. It is NaN if the denominator is 0, or if an entry is infinite or NaN.
// The error wraps [halfulp.ErrMemory] if the exponents of x spread so far that the exact quotient
// does not fit. See Rounding, Devices and Errors in the documentation of package halfulp.
func Autocorr1(x *halfulp.Vector, f halfulp.Format, opt *halfulp.Options) (halfulp.Scalar, error) {
	return statistic("Autocorr1", x, f, opt, autocorr1)
}

// autocorr1 multiplies numerator and denominator by n². With the sum S, the sum of squares Q and
// the sum P of products of neighbours, the quotient is (n² P - (n+1) S² + n S (x_1 + x_n)) / (n (n
// Q - S²)).
func autocorr1(x sample, f num.Format) (num.Real, error) {
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
		return nan, fmt.Errorf("%w: exponents spread over more than %d bits", halfulp.ErrMemory, maxSpan)
	}
	a, b := above.Exact(), below.Exact()
	switch {
	case b.Class == num.Zero:
		return nan, nil
	case a.Class == num.Zero:
		return a, nil
	}
	a.Exp -= b.Exp
	return superacc.Quotient(f, a, num.ToInt(b.Mag)), nil
}
