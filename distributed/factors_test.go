package distributed_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/distributed"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/mpitest"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/linsolve"
)

// inProcesses runs the calling test with several numbers of processes, with the last of them alone
// unless tests are long. In each process it returns a function that moves matrices to the grid of
// the processes.
func inProcesses(t *testing.T, numbers ...int) (on func(m *halfulp.Matrix) *halfulp.Matrix, ok bool) {
	t.Helper()
	if !mpitest.InProcess() {
		last := numbers[len(numbers)-1:]
		for _, n := range testlength.Of(last, last, numbers) {
			mpitest.Run(t, n)
		}
		return nil, false
	}
	if _, err := distributed.Init(); err != nil {
		t.Fatal(err)
	}
	return func(m *halfulp.Matrix) *halfulp.Matrix {
		z, err := m.On(distributed.Device(0, 0))
		if err != nil {
			t.Fatal(err)
		}
		return z
	}, true
}

// shared reports whether processes have shared a whole computation.
func shared(st halfulp.Stats) bool {
	return st.Device == string(distributed.Device(0, 0)) && !slices.ContainsFunc(st.Stages, func(g halfulp.Stage) bool { return strings.HasPrefix(g.Name, "attempt") })
}

// gram returns X^T X for a random X, rounded.
func gram(t *testing.T, f halfulp.Format, n int, seed uint64) *halfulp.Matrix {
	t.Helper()
	x, z := gallery.Random(f, n+3, n, 1, seed), halfulp.NewMatrix(f, n, n)
	if err := halfulp.GemmTo(halfulp.Trans, halfulp.NoTrans, halfulp.Float(1), x, x, halfulp.Float(0), nil, z, nil); err != nil {
		t.Fatal(err)
	}
	return z
}

// sameOnGrid compares matrices on the grid with matrices on the host, and returns the latter in
// pairs.
func sameOnGrid(t *testing.T, name string, st halfulp.Stats, pairs ...*halfulp.Matrix) {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		got, want := pairs[i], pairs[i+1]
		if got.Device() != distributed.Device(0, 0) {
			t.Errorf("%s: matrix %d lives on %s", name, i/2, got.Device())
		}
		h, err := got.Host()
		if err != nil {
			t.Fatal(err)
		}
		if !h.Same(want) {
			t.Errorf("%s: matrix %d has other bits", name, i/2)
		}
	}
	if !shared(st) {
		t.Errorf("%s: not shared: %s, %v", name, st.Device, st.Stages)
	}
}

// TestFactors factors matrices on grids and on the host. The bits are the same, and the work is
// shared on the grid.
func TestFactors(t *testing.T) {
	on, ok := inProcesses(t, 1, 2, 3, 4)
	if !ok {
		return
	}
	for i, c := range []struct {
		f halfulp.Format
		n int
	}{{halfulp.Float64, 98}, {halfulp.MP(300), 45}, {halfulp.DD, 30}} {
		f, n := c.f, c.n
		name := func(routine string) string { return fmt.Sprintf("%s, %v, n = %d", routine, f, n) }
		a, spd := gallery.Random(f, n, n, 2, 1), gram(t, f, n, 2)
		{
			want, err := linsolve.Cholesky(spd, f, nil)
			if err != nil {
				t.Fatal(err)
			}
			var st halfulp.Stats
			got, err := linsolve.Cholesky(on(spd), f, &halfulp.Options{Stats: &st})
			if err != nil {
				t.Fatal(err)
			}
			sameOnGrid(t, name("Cholesky"), st, got.L, want.L)
		}
		{
			want, err := linsolve.Det(a, f, nil)
			if err != nil {
				t.Fatal(err)
			}
			var st halfulp.Stats
			got, err := linsolve.Det(on(a), f, &halfulp.Options{Stats: &st})
			if err != nil || !got.Same(want) {
				t.Errorf("%s: %v, want %v, %v", name("Det"), got, want, err)
			}
			if n >= 96 && !shared(st) {
				t.Errorf("%s: not shared: %v", name("Det"), st.Stages)
			}
			wantLog, wantSign, err := linsolve.LogDet(a, f, nil)
			if err != nil {
				t.Fatal(err)
			}
			log, sign, err := linsolve.LogDet(on(a), f, nil)
			if err != nil || !log.Same(wantLog) || sign != wantSign {
				t.Errorf("%s: %v %d, want %v %d, %v", name("LogDet"), log, sign, wantLog, wantSign, err)
			}
		}
		shapes := []*halfulp.Matrix{a, a.Slice(0, n, 0, n-3), a.Slice(0, n-5, 0, n)}
		if !testlength.Long() {
			shapes = shapes[i : i+1]
		}
		for _, shape := range shapes {
			want, err := linsolve.LU(shape, f, nil)
			if err != nil {
				t.Fatal(err)
			}
			var st halfulp.Stats
			got, err := linsolve.LU(on(shape), f, &halfulp.Options{Stats: &st})
			if err != nil {
				t.Fatal(err)
			}
			sameOnGrid(t, name("LU"), st, got.L, want.L, got.U, want.U)
			if !slices.Equal(got.P, want.P) {
				t.Errorf("%s: other pivots", name("LU"))
			}
		}
		{
			tall := a.Slice(0, n, 0, n/2+12)
			want, err := linsolve.QR(tall, f, nil)
			if err != nil {
				t.Fatal(err)
			}
			var st halfulp.Stats
			got, err := linsolve.QR(on(tall), f, &halfulp.Options{Stats: &st})
			if err != nil {
				t.Fatal(err)
			}
			sameOnGrid(t, name("QR"), st, got.Q, want.Q, got.R, want.R)
		}
	}
}

// TestFactorsLeft has matrices that only the host can decide: every process gets the results and
// errors of the host.
func TestFactorsLeft(t *testing.T) {
	on, ok := inProcesses(t, 2, 3)
	if !ok {
		return
	}
	const n = 30
	changed := func(change func(a *halfulp.Matrix)) *halfulp.Matrix {
		a := gram(t, halfulp.Float64, n, 3)
		change(a)
		return a
	}
	for _, c := range []struct {
		name string
		a    *halfulp.Matrix
	}{
		{"unit matrix", halfulp.Identity(halfulp.Float64, n)},
		{"zero", halfulp.NewMatrix(halfulp.Float64, n, n)},
		{"indefinite", changed(func(a *halfulp.Matrix) { a.SetFloat64(n/2, n/2, -1) })},
		{"zero pivot", changed(func(a *halfulp.Matrix) { a.SetFloat64(n/2, n/2, 0) })},
		{"not symmetric", changed(func(a *halfulp.Matrix) { a.SetFloat64(n-1, 0, 3) })},
		{"singular", changed(func(a *halfulp.Matrix) {
			for i := range n {
				a.Set(i, n-1, a.At(i, 0))
				a.Set(n-1, i, a.At(0, i))
			}
			a.Set(n-1, n-1, a.At(0, 0))
		})},
		{"infinity", changed(func(a *halfulp.Matrix) { a.SetFloat64(2, 1, math.Inf(1)); a.SetFloat64(1, 2, math.Inf(1)) })},
		{"nan", changed(func(a *halfulp.Matrix) { a.SetFloat64(1, 1, math.NaN()) })},
		{"small", gram(t, halfulp.Float64, 3, 1)},
		{"one", gram(t, halfulp.Float64, 1, 1)},
		{"empty", halfulp.NewMatrix(halfulp.Float64, 0, 0)},
	} {
		for _, r := range []struct {
			name string
			run  func(a *halfulp.Matrix) ([]*halfulp.Matrix, error)
		}{
			{"Cholesky", func(a *halfulp.Matrix) ([]*halfulp.Matrix, error) {
				y, err := linsolve.Cholesky(a, halfulp.MP(60), nil)
				if err != nil {
					return nil, err
				}
				return []*halfulp.Matrix{y.L}, nil
			}},
			{"LU", func(a *halfulp.Matrix) ([]*halfulp.Matrix, error) {
				y, err := linsolve.LU(a, halfulp.MP(60), nil)
				if err != nil {
					return nil, err
				}
				return []*halfulp.Matrix{y.L, y.U}, nil
			}},
			{"QR", func(a *halfulp.Matrix) ([]*halfulp.Matrix, error) {
				y, err := linsolve.QR(a, halfulp.MP(60), nil)
				if err != nil {
					return nil, err
				}
				return []*halfulp.Matrix{y.Q, y.R}, nil
			}},
			{"Det", func(a *halfulp.Matrix) ([]*halfulp.Matrix, error) {
				d, err := linsolve.Det(a, halfulp.Float64, nil)
				if err != nil {
					return nil, err
				}
				z := halfulp.NewMatrix(halfulp.Float64, 1, 1)
				z.Set(0, 0, d)
				return []*halfulp.Matrix{z}, nil
			}},
		} {
			want, wantErr := r.run(c.a)
			got, err := r.run(on(c.a))
			if (err == nil) != (wantErr == nil) || err != nil && err.Error() != wantErr.Error() {
				t.Errorf("%s of %s: %v, the host says %v", r.name, c.name, err, wantErr)
				continue
			}
			for i := range got {
				h, err := got[i].Host()
				if err != nil || !h.Same(want[i]) {
					t.Errorf("%s of %s: other bits, %v", r.name, c.name, err)
				}
			}
		}
		if c.name == "indefinite" {
			if _, err := linsolve.Cholesky(on(c.a), halfulp.Float64, nil); !errors.Is(err, linsolve.ErrNotPositiveDefinite) {
				t.Errorf("indefinite: %v", err)
			}
		}
	}
}

// TestTrsm solves triangular systems on grids and on the host: the bits are the same, and the work
// is shared.
func TestTrsm(t *testing.T) {
	on, ok := inProcesses(t, 1, 2, 3, 4)
	if !ok {
		return
	}
	for _, c := range []struct {
		f    halfulp.Format
		n, k int
	}{{halfulp.Float64, 70, 150}, {halfulp.MP(200), 67, 5}, {halfulp.DD, 33, 3}, {halfulp.Float64, 40, 1}, {halfulp.Float64, 3, 2}, {halfulp.Float64, 0, 2}, {halfulp.Float64, 2, 0}} {
		a, b := gallery.Random(c.f, c.n, c.n, 1, 1), gallery.Random(c.f, c.n, c.k, 1, 2)
		if c.n > 20 { // special values, overflow and underflow
			a.SetFloat64(20, 20, 0)
			b.SetFloat64(3, 0, math.Inf(1))
			b.SetFloat64(0, c.k-1, math.NaN())
			b.SetFloat64(1, c.k/2, 0x1p1000)
			a.SetFloat64(7, 7, 0x1p-1000)
			a.SetFloat64(8, 8, 0x1p1000)
		}
		for _, uplo := range []halfulp.Uplo{halfulp.Upper, halfulp.Lower} {
			for _, side := range []halfulp.Side{halfulp.Left, halfulp.Right} {
				for _, diag := range []halfulp.Diag{halfulp.NonUnit, halfulp.Unit} {
					name := fmt.Sprintf("%v, %d x %d, %v %v %v", c.f, c.n, c.k, uplo, side, diag)
					x := b
					if side == halfulp.Right {
						x = b.T()
					}
					want, got := x.Clone(), on(x)
					there := on(a)
					var wantStats halfulp.Stats
					err := halfulp.Trsm(side, uplo, halfulp.Trans, diag, halfulp.Float(-2), a, want, &halfulp.Options{Stats: &wantStats})
					if err != nil {
						t.Fatal(err)
					}
					var st halfulp.Stats
					err = halfulp.Trsm(side, uplo, halfulp.Trans, diag, halfulp.Float(-2), there, got, &halfulp.Options{Stats: &st})
					if err != nil || st.Device != string(distributed.Device(0, 0)) || st.Overflow != wantStats.Overflow || st.Underflow != wantStats.Underflow {
						t.Errorf("%s: %+v, want %+v, %v", name, st, wantStats, err)
					}
					if h, err := got.Host(); err != nil || !h.Same(want) {
						t.Errorf("%s: other bits, %v", name, err)
					}
				}
			}
		}
	}
}

// TestLeastSquares solves least-squares problems on grids and on the host: bits and errors are the
// same, and the work is shared.
func TestLeastSquares(t *testing.T) {
	on, ok := inProcesses(t, 1, 2, 3, 4)
	if !ok {
		return
	}
	integers := halfulp.NewMatrix(halfulp.Float64, 70, 3)
	for i := range integers.Rows() {
		for j := range integers.Cols() {
			integers.SetFloat64(i, j, float64((i*i+j*5+i*j)%7))
		}
	}
	far := gallery.Random(halfulp.Float64, 20, 3, 0, 5)
	far.SetFloat64(0, 0, 0x1p1000)
	far.SetFloat64(1, 0, 0x1p-1000)
	nan := far.Clone()
	nan.SetFloat64(3, 1, math.NaN())
	dependent := gallery.Random(halfulp.Float64, 40, 30, 0, 6)
	for i := range dependent.Rows() {
		dependent.Set(i, 29, dependent.At(i, 2))
	}
	for _, c := range []struct {
		name   string
		a      *halfulp.Matrix
		k      int
		shared bool
	}{
		{"float64", gallery.Random(halfulp.Float64, 300, 40, 3, 1), 2, true},
		{"mp", gallery.Random(halfulp.MP(150), 130, 30, 3, 2), 31, true},
		{"dd", gallery.Random(halfulp.DD, 66, 5, 3, 3), 1, true},
		{"square", gallery.Random(halfulp.Float64, 30, 30, 1, 4), 1, true},
		{"wide", gallery.Random(halfulp.Float64, 20, 30, 1, 4), 1, false},
		{"integers", integers, 1, true},
		{"far exponents", far, 1, false},
		{"nan", nan, 1, false},
		{"dependent columns", dependent, 2, false},
	} {
		b := gallery.Random(halfulp.Float64, c.a.Rows(), c.k, 1, 9)
		want := halfulp.NewMatrix(c.a.NumberFormat(), c.a.Cols(), c.k)
		got := on(want)
		wantErr := lintest.Into(want)(linsolve.LeastSquares(c.a, b, want.NumberFormat(), nil))
		var st halfulp.Stats
		err := lintest.Into(got)(linsolve.LeastSquares(on(c.a), on(b), got.NumberFormat(), &linsolve.LeastSquaresOptions{Options: halfulp.Options{Stats: &st}}))
		if wantErr != nil || err != nil {
			if wantErr == nil || err == nil || err.Error() != wantErr.Error() {
				t.Errorf("%s: %v, the host says %v", c.name, err, wantErr)
			}
			continue
		}
		if h, err := got.Host(); err != nil || !h.Same(want) {
			t.Errorf("%s: other bits, %v", c.name, err)
		}
		if c.shared && !shared(st) {
			t.Errorf("%s: not shared: %s %v", c.name, st.Device, st.Stages)
		}
	}
}
