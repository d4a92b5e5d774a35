package expansion

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/cuda"
	"github.com/halfulp/halfulp/internal/cudadrv"
	"github.com/halfulp/halfulp/internal/expgpu"
	"github.com/halfulp/halfulp/internal/raw"
)

// must stops a test.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// needDevice skips a test on a machine without a GPU, or fails it where one is wanted.
func needDevice(t testing.TB) {
	t.Helper()
	_, err := cuda.Open(0)
	if errors.Is(err, cuda.ErrNoDevice) && os.Getenv("HALFULP_WANT_GPU") == "" {
		t.Skip("no GPU:", err)
	}
	must(t, err)
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
	v := raw.Matrix(m)
	for j := range cols {
		for i := range rows {
			for t, x := range d(r, v.Arr.Terms()) {
				v.Arr.F64[t][v.At(i, j)] = x
			}
		}
	}
	return m
}

// laid returns a copy of m on the device: layouts 1 and 3 leave gaps between columns, 2 lies row by row.
func laid(t testing.TB, m *halfulp.Matrix, layout int) *halfulp.DeviceMatrix {
	t.Helper()
	rows, cols := m.Dims()
	var z *halfulp.DeviceMatrix
	var err error
	switch layout {
	case 0:
		z, err = halfulp.NewDeviceMatrix(device, m.Format(), rows, cols)
	case 2:
		z, err = halfulp.NewDeviceMatrix(device, m.Format(), cols, rows)
	default:
		z, err = halfulp.NewDeviceMatrix(device, m.Format(), rows+3, cols+2)
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
	must(t, z.Set(m))
	return z
}

// wantMatrix compares a matrix of the device with one of the host, bit by bit but for the signs of
// NaN.
func wantMatrix(t *testing.T, what string, d *halfulp.DeviceMatrix, want *halfulp.Matrix) {
	t.Helper()
	got, err := d.Matrix()
	must(t, err)
	sameMatrix(t, what, got, want)
}

func sameMatrix(t *testing.T, what string, got, want *halfulp.Matrix) {
	t.Helper()
	g, w := raw.Matrix(got), raw.Matrix(want)
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
	v := raw.Vector(x)
	z := make([]E, v.N)
	for i := range z {
		for t := range len(z[i]) {
			z[i][t] = v.Arr.F64[t][v.At(i)]
		}
	}
	return z
}

func setNumbers[E arithmetical[E]](x *halfulp.Vector, z []E) {
	v := raw.Vector(x)
	for i := range z {
		for t := range len(z[i]) {
			v.Arr.F64[t][v.At(i)] = z[i][t]
		}
	}
}

// checkEach compares operations entry by entry with the scalars'.
func checkEach[E arithmetical[E]](t *testing.T, f halfulp.Format, n int) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 2))
	m := randomMatrix(r, f, n, 3, anyNumber)
	for i := range n / 3 { // sums that cancel
		y := near(r, numbersOf(m, i))
		for t := range y {
			raw.Matrix(m).Arr.F64[t][n+i] = y[t]
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
		device func(z, x, y, c *halfulp.DeviceVector) error
		host   func(x, y, c E) E
	}{
		{"Add", func(z, x, y, _ *halfulp.DeviceVector) error { return DeviceAdd(z, x, y) }, func(x, y, _ E) E { return x.Add(y) }},
		{"Sub", func(z, x, y, _ *halfulp.DeviceVector) error { return DeviceSub(z, x, y) }, func(x, y, _ E) E { return x.Sub(y) }},
		{"Mul", func(z, x, y, _ *halfulp.DeviceVector) error { return DeviceMul(z, x, y) }, func(x, y, _ E) E { return x.Mul(y) }},
		{"Div", func(z, x, y, _ *halfulp.DeviceVector) error { return DeviceDiv(z, x, y) }, func(x, y, _ E) E { return x.Div(y) }},
		{"Sqrt", func(z, x, _, _ *halfulp.DeviceVector) error { return DeviceSqrt(z, x) }, func(x, _, _ E) E { return x.Sqrt() }},
		{"FMA", DeviceFMA, func(x, y, c E) E { return x.FMA(y, c) }},
	} {
		want := make([]E, n)
		for i := range want {
			want[i] = op.host(x[0][i], x[1][i], x[2][i]).Canonical()
		}
		expect := halfulp.NewVector(f, n)
		setNumbers(expect, want)
		d := laid(t, m, k%4)
		for place := range 2 { // into other memory, and into that of x
			z := d.Col(0)
			if place == 0 {
				z = laid(t, h[0].Matrix(), k%3).Col(0)
			}
			must(t, op.device(z, d.Col(0), d.Col(1), d.Col(2)))
			got, err := z.Vector()
			must(t, err)
			sameMatrix(t, fmt.Sprintf("seed %d: %v %s of %d, place %d", seed, f, op.name, n, place), got.Matrix(), expect.Matrix())
		}
	}
}

// checkFunctions compares functions with the CPU's, on the device and from the host.
func checkFunctions(t *testing.T, list []Function, f halfulp.Format, n int, d draw) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 13))
	m := randomMatrix(r, f, n, 2, d)
	dm := laid(t, m, n%4)
	for _, g := range list {
		want, got := halfulp.NewVector(f, n), halfulp.NewVector(f, n)
		z, err := halfulp.NewDeviceVector(device, f, n)
		must(t, err)
		on := &halfulp.Options{Device: device}
		if g.Arity() == 2 {
			must(t, Map2(g, want, m.Col(0), m.Col(1), nil))
			must(t, DeviceMap2(g, z, dm.Col(0), dm.Col(1)))
			must(t, Map2(g, got, m.Col(0), m.Col(1), on))
		} else {
			must(t, Map(g, want, m.Col(0), nil))
			must(t, DeviceMap(g, z, dm.Col(0)))
			must(t, Map(g, got, m.Col(0), on))
		}
		what := fmt.Sprintf("seed %d: %v of %d %v", seed, g, n, f)
		sameMatrix(t, what+" from the host", got.Matrix(), want.Matrix())
		there, err := z.Vector()
		must(t, err)
		sameMatrix(t, what, there.Matrix(), want.Matrix())
		z.Free()
	}
}

// argument is a number that functions make something of, or any.
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

// checkHost compares routines whose operands come from the host, in several formats, with the CPU's.
func checkHost(t *testing.T, n int) {
	seed := rand.Uint64()
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
		same("Add", func(z *halfulp.Matrix, o *halfulp.Options) error { return Add(z, x, y, o) })
		same("Sub in place", func(z *halfulp.Matrix, o *halfulp.Options) error { return Sub(z, x, z, o) })
		same("FMA", func(z *halfulp.Matrix, o *halfulp.Options) error { return FMA(z, x, y, z, o) })
		same("Sqrt of columns", func(z *halfulp.Matrix, o *halfulp.Options) error { return Sqrt(z.Col(1), x.Col(0), o) })
		same("SinCos in place", func(z *halfulp.Matrix, o *halfulp.Options) error {
			cos := z.Clone()
			if err := SinCos(z, cos, z, o); err != nil {
				return err
			}
			return Add(z, z, cos, nil)
		})
		same("Gemm", func(z *halfulp.Matrix, o *halfulp.Options) error {
			_, err := Gemm(halfulp.NoTrans, halfulp.NoTrans, halfulp.Float(3), c, x, halfulp.Float(-1), z, o)
			return err
		})
		same("Gemm of nothing", func(z *halfulp.Matrix, o *halfulp.Options) error {
			_, err := Gemm(halfulp.NoTrans, halfulp.NoTrans, halfulp.Float(0), c, x, halfulp.Float(2), z, o)
			return err
		})
		same("Gemv", func(z *halfulp.Matrix, o *halfulp.Options) error {
			_, err := Gemv(halfulp.Trans, halfulp.Float(1), c, x.Col(2), halfulp.Float(1), z.Col(0), o)
			return err
		})
		same("Dot", func(z *halfulp.Matrix, o *halfulp.Options) error {
			d, _, err := Dot(x.Vec(), y.Vec(), f, o)
			z.Set(0, 0, d)
			return err
		})
		infinite := x.Clone()
		infinite.SetFloat64(2, 0, math.Inf(1))
		same("Dot of an infinity", func(z *halfulp.Matrix, o *halfulp.Options) error {
			d, _, err := Dot(infinite.Vec(), y.Vec(), f, o)
			z.Set(0, 0, d)
			return err
		})
	}
}

// numbersOf are the words of entry i of m.
func numbersOf(m *halfulp.Matrix, i int) []float64 {
	v := raw.Matrix(m)
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

// productOf is α A B + β C as the documentation has it.
func productOf[E arithmetical[E]](a steps[E], alpha E, x, y *halfulp.Matrix, beta E, c *halfulp.Matrix) *halfulp.Matrix {
	rows, cols := c.Dims()
	z := halfulp.NewMatrix(c.Format(), rows, cols)
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
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 3))
	x, y, c := randomMatrix(r, f, m, k, d), randomMatrix(r, f, k, n, d), randomMatrix(r, f, m, n, d)
	third := float[E](1).Div(float[E](3))
	factors := [][2]E{{float[E](1), float[E](0)}, {float[E](1), float[E](1)}, {third, float[E](-2)}, {float[E](-1), float[E](0)}}[(layout+k)%4]
	alpha, beta := scalarOfEntry(f, factors[0]), scalarOfEntry(f, factors[1])
	what := fmt.Sprintf("seed %d: %v %d x %d x %d, layout %d", seed, f, m, k, n, layout)

	dx, dy, dc := laid(t, x, layout), laid(t, y, (layout+1)%4), laid(t, c, layout/2)
	want := productOf(a, factors[0], x, y, factors[1], c)
	must(t, DeviceGemm(halfulp.NoTrans, halfulp.NoTrans, alpha, dx, dy, beta, dc))
	wantMatrix(t, what, dc, want)
	dc = laid(t, c, 3-layout)
	must(t, DeviceGemm(halfulp.Trans, halfulp.ConjTrans, alpha, dx.T(), dy.T(), beta, dc))
	wantMatrix(t, what+" transposed", dc, want)
	if n == 0 {
		return
	}
	v := laid(t, c.Col(0).Matrix(), layout%3).Col(0)
	must(t, DeviceGemv(halfulp.NoTrans, alpha, dx, dy.Col(0), beta, v))
	sums := make([]E, m)
	old, col := numbers[E](c.Col(0)), numbers[E](y.Col(0))
	for i := range sums {
		sums[i] = scaled(partials(a, numbers[E](x.Row(i)), col, 32), factors[0], factors[1], old[i]).Canonical()
	}
	expect := halfulp.NewVector(f, m)
	setNumbers(expect, sums)
	got, err := v.Vector()
	must(t, err)
	sameMatrix(t, what+" gemv", got.Matrix(), expect.Matrix())
	if m == 0 {
		return
	}
	z, err := DeviceDot(dx.Row(0), dy.Col(0))
	must(t, err)
	w, _, err := Dot(x.Row(0), y.Col(0), f, nil)
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

// checkSolve compares DeviceSolve with the CPU.
func checkSolve(t *testing.T, f halfulp.Format, n, m int, o SolveOptions, spoil func(r *rand.Rand, a *halfulp.Matrix)) {
	t.Helper()
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 4))
	a, b := randomMatrix(r, f, n, n, ordinaryNumber), randomMatrix(r, f, n, m, ordinaryNumber)
	if spoil != nil {
		spoil(r, a)
	}
	what := fmt.Sprintf("seed %d: %v %d x %d, %+v", seed, f, n, m, o)
	want, wantErr := Solve(a, b, &o)
	da, db := laid(t, a, n%4), laid(t, b, (n+m)%4)
	err := DeviceSolve(da, db, db, &o)
	if !errors.Is(err, ErrSingular) && err != nil || (err == nil) != (wantErr == nil) {
		t.Fatalf("%s: %v, want %v", what, err, wantErr)
	}
	if err != nil {
		if errors.Unwrap(err).Error() != errors.Unwrap(wantErr).Error() {
			t.Fatalf("%s: %v, want %v", what, err, wantErr)
		}
		want = b
	}
	wantMatrix(t, what, db, want)
	wantMatrix(t, what+": A", da, a)
	p := o
	p.Options = &halfulp.Options{Device: device}
	x, err := Solve(a, b, &p)
	if (err == nil) != (wantErr == nil) {
		t.Fatalf("%s: %v, want %v", what, err, wantErr)
	}
	if err == nil {
		sameMatrix(t, what+" from the host", x, want)
	}
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

// emptyColumn has no pivot in a column behind the first panel, if there is one.
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

// smallProducts are shapes around those of tiles.
var smallProducts = [][3]int{{1, 1, 1}, {0, 3, 2}, {3, 0, 2}, {3, 2, 0}, {33, 17, 5}, {65, 40, 19}, {16, 66, 8}, {2, 3, 70}}

// TestDeviceReference compares what routines make of the kernels with the definitions.
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
	r := rand.New(rand.NewPCG(1, 7))
	for _, f := range deviceFormats {
		a, b := randomMatrix(r, f, 41, 41, ordinaryNumber), randomMatrix(r, f, 41, 1, ordinaryNumber)
		want, err := Solve(a, b, nil)
		must(t, err)
		da, db := laid(t, a, 0), laid(t, b, 0)
		dev, va := raw.DeviceMatrix(da)
		_, vb := raw.DeviceMatrix(db)
		must(t, dev.Do(context.Background(), func(s *cuda.Stream) error {
			return expgpu.Solve(s, expgpu.Elimination{Shared: 1}, va, vb, vb)
		}))
		wantMatrix(t, f.String(), db, want)
	}
}

// TestDeviceFailures lets each call of the driver fail in turn: errors come back, no memory is lost.
func TestDeviceFailures(t *testing.T) {
	for _, call := range []string{"MemAlloc", "LaunchKernel"} {
		for after := range 8 {
			drv := onReference(t)
			r := rand.New(rand.NewPCG(1, 5))
			a, b := randomMatrix(r, halfulp.QD, 40, 40, ordinaryNumber), randomMatrix(r, halfulp.QD, 40, 2, ordinaryNumber)
			drv.Fail(call, after, cudadrv.OutOfMemory)
			x, err := Solve(a, b, &SolveOptions{Options: &halfulp.Options{Device: device}})
			if err != nil && (x != nil || !errors.Is(err, halfulp.ErrMemory) && call == "MemAlloc") {
				t.Errorf("%s after %d: %v", call, after, err)
			}
		}
	}
}

// TestDevice compares a GPU with the CPU.
func TestDevice(t *testing.T) {
	needDevice(t)
	eachSuite(t, 0, 1, 1000, 300000)
	productSuite(t, smallProducts, ordinaryNumber)
	productSuite(t, smallProducts, anyNumber)
	productSuite(t, [][3]int{{200, 130, 300}, {130, 200, 100}, {64, 64, 64}, {1, 1, 100000}}, ordinaryNumber)
	checkHost(t, 100)
}

// TestDeviceFunctions compares a GPU's functions with the CPU's, bit by bit.
func TestDeviceFunctions(t *testing.T) {
	needDevice(t)
	for _, f := range deviceFormats {
		checkFunctions(t, Functions(), f, 0, argument)
		checkFunctions(t, Functions(), f, 1, argument)
		checkFunctions(t, Functions(), f, 100000, argument)
	}
}

// TestDeviceSolve compares a GPU's solutions with the CPU's, bit by bit.
func TestDeviceSolve(t *testing.T) {
	needDevice(t)
	for _, f := range deviceFormats {
		for _, u := range []Updates{NativeUpdates, ExactUpdates} {
			solveSuite(t, f, append([][2]int{{150, 20}, {100, 30}}, smallSystems...), u)
		}
	}
	checkSlabs(t)
}

// TestSanitizeDevice runs small problems with every kernel, but for most functions: those take the
// sanitizer minutes.
func TestSanitizeDevice(t *testing.T) {
	needDevice(t)
	eachSuite(t, 300)
	for _, f := range deviceFormats {
		checkFunctions(t, []Function{Log, Sin, Atan2}, f, 200, argument)
	}
	productSuite(t, [][3]int{{35, 20, 9}}, ordinaryNumber)
	for _, f := range deviceFormats {
		solveSuite(t, f, [][2]int{{5, 2}, {40, 3}}, NativeUpdates)
	}
}

// TestDevicePanics checks what operands have to be.
func TestDevicePanics(t *testing.T) {
	onReference(t)
	r := rand.New(rand.NewPCG(1, 6))
	a := laid(t, randomMatrix(r, halfulp.DD, 4, 4, ordinaryNumber), 0)
	b := laid(t, randomMatrix(r, halfulp.DD, 3, 4, ordinaryNumber), 0)
	q := laid(t, randomMatrix(r, halfulp.QD, 4, 4, ordinaryNumber), 0)
	one, zero := halfulp.Float(1), halfulp.Float(0)
	n := halfulp.NoTrans
	for want, f := range map[string]func(){
		errShape + "":              func() { _ = DeviceGemm(n, n, one, a, b, zero, a) },
		errFormat:                  func() { _ = DeviceAdd(a.Col(0), a.Col(1), q.Col(0)) },
		errAlias:                   func() { _ = DeviceAdd(a.Col(0).Slice(1, 4), a.Col(0).Slice(0, 3), b.Col(0)) },
		errPivoting:                func() { _ = DeviceSolve(a, b.T(), b.T(), &SolveOptions{Pivoting: 7}) },
		errUpdates:                 func() { _ = DeviceSolve(a, b.T(), b.T(), &SolveOptions{Updates: 7}) },
		errBlock:                   func() { _ = DeviceSolve(a, b.T(), b.T(), &SolveOptions{Block: 33}) },
		"expansion: bad Transpose": func() { _ = DeviceGemm('X', n, one, a, a, zero, a) },
	} {
		func() {
			defer func() {
				if got := recover(); got != want {
					t.Errorf("panic %v, want %v", got, want)
				}
			}()
			f()
		}()
	}
	for _, name := range []string{"cuda:", "cuda:9", "gpu"} {
		m := halfulp.NewMatrix(halfulp.DD, 1, 1)
		if _, err := Solve(m, m, &SolveOptions{Options: &halfulp.Options{Device: name}}); !errors.Is(err, halfulp.ErrDevice) {
			t.Errorf("device %q: %v", name, err)
		}
	}
}
