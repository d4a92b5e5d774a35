package dgemm

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/halfulp/halfulp/internal/isa"
	"github.com/halfulp/halfulp/internal/testseed"
)

// TestAxpy compares the kernels of every level with plain loops, to a rounding. In parts they give
// the same bits.
func TestAxpy(t *testing.T) {
	r := testseed.Rand(t, 3, 4)
	for _, level := range isa.Levels() {
		restore := isa.Force(level)
		for n := range 70 {
			x, y, alpha := random(n+1, 1, r)[1:], random(n+1, 1, r)[1:], 2*r.Float64()-1
			z, a := append([]float64(nil), y...), append([]float64(nil), y...)
			parts, absParts, cut := append([]float64(nil), y...), append([]float64(nil), y...), r.IntN(n+1)
			Axpy(alpha, x, z)
			AxpyAbs(alpha, x, a)
			for _, part := range [][2]int{{0, cut}, {cut, n}} {
				Axpy(alpha, x[part[0]:part[1]], parts[part[0]:part[1]])
				AxpyAbs(alpha, x[part[0]:part[1]], absParts[part[0]:part[1]])
			}
			if !slices.Equal(parts, z) || !slices.Equal(absParts, a) {
				t.Fatalf("level %v, n = %d: other bits in parts of %d and %d numbers", level, n, cut, n-cut)
			}
			for i := range n {
				want, abs := y[i]+float64(alpha*x[i]), y[i]+float64(alpha*math.Abs(x[i]))
				if math.Abs(z[i]-want) > 0x1p-51 || math.Abs(a[i]-abs) > 0x1p-51 {
					t.Fatalf("level %v, n = %d: entry %d is %g and %g, want %g and %g", level, n, i, z[i], a[i], want, abs)
				}
			}
		}
		restore()
	}
}

// TestCombine compares the kernels of every level with sums of integers, which are exact. Numbers
// behind y stay.
func TestCombine(t *testing.T) {
	r := testseed.Rand(t, 36, 30)
	for _, level := range isa.Levels() {
		restore := isa.Force(level)
		for n := range 80 {
			count, ld := r.IntN(12), n+r.IntN(9)
			x, a, y := make([]float64, count*ld+n), make([]float64, count), make([]float64, n+8)
			for _, z := range [][]float64{x, a, y} {
				for i := range z {
					z[i] = float64(r.IntN(2001) - 1000)
				}
			}
			want := append([]float64(nil), y...)
			for i := range n {
				for j, v := range a {
					want[i] += float64(v * x[i+j*ld])
				}
			}
			Combine(x, ld, a, y[:n])
			for i := range want {
				if y[i] != want[i] {
					t.Fatalf("level %v, n = %d, %d vectors: entry %d is %g, want %g", level, n, count, i, y[i], want[i])
				}
			}
		}
		restore()
	}
}

// TestInvertTriangles has residuals within the bound that linsolve rests on, |T X - I| ≤ γ |T| |X|,
// in room that is not 0 before where it need not be, and is left as it was there.
func TestInvertTriangles(t *testing.T) {
	r := testseed.Rand(t, 5, 6)
	ctx := context.Background()
	for _, level := range isa.Levels() {
		restore := isa.Force(level)
		for _, n := range []int{1, 2, 11, 12, 13, 24, 25, 49, 150, 260} {
			a := random(n, n, r)
			for i := range n {
				a[i+i*n] += math.Copysign(1, a[i+i*n])
				for j := range n {
					if i != j {
						a[i+j*n] /= float64(n)
					}
				}
			}
			lower, upper := make([]float64, n*n), make([]float64, n*n)
			for i := range n {
				for j := range n {
					if i < j-Strip {
						lower[i+j*n] = math.NaN()
					}
					if i > j+Strip {
						upper[i+j*n] = math.NaN()
					}
				}
			}
			if err := errors.Join(InvertLower(ctx, 2, n, a, lower), InvertUpper(ctx, 2, n, a, n, upper)); err != nil {
				t.Fatal(err)
			}
			for i := range n {
				for j := range n {
					l, u := -zeroed(lower[i+j*n], i < j-Strip), 0.0
					sizeL, sizeU := math.Abs(l), 0.0
					if i == j {
						l, u = 1-lower[i+j*n], 1
					}
					for k := range n {
						if k < i {
							p := float64(a[i+k*n] * zeroed(lower[k+j*n], k < j-Strip))
							l -= p
							sizeL += math.Abs(p)
						} else {
							p := float64(a[i+k*n] * zeroed(upper[k+j*n], k > j+Strip))
							u -= p
							sizeU += math.Abs(p)
						}
					}
					// Sums here are rounded as well.
					most := float64(2*(n+16)) * 0x1p-53
					if math.Abs(l) > float64(most*sizeL) || math.Abs(u) > float64(most*sizeU) {
						t.Fatalf("level %v, n = %d: residuals %d, %d are %g and %g of %g and %g", level, n, i, j, l, u, sizeL, sizeU)
					}
					if i < j && zeroed(lower[i+j*n], i < j-Strip) != 0 || i > j && zeroed(upper[i+j*n], i > j+Strip) != 0 {
						t.Fatalf("level %v, n = %d: entry %d, %d is not 0", level, n, i, j)
					}
				}
			}
		}
		restore()
	}
}

// zeroed returns x, or 0 for the NaN of room that is neither read nor written; else -1.
func zeroed(x float64, beside bool) float64 {
	switch {
	case !beside:
		return x
	case math.IsNaN(x):
		return 0
	}
	return -1
}

// TestEliminate compares steps of an elimination with the reference, to a rounding.
func TestEliminate(t *testing.T) {
	r := testseed.Rand(t, 41, 42)
	for _, n := range []int{1, 2, 3, 4, 5, 8, 12, 20} {
		for k := range n {
			a := make([]float64, n*n)
			for i := range a {
				a[i] = r.NormFloat64()
			}
			want := slices.Clone(a)
			eliminateGeneric(want, n, k)
			Eliminate(a, n, k)
			for i, x := range a {
				if math.Abs(x-want[i]) > 0x1p-48 || i/n == k && x != want[i] {
					t.Fatalf("n = %d, step %d: entry %d is %v, want %v", n, k, i, x, want[i])
				}
			}
		}
	}
}
