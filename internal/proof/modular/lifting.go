package modular

import (
	"math/big"
	"math/bits"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/fixed"
	"github.com/halfulp/halfulp/internal/proof/scale"
	"github.com/halfulp/halfulp/internal/superacc"
)

// Lifting computes columns of the solution X of A X = B in the p-adic integers, digit after digit
// (Dixon, Exact solution of linear equations using p-adic expansions, 1982). A has n columns and at
// least n rows. With C the inverse modulo p of the first n rows of A, and r the remainder of a
// column of B, a step is
//
//	d = C r mod p,  r <- (r - A d) / p.
//
// A digit costs two products of a matrix and a vector of words. The first n rows determine the
// solution. Another row has room for the digits that solve it too: until the first digit that does
// not, its quotients are integers. It has room for all digits if it is a combination of the first
// rows, B included.
type Lifting struct {
	s       *call.Run
	F       *Field
	a       num.Mat
	Z       Integers
	Inverse [][]uint64    // inverse modulo p of the integers of the first n rows; elements
	Fixed   *fixed.Matrix // the integers of row i times 2^-bits[i]; nil beyond mostLiftingPlanes
	R       [][][]uint64  // remainders of the columns of B, in two's complement
}

// mostLiftingPlanes bounds the memory for the integers of A in words. If the exponents of A are far
// apart, most of these words are zeros.
const mostLiftingPlanes = 8

// NewLifting prepares a lifting for A, whose integers are given by z. It returns nil if the first
// a.Cols rows of A are singular modulo the field's prime.
func NewLifting(s *call.Run, a num.Mat, z Integers, f *Field) (*Lifting, error) {
	n := a.Cols
	rows, err := f.Matrix(s.Ctx, s.Threads, a.Slice(0, n, 0, n))
	if err != nil {
		return nil, err
	}
	cols := make([]uint64, n)
	for j := range cols {
		cols[j] = f.Power2(-z.Cols[j])
	}
	for i, row := range rows {
		left := f.Power2(-z.Rows[i])
		for j, x := range row {
			row[j] = f.Mul(x, f.Mul(left, cols[j]))
		}
	}
	if ok, err := f.InvertMatrix(s.Ctx, s.Threads, rows); !ok || err != nil {
		return nil, err
	}
	return LiftingBy(s, a, z, f, rows)
}

// LiftingBy is NewLifting with a known inverse, which may be modulo a power of a prime.
func LiftingBy(s *call.Run, a num.Mat, z Integers, f *Field, inverse [][]uint64) (l *Lifting, err error) {
	l = &Lifting{s: s, F: f, a: a, Z: z, Inverse: inverse}
	if err := call.Workable(z.MostBits()+128, a); err != nil {
		return nil, err
	}
	if planes := z.planes(); planes <= mostLiftingPlanes || z.Dense {
		by := scale.Scaling{Rows: make([]int64, a.Rows), Cols: bound.Negated(z.Cols)}
		for i, b := range z.Bits {
			by.Rows[i] = -z.Rows[i] - int64(b)
		}
		l.Fixed, err = fixed.New(&s.Call, a, by, planes)
	}
	return l, err
}

// MostBits returns the bits of the largest integer.
func (z Integers) MostBits() (most int) {
	for _, b := range z.Bits {
		most = max(most, b)
	}
	return most
}

// Words64 returns the integers if they all have 63 bits at most, else nil.
func (z Integers) Words64(a num.Mat) [][]int64 {
	if z.MostBits() > 63 {
		return nil
	}
	x := make([][]int64, a.Rows)
	for i := range x {
		x[i] = make([]int64, a.Cols)
		for j := range x[i] {
			v := a.Big(i, j)
			x[i][j], _ = v.SetMantExp(v, int(-z.Rows[i]-z.Cols[j])).Int64()
		}
	}
	return x
}

// planes returns how many planes a fixed.Matrix needs for the integers: the last bit of row i is
// 2^-bits[i], and the last bit of the last plane is 2^(1 - 64 planes).
func (z Integers) planes() int { return z.MostBits()/64 + 1 }

// NewLiftingOf returns a lifting for a regular matrix. It returns the run's last lifting if that is
// for the same matrix. The error is a call.Contradiction if the matrix is singular modulo more
// primes than Hadamard's bound permits.
func NewLiftingOf(s *call.Run, a num.Mat) (l *Lifting, err error) {
	if l, ok := s.Lifting.(*Lifting); ok && l.a == a {
		return l, nil
	}
	z := ToIntegers(a)
	for next, tried := Primes(), 0; l == nil; tried += 60 {
		if tried > z.MinorBits() { // each prime divides the determinant, which is not 0
			return nil, call.Contradiction("a regular matrix is singular modulo primes beyond Hadamard's bound")
		}
		if l, err = NewLifting(s, a, z, New(next())); err != nil {
			return nil, err
		}
		s.Stats.Primes++
	}
	s.Lifting = l
	return l, nil
}

// Add adds a column of integers to B.
func (l *Lifting) Add(b []*big.Int) {
	// Digits are at most p/2 in magnitude. So |r| ≤ |b| / p + n 2^bits after each step, and A d is
	// less than p times this bound.
	r := make([][]uint64, len(b))
	for i, x := range b {
		most := max(x.BitLen(), l.Z.Bits[i]+64+bits.Len(uint(l.a.Cols)))
		r[i] = make([]uint64, most/64+2)
		fixed.Magnitude(r[i], num.FromInt(nil, x), 0)
		if x.Sign() < 0 {
			num.Negate(r[i])
		}
	}
	l.R = append(l.R, r)
}

// Right returns the argument r of Add for column j of B: integers of at most top bits. The solution
// of A y = r, for the integers of A, is y_i = 2^(shift + cols_i) x_i.
func (l *Lifting) Right(b num.Mat, j int) (r []*big.Int, shift int64, top int) {
	for i, row := range l.Z.Rows {
		if c, _, low := b.Arr.Span(b.At(i, j)); c == num.Finite {
			shift = max(shift, row-low)
		}
	}
	r = make([]*big.Int, b.Rows)
	for i := range r {
		v := b.Big(i, j)
		r[i], _ = v.SetMantExp(v, int(shift-l.Z.Rows[i])).Int(nil)
		top = max(top, r[i].BitLen())
	}
	return r, shift, top
}

// Done reports whether all remainders are 0.
func (l *Lifting) Done() bool {
	for _, column := range l.R {
		for _, r := range column {
			for _, w := range r {
				if w != 0 {
					return false
				}
			}
		}
	}
	return true
}

// DigitCost is the cost of one digit of one column, for an m x n matrix A.
func (z Integers) DigitCost(m, n int) float64 {
	planes, rows := z.planes(), 0
	if planes > mostLiftingPlanes && !z.Dense { // by products: about this cost, plus long numbers
		planes, rows = mostLiftingPlanes, m*(1000+4*z.MostBits())
	}
	// may fuse: an estimate
	return float64(n)*call.WordCost*float64(n+m*planes) + float64(rows)
}

// Digits returns the next digit of each component, between -p/2 and p/2, column by column, and
// updates the remainders. Components that are small integers of either sign have zero digits after
// the first. fits reports whether the rows beyond the first n have room for these digits.
func (l *Lifting) Digits() (digits [][]int64, fits bool, err error) {
	f, n := l.F, l.a.Cols
	left := make([]*superacc.WordVector, len(l.R))
	digits = make([][]int64, len(l.R))
	for c, r := range l.R {
		x := make([]uint64, n)
		for i := range x {
			x[i] = f.Words(r[i])
		}
		left[c], digits[c] = superacc.NewWordVector(x), make([]int64, n)
	}
	err = par.Each(l.s.Ctx, l.s.Threads, n, func(i int) {
		for c, v := range left {
			digits[c][i] = f.Balanced(f.Sum(v.Dot(l.Inverse[i])))
		}
	})
	if err != nil {
		return nil, false, err
	}
	full := make([]bool, l.a.Rows)
	err = l.subtract(digits, func(i int) {
		for _, r := range l.R {
			full[i] = full[i] || !f.Divide(r[i])
		}
	})
	fits = true
	for i, full := range full {
		if full && i < n {
			panic("linsolve: lifting is not exact")
		}
		fits = fits && !full
	}
	return digits, fits, err
}

// subtract subtracts A d from the remainder r of each column, and then calls next for each row.
func (l *Lifting) subtract(digits [][]int64, next func(i int)) error {
	if l.Fixed != nil {
		v, planes := make([]*fixed.Vector, len(digits)), l.Fixed.Planes
		for c, d := range digits {
			v[c] = fixed.NewVector(d) // below 2^60
		}
		return par.Each(l.s.Ctx, l.s.Threads, l.a.Rows, func(i int) {
			z := make([]uint64, planes+2) // 2^(64 planes - 1 - bits) A d
			for c, v := range v {
				l.Fixed.Row(z, i, v, planes)
				fixed.SubtractShifted(l.R[c][i], z, l.Z.Bits[i]+1-64*planes)
			}
			next(i)
		})
	}
	y := num.NewMat(num.Precision(64), l.a.Cols, len(digits))
	for c, d := range digits {
		for i, d := range d {
			x := new(big.Float).SetInt64(d)
			y.SetBig(i, c, x.SetMantExp(x, int(-l.Z.Cols[i])))
		}
	}
	// The product is exact: the format has all bits of its integers.
	product := num.NewMat(num.Precision(uint(l.Z.MostBits()+128)), l.a.Rows, len(digits))
	if err := l.s.Gemm(1, l.a, y, 0, num.Mat{}, product); err != nil {
		return err
	}
	return par.Each(l.s.Ctx, l.s.Threads, l.a.Rows, func(i int) {
		for c, r := range l.R {
			x := product.Big(i, c)
			v, _ := x.SetMantExp(x, int(-l.Z.Rows[i])).Int(nil)
			z := append(num.FromInt(nil, v), 0)
			if v.Sign() < 0 {
				num.Negate(z)
			}
			fixed.SubtractShifted(r[i], z, 0)
		}
		next(i)
	})
}
