package solve

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/interval"
	"github.com/halfulp/halfulp/internal/proof/ziv"
)

// ExactResidualBits returns a number of bits that holds every entry of b - A t exactly, for columns
// b and t.
func ExactResidualBits(a, t, b num.Mat) int64 {
	m, v, right := a, t, b
	most := int64(0)
	for i := range m.Rows {
		top, low := int64(math.MinInt64), int64(math.MaxInt64)
		if c, t, l := right.Arr.Span(right.At(i, 0)); c == num.Finite {
			top, low = t, l
		}
		for k := range m.Cols {
			c, t, l := m.Arr.Span(m.At(i, k))
			d, u, n := v.Arr.Span(v.At(k, 0))
			if c == num.Finite && d == num.Finite {
				top, low = max(top, t+u), min(low, l+n)
			}
		}
		if top > low {
			most = max(most, top-low)
		}
	}
	return most + int64(bits.Len(uint(m.Cols))) + 1
}

// ExactValues computes the exact values with which the entries of a matrix are compared.
type ExactValues struct {
	// Rounded returns the exact values correctly rounded to format f.
	Rounded func(s *call.Run, on []num.Mat, f num.Format) (num.Mat, error)
	// Less returns the exact values of column j minus the column t. Only the signs of the result
	// must be right.
	Less func(s *call.Run, on []num.Mat, j int, t num.Mat) (num.Mat, error)
}

// Accuracy has the fields of Accuracy in package linsolve.
type Accuracy struct {
	Entries, Correct, Faithful, Wrong int
	Largest                           float64
	Row, Col                          int
}

// Verify compares x with the exact values rounded to the format of x. Where they differ, it
// compares x with the values themselves.
func Verify(s *call.Run, x num.Mat, exact ExactValues, on []num.Mat) (*Accuracy, error) {
	z, err := exact.Rounded(s, on, x.Format())
	if err != nil {
		return nil, err
	}
	v := &Accuracy{Entries: x.Rows * x.Cols}
	var others [][2]int
	for j := range x.Cols {
		for i := range x.Rows {
			if Equal(x.Entry(i, j), z.Entry(i, j)) {
				v.Correct++
			} else {
				others = append(others, [2]int{i, j})
			}
		}
	}
	if len(others) > 0 {
		if err := v.measure(s, x, exact, on, others); err != nil {
			return nil, err
		}
	}
	s.Lost.List = nil // no entry of z is a result
	return v, nil
}

// measure adds the errors of the given entries of x.
//
// It computes them from the exact values rounded to 64 bits more, w. Two questions need the exact
// values themselves: whether a value that rounds to a power of two lies below it, where ulps are
// half as large; and whether an error that is an ulp within the accuracy of w is less than an ulp.
func (v *Accuracy) measure(s *call.Run, x num.Mat, exact ExactValues, on []num.Mat, entries [][2]int) error {
	wide, err := exact.Rounded(s, on, num.Precision(uint(min(x.Format().Bits()+64, bound.MaxBits))))
	if err != nil {
		return err
	}
	errors := make([]*entryError, len(entries))
	for k, at := range entries {
		errors[k] = newEntryError(at, x.Entry(at[0], at[1]), wide.Entry(at[0], at[1]))
	}
	// ask compares exact values with the numbers that number returns (nil: no comparison), and
	// passes the signs of the differences to after.
	ask := func(number func(e *entryError) *big.Float, after func(e *entryError, sign int)) error {
		columns := make([][]*entryError, x.Cols)
		for _, e := range errors {
			if number(e) != nil {
				columns[e.at[1]] = append(columns[e.at[1]], e)
			}
		}
		for j, asked := range columns {
			if len(asked) == 0 {
				continue
			}
			t := make([]*big.Float, x.Rows)
			prec := uint(num.MinPrec)
			for i := range t {
				t[i] = new(big.Float)
			}
			for _, e := range asked {
				t[e.at[0]] = number(e)
				prec = max(prec, t[e.at[0]].MinPrec())
			}
			if prec > num.MaxPrec {
				return fmt.Errorf("%d bits: %w", prec, call.ErrRange)
			}
			d, err := exact.Less(s, on, j, num.Bigs(num.Precision(prec), len(t), 1, t))
			if err != nil {
				return err
			}
			for _, e := range asked {
				after(e, d.Big(e.at[0], 0).Sign())
			}
		}
		return nil
	}
	if err := ask((*entryError).power, (*entryError).side); err != nil {
		return err
	}
	if err := ask((*entryError).limit, (*entryError).reaches); err != nil {
		return err
	}
	for _, e := range errors {
		size := e.ulps()
		if size < 1 {
			v.Faithful++
		} else {
			v.Wrong++
		}
		if size > v.Largest {
			v.Largest, v.Row, v.Col = size, e.at[0], e.at[1]
		}
	}
	return nil
}

// Equal reports whether x and y are the same number, or both NaN.
func Equal(x, y num.Scalar) bool {
	if x.IsNaN() || y.IsNaN() {
		return x.IsNaN() && y.IsNaN()
	}
	return x.Big().Cmp(y.Big()) == 0
}

// entryError is the error of a number x of some format: its distance from an exact value. w is that
// value rounded to the nearest number of more bits.
type entryError struct {
	at       [2]int // row and column
	infinite bool   // the other fields are not set
	x, w     *big.Float
	bits     int        // of the format of w
	least    int        // an ulp is at least 2^least
	ulp      int        // the ulp of the value is 2^ulp, unless w is a power of two
	d        *big.Float // w - x
	// 1 and -1: the error is known to be an ulp or more, or less
	verdict int
}

func newEntryError(at [2]int, x, w num.Scalar) *entryError {
	e := &entryError{at: at, bits: w.Format().Bits(), least: math.MinInt}
	f := x.Format()
	switch {
	case f == num.Float32:
		e.least = -149
	case !f.IsMP():
		e.least = -1074
	}
	// MP has no smallest number.
	if x.IsNaN() || x.IsInf(0) || w.IsNaN() || w.IsInf(0) || ziv.IsZero(w) && f.IsMP() {
		e.infinite = true
		return e
	}
	e.x, e.w = x.Big(), w.Big()
	e.ulp = e.least
	if e.w.Sign() != 0 {
		e.ulp = max(e.least, e.w.MantExp(nil)-f.Bits())
	}
	// Exact, unless x and w are so far apart that rounding does not matter.
	prec := interval.ExactPrec(e.x, e.w)
	if most := uint(4*e.bits + 1<<13); prec > most {
		prec = most
	}
	e.d = new(big.Float).SetPrec(prec).Sub(e.w, e.x)
	return e
}

// power returns w if it is a power of two, below which ulps are smaller; else nil.
func (e *entryError) power() *big.Float {
	if e.infinite || e.w.MinPrec() != 1 || e.ulp == e.least {
		return nil
	}
	return e.w
}

// side halves the ulp if sign, the sign of the exact value minus w, says that the value lies below
// w in magnitude.
func (e *entryError) side(sign int) {
	if sign == -e.w.Sign() {
		e.ulp--
	}
}

// limit returns the number an ulp away from x on the side of the exact value. It returns nil if w
// already shows whether the error is below an ulp.
func (e *entryError) limit() *big.Float {
	if e.infinite || e.d.Sign() == 0 { // the error of x is below the error of w
		return nil
	}
	ulp := new(big.Float).SetMantExp(big.NewFloat(float64(e.d.Sign())), e.ulp)
	off := new(big.Float).SetPrec(64).Sub(ulp, e.d)
	if off.Sign() != 0 && (e.w.Sign() == 0 || off.MantExp(nil) > e.w.MantExp(nil)-e.bits+1) {
		return nil
	}
	return interval.ExactAdd(e.x, ulp)
}

// reaches sets the verdict from the sign of the exact value minus the limit.
func (e *entryError) reaches(sign int) {
	e.verdict = 1
	if sign == -e.d.Sign() {
		e.verdict = -1
	}
}

// ulps returns the error in ulps. The result is at least 1 if and only if the error is at least an
// ulp.
func (e *entryError) ulps() float64 {
	if e.infinite {
		return math.Inf(1)
	}
	d := new(big.Float).Abs(e.d)
	size := min(call.Measure(d.SetMantExp(d, -e.ulp)), math.MaxFloat64)
	switch less := math.Nextafter(1, 0); {
	case e.verdict > 0:
		return max(size, 1)
	case e.verdict < 0 || d.Cmp(big.NewFloat(1)) < 0:
		return min(size, less)
	}
	return size
}
