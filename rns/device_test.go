package rns

import (
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/cudadrv"
	"github.com/halfulp/halfulp/internal/cudadrv/fake"
	"github.com/halfulp/halfulp/internal/gpu/backend"
	"github.com/halfulp/halfulp/internal/gpu/gputest"
	"github.com/halfulp/halfulp/internal/place"
)

// machine returns the machine's GPU.
func machine(t testing.TB) place.Place {
	t.Helper()
	return backend.At(gputest.Machine(t))
}

// deviceBases are bases that GPUs support, of one residue up to 200.
func deviceBases(t testing.TB) []*Base {
	var bases []*Base
	add := func(b *Base, err error) {
		if err != nil {
			t.Fatal(err)
		}
		bases = append(bases, b)
	}
	add(NewBase([]uint32{131071}))
	add(NewBase([]uint32{3, 5, 7, 11, 13, 17, 19}))
	add(NewBase([]uint32{1<<30 - 1, 1<<30 - 35, 1<<29 + 11, 257}))
	for _, p := range SummationPrecisions {
		add(SummationBase(p))
	}
	for _, p := range GemvPrecisions {
		add(GemvBase(p))
	}
	add(NewBasePrecision(212, 17))
	add(NewBasePrecision(2600, 200))
	return bases
}

// must stops a test.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// copyAt returns a copy of an array of the host at a place.
func (a *Array) copyAt(t testing.TB, dev place.Place) *Array {
	t.Helper()
	z, err := a.b.arrayAt(dev, a.Len())
	must(t, err)
	t.Cleanup(z.Free)
	must(t, z.CopyFrom(a))
	return z
}

// onDevice is x on a device, with its stride and what lies between.
func (x *Vector) onDevice(t testing.TB, dev place.Place) *Vector {
	t.Helper()
	return &Vector{x.arr.copyAt(t, dev), x.off, x.inc, x.n}
}

func (m *Matrix) onDevice(t testing.TB, dev place.Place) *Matrix {
	t.Helper()
	return m.arr.copyAt(t, dev).Matrix(m.off, m.rows, m.cols, m.ld)
}

// wantArray compares all of an array with an array on a device.
func wantArray(t *testing.T, what string, d, want *Array) {
	t.Helper()
	got, err := d.Host()
	must(t, err)
	for i := range want.Len() {
		if x, y := got.Vector(0, got.Len(), 1).At(i), want.Vector(0, want.Len(), 1).At(i); !same(x, y) {
			t.Fatalf("%s: number %d is %s, want %s", what, i, describe(x), describe(y))
		}
	}
}

// A family draws numbers.
type family struct {
	name string
	draw func(b *Base, r *rand.Rand) *Number
}

// families are the distributions of vectors of the tests.
func families(b *Base, r *rand.Rand) []family {
	xs := significands(b, r, 20)
	return []family{
		{"adversaries", func(b *Base, r *rand.Rand) *Number { return randomNumber(b, r, xs) }},
		{"full", func(b *Base, r *rand.Rand) *Number {
			return number(b, randomInt(r, b.maxSigBits-1), r.IntN(9)-4, r.IntN(2) == 0)
		}},
		{"quarter", func(b *Base, r *rand.Rand) *Number {
			return number(b, randomInt(r, max(b.prec/4, 1)), 0, r.IntN(2) == 0)
		}},
		{"cancelling", func(b *Base, r *rand.Rand) *Number {
			x := new(big.Int).Sub(b.limInt, big.NewInt(r.Int64N(3)))
			return number(b, x, r.IntN(2), r.IntN(2) == 0)
		}},
		{"special", func(b *Base, r *rand.Rand) *Number {
			z := randomNumber(b, r, xs)
			switch r.IntN(400) {
			case 0:
				z.v.setNaN()
			case 1, 2, 3, 4, 5:
				z.v.setZero()
			case 6:
				z = number(b, xs[len(xs)-1], maxExp-1, false)
			case 7:
				z = number(b, xs[len(xs)-1], minExp+1, true)
			}
			return z
		}},
	}
}

func (f family) array(b *Base, r *rand.Rand, n int) *Array {
	a := b.NewArray(n)
	for i := range n {
		a.Vector(0, n, 1).Set(i, f.draw(b, r))
	}
	return a
}

func (f family) vector(b *Base, r *rand.Rand, n int) *Vector {
	inc := 1 + r.IntN(2)
	if r.IntN(3) == 0 {
		inc = -inc
	}
	return f.array(b, r, 3+n*2).Vector(r.IntN(2), n, inc)
}

func (f family) matrix(b *Base, r *rand.Rand, rows, cols int) *Matrix {
	ld := max(rows, 1) + r.IntN(3)
	return f.array(b, r, 2+ld*cols).Matrix(r.IntN(2), rows, cols, ld)
}

// deviceSuite compares all routines on a device with the CPU, on vectors of up to size numbers.
func deviceSuite(t *testing.T, dev place.Place, bases []*Base, size int) {
	for k, b := range bases {
		t.Run(b.testName(), func(t *testing.T) {
			r := newRand(t, uint64(100+k))
			for _, f := range families(b, r) {
				t.Run(f.name, func(t *testing.T) {
					compareSums(t, dev, b, r, f, size)
					compareElementwise(t, dev, b, r, f, size)
					compareProducts(t, dev, b, r, f, size)
				})
			}
		})
	}
}

func compareSums(t *testing.T, dev place.Place, b *Base, r *rand.Rand, f family, size int) {
	for _, n := range []int{0, 1, 2, 3, 8, 9, size/2 + 1, size} {
		x, y := f.vector(b, r, n), f.vector(b, r, n)
		if f.name == "cancelling" {
			for i := n / 2; i < n; i++ {
				x.Set(i, b.NewNumber().Neg(x.At(i-n/2)))
			}
		}
		dx, dy := x.onDevice(t, dev), y.onDevice(t, dev)
		for _, v := range []Variant{AutoVariant, OneThread, OverModuli, OverAll} {
			o := &Options{Variant: v}
			wantSame(t, fmt.Sprint("Reduce1 of ", n, " variant ", v), sumOf(Reduce1(dx, o)), sumOf(Reduce1(x, o)))
			wantSame(t, fmt.Sprint("Reduce2 of ", n, " variant ", v), sumOf(Reduce2(dx, o)), sumOf(Reduce2(x, o)))
		}
		for _, o := range optionSets {
			wantSame(t, fmt.Sprintf("Reduce3 of %d %+v", n, o), sumOf(Reduce3(dx, o)), sumOf(Reduce3(x, o)))
			wantSame(t, fmt.Sprint("Asum of ", n), sumOf(Asum(dx, o)), sumOf(Asum(x, o)))
			for _, kind := range []halfulp.Norm{halfulp.OneNorm, halfulp.InfNorm} {
				wantSame(t, fmt.Sprintf("Nrm %d of %d", kind, n), sumOf(Nrm(kind, dx, o)), sumOf(Nrm(kind, x, o)))
			}
			wantSame(t, fmt.Sprint("Dot of ", n), sumOf(Dot(dx, dy, o)), sumOf(Dot(x, y, o)))
		}
	}
}

func compareElementwise(t *testing.T, dev place.Place, b *Base, r *rand.Rand, f family, n int) {
	x, y, w := f.vector(b, r, n), f.vector(b, r, n), f.vector(b, r, n)
	dx, dy, dw := x.onDevice(t, dev), y.onDevice(t, dev), w.onDevice(t, dev)
	alpha, beta := f.draw(b, r), f.draw(b, r)
	done(Scal(alpha, x, nil))
	done(Scal(alpha, dx, nil))
	wantArray(t, "Scal", dx.arr, x.arr)
	done(Axpy(alpha, x, y, nil))
	done(Axpy(alpha, dx, dy, nil))
	wantArray(t, "Axpy", dy.arr, y.arr)
	done(Waxpby(alpha, x, beta, y, w, nil))
	done(Waxpby(alpha, dx, beta, dy, dw, nil))
	wantArray(t, "Waxpby", dw.arr, w.arr)
	done(Rot(x, w, alpha, beta, nil))
	done(Rot(dx, dw, alpha, beta, nil))
	wantArray(t, "Rot, x", dx.arr, x.arr)
	wantArray(t, "Rot, y", dw.arr, w.arr)
	done(Maxpy(alpha, y, x, w, nil))
	done(Maxpy(alpha, dy, dx, dw, nil))
	wantArray(t, "Maxpy", dw.arr, w.arr)
	x, y = f.vector(b, r, n), f.vector(b, r, n)
	dx, dy = x.onDevice(t, dev), y.onDevice(t, dev)
	for _, o := range optionSets {
		wantSame(t, fmt.Sprintf("AxpyDot %+v", o), sumOf(AxpyDot(alpha, dw, dx, dy, o)), sumOf(AxpyDot(alpha, w, x, y, o)))
		wantArray(t, "AxpyDot", dw.arr, w.arr)
		wantSame(t, fmt.Sprintf("Nrm2 %+v", o), sumOf(Nrm2(dx, o)), sumOf(Nrm2(x, o)))
	}
	compareOperations(t, dev, b, r, f, n)
}

// compareOperations compares operations entry by entry on vectors and matrices.
func compareOperations(t *testing.T, dev place.Place, b *Base, r *rand.Rand, f family, n int) {
	x, y, c := f.vector(b, r, n), f.vector(b, r, n), f.vector(b, r, n)
	for i := range n / 4 { // c cancels x y, nearly
		c.Set(i, b.NewNumber().Neg(mul(x.At(i), y.At(i))))
	}
	u, v, d := f.matrix(b, r, n/4, 3), f.matrix(b, r, n/4, 3), f.matrix(b, r, n/4, 3)
	dx, dy, dc := x.onDevice(t, dev), y.onDevice(t, dev), c.onDevice(t, dev)
	du, dv, dd := u.onDevice(t, dev), v.onDevice(t, dev), d.onDevice(t, dev)
	for name, op := range elementwiseOperations {
		z, w := f.vector(b, r, n), f.matrix(b, r, n/4, 3)
		dz, dw := z.onDevice(t, dev), w.onDevice(t, dev)
		done(op.vectors(x, y, c, z, nil))
		done(op.vectors(dx, dy, dc, dz, nil))
		wantArray(t, name+" of vectors", dz.arr, z.arr)
		done(op.matrices(u, v, d, w, nil))
		done(op.matrices(du, dv, dd, dw, nil))
		wantArray(t, name+" of matrices", dw.arr, w.arr)
	}
	done(Div(x, y, x, nil)) // in place
	done(Div(dx, dy, dx, nil))
	wantArray(t, "Div in place", dx.arr, x.arr)
}

func compareProducts(t *testing.T, dev place.Place, b *Base, r *rand.Rand, f family, size int) {
	m, n := 2+size/8, 3+size/6
	a := f.matrix(b, r, m, n)
	da := a.onDevice(t, dev)
	u, v := f.vector(b, r, m), f.vector(b, r, n)
	du, dv := u.onDevice(t, dev), v.onDevice(t, dev)
	zero := b.NewNumber()
	for _, s := range [][2]*Number{{f.draw(b, r), f.draw(b, r)}, {f.draw(b, r), zero}, {zero, f.draw(b, r)}} {
		for _, trans := range []halfulp.Transpose{halfulp.NoTrans, halfulp.Trans} {
			x, y, dx := v, u.Clone(), dv
			if isTrans(trans) {
				x, y, dx = u, v.Clone(), du
			}
			for _, size := range []int{0, 1, 5} {
				z := y.Clone()
				dz := z.onDevice(t, dev)
				var bound, atDevice Bound
				done(Gemv(trans, s[0], a, x, s[1], z, &Options{BlockSize: size, Bound: &bound}))
				done(Gemv(trans, s[0], da, dx, s[1], dz, &Options{BlockSize: size, Bound: &atDevice}))
				wantArray(t, fmt.Sprintf("Gemv trans=%v size=%d", trans, size), dz.arr, z.arr)
				dp := y.onDevice(t, dev)
				done(Gemv(trans, s[0], da, dx, s[1], dp, &Options{BlockSize: size, Variant: Published}))
				wantArray(t, fmt.Sprintf("Gemv as published, trans=%v size=%d", trans, size), dp.arr, z.arr)
				if bound != atDevice {
					t.Errorf("Gemv trans=%v size=%d: bound %v, want %v", trans, size, atDevice, bound)
				}
			}
			dy, dp := y.onDevice(t, dev), y.onDevice(t, dev)
			done(GemvBasic(trans, s[0], da, dx, s[1], dp, &Options{Variant: Published}))
			done(GemvBasic(trans, s[0], a, x, s[1], y, nil))
			wantArray(t, fmt.Sprintf("GemvBasic as published, trans=%v", trans), dp.arr, y.arr)
			done(GemvBasic(trans, s[0], da, dx, s[1], dy, nil))
			wantArray(t, fmt.Sprintf("GemvBasic trans=%v", trans), dy.arr, y.arr)
		}
	}
	for _, kind := range []halfulp.Norm{halfulp.OneNorm, halfulp.InfNorm} {
		wantSame(t, fmt.Sprint("GeNorm ", kind), sumOf(GeNorm(kind, da, nil)), sumOf(GeNorm(kind, a, nil)))
	}
	compareMatrices(t, dev, b, r, f, a, da, u, v, du, dv)
	compareSymmetric(t, dev, b, r, f, size)
	compareGemm(t, dev, b, r, f)
	compareSparse(t, dev, b, r, f, size)
}

func compareMatrices(t *testing.T, dev place.Place, b *Base, r *rand.Rand, f family, a, da *Matrix, u, v, du, dv *Vector) {
	alpha, beta := f.draw(b, r), f.draw(b, r)
	done(Ger(alpha, u, v, a, nil))
	done(Ger(alpha, du, dv, da, nil))
	wantArray(t, "Ger", da.arr, a.arr)
	c := f.matrix(b, r, a.rows, a.cols)
	dc := c.onDevice(t, dev)
	done(GeAcc(alpha, a, beta, c, nil))
	done(GeAcc(alpha, da, beta, dc, nil))
	wantArray(t, "GeAcc", dc.arr, c.arr)
	done(GeLRScale(u, v, a, nil))
	done(GeLRScale(du, dv, da, nil))
	wantArray(t, "GeLRScale", da.arr, a.arr)
	done(GeDiagScale(halfulp.Right, v, a, nil))
	done(GeDiagScale(halfulp.Right, dv, da, nil))
	wantArray(t, "GeDiagScale", da.arr, a.arr)
	long := b.NewArray(a.cols+1).Vector(0, a.cols+1, 1).onDevice(t, dev)
	func() {
		defer func() {
			if e := recover(); e != errShape {
				t.Errorf("GeLRScale with a long diagonal: %v", e)
			}
		}()
		_ = GeLRScale(du, long, da, nil)
	}()
	wantArray(t, "GeLRScale that is refused", da.arr, a.arr)
}

func compareSymmetric(t *testing.T, dev place.Place, b *Base, r *rand.Rand, f family, size int) {
	n, k := 2+size/8, 3+size/12
	zero := b.NewNumber()
	for _, s := range [][2]*Number{{f.draw(b, r), f.draw(b, r)}, {f.draw(b, r), zero}, {zero, f.draw(b, r)}, {zero, zero}} {
		for _, uplo := range []halfulp.Uplo{halfulp.Upper, halfulp.Lower} {
			a := f.matrix(b, r, n, n)
			x, y := f.vector(b, r, n), f.vector(b, r, n)
			da, dx, dy := a.onDevice(t, dev), x.onDevice(t, dev), y.onDevice(t, dev)
			for _, size := range []int{0, 1, 5} {
				var bound, atDevice Bound
				done(Symv(uplo, s[0], a, x, s[1], y, &Options{BlockSize: size, Bound: &bound}))
				done(Symv(uplo, s[0], da, dx, s[1], dy, &Options{BlockSize: size, Bound: &atDevice}))
				wantArray(t, fmt.Sprintf("Symv %c size=%d", uplo, size), dy.arr, y.arr)
				if bound != atDevice {
					t.Errorf("Symv %c size=%d: bound %v, want %v", uplo, size, atDevice, bound)
				}
			}
			done(Syr(uplo, s[0], x, a, nil))
			done(Syr(uplo, s[0], dx, da, nil))
			wantArray(t, fmt.Sprintf("Syr %c", uplo), da.arr, a.arr)
			done(Syr2(uplo, s[0], x, y, a, nil))
			done(Syr2(uplo, s[0], dx, dy, da, nil))
			wantArray(t, fmt.Sprintf("Syr2 %c", uplo), da.arr, a.arr)
			for _, trans := range []halfulp.Transpose{halfulp.NoTrans, halfulp.Trans} {
				m := f.matrix(b, r, n, k)
				if isTrans(trans) {
					m = f.matrix(b, r, k, n)
				}
				done(Syrk(uplo, trans, s[0], m, s[1], a, nil))
				done(Syrk(uplo, trans, s[0], m.onDevice(t, dev), s[1], da, nil))
				wantArray(t, fmt.Sprintf("Syrk %c %c", uplo, trans), da.arr, a.arr)
			}
		}
	}
}

func compareGemm(t *testing.T, dev place.Place, b *Base, r *rand.Rand, f family) {
	zero := b.NewNumber()
	for k, s := range [][2]*Number{{f.draw(b, r), f.draw(b, r)}, {f.draw(b, r), zero}, {zero, f.draw(b, r)}, {zero, zero}} {
		tA, tB := k%2 == 1, k/2 == 1
		m, n, inner := 3, 5, 7
		x, y, c := f.matrix(b, r, m, inner), f.matrix(b, r, inner, n), f.matrix(b, r, m, n)
		if tA {
			x = f.matrix(b, r, inner, m)
		}
		if tB {
			y = f.matrix(b, r, n, inner)
		}
		dc := c.onDevice(t, dev)
		done(Gemm(transpose(tA), transpose(tB), s[0], x, y, s[1], c, nil))
		done(Gemm(transpose(tA), transpose(tB), s[0], x.onDevice(t, dev), y.onDevice(t, dev), s[1], dc, nil))
		wantArray(t, fmt.Sprint("Gemm ", k), dc.arr, c.arr)
	}
}

// TestDevice compares a GPU with the CPU.
func TestDevice(t *testing.T) {
	deviceSuite(t, machine(t), deviceBases(t), 60)
}

// TestSanitizeDevice is small, for tools that slow GPUs down.
func TestSanitizeDevice(t *testing.T) {
	dev := machine(t)
	bases := deviceBases(t)
	deviceSuite(t, dev, []*Base{bases[1], bases[8], bases[10]}, 20)
}

// TestDeviceTableFails: a table that does not fit leaves nothing behind but the kernels that are
// compiled, once, and a later try succeeds.
func TestDeviceTableFails(t *testing.T) {
	b, err := GemvBase(106)
	must(t, err)
	const tables, functions = 10, 9
	for _, c := range []struct {
		call  string
		code  cudadrv.Code
		times int
	}{{"MemAlloc", cudadrv.OutOfMemory, tables}, {"MemcpyHtoDAsync", cudadrv.InvalidValue, tables}, {"ModuleGetFunction", cudadrv.NotFound, functions}} {
		for i := range c.times {
			drv := &fake.Driver{}
			for _, name := range []string{
				"rnsSum", "rnsDot", "rnsTree", "rnsMap", "rnsPairs", "rnsRecursiveS", "rnsRecursiveP", "rnsPairwiseS", "rnsPairwiseP",
			} {
				drv.Kernel(name, func(*fake.Launch) {})
			}
			dev, err := cuda.OpenDriver(drv, 0)
			must(t, err)
			drv.Fail(c.call, i, c.code)
			if c.code == cudadrv.OutOfMemory {
				drv.Fail(c.call, i, c.code) // it is tried twice
			}
			if _, err := b.arrayAt(backend.At(dev), 0); cudadrv.CodeOf(err) != c.code && !errors.Is(err, halfulp.ErrMemory) {
				t.Fatalf("%s %d fails: %v", c.call, i, err)
			}
			compiled := functions
			if c.code == cudadrv.NotFound {
				compiled = i
			}
			if used, live := dev.Counters().InUse, drv.Live(); used != 0 || live.Modules != compiled {
				t.Errorf("%s %d fails: %d bytes and %d modules are left, want %d", c.call, i, used, live.Modules, compiled)
			}
			_, err = b.arrayAt(backend.At(dev), 0)
			must(t, err)
			if n := dev.Counters().Modules; n != functions {
				t.Errorf("%s %d fails: %d modules in the end", c.call, i, n)
			}
		}
	}
}
