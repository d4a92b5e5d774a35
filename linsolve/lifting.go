package linsolve

import (
	"math/big"
	"math/bits"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/raw"
)

// lifting are columns of the solution X of A X = B in the p-adic integers (Dixon, Exact solution of
// linear equations using p-adic expansions, 1982), of which digit after digit is made. A has n
// columns; its first n rows are regular modulo p, and tell the solution.
type lifting struct {
	s       *solver
	a       *halfulp.Matrix
	f       *field
	z       integers
	inverse [][]uint64   // of the integers of the first n rows, modulo p
	r       [][]*big.Int // what is left of the columns of B, as integers
}

// newLifting prepares a lifting for A, with integers that A is made of. There is none, nil, if the
// first rows of A are singular modulo the field's prime.
func (s *solver) newLifting(a *halfulp.Matrix, z integers, f *field) (*lifting, error) {
	n := a.Cols()
	l := &lifting{s: s, a: a, f: f, z: z}
	rows, err := f.matrix(s.ctx, s.threads, raw.Matrix(a.Slice(0, n, 0, n)))
	if err != nil {
		return nil, err
	}
	for i := range rows {
		left := f.power2(-l.z.rows[i])
		for j := range rows[i] {
			rows[i][j] = f.mul(rows[i][j], f.mul(left, f.power2(-l.z.cols[j])))
		}
		rows[i] = append(rows[i], make([]uint64, n)...)
		rows[i][n+i] = f.one
	}
	pivots, _, err := f.eliminate(s.ctx, s.threads, rows, n, true)
	if err != nil || len(pivots) < n {
		return nil, err
	}
	for i := range rows {
		rows[i] = rows[i][n:]
	}
	l.inverse = rows
	return l, nil
}

// liftingOf returns a lifting for a regular matrix, the same one for the same matrix.
func (s *solver) liftingOf(a *halfulp.Matrix) (l *lifting, err error) {
	if s.lifting != nil && s.lifting.a == a {
		return s.lifting, nil
	}
	z := toIntegers(raw.Matrix(a))
	for next := primes(); l == nil; {
		if l, err = s.newLifting(a, z, newField(next())); err != nil {
			return nil, err
		}
		s.stats.Primes++
	}
	s.lifting = l
	return l, nil
}

// balanced returns the integer between -p/2 and p/2 that digits v below p stand for: of small
// integers of either sign all but the first are 0.
func (f *field) balanced(v uint64) int64 {
	if v > f.p/2 {
		return -int64(f.p - v)
	}
	return int64(v)
}

// done reports whether nothing is left of B.
func (l *lifting) done() bool {
	for _, column := range l.r {
		for _, r := range column {
			if r.Sign() != 0 {
				return false
			}
		}
	}
	return true
}

// digits returns the next digit of each component, column by column, and makes what is left smaller
// by them. It reports whether the rows beyond the first n have room for them, as they have if these
// are combinations of those, B included.
func (l *lifting) digits() (digits [][]uint64, solved bool, err error) {
	f, n, m := l.f, l.a.Cols(), l.a.Rows()
	digits = make([][]uint64, len(l.r))
	y := halfulp.NewMatrix(halfulp.MP(64), n, len(l.r))
	err = par.For(l.s.ctx, l.s.threads, len(l.r), func(_, c int) {
		left := make([]uint64, n)
		for i := range left {
			left[i] = f.integer(l.r[c][i])
		}
		digits[c] = make([]uint64, n)
		for i, row := range l.inverse {
			digits[c][i] = f.value(f.dot(row, left))
			d := new(big.Float).SetPrec(64).SetInt64(f.balanced(digits[c][i]))
			y.SetBig(i, c, d.SetMantExp(d, int(-l.z.cols[i])))
		}
	})
	if err != nil {
		return nil, false, err
	}
	// The product is exact: the format has all bits of its integers.
	wide := 64 + 64
	for _, b := range l.z.bits {
		wide = max(wide, b+64+64)
	}
	if err := workable(wide, l.a); err != nil {
		return nil, false, err
	}
	product := halfulp.NewMatrix(halfulp.MP(uint(wide)), m, len(l.r))
	if err := l.s.gemm(1, l.a, y, 0, nil, product); err != nil {
		return nil, false, err
	}
	p, fits := new(big.Int).SetUint64(f.p), make([]bool, len(l.r))
	err = par.For(l.s.ctx, l.s.threads, len(l.r), func(_, c int) {
		fits[c] = true
		rest := new(big.Int)
		for i, r := range l.r[c] {
			d := product.Big(i, c)
			v, accuracy := d.SetMantExp(d, int(-l.z.rows[i])).Int(nil)
			r.Sub(r, v)
			_, rest = r.QuoRem(r, p, rest)
			switch {
			case accuracy != big.Exact || i < n && rest.Sign() != 0:
				panic("linsolve: lifting is not exact")
			case rest.Sign() != 0:
				fits[c] = false
				return
			}
		}
	})
	for _, ok := range fits {
		if !ok {
			return nil, false, err
		}
	}
	return digits, true, err
}

// dot returns the sum of the products of elements: 64 of them are below 2^128.
func (f *field) dot(x, y []uint64) (sum uint64) {
	for len(x) > 0 {
		some := min(len(x), 64)
		hi, lo := uint64(0), uint64(0)
		for i, v := range x[:some] {
			h, l := bits.Mul64(v, y[i])
			var carry uint64
			lo, carry = bits.Add64(lo, l, 0)
			hi, _ = bits.Add64(hi, h, carry)
		}
		sum = f.add(sum, f.reduce(hi%f.p, lo))
		x, y = x[some:], y[some:]
	}
	return sum
}
