package linsolve

import (
	"math/big"
	"math/bits"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/interval"
	"github.com/halfulp/halfulp/internal/proof/modular"
)

// entries are those of a column of the solution that are not decided.
type entries struct {
	s       *call.Run
	a, b, z num.Mat
	j       int
	open    []int
	never   map[int]*big.Float // what entries are not, which is proved
}

// suspicion says how much smaller, in bits, an enclosure is than an ulp when a tie or a zero in it
// is looked into.
const suspicion = 40

// decide rounds the entries whose enclosures mid ± radius round to one number. Where all that is
// left looks like ties and zeros, and these do not solve the system, it returns them, to be lifted:
// zeros are far below the largest of 2^-weights[i] |x_i|.
func (e *entries) decide(mid func(i int) *big.Float, radius []*big.Float, weights []int64) (map[int]*big.Float, error) {
	f := e.z.Format()
	open := e.open[:0]
	ties := map[int]*big.Float{}
	suspects := true
	var most *big.Float // of all entries, as far as they are known
	for _, i := range e.open {
		x := mid(i)
		if radius[i].Sign() == 0 {
			e.z.SetBig(i, e.j, x.Add(x, new(big.Float))) // no -0
			lose(e.s, e.z, i, e.j, x, x)
			continue
		}
		p := interval.Prec(x.Prec() + 192)
		lo, hi := p.Difference(p.Down(), x, radius[i], -1), p.Difference(p.Up(), x, new(big.Float).Neg(radius[i]), 1)
		lower, upper := num.NewScalar(f, lo), num.NewScalar(f, hi)
		if lower.Same(upper) {
			e.z.SetEntry(i, e.j, lower)
			lose(e.s, e.z, i, e.j, lo, hi)
			continue
		}
		open = append(open, i)
		t, spacing := tie(lower, upper)
		if never := e.never[i]; t != nil && never != nil && t.Cmp(never) == 0 {
			continue
		}
		if t != nil && t.Sign() == 0 {
			if most == nil {
				most = new(big.Float)
				for k, w := range weights {
					v := mid(k)
					if v.Abs(v).SetMantExp(v, -int(w)); v.Cmp(most) > 0 {
						most = v
					}
				}
			}
			spacing = new(big.Float).SetMantExp(most, int(weights[i])-f.Bits())
		}
		if t == nil || new(big.Float).SetMantExp(radius[i], suspicion).Cmp(spacing) > 0 {
			suspects = false
		}
		ties[i] = t
	}
	e.open = open
	if len(open) == 0 || !suspects || len(ties) == 0 {
		return nil, nil
	}
	if len(ties) == len(open) {
		if solved, err := e.solved(ties); solved || err != nil {
			return nil, err
		}
	}
	return ties, nil
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
func tie(lower, upper num.Scalar) (t, distance *big.Float) {
	if lower.IsInf(0) || upper.IsInf(0) {
		if lower.IsInf(-1) && upper.IsInf(1) {
			return nil, nil
		}
		t, distance = border(lower.Format())
		if lower.IsInf(-1) {
			t.Neg(t)
		}
		return t, distance
	}
	l, u := lower.Big(), upper.Big()
	prec := interval.ExactPrec(l, u)
	distance = new(big.Float).SetPrec(prec).Sub(u, l)
	if l.Signbit() && !u.Signbit() {
		if (l.Sign() == 0) != (u.Sign() == 0) {
			return nil, nil // 0 and half the smallest number
		}
		return new(big.Float), distance
	}
	t = new(big.Float).SetPrec(prec).Add(l, u)
	t.SetMantExp(t, -1)
	if z := num.NewScalar(lower.Format(), t); !z.Same(lower) && !z.Same(upper) {
		return nil, nil
	}
	return t, distance
}

// border returns the least magnitude that becomes infinite in a format, and the distance of the
// numbers around it.
func border(f num.Format) (t, spacing *big.Float) {
	r := formatOf(f).Border()
	n := new(big.Int)
	for k := len(r.Mag) - 1; k >= 0; k-- {
		n.Lsh(n, 64).Or(n, new(big.Int).SetUint64(r.Mag[k]))
	}
	t = exactInt(n)
	return t.SetMantExp(t, int(r.Exp)), new(big.Float).SetMantExp(big.NewFloat(1), int(r.Exp)+1)
}

// formatOf returns a format as package num has it.
func formatOf(f num.Format) num.Format { return num.NewMat(f, 0, 0).Arr.Format }

// solved reports whether the column with the decided entries and these ties solves the system
// exactly, and stores it then.
func (e *entries) solved(ties map[int]*big.Float) (bool, error) {
	n := e.z.Rows
	x := make([]*big.Float, n)
	prec := uint(num.MinPrec)
	for i := range x {
		if x[i] = ties[i]; x[i] == nil {
			if e.z.Entry(i, e.j).IsInf(0) {
				return false, nil
			}
			x[i] = e.z.Big(i, e.j)
		}
		prec = max(prec, x[i].MinPrec())
	}
	r := num.NewMat(num.Precision(64), n, 1)
	b := e.b.Slice(0, n, e.j, e.j+1)
	if err := e.s.Gemm(-1, e.a, num.Bigs(num.Precision(prec), n, 1, x), 1, b, r); err != nil {
		return false, err
	}
	for i := range n {
		if r.Big(i, 0).Sign() != 0 {
			return false, nil
		}
	}
	for i, t := range ties {
		e.z.SetBig(i, e.j, new(big.Float).Copy(t))
		lose(e.s, e.z, i, e.j, t, t)
	}
	e.open = e.open[:0]
	e.s.Stats.Solved++
	e.s.Stats.Exact += int64(len(ties))
	return true, nil
}

// A dyadic rational u/2^t as a p-adic integer.
type padic struct {
	u, power *big.Int // power = 2^t
	inverse  uint64   // of power
}

// digit returns the next digit, between -p/2 and p/2.
func (d *padic) digit(f *modular.Field) int64 {
	z := f.Balanced(f.Value(f.Mul(f.Integer(d.u), d.inverse)))
	v := big.NewInt(z)
	d.u.Sub(d.u, v.Mul(v, d.power))
	d.u.Quo(d.u, v.SetUint64(f.P))
	return z
}

// suspects are entries of a column that may be these numbers.
type suspects struct {
	*entries
	ties map[int]*big.Float
}

// lifted are suspects that p-adic digits are compared of.
type lifted struct {
	suspects
	open map[int]*padic
	need int // bits of a power of p that decides
}

// lift compares the p-adic digits of ties with those of the solutions of one system.
//
// With the integers A and b and a tie u/2^t of component i of A y = b, det(A) (2^t y_i - u) is, by
// Cramer's rule, the determinant of A with v = 2^t b - u a_i for column i: an integer, and at most
// n max |v| times the largest minor. If a power of p that exceeds that divides it, as it does where
// so many digits agree, it is 0: the tie is that entry.
func lift(s *call.Run, list []suspects) error {
	if len(list) == 0 {
		return nil
	}
	a := list[0].a
	l, err := modular.NewLiftingOf(s, a)
	if err != nil {
		return err
	}
	l.R = nil
	var columns []*lifted
	for _, x := range list {
		columns = append(columns, x.begin(l))
	}
	digit := l.Z.DigitCost(a.Rows, a.Rows)
	for have := 0; ; have += 60 {
		most, k := 0, 0
		for i, c := range columns {
			if have >= c.need || len(c.open) == 0 {
				c.settle()
				continue
			}
			columns[k], l.R[k] = c, l.R[i]
			k++
			most = max(most, c.need)
		}
		if columns, l.R = columns[:k], l.R[:k]; k == 0 {
			return nil
		}
		s.Plan(float64(k) * float64((most-have)/60) * digit)
		digits, _, err := l.Digits()
		if err != nil {
			return err
		}
		s.Stats.Digits += k
		for j, c := range columns {
			for i, d := range c.open {
				if d.digit(l.F) != digits[j][i] {
					c.never[i] = c.ties[i]
					delete(c.open, i)
				}
			}
		}
		s.Did(float64(k) * digit)
	}
}

// begin adds the column of B to a lifting and returns what of the ties is compared: y_j =
// 2^(shift + cols_j) x_j solves the system of integers with a right-hand side of integers.
func (x suspects) begin(l *modular.Lifting) *lifted {
	n := x.z.Rows
	b := x.b
	shift, top := int64(0), 0 // top: the bits of A and b
	for i := range n {
		if c, _, low := b.Arr.Span(b.At(i, x.j)); c == num.Finite {
			shift = max(shift, l.Z.Rows[i]-low)
		}
	}
	r := make([]*big.Int, n)
	for i := range n {
		v := x.b.Big(i, x.j)
		r[i], _ = v.SetMantExp(v, int(shift-l.Z.Rows[i])).Int(nil)
		top = max(top, l.Z.Bits[i], r[i].BitLen())
	}
	l.Add(r)
	open := map[int]*padic{}
	most := 0
	for i, t := range x.ties {
		m, power := new(big.Float).Copy(t), new(big.Int).SetInt64(1)
		m.SetMantExp(m, int(shift+l.Z.Cols[i]))
		if low := m.MantExp(nil) - int(m.MinPrec()); m.Sign() != 0 && low < 0 {
			m.SetMantExp(m, -low)
			power.Lsh(power, uint(-low))
		}
		u, _ := m.Int(nil)
		most = max(most, u.BitLen(), power.BitLen())
		open[i] = &padic{u, power, l.F.Power2(-int64(power.BitLen() - 1))}
	}
	return &lifted{x, open, l.Z.MinorBits() + most + top + 1 + bits.Len(uint(n))}
}

// settle stores the ties all of whose digits agree.
func (c *lifted) settle() {
	left := c.entries.open[:0]
	for _, i := range c.entries.open {
		if c.open[i] == nil {
			left = append(left, i)
			continue
		}
		c.z.SetBig(i, c.j, new(big.Float).Copy(c.ties[i]))
		lose(c.s, c.z, i, c.j, c.ties[i], c.ties[i])
		c.s.Stats.Ties++
		c.s.Stats.Exact++
	}
	c.entries.open = left
}
