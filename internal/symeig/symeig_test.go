package symeig

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/halfulp/halfulp/internal/isa"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

// dot returns Σ x y - c d over n entries x[xFirst + i xStep] and y[yFirst + i yStep], as if it was
// computed in about 106 bits (Ogita, Rump, Oishi, Accurate sum and dot product, 2005, Dot2).
func dot(n int, x []float64, xFirst, xStep int, y []float64, yFirst, yStep int, c, d float64) float64 {
	sum := float64(-c * d)
	low := -math.FMA(c, d, sum)
	for i := range n {
		a, b := x[xFirst+i*xStep], y[yFirst+i*yStep]
		p := float64(a * b)
		low += math.FMA(a, b, -p)
		s := sum + p
		z := s - sum
		low += (sum - (s - z)) + (p - z)
		sum = s
	}
	return sum + low
}

// scaled returns the exponent of the largest magnitude, and the numbers divided by that power of
// two.
func scaled(a []float64) (b []float64, e int) {
	largest := 0.0
	for _, x := range a {
		largest = max(largest, math.Abs(x))
	}
	_, e = math.Frexp(largest)
	b = slices.Clone(a)
	for i, x := range b {
		b[i] = math.Ldexp(x, -e)
	}
	return b, e
}

// norm returns the Frobenius norm, or 1 for zeros.
func norm(a []float64) float64 {
	sum := 0.0
	for _, x := range a {
		sum += float64(x * x)
	}
	if sum == 0 {
		return 1
	}
	return math.Sqrt(sum)
}

// orthonormality returns the largest entry of |X'X - I| for the m x n matrix X.
func orthonormality(x []float64, m, n int) (worst float64) {
	for i := range n {
		for j := range i + 1 {
			worst = most(worst, dot(m, x, i, n, x, j, n, unit(i, j), 1))
		}
	}
	return worst
}

// most is the larger magnitude, NaN if one is.
func most(x, y float64) float64 { return math.Max(math.Abs(x), math.Abs(y)) }

// residual returns the largest entry of |A X - Y diag(w)|, relative to the Frobenius norm of A, for
// an m x n matrix A. For a symmetric matrix X and Y are equal.
func residual(a []float64, m, n int, x, y, w []float64) (worst float64) {
	a, e := scaled(a)
	size := norm(a)
	for i := range m {
		for j := range n {
			worst = most(worst, dot(n, a, i*n, 1, x, j, n, y[i*n+j], math.Ldexp(w[j], -e))/size)
		}
	}
	return worst
}

// tolerance is larger than the errors of LAPACK for order n.
func tolerance(n int) float64 { return float64(10+2*n) * 0x1p-52 }

// symmetric are families of symmetric matrices.
var symmetric = map[string]func(n int, r *rand.Rand) []float64{
	"random": func(n int, r *rand.Rand) []float64 {
		return fill(n, func(i, j int) float64 { return 2*r.Float64() - 1 })
	},
	"zero": func(n int, r *rand.Rand) []float64 { return make([]float64, n*n) },
	"diagonal": func(n int, r *rand.Rand) []float64 {
		return fill(n, func(i, j int) float64 { return unit(i, j) * r.NormFloat64() })
	},
	"identity": func(n int, r *rand.Rand) []float64 { return fill(n, unit) },
	"ones":     func(n int, r *rand.Rand) []float64 { return fill(n, func(i, j int) float64 { return 1 }) },
	"blocks": func(n int, r *rand.Rand) []float64 { // repeated eigenvalues
		return fill(n, func(i, j int) float64 {
			if i/3 == j/3 {
				return 1 + unit(i, j)*float64(i/3%2)
			}
			return 0
		})
	},
	"graded": func(n int, r *rand.Rand) []float64 {
		return fill(n, func(i, j int) float64 { return math.Ldexp(r.NormFloat64(), -2*(i+j)) })
	},
	"wilkinson": func(n int, r *rand.Rand) []float64 {
		return fill(n, func(i, j int) float64 {
			switch i - j {
			case 0:
				return math.Abs(float64(i) - float64(n-1)/2)
			case 1, -1:
				return 1
			}
			return 0
		})
	},
	"laplace": func(n int, r *rand.Rand) []float64 {
		return fill(n, func(i, j int) float64 { return []float64{2, -1, 0}[min(2, max(i-j, j-i))] })
	},
	"glued": func(n int, r *rand.Rand) []float64 { // clusters
		return fill(n, func(i, j int) float64 {
			switch {
			case i == j:
				return math.Abs(float64(i%7) - 3)
			case i-j == 1 && i%7 == 0 || j-i == 1 && j%7 == 0:
				return 0x1p-40
			case i-j == 1 || j-i == 1:
				return 1
			}
			return 0
		})
	},
	"spread": func(n int, r *rand.Rand) []float64 {
		return fill(n, func(i, j int) float64 { return math.Ldexp(r.NormFloat64(), r.IntN(600)-300) })
	},
	"close": func(n int, r *rand.Rand) []float64 { // one cluster of width 2^-40
		return fill(n, func(i, j int) float64 { return unit(i, j) + 0x1p-40*r.NormFloat64() })
	},
}

func unit(i, j int) float64 {
	if i == j {
		return 1
	}
	return 0
}

// fill returns a symmetric matrix.
func fill(n int, entry func(i, j int) float64) []float64 {
	a := make([]float64, n*n)
	for i := range n {
		for j := range i + 1 {
			a[i*n+j] = entry(i, j)
			a[j*n+i] = a[i*n+j]
		}
	}
	return a
}

func sortedKeys[V any](m map[string]V) (names []string) {
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// ldexp returns x 2^e, or a number of that sign so large that no norm overflows.
func ldexp(x float64, e int) float64 { return max(-0x1p1010, min(0x1p1010, math.Ldexp(x, e))) }

// orders are near the sizes of blocks of all algorithms.
func orders() []int {
	if testlength.Slow() || testing.Short() {
		return []int{0, 1, 2, 3, 5, 8, 33, 67}
	}
	return []int{0, 1, 2, 3, 4, 5, 8, 13, 31, 32, 33, 48, 67, 131}
}

// TestSym checks residuals and orthonormality of all families, at all levels of instructions.
func TestSym(t *testing.T) {
	r := testseed.Rand(t, 1, 1)
	for _, name := range sortedKeys(symmetric) {
		for at, n := range orders() {
			for which, scale := range []int{0, 1000, -1000, -1060} {
				level := isa.Levels()[(at+which)%len(isa.Levels())]
				a := symmetric[name](n, r)
				for i := range a {
					a[i] = ldexp(a[i], scale)
				}
				restore := isa.Force(level)
				checkSym(t, fmt.Sprintf("%s, n = %d, 2^%d, level %v", name, n, scale, level), a, n, scale < -1000)
				restore()
			}
		}
	}
}

func checkSym(t *testing.T, what string, a []float64, n int, subnormal bool) {
	t.Helper()
	ctx := context.Background()
	x, b := slices.Clone(a), slices.Clone(a)
	w, ok := Sym(ctx, x, n, true, 2)
	values, ok2 := Sym(ctx, b, n, false, 1)
	if !ok || !ok2 || len(w) != n || len(values) != n {
		t.Fatalf("%s: %t, %t, %d and %d values", what, ok, ok2, len(w), len(values))
	}
	if !slices.IsSorted(w) || !slices.IsSorted(values) {
		t.Fatalf("%s: not sorted: %v, %v", what, w, values)
	}
	if e := orthonormality(x, n, n); !(e <= tolerance(n)) {
		t.Errorf("%s: X'X - I has an entry %g, %g u n", what, e, e*0x1p53/float64(n))
	}
	b, e := scaled(a)
	size := norm(b)
	room := tolerance(n)
	if subnormal { // eigenvalues are multiples of 2^-1074
		room += math.Ldexp(1, -1074-e) / size
	}
	if e := residual(a, n, n, x, x, w); !(e <= room) {
		t.Errorf("%s: A X - X D has an entry %g |A|, %g u n", what, e, e*0x1p53/float64(n))
	}
	for i := range w {
		if d := math.Abs(math.Ldexp(w[i], -e) - math.Ldexp(values[i], -e)); !(d <= 2*room*size) {
			t.Errorf("%s: eigenvalue %d is %g with vectors and %g without", what, i, w[i], values[i])
		}
	}
}

// TestKnown compares with eigenvalues in closed form, 2 - 2 cos(π k / (n + 1)).
func TestKnown(t *testing.T) {
	for _, n := range []int{1, 2, 10, 100} {
		d, e := make([]float64, n), make([]float64, n-1)
		for i := range d {
			d[i] = 2
		}
		for i := range e {
			e[i] = -1
		}
		for _, vectors := range []bool{false, true} {
			w, v, ok := Tridiagonal(context.Background(), d, e, vectors, 1)
			if !ok || (v != nil) != vectors {
				t.Fatal(n, ok, len(v))
			}
			for k, x := range w {
				if want := 2 - 2*math.Cos(math.Pi*float64(k+1)/float64(n+1)); math.Abs(x-want) > 4*tolerance(n) {
					t.Errorf("n = %d: eigenvalue %d is %g, want %g", n, k, x, want)
				}
			}
		}
	}
}

// TestTridiagonal checks tridiagonal matrices, whose operands are left as they are.
func TestTridiagonal(t *testing.T) {
	r := testseed.Rand(t, 1, 2)
	ctx := context.Background()
	for _, n := range orders() {
		for how := range 4 {
			d, e := make([]float64, n), make([]float64, max(0, n-1))
			for i := range d {
				d[i] = []float64{r.NormFloat64(), 0, math.Ldexp(1, -3*i), float64(r.IntN(2))}[how]
			}
			for i := range e {
				e[i] = []float64{r.NormFloat64(), 1, math.Ldexp(1, -3*i), float64(r.IntN(2))}[how]
			}
			d0, e0 := slices.Clone(d), slices.Clone(e)
			w, v, ok := Tridiagonal(ctx, d, e, true, 2)
			if !ok || !slices.Equal(d, d0) || !slices.Equal(e, e0) {
				t.Fatal(n, how, ok)
			}
			a := fill(n, func(i, j int) float64 {
				switch i - j {
				case 0:
					return d[i]
				case 1:
					return e[j]
				}
				return 0
			})
			o, s := orthonormality(v, n, n), residual(a, n, n, v, v, w)
			if !(o <= tolerance(n)) || !(s <= tolerance(n)) {
				t.Errorf("n = %d, matrix %d: orthonormal to %g, residual %g", n, how, o, s)
			}
		}
	}
}

// TestSVD checks residuals, A V = U S and A'U = V S, and orthonormality.
func TestSVD(t *testing.T) {
	r := testseed.Rand(t, 1, 3)
	for _, name := range sortedKeys(symmetric) {
		for at, n := range orders() {
			for which, more := range []int{0, 1, 2*n + 7} {
				scale := []int{0, 1000, -1000}[(at+which)%3]
				level := isa.Levels()[(at+which)%len(isa.Levels())]
				m := n + more
				if n == 0 && more > 1 {
					continue
				}
				large := symmetric[name](m, r)
				a := make([]float64, m*n)
				for i := range m {
					for j := range n {
						a[i*n+j] = ldexp(large[i*m+j], scale)
						if name == "random" && j == n/2 && n > 1 { // deficient
							a[i*n+j] = a[i*n]
						}
					}
				}
				restore := isa.Force(level)
				checkSVD(t, fmt.Sprintf("%s, %d x %d, 2^%d, level %v", name, m, n, scale, level), a, m, n)
				restore()
			}
		}
	}
}

func checkSVD(t *testing.T, what string, a []float64, m, n int) {
	t.Helper()
	ctx := context.Background()
	u, s, v, ok := SVD(ctx, slices.Clone(a), m, n, true, 2)
	none, values, none2, ok2 := SVD(ctx, slices.Clone(a), m, n, false, 1)
	if !ok || !ok2 || none != nil || none2 != nil || len(u) != m*n || len(s) != n || len(values) != n || len(v) != n*n {
		t.Fatalf("%s: %t, %t, %d, %d, %d, %d", what, ok, ok2, len(u), len(s), len(values), len(v))
	}
	if e := orthonormality(u, m, n); !(e <= tolerance(m)) {
		t.Errorf("%s: U'U - I has an entry %g, %g u n", what, e, e*0x1p53/float64(m))
	}
	if e := orthonormality(v, n, n); !(e <= tolerance(n)) {
		t.Errorf("%s: V'V - I has an entry %g, %g u n", what, e, e*0x1p53/float64(n))
	}
	if e := residual(a, m, n, v, u, s); !(e <= tolerance(m)) {
		t.Errorf("%s: A V - U S has an entry %g |A|, %g u n", what, e, e*0x1p53/float64(m))
	}
	b, e := scaled(a)
	for i, x := range s {
		if i > 0 && !(x <= s[i-1]) || !(x >= 0) || i > 0 && !(values[i] <= values[i-1]) || !(values[i] >= 0) {
			t.Errorf("%s: singular values %v, %v", what, s, values)
		}
		if d := math.Abs(math.Ldexp(x, -e)-math.Ldexp(values[i], -e)) / norm(b); !(d <= tolerance(m)) {
			t.Errorf("%s: singular value %d is %g with vectors and %g without", what, i, x, values[i])
		}
	}
}

// TestWorkers has matrices so large that workers share products with vectors, and merges at all
// levels. It checks some entries of residuals.
func TestWorkers(t *testing.T) {
	r := testseed.Rand(t, 1, 4)
	ctx := context.Background()
	const n, m, workers = 450, 500, 3
	near := func(what string, got float64) {
		t.Helper()
		if !(math.Abs(got) <= tolerance(m)) {
			t.Fatalf("%s is off by %g", what, got)
		}
	}
	names := []string{"random", "laplace", "close"}
	if testlength.Slow() {
		names = names[:1]
	}
	for _, name := range names {
		a := symmetric[name](n, r)
		size := norm(a)
		x := slices.Clone(a)
		w, ok := Sym(ctx, x, n, true, workers)
		if !ok {
			t.Fatalf("%s: no convergence", name)
		}
		b := make([]float64, m*n)
		for i := range b {
			b[i] = a[i%len(a)] * (1 + float64(i%7))
		}
		sizeB := norm(b)
		u, s, v, ok := SVD(ctx, slices.Clone(b), m, n, true, workers)
		if !ok {
			t.Fatalf("%s: SVD: no convergence", name)
		}
		for range 3000 {
			i, j, row := r.IntN(n), r.IntN(n), r.IntN(m)
			near(name+": X'X", dot(n, x, i, n, x, j, n, unit(i, j), 1))
			near(name+": A X", dot(n, a, i*n, 1, x, j, n, x[i*n+j], w[j])/size)
			near(name+": U'U", dot(m, u, i, n, u, j, n, unit(i, j), 1))
			near(name+": V'V", dot(n, v, i, n, v, j, n, unit(i, j), 1))
			near(name+": A V", dot(n, b, row*n, 1, v, j, n, u[row*n+j], s[j])/sizeB)
		}
	}
}

// TestNotFinite refuses infinities, NaN and a context that is done, and overflow of results.
func TestNotFinite(t *testing.T) {
	ctx := context.Background()
	done, cancel := context.WithCancel(ctx)
	cancel()
	for _, n := range []int{1, 2, 40} {
		for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1} {
			a := fill(n, unit)
			a[n*n-1] = bad
			ctx := ctx
			if bad == 1 {
				ctx = done
			}
			for _, vectors := range []bool{false, true} {
				if _, ok := Sym(ctx, slices.Clone(a), n, vectors, 1); ok {
					t.Errorf("Sym accepts %g, n = %d", bad, n)
				}
				if _, _, _, ok := SVD(ctx, slices.Clone(a), n, n, vectors, 1); ok {
					t.Errorf("SVD accepts %g, n = %d", bad, n)
				}
				d := make([]float64, n)
				d[n-1] = bad
				if _, _, ok := Tridiagonal(ctx, d, make([]float64, n-1), vectors, 1); ok {
					t.Errorf("Tridiagonal accepts %g, n = %d", bad, n)
				}
			}
		}
	}
	huge := fill(4, func(i, j int) float64 { return math.MaxFloat64 })
	if _, ok := Sym(ctx, huge, 4, true, 1); ok {
		t.Error("an eigenvalue of 4 MaxFloat64 is not finite")
	}
}

// fading is a context that is done from some call of Err on.
type fading struct {
	context.Context
	left atomic.Int64
}

func (f *fading) Err() error {
	if f.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// TestCancelled ends computations at all places: results are good, or not ok.
func TestCancelled(t *testing.T) {
	r := testseed.Rand(t, 1, 5)
	const n = 60
	a := symmetric["random"](n, r)
	for _, workers := range []int{1, 2} {
		finished := [2]bool{}
		for calls := int64(0); finished != [2]bool{true, true}; calls += 1 + calls/40 {
			if calls > 1<<20 {
				t.Fatal("no call of Err is the last one")
			}
			for what := range finished {
				ctx := &fading{Context: t.Context()}
				ctx.left.Store(calls)
				x := slices.Clone(a)
				y := x
				var w []float64
				var ok bool
				if what == 0 {
					w, ok = Sym(ctx, x, n, true, workers)
				} else {
					y, w, x, ok = SVD(ctx, x, n, n, true, workers)
				}
				if !ok {
					continue
				}
				finished[what] = true
				if e := residual(a, n, n, x, y, w); !(e <= tolerance(n)) {
					t.Fatalf("done after %d calls, %d: residual %g", calls, what, e)
				}
			}
		}
	}
}

func BenchmarkSym(b *testing.B) {
	for _, n := range []int{50, 100, 300, 1000} {
		for _, vectors := range []bool{true, false} {
			b.Run(fmt.Sprintf("n=%d/vectors=%t", n, vectors), func(b *testing.B) {
				a := symmetric["random"](n, rand.New(rand.NewPCG(1, 2)))
				x := make([]float64, n*n)
				for b.Loop() {
					copy(x, a)
					if _, ok := Sym(context.Background(), x, n, vectors, 1); !ok {
						b.Fatal("no convergence")
					}
				}
			})
		}
	}
}

func BenchmarkSVD(b *testing.B) {
	for _, n := range []int{50, 100, 300, 1000} {
		for _, vectors := range []bool{true, false} {
			b.Run(fmt.Sprintf("n=%d/vectors=%t", n, vectors), func(b *testing.B) {
				r := rand.New(rand.NewPCG(1, 2))
				a, x := make([]float64, n*n), make([]float64, n*n)
				for i := range a {
					a[i] = 2*r.Float64() - 1
				}
				for b.Loop() {
					copy(x, a)
					if _, _, _, ok := SVD(context.Background(), x, n, n, vectors, 1); !ok {
						b.Fatal("no convergence")
					}
				}
			})
		}
	}
}
