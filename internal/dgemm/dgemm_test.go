package dgemm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp/internal/isa"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

func random(n, k int, r *rand.Rand) []float64 {
	a := make([]float64, n*k)
	for i := range a {
		a[i] = 2*r.Float64() - 1
	}
	return a
}

// TestLU checks P L U = A and the solutions of the triangular systems by plain loops, for orders
// near the sizes of tiles and blocks.
func TestLU(t *testing.T) {
	r := testseed.Rand(t, 1, 2)
	ctx := context.Background()
	for _, n := range []int{0, 1, 2, 3, 11, 12, 13, 16, 17, 31, 48, 50, 96, 97, 144, 200, 300} {
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

// TestFactorAdditions counts the sums that are added to a number at most, by the recursions and by
// panels.
func TestFactorAdditions(t *testing.T) {
	known := map[[2]int]int{}
	var lu, lower, inverse func(n int) int
	once := func(kind int, f func(n int) int) func(n int) int {
		return func(n int) int {
			m, ok := known[[2]int{kind, n}]
			if !ok {
				m = f(n)
				known[[2]int{kind, n}] = m
			}
			return m
		}
	}
	sums := func(k int) (m int) {
		for h := 0; h < k; h += length {
			m += (min(length, k-h) + factorPiece - 1) / factorPiece
		}
		return m
	}
	lower = once(0, func(n int) int {
		if n <= block {
			return n
		}
		half := halfOf(n)
		return max(lower(half), sums(half)+lower(n-half))
	})
	lu = once(1, func(n int) int {
		if n <= few {
			return n
		}
		half := halfOf(n)
		return max(lu(half), lower(half), sums(half)+lu(n-half))
	})
	inverse = once(2, func(n int) int {
		if n <= block {
			return n
		}
		half, m := halfOf(n), 0
		for k := 0; k < half; k += Strip {
			m += sums(min(Strip, half-k))
		}
		return max(inverse(half), inverse(n-half), m+lower(n-half))
	})
	// In the order of upper triangles the other part is the first one.
	upper := once(3, func(n int) int {
		if n <= block {
			return n
		}
		half, m := halfOf(n), 0
		for k := 0; k < n-half; k += Strip {
			m += sums(min(Strip, n-half-k))
		}
		return m + lower(half)
	})
	for n := range 10000 {
		var m int
		if n <= fewPanels*whole {
			m = max(lu(n), inverse(n), upper(n))
		} else { // one sum for every panel before the last one
			width := panelWidth(n)
			m = (n-1)/width + max(lu(width), lower(width))
		}
		if most := factorAdditions(n); m > most || n > 0 && most < factorAdditions(n-1) {
			t.Fatalf("n = %d: %d sums, bound %d", n, m, most)
		}
	}
}

// TestThreads checks that the bits of factors and of solutions do not depend on the number of
// threads.
func TestThreads(t *testing.T) {
	r := testseed.Rand(t, 5, 6)
	ctx := context.Background()
	for _, level := range isa.Levels() {
		restore := isa.Force(level)
		for _, n := range []int{97, 100, 193, 250} {
			m := n + r.IntN(30)
			a, b := random(m, n, r), random(n, n, r)
			results := func(threads int) (z [][]float64) {
				tall, pivots := append([]float64(nil), a...), make([]int, n)
				err := LUTall(ctx, threads, m, n, tall, 0x1p-80, pivots)
				lu := make([]float64, 0, n*n)
				for j := range n {
					lu = append(lu, tall[j*m:j*m+n]...)
				}
				free := append([]float64(nil), b...)
				x, y := make([]float64, n*n), make([]float64, n*n)
				lower, upper := append([]float64(nil), b...), append([]float64(nil), b...)
				err = errors.Join(err, LU(ctx, threads, n, free, 0x1p-80, nil),
					InvertLower(ctx, threads, n, lu, x), InvertUpper(ctx, threads, n, lu, n, y),
					SolveLower(ctx, threads, n, n, lu, lower), SolveUpper(ctx, threads, n, n-30, lu, upper))
				if err != nil {
					t.Fatal(err)
				}
				order := make([]float64, n)
				for i, p := range pivots {
					order[i] = float64(p)
				}
				return [][]float64{tall, order, free, x, y, lower, upper}
			}
			want := results(1)
			for _, threads := range []int{2, 5} {
				for k, z := range results(threads) {
					for i, v := range z {
						if math.Float64bits(v) != math.Float64bits(want[k][i]) {
							t.Fatalf("level %v, n = %d, %d threads: number %d of result %d is %g, not %g", level, n, threads, i, k, v, want[k][i])
						}
					}
				}
			}
		}
		restore()
	}
}

// TestFactorError compares errors of decompositions with FactorError, computed exactly, for numbers
// of one sign, whose roundings add up.
func TestFactorError(t *testing.T) {
	r := testseed.Rand(t, 9, 8)
	ctx := context.Background()
	for _, level := range isa.Levels() {
		restore := isa.Force(level)
		for trial, n := range []int{1, 5, 17, 60, testlength.Of(80, 80, 140)} {
			a := random(n, n, r)
			for i := range n {
				for j := range n {
					if trial%2 == 0 && i != j { // L and U are negative beside the diagonal
						a[i+j*n] = -math.Abs(a[i+j*n]) / float64(4*n)
					}
				}
			}
			lu, pivots := append([]float64(nil), a...), make([]int, n)
			x, y := make([]float64, n*n), make([]float64, n*n)
			err := errors.Join(LU(ctx, 2, n, lu, 0x1p-80, pivots), InvertLower(ctx, 2, n, lu, x), InvertUpper(ctx, 2, n, lu, n, y))
			if err != nil {
				t.Fatal(err)
			}
			ExchangeRows(3, n, a, pivots)
			l := func(i, k int) float64 {
				if i == k {
					return 1
				}
				return lu[i+k*n]
			}
			u := func(i, k int) float64 { return lu[i+k*n] }
			unit := func(i, j int) float64 {
				if i == j {
					return 1
				}
				return 0
			}
			// sums compares c with Σ f g over k.
			sums := func(name string, i, j, first, last int, c float64, f, g func(i, k int) float64) {
				left, size, p := new(big.Float).SetPrec(500).SetFloat64(c), new(big.Float).SetPrec(500), new(big.Float).SetPrec(500)
				for k := first; k < last; k++ {
					p.Mul(big.NewFloat(f(i, k)), big.NewFloat(g(k, j)))
					left.Sub(left, p)
					size.Add(size, p.Abs(p))
				}
				if size.Mul(size, big.NewFloat(FactorError(n))); left.Abs(left).Cmp(size) > 0 {
					t.Fatalf("level %v, n = %d, %s: entry %d, %d is off by %g, bound %g", level, n, name, i, j, left, size)
				}
			}
			for i := range n {
				for j := range n {
					sums("L U", i, j, 0, min(i, j)+1, a[i+j*n], l, u)
					if i >= j {
						sums("L X", i, j, j, i+1, unit(i, j), l, func(k, j int) float64 { return x[k+j*n] })
					}
					if i <= j {
						sums("U Y", i, j, i, j+1, unit(i, j), u, func(k, j int) float64 { return y[k+j*n] })
					}
				}
			}
		}
		restore()
	}
}

func BenchmarkTriangles(b *testing.B) {
	for _, n := range []int{300, 1000} {
		for _, threads := range []int{1, 2} {
			l := random(n, n, rand.New(rand.NewPCG(1, 2)))
			for j := range n {
				for i := range n {
					l[i+j*n] /= float64(n)
				}
				l[j+j*n] = 1
			}
			x := make([]float64, n*n)
			for name, f := range map[string]func() error{
				"lower":   func() error { return InvertLower(context.Background(), threads, n, l, x) },
				"upper":   func() error { return InvertUpper(context.Background(), threads, n, l, n, x) },
				"columns": func() error { return SolveUpper(context.Background(), threads, n, n, l, x) },
			} {
				b.Run(fmt.Sprintf("%s/n=%d/threads=%d", name, n, threads), func(b *testing.B) {
					for b.Loop() {
						clear(x)
						if err := f(); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
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

// TestSubtract compares errors with SubtractError, computed exactly: for random numbers, for those
// of one sign, and for sums each of whose numbers is rounded the same way.
func TestSubtract(t *testing.T) {
	r := testseed.Rand(t, 7, 8)
	ctx := context.Background()
	for _, level := range isa.Levels() {
		restore := isa.Force(level)
		for trial, n := range []int{1, 7, 31, 33, 64, 70, 130} {
			for how := range 3 {
				a, b, c := random(n, n, r), random(n, n, r), random(n, n, r)
				for i := range a {
					switch how {
					case 1:
						a[i], b[i] = math.Abs(a[i]), math.Abs(b[i])
					case 2: // after the first product all others are rounded off, or up
						a[i], b[i] = 0x1.8p-54, 1
						if i/n == 0 {
							a[i] = 1
						}
					}
				}
				d := append([]float64(nil), c...)
				part := []int{n, Parts, 3 * Parts}[(trial+how)%3] // columns of A at a time
				for first := 0; first < n; first += part {
					var err error
					if part == n {
						err = Subtract(ctx, 1+trial%2, n, d, a, b)
					} else {
						err = SubtractPart(ctx, 1+trial%2, n, first, d, a[first*n:min(first+part, n)*n], b)
					}
					if err != nil {
						t.Fatal(err)
					}
				}
				bound := SubtractError(n)
				for range 200 {
					i, j := r.IntN(n), r.IntN(n)
					sum := new(big.Float).SetPrec(500).SetFloat64(c[i+j*n])
					size := new(big.Float).SetPrec(500).SetFloat64(math.Abs(c[i+j*n]))
					for k := range n {
						p := new(big.Float).SetPrec(500).Mul(big.NewFloat(a[i+k*n]), big.NewFloat(b[k+j*n]))
						sum.Sub(sum, p)
						size.Add(size, p.Abs(p))
					}
					off := sum.Sub(sum, big.NewFloat(d[i+j*n]))
					if off.Abs(off).Cmp(size.Mul(size, big.NewFloat(bound))) > 0 {
						t.Fatalf("level %v, n = %d in parts of %d, numbers %d: entry %d, %d is off by %g, bound %g", level, n, part, how, i, j, off, size)
					}
				}
			}
		}
		restore()
	}
	if SubtractError(1000) > 80*0x1p-53 {
		t.Errorf("the error of order 1000 is %g units of roundoff", SubtractError(1000)*0x1p53)
	}
}

// TestMultiplyTriangles compares with plain loops.
func TestMultiplyTriangles(t *testing.T) {
	r := testseed.Rand(t, 9, 10)
	for _, n := range []int{0, 1, 5, 40, 255, 256, 257, 530} {
		u, l := random(n, n, r), random(n, n, r)
		for j := range n {
			for i := range n {
				switch {
				case i > j:
					u[i+j*n] = 0
				case i < j:
					l[i+j*n] = 0
				default:
					l[i+j*n] = 1
				}
			}
		}
		c := random(n, n, r)
		if err := MultiplyTriangles(context.Background(), 2, n, c, u, l); err != nil {
			t.Fatal(err)
		}
		for range min(3000, n*n) {
			i, j := r.IntN(n), r.IntN(n)
			sum := c[i+j*n]
			for k := range n {
				sum += float64(u[i+k*n] * l[k+j*n])
			}
			if math.Abs(sum) > float64(n)*0x1p-50 {
				t.Fatalf("n = %d: entry %d, %d is off by %g", n, i, j, sum)
			}
		}
	}
}
