package seed

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/cudadrv/fake"
	"github.com/halfulp/halfulp/internal/dgemm"
	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/gpu/gputest"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/testlength"
)

// A problem is a matrix to invert, and the most that the largest entry of I - R F may be, 0 for
// none.
type problem struct {
	name string
	n    int
	at   func(i, j int) float64
	most float64
}

// random returns the n x n matrix A = Q1 D Q2 of numbers, D running geometrically from 1 to
// 1/condition, Q1 and Q2 being products of reflections.
func random(n int, condition float64, seed uint64) func(i, j int) float64 {
	rng := rand.New(rand.NewPCG(seed, uint64(n)))
	a := make([]float64, n*n)
	for i := range n {
		a[i+i*n] = math.Pow(condition, -float64(i)/float64(max(n-1, 1)))
	}
	for round := range 4 {
		v, norm := make([]float64, n), 0.0
		for i := range v {
			v[i] = rng.NormFloat64()
			norm += float64(v[i] * v[i])
		}
		along, across := 1, n
		if round%2 == 1 {
			along, across = n, 1
		}
		for c := range n {
			dot := 0.0
			for i := range n {
				dot += float64(v[i] * a[i*along+c*across])
			}
			for i := range n {
				a[i*along+c*across] -= float64(2 * dot / norm * v[i])
			}
		}
	}
	return func(i, j int) float64 { return a[i+j*n] }
}

// problems returns matrices of order n.
func problems(n int) []problem {
	rng := rand.New(rand.NewPCG(7, uint64(n)))
	dense := make([]float64, n*n)
	for i := range dense {
		dense[i] = rng.Float64() - 0.5
	}
	at := func(i, j int) float64 { return dense[i+j*n] }
	order := rng.Perm(n)
	unit := func(is bool) float64 {
		if is {
			return 1
		}
		return 0
	}
	return []problem{
		{"uniform", n, at, 1e-7},
		{"permutation", n, func(i, j int) float64 { return unit(order[i] == j) }, 1e-300},
		{"antidiagonal", n, func(i, j int) float64 { return float64(i+1) * unit(i+j == n-1) }, 1e-15},
		{"zero leading minors", n, func(i, j int) float64 {
			if i < (n+1)/2 && j < n/2 {
				return 0
			}
			return at(i, j)
		}, 1e-7},
		{"graded", n, func(i, j int) float64 { return math.Ldexp(at(i, j), (i*7919%n-j)*600/n) }, 1e-7},
		{"growth", min(n, 30), func(i, j int) float64 { // Wilkinson's
			if i < j && j < min(n, 30)-1 {
				return 0
			} else if i > j && j < min(n, 30)-1 {
				return -1
			}
			return 1
		}, 1e-6},
		{"Hilbert", min(n, 8), func(i, j int) float64 { return 1 / float64(i+j+1) }, 1e-4},
		{"symmetric indefinite", n, func(i, j int) float64 { return unit(i != j || n == 1) * at(max(i, j), min(i, j)) }, 1e-7},
		{"arrow", n, func(i, j int) float64 { return unit(i == 0 || j == 0 || i == j) * float64(1+i+j) }, 1e-7},
		{"tridiagonal", n, func(i, j int) float64 { return 2*unit(i == j) - unit(i-j == 1 || j-i == 1) }, 1e-7},
		{"kappa 1e8", n, random(n, 1e8, 1), 1e-4},
		{"kappa 1e12", n, random(n, 1e12, 2), 1},
	}
}

// residual returns the largest entry of I - R F, about, for F = diag(2^rows) A diag(2^cols).
func residual(t testing.TB, a num.Mat, r []float64, rows, cols []int64) float64 {
	n := a.Rows
	f, c := make([]float64, n*n), make([]float64, n*n)
	for j := range n {
		c[j+j*n] = 1
		for i := range n {
			x, e := a.Arr.Leading(a.At(i, j))
			f[i+j*n] = math.Ldexp(x, int(e+rows[i]+cols[j]))
		}
	}
	if err := dgemm.Subtract(context.Background(), runtime.GOMAXPROCS(0), n, c, r, f); err != nil {
		t.Fatal(err)
	}
	most := 0.0
	for _, x := range c {
		if x != x {
			return x
		}
		most = max(most, math.Abs(x))
	}
	return most
}

// resident returns a matrix on the device of a view with strides, and the view.
func resident(s *cuda.Stream, f num.Format, n int, transposed bool, at func(i, j int) float64) (mem.Matrix, num.Mat, error) {
	h := num.Mat{Arr: num.New(f, n*(n+3)), RS: 1, CS: n + 3, Rows: n, Cols: n}
	if transposed {
		h.RS, h.CS = h.CS, h.RS
	}
	for j := range n {
		for i := range n {
			h.Arr.Set(h.At(i, j), gputest.Scalar(at(i, j)))
		}
	}
	a, err := mem.Upload(s, h.Arr)
	return mem.Matrix{Arr: a, RS: h.RS, CS: h.CS, Rows: n, Cols: n}, h, err
}

// settled waits for a seed.
func settled(z *Seed, err error) (bool, error) {
	if err != nil || z == nil {
		return false, err
	}
	return z.Settle()
}

// inverse inverts in the first way of some that is ok.
func inverse(s *cuda.Stream, a, x mem.Matrix, ways []search, width int) (rows, cols []int64, ok bool, err error) {
	for _, way := range ways {
		var z *Seed
		rows, cols, z, err = invert(s, a, x, way, width)
		if ok, err = settled(z, err); ok || err != nil {
			break
		}
	}
	return rows, cols, ok, err
}

// check inverts a matrix in a format and returns the residual.
func check(t *testing.T, dev *cuda.Device, p problem, f num.Format, ways []search, transposed bool, width int) {
	t.Helper()
	name := fmt.Sprintf("%s, n = %d, %v, ways %v, transposed %v, width %d", p.name, p.n, f, ways, transposed, width)
	if err := dev.Do(t.Context(), func(s *cuda.Stream) error {
		a, h, err := resident(s, f, p.n, transposed, p.at)
		if err != nil {
			return err
		}
		defer a.Arr.Free()
		x, err := mem.NewArray(s, num.Float64, p.n*p.n+5)
		if err != nil {
			return err
		}
		defer x.Free()
		to := mem.Matrix{Arr: x, Off: 5, RS: 1, CS: p.n, Rows: p.n, Cols: p.n}
		rows, cols, ok, err := inverse(s, a, to, ways, width)
		if err != nil {
			return err
		}
		if !ok {
			t.Errorf("%s: none", name)
			return nil
		}
		for i := range p.n {
			top := math.MinInt
			for j := range p.n {
				if x, e := h.Arr.Leading(h.At(i, j)); x != 0 {
					top = max(top, int(e+rows[i]+cols[j]))
				}
			}
			if top != 0 {
				t.Fatalf("%s: row %d is scaled to 2^%d", name, i, top)
			}
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
		got := residual(t, h, r.F64[0][5:], rows, cols)
		t.Logf("%s: %.2g", name, got)
		if !(got <= p.most) {
			t.Errorf("%s: |I - R F| is %g, want at most %g", name, got, p.most)
		}
		return nil
	}); err != nil {
		t.Fatal(name, err)
	}
}

// widths are widths of panels in tests: one step, two steps and the largest number.
var widths = []int{block, 2 * block, panelWidth}

// checkAll inverts nasty matrices of some orders.
func checkAll(t *testing.T, dev *cuda.Device, orders ...int) {
	t.Helper()
	for _, n := range orders {
		checkOrder(t, dev, n, 1)
	}
}

// checkOrder inverts each of the nasty matrices of order n, or one in three.
func checkOrder(t *testing.T, dev *cuda.Device, n, every int) {
	t.Helper()
	formats := []num.Format{num.Float64, gputest.MP(424), num.Float64, num.DDouble, gputest.MP(53), num.QDouble}
	for i, p := range problems(n) {
		if i%every != 0 {
			continue
		}
		check(t, dev, p, formats[i%len(formats)], searches, i%4 == 1, widths[i%3])
		if p.name == "uniform" || p.name == "tridiagonal" || p.name == "kappa 1e8" {
			// Few candidates do, and no tournament comes to their help.
			check(t, dev, p, formats[i%len(formats)], []search{narrow}, i%4 == 1, widths[(i+1)%3])
		}
		if n > node {
			check(t, dev, p, formats[i%len(formats)], []search{tournament}, i%4 == 1, widths[(i+1)%3])
		}
	}
}

// checkFailures inverts matrices that have no inverse in float64.
func checkFailures(t *testing.T, dev *cuda.Device, n int) {
	t.Helper()
	fine := problems(n)[0].at
	for name, at := range map[string]func(i, j int) float64{
		"zeros":    func(int, int) float64 { return 0 },
		"row of 0": func(i, j int) float64 { return fine(i, j) * math.Abs(float64(max(-1, min(1, i-n/2)))) },
		"ones":     func(int, int) float64 { return 1 },
		"infinity": func(i, j int) float64 {
			if i == n-1 && j == n/3 {
				return math.Inf(1)
			}
			return fine(i, j)
		},
		"NaN": func(i, j int) float64 {
			if i == n/2 && j == n-1 {
				return math.NaN()
			}
			return fine(i, j)
		},
	} {
		for _, f := range []num.Format{num.Float64, gputest.MP(100)} {
			if err := dev.Do(t.Context(), func(s *cuda.Stream) error {
				a, _, err := resident(s, f, n, false, at)
				if err != nil {
					return err
				}
				defer a.Arr.Free()
				x, err := mem.NewArray(s, num.Float64, n*n)
				if err != nil {
					return err
				}
				defer x.Free()
				_, _, ok, err := inverse(s, a, mem.Matrix{Arr: x, RS: 1, CS: n, Rows: n, Cols: n}, searches, widthFor(n, panelsFrom))
				if ok {
					t.Errorf("%s, n = %d, %v: an inverse", name, n, f)
				}
				if err != nil {
					return err
				}
				u, err := mem.NewArray(s, num.Float64, n*n)
				if err != nil {
					return err
				}
				defer u.Free()
				_, _, _, ok, err = factored(s, a, mem.Matrix{Arr: x, RS: 1, CS: n, Rows: n, Cols: n}, mem.Matrix{Arr: u, RS: 1, CS: n, Rows: n, Cols: n}, searches, widthFor(n, panelsFrom))
				if ok {
					t.Errorf("%s, n = %d, %v: triangles", name, n, f)
				}
				return err
			}); err != nil {
				t.Fatal(name, f, err)
			}
		}
	}
}

func reference(t *testing.T) *cuda.Device { return gputest.SeedReference(t, new(fake.Driver)) }

// TestInverse inverts on a fake device.
func TestInverse(t *testing.T) {
	dev := reference(t)
	checkAll(t, dev, 1, 2, 63, 64, 65, 150)
	checkOrder(t, dev, 330, testlength.Of(5, 5, 1)) // kernels compiled for the host take their time
	checkFailures(t, dev, 70)
}

// TestDeviceInverse inverts on the machine's GPU.
func TestDeviceInverse(t *testing.T) {
	dev := gputest.Machine(t)
	checkAll(t, dev, 1, 2, 5, 63, 64, 65, 100, 128, 200, 256, 257, 320, 330, 1000, 1025, 1500)
	checkFailures(t, dev, 70)
	checkFailures(t, dev, 500)
}

// TestSanitizeInverse runs every kernel on small matrices.
func TestSanitizeInverse(t *testing.T) {
	dev := gputest.Machine(t)
	for _, n := range []int{5, 330} {
		p := problems(n)[0]
		check(t, dev, p, num.Float64, searches, false, block)
		check(t, dev, p, gputest.MP(150), []search{tournament}, true, 2*block)
	}
}

// TestWidths has the same numbers for panels of all widths: the product that updates columns other
// than a panel's adds to each number what steps would add, in their order.
func TestWidths(t *testing.T) {
	const n = 330
	dev := reference(t)
	for _, p := range problems(n)[:1] {
		var want []float64
		for _, width := range widths {
			if err := dev.Do(t.Context(), func(s *cuda.Stream) error {
				a, _, err := resident(s, num.Float64, n, false, p.at)
				if err != nil {
					return err
				}
				defer a.Arr.Free()
				x, err := mem.NewArray(s, num.Float64, n*n)
				if err != nil {
					return err
				}
				defer x.Free()
				if _, _, ok, err := inverse(s, a, mem.Matrix{Arr: x, RS: 1, CS: n, Rows: n, Cols: n}, searches, width); err != nil || !ok {
					return fmt.Errorf("%v %w", ok, err)
				}
				got, err := x.Host(s)
				if err != nil {
					return err
				}
				if want == nil {
					want = got.F64[0]
				}
				for i, v := range got.F64[0] {
					if v != want[i] {
						t.Fatalf("%s: width %d: number %d is %g, want %g", p.name, width, i, v, want[i])
					}
				}
				return nil
			}); err != nil {
				t.Fatal(p.name, width, err)
			}
		}
	}
}

// TestEmpty checks that there is an inverse of nothing, and none of matrices that are too large.
func TestEmpty(t *testing.T) {
	for n, want := range map[int]bool{0: true, MaxOrder + 1: false} {
		rows, cols, z, err := Inverse(nil, mem.Matrix{Rows: n, Cols: n}, mem.Matrix{}, 0)
		if ok, err := settled(z, err); err != nil || ok != want || len(rows) != n || len(cols) != n {
			t.Error(n, len(rows), len(cols), ok, err)
		}
	}
}

// BenchmarkInverse measures inverses of resident matrices of uniform numbers, with the pivots
// sought beside updates and not, the residual, and the kernels of a step one by one.
func BenchmarkInverse(b *testing.B) {
	dev := gputest.Machine(b)
	do := func(b *testing.B, f func(s *cuda.Stream) error) {
		b.Helper()
		if err := dev.Do(context.Background(), f); err != nil {
			b.Fatal(err)
		}
	}
	for _, n := range []int{256, 1000, 2048, 4096, 8192} {
		var a, to mem.Matrix
		var w *work
		do(b, func(s *cuda.Stream) (err error) {
			if a, err = gputest.RandomOnDevice(s, num.Float64, n, 0, 1); err != nil {
				return err
			}
			x, err := mem.NewArray(s, num.Float64, n*n)
			if err != nil {
				return err
			}
			to = mem.Matrix{Arr: x, RS: 1, CS: n, Rows: n, Cols: n}
			w, err = newWork(s, a, 0, n, tournament, panelWidth)
			return err
		})
		for i := range 6 {
			way, width := searches[i/3], widths[i%3]
			rho := 0.0
			do(b, func(s *cuda.Stream) error {
				rows, cols, ok, err := inverse(s, a, to, []search{way}, width) // loads the kernels
				if err != nil || !ok {
					return fmt.Errorf("%v %w", ok, err)
				}
				h, err := a.Get(s)
				if err != nil {
					return err
				}
				r, err := to.Arr.Host(s)
				if err != nil {
					return err
				}
				rho = residual(b, h, r.F64[0], rows, cols)
				return nil
			})
			b.Run(fmt.Sprintf("%d/%v/width=%d", n, way, width), func(b *testing.B) {
				for b.Loop() {
					do(b, func(s *cuda.Stream) error {
						_, _, _, err := inverse(s, a, to, []search{way}, width)
						return err
					})
				}
				b.ReportMetric(1e15*rho, "residual/1e-15")
			})
		}
		all := int(w.g.Columns)
		for _, stage := range []struct {
			name string
			run  func() error
		}{
			{"equilibrate", w.equilibrate},
			{"fill", w.fill},
			{"pivots", func() error { return w.pivots(w.s) }},
			{"narrowPivots", func() error { return w.launch(w.s, "narrowPivots", cuda.Dim{X: 1}, abi.SeedPickShared, w.g) }},
			{"factors", func() error { return w.factors(w.s, columns(0, all)) }},
			{"update", func() error { return w.update(w.s, 0, block, columns(0, all), 0) }},
			{"panelFactors", func() error { return w.factors(w.s, columns(0, panelWidth)) }},
			{"panelStep", func() error { return w.update(w.s, 0, block, columns(0, panelWidth), 0) }},
			{"panelUpdate", func() error {
				return w.panelUpdate(w.s, panelWidth, columns(panelWidth, all), w.s.Device().Info().Multiprocessors)
			}},
			{"unscramble", func() error { return w.unscramble(to, w) }},
		} {
			b.Run(fmt.Sprintf("%d/%s", n, stage.name), func(b *testing.B) {
				const each = 20
				for b.Loop() {
					do(b, func(s *cuda.Stream) error {
						for range each {
							if err := stage.run(); err != nil {
								return err
							}
						}
						return s.Synchronize()
					})
				}
				b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(each*b.N), "µs/launch")
			})
		}
		do(b, func(*cuda.Stream) error {
			w.free()
			to.Arr.Free()
			a.Arr.Free()
			return nil
		})
	}
}
