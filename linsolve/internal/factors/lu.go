package factors

import (
	"errors"
	"slices"

	"github.com/halfulp/halfulp/internal/lanes"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/modular"
	"github.com/halfulp/halfulp/internal/proof/scale"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/proof/ziv"
	"github.com/halfulp/halfulp/linsolve/internal/digits"
)

// LUByDigits returns factors of a square matrix by elimination in digits, with errors of about
// 2^-bits of the largest entries of rows of L and columns of U; nil where that is not the way. It
// is known whether a is regular if known says so.
func LUByDigits(s *call.Run, a num.Mat, bits int, known *bool) (*digits.LU, error) {
	m, n := a.Dims()
	if m != n || n*3 > digits.FactorDigits*lanes.Count() {
		return nil, nil
	}
	// Rows are not scaled: that might change pivots.
	by, tops := scale.Unscaled(n, n), scale.TopsOf(a)
	for j := range n {
		high := slices.Max(tops.Top[j*n : (j+1)*n])
		if high == scale.None {
			return nil, nil
		}
		by.Cols[j] = -high
	}
	release := s.Temporary()
	f, err := seed.NewFactors(s, a, by)
	if err != nil {
		return nil, err
	}
	cond, err := seed.Loss(s, f)
	if err != nil {
		return nil, err
	}
	if cond > seed.LossyBits {
		cond = f.ConditionBits()
	}
	release()
	f.LU = nil
	wanted := bits + digits.LUSpare(n)
	for {
		d, ok := digits.CountFor(s, n, cond+wanted, digits.RootDigits)
		if !ok || n*d > digits.FactorDigits*lanes.Count() {
			return nil, nil
		}
		s.Plan(digits.Cost(n, d) + call.WantedCost(s, n, n)) // may fuse: an estimate
		t, more, err := digits.Eliminate(s, a, f, d, 0)
		switch {
		case err == nil:
			if more = t.LUBits() - bits; more >= 0 {
				s.Stats.Rho, s.Stats.Precision = t.Rho, d*t.Bits()
				return t.Factors()
			}
			more = -more
		case errors.Is(err, call.ErrRange):
			return nil, nil
		default:
			if err := seed.AskForMore(s, err, a, known); err != nil {
				return nil, err
			}
		}
		cond += max(more, cond/4)
	}
}

// FactorLU returns the factors where a lives, with a copy of it.
func FactorLU(s *call.Run, a num.Mat, f num.Format) (*LUFactors, error) {
	z, err := luThere(s, a, f)
	if err != nil {
		return nil, err
	}
	if z == nil {
		here := a
		if !a.OnHost() {
			if here, err = place.On(nil, a); err != nil {
				return nil, err
			}
		}
		if z, err = LU(s, here, f); err != nil {
			return nil, err
		}
		countOverflow(s, z.L, z.U)
	}
	return z, Keep(a, &z.A, &z.L, &z.U)
}

// LU returns the factors of a matrix of the host.
func LU(s *call.Run, a num.Mat, f num.Format) (*LUFactors, error) {
	if err := call.Finite("A", a); err != nil {
		return nil, err
	}
	if err := call.Workable(0, a); err != nil {
		return nil, err
	}
	m, n := a.Dims()
	k := min(m, n)
	var z *LUFactors
	var u *ziv.Unknown
	checked := false
	full := func() error {
		if checked {
			return nil
		}
		checked = true
		return ziv.FullRank(s, a.Slice(0, m, 0, k))
	}
	var origin *Pivoted
	first, digits := true, true
	set := func(order []int) {
		if z == nil || !slices.Equal(z.P, order) {
			z = &LUFactors{P: order, L: num.NewMat(f, m, k), U: num.NewMat(f, k, n)}
			var c num.Mat
			if origin != nil && slices.Equal(origin.Order, order) {
				c = origin.C
			} else {
				c = modular.Chosen(a, order, call.All(n))
			}
			u = z.Unknown(c)
		}
	}
	limits := ziv.Theory{Need: func() ziv.Need { return ziv.NeedOf(a, k, f, false) }, Regular: full}
	err := ziv.DecideAll(s, f, limits, func(bits int) (*ziv.Unknown, *ziv.Enclosure, error) {
		if digits {
			made, v, e, err := luAttempt(s, a, f, bits-ziv.SpareBits, &checked, z, u)
			if err != nil {
				return nil, nil, err
			}
			if digits = e != nil; digits {
				z, u = made, v
				return u, e, nil
			}
		}
		var e *ziv.Enclosure
		var err error
		if first {
			if err = reserve(s, a, k, f.Bits(), k*(m+n-k), 0); err != nil {
				return nil, nil, err
			}
			if origin, err = NewPivoted(s, a, MostBits(f)); err != nil {
				return nil, nil, err
			}
		}
		if origin != nil {
			e, err = origin.Enclosure(bits - ziv.SpareBits)
		}
		for ; ; first = false {
			if e != nil {
				set(origin.Order)
				if ok, err := PivotsAreFirst(s, u, e, origin.Order); ok || err != nil {
					first = false
					return u, e, err
				}
			}
			if err != nil {
				return nil, nil, err
			}
			if !first {
				break
			}
			// A is ill-conditioned, or pivots are as large as others, which takes more bits.
			origin, e, err = LUByElimination(s, a, MostBits(f), bits-ziv.SpareBits, full)
		}
		origin = nil
		if is, err := byIntervals(s, a, f, bits); err != nil {
			return nil, nil, err
		} else if is {
			g, err := EliminateIntervals(s, a, ziv.Ones(k), bits, true)
			if err != nil {
				return nil, nil, err
			}
			if g.Bad < 0 {
				set(g.Order)
				e := g.enclosure(bits)
				if ok, err := BelowLimit(s, u, e, seed.Slack); ok || err != nil {
					return u, e, err
				}
			}
		}
		g, err := seed.Eliminate(s, a, k, bits, true)
		if err != nil {
			return nil, nil, err
		}
		if g.Zero >= 0 {
			return nil, nil, full()
		}
		set(g.Order)
		li, ui, err := seed.TriangleInverses(s, g.LU, k)
		if err != nil {
			return nil, nil, err
		}
		if e, err = ziv.Enclose(s, u.C, li, ui, bits); err != nil {
			return nil, nil, err
		}
		if e == nil {
			return nil, nil, full()
		}
		if ok, err := BelowLimit(s, u, e, seed.Slack); !ok || err != nil {
			return nil, nil, err
		}
		return u, e, nil
	})
	return z, err
}

// luAttempt is an attempt by digits, and makes factors with all that is decided, unless z are those
// for its pivots. There is no enclosure where digits are not the way.
func luAttempt(s *call.Run, a num.Mat, f num.Format, bits int, known *bool, z *LUFactors, u *ziv.Unknown) (*LUFactors, *ziv.Unknown, *ziv.Enclosure, error) {
	defer s.Release()
	t, err := LUByDigits(s, a, bits, known)
	if t == nil || err != nil {
		return nil, nil, nil, err
	}
	if z == nil || !slices.Equal(z.P, t.Order) {
		n := t.N
		z = &LUFactors{P: t.Order, L: num.NewMat(f, n, n), U: num.NewMat(f, n, n)}
		lower, upper, ok, err := t.RoundTo(z.L, z.U)
		if !ok || err != nil {
			return nil, nil, nil, err
		}
		s.Did(call.WantedCost(s, n, n))
		u = &ziv.Unknown{K: n, Blocks: ziv.Ones(n)}
		if len(lower)+len(upper) > 0 {
			u.C = modular.Chosen(a, t.Order, call.All(n))
			u.Fill()
		}
		for _, at := range lower {
			u.Want(ziv.OfL, at[0], at[1], z.L, at[0], at[1])
		}
		for _, at := range upper {
			u.Want(ziv.OfU, at[0], at[1], z.U, at[0], at[1])
		}
	}
	return z, u, t.Enclosure(u), nil
}
