package dgemm

import (
	"math"
	"slices"
	"testing"

	"github.com/halfulp/halfulp/internal/isa"
	"github.com/halfulp/halfulp/internal/testseed"
)

// TestSubtractSame compares with sums of fused multiply-adds, entry by entry, at all levels.
func TestSubtractSame(t *testing.T) {
	r := testseed.Rand(t, 5, 8)
	for _, size := range [][3]int{{1, 1, 1}, {5, 3, 2}, {16, 12, 31}, {50, 41, 33}, {17, 200, 7}, {30, 20, 300}, {9, 7, 256}, {33, 25, 257}, {4, 0, 2}, {3, 3, 0}} {
		m, n, k := size[0], size[1], size[2]
		ldc, lda, ldb := m+3, m+1, k+2
		random := func(n int) []float64 {
			x := make([]float64, n)
			for i := range x {
				x[i] = math.Ldexp(r.NormFloat64(), r.IntN(9))
			}
			return x
		}
		c, a, b := random(ldc*max(n, 1)), random(lda*max(k, 1)), random(ldb*max(n, 1))
		want := slices.Clone(c)
		for j := range n {
			for i := range m {
				for first := 0; first < k; first += length {
					sum := 0.0
					for h := first; h < min(first+length, k); h++ {
						sum = math.FMA(-a[i+h*lda], b[h+j*ldb], sum)
					}
					want[i+j*ldc] += sum
				}
			}
		}
		for _, l := range isa.Levels() {
			restore := isa.Force(l)
			got := slices.Clone(c)
			err := SubtractSame(t.Context(), 2, m, n, k, got, ldc, a, lda, b, ldb)
			restore()
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%v: %d x %d, %d products: other numbers (%v)", l, m, n, k, err)
			}
		}
	}
}
