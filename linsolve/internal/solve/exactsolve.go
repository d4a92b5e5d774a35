package solve

import (
	"math"
	"math/big"
	"math/bits"
	"slices"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/modular"
	"github.com/halfulp/halfulp/internal/proof/scale"
	"github.com/halfulp/halfulp/internal/proof/ziv"
)

// Solutions in rational numbers. For a column y with A y = b, all integers (see modular.Lifting),
// p-adic digits are lifted until there are numbers v_i and one denominator d with v ≡ d y modulo
// p^k that are small: so small that every entry of A v - d b is below p^k in magnitude. As p^k
// divides it, it is 0, and y = v / d exactly (Dixon, Exact solution of linear equations using
// p-adic expansions, 1982). The number of digits depends on the size of v and d, which Hadamard's
// inequality bounds, not on the condition.

// exactBits bounds the bits of numerator and denominator together, with the bits that the proof
// takes, for a right-hand side of integers of top bits.
func exactBits(z modular.Integers, determinant, top int) float64 {
	return float64(2*float64(determinant)) + float64(top+z.MostBits()+2*bits.Len(uint(len(z.Cols)))+64)
}

// exactCost is an upper bound of the cost of solveExactly for this many columns. It is infinite if
// solveExactly is not possible, for lack of memory among other reasons.
func exactCost(s *call.Run, a, b num.Mat, columns int) float64 {
	z := modular.ToIntegers(a)
	top, determinant := rightBits(z, b), z.DeterminantBits(a)
	if s.Set.Check || z.MostBits() > modular.MostLifted || top > modular.MostLifted {
		return math.Inf(1)
	}
	n := a.Rows
	digits := exactBits(z, determinant, int(top))/60 + 1
	room := digits * float64(min(columns, exactBatch)+2) // columns, and the numbers from them
	// may fuse: an estimate
	if s.Budget.Check(8*float64(n)*(float64(n)+room)+call.PlaneBytes(a, z.MostBits()/64+1)) != nil {
		return math.Inf(1)
	}
	// may fuse: an estimate
	once := float64(2*call.WordCost)*call.Cube(n) + float64(n*n*call.PrimeCost) + call.PrimeStep(a)
	return once + float64(float64(columns)*columnCost(z, n, digits))
}

// rightBits returns a bound of the bits of the right-hand sides as integers, scaled as the integers
// of A: see modular.Lifting.Right. Rows with exponents far apart have many more bits than B.
func rightBits(z modular.Integers, b num.Mat) (most int64) {
	for j := range b.Cols {
		top, shift := int64(math.MinInt64/2), int64(0)
		for i, row := range z.Rows {
			if c, t, low := b.Arr.Span(b.At(i, j)); c == num.Finite {
				top, shift = max(top, t-row), max(shift, row-low)
			}
		}
		most = max(most, top+shift)
	}
	return most
}

// columnCost is the cost of a column with this many digits. It includes Euclid's algorithm for some
// of the numbers (the factor 3): 36 steps a digit, each of 150 ns and 2 ns for each word.
func columnCost(z modular.Integers, n int, digits float64) float64 {
	return digits * (z.DigitCost(n, n) + float64(float64(n)*digits) + float64(3*36*(150+float64(2*digits))))
}

// exactColumn is a column that is solved in rational numbers.
type exactColumn struct {
	e      *ziv.Entries
	shift  int64 // see modular.Lifting.Right
	top    int   // bits of its integers
	digits [][]int64
	next   int // number of digits at the next attempt to find v and d
}

// exactBatch is the number of columns that are lifted side by side.
const exactBatch = 16

// solveExactly stores the solutions of the columns of todo and sets their entries of todo to nil.
// It stops without them if the first column shows that this takes more than another way, whose cost
// is other. The error wraps ErrSingular if a is proved to be singular.
func solveExactly(s *call.Run, a, b num.Mat, todo []*ziv.Entries, other float64) error {
	if err := modular.ProvedRegular(s, a); err != nil {
		return err
	}
	l, err := modular.NewLiftingOf(s, a)
	if err != nil {
		return err
	}
	determinant := l.Z.DeterminantBits(a)
	d := big.NewInt(1) // the denominator of the last column, probably of other columns too
	for first := 0; first < len(todo); {
		var batch []*exactColumn
		l.R = nil
		for ; first < len(todo) && len(batch) < exactBatch; first++ {
			if e := todo[first]; e != nil {
				if len(batch) > 0 && other > 0 {
					break // the first one alone
				}
				r, shift, top := l.Right(b, e.J)
				l.Add(r)
				batch = append(batch, &exactColumn{e: e, shift: shift, top: top, next: 6})
			}
		}
		most := math.MaxInt
		if left := ziv.OpenColumns(todo); other > 0 && left > 1 {
			for most = 1; float64(left)*columnCost(l.Z, a.Rows, float64(most)) < other; most *= 2 {
			}
			for most > 1 && float64(left)*columnCost(l.Z, a.Rows, float64(most)) > other {
				most -= (most + 15) / 16
			}
		}
		other = 0
		if d, err = solveBatch(s, l, determinant, slices.Clone(batch), d, most); err != nil {
			return err
		}
		for _, c := range batch {
			if len(c.e.Open) == 0 {
				todo[c.e.J] = nil
			} else if most < math.MaxInt {
				return nil
			}
		}
	}
	return nil
}

// solveBatch is solveExactly for the columns of l, with at most most digits. determinant bounds the
// bits of the determinant of the integers. It returns the last denominator and overwrites batch.
func solveBatch(s *call.Run, l *modular.Lifting, determinant int, batch []*exactColumn, d *big.Int, most int) (*big.Int, error) {
	n := len(l.Inverse)
	cost := l.Z.DigitCost(n, n)
	p := new(big.Int).SetUint64(l.F.P)
	powers := map[int]*big.Int{}
	for have := 1; len(batch) > 0 && have <= most; have++ {
		left := min(float64(most), exactBits(l.Z, determinant, batch[0].top)/60+1) - float64(have)
		s.Plan(float64(len(batch)) * cost * max(left, 1)) // at most
		digits, _, err := l.Digits()
		if err != nil {
			return nil, err
		}
		s.Stats.Digits += len(batch)
		s.Did(float64(len(batch)) * cost)
		k := 0
		for i, c := range batch {
			if err := s.Ctx.Err(); err != nil {
				return nil, err
			}
			c.digits = append(c.digits, digits[i])
			done := false
			if have >= c.next {
				c.next = have + have/2
				q := p
				if have > 1 {
					if powers[have] == nil {
						powers[have] = new(big.Int).Exp(p, big.NewInt(int64(have)), nil)
					}
					q = powers[have]
				}
				v, by := c.rational(l, q, d)
				if done = v != nil; done {
					d = by
					c.store(s, l, v, d)
				}
				done = done || float64(60*have) > exactBits(l.Z, determinant, c.top)
			}
			if !done {
				batch[k], l.R[k] = c, l.R[i]
				k++
			}
		}
		batch, l.R = batch[:k], l.R[:k]
	}
	return d, nil
}

// rational returns numbers v and a multiple by of d with y = v / by; nil if the digits prove none.
// The digits are y modulo q, a power of p.
func (c *exactColumn) rational(l *modular.Lifting, q, d *big.Int) (v []*big.Int, by *big.Int) {
	n := len(c.digits[0])
	room := q.BitLen() - 2 // numbers of fewer bits on both sides have a difference below q
	left := room - l.Z.MostBits() - bits.Len(uint(n))
	v, by = make([]*big.Int, n), new(big.Int).Set(d)
	half := new(big.Int).Rsh(q, 1)
	balanced := func(x *big.Int) *big.Int {
		if x.Mod(x, q); x.Cmp(half) > 0 {
			x.Sub(x, q)
		}
		return x
	}
	powers := map[int]*big.Int{}
	p := new(big.Int).SetUint64(l.F.P)
	var value func(i, first, end int) *big.Int
	value = func(i, first, end int) *big.Int {
		if end-first == 1 {
			return big.NewInt(c.digits[first][i])
		}
		h := (first + end) / 2
		if powers[h-first] == nil {
			powers[h-first] = new(big.Int).Exp(p, big.NewInt(int64(h-first)), nil)
		}
		x := value(i, h, end)
		return x.Add(x.Mul(x, powers[h-first]), value(i, first, h))
	}
	for i := range v {
		y := value(i, 0, len(c.digits))
		x := balanced(new(big.Int).Mul(y, by))
		if x.BitLen() > left-accident { // a shorter x may be short by accident
			more := denominator(new(big.Int).Mod(x, q), q)
			switch {
			case more != nil:
				by.Mul(by, more)
				for _, old := range v[:i] {
					old.Mul(old, more)
				}
				x = balanced(x.Mul(x, more))
			case x.BitLen() > left:
				return nil, nil
			}
		}
		v[i] = x
		if x.BitLen() > left || by.BitLen()+c.top > room {
			return nil, nil
		}
	}
	for _, x := range v {
		if x.BitLen() > left {
			return nil, nil
		}
	}
	return v, by
}

// accident is the number of bits by which a number must be shorter than expected to exclude an
// accident.
const accident = 24

// denominator returns the denominator of the fraction that y, 0 ≤ y < q, probably is modulo q, nil
// if there is none. It is the cofactor before the largest quotient of Euclid's algorithm (Monagan,
// Maximal quotient rational reconstruction, 2004).
func denominator(y, q *big.Int) *big.Int {
	r0, r1 := new(big.Int).Set(q), new(big.Int).Set(y)
	t0, t1 := new(big.Int), big.NewInt(1)
	quotient, rest, x := new(big.Int), new(big.Int), new(big.Int)
	most := accident // bits of the largest quotient; at first of one that occurs by accident
	var d *big.Int
	for r1.Sign() != 0 {
		quotient.QuoRem(r0, r1, rest)
		if b := quotient.BitLen(); b > most {
			most, d = b, new(big.Int).Abs(t1)
		}
		r0, r1, rest = r1, rest, r0
		x.Mul(quotient, t1)
		t0.Sub(t0, x)
		t0, t1 = t1, t0
	}
	return d
}

// store rounds the open entries of the column v / d.
func (c *exactColumn) store(s *call.Run, l *modular.Lifting, v []*big.Int, d *big.Int) {
	e := c.e
	f := e.Z.Format()
	g, x, y, rest := new(big.Int), new(big.Int), new(big.Int), new(big.Int)
	for _, i := range e.Open {
		unit := -(c.shift + l.Z.Cols[i]) // x_i = 2^unit v / d
		g.GCD(nil, nil, x.Abs(v[i]), d)
		x.Quo(v[i], g)
		y.Quo(d, g)
		s.Stats.Exact++
		zeros := y.TrailingZeroBits()
		if y.BitLen() == int(zeros)+1 || v[i].Sign() == 0 {
			t := ziv.ExactInt(x)
			ziv.ScaleExactly(t, unit-int64(zeros))
			e.Z.SetBig(i, e.J, t.Add(t, new(big.Float))) // no -0
			ziv.Lose(s, e.Z, i, e.J, t, t)
			continue
		}
		// The denominator is no power of two, so the entry is neither a number of the format nor a
		// tie. Scaled to more bits than a tie has, it lies strictly between two neighbouring
		// integers. No tie lies between them, so the entry is rounded like their mean.
		shift := max(0, ziv.TieBits(f)+2+y.BitLen()-x.BitLen())
		g.Div(rest.Lsh(x, uint(shift)), y) // rounded down
		mean := ziv.ExactInt(g.Add(g.Lsh(g, 1), big.NewInt(1)))
		ziv.ScaleExactly(mean, unit-int64(shift)-1)
		e.Z.SetBig(i, e.J, mean)
		ziv.Lose(s, e.Z, i, e.J, mean, mean)
	}
	e.Open = nil
}

// MeasuredCondition returns an estimate of log2 of the condition number of F, the scaled leading
// square part of a: log2 of the largest entry of one solution of F y = ±1 in rational numbers. It
// returns 0 if that costs more than most, or if F is singular modulo the prime.
func MeasuredCondition(s *call.Run, a num.Mat, most float64) (int, error) {
	n := min(a.Rows, a.Cols)
	a = a.Slice(0, n, 0, n)
	by := scale.Of(a)
	b := num.NewMat(num.Precision(num.MinPrec), n, 1)
	for i := range n {
		x := new(big.Float).SetInt64(int64(1 - i%3&1*2))
		ziv.ScaleExactly(x, -by.Rows[i])
		b.SetBig(i, 0, x)
	}
	if bound.Far(a, call.MostExponent) || bound.Far(b, call.MostExponent) || exactCost(s, a, b, 1) > most {
		return 0, nil
	}
	z := modular.ToIntegers(a)
	l, err := modular.NewLifting(s, a, z, modular.New(modular.Prime(0)))
	if l == nil || err != nil {
		return 0, err
	}
	s.Stats.Primes++
	r, shift, top := l.Right(b, 0)
	l.Add(r)
	c := &exactColumn{shift: shift, top: top, next: 6}
	v, d, err := c.solve(s, l, z.DeterminantBits(a))
	if v == nil || err != nil {
		return 0, err
	}
	cond := int64(0)
	for i, x := range v {
		if x.Sign() != 0 {
			cond = max(cond, int64(x.BitLen()-d.BitLen())-shift-z.Cols[i]-by.Cols[i])
		}
	}
	return int(min(cond, bound.MaxBits)), nil
}

// solve returns numbers v and d with y = v / d for the only column of l; nil if the bits that
// theory requires do not suffice.
func (c *exactColumn) solve(s *call.Run, l *modular.Lifting, determinant int) (v []*big.Int, d *big.Int, err error) {
	for float64(60*len(c.digits)) <= exactBits(l.Z, determinant, c.top) {
		digits, _, err := l.Digits()
		if err != nil {
			return nil, nil, err
		}
		s.Stats.Digits++
		if c.digits = append(c.digits, digits[0]); len(c.digits) < c.next {
			continue
		}
		c.next += c.next / 2
		q := new(big.Int).Exp(new(big.Int).SetUint64(l.F.P), big.NewInt(int64(len(c.digits))), nil)
		if v, d = c.rational(l, q, big.NewInt(1)); v != nil {
			return v, d, nil
		}
	}
	return nil, nil, nil
}
