package dgemm

import (
	"errors"
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

// TestStack compares with sums of products of integers, at all levels.
func TestStack(t *testing.T) {
	r := testseed.Rand(t, 5, 9)
	for _, size := range [][4]int{{1, 1, 1, 1}, {2, 5, 3, 2}, {3, 17, 16, 5}, {1, 16, 256, 12}, {2, 33, 257, 13}, {5, 8, 300, 24}, {2, 25, 257, 3}} {
		parts, m, n, k := size[0], size[1], size[2], size[3]
		lda, ldb := m+1, n+2
		random := func(n int) []float64 {
			x := make([]float64, n)
			for i := range x {
				x[i] = float64(r.Int64N(1<<22) - 1<<21)
			}
			return x
		}
		var a [][]float64
		for range parts {
			a = append(a, random(lda*n))
		}
		b := random(ldb * k)
		for _, l := range isa.Levels() {
			restore := isa.Force(l)
			z := NewStack(m, n, a, lda, k)
			var err error
			for range 2 { // the second product has the memory of the first one
				err = errors.Join(err, z.Negate(t.Context(), 2, k, b, ldb))
			}
			restore()
			if err != nil {
				t.Fatal(err)
			}
			for p := range a {
				for j := range k {
					for i, got := range z.Column(p, j) {
						want := 0.0
						for h := range n {
							want -= a[p][i+h*lda] * b[h+j*ldb]
						}
						if got != want {
							t.Fatalf("%v: entry (%d, %d) of product %d of %v is %g, want %g", l, i, j, p, size, got, want)
						}
					}
				}
			}
		}
	}
}
