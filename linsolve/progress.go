package linsolve

import (
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/newton"
	"github.com/halfulp/halfulp/internal/proof/refine"
	"github.com/halfulp/halfulp/internal/proof/scale"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/linsolve/internal/blocks"
)

// may fuse throughout: estimates of time, none of them a result.

// improvedCost is the cost of leading approximate inverses of the factors of an m x n matrix from
// a gain to an enclosure of so many bits, for one factor or both; see improved.
func improvedCost(m, n, gain, amp, bits int, both bool) (cost float64) {
	k, triangles := min(m, n), 0.5
	if both {
		triangles = 1
	}
	for last := false; !last; {
		next := bits
		for order(gain+newton.LateBits, next+3) > 4 {
			next = (next+3)/4 + 3
		}
		old, exact, near, square := call.MP(gain+amp+4), call.MP(next+amp+4), call.MP(next-gain+4), call.MP(next-2*gain+4)
		cost += 0.6 * call.ProductCost(m, k, k, exact, old, exact)      // V, of a triangle
		cost += triangles * call.ProductCost(k, k, k, old, exact, near) // E
		if terms := order(gain+newton.LateBits, next+3); terms > 2 {
			cost += float64(2*terms-5) * triangles * call.ProductCost(k, k, k, near, near, square)
		}
		cost += triangles * call.ProductCost(max(m, n), k, k, near, old, near)
		cost += 10 * triangles * float64(max(m, n)) * float64(k) * call.SumCost
		if last = next == bits; last && both {
			cost += call.ProductCost(k, k, n, old, exact, exact)
		}
		gain = next
	}
	return cost
}

// planSolve says what a solution for k columns takes where nothing is known of A's condition, to
// nobody yet.
func planSolve(s *call.Run, a num.Mat, f num.Format, k int) {
	if s.Work.Report == nil {
		return
	}
	n := a.Rows
	cost := call.SeedCost(n)
	if !call.Few(k, n) {
		cost += newton.ManyCost(n, k, f.Bits())
	}
	s.Work.Guessed = true // until pivots tell something of the condition number
	s.Plan(call.FactorCost(n) + cost)
}

// planBy is planSolve with factors, for a few columns one by one or for all.
func planBy(s *call.Run, lu *seed.Factors, one bool, a num.Mat, f num.Format, k int) {
	if s.Work.Report == nil {
		return
	}
	n, words := lu.N, f.Bits()/64+2
	cond := lu.ConditionBits()
	s.Work.Cond = cond
	well := cond <= seed.Seen+8
	s.Work.One = one
	if s.Work.Guessed = !well; !well {
		// It was twice as large for some, and not more than that for any. How many seeds it takes
		// and whether blocks do is known when they have succeeded.
		s.Work.Cond = cond * 3 / 2
	}
	columns := func(bits int, inverse float64) float64 {
		return float64(k) * refine.ColumnCost(n, words+bits/64, inverse)
	}
	switch {
	case well && one:
		s.Plan(call.SeedCost(n) + columns(0, 1))
	case well:
		s.Plan(call.SeedCost(n) + newton.ManyCost(n, k, f.Bits()))
	case one && cond <= blocks.MostOfBlocks:
		s.Plan(blocks.EliminationCost(n, blocks.Spare+cond, max(n/4, 32)) + columns(2*cond, call.SquareWords(cond+blocks.Spare)))
	case one:
		attempt := blocks.EliminationCost(n, blocks.Spare+cond, max(n/4, 32))
		s.Plan(attempt + seed.RoundsCost(a, 0, 0, s.Work.Cond) + solutionLeft(s, a, k, f.Bits()))
	default:
		s.Plan(seed.RoundsCost(a, 0, 0, s.Work.Cond) + solutionLeft(s, a, k, f.Bits()))
	}
}

// solutionLeft is the cost of a solution for k columns once an approximate inverse is known. Few
// columns are likely to have entries that only refinement reaches, far below others.
func solutionLeft(s *call.Run, a num.Mat, k, bits int) float64 {
	n, cond := a.Rows, s.Work.Cond
	switch {
	case s.Work.Report == nil:
		return 0
	case call.Few(k, n):
		column := refine.ColumnCost(n, (bits+cond)/64+2, call.SquareWords(cond)/2)
		gain := max(call.LikelyGain, seed.MaxRounds*scale.SeedBits-cond*6/5) // of a step
		return float64(k)*column + refine.RefinementCost(a, k, float64(bits+cond), float64(gain), cond, call.MP((bits+cond)/2))
	}
	return newton.ManyCost(n, k, bits+cond)
}

// planned says that an E of a gain is to lead to so many bits.
func (t *splitting) planned(gain, bits int) {
	if m, n := t.f.Dims(); t.s.Work.Report != nil {
		t.s.Plan(improvedCost(m, n, gain, t.amp, bits, true) + call.WantedCost(t.s, m, n))
	}
}

func (t *doubling) planned(gain, bits int) {
	if m := t.f.Rows; t.s.Work.Report != nil {
		t.s.Plan(improvedCost(m, t.n, gain, t.amp, bits, false) + call.WantedCost(t.s, m, t.n)/2)
	}
}

// planRoot says that a seed of some bits is to come from blocks, and to lead to so many.
func (t *doubling) planRoot(seed, bits int) {
	if m := t.f.Rows; t.s.Work.Report != nil {
		t.s.Plan(rootCost(t.n, seed) + improvedCost(m, t.n, likely, t.amp, bits, false) + call.WantedCost(t.s, m, t.n)/2)
	}
}

// rootCost is the cost of root where no block's seed comes from float64.
func rootCost(n, bits int) float64 {
	if n <= rootLeaf {
		return call.Cube(n) / 3 * (call.PanelCost + call.SquareWords(bits)*call.WordCost)
	}
	h := n / 2
	return call.FactorCost(n) + 2*call.ProductOf(h, h, h, bits) + 2*rootCost(h, bits)
}

// planEliminated says that a seed of an m x n matrix is to come from an elimination in some bits,
// and to lead to so many.
func planEliminated(s *call.Run, m, n, seed, bits int) {
	if s.Work.Report != nil {
		s.Plan(call.InvertInCost(min(m, n), seed) + improvedCost(m, n, likely, 10, bits, true) + call.WantedCost(s, m, n))
	}
}
