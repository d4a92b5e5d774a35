package blocks

import (
	"math"

	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/newton"
	"github.com/halfulp/halfulp/internal/proof/scale"
)

// may fuse throughout: estimates of time, none of them a result.

// EliminationCost is the cost of eliminating blocks of n rows with so many bits, of which all but
// Spare go to the condition number.
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

// pivotBits are log2 of how far pivots of a block fall.
const pivotBits = 36

// DetCost is the cost of a determinant of order n by blocks.
func DetCost(n, places, least int) float64 {
	if n <= least {
		return call.SeedCost(n) + leafCost(n, places)
	}
	return splitCost(n, places) + DetCost(n/2, places, least) + DetCost(n-n/2, places, least)
}

// leafCost is the cost of one of its blocks that are eliminated.
func leafCost(n, places int) float64 {
	words := math.Ceil(float64(places)/64) + 1
	return call.Cube(n) / 3 * (20 + float64(words*words*call.WordCost))
}

// splitCost is the cost of one step of it.
func splitCost(n, places int) float64 {
	h, m := n/2, n-n/2
	return 2*(call.FactorCost(h)+call.SeedCost(h)) + newton.SolutionCost(h, m, 35, places+20, 10) + call.ProductOf(m, h, m, places+2)
}

// MostOfBlocks is log2 of a condition number above which the proof of blocks may fail.
const MostOfBlocks = 300

// PlanBlocks says that blocks of n rows are to be eliminated with so many bits.
func PlanBlocks(s *call.Run, n, bits int) {
	if s.Work.Report != nil {
		s.Plan(EliminationCost(n, bits, max(n/4, 32)))
	}
}
