package exact

import (
	"math"
	"time"

	"github.com/halfulp/halfulp/internal/modgemm"
	"github.com/halfulp/halfulp/internal/num"
)

// What a product by residues takes besides its plan's cost, measured with halfulp tune on
// Emerald Rapids: the start, and, in ns on one thread, each number of the operands and the
// result, and each of its residues.
const (
	startTime   = 200 * time.Microsecond
	numberCost  = 60
	residueCost = 2.4
)

// Estimate returns about how long Gemm takes for an m x k matrix by a k x n one of numbers
// of like size in formats a and b, with results of format c.
func Estimate(threads, m, n, k int, a, b, c num.Format) time.Duration {
	if m == 0 || n == 0 || k == 0 {
		return 0
	}
	p := ResultBits(c)
	entries := float64(m) * float64(n) * float64(k)
	cost := entries * exactCost(max(p, float64(a.Bits())))
	if cost >= smallProduct {
		norm := float64(k) / 4
		l := operand{n: m, k: k, maxNorm: norm, width: a.Bits() + spreadBits}
		r := operand{n: n, k: k, maxNorm: norm, width: b.Bits() + spreadBits}
		size := math.Log2(float64(k))/2 - 3
		if q, ok := planFor(modgemm.Best(), &l, &r, p, []sample{{size, norm, norm}}); ok {
			numbers := float64(m)*float64(k) + float64(k)*float64(n) + float64(m)*float64(n)
			cost = min(cost, q.cost+numbers*(numberCost+residueCost*float64(len(q.base.moduli))))
		}
	}
	return startTime + time.Duration(cost/float64(threads))
}

// spreadBits is by how much the exponents of a vector of numbers of like size spread.
const spreadBits = 14
