package call

import (
	"context"
	"math"

	"github.com/halfulp/halfulp/internal/par"
)

// LargestOf returns the largest magnitude in x, or NaN if x has a NaN.
func LargestOf(x []float64) float64 {
	var a, b, c, d uint64 // twice the bits, ordered like magnitudes, with NaN above all
	for ; len(x) >= 4; x = x[4:] {
		y := (*[4]float64)(x)
		a, b = max(a, math.Float64bits(y[0])<<1), max(b, math.Float64bits(y[1])<<1)
		c, d = max(c, math.Float64bits(y[2])<<1), max(d, math.Float64bits(y[3])<<1)
	}
	for _, v := range x {
		a = max(a, math.Float64bits(v)<<1)
	}
	return math.Float64frombits(max(a, b, c, d) >> 1)
}

// LargestOfAll is LargestOf for many numbers, on several threads.
func LargestOfAll(threads int, x []float64) float64 {
	const some = 1 << 14 // numbers a call: some 4 µs
	tops := make([]float64, (len(x)+some-1)/some)
	_ = par.For(context.Background(), threads, len(tops), func(_, k int) {
		tops[k] = LargestOf(x[k*some : min((k+1)*some, len(x))])
	})
	return LargestOf(tops)
}

// LargestOfColumns returns LargestOf for the columns of n numbers, on several threads.
func LargestOfColumns(threads, n int, x []float64) []float64 {
	tops := make([]float64, len(x)/max(n, 1))
	_ = par.Each(context.Background(), threads, len(tops), func(j int) { tops[j] = LargestOf(x[j*n : (j+1)*n]) })
	return tops
}

// Zero clears x on several threads.
func Zero(threads int, x []float64) {
	const some = 1 << 15 // numbers a call: some 10 µs
	_ = par.For(context.Background(), threads, (len(x)+some-1)/some, func(_, k int) {
		clear(x[k*some : min((k+1)*some, len(x))])
	})
}
