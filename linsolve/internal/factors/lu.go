package factors

import (
	"errors"
	"slices"

	"github.com/halfulp/halfulp/internal/lanes"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/modular"
	"github.com/halfulp/halfulp/internal/proof/scale"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/proof/ziv"
	"github.com/halfulp/halfulp/linsolve/internal/digits"
)

// LUByDigits returns factors of a square matrix by elimination in digits, with errors of about
// 2^-bits times the largest entries of rows of L and columns of U. It returns nil if digits are not
// applicable. known says whether a is already known to be regular.
func LUByDigits(s *call.Run, a num.Mat, bits int, known *bool) (*digits.LU, error) {
	m, n := a.Dims()
	if m != n || n*3 > digits.FactorDigits*lanes.Count() {
		return nil, nil
	}
	// Rows are not scaled: that might change pivots.
	by, tops := scale.Unscaled(n, n), scale.TopsOn(s.Threads, a)
	high := make([]int64, n)
	err := par.Each(s.Ctx, s.Threads, n, func(j int) { high[j] = slices.Max(tops.Top[j*n : (j+1)*n]) })
	if err != nil || slices.Contains(high, scale.None) {
		return nil, err
	}
	for j, e := range high {
		by.Cols[j] = -e
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
	var z *digits.LU
	loop := ziv.Loop{What: "an elimination in digits", First: cond + wanted, Most: digits.RootDigits * lanes.Bits()}
	err = ziv.Decide(s, loop, func(all int) (more int, err error) {
		d, ok := digits.CountFor(s, n, all, digits.RootDigits)
		if !ok || n*d > digits.FactorDigits*lanes.Count() {
			return ziv.Done, nil
		}
		s.Plan(digits.Cost(n, d) + call.WantedCost(s, n, n)) // may fuse: an estimate
		t, more, err := digits.Eliminate(s, a, f, d, 0)
		switch {
		case err == nil && t.LUBits() >= bits:
			s.Stats.Rho, s.Stats.Precision = t.Rho, d*t.Bits()
			z, err = t.Factors()
			return ziv.Done, err
		case err == nil:
			more = bits - t.LUBits()
		case errors.Is(err, call.ErrRange):
			return ziv.Done, nil
		}
		return max(more, (all-wanted)/4), seed.AskForMore(s, err, a, known)
	})
	return z, err
}

// FactorLU returns the factors of a in format f, where a lives, with a copy of a.
func FactorLU(s *call.Run, a num.Mat, f num.Format) (*LUFactors, error) {
	defer s.Release()
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
	return z, Keep(s, a, &z.A, &z.L, &z.U)
}

// LU returns the factors of a matrix on the host.
func LU(s *call.Run, a num.Mat, f num.Format) (*LUFactors, error) {
	if err := call.FiniteOn(s.Threads, "A", a); err != nil {
		return nil, err
	}
	if err := call.Workable(0, a); err != nil {
		return nil, err
	}
	p := &lu{attempt: attempt{s: s, f: f}, a: a, digits: true, first: true}
	theory := ziv.Theory{Need: func() ziv.Need { return ziv.NeedOf(a, min(a.Rows, a.Cols), f, false) }, Regular: p.full}
	err := decide(p, &p.attempt, luWays, theory)
	return p.z, err
}

// lu is the problem of enclosing the factors of A.
type lu struct {
	attempt
	a       num.Mat
	z       *LUFactors
	checked bool     // it is known whether A has full rank
	digits  bool     // digits have not failed yet
	newton  *Pivoted // nil if there is none yet, or if it has failed
	first   bool     // no seed of newton has succeeded or finally failed
	long    bool     // the seed of newton has more bits than float64
}

var luWays = []call.Way[*lu]{
	{Name: call.ByDigits, Applies: func(p *lu) bool { return p.a.Rows == p.a.Cols && digits.Available(p.s) }, Faster: func(p *lu) bool { return p.digits }, Run: (*lu).byDigits},
	{Name: call.ByNewton, Run: (*lu).byNewton},
	{Name: call.ByLongSeed, Faster: func(p *lu) bool { return p.first }, Run: (*lu).byLongSeed},
	{Name: call.ByIntervals, Run: (*lu).byIntervals},
	{Name: call.ByElimination, Run: (*lu).byElimination},
}

// k is the number of pivots.
func (p *lu) k() int { return min(p.a.Rows, p.a.Cols) }

// full returns an error if A does not have full rank. It checks at the first call only.
func (p *lu) full() error {
	if p.checked {
		return nil
	}
	p.checked = true
	return ziv.FullRank(p.s, p.a.Slice(0, p.a.Rows, 0, p.k()))
}

// set allocates the factors for an order of pivots, unless they exist.
func (p *lu) set(order []int) {
	if p.z == nil || !slices.Equal(p.z.P, order) {
		p.z = &LUFactors{P: order, L: num.NewMat(p.f, p.a.Rows, p.k()), U: num.NewMat(p.f, p.k(), p.a.Cols)}
		var c num.Mat
		if p.newton != nil && slices.Equal(p.newton.Order, order) {
			c = p.newton.C
		} else {
			c = modular.Chosen(p.a, order, call.All(p.a.Cols))
		}
		p.u = p.z.Unknown(c)
	}
}

func (p *lu) byDigits() error {
	z, u, e, err := luAttempt(p.s, p.a, p.f, p.bits-ziv.SpareBits, &p.checked, p.z, p.u)
	if p.digits = e != nil; p.digits {
		p.z, p.u, p.e = z, u, e
	}
	return err
}

func (p *lu) byNewton() (err error) {
	if p.newton == nil && p.first {
		if err := reserve(p.s, p.a, p.k(), p.f.Bits(), p.k()*(p.a.Rows+p.a.Cols-p.k())); err != nil {
			return err
		}
		if !p.small(p.k(), call.ByNewton) {
			if p.newton, err = NewPivoted(p.s, p.a, MostBits(p.f)); err != nil {
				return err
			}
		}
	}
	if p.newton == nil {
		return nil
	}
	return p.improved(p.newton.Enclosure(p.bits - ziv.SpareBits))
}

// byLongSeed uses a seed in more bits than float64: for an ill-conditioned A, and for pivots nearly
// tied with other entries.
func (p *lu) byLongSeed() error {
	p.first = false
	if p.long && p.newton != nil {
		return p.improved(p.newton.Enclosure(p.bits - ziv.SpareBits))
	}
	p.long = true
	if p.small(p.k(), call.ByLongSeed) {
		p.newton = nil
		return nil
	}
	var e *ziv.Enclosure
	var err error
	p.newton, e, err = LUByElimination(p.s, p.a, MostBits(p.f), p.bits-ziv.SpareBits, p.full)
	return p.improved(e, err)
}

// improved accepts an enclosure by newton if it proves the pivots.
func (p *lu) improved(e *ziv.Enclosure, err error) error {
	if err != nil {
		return err
	}
	if e != nil {
		p.set(p.newton.Order)
		ok, err := PivotsAreFirst(p.s, p.u, e, p.newton.Order)
		if err != nil {
			return err
		}
		if ok {
			p.e, p.first = e, false
			return nil
		}
	}
	if !p.first {
		p.newton = nil
	}
	return nil
}

func (p *lu) byIntervals() error {
	if is, err := p.farApart(p.a); err != nil || !is {
		return err
	}
	g, err := EliminateIntervals(p.s, p.a, ziv.Ones(p.k()), p.bits, true)
	if err != nil || g.Bad >= 0 {
		return err
	}
	p.set(g.Order)
	return p.below(g.enclosure(p.bits))
}

func (p *lu) byElimination() error {
	g, err := seed.Eliminate(p.s, p.a, p.k(), p.bits, true)
	if err != nil {
		return err
	}
	if g.Zero >= 0 {
		return p.full()
	}
	p.set(g.Order)
	li, ui, err := seed.TriangleInverses(p.s, g.LU, p.k())
	if err != nil {
		return err
	}
	e, err := ziv.Enclose(p.s, p.u.C, li, ui, p.bits)
	if err != nil {
		return err
	}
	if e == nil {
		return p.full()
	}
	return p.below(e)
}

// below accepts an enclosure if it proves the pivots.
func (p *lu) below(e *ziv.Enclosure) error {
	ok, err := BelowLimit(p.s, p.u, e, seed.Slack)
	if ok {
		p.e = e
	}
	return err
}

// luAttempt is an attempt by digits. It computes factors with all decided entries, unless z already
// has the same pivots. The enclosure is nil if digits are not applicable.
func luAttempt(s *call.Run, a num.Mat, f num.Format, bits int, known *bool, z *LUFactors, u *ziv.Unknown) (*LUFactors, *ziv.Unknown, *ziv.Enclosure, error) {
	defer s.Temporary()()
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
