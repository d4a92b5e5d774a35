package factors

import (
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/newton"
)

// may fuse throughout: estimates of time, none of them a result.

// improvedCost estimates the cost of improving approximate inverses of the factors of an m x n
// matrix from a gain to an enclosure of this many bits, for one factor or both; see Improved.
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

// rootCost estimates the cost of root if no block has a float64 seed.
func rootCost(n, bits int) float64 {
	if n <= RootLeaf {
		return call.Cube(n) / 3 * (call.PanelCost + call.SquareWords(bits)*call.WordCost)
	}
	h := n / 2
	return call.FactorCost(n) + 2*call.ProductOf(h, h, h, bits) + 2*rootCost(h, bits)
}

// planEliminated announces the cost of a seed of an m x n matrix from an elimination in seed bits,
// and of the steps from it to bits.
func planEliminated(s *call.Run, m, n, seed, bits int) {
	if s.Work.Report != nil {
		s.Plan(call.InvertInCost(min(m, n), seed) + improvedCost(m, n, likely, 10, bits, true) + call.WantedCost(s, m, n))
	}
}
