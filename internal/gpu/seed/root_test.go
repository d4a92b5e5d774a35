package seed

import (
	"fmt"
	"math"
	"testing"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/cudadrv/fake"
	"github.com/halfulp/halfulp/internal/gpu/gputest"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/num"
)

// inverseRootNow is inverseRoot, and waits.
func inverseRootNow(s *cuda.Stream, a, x mem.Matrix, width int) (exps []int64, ok bool, err error) {
	exps, z, err := inverseRoot(s, a, x, width)
	ok, err = settled(z, err)
	return exps, ok, err
}

// definite returns symmetric positive definite matrices of order n.
func definite(n int) []problem {
	gram := func(x func(i, j int) float64) func(i, j int) float64 {
		a, rows := make([]float64, n*n), make([][]float64, n)
		for i := range n {
			rows[i] = make([]float64, n)
			for k := range n {
				rows[i][k] = x(i, k)
			}
			for j := range i + 1 {
				sum := 0.0
				for k, y := range rows[j] {
					sum += float64(rows[i][k] * y)
				}
				a[i+j*n], a[j+i*n] = sum, sum
			}
		}
		return func(i, j int) float64 { return a[i+j*n] }
	}
	unit := func(is bool) float64 {
		if is {
			return 1
		}
		return 0
	}
	uniform := gram(problems(n)[0].at)
	return []problem{
		{"Gram matrix", n, uniform, 1e-6},
		{"unit matrix", n, func(i, j int) float64 { return unit(i == j) }, 1e-300},
		{"scaled", n, func(i, j int) float64 { return math.Ldexp(uniform(i, j), i*37%n*500/n+j*37%n*500/n-500) }, 1e-6},
		{"tridiagonal", n, func(i, j int) float64 { return 2*unit(i == j) - unit(i-j == 1 || j-i == 1) }, 1e-9},
		{"Hilbert", min(n, 8), func(i, j int) float64 { return 1 / float64(i+j+1) }, 1e-4},
		{"kappa 1e8", n, gram(random(n, 1e4, 1)), 1e-6},
	}
}

// rootResidual returns approximately the largest entry of S F S^T - I. It checks that S is lower
// triangular with a positive diagonal, and that the diagonal of F is near 1.
func rootResidual(t *testing.T, name string, a num.Mat, s []float64, exps []int64) float64 {
	t.Helper()
	n := a.Rows
	f, v := make([]float64, n*n), make([]float64, n*n)
	for j := range n {
		for i := range n {
			x, e := a.Arr.Leading(a.At(max(i, j), min(i, j)))
			f[i+j*n] = math.Ldexp(x, int(e+exps[i]+exps[j]))
		}
		if d := f[j+j*n]; d < 0.25 || d > 2 || !(s[j+j*n] > 0) {
			t.Fatalf("%s: number %d of the diagonal of F is %g, of S %g", name, j, d, s[j+j*n])
		}
	}
	for j := range n {
		for k := range j + 1 {
			for i := range n {
				v[i+j*n] += float64(f[i+k*n] * s[j+k*n]) // F S^T
			}
		}
	}
	most := 0.0
	for j := range n {
		for i := range n {
			sum := 0.0
			if i == j {
				sum = -1
			}
			for k := range n {
				if k > i && s[i+k*n] != 0 {
					t.Fatalf("%s: entry (%d, %d) is %g", name, i, k, s[i+k*n])
				}
				sum += float64(s[i+k*n] * v[k+j*n])
			}
			if !(math.Abs(sum) <= most) {
				most = math.Abs(sum)
			}
		}
	}
	return most
}

// checkRoots inverts the factors of matrices in some formats.
func checkRoots(t *testing.T, dev *cuda.Device, orders ...int) {
	t.Helper()
	formats := []num.Format{num.Float64, gputest.MP(424), num.Float64, num.DDouble, gputest.MP(53), num.QDouble}
	for _, n := range orders {
		for i, p := range definite(n) {
			f := formats[i%len(formats)]
			name := fmt.Sprintf("%s, n = %d, %v", p.name, p.n, f)
			// What lies above the diagonal is not read.
			at := func(i, j int) float64 {
				if i < j {
					return math.NaN()
				}
				return p.at(i, j)
			}
			if err := dev.Do(t.Context(), func(s *cuda.Stream) error {
				a, h, err := resident(s, f, p.n, false, at)
				if err != nil {
					return err
				}
				defer a.Arr.Free()
				x, err := mem.NewArray(s, num.Float64, p.n*p.n+5)
				if err != nil {
					return err
				}
				defer x.Free()
				exps, ok, err := inverseRootNow(s, a, mem.Matrix{Arr: x, Off: 5, RS: 1, CS: p.n, Rows: p.n, Cols: p.n}, widths[i%3])
				if err != nil || !ok {
					t.Errorf("%s: none, %v", name, err)
					return err
				}
				r, err := x.Host(s)
				if err != nil {
					return err
				}
				for i, v := range r.F64[0][:5] {
					if v != 0 {
						t.Fatalf("%s: number %d before the matrix is %g", name, i, v)
					}
				}
				if got := rootResidual(t, name, h, r.F64[0][5:], exps); !(got <= p.most) {
					t.Errorf("%s: |S F S^T - I| is %g, want at most %g", name, got, p.most)
				}
				return nil
			}); err != nil {
				t.Fatal(name, err)
			}
		}
	}
}

// checkNoRoots has matrices that are not positive definite, or not finite.
func checkNoRoots(t *testing.T, dev *cuda.Device, n int) {
	t.Helper()
	fine := definite(n)[0].at
	with := func(row, column int, x float64) func(i, j int) float64 {
		return func(i, j int) float64 {
			if i == row && j == column {
				return x
			}
			return fine(i, j)
		}
	}
	for name, at := range map[string]func(i, j int) float64{
		"zeros":    func(int, int) float64 { return 0 },
		"negative": with(n/2, n/2, -1),
		"zero":     with(n-1, n-1, 0),
		"large":    with(n-1, 1, 1e30),
		"infinity": with(n-1, n/3, math.Inf(1)),
		"NaN":      with(n/2, n/2, math.NaN()),
	} {
		for _, f := range []num.Format{num.Float64, gputest.MP(100)} {
			if err := dev.Do(t.Context(), func(s *cuda.Stream) error {
				a, _, err := resident(s, f, n, true, at)
				if err != nil {
					return err
				}
				defer a.Arr.Free()
				x, err := mem.NewArray(s, num.Float64, n*n)
				if err != nil {
					return err
				}
				defer x.Free()
				_, ok, err := inverseRootNow(s, a, mem.Matrix{Arr: x, RS: 1, CS: n, Rows: n, Cols: n}, widthFor(n, rootPanelsFrom))
				if ok {
					t.Errorf("%s, n = %d, %v: an inverse", name, n, f)
				}
				return err
			}); err != nil {
				t.Fatal(name, f, err)
			}
		}
	}
}

// TestInverseRoot runs on a fake device.
func TestInverseRoot(t *testing.T) {
	dev := gputest.FactorsReference(t, new(fake.Driver))
	checkRoots(t, dev, 1, 2, 63, 64, 65, 150, 300)
	checkNoRoots(t, dev, 70)
	for n, want := range map[int]bool{0: true, MaxOrder + 1: false} {
		if exps, ok, err := inverseRootNow(nil, mem.Matrix{Rows: n, Cols: n}, mem.Matrix{}, block); err != nil || ok != want || len(exps) != n {
			t.Error(n, len(exps), ok, err)
		}
	}
}

// TestDeviceInverseRoot runs on the machine's GPU.
func TestDeviceInverseRoot(t *testing.T) {
	dev := gputest.Machine(t)
	checkRoots(t, dev, 1, 2, 5, 63, 64, 65, 128, 200, 256, 257, 400)
	checkNoRoots(t, dev, 70)
	checkNoRoots(t, dev, 300)
}

// BenchmarkInverseRoot measures seeds of resident matrices.
func BenchmarkInverseRoot(b *testing.B) {
	dev := gputest.Machine(b)
	for _, n := range []int{1000, 4096} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			if err := dev.Do(b.Context(), func(s *cuda.Stream) error {
				a, _, err := resident(s, num.Float64, n, false, func(i, j int) float64 {
					if i == j {
						return float64(n)
					}
					return 1 / float64(1+(i*j)%7)
				})
				if err != nil {
					return err
				}
				defer a.Arr.Free()
				x, err := mem.NewArray(s, num.Float64, n*n)
				if err != nil {
					return err
				}
				defer x.Free()
				for b.Loop() {
					if _, ok, err := inverseRootNow(s, a, mem.Matrix{Arr: x, RS: 1, CS: n, Rows: n, Cols: n}, widthFor(n, rootPanelsFrom)); err != nil || !ok {
						return fmt.Errorf("%v %w", ok, err)
					}
				}
				return nil
			}); err != nil {
				b.Fatal(err)
			}
		})
	}
}
