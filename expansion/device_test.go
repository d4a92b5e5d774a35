package expansion

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/cudadrv"
	"github.com/halfulp/halfulp/internal/expgpu"
	"github.com/halfulp/halfulp/internal/gpu/backend"
	"github.com/halfulp/halfulp/internal/gpu/gputest"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/testseed"
)

// must stops a test.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

const device = "cuda:0"

var deviceFormats = []halfulp.Format{halfulp.DD, halfulp.TD, halfulp.QD}

// onFormat calls the test of a format.
func onFormat(f halfulp.Format, dd func(steps[DD]), td func(steps[TD]), qd func(steps[QD])) {
	switch f {
	case halfulp.DD:
		dd(arithmeticDD)
	case halfulp.TD:
		td(arithmeticTD)
	default:
		qd(arithmeticQD)
	}
}

// A draw fills words with a number.
type draw func(r *rand.Rand, w int) []float64

func ordinaryNumber(r *rand.Rand, w int) []float64 { return operand(r, w, -4, 4) }

// anyNumber is a number of any size, or a special value.
func anyNumber(r *rand.Rand, w int) []float64 {
	x := make([]float64, w)
	switch r.IntN(12) {
	case 0:
		x[0] = []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN(), math.MaxFloat64, 0x1p-1074, 1}[r.IntN(8)]
		return x
	case 1:
		return operand(r, w, -1000, 1000)
	case 2:
		return operand(r, w, -1070, -900)
	}
	return operand(r, w, -40, 40)
}

func randomMatrix(r *rand.Rand, f halfulp.Format, rows, cols int, d draw) *halfulp.Matrix {
	m := halfulp.NewMatrix(f, rows, cols)
	v := m.View()
	for j := range cols {
		for i := range rows {
			for t, x := range d(r, v.Arr.Terms()) {
				v.Arr.F64[t][v.At(i, j)] = x
			}
		}
	}
	return m
}

// copied returns a copy with the words of m, which need not be canonical.
func copied(m *halfulp.Matrix) *halfulp.Matrix {
	z := halfulp.NewMatrix(m.NumberFormat(), m.Rows(), m.Cols())
	copyMatrix(z, m)
	return z
}

// laid returns a copy of m on the device. Layouts 1 and 3 leave gaps between columns, layout 2 is
// by rows.
func laid(t testing.TB, m *halfulp.Matrix, layout int) *halfulp.Matrix {
	t.Helper()
	rows, cols := m.Dims()
	var z *halfulp.Matrix
	var err error
	switch layout {
	case 0:
		z, err = halfulp.NewMatrixOn(device, m.NumberFormat(), rows, cols)
	case 2:
		z, err = halfulp.NewMatrixOn(device, m.NumberFormat(), cols, rows)
	default:
		z, err = halfulp.NewMatrixOn(device, m.NumberFormat(), rows+3, cols+2)
	}
	must(t, err)
	t.Cleanup(z.Free)
	switch layout {
	case 1:
		z = z.Slice(2, rows+2, 1, cols+1)
	case 2:
		z = z.T()
	case 3:
		z = z.Slice(0, rows, 2, cols+2)
	}
	must(t, z.CopyFrom(m))
	return z
}

// wantMatrix compares a matrix of the device with a matrix of the host, bit by bit except for the
// signs of NaN.
func wantMatrix(t *testing.T, what string, d, want *halfulp.Matrix) {
	t.Helper()
	got, err := d.Host()
	must(t, err)
	sameMatrix(t, what, got, want)
}

func sameMatrix(t *testing.T, what string, got, want *halfulp.Matrix) {
	t.Helper()
	g, w := got.View(), want.View()
	for j := range w.Cols {
		for i := range w.Rows {
			if !g.Arr.SameBits(g.At(i, j), w.Arr, w.At(i, j)) {
				var x, y [4]float64
				for t := range w.Arr.Terms() {
					x[t], y[t] = g.Arr.F64[t][g.At(i, j)], w.Arr.F64[t][w.At(i, j)]
				}
				t.Fatalf("%s: entry (%d, %d) is %x, want %x", what, i, j, x, y)
			}
		}
	}
}

// numbers are the entries of a vector.
func numbers[E arithmetical[E]](x *halfulp.Vector) []E {
	v := x.View()
	z := make([]E, v.N)
	for i := range z {
		for t := range len(z[i]) {
			z[i][t] = v.Arr.F64[t][v.At(i)]
		}
	}
	return z
}

func setNumbers[E arithmetical[E]](x *halfulp.Vector, z []E) {
	v := x.View()
	for i := range z {
		for t := range len(z[i]) {
			v.Arr.F64[t][v.At(i)] = z[i][t]
		}
	}
}

// checkEach compares operations entry by entry with the scalars'.
func checkEach[E arithmetical[E]](t *testing.T, f halfulp.Format, n int) {
	seed := testseed.Of(t)
	r := rand.New(rand.NewPCG(seed, 2))
	m := randomMatrix(r, f, n, 3, anyNumber)
	for i := range n / 3 { // sums that cancel
		y := near(r, numbersOf(m, i))
		for t := range y {
			m.View().Arr.F64[t][n+i] = y[t]
		}
	}
	var h [3]*halfulp.Vector
	var x [3][]E
	for i := range h {
		h[i] = m.Col(i)
		x[i] = numbers[E](h[i])
	}
	for k, op := range []struct {
		name   string
		device func(x, y, c, z *halfulp.Vector) error
		host   func(x, y, c E) E
	}{
		{"Add", func(x, y, _, z *halfulp.Vector) error { return errOf(Add(x, y, z, nil)) }, func(x, y, _ E) E { return x.Add(y) }},
		{"Sub", func(x, y, _, z *halfulp.Vector) error { return errOf(Sub(x, y, z, nil)) }, func(x, y, _ E) E { return x.Sub(y) }},
		{"Mul", func(x, y, _, z *halfulp.Vector) error { return errOf(Mul(x, y, z, nil)) }, func(x, y, _ E) E { return x.Mul(y) }},
		{"Div", func(x, y, _, z *halfulp.Vector) error { return errOf(Div(x, y, z, nil)) }, func(x, y, _ E) E { return x.Div(y) }},
		{"Sqrt", func(x, _, _, z *halfulp.Vector) error { return errOf(Sqrt(x, z, nil)) }, func(x, _, _ E) E { return x.Sqrt() }},
		{"FMA", func(x, y, c, z *halfulp.Vector) error { return errOf(FMA(x, y, c, z, nil)) }, func(x, y, c E) E { return x.FMA(y, c) }},
	} {
		want := make([]E, n)
		for i := range want {
			want[i] = op.host(x[0][i], x[1][i], x[2][i]).Canonical()
		}
		expect := halfulp.NewVector(f, n)
		setNumbers(expect, want)
		d := laid(t, m, k%4)
		for into := range 2 { // into other memory, and into the memory of x
			z := d.Col(0)
			if into == 0 {
				z = laid(t, h[0].Matrix(), k%3).Col(0)
			}
			must(t, op.device(d.Col(0), d.Col(1), d.Col(2), z))
			got, err := z.Host()
			must(t, err)
			sameMatrix(t, fmt.Sprintf("seed %d: %v %s of %d, place %d", seed, f, op.name, n, into), got.Matrix(), expect.Matrix())
		}
	}
}

// checkFunctions compares functions with the CPU's, on the device and from the host.
func checkFunctions(t *testing.T, list []Function, f halfulp.Format, n int, d draw) {
	seed := testseed.Of(t)
	r := rand.New(rand.NewPCG(seed, 13))
	m := randomMatrix(r, f, n, 2, d)
	dm := laid(t, m, n%4)
	for _, g := range list {
		want, got := halfulp.NewVector(f, n), halfulp.NewVector(f, n)
		z, err := halfulp.NewVectorOn(device, f, n)
		must(t, err)
		on := &halfulp.Options{Device: device}
		if g.Arity() == 2 {
			must(t, errOf(Map2(g, m.Col(0), m.Col(1), want, nil)))
			must(t, errOf(Map2(g, dm.Col(0), dm.Col(1), z, nil)))
			must(t, errOf(Map2(g, m.Col(0), m.Col(1), got, on)))
		} else {
			must(t, errOf(Map(g, m.Col(0), want, nil)))
			must(t, errOf(Map(g, dm.Col(0), z, nil)))
			must(t, errOf(Map(g, m.Col(0), got, on)))
		}
		what := fmt.Sprintf("seed %d: %v of %d %v", seed, g, n, f)
		sameMatrix(t, what+" from the host", got.Matrix(), want.Matrix())
		there, err := z.Host()
		must(t, err)
		sameMatrix(t, what, there.Matrix(), want.Matrix())
		z.Free()
	}
}

// argument is a number for which functions have a result, or any number.
func argument(r *rand.Rand, w int) []float64 {
	switch r.IntN(4) {
	case 0:
		return anyNumber(r, w)
	case 1:
		return operand(r, w, -1, 0)
	case 2:
		return operand(r, w, 0, 10)
	}
	return operand(r, w, -3, 3)
}

// checkHost compares routines whose operands come from the host, in several formats, with the
// CPU's.
func checkHost(t *testing.T, n int) {
	seed := testseed.Of(t)
	r := rand.New(rand.NewPCG(seed, 14))
	on := &halfulp.Options{Device: device}
	for _, f := range deviceFormats {
		x, y := randomMatrix(r, halfulp.DD, n, n+1, ordinaryNumber), randomMatrix(r, f, n, n+1, ordinaryNumber)
		c := randomMatrix(r, f, n, n, ordinaryNumber)
		what := fmt.Sprintf("seed %d: %v %d", seed, f, n)
		same := func(name string, run func(z *halfulp.Matrix, o *halfulp.Options) error) {
			t.Helper()
			want, got := y.Clone(), y.Clone()
			must(t, run(want, nil))
			must(t, run(got, on))
			sameMatrix(t, what+" "+name, got, want)
		}
		same("Add", func(z *halfulp.Matrix, o *halfulp.Options) error { return errOf(Add(x, y, z, o)) })
		same("Sub in place", func(z *halfulp.Matrix, o *halfulp.Options) error { return errOf(Sub(x, z, z, o)) })
		same("FMA", func(z *halfulp.Matrix, o *halfulp.Options) error { return errOf(FMA(x, y, z, z, o)) })
		same("Sqrt of columns", func(z *halfulp.Matrix, o *halfulp.Options) error { return errOf(Sqrt(x.Col(0), z.Col(1), o)) })
		same("SinCos in place", func(z *halfulp.Matrix, o *halfulp.Options) error {
			cos := z.Clone()
			if err := SinCos(z, z, cos, o); err != nil {
				return err
			}
			return errOf(Add(z, cos, z, nil))
		})
		same("Gemm", func(z *halfulp.Matrix, o *halfulp.Options) error {
			err := Gemm(halfulp.NoTrans, halfulp.NoTrans, halfulp.Float(3), c, x, halfulp.Float(-1), z, o)
			return err
		})
		same("Gemm of nothing", func(z *halfulp.Matrix, o *halfulp.Options) error {
			err := Gemm(halfulp.NoTrans, halfulp.NoTrans, halfulp.Float(0), c, x, halfulp.Float(2), z, o)
			return err
		})
		same("Gemv", func(z *halfulp.Matrix, o *halfulp.Options) error {
			err := Gemv(halfulp.Trans, halfulp.Float(1), c, x.Col(2), halfulp.Float(1), z.Col(0), o)
			return err
		})
		same("Dot", func(z *halfulp.Matrix, o *halfulp.Options) error {
			d, err := Dot(x.Vec(), y.Vec(), f, o)
			z.Set(0, 0, d)
			return err
		})
		infinite := x.Clone()
		infinite.SetFloat64(2, 0, math.Inf(1))
		same("Dot of an infinity", func(z *halfulp.Matrix, o *halfulp.Options) error {
			d, err := Dot(infinite.Vec(), y.Vec(), f, o)
			z.Set(0, 0, d)
			return err
		})
	}
}

// numbersOf are the words of entry i of m.
func numbersOf(m *halfulp.Matrix, i int) []float64 {
	v := m.View()
	x := make([]float64, v.Arr.Terms())
	for t := range x {
		x[t] = v.Arr.F64[t][i]
	}
	return x
}

func eachSuite(t *testing.T, sizes ...int) {
	for _, n := range sizes {
		checkEach[DD](t, halfulp.DD, n)
		checkEach[TD](t, halfulp.TD, n)
		checkEach[QD](t, halfulp.QD, n)
	}
}

// productOf is α A B + β C as documented.
func productOf[E arithmetical[E]](a steps[E], alpha E, x, y *halfulp.Matrix, beta E, c *halfulp.Matrix) *halfulp.Matrix {
	rows, cols := c.Dims()
	z := halfulp.NewMatrix(c.NumberFormat(), rows, cols)
	for j := range cols {
		v, old, sums := numbers[E](y.Col(j)), numbers[E](c.Col(j)), make([]E, rows)
		for i := range rows {
			var s E
			p := 0.0
			for h, u := range numbers[E](x.Row(i)) {
				s = a.mac(s, u, v[h])
				p += float64(u[0] * v[h][0])
			}
			sums[i] = scaled(finite(a.normalise(s), p), alpha, beta, old[i]).Canonical()
		}
		setNumbers(z.Col(j), sums)
	}
	return z
}

func scaled[E arithmetical[E]](s, alpha, beta, old E) E {
	if alpha != float[E](1) {
		s = alpha.Mul(s)
	}
	switch beta {
	case float[E](0):
		return s
	case float[E](1):
		return s.Add(old)
	}
	return s.Add(beta.Mul(old))
}

// checkProducts compares Gemm, Gemv and Dot with their definitions.
func checkProducts[E arithmetical[E]](t *testing.T, a steps[E], f halfulp.Format, m, n, k, layout int, d draw) {
	seed := testseed.Of(t)
	r := rand.New(rand.NewPCG(seed, 3))
	x, y, c := randomMatrix(r, f, m, k, d), randomMatrix(r, f, k, n, d), randomMatrix(r, f, m, n, d)
	third := float[E](1).Div(float[E](3))
	factors := [][2]E{{float[E](1), float[E](0)}, {float[E](1), float[E](1)}, {third, float[E](-2)}, {float[E](-1), float[E](0)}}[(layout+k)%4]
	alpha, beta := scalarOfEntry(f, factors[0]), scalarOfEntry(f, factors[1])
	what := fmt.Sprintf("seed %d: %v %d x %d x %d, layout %d", seed, f, m, k, n, layout)

	dx, dy, dc := laid(t, x, layout), laid(t, y, (layout+1)%4), laid(t, c, layout/2)
	want := productOf(a, factors[0], x, y, factors[1], c)
	must(t, errOf(Gemm(halfulp.NoTrans, halfulp.NoTrans, alpha, dx, dy, beta, dc, nil)))
	wantMatrix(t, what, dc, want)
	dc = laid(t, c, 3-layout)
	must(t, errOf(Gemm(halfulp.Trans, halfulp.ConjTrans, alpha, dx.T(), dy.T(), beta, dc, nil)))
	wantMatrix(t, what+" transposed", dc, want)
	if n == 0 {
		return
	}
	v := laid(t, c.Col(0).Matrix(), layout%3).Col(0)
	must(t, errOf(Gemv(halfulp.NoTrans, alpha, dx, dy.Col(0), beta, v, nil)))
	sums := make([]E, m)
	old, col := numbers[E](c.Col(0)), numbers[E](y.Col(0))
	for i := range sums {
		sums[i] = scaled(partials(a, numbers[E](x.Row(i)), col, 32), factors[0], factors[1], old[i]).Canonical()
	}
	expect := halfulp.NewVector(f, m)
	setNumbers(expect, sums)
	got, err := v.Host()
	must(t, err)
	sameMatrix(t, what+" gemv", got.Matrix(), expect.Matrix())
	if m == 0 {
		return
	}
	z, err := Dot(dx.Row(0), dy.Col(0), f, nil)
	must(t, err)
	w, err := Dot(x.Row(0), y.Col(0), f, nil)
	must(t, err)
	if !z.Same(w) {
		t.Fatalf("%s: dot is %v, want %v", what, z, w)
	}
}

func scalarOfEntry[E arithmetical[E]](f halfulp.Format, x E) halfulp.Scalar {
	v := halfulp.NewVector(f, 1)
	setNumbers(v, []E{x})
	return v.At(0)
}

// partials is the sum of n partial sums.
func partials[E arithmetical[E]](a steps[E], x, y []E, n int) E {
	sums := make([]E, n)
	for q := range sums {
		p := 0.0
		for i := q; i < len(x); i += n {
			sums[q] = a.mac(sums[q], x[i], y[i])
			p += float64(x[i][0] * y[i][0])
		}
		sums[q] = finite(a.normalise(sums[q]), p)
	}
	return halves(sums)
}

func productSuite(t *testing.T, sizes [][3]int, d draw) {
	for i, s := range sizes {
		for _, f := range deviceFormats {
			onFormat(f,
				func(a steps[DD]) { checkProducts(t, a, f, s[0], s[1], s[2], i%4, d) },
				func(a steps[TD]) { checkProducts(t, a, f, s[0], s[1], s[2], i%4, d) },
				func(a steps[QD]) { checkProducts(t, a, f, s[0], s[1], s[2], i%4, d) })
		}
	}
}

// checkSolve compares a device with the CPU.
func checkSolve(t *testing.T, f halfulp.Format, n, m int, o SolveOptions, spoil func(r *rand.Rand, a *halfulp.Matrix)) {
	t.Helper()
	seed := testseed.Of(t)
	r := rand.New(rand.NewPCG(seed, 4))
	a, b := randomMatrix(r, f, n, n, ordinaryNumber), randomMatrix(r, f, n, m, ordinaryNumber)
	if spoil != nil {
		spoil(r, a)
	}
	what := fmt.Sprintf("seed %d: %v %d x %d, %+v", seed, f, n, m, o)
	want := copied(b)
	wantErr := Solve(a, b, want, &o)
	da, db := laid(t, a, n%4), laid(t, b, (n+m)%4)
	check := func(what string, x *halfulp.Matrix, err error) {
		t.Helper()
		if fmt.Sprint(err) != fmt.Sprint(wantErr) || err != nil && !errors.Is(err, ErrNoPivot) {
			t.Fatalf("%s: %v, want %v", what, err, wantErr)
		}
		wantMatrix(t, what, x, want)
	}
	check(what, db, errOf(Solve(da, db, db, &o)))
	wantMatrix(t, what+": A", da, a)
	o.Device = device
	x := copied(b)
	check(what+" from the host", x, errOf(Solve(a, b, x, &o)))
}

// zeros makes a leading block vanish, so that rows have to be exchanged by either rule.
func zeros(_ *rand.Rand, a *halfulp.Matrix) {
	n := a.Rows() / 2
	for i := range n {
		for j := range n {
			a.SetFloat64(i, j, 0)
		}
	}
}

// emptyRow makes the last pivot fail.
func emptyRow(_ *rand.Rand, a *halfulp.Matrix) {
	for j := range a.Cols() {
		a.SetFloat64(0, j, 0)
	}
}

// emptyColumn has no pivot in a column after the first panel, if there is such a column.
func emptyColumn(_ *rand.Rand, a *halfulp.Matrix) {
	for i := range a.Rows() {
		a.SetFloat64(i, min(40, a.Rows()-1), 0)
	}
}

func solveSuite(t *testing.T, f halfulp.Format, sizes [][2]int, updates Updates) {
	for i, s := range sizes {
		for _, rule := range []Pivoting{PartialPivoting, ZeroPivoting} {
			o := SolveOptions{Pivoting: rule, Updates: updates, Block: 32 * (1 + i%3)}
			checkSolve(t, f, s[0], s[1], o, nil)
			if s[0] > 1 && i%2 == 1 {
				checkSolve(t, f, s[0], s[1], o, zeros)
				checkSolve(t, f, s[0], s[1], o, emptyRow)
				checkSolve(t, f, s[0], s[1], o, emptyColumn)
			}
		}
	}
}

var smallSystems = [][2]int{{1, 1}, {5, 2}, {33, 2}, {40, 1}}

// smallProducts are shapes around the shapes of tiles.
var smallProducts = [][3]int{{1, 1, 1}, {0, 3, 2}, {3, 0, 2}, {3, 2, 0}, {33, 17, 5}, {65, 40, 19}, {16, 66, 8}, {2, 3, 70}}

// TestDeviceReference compares the results of routines with these kernels with the definitions.
func TestDeviceReference(t *testing.T) {
	onReference(t)
	eachSuite(t, 0, 1, 1000)
	productSuite(t, smallProducts, ordinaryNumber)
	productSuite(t, [][3]int{{20, 20, 20}}, anyNumber)
	for _, f := range deviceFormats {
		solveSuite(t, f, smallSystems, NativeUpdates)
		checkFunctions(t, Functions(), f, 30, argument)
	}
	checkHost(t, 9)
	checkSlabs(t)
}

// checkSlabs compares systems whose panels do not fit shared memory with those that do.
func checkSlabs(t *testing.T) {
	r := testseed.Rand(t, 1, 7)
	for _, f := range deviceFormats {
		a, b := randomMatrix(r, f, 41, 41, ordinaryNumber), randomMatrix(r, f, 41, 1, ordinaryNumber)
		want := copied(b)
		must(t, errOf(Solve(a, b, want, nil)))
		da, db := laid(t, a, 0), laid(t, b, 0)
		va, vb := da.View(), db.View()
		must(t, backend.Device(place.Of(va.Arr)).Do(context.Background(), func(s *cuda.Stream) error {
			x := backend.Matrix(vb)
			return expgpu.Solve(s, expgpu.Elimination{Shared: 1}, backend.Matrix(va), x, x)
		}))
		wantMatrix(t, f.String(), db, want)
	}
}

// TestSolveInstead solves on the host what a device leaves to it.
func TestSolveInstead(t *testing.T) {
	onReference(t)
	r := testseed.Rand(t, 1, 6)
	a, b := randomMatrix(r, halfulp.TD, 70, 70, ordinaryNumber), randomMatrix(r, halfulp.TD, 70, 3, ordinaryNumber)
	o := SolveOptions{Updates: ExactUpdates, Block: 32}
	want := copied(b)
	must(t, errOf(Solve(a, b, want, &o)))
	for _, resident := range []bool{false, true} {
		x, y := a, copied(b)
		if resident {
			x, y = laid(t, a, 1), laid(t, b, 2)
		}
		o.Options.Device = device
		run, err := begin("Solve", &o.Options, x.View().Arr, y.View().Arr)
		must(t, err)
		must(t, run.solveInstead(o, 0, x, y, y))
		wantMatrix(t, fmt.Sprintf("resident %t", resident), y, want)
		wantMatrix(t, "A", x, a)
		if run.stats.Device != "cpu" {
			t.Errorf("on %s", run.stats.Device)
		}
	}
}

// TestDeviceFailures makes each call of the driver fail in turn: routines return errors, and no
// memory is lost.
func TestDeviceFailures(t *testing.T) {
	for _, call := range []string{"MemAlloc", "LaunchKernel"} {
		for after := range 8 {
			drv := onReference(t)
			r := testseed.Rand(t, 1, 5)
			a, b := randomMatrix(r, halfulp.QD, 40, 40, ordinaryNumber), randomMatrix(r, halfulp.QD, 40, 2, ordinaryNumber)
			drv.Fail(call, after, cudadrv.OutOfMemory)
			x := copied(b)
			err := Solve(a, b, x, &SolveOptions{Options: halfulp.Options{Device: device}})
			if err != nil && (!x.Same(b) || !errors.Is(err, halfulp.ErrMemory) && call == "MemAlloc") {
				t.Errorf("%s after %d: %v", call, after, err)
			}
		}
	}
}

// TestDevice compares a GPU with the CPU.
func TestDevice(t *testing.T) {
	gputest.Machine(t)
	eachSuite(t, 0, 1, 1000, 300000)
	productSuite(t, smallProducts, ordinaryNumber)
	productSuite(t, smallProducts, anyNumber)
	productSuite(t, [][3]int{{200, 130, 300}, {130, 200, 100}, {64, 64, 64}, {1, 1, 100000}}, ordinaryNumber)
	checkHost(t, 100)
	checkFormats(t)
	checkOverlap(t)
}

// TestDeviceFunctions compares a GPU's functions with the CPU's, bit by bit.
func TestDeviceFunctions(t *testing.T) {
	gputest.Machine(t)
	for _, f := range deviceFormats {
		checkFunctions(t, Functions(), f, 0, argument)
		checkFunctions(t, Functions(), f, 1, argument)
		checkFunctions(t, Functions(), f, 100000, argument)
	}
}

// TestDeviceSolve compares a GPU's solutions with the CPU's, bit by bit.
func TestDeviceSolve(t *testing.T) {
	gputest.Machine(t)
	for _, f := range deviceFormats {
		for _, u := range []Updates{NativeUpdates, ExactUpdates} {
			solveSuite(t, f, append([][2]int{{150, 20}, {100, 30}}, smallSystems...), u)
		}
	}
	checkSlabs(t)
}

// TestSanitizeDevice runs small problems with every kernel, except most functions: those take the
// sanitizer minutes.
func TestSanitizeDevice(t *testing.T) {
	gputest.Machine(t)
	eachSuite(t, 300)
	for _, f := range deviceFormats {
		checkFunctions(t, []Function{Log, Sin, Atan2}, f, 200, argument)
	}
	productSuite(t, [][3]int{{35, 20, 9}}, ordinaryNumber)
	for _, f := range deviceFormats {
		solveSuite(t, f, [][2]int{{5, 2}, {40, 3}}, NativeUpdates)
	}
}

// TestDeviceFormats has operands of fewer words, and of float32, that live on a device.
func TestDeviceFormats(t *testing.T) {
	onReference(t)
	checkFormats(t)
}

func checkFormats(t *testing.T) {
	seed := testseed.Of(t)
	r := rand.New(rand.NewPCG(seed, 15))
	one, minus := halfulp.Float(1), halfulp.Float(-1)
	short := halfulp.NewMatrix(halfulp.Float32, 6, 6)
	for i := range 36 {
		short.SetFloat64(i%6, i/6, r.NormFloat64())
	}
	list := []*halfulp.Matrix{short}
	for _, f := range []halfulp.Format{halfulp.Float64, halfulp.DD, halfulp.TD, halfulp.QD} {
		list = append(list, randomMatrix(r, f, 6, 6, ordinaryNumber))
	}
	for _, f := range deviceFormats {
		for i, x := range list {
			y, z := list[len(list)-1-i], randomMatrix(r, f, 6, 6, ordinaryNumber)
			dx, dy, dz := laid(t, x, 1), laid(t, y, 2), laid(t, z, 3)
			for k, run := range []func(x, y, z *halfulp.Matrix) error{
				func(x, y, z *halfulp.Matrix) error { return errOf(Mul(x, y, z, nil)) },
				func(x, y, z *halfulp.Matrix) error {
					return errOf(Gemm(halfulp.Trans, halfulp.NoTrans, one, x, y, minus, z, nil))
				},
				func(x, y, z *halfulp.Matrix) error {
					d, err := Dot(x.Col(1), y.Row(2), f, nil)
					if err != nil {
						return err
					}
					v := halfulp.NewVector(f, 1)
					v.Set(0, d)
					return z.Col(0).Slice(0, 1).CopyFrom(v)
				},
				func(x, _, z *halfulp.Matrix) error { return errOf(SinCos(x, z, z.T(), nil)) },
			} {
				what := fmt.Sprintf("seed %d: %v of %v and %v, %d", seed, f, x.NumberFormat(), y.NumberFormat(), k)
				want, got := run(x, y, z), run(dx, dy, dz)
				if want != nil || got != nil {
					if !errors.Is(want, halfulp.ErrFormat) || got.Error() != want.Error() {
						t.Fatalf("%s: %v, want %v", what, got, want)
					}
					continue
				}
				wantMatrix(t, what, dz, z)
			}
		}
	}
}

// TestDeviceOverlap has results that overlap operands on a device.
func TestDeviceOverlap(t *testing.T) {
	onReference(t)
	checkOverlap(t)
}

func checkOverlap(t *testing.T) {
	seed := testseed.Of(t)
	r := rand.New(rand.NewPCG(seed, 16))
	one, third := halfulp.Float(1), halfulp.Float(1./3)
	for _, f := range deviceFormats {
		a := randomMatrix(r, f, 12, 12, ordinaryNumber)
		for k, run := range []func(a *halfulp.Matrix) error{
			func(a *halfulp.Matrix) error { return errOf(Sub(a, a.T(), a, nil)) },
			func(a *halfulp.Matrix) error {
				x := a.Vec()
				return errOf(FMA(x.Slice(0, 100), x.Slice(20, 120), x.Slice(30, 130), x.Slice(10, 110), nil))
			},
			func(a *halfulp.Matrix) error {
				return errOf(Map2(Hypot, a.Col(0), a.Col(1).Stride(-1), a.Col(1), nil))
			},
			func(a *halfulp.Matrix) error { return errOf(SinCos(a.Col(3), a.Col(2), a.Col(3), nil)) },
			func(a *halfulp.Matrix) error {
				return errOf(SinCos(a.Col(3), a.Col(3), a.Col(3).Stride(-1), nil))
			},
			func(a *halfulp.Matrix) error {
				x := a.Slice(0, 9, 0, 9)
				return errOf(Gemm(halfulp.NoTrans, halfulp.Trans, one, x, x, third, a.Slice(3, 12, 2, 11), nil))
			},
			func(a *halfulp.Matrix) error {
				return errOf(Solve(a.Slice(0, 6, 0, 6), a.Slice(1, 7, 5, 11), a.Slice(2, 8, 4, 10), nil))
			},
		} {
			d, h := laid(t, a, (k+3)%4), copied(a)
			must(t, run(h))
			must(t, run(d))
			wantMatrix(t, fmt.Sprintf("seed %d: %v, %d", seed, f, k), d, h)
		}
		// On a device a matrix-vector product has another order of additions: the bits equal the
		// host's only without such products.
		d, h := laid(t, a, 1), copied(a)
		for _, m := range []*halfulp.Matrix{d, h} {
			must(t, errOf(Gemv(halfulp.NoTrans, third, m.Slice(0, 12, 0, 1), m.Row(0).Slice(0, 1), one, m.Col(0), nil)))
		}
		wantMatrix(t, fmt.Sprintf("seed %d: %v, Gemv", seed, f), d, h)
	}
}

// TestDeviceStats checks statistics and progress of runs on a device, and that limits and contexts
// are effective there.
func TestDeviceStats(t *testing.T) {
	onReference(t)
	r := testseed.Rand(t, 1, 17)
	x, y := randomMatrix(r, halfulp.DD, 70, 70, ordinaryNumber), randomMatrix(r, halfulp.DD, 70, 70, ordinaryNumber)
	z := y.Clone()
	there := [3]*halfulp.Matrix{laid(t, x, 0), laid(t, y, 0), laid(t, z, 0)}
	one := halfulp.Float(1)
	for name, run := range map[string]func(x, y, z *halfulp.Matrix, o halfulp.Options) error{
		"Add":    func(x, y, z *halfulp.Matrix, o halfulp.Options) error { return Add(x, y, z, &o) },
		"Map":    func(x, _, z *halfulp.Matrix, o halfulp.Options) error { return Map(Exp, x, z, &o) },
		"SinCos": func(x, y, z *halfulp.Matrix, o halfulp.Options) error { return SinCos(x, y, z, &o) },
		"Gemm": func(x, y, z *halfulp.Matrix, o halfulp.Options) error {
			return Gemm(halfulp.NoTrans, halfulp.NoTrans, one, x, y, one, z, &o)
		},
		"Gemv": func(x, y, z *halfulp.Matrix, o halfulp.Options) error {
			return Gemv(halfulp.NoTrans, one, x, y.Col(0), one, z.Col(0), &o)
		},
		"Dot": func(x, y, _ *halfulp.Matrix, o halfulp.Options) error {
			_, err := Dot(x.Vec(), y.Vec(), halfulp.QD, &o)
			return err
		},
		"Solve": func(x, y, z *halfulp.Matrix, o halfulp.Options) error {
			return Solve(x, y, z, &SolveOptions{Options: o})
		},
		"Solve exactly": func(x, y, z *halfulp.Matrix, o halfulp.Options) error {
			return Solve(x, y, z, &SolveOptions{Options: o, Updates: ExactUpdates, Block: 64})
		},
	} {
		for _, c := range []struct {
			place  string
			m      [3]*halfulp.Matrix
			device halfulp.Device
			stats  string
			stages int
		}{
			{"the host", [3]*halfulp.Matrix{x, y, z}, "", "cpu", 1},
			{"cuda:0 from the host", [3]*halfulp.Matrix{x, y, z}, device, device, 3},
			{"cuda:0", there, "", device, 1},
		} {
			if name == "Solve exactly" && c.stats == device {
				continue // needs kernels of the engine
			}
			what := name + " on " + c.place
			last := 0.0
			o := halfulp.Options{Device: c.device, Threads: 3, Progress: func(done float64) {
				if done < last || done > 1 {
					t.Errorf("%s: progress %v after %v", what, done, last)
				}
				last = done
			}}
			stages := c.stages
			if name == "Dot" && stages == 3 {
				stages = 2 // a number does not travel
			}
			var st halfulp.Stats
			o.Stats = &st
			err := run(c.m[0], c.m[1], c.m[2], o)
			if err != nil || st.Device != c.stats || st.Method != Method || st.Threads != 3 || len(st.Stages) != stages || last != 1 || (st.Kernel == "") != (st.Device != "cpu") {
				t.Errorf("%s: %+v, progress %v, %v", what, st, last, err)
			}
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			o.Context = ctx
			if err := run(c.m[0], c.m[1], c.m[2], o); !errors.Is(err, context.Canceled) {
				t.Errorf("%s, cancelled: %v", what, err)
			}
		}
		if err := run(there[0], y, z, halfulp.Options{}); !errors.Is(err, halfulp.ErrMixedDevices) {
			t.Errorf("%s of operands in two places: %v", name, err)
		}
		for _, several := range []halfulp.Device{"cuda:0,1", "cuda:all", "cuda:0-3", "cuda:", "cuda:9", "gpu"} {
			if err := run(x, y, z, halfulp.Options{Device: several}); !errors.Is(err, halfulp.ErrDevice) {
				t.Errorf("%s on %s: %v", name, several, err)
			}
		}
	}
	// A context that ends while the device eliminates.
	ctx, cancel := context.WithCancel(context.Background())
	o := SolveOptions{Options: halfulp.Options{Context: ctx, Progress: func(float64) { cancel() }}}
	if err := Solve(there[0], there[1], there[1], &o); !errors.Is(err, context.Canceled) {
		t.Errorf("Solve cancelled at its first progress: %v", err)
	}
	// Copies of operands that overlap the result, and the working matrix.
	few := &halfulp.Options{MemoryLimit: 70*70*16 - 1}
	for _, m := range [][2]*halfulp.Matrix{{x, y}, {there[0], there[1]}} {
		for name, run := range map[string]func(o *halfulp.Options) error{
			"Add":    func(o *halfulp.Options) error { return errOf(Add(m[0], m[1].T(), m[1], o)) },
			"Gemm":   func(o *halfulp.Options) error { return errOf(Gemm('N', 'N', one, m[0], m[1], one, m[1], o)) },
			"SinCos": func(o *halfulp.Options) error { return errOf(SinCos(m[0].T(), m[0], m[1], o)) },
			"Solve":  func(o *halfulp.Options) error { return errOf(Solve(m[0], m[1], m[1], &SolveOptions{Options: *o})) },
		} {
			if err := run(few); !errors.Is(err, halfulp.ErrMemory) {
				t.Errorf("%s on %s with %d bytes: %v", name, m[0].Device(), few.MemoryLimit, err)
			}
			if err := run(&halfulp.Options{MemoryLimit: 4 * (few.MemoryLimit + 1)}); err != nil {
				t.Errorf("%s on %s with more: %v", name, m[0].Device(), err)
			}
		}
	}
}
