package blocks

import (
	"math"

	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/newton"
	"github.com/halfulp/halfulp/internal/proof/scale"
)

// may fuse throughout: estimates of time, none of them a result.

// EliminationCost returns the cost of eliminating n rows by blocks of up to most pivots in the
// given bits; all but Spare of the bits go to the condition number.
func EliminationCost(n, bits, most int) (cost float64) {
	for cond := bits - Spare; n > 0; cond -= pivotBits {
		r := n
		if cond > pivotBits {
			r = max(1, n*pivotBits/cond)
		}
		good := Spare + max(cond, 0)
		if r >= n && n <= most {
			return cost + call.FactorCost(n) + call.SeedCost(n)
		}
		r = min(r, most)
		n -= r
		cost += call.FactorCost(n+r) + call.FactorCost(r) + call.SeedCost(r) + newton.RefineCost(r, 30, good+8, 10)
		cost += call.ProductOf(r, r, n, good) + call.ProductOf(n, r, r, scale.SeedBits) + call.ProductOf(n, r, n, good)
	}
	return cost
}

// pivotBits is log2 of the factor by which the pivots of a block fall.
const pivotBits = 36

// DetCost returns the cost of a determinant of order n by blocks; blocks up to order least are
// eliminated entry by entry.
func DetCost(n, places, least int) float64 {
	if n <= least {
		return call.SeedCost(n) + leafCost(n, places)
	}
	return splitCost(n, places) + DetCost(n/2, places, least) + DetCost(n-n/2, places, least)
}

// leafCost returns the cost of eliminating a block of DetCost entry by entry.
func leafCost(n, places int) float64 {
	words := math.Ceil(float64(places)/64) + 1
	return call.Cube(n) / 3 * (20 + float64(words*words*call.WordCost))
}

// splitCost returns the cost of splitting a matrix of DetCost into two blocks.
func splitCost(n, places int) float64 {
	h, m := n/2, n-n/2
	return 2*(call.FactorCost(h)+call.SeedCost(h)) + newton.SolutionCost(h, m, 35, places+20, 10) + call.ProductOf(m, h, m, places+2)
}

// MostOfBlocks is log2 of the condition number above which the proof of blocks may fail.
const MostOfBlocks = 300

// PlanBlocks plans an elimination of n rows by blocks in the given bits, for the progress report.
func PlanBlocks(s *call.Run, n, bits int) {
	if s.Work.Report != nil {
		s.Plan(EliminationCost(n, bits, max(n/4, 32)))
	}
}
