package linsolve

import (
	"math/big"
	"math/bits"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/raw"
)

// entries are those of a column of the solution that are not decided.
type entries struct {
	s       *solver
	a, b, z *halfulp.Matrix
	j       int
	open    []int
	never   map[int]*big.Float // what entries are not, which is proved
}

// suspicion says how much smaller, in bits, an enclosure is than an ulp when a tie or a zero in it
// is looked into.
const suspicion = 40

// decide rounds the entries whose enclosures mid ± radius round to one number, and reports whether
// none is left. The largest of 2^-weights[i] |x_i| is most, about.
func (e *entries) decide(mid func(i int) *big.Float, most *big.Float, radius []*big.Float, weights []int64) (done bool, err error) {
	f := e.z.Format()
	open := e.open[:0]
	ties := map[int]*big.Float{}
	suspects := true
	for _, i := range e.open {
		x := mid(i)
		if radius[i].Sign() == 0 {
			e.z.SetBig(i, e.j, x.Add(x, new(big.Float))) // no -0
			continue
		}
		p := intervals(x.Prec() + 192)
		lower := halfulp.NewScalar(f, p.down().Sub(x, radius[i]))
		upper := halfulp.NewScalar(f, p.up().Add(x, radius[i]))
		if lower.Same(upper) {
			e.z.Set(i, e.j, lower)
			continue
		}
		open = append(open, i)
		t, spacing := tie(lower, upper)
		if never := e.never[i]; t != nil && never != nil && t.Cmp(never) == 0 {
			continue
		}
		if t != nil && t.Sign() == 0 {
			spacing = new(big.Float).SetMantExp(most, int(weights[i])-f.Bits())
		}
		if t == nil || new(big.Float).SetMantExp(radius[i], suspicion).Cmp(spacing) > 0 {
			suspects = false
		}
		ties[i] = t
	}
	e.open = open
	if len(open) == 0 || !suspects || len(ties) == 0 {
		return len(open) == 0, nil
	}
	if len(ties) == len(open) {
		if solved, err := e.solved(ties); solved || err != nil {
			return solved, err
		}
	}
	return e.lift(ties)
}

// missing returns how many bits closer enclosures have to be for most open entries to be decided.
func (e *entries) missing(mid func(i int) *big.Float, radius []*big.Float) (bits float64) {
	for _, i := range e.open {
		if x := mid(i); x.Sign() != 0 && radius[i].Sign() != 0 {
			bits = max(bits, float64(radius[i].MantExp(nil)-x.MantExp(nil)+e.z.Format().Bits()+4))
		}
	}
	return bits
}

// tie returns the number between lower and upper at which rounding changes from the one to the
// other, and their distance; nil where there are several.
func tie(lower, upper halfulp.Scalar) (t, distance *big.Float) {
	if lower.IsInf(0) || upper.IsInf(0) {
		return overflow(lower.Format(), lower.IsInf(-1))
	}
	l, u := lower.Big(), upper.Big()
	prec := exactPrec(l, u)
	distance = new(big.Float).SetPrec(prec).Sub(u, l)
	if l.Signbit() && !u.Signbit() {
		if (l.Sign() == 0) != (u.Sign() == 0) {
			return nil, nil // 0 and half the smallest number
		}
		return new(big.Float), distance
	}
	t = new(big.Float).SetPrec(prec).Add(l, u)
	t.SetMantExp(t, -1)
	if z := halfulp.NewScalar(lower.Format(), t); !z.Same(lower) && !z.Same(upper) {
		return nil, nil
	}
	return t, distance
}

// overflow returns the number from which on those of a format become infinite, and an ulp there.
func overflow(f halfulp.Format, negative bool) (t, ulp *big.Float) {
	if f.IsMP() {
		return nil, nil
	}
	p, e := 53, 1024
	if f == halfulp.Float32 {
		p, e = 24, 128
	}
	ulp = new(big.Float).SetMantExp(big.NewFloat(1), e-p)
	t = new(big.Float).SetMantExp(big.NewFloat(1), e)
	t.SetPrec(64).Sub(t, new(big.Float).SetMantExp(ulp, -1))
	if negative {
		t.Neg(t)
	}
	return t, ulp
}

// exactPrec is a precision in which the sum of two finite numbers is exact.
func exactPrec(x, y *big.Float) uint {
	if x.Sign() == 0 || y.Sign() == 0 {
		return max(x.MinPrec(), y.MinPrec(), 1)
	}
	top := max(x.MantExp(nil), y.MantExp(nil)) + 1
	low := min(x.MantExp(nil)-int(x.MinPrec()), y.MantExp(nil)-int(y.MinPrec()))
	return uint(top - low)
}

// solved reports whether the column with the decided entries and these ties solves the system
// exactly, and stores it then.
func (e *entries) solved(ties map[int]*big.Float) (bool, error) {
	n := e.z.Rows()
	x := make([]*big.Float, n)
	prec := uint(halfulp.MinPrec)
	for i := range x {
		if x[i] = ties[i]; x[i] == nil {
			if e.z.At(i, e.j).IsInf(0) {
				return false, nil
			}
			x[i] = e.z.Big(i, e.j)
		}
		prec = max(prec, x[i].MinPrec())
	}
	r := halfulp.NewMatrix(halfulp.MP(64), n, 1)
	b := e.b.Slice(0, n, e.j, e.j+1)
	if err := e.s.gemm(-1, e.a, halfulp.NewMatrixBig(halfulp.MP(prec), n, 1, x), 1, b, r); err != nil {
		return false, err
	}
	for i := range n {
		if r.Big(i, 0).Sign() != 0 {
			return false, nil
		}
	}
	for i, t := range ties {
		e.z.SetBig(i, e.j, new(big.Float).Copy(t))
	}
	e.s.stats.Solved++
	e.s.stats.Exact += int64(len(ties))
	return true, nil
}

// A dyadic rational u/2^t as a p-adic integer.
type padic struct {
	u, power *big.Int // power = 2^t
	inverse  uint64   // of power
}

// digit returns the next digit.
func (d *padic) digit(f *field) uint64 {
	z := f.value(f.mul(f.integer(d.u), d.inverse))
	v := new(big.Int).SetUint64(z)
	d.u.Sub(d.u, v.Mul(v, d.power))
	d.u.Quo(d.u, v.SetUint64(f.p))
	return z
}

// lift compares the p-adic digits of ties with those of the solution.
//
// With the integers A and b and a tie u/2^t of component i of A y = b, det(A) (2^t y_i - u) is, by
// Cramer's rule, the determinant of A with v = 2^t b - u a_i for column i: an integer, and at most
// n max |v| times the largest minor. If a power of p that exceeds that divides it, as it does where
// so many digits agree, it is 0: the tie is that entry.
func (e *entries) lift(ties map[int]*big.Float) (done bool, err error) {
	s, n := e.s, e.z.Rows()
	var l *lifting
	for next := primes(); l == nil; {
		if l, err = s.newLifting(e.a, newField(next())); err != nil {
			return false, err
		}
		s.stats.Primes++
	}
	// y_j = 2^(shift + cols_j) x_j solves the system of integers with a right-hand side of
	// integers.
	b := raw.Matrix(e.b)
	shift, top := int64(0), 0 // of A and b
	for i := range n {
		if c, _, low := b.Arr.Span(b.At(i, e.j)); c == num.Finite {
			shift = max(shift, l.z.rows[i]-low)
		}
	}
	right := make([]*big.Int, n)
	for i := range n {
		v := e.b.Big(i, e.j)
		right[i], _ = v.SetMantExp(v, int(shift-l.z.rows[i])).Int(nil)
		top = max(top, l.z.bits[i], right[i].BitLen())
	}
	l.begin(right)
	open := map[int]*padic{}
	most := 0
	for i, t := range ties {
		m, power := new(big.Float).Copy(t), new(big.Int).SetInt64(1)
		m.SetMantExp(m, int(shift+l.z.cols[i]))
		if low := m.MantExp(nil) - int(m.MinPrec()); m.Sign() != 0 && low < 0 {
			m.SetMantExp(m, -low)
			power.Lsh(power, uint(-low))
		}
		u, _ := m.Int(nil)
		most = max(most, u.BitLen(), power.BitLen())
		open[i] = &padic{u, power, l.f.power2(-int64(power.BitLen() - 1))}
	}
	need := l.z.minorBits() + most + top + 1 + bits.Len(uint(n))
	planes := mostLiftingPlanes
	if l.fixed != nil {
		planes = l.fixed.planes
	}
	// may fuse: an estimate
	digit := float64(n) * float64(n) * wordCost * float64(1+planes)
	for have := 0; have < need && len(open) > 0; have += 60 {
		digits, err := l.digits()
		if err != nil {
			return false, err
		}
		s.stats.Digits++
		for i, d := range open {
			if d.digit(l.f) != digits[i] {
				e.never[i] = ties[i]
				delete(open, i)
			}
		}
		s.did(digit)
		s.plan(float64((need-have)/60) * digit)
	}
	left := e.open[:0]
	for _, i := range e.open {
		if open[i] == nil {
			left = append(left, i)
			continue
		}
		e.z.SetBig(i, e.j, new(big.Float).Copy(ties[i]))
		s.stats.Ties++
		s.stats.Exact++
	}
	e.open = left
	return len(left) == 0, nil
}
