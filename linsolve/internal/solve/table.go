package solve

import (
	"math"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/minors"
	"github.com/halfulp/halfulp/internal/proof/newton"
	"github.com/halfulp/halfulp/internal/proof/refine"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/proof/ziv"
	"github.com/halfulp/halfulp/linsolve/internal/blocks"
	"github.com/halfulp/halfulp/linsolve/internal/digits"
)

// problem is a system A X = B on the host, whose solution in z is not decided yet.
type problem struct {
	s       *call.Run
	a, b, z num.Mat
	todo    []*ziv.Entries // the open entries of z
	lu      *seed.Factors  // nil only while residuals and minors are tried
	minors  *minors.System // [A B] as integers, or nil
	few     bool           // columns are few: they are solved one after the other
	// approximate is an inverse of A, proved if its Rho is not nil. It is nil if none has been
	// computed yet.
	approximate *seed.Approximate
	entries     int  // the number of entries that were open at first
	short       bool // memory does not suffice for Newton's method with many columns
	// exactly is the cost of a solution in rational numbers, see exactCost; 0 before rationalsCost
	// computes it.
	exactly float64
}

// Open reports whether entries are left to be decided.
func (p *problem) Open() bool { return ziv.CountOpen(p.todo) > 0 }

// ways are the methods for systems, faster ones first. The last one decides all entries.
//
// The table has an order and conditions instead of a cost for each way, because the cost of a way
// depends on the results of the ways before it: pivots, a proved inverse, a column that shows its
// number of digits. Two comparisons of costs are possible beforehand, and conditions make them: of
// digits with products (digits.Quick), and of p-adic digits with eliminations (fewerDigits,
// byElimination).
var ways = []call.Way[*problem]{
	{Name: call.ByResiduals, Applies: hasResiduals, Faster: shortResiduals, Run: byResiduals},
	{Name: call.ByMinors, Applies: hasMinors, Faster: shortMinors, Run: byMinors},
	{Name: call.ByTriangles, Faster: few, Run: byTriangles},
	{Name: call.BySlices, Applies: func(p *problem) bool { return newton.Short(p.s, p.a, p.b, p.z) && p.fits(p.floatBytes()) }, Faster: many, Run: timed(newton.InverseBySlices)},
	{Name: call.BySeries, Applies: func(p *problem) bool {
		return newton.Longer(p.s, p.a, p.b, p.z) && p.fits(p.floatBytes())
	}, Faster: func(p *problem) bool { return many(p) && newton.SeriesSuffices(p.s, p.lu, p.z.Format()) }, Run: timed(newton.InverseBySeries)},
	{Name: call.ByDigits, Applies: func(p *problem) bool { return ziv.IsIdentity(p.b) && digits.HasInverse(p.s, p.lu, p.z.Format()) }, Faster: func(p *problem) bool {
		return many(p) && ziv.IsIdentity(p.b) && digits.Quick(p.s, p.a, p.lu, p.z.Format())
	}, Run: timed(digits.QuickInverse)},
	{Name: call.ByFloats, Applies: func(p *problem) bool {
		return seed.Sliceable(p.s, p.a) && p.fits(p.floatBytes()+p.newtonBytes(newton.Columns{Width: p.b.Cols}))
	}, Faster: many, Run: timed(newton.SolveByNewton)},
	{Name: call.ByElimination, Applies: func(p *problem) bool { return p.a.Rows > 1 }, Faster: unproved, Run: byElimination},
	{Name: call.ByRationals, Applies: func(p *problem) bool { return !math.IsInf(p.rationalsCost(), 1) }, Faster: fewerDigits, Run: byRationals},
	{Name: call.ByProducts, Run: byProducts},
}

func few(p *problem) bool { return p.few }

func many(p *problem) bool { return !p.few }

// timed returns the Run of a way that needs only the float64 factors. Its temporary memory is
// released afterwards.
func timed(run func(s *call.Run, a, b num.Mat, f *seed.Factors, z num.Mat, todo []*ziv.Entries) error) func(p *problem) error {
	return func(p *problem) error {
		defer p.s.Temporary()()
		return run(p.s, p.a, p.b, p.lu, p.z, p.todo)
	}
}

// refined solves column by column with an inverse that has just been computed.
func (p *problem) refined(r seed.Inverse, rounds int, rho, norm float64) error {
	s := p.s
	seed.Note(s, rounds, rho, bound.Upper().SetFloat64(norm), bound.Upper().SetFloat64(p.lu.Norm))
	s.Stage("approximate inverse")
	defer s.Stage("refinement")
	return refine.SolveFew(s, p.a, p.b, p.z, r, p.todo)
}

// byTriangles solves with the float64 inverses of the triangular factors, or with the product of
// the inverses.
func byTriangles(p *problem) error {
	r, rho, norm, err := seed.InvertFactors(p.s, p.a, p.lu, len(p.todo), rowBytes(p.a, p.z.Format()))
	if r == nil || err != nil {
		return err
	}
	return p.refined(r, 1, rho, norm)
}

// unproved reports whether columns are few and no float64 inverse of A is proved. It computes one
// if the pivots say that it may be provable.
func unproved(p *problem) bool {
	if !p.few {
		return false
	}
	if p.lu.PivotsAbove(blocks.PivotRange) == p.a.Rows {
		// It fails only for numbers out of range, or because it is cancelled. Either error recurs
		// where the inverse is needed.
		if made, err := seed.FirstInverse(p.s, p.a, p.lu); err == nil {
			p.approximate = made
		}
	}
	return p.approximate == nil || p.approximate.Rho == nil
}

// untouched reports whether the ways so far have decided no entry and proved no inverse.
func (p *problem) untouched() bool {
	return (p.approximate == nil || p.approximate.Rho == nil) && ziv.CountOpen(p.todo) == p.entries
}

// rationalsCost estimates, once, the cost of the solution of the open columns in rational numbers.
func (p *problem) rationalsCost() float64 {
	if p.exactly == 0 {
		p.exactly = exactCost(p.s, p.a, p.b, ziv.OpenColumns(p.todo))
	}
	return p.exactly
}

// othersCost estimates the cost of the other ways if the ways with float64 inverses decide nothing.
func (p *problem) othersCost() float64 {
	if p.few {
		return call.InvertInCost(p.a.Rows, seed.MostBlockBits)
	}
	// Products were not enough, so an inverse of more bits than the pivots suggest is needed, and
	// refinement as well.
	return 4 * call.InvertInCost(p.a.Rows, max(p.lu.ConditionBits()+64, seed.MostBlockBits/2))
}

// fewerDigits reports whether p-adic digits cost less than the products of other ways. If columns
// are many, the first one shows how many digits it takes. Products are tried first if the pivots
// show how ill-conditioned A is. They do, except for some matrices such as matrices of integers
// with a small determinant.
func fewerDigits(p *problem) bool {
	if !p.untouched() {
		return false
	}
	if !p.few {
		loss, err := seed.Loss(p.s, p.lu)
		above := p.lu.PivotsAbove(math.Ldexp(1, -seed.Seen)) // usually all but the last
		if err != nil || loss <= seed.LossyBits || above < p.a.Rows-p.a.Rows/10 {
			return false
		}
	}
	other := p.othersCost()
	return p.rationalsCost() < other || !p.few && exactCost(p.s, p.a, p.b, 1) < other/4
}

// byRationals solves in rational numbers.
func byRationals(p *problem) error {
	other := 0.0
	if !call.Forced(p.s.Ctx, call.ByRationals) {
		other = p.othersCost()
	}
	defer p.s.Stage("rational numbers")
	return solveExactly(p.s, p.a, p.b, p.todo, other)
}

// byElimination solves with the inverse that an elimination, in fixed point or by blocks,
// represents.
func byElimination(p *problem) error {
	other := p.rationalsCost
	if call.Forced(p.s.Ctx, call.ByElimination) || !p.untouched() {
		other = func() float64 { return math.Inf(1) }
	}
	r, rho, norm, err := invertBlocks(p.s, p.a, p.lu, p.z.Format().Bits(), other)
	if r == nil || err != nil {
		return err
	}
	p.s.Work.Guessed = false
	return p.refined(r, 1+p.s.Stats.Rounds, rho, norm)
}

// byProducts solves with an approximate inverse in as many bits as are needed. Newton's method
// solves for many columns; refinement solves for few columns and for the entries that Newton's
// method leaves open.
func byProducts(p *problem) (err error) {
	s := p.s
	by := newton.Columns{Width: p.b.Cols}
	if !p.few {
		var ok bool
		if by, ok = p.columns(); !ok {
			p.short = true
			return nil
		}
	}
	if p.approximate == nil {
		if p.approximate, err = seed.FirstInverse(s, p.a, p.lu); err != nil {
			return err
		}
	}
	s.Work.Guessed = p.approximate.Rho == nil
	if p.approximate.Rho == nil || call.Forced(s.Ctx, call.InverseWays...) {
		end := s.Before(solutionLeft(s, p.a, len(p.todo), p.z.Format().Bits()))
		p.approximate, err = invertBy(s, p.a, p.lu, p.approximate)
		end()
		if err != nil {
			return err
		}
		s.Work.Guessed = false // the inverse is proved
	}
	s.Stage("approximate inverse")
	return solveOpen(s, p.approximate, p.a, p.b, p.z, p.todo, p.few, by)
}
