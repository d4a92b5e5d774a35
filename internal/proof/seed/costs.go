package seed

import (
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/scale"
)

// may fuse throughout: estimates of time, none of them a result.

// roundBits is log2 of the further factor of the condition number that a seed resolves, at first.
const roundBits = 40

// RoundsCost returns the cost of the seeds still to multiply and of the proof, after some rounds
// that gave an approximate inverse of norm 2^width. After MaxRounds seeds an elimination takes
// their place.
func RoundsCost(a num.Mat, rounds, width, cond int) (cost float64) {
	n, of := a.Rows, a.Arr.Format
	more := roundBits
	if rounds > 1 {
		more = max(width/rounds, 8)
	}
	for ; rounds == 0 || width < cond; width += more {
		r := call.MP(width + scale.SeedBits)
		cost += call.ProductCost(n, n, n, r, of, call.MP(64)) + call.ProductCost(n, n, n, call.MP(scale.SeedBits), r, r)
		cost += roundCostOf(n)
		if rounds++; rounds >= MaxRounds {
			return cost + call.InvertInCost(n, MaxRounds*scale.SeedBits)
		}
	}
	return cost
}

// roundCostOf returns the cost of a seed, without products.
func roundCostOf(n int) float64 {
	return call.FactorCost(n) + call.SeedCost(n) + float64(n)*float64(n)*call.PerturbCost
}

// planRounds plans the seeds to come, and the proof, where R has a norm of about 2^width.
func planRounds(s *call.Run, a num.Mat, rounds, width int) {
	if s.Work.Report != nil {
		s.Plan(RoundsCost(a, rounds, width, s.Work.Cond))
	}
}
