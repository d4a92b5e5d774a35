package linsolve

import (
	"fmt"
	"math"
	"math/big"

	"github.com/halfulp/halfulp"
)

// Accuracy says how near numbers in some format are to exact values. An ulp is 2^(e-p) for an exact
// value of magnitude 2^(e-1) up to 2^e, p the bits of the format, and not less than its smallest
// number.
type Accuracy struct {
	Entries  int `json:"entries"`
	Correct  int `json:"correctly_rounded"`
	Faithful int `json:"faithful"` // of the others, those less than an ulp away
	Wrong    int `json:"wrong"`
	// 0 if all are correctly rounded; +Inf for NaN and wrong infinities; math.MaxFloat64 for all
	// finite errors beyond it
	Largest float64 `json:"largest_error_ulps"`
	Row     int     `json:"row"` // where that is, counted from 0
	Col     int     `json:"col"`
}

// VerifySolution compares X with the solution of A X = B, in the format of X. Nothing is assumed of
// where X comes from. Errors are those of Solve.
func VerifySolution(a, b, x *halfulp.Matrix, opt *halfulp.Options) (Accuracy, Stats, error) {
	if a.Rows() != a.Cols() || b.Rows() != a.Rows() || x.Rows() != b.Rows() || x.Cols() != b.Cols() {
		panic(errShape)
	}
	var known system
	return verify("VerifySolution", x, opt, func(s *solver, on []*halfulp.Matrix, f halfulp.Format) (*halfulp.Matrix, error) {
		known.a = on[0]
		return s.solveAgain(&known, on[1], f)
	}, a, b)
}

// VerifyProduct compares C with the product A B, in the format of C.
func VerifyProduct(a, b, c *halfulp.Matrix, opt *halfulp.Options) (Accuracy, Stats, error) {
	if a.Cols() != b.Rows() || c.Rows() != a.Rows() || c.Cols() != b.Cols() {
		panic(errShape)
	}
	return verify("VerifyProduct", c, opt, func(s *solver, on []*halfulp.Matrix, f halfulp.Format) (*halfulp.Matrix, error) {
		s.vanish = true
		z := halfulp.NewMatrix(f, c.Rows(), c.Cols())
		return z, s.gemm(1, on[0], on[1], 0, nil, z)
	}, a, b)
}

// verify compares x with what compute returns in the format of x, and where they differ with that
// in a wider one.
func verify(name string, x *halfulp.Matrix, opt *halfulp.Options,
	compute func(s *solver, on []*halfulp.Matrix, f halfulp.Format) (*halfulp.Matrix, error), operands ...*halfulp.Matrix) (Accuracy, Stats, error) {
	s, on, err := begin(name, opt, append(operands, x)...)
	if err != nil {
		return Accuracy{}, Stats{}, err
	}
	x = on[len(operands)]
	z, err := compute(s, on[:len(operands)], x.Format())
	if err != nil {
		return Accuracy{}, s.stats, fmt.Errorf("%s: %w", name, err)
	}
	v := Accuracy{Entries: x.Rows() * x.Cols()}
	var others [][2]int
	for j := range x.Cols() {
		for i := range x.Rows() {
			if equal(x.At(i, j), z.At(i, j)) {
				v.Correct++
			} else {
				others = append(others, [2]int{i, j})
			}
		}
	}
	if len(others) > 0 {
		wide, err := compute(s, on[:len(operands)], halfulp.MP(uint(min(x.Format().Bits()+64, maxBits))))
		if err != nil {
			return Accuracy{}, s.stats, fmt.Errorf("%s: %w", name, err)
		}
		v.measure(x, wide, others)
	}
	s.lost.list = nil // no entry is a result
	s.finished()
	return v, s.stats, nil
}

// measure adds the errors of some entries of x, by values with some more bits.
func (v *Accuracy) measure(x, wide *halfulp.Matrix, entries [][2]int) {
	for _, at := range entries {
		i, j := at[0], at[1]
		e := ulps(x.At(i, j), wide.At(i, j))
		if e < 1 {
			v.Faithful++
		} else {
			v.Wrong++
		}
		if e > v.Largest {
			v.Largest, v.Row, v.Col = e, i, j
		}
	}
}

// equal reports whether x and y are one number, or both NaN.
func equal(x, y halfulp.Scalar) bool {
	if x.IsNaN() || y.IsNaN() {
		return x.IsNaN() && y.IsNaN()
	}
	return x.Big().Cmp(y.Big()) == 0
}

// ulps returns the distance of x from an exact value in ulps of the format of x.
func ulps(x, exact halfulp.Scalar) float64 {
	if x.IsNaN() || x.IsInf(0) || exact.IsNaN() || exact.IsInf(0) {
		return math.Inf(1)
	}
	f, w := x.Format(), exact.Big()
	least := math.MinInt
	switch {
	case f == halfulp.Float32:
		least = -149
	case !f.IsMP():
		least = -1074
	}
	ulp := least
	if w.Sign() != 0 {
		ulp = max(least, w.MantExp(nil)-f.Bits())
	} else if f.IsMP() {
		return math.Inf(1) // there is no smallest number
	}
	d := x.Big()
	d = new(big.Float).SetPrec(64).Sub(d, w) // exact if x is near
	d.Abs(d).SetMantExp(d, -ulp)
	e, _ := d.Float64()
	return min(e, math.MaxFloat64)
}
