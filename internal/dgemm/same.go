package dgemm

import (
	"context"
	"math"
)

// fused is like generic, but with fused multiply-adds, as in the kernels in assembly.
var fused = &kernel{name: "fused", mr: 4, nr: 4, micro: microFused, triangle: triangleGeneric}

func microFused(c []float64, ldc int, a, b []float64, k int) {
	var t [16]float64
	for h := range k {
		x, y := a[4*h:4*h+4], b[4*h:4*h+4]
		for s, y := range y {
			for r, x := range x {
				t[r+4*s] = math.FMA(x, y, t[r+4*s])
			}
		}
	}
	for s := range 4 {
		for r := range 4 {
			c[r+s*ldc] += t[r+4*s]
		}
	}
}

// SubtractSame sets C -= A B for an m x n matrix C and k columns of A, with the given leading
// dimensions. The result is the same on every machine, except for signs of zeros: 256 products at a
// time are summed from 0 by fused multiply-adds, in order, and then added to C. It is exact for
// integers whose partial sums stay below 2^53.
func SubtractSame(ctx context.Context, threads, m, n, k int, c []float64, ldc int, a []float64, lda int, b []float64, ldb int) error {
	w := newWorker(ctx, threads)
	defer w.free()
	if w.k == generic {
		w.k = fused
	}
	return w.subtract(matrix{m, n, ldc, c}, matrix{m, k, lda, a}, matrix{k, n, ldb, b})
}
