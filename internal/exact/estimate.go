package exact

import (
	"math"
	"time"

	"github.com/halfulp/halfulp/internal/modgemm"
	"github.com/halfulp/halfulp/internal/num"
)

// besides is the time of a product by residues over that of its plan's cost, which leaves
// out the scan, carries and rounding: bench/records has 1.6 to 2.1 for n = 1000.
const besides = 1.3

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
			cost = min(cost, besides*q.cost)
		}
	}
	return time.Duration(cost / float64(threads))
}

// spreadBits is by how much the exponents of a vector of numbers of like size spread.
const spreadBits = 14
