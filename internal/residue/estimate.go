package residue

import (
	"math"
	"time"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/plan"
)

// StartTime is the fixed cost of every product by residues.
const StartTime = startCost * time.Nanosecond

// Estimate returns the approximate time of a product by residues of an m x k and a k x n matrix of
// numbers of similar size in formats a and b, with results of format c. kept tells which factors
// have kept residues. It returns false if no base suffices.
func Estimate(threads, m, n, k int, a, b, c num.Format, kept [2]bool) (time.Duration, bool) {
	p, q, ok := estimate(m, n, k, a, b, c, kept)
	if !ok {
		return 0, false
	}
	return duration(q.kernels, threads, &p, &q.Plan), true
}

// estimate returns the plan for assumed numbers.
func estimate(m, n, k int, a, b, c num.Format, kept [2]bool) (p plan.Problem, q layout, ok bool) {
	p = plan.Problem{M: m, N: n, K: k, A: a, B: b, C: c, Kept: kept}
	p.Assume()
	list := choose(&p, inForce(false))
	if len(list) == 0 {
		return p, q, false
	}
	return p, list[0], true
}

// duration returns the time of a plan on the given threads, which share the panels of the result
// and of the operands.
func duration(k kernels, threads int, p *plan.Problem, q *plan.Plan) time.Duration {
	panels := max(1, k.panels(left, p.M), k.panels(right, p.N))
	return startCost + time.Duration((q.Cost-startCost)/math.Min(float64(threads), float64(panels)))
}
