package linsolve

import (
	"math/big"
	"math/bits"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/fixed"
	"github.com/halfulp/halfulp/internal/proof/modular"
	"github.com/halfulp/halfulp/internal/proof/scale"
	"github.com/halfulp/halfulp/internal/superacc"
)

// lifting are columns of the solution X of A X = B in the p-adic integers (Dixon, Exact solution of
// linear equations using p-adic expansions, 1982), of which digit after digit is made: with C the
// inverse modulo p of the first n rows of A, of n columns, and what is left of a column of B
//
//	d = C r mod p,  r <- (r - A d) / p.
//
// A digit costs two products of a matrix with a vector of words. The first n rows tell the
// solution. The others have room for as many digits as it solves them with, their quotients being
// integers till then: for all digits if they are combinations of the first ones, B included.
type lifting struct {
	s       *call.Run
	f       *modular.Field
	a       num.Mat
	z       integers
	inverse [][]uint64    // of the integers of the first n rows modulo p, elements
	fixed   *fixed.Matrix // the integers of row i times 2^-bits[i], nil beyond mostLiftingPlanes
	r       [][][]uint64  // what is left of the columns of B, in two's complement
}

// mostLiftingPlanes bounds the room of the integers of A in words, which hold zeros below and above
// the bits of numbers far apart.
const mostLiftingPlanes = 8

// newLifting prepares a lifting for A, with integers that A is made of. There is none, nil, if the
// first rows of A are singular modulo the field's prime.
func newLifting(s *call.Run, a num.Mat, z integers, f *modular.Field) (*lifting, error) {
	n := a.Cols
	rows, err := f.Matrix(s.Ctx, s.Threads, a.Slice(0, n, 0, n))
	if err != nil {
		return nil, err
	}
	cols := make([]uint64, n)
	for j := range cols {
		cols[j] = f.Power2(-z.cols[j])
	}
	for i, row := range rows {
		left := f.Power2(-z.rows[i])
		for j, x := range row {
			row[j] = f.Mul(x, f.Mul(left, cols[j]))
		}
	}
	if ok, err := f.InvertMatrix(s.Ctx, s.Threads, rows); !ok || err != nil {
		return nil, err
	}
	return liftingBy(s, a, z, f, rows)
}

// liftingBy is newLifting with the inverse.
func liftingBy(s *call.Run, a num.Mat, z integers, f *modular.Field, inverse [][]uint64) (l *lifting, err error) {
	l = &lifting{s: s, f: f, a: a, z: z, inverse: inverse}
	if err := workable(z.mostBits()+128, a); err != nil {
		return nil, err
	}
	if planes := z.planes(); planes <= mostLiftingPlanes {
		by := scale.Scaling{Rows: make([]int64, a.Rows), Cols: bound.Negated(z.cols)}
		for i, b := range z.bits {
			by.Rows[i] = -z.rows[i] - int64(b)
		}
		l.fixed, err = fixed.New(&s.Call, a, by, planes)
	}
	return l, err
}

// mostBits returns the bits of the largest integer.
func (z integers) mostBits() (most int) {
	for _, b := range z.bits {
		most = max(most, b)
	}
	return most
}

// planes is how many fixed needs for the integers: the last bit of row i is 2^-bits[i] there, that
// of the last plane 2^(1 - 64 planes).
func (z integers) planes() int { return z.mostBits()/64 + 1 }

// liftingOf returns a lifting for a regular matrix, the same one for the same matrix.
func liftingOf(s *call.Run, a num.Mat) (l *lifting, err error) {
	if l, ok := s.Lifting.(*lifting); ok && l.a == a {
		return l, nil
	}
	z := toIntegers(a)
	for next := modular.Primes(); l == nil; {
		if l, err = newLifting(s, a, z, modular.New(next())); err != nil {
			return nil, err
		}
		s.Stats.Primes++
	}
	s.Lifting = l
	return l, nil
}

// add adds a column of integers to B.
func (l *lifting) add(b []*big.Int) {
	// With digits up to p/2 in magnitude |r| ≤ |b| / p + n 2^bits at any time, and A d is less than
	// p times that.
	r := make([][]uint64, len(b))
	for i, x := range b {
		most := max(x.BitLen(), l.z.bits[i]+64+bits.Len(uint(l.a.Cols)))
		r[i] = make([]uint64, most/64+2)
		fixed.Magnitude(r[i], num.FromInt(nil, x), 0)
		if x.Sign() < 0 {
			num.Negate(r[i])
		}
	}
	l.r = append(l.r, r)
}

// done reports whether nothing is left of B.
func (l *lifting) done() bool {
	for _, column := range l.r {
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

// digitCost is the cost of a digit of one column with m rows and n columns of A.
func (z integers) digitCost(m, n int) float64 {
	planes, rows := z.planes(), 0
	if planes > mostLiftingPlanes { // products, which cost about as much as that, and long numbers
		planes, rows = mostLiftingPlanes, m*(1000+4*z.mostBits())
	}
	// may fuse: an estimate
	return float64(n)*wordCost*float64(n+m*planes) + float64(rows)
}

// digits returns the next digit of each component, between -p/2 and p/2, column by column, and
// makes what is left smaller by them: of small integers of either sign all digits but the first are
// 0. It reports whether the rows beyond the first n have room for them.
func (l *lifting) digits() (digits [][]int64, fits bool, err error) {
	f, n := l.f, l.a.Cols
	left := make([]*superacc.WordVector, len(l.r))
	digits = make([][]int64, len(l.r))
	for c, r := range l.r {
		x := make([]uint64, n)
		for i := range x {
			x[i] = f.Words(r[i])
		}
		left[c], digits[c] = superacc.NewWordVector(x), make([]int64, n)
	}
	err = par.Each(l.s.Ctx, l.s.Threads, n, func(i int) {
		for c, v := range left {
			digits[c][i] = f.Balanced(f.Sum(v.Dot(l.inverse[i])))
		}
	})
	if err != nil {
		return nil, false, err
	}
	full := make([]bool, l.a.Rows)
	err = l.subtract(digits, func(i int) {
		for _, r := range l.r {
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

// subtract subtracts A d from r for each column, and calls next for each row then.
func (l *lifting) subtract(digits [][]int64, next func(i int)) error {
	if l.fixed != nil {
		v, planes := make([]*fixed.Vector, len(digits)), l.fixed.Planes
		for c, d := range digits {
			v[c] = fixed.NewVector(d) // below 2^60
		}
		return par.Each(l.s.Ctx, l.s.Threads, l.a.Rows, func(i int) {
			z := make([]uint64, planes+2) // 2^(64 planes - 1 - bits) A d
			for c, v := range v {
				l.fixed.Row(z, i, v, planes)
				fixed.SubtractShifted(l.r[c][i], z, l.z.bits[i]+1-64*planes)
			}
			next(i)
		})
	}
	y := num.NewMat(num.Precision(64), l.a.Cols, len(digits))
	for c, d := range digits {
		for i, d := range d {
			x := new(big.Float).SetInt64(d)
			y.SetBig(i, c, x.SetMantExp(x, int(-l.z.cols[i])))
		}
	}
	// The product is exact: the format has all bits of its integers.
	product := num.NewMat(num.Precision(uint(l.z.mostBits()+128)), l.a.Rows, len(digits))
	if err := l.s.Gemm(1, l.a, y, 0, num.Mat{}, product); err != nil {
		return err
	}
	return par.Each(l.s.Ctx, l.s.Threads, l.a.Rows, func(i int) {
		for c, r := range l.r {
			x := product.Big(i, c)
			v, _ := x.SetMantExp(x, int(-l.z.rows[i])).Int(nil)
			z := append(num.FromInt(nil, v), 0)
			if v.Sign() < 0 {
				num.Negate(z)
			}
			fixed.SubtractShifted(r[i], z, 0)
		}
		next(i)
	})
}
