package newton

import (
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/ziv"
)

// may fuse throughout: estimates of time, none of them a result.

// RefineCost returns the cost of the steps of Newton's method for order n from the given gain to a
// gain of bits, with an amp of 2^loss.
func RefineCost(n, gain, bits, loss int) (cost float64) {
	for gain < bits {
		next := bits
		for next > 2*gain-2 && gain >= LeastNewton {
			next = (next + 3) / 2
		}
		x, e := call.MP(gain+loss+4), call.MP(gain+LateBits)
		cost += call.ProductCost(n, n, n, x, call.MP(bits), e) + call.ProductCost(n, n, n, e, x, call.MP(next+loss+5-gain))
		gain = max(next, gain+1)
	}
	return cost
}

// plan plans the steps of Newton's method to the given bits, and the cost after that follows them.
func (t *Iteration) plan(bits int, after float64) {
	if t.S.Work.Report != nil {
		t.S.Plan(RefineCost(t.n(), t.Gain(), bits, max(t.Amp.MantExp(nil), 0)) + after)
	}
}

// SolutionCost returns the cost of Iteration.Solve for k columns.
func SolutionCost(n, k, gain, bits, cond int) float64 {
	half := (bits + 7) / 2
	return RefineCost(n, gain, half, cond) + 3*call.ProductOf(n, n, k, half+cond/2)
}

// ManyCost returns the cost of a solution for many columns from a seed.
func ManyCost(n, k, bits int) float64 {
	if k == n { // perhaps an inverse
		return RefineCost(n, 30, bits/2+8, 10) + 2*call.ProductOf(n, n, n, bits/2)
	}
	return SolutionCost(n, k, 30, bits+ziv.Guard(n), 16)
}
