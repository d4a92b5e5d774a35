package ziv

import (
	"context"
	"math"
	"math/big"
	"math/bits"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/interval"
	"github.com/halfulp/halfulp/internal/proof/modular"
)

// Entries are the undecided entries of column J of the solution Z of A Z = B.
type Entries struct {
	s       *call.Run
	a, b, Z num.Mat
	J       int
	Open    []int
	never   map[int]*big.Float // ties that entries are proved to differ from
}

// Suspicion is how much narrower than an ulp, in bits, an enclosure must be before a tie or zero in
// it is tested.
const Suspicion = 40

// Decide rounds the entries whose enclosures mid ± radius round to one number. If all remaining
// entries look like ties and zeros, it tests whether these solve the system. If they do not, it
// returns them as candidates for [Lift]. An entry looks like a zero if it is far below the largest
// 2^-weights[i] |x_i|, weighted in the same way.
func (e *Entries) Decide(mid func(i int) *big.Float, radius []*big.Float, weights []int64) (map[int]*big.Float, error) {
	f := e.Z.Format()
	open := e.Open[:0]
	ties := map[int]*big.Float{}
	suspects := true
	var most *big.Float // the largest weighted magnitude of all entries, as far as known
	for _, i := range e.Open {
		x := mid(i)
		if radius[i].Sign() == 0 {
			e.Z.SetBig(i, e.J, x.Add(x, new(big.Float))) // no -0
			Lose(e.s, e.Z, i, e.J, x, x)
			continue
		}
		p := interval.Prec(x.Prec() + 192)
		lo, hi := p.Difference(p.Down(), x, radius[i], -1), p.Difference(p.Up(), x, new(big.Float).Neg(radius[i]), 1)
		lower, upper := num.NewScalar(f, lo), num.NewScalar(f, hi)
		if lower.Same(upper) {
			e.Z.SetEntry(i, e.J, lower)
			Lose(e.s, e.Z, i, e.J, lo, hi)
			continue
		}
		open = append(open, i)
		t, spacing := Tie(lower, upper)
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
		if t == nil || new(big.Float).SetMantExp(radius[i], Suspicion).Cmp(spacing) > 0 {
			suspects = false
		}
		ties[i] = t
	}
	e.Open = open
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

// Missing returns how many bits narrower the enclosures must be so that most open entries are
// decided.
func (e *Entries) Missing(mid func(i int) *big.Float, radius []*big.Float) (bits float64) {
	for _, i := range e.Open {
		if x := mid(i); x.Sign() != 0 && radius[i].Sign() != 0 {
			bits = max(bits, float64(radius[i].MantExp(nil)-x.MantExp(nil)+e.Z.Format().Bits()+4))
		}
	}
	return bits
}

// Tie returns the number t between lower and upper at which rounding changes from lower to upper,
// and the distance of lower and upper; nil if rounding changes at several numbers.
func Tie(lower, upper num.Scalar) (t, distance *big.Float) {
	if lower.IsInf(0) || upper.IsInf(0) {
		if lower.IsInf(-1) && upper.IsInf(1) {
			return nil, nil
		}
		t, distance = Border(lower.Format())
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

// Border returns the least magnitude that rounds to infinity in a format, and the distance of the
// numbers around it.
func Border(f num.Format) (t, spacing *big.Float) {
	r := formatOf(f).Border()
	n := new(big.Int)
	for k := len(r.Mag) - 1; k >= 0; k-- {
		n.Lsh(n, 64).Or(n, new(big.Int).SetUint64(r.Mag[k]))
	}
	t = ExactInt(n)
	return t.SetMantExp(t, int(r.Exp)), new(big.Float).SetMantExp(big.NewFloat(1), int(r.Exp)+1)
}

// formatOf returns a format in package num's representation.
func formatOf(f num.Format) num.Format { return num.NewMat(f, 0, 0).Arr.Format }

// solved reports whether the column of decided entries and these ties solves the system exactly. If
// so it stores the ties.
func (e *Entries) solved(ties map[int]*big.Float) (bool, error) {
	n := e.Z.Rows
	x := make([]*big.Float, n)
	prec := uint(num.MinPrec)
	for i := range x {
		if x[i] = ties[i]; x[i] == nil {
			if e.Z.Entry(i, e.J).IsInf(0) {
				return false, nil
			}
			x[i] = e.Z.Big(i, e.J)
		}
		prec = max(prec, x[i].MinPrec())
	}
	r := num.NewMat(num.Precision(64), n, 1)
	b := e.b.Slice(0, n, e.J, e.J+1)
	if err := e.s.Gemm(-1, e.a, num.Bigs(num.Precision(prec), n, 1, x), 1, b, r); err != nil {
		return false, err
	}
	for i := range n {
		if r.Big(i, 0).Sign() != 0 {
			return false, nil
		}
	}
	for i, t := range ties {
		e.Z.SetBig(i, e.J, new(big.Float).Copy(t))
		Lose(e.s, e.Z, i, e.J, t, t)
	}
	e.Open = e.Open[:0]
	e.s.Stats.Solved++
	e.s.Stats.Exact += int64(len(ties))
	return true, nil
}

// padic is a dyadic rational u/2^t as a p-adic integer.
type padic struct {
	u, power *big.Int // power = 2^t
	inverse  uint64   // of power, modulo p
}

// digit removes and returns the next p-adic digit, between -p/2 and p/2.
func (d *padic) digit(f *modular.Field) int64 {
	z := f.Balanced(f.Value(f.Mul(f.Integer(d.u), d.inverse)))
	v := big.NewInt(z)
	d.u.Sub(d.u, v.Mul(v, d.power))
	d.u.Quo(d.u, v.SetUint64(f.P))
	return z
}

// Suspects are open entries of a column that may equal the numbers in Ties.
type Suspects struct {
	*Entries
	Ties map[int]*big.Float
}

// lifted are suspects whose p-adic digits are being compared.
type lifted struct {
	Suspects
	open map[int]*padic
	need int // bits of a power of p that proves a tie
}

// Lift decides whether entries are their ties, by comparing the p-adic digits of the ties with the
// digits of the solutions. All columns in list belong to one system.
//
// Let A and b have integer entries, and let u/2^t be a tie of component i of A y = b. By Cramer's
// rule det(A) (2^t y_i - u) is the determinant of A with column i replaced by v = 2^t b - u a_i. It
// is an integer, and at most n max |v| times the largest minor. If a power of p that exceeds this
// bound divides it, which holds if so many digits agree, it is 0: the entry equals the tie.
func Lift(s *call.Run, list []Suspects) error {
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
					c.never[i] = c.Ties[i]
					delete(c.open, i)
				}
			}
		}
		s.Did(float64(k) * digit)
	}
}

// begin adds the column of B to a lifting and returns the ties with their p-adic expansions. The
// numbers y_j = 2^(shift + cols_j) x_j solve the system of integers with an integer right-hand
// side.
func (x Suspects) begin(l *modular.Lifting) *lifted {
	n := x.Z.Rows
	r, shift, top := l.Right(x.b, x.J)
	top = max(top, l.Z.MostBits())
	l.Add(r)
	open := map[int]*padic{}
	most := 0
	for i, t := range x.Ties {
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

// settle stores the ties whose digits all agree with the entries.
func (c *lifted) settle() {
	left := c.Entries.Open[:0]
	for _, i := range c.Entries.Open {
		if c.open[i] == nil {
			left = append(left, i)
			continue
		}
		c.Z.SetBig(i, c.J, new(big.Float).Copy(c.Ties[i]))
		Lose(c.s, c.Z, i, c.J, c.Ties[i], c.Ties[i])
		c.s.Stats.Ties++
		c.s.Stats.Exact++
	}
	c.Entries.Open = left
}

// NewEntries returns the columns of the solution z of a z = b. All entries are open.
func NewEntries(s *call.Run, a, b, z num.Mat) []*Entries {
	todo, n := make([]*Entries, b.Cols), b.Rows
	room := make([]int, n*b.Cols)
	_ = par.Each(context.Background(), s.Threads, b.Cols, func(j int) {
		open := room[j*n : (j+1)*n : (j+1)*n]
		for i := range open {
			open[i] = i
		}
		todo[j] = &Entries{s: s, a: a, b: b, Z: z, J: j, Open: open, never: map[int]*big.Float{}}
	})
	return todo
}

// CountOpen counts the undecided entries.
func CountOpen(todo []*Entries) (n int) {
	for _, e := range todo {
		if e != nil {
			n += len(e.Open)
		}
	}
	return n
}

// Magnitudes returns upper bounds of |r_ij| 2^scale[i].
func Magnitudes(r num.Mat, j int, scale []int64) []*big.Float {
	z := make([]*big.Float, r.Rows)
	for i := range z {
		x, e := r.Arr.Leading(r.At(i, j))
		z[i] = bound.ScaledUp(bound.Upper().SetFloat64(math.Abs(x)*(1+0x1p-46)), e+scale[i])
	}
	return z
}

// OpenColumns counts the columns in todo that are not nil, which have undecided entries.
func OpenColumns(todo []*Entries) (n int) {
	for _, e := range todo {
		if e != nil {
			n++
		}
	}
	return n
}
