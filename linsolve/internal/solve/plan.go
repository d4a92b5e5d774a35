package solve

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

// planSolve announces the cost of a solution for k columns while the condition of A is unknown.
func planSolve(s *call.Run, a num.Mat, f num.Format, k int) {
	if s.Work.Report == nil {
		return
	}
	n := a.Rows
	cost := call.SeedCost(n)
	if !call.Few(k, n) {
		cost += newton.ManyCost(n, k, f.Bits())
	}
	s.Work.Guessed = true // until pivots give an estimate of the condition number
	s.Plan(call.FactorCost(n) + cost)
}

// planBy is planSolve once factors of A are known; one says that columns are solved one by one.
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
		// For some matrices the true cond was twice as large, for none was it larger. The number of
		// seeds, and whether blocks suffice, are known only once they have succeeded.
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

// solutionLeft estimates the cost of a solution for k columns once an approximate inverse is known.
// If columns are few, some of their entries are likely to be far smaller than others, so that only
// refinement decides them.
func solutionLeft(s *call.Run, a num.Mat, k, bits int) float64 {
	n, cond := a.Rows, s.Work.Cond
	switch {
	case s.Work.Report == nil:
		return 0
	case call.Few(k, n):
		column := refine.ColumnCost(n, (bits+cond)/64+2, call.SquareWords(cond)/2)
		gain := max(call.LikelyGain, seed.MaxRounds*scale.SeedBits-cond*6/5) // in bits a step
		return float64(k)*column + refine.RefinementCost(a, k, float64(bits+cond), float64(gain), cond, call.MP((bits+cond)/2))
	}
	return newton.ManyCost(n, k, bits+cond)
}
