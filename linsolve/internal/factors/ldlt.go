package factors

import (
	"slices"

	"github.com/halfulp/halfulp/internal/lanes"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/modular"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/proof/ziv"
	"github.com/halfulp/halfulp/linsolve/internal/digits"
)

// FactorLDLT returns the factors of a in format f, where a lives, with a copy of a. here is a on
// the host.
func FactorLDLT(s *call.Run, a, here num.Mat, f num.Format) (*LDLTFactors, error) {
	defer s.Release()
	if err := call.FiniteOn(s.Threads, "A", here); err != nil {
		return nil, err
	}
	if err := ziv.Symmetric(s.Threads, "A", here); err != nil {
		return nil, err
	}
	var seed *Rooked
	var z *LDLTFactors
	if !a.OnHost() {
		var err error
		if seed, err = newRook(s, here, MostBits(f)); err != nil {
			return nil, err
		}
		if z, err = LDLTThere(s, a, f, seed); err != nil {
			return nil, err
		}
	}
	if z == nil {
		var err error
		if z, err = ldlt(s, here, f, seed); err != nil {
			return nil, err
		}
		countOverflow(s, z.L, z.D)
	}
	return z, Keep(s, a, &z.A, &z.L, &z.D)
}

// ldlt returns the factors on the host. origin is a seed from newRook, or nil if none has been
// computed.
func ldlt(s *call.Run, a num.Mat, f num.Format, origin *Rooked) (*LDLTFactors, error) {
	p := &ldltFactors{attempt: attempt{s: s, f: f}, a: a, z: &LDLTFactors{}, newton: origin}
	p.seeds = []func(some int) (*Rook, error){func(some int) (*Rook, error) { return RookOf(s, a, some) }}
	if origin == nil && !s.Set.Check && lanes.Bits() > 0 {
		var err error
		if p.pivots, err = seed.RookForDigits(s, a, MostBits(f)); err != nil {
			return nil, err
		}
	}
	// Without digits the pivots come from float64 arithmetic, as at the instruction-set levels that
	// have no digits.
	if p.digits = p.pivots != nil; !p.digits {
		if err := p.begin(); err != nil {
			return nil, err
		}
	}
	theory := ziv.Theory{Need: func() ziv.Need { return ziv.NeedOf(a, a.Rows, f, false) }, Regular: p.full}
	if err := decide(p, &p.attempt, ldltWays, theory); err != nil {
		return nil, err
	}
	z, b := p.z, 0
	for _, size := range z.Blocks {
		if size == 2 {
			z.D.SetEntry(b+1, b, z.D.Entry(b, b+1))
		}
		b += size
	}
	return z, nil
}

// ldltFactors is the problem of enclosing the factors of A.
type ldltFactors struct {
	attempt
	a       num.Mat
	z       *LDLTFactors
	checked bool            // it is known whether A has full rank
	pivots  *seed.RookOrder // for digits; nil if digits are not applicable
	digits  bool            // digits have not failed yet
	begun   bool            // newton has been computed, or has failed
	newton  *Rooked         // nil if there is none yet, or if it has failed
	// seeds compute long seeds. If there are two, the first one uses the pivots of the float64
	// seed. The last one chooses its own pivots. A seed that has been tried is removed.
	seeds    []func(some int) (*Rook, error)
	rook     *Rook // an elimination in rookBits
	rookBits int
}

var ldltWays = []call.Way[*ldltFactors]{
	{Name: call.ByDigits, Applies: func(p *ldltFactors) bool { return p.pivots != nil }, Faster: func(p *ldltFactors) bool { return p.digits }, Run: (*ldltFactors).byDigits},
	{Name: call.ByNewton, Applies: seeded, Run: (*ldltFactors).byNewton},
	{Name: call.ByLongSeed, Applies: seeded, Run: (*ldltFactors).byLongSeed},
	{Name: call.ByIntervals, Run: (*ldltFactors).byIntervals},
	{Name: call.ByElimination, Run: (*ldltFactors).byElimination},
}

// seeded reports whether pivots come from a float64 seed. Smaller matrices have the pivots of an
// elimination, even if the context forces a way: either choice may be good enough, and the factors
// depend on it.
func seeded(p *ldltFactors) bool { return p.a.Rows >= seed.Fewest }

// full returns an error if A does not have full rank. It checks at the first call only.
func (p *ldltFactors) full() error {
	if p.checked {
		return nil
	}
	p.checked = true
	return ziv.FullRank(p.s, p.a)
}

// set allocates the factors for pivots and blocks, unless they exist.
func (p *ldltFactors) set(order, blocks []int) {
	if p.u == nil || !slices.Equal(p.z.P, order) || !slices.Equal(p.z.Blocks, blocks) {
		n := p.a.Rows
		p.z = &LDLTFactors{P: order, Blocks: blocks, L: num.NewMat(p.f, n, n), D: num.NewMat(p.f, n, n)}
		p.u = p.z.unknown(modular.Chosen(p.a, order, order))
	}
}

// begin computes a float64 seed if there is none yet.
func (p *ldltFactors) begin() (err error) {
	if p.begun {
		return nil
	}
	p.begun = true
	if n := p.a.Rows; p.newton == nil {
		if err := reserve(p.s, p.a, n, p.f.Bits(), n*(n+1)/2); err != nil {
			return err
		}
		if p.newton, err = newRook(p.s, p.a, MostBits(p.f)); err != nil {
			return err
		}
	}
	if origin := p.newton; origin != nil {
		p.seeds = append([]func(some int) (*Rook, error){func(some int) (*Rook, error) { return rookAgain(p.s, origin, some) }}, p.seeds...)
	}
	return nil
}

func (p *ldltFactors) byDigits() error {
	t, z, u, err := ldltAttempt(p.s, p.a, p.f, p.pivots, p.bits-ziv.SpareBits, p.full, p.z, p.u)
	if err != nil {
		return err
	}
	p.z, p.u = z, u
	if p.digits = t != nil; !p.digits {
		return p.begin()
	}
	p.e = t.Enclosure(u)
	return nil
}

func (p *ldltFactors) byNewton() error {
	if err := p.begin(); err != nil || p.newton == nil {
		return err
	}
	e, err := p.newton.LUNewton.Enclosure(p.bits - ziv.SpareBits)
	if e == nil || err != nil {
		return err
	}
	return p.improved(e)
}

// improved accepts an enclosure by newton if it proves the pivots.
func (p *ldltFactors) improved(e *ziv.Enclosure) error {
	p.set(p.newton.Order, p.newton.Blocks)
	if err := p.below(e); err != nil || p.e != nil {
		return err
	}
	p.seeds = p.seeds[max(len(p.seeds)-1, 0):] // other pivots
	return nil
}

// byLongSeed uses seeds in more bits than float64: for an ill-conditioned A, and for pivots that
// float64 arithmetic does not determine.
func (p *ldltFactors) byLongSeed() error {
	if err := p.begin(); err != nil {
		return err
	}
	for len(p.seeds) > 0 {
		var e *ziv.Enclosure
		var err error
		p.newton, e, err = rookByElimination(p.s, p.a, MostBits(p.f), p.bits-ziv.SpareBits, p.full, p.seeds[0])
		if p.seeds = p.seeds[1:]; err != nil {
			return err
		}
		if e == nil {
			continue
		}
		if err := p.improved(e); err != nil || p.e != nil {
			return err
		}
	}
	p.newton = nil
	return nil
}

// eliminate computes pivots in the bits of the attempt, once. p.rook is nil if the elimination
// fails.
func (p *ldltFactors) eliminate() (err error) {
	if p.rookBits != p.bits {
		p.rookBits = p.bits
		p.rook, err = RookOf(p.s, p.a, p.bits)
	}
	if p.rook != nil {
		p.set(p.rook.Order, p.rook.Blocks)
	}
	return err
}

func (p *ldltFactors) byIntervals() error {
	if err := p.eliminate(); err != nil || p.rook == nil {
		return err
	}
	if is, err := p.farApart(p.a); err != nil || !is {
		return err
	}
	g, err := EliminateIntervals(p.s, p.u.C, p.rook.Blocks, p.bits, false)
	if err != nil || g.Bad >= 0 {
		return err
	}
	return p.below(g.enclosure(p.bits))
}

func (p *ldltFactors) byElimination() error {
	if err := p.eliminate(); err != nil {
		return err
	}
	if p.rook == nil {
		return p.full()
	}
	li, ui, err := blockInverses(p.s, p.rook, p.bits)
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
func (p *ldltFactors) below(e *ziv.Enclosure) error {
	ok, err := BelowLimit(p.s, p.u, e, seed.RookGrowth)
	if ok {
		p.e = e
	}
	return err
}

// ldltAttempt is an attempt by digits. The first time, when u is nil, it computes factors z with
// all decided entries. The elimination is nil if digits are not applicable.
func ldltAttempt(s *call.Run, a num.Mat, f num.Format, pivots *seed.RookOrder, bits int, regular func() error, z *LDLTFactors, u *ziv.Unknown) (*digits.LDLT, *LDLTFactors, *ziv.Unknown, error) {
	defer s.Temporary()()
	t, err := digits.NewLDLT(s, a, pivots, bits, regular)
	if t == nil || err != nil || u != nil {
		return t, z, u, err
	}
	n := a.Rows
	made := &LDLTFactors{P: pivots.Order, Blocks: pivots.Blocks, L: num.NewMat(f, n, n), D: num.NewMat(f, n, n)}
	lower, middle, ok, err := t.RoundTo(made.L, made.D)
	if !ok || err != nil {
		return nil, z, nil, err
	}
	s.Did(call.WantedCost(s, n, n) / 2)
	u = &ziv.Unknown{K: n, Blocks: made.Blocks}
	if len(lower)+len(middle) > 0 {
		u.C = modular.Chosen(a, made.P, made.P)
		u.Fill()
	}
	for _, at := range lower {
		u.Want(ziv.OfL, at[0], at[1], made.L, at[0], at[1])
	}
	for _, at := range middle {
		u.Want(ziv.OfU, at[0], at[1], made.D, at[0], at[1])
	}
	return t, made, u, nil
}
