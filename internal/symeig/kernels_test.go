package symeig

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/halfulp/halfulp/internal/isa"
	"github.com/halfulp/halfulp/internal/testseed"
)

func numbers(n int, r *rand.Rand) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = 2*r.Float64() - 1
	}
	return x
}

// TestKernels compares the loops of every level with plain loops, and looks for writes beyond the
// ends.
func TestKernels(t *testing.T) {
	r := testseed.Rand(t, 2, 1)
	for _, level := range isa.Levels() {
		restore := isa.Force(level)
		k := best()
		for n := range 45 {
			cols := r.IntN(11)
			lda := n + 1 + r.IntN(3)
			a := numbers(lda*max(cols, 4), r)
			same := func(what string, got, want []float64) {
				t.Helper()
				for i := range want {
					if !(math.Abs(got[i]-want[i]) <= 0x1p-46*(1+math.Abs(want[i]))) {
						t.Fatalf("level %v, n = %d, %d columns: entry %d of %s is %g, want %g", level, n, cols, i, what, got[i], want[i])
					}
				}
			}
			product := func(y, x []float64) { // A x
				for c, f := range x {
					for i := range n {
						y[i] += float64(a[i+c*lda] * f)
					}
				}
			}
			turned := func(d, x []float64) { // A'x
				for c := range d {
					d[c] = 0
					for i := range n {
						d[c] += float64(a[i+c*lda] * x[i])
					}
				}
			}
			alpha, x, y := numbers(cols, r), numbers(n, r), numbers(n+1, r)
			want, d := slices.Clone(y), make([]float64, cols+1)
			product(want, alpha)
			k.addProduct(a, lda, y[:n], alpha)
			same("A x", y, want)
			d[cols] = 7
			wantD := slices.Clone(d)
			turned(wantD[:cols], x)
			k.products(a, lda, x, d[:cols])
			same("A'x", d, wantD)

			four, dots := numbers(4, r), make([]float64, 5)
			dots[4] = 7
			want, wantD = slices.Clone(y), slices.Clone(dots)
			product(want, four)
			turned(wantD[:4], x)
			k.addBoth(a, lda, x, y[:n], four, dots[:4])
			same("both: A x", y, want)
			same("both: A'x", dots, wantD)

			tau := 3 + r.Float64()
			value, slope := k.secularSums(x, a[:n], tau)
			wantV, wantS := sumsGeneric(x, a[:n], tau)
			same("sums", []float64{value, slope}, []float64{wantV, wantS})

			for i := range x {
				x[i] += math.Copysign(1, x[i])
			}
			want = slices.Clone(y)
			wantV = quotientsGeneric(want[:n], a[:n], x)
			value = k.divide(y[:n], a[:n], x)
			same("quotients", append(y, value), append(want, wantV))
			want = slices.Clone(y)
			scaleQuotientsGeneric(want[:n], a[:n], x)
			k.scaleDivided(y[:n], a[:n], x)
			same("scaled quotients", y, want)
		}
		restore()
	}
}

// TestSecular computes the roots of equations with random and with nearly equal poles, and large
// and small entries of z. The function changes its sign beside each root: the vectors need roots
// with small relative errors of the distances to poles. The Löwner vector is near z, and is exact
// for the roots computed.
func TestSecular(t *testing.T) {
	r := testseed.Rand(t, 2, 2)
	for trial := range 300 {
		n := 1 + r.IntN(20)
		squared := trial%2 == 1
		e := &secular{k: best(), d: make([]float64, n), z: make([]float64, n), squared: squared}
		next := 0.0
		if !squared {
			next = -r.Float64()
		}
		for j := range n {
			e.d[j] = next
			next += []float64{r.Float64(), 0x1p-45, math.Ldexp(1, -r.IntN(48))}[trial/2%3]
			if e.z[j] = math.Ldexp(1+r.Float64(), -r.IntN(50)) * float64(2*r.IntN(2)-1); trial/6%2 == 0 {
				e.z[j] = 2*r.Float64() - 1
			}
		}
		z := slices.Clone(e.z)
		checkRoots(t, trial, e)
		s := newSolver(t.Context(), 1+trial%2)
		delta, roots := newMatrix(n, n), make([]float64, n)
		if !e.solve(s, delta, roots, s.workers) {
			t.Fatalf("trial %d: no convergence: d = %v, z = %v", trial, e.d, z)
		}
		for j, v := range e.z {
			if !(math.Abs(v-z[j]) <= float64(n+10)*0x1p-48*math.Abs(z[j])+0x1p-60) {
				t.Errorf("trial %d: entry %d of z becomes %g: d = %v, z = %v", trial, j, v, e.d, z)
			}
		}
	}
}

// checkRoots evaluates the function in 500 bits beside each root, at distances to the nearest pole
// that differ by a few units in the last place, or at which it is as small as rounded sums can be.
func checkRoots(t *testing.T, trial int, e *secular) {
	t.Helper()
	n := len(e.d)
	number := func(x float64) *big.Float { return new(big.Float).SetPrec(500).SetFloat64(x) }
	pole := func(j int) *big.Float {
		d := number(e.d[j])
		if e.squared {
			d.Mul(d, d)
		}
		return d
	}
	for i := range n {
		o, tau, ok := e.root(i, make([]float64, n))
		if !ok {
			t.Fatalf("trial %d: root %d of %d does not converge: d = %v, z = %v", trial, i, n, e.d, e.z)
		}
		at := new(big.Float).Add(pole(o), number(tau))
		if at.Cmp(pole(i)) <= 0 || i < n-1 && at.Cmp(pole(i+1)) >= 0 {
			t.Fatalf("trial %d: root %d of %d is not between its poles: d = %v, z = %v", trial, i, n, e.d, e.z)
		}
		value, size, slope := number(1), number(1), number(0)
		for j, z := range e.z {
			p := number(z)
			p.Mul(p, p)
			gap := new(big.Float).Sub(pole(j), at)
			p.Quo(p, gap)
			value.Add(value, p)
			slope.Add(slope, new(big.Float).Quo(p, gap).Abs(new(big.Float).Quo(p, gap)))
			size.Add(size, p.Abs(p))
		}
		slope.Mul(slope, number(math.Abs(tau)))
		size.Add(size, slope)
		size.Mul(size, number(32*unitRoundoff))
		if value.Abs(value).Cmp(size) > 0 {
			t.Fatalf("trial %d: root %d of %d: value %g, want at most %g: d = %v, z = %v", trial, i, n, value, size, e.d, e.z)
		}
	}
}
