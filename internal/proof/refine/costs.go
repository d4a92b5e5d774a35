package refine

import (
	"github.com/halfulp/halfulp/internal/direct"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/call"
)

// may fuse throughout: estimates of time, none of them a result.

// ColumnCost returns the cost of a column of fixedSystem in numbers of the given words, for an
// inverse whose product with a vector takes as long as the product of a matrix of inverse words.
func ColumnCost(n, words int, inverse float64) float64 {
	planes := float64(words+1) / 2
	return float64(words) * 64 / 40 * float64(n) * float64(n) * call.WordCost * (planes + inverse)
}

// planRefinement plans the steps of refinement for x, at least one; each step gains gain of the
// missing bits.
func planRefinement(s *call.Run, missing, gain float64, cond int, a, x num.Mat) {
	if s.Work.Report != nil {
		half := call.MP(int(float64(x.Format().Bits()) + missing/2)) // halfway
		s.Plan(RefinementCost(a, x.Cols, missing, gain, cond, half))
	}
}

// RefinementCost returns the cost of steps of refinement for k columns, whose numbers have the
// format x on average.
func RefinementCost(a num.Mat, k int, missing, gain float64, cond int, x num.Format) float64 {
	n, of, r := a.Rows, a.Arr.Format, call.MP(64+cond)
	step := call.ProductCost(n, n, k, of, x, r) + call.ProductCost(n, n, k, r, r, x) + residualCost(n, k, of, x)
	return max(missing/gain, 1) * step
}

// residualCost returns the cost of B - A X, X n x k, beyond the cost of a product in its format.
// Where X is near the solution, the entries of B - A X are the remainders of many more bits. The
// cost includes deciding the entries of X.
func residualCost(n, k int, a, x num.Format) float64 {
	product := call.ProductCost(n, n, k, a, x, call.MP(2*int(x.Prec)))
	return min(float64(direct.EstimateEntries(1, n, k, n, a, x)), product) + float64(n)*float64(k)*call.DecideCost
}
