package dgemm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

func random(n, k int, r *rand.Rand) []float64 {
	a := make([]float64, n*k)
	for i := range a {
		a[i] = 2*r.Float64() - 1
	}
	return a
}

// TestLU checks P L U = A and the solutions of the triangular systems by plain loops, for sizes
// around those of tiles and blocks.
func TestLU(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	ctx := context.Background()
	for _, n := range []int{0, 1, 2, 3, 11, 12, 13, 16, 17, 31, 48, 50, 97, 200, 300} {
		for _, threads := range []int{1, 3} {
			a := random(n, n, r)
			lu, pivots := append([]float64(nil), a...), make([]int, n)
			if err := LU(ctx, threads, n, lu, 0x1p-80, pivots); err != nil {
				t.Fatal(err)
			}
			p := append([]float64(nil), a...)
			exchange(matrix{n, n, max(n, 1), p}, pivots)
			for i := range n {
				for j := range n {
					sum := 0.0
					for k := range min(i, j) {
						sum += float64(lu[i+k*n] * lu[k+j*n])
					}
					if i <= j {
						sum += lu[i+j*n]
					} else {
						sum += lu[i+j*n] * lu[j+j*n]
						if math.Abs(lu[i+j*n]) > 1 {
							t.Fatalf("n = %d: L[%d,%d] = %g", n, i, j, lu[i+j*n])
						}
					}
					if d := math.Abs(sum - p[i+j*n]); d > float64(n+1)*0x1p-48 {
						t.Fatalf("n = %d, %d threads: entry %d, %d of L U differs by %g", n, threads, i, j, d)
					}
				}
			}
			x := random(n, n, r)
			b := append([]float64(nil), x...)
			if err := errors.Join(SolveLower(ctx, threads, n, n, lu, b), SolveUpper(ctx, threads, n, n, lu, b)); err != nil {
				t.Fatal(err)
			}
			for i := range n {
				for j := range n {
					sum := 0.0
					for k := range n { // P^-1 A B
						sum += float64(p[i+k*n] * b[k+j*n])
					}
					if d := math.Abs(sum - x[i+j*n]); d > float64(n*n+1)*0x1p-40 {
						t.Fatalf("n = %d: the residual of entry %d, %d is %g", n, i, j, d)
					}
				}
			}
		}
	}
}

// TestSingular decomposes matrices without pivots.
func TestSingular(t *testing.T) {
	for _, n := range []int{1, 5, 40} {
		a, pivots := make([]float64, n*n), make([]int, n)
		if err := LU(context.Background(), 1, n, a, 0x1p-80, pivots); err != nil {
			t.Fatal(err)
		}
		for i := range n {
			if a[i+i*n] != 0x1p-80 {
				t.Fatalf("pivot %d of zeros is %g", i, a[i+i*n])
			}
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := LU(ctx, 2, 50, make([]float64, 2500), 1, make([]int, 50)); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
}

func BenchmarkLU(b *testing.B) {
	for _, n := range []int{100, 300, 1000, 2000} {
		b.Run(fmt.Sprint("n=", n), func(b *testing.B) {
			a := random(n, n, rand.New(rand.NewPCG(1, 2)))
			lu, pivots := make([]float64, n*n), make([]int, n)
			for b.Loop() {
				copy(lu, a)
				if err := LU(context.Background(), 1, n, lu, 0x1p-80, pivots); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(2.0/3*float64(n)*float64(n)*float64(n)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOPS")
		})
	}
}
