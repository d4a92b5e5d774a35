package distributed_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance"
	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/distributed"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/grid"
	"github.com/halfulp/halfulp/internal/mpitest"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/linsolve"
)

func TestMain(m *testing.M) {
	grid.Together = true // small problems too
	mpitest.Main(m)
}

// TestAlone has problems of up to 53 bits, which are faster for each process alone: they have the
// same bits. Problems with longer numbers are shared.
func TestAlone(t *testing.T) {
	on, ok := inProcesses(t, 2)
	if !ok {
		return
	}
	defer func(was bool) { grid.Together = was }(grid.Together)
	grid.Together = false
	const n = 60
	for _, f := range []halfulp.Format{halfulp.Float64, halfulp.Float32, halfulp.MP(53), halfulp.MP(54), halfulp.DD} {
		alone := f.Bits() <= 53 && f != halfulp.DD
		a, b, spd := gallery.Random(f, n, n, 3, 1), gallery.Random(f, n, n, 3, 2), gram(t, f, n, 3)
		tall := gallery.Random(f, 2*n, n/2, 3, 4)
		right := gallery.Random(f, 2*n, 2, 3, 5)
		var st halfulp.Stats
		// A stage whose name ends so belongs to a computation that the processes share.
		check := func(what, stage string, err error, got, want *halfulp.Matrix) {
			t.Helper()
			if err != nil {
				t.Fatalf("%s of %v: %v", what, f, err)
			}
			together := slices.ContainsFunc(st.Stages, func(g halfulp.Stage) bool { return strings.HasSuffix(g.Name, stage) })
			if got.Device() != distributed.Device(0, 0) || together == alone {
				t.Errorf("%s of %v: %v, result on %s", what, f, st.Stages, got.Device())
			}
			if h, err := got.Host(); err != nil || !h.Same(want) {
				t.Errorf("%s of %v: other bits, %v", what, f, err)
			}
		}
		want, got := halfulp.NewMatrix(f, n, n), on(halfulp.NewMatrix(f, n, n))
		if err := lintest.Into(want)(linsolve.Solve(a, b, want.NumberFormat(), nil)); err != nil {
			t.Fatal(err)
		}
		err := lintest.Into(got)(linsolve.Solve(on(a), on(b), got.NumberFormat(), &halfulp.Options{Stats: &st}))
		check("solution", "rounding", err, got, want)
		if err := lintest.Into(want)(linsolve.Inverse(a, want.NumberFormat(), nil)); err != nil {
			t.Fatal(err)
		}
		err = lintest.Into(got)(linsolve.Inverse(on(a), got.NumberFormat(), &halfulp.Options{Stats: &st}))
		check("inverse", "rounding", err, got, want)
		factors, err := linsolve.Cholesky(spd, f, nil)
		if err != nil {
			t.Fatal(err)
		}
		shared, err := linsolve.Cholesky(on(spd), f, &halfulp.Options{Stats: &st})
		check("Cholesky factor", "approximate inverse", err, shared.L, factors.L)
		least, there := halfulp.NewMatrix(f, n/2, 2), on(halfulp.NewMatrix(f, n/2, 2))
		if err := lintest.Into(least)(linsolve.LeastSquares(tall, right, least.NumberFormat(), nil)); err != nil {
			t.Fatal(err)
		}
		err = lintest.Into(there)(linsolve.LeastSquares(on(tall), on(right), there.NumberFormat(), &linsolve.LeastSquaresOptions{Options: halfulp.Options{Stats: &st}}))
		check("solution of least squares", "rounding", err, there, least)
	}
}

// TestConformance runs the suite on grids of several shapes, with operands on the host and on the
// grid.
func TestConformance(t *testing.T) {
	if !mpitest.InProcess() {
		for _, n := range testlength.Of([]int{6}, []int{1, 6}, []int{1, 2, 3, 4, 6}) {
			mpitest.Run(t, n)
		}
		return
	}
	comm, err := distributed.Init()
	if err != nil {
		t.Fatal(err)
	}
	device, every := distributed.Device(0, 0), 200
	switch n := comm.Size(); {
	case n == 2 && testlength.Long():
		every = 40
	case n > 3: // on few processors they mostly wait for each other
		every *= n
	}
	t.Run("Host", func(t *testing.T) { conformance.RunSome(t, conformance.Processes(device, false), every) })
	t.Run("Resident", func(t *testing.T) { conformance.RunSome(t, conformance.Processes(device, true), every) })
}

// TestViews reads views of a matrix that lives on a grid.
func TestViews(t *testing.T) {
	if !mpitest.Run(t, 3) {
		return
	}
	if _, err := distributed.Init(); err != nil {
		t.Fatal(err)
	}
	h := gallery.Random(halfulp.MP(100), 200, 150, 1, 20)
	a, err := h.On(distributed.Device(3, 1))
	if err != nil {
		t.Fatal(err)
	}
	// not a map: all processes have to take the same order
	for _, v := range []struct {
		name string
		of   func(m *halfulp.Matrix) *halfulp.Matrix
	}{
		{"whole", func(m *halfulp.Matrix) *halfulp.Matrix { return m }},
		{"slice", func(m *halfulp.Matrix) *halfulp.Matrix { return m.Slice(3, 190, 60, 149) }},
		{"transpose", func(m *halfulp.Matrix) *halfulp.Matrix { return m.Slice(3, 190, 60, 149).T() }},
		{"row", func(m *halfulp.Matrix) *halfulp.Matrix { return m.Row(70).Matrix() }},
		{"column", func(m *halfulp.Matrix) *halfulp.Matrix { return m.Col(149).Matrix() }},
		{"all", func(m *halfulp.Matrix) *halfulp.Matrix { return m.Vec().Matrix() }},
		{"all, row", func(m *halfulp.Matrix) *halfulp.Matrix { return m.Vec().Matrix().T() }},
	} {
		name, f := v.name, v.of
		got, err := f(a).Host()
		if err != nil || !got.Same(f(h)) {
			t.Errorf("%s: %v", name, err)
		}
		want, err := halfulp.Sum(f(h).Clone().Vec(), halfulp.MP(60), nil)
		if err != nil {
			t.Fatal(err)
		}
		if f(a).Rows() != 1 && f(a).Cols() != 1 {
			continue
		}
		sum, err := halfulp.Sum(f(a).Vec(), halfulp.MP(60), nil)
		if err != nil || sum.Cmp(want) != 0 {
			t.Errorf("sum of %s: %v, want %v, %v", name, sum, want, err)
		}
	}
}

// TestSolve solves systems on grids and on the host. The bits are the same, and the work is done on
// the grid except for few right-hand sides.
func TestSolve(t *testing.T) {
	if !mpitest.InProcess() {
		for _, n := range testlength.Of([]int{2}, []int{2}, []int{1, 2, 4}) {
			mpitest.Run(t, n)
		}
		return
	}
	if _, err := distributed.Init(); err != nil {
		t.Fatal(err)
	}
	const n = 100
	grid := distributed.Device(0, 0)
	on := func(m *halfulp.Matrix) *halfulp.Matrix {
		z, err := m.On(grid)
		if err != nil {
			t.Fatal(err)
		}
		return z
	}
	for _, f := range []halfulp.Format{halfulp.Float64, halfulp.MP(300), halfulp.DD} {
		a, b := gallery.Random(f, n, n, 3, 1), gallery.Random(f, n, 2, 3, 2)
		for _, rhs := range []*halfulp.Matrix{b, gallery.Random(f, n, n, 2, 3)} {
			want, got := halfulp.NewMatrix(f, n, rhs.Cols()), on(halfulp.NewMatrix(f, n, rhs.Cols()))
			if err := lintest.Into(want)(linsolve.Solve(a, rhs, want.NumberFormat(), nil)); err != nil {
				t.Fatal(err)
			}
			var st halfulp.Stats
			err := lintest.Into(got)(linsolve.Solve(on(a), on(rhs), got.NumberFormat(), &halfulp.Options{Stats: &st}))
			if few := rhs.Cols() < n; err != nil || (st.Device == string(grid)) == few {
				t.Fatalf("%v, %d right-hand sides: %v, on %s", f, rhs.Cols(), err, st.Device)
			}
			if h, err := got.Host(); err != nil || !h.Same(want) {
				t.Errorf("%v, %d right-hand sides: other bits, %v", f, rhs.Cols(), err)
			}
		}
		want, got := halfulp.NewMatrix(f, n, n), on(halfulp.NewMatrix(f, n, n))
		if err := lintest.Into(want)(linsolve.Inverse(a, want.NumberFormat(), nil)); err != nil {
			t.Fatal(err)
		}
		var st halfulp.Stats
		err := lintest.Into(got)(linsolve.Inverse(on(a), got.NumberFormat(), &halfulp.Options{Stats: &st}))
		if err != nil || st.Device != string(grid) {
			t.Fatalf("%v: %v, on %s", f, err, st.Device)
		}
		if h, err := got.Host(); err != nil || !h.Same(want) {
			t.Errorf("%v: another inverse, %v", f, err)
		}
	}
}
