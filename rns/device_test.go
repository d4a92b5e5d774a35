package rns

import (
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/cuda"
	"github.com/halfulp/halfulp/internal/cudadrv"
	"github.com/halfulp/halfulp/internal/cudadrv/fake"
)

// machine returns the machine's GPU.
func machine(t testing.TB) *cuda.Device {
	t.Helper()
	dev, err := cuda.Open(0)
	if errors.Is(err, cuda.ErrNoDevice) && os.Getenv("HALFULP_WANT_GPU") == "" {
		t.Skip("no GPU:", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dev
}

// deviceBases are bases that GPUs take, of one residue up to 200.
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

// onDevice is x on a device, with its stride and what lies between.
func (x *Vector) onDevice(t testing.TB, dev *cuda.Device) *DeviceVector {
	t.Helper()
	d, err := x.arr.toDevice(dev)
	must(t, err)
	t.Cleanup(d.Free)
	return &DeviceVector{d, x.off, x.inc, x.n}
}

func (m *Matrix) onDeviceMatrix(t testing.TB, dev *cuda.Device) *DeviceMatrix {
	t.Helper()
	d, err := m.arr.toDevice(dev)
	must(t, err)
	t.Cleanup(d.Free)
	return d.Matrix(m.off, m.rows, m.cols, m.ld)
}

// wantArray compares all of an array with what a device has.
func wantArray(t *testing.T, what string, d *DeviceArray, want *Array) {
	t.Helper()
	got, err := d.Array()
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

// families are what vectors of the tests are drawn from.
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
func deviceSuite(t *testing.T, dev *cuda.Device, bases []*Base, size int) {
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

func compareSums(t *testing.T, dev *cuda.Device, b *Base, r *rand.Rand, f family, size int) {
	for _, n := range []int{0, 1, 2, 3, 8, 9, size/2 + 1, size} {
		x, y := f.vector(b, r, n), f.vector(b, r, n)
		if f.name == "cancelling" {
			for i := n / 2; i < n; i++ {
				x.Set(i, b.NewNumber().Neg(x.At(i-n/2)))
			}
		}
		dx, dy := x.onDevice(t, dev), y.onDevice(t, dev)
		for _, v := range []SumVariant{OneThread, OverModuli} {
			z, err := DeviceReduce1(dx, v)
			must(t, err)
			wantSame(t, fmt.Sprint("Reduce1 of ", n, " variant ", v), z, Reduce1(x))
		}
		for _, v := range []SumVariant{OneThread, OverModuli, OverAll} {
			z, err := DeviceReduce2(dx, v)
			must(t, err)
			wantSame(t, fmt.Sprint("Reduce2 of ", n, " variant ", v), z, Reduce2(x))
		}
		for _, o := range optionSets {
			z, err := DeviceReduce3(dx, o)
			must(t, err)
			wantSame(t, fmt.Sprintf("Reduce3 of %d %+v", n, o), z, Reduce3(x, o))
			z, err = DeviceAsum(dx, o)
			must(t, err)
			wantSame(t, fmt.Sprint("Asum of ", n), z, Asum(x, o))
			for _, kind := range []Norm{OneNorm, InfNorm} {
				z, err = DeviceNrm(kind, dx, o)
				must(t, err)
				wantSame(t, fmt.Sprintf("Nrm %d of %d", kind, n), z, Nrm(kind, x, o))
			}
			z, err = DeviceDot(dx, dy, o)
			must(t, err)
			wantSame(t, fmt.Sprint("Dot of ", n), z, Dot(x, y, o))
		}
	}
}

func compareElementwise(t *testing.T, dev *cuda.Device, b *Base, r *rand.Rand, f family, n int) {
	x, y, w := f.vector(b, r, n), f.vector(b, r, n), f.vector(b, r, n)
	dx, dy, dw := x.onDevice(t, dev), y.onDevice(t, dev), w.onDevice(t, dev)
	alpha, beta := f.draw(b, r), f.draw(b, r)
	Scal(alpha, x, nil)
	must(t, DeviceScal(alpha, dx))
	wantArray(t, "Scal", dx.arr, x.arr)
	Axpy(alpha, x, y, nil)
	must(t, DeviceAxpy(alpha, dx, dy))
	wantArray(t, "Axpy", dy.arr, y.arr)
	Waxpby(alpha, x, beta, y, w, nil)
	must(t, DeviceWaxpby(alpha, dx, beta, dy, dw))
	wantArray(t, "Waxpby", dw.arr, w.arr)
	Rot(x, w, alpha, beta, nil)
	must(t, DeviceRot(dx, dw, alpha, beta))
	wantArray(t, "Rot, x", dx.arr, x.arr)
	wantArray(t, "Rot, y", dw.arr, w.arr)
}

func compareProducts(t *testing.T, dev *cuda.Device, b *Base, r *rand.Rand, f family, size int) {
	m, n := 2+size/8, 3+size/6
	a := f.matrix(b, r, m, n)
	da := a.onDeviceMatrix(t, dev)
	u, v := f.vector(b, r, m), f.vector(b, r, n)
	du, dv := u.onDevice(t, dev), v.onDevice(t, dev)
	zero := b.NewNumber()
	for _, s := range [][2]*Number{{f.draw(b, r), f.draw(b, r)}, {f.draw(b, r), zero}, {zero, f.draw(b, r)}} {
		for _, trans := range []Transpose{NoTrans, Trans} {
			x, y, dx := v, u.Clone(), dv
			if trans {
				x, y, dx = u, v.Clone(), du
			}
			for _, o := range []*Options{nil, {BlockSize: 1}, {BlockSize: 5}} {
				z := y.Clone()
				dz := z.onDevice(t, dev)
				Gemv(trans, s[0], a, x, s[1], z, o)
				must(t, DeviceGemv(trans, s[0], da, dx, s[1], dz, o))
				wantArray(t, fmt.Sprintf("Gemv trans=%v %+v", trans, o), dz.arr, z.arr)
			}
			dy := y.onDevice(t, dev)
			GemvBasic(trans, s[0], a, x, s[1], y, nil)
			must(t, DeviceGemvBasic(trans, s[0], da, dx, s[1], dy))
			wantArray(t, fmt.Sprintf("GemvBasic trans=%v", trans), dy.arr, y.arr)
		}
	}
	for _, kind := range []Norm{OneNorm, InfNorm} {
		z, err := DeviceGeNorm(kind, da, nil)
		must(t, err)
		wantSame(t, fmt.Sprint("GeNorm ", kind), z, GeNorm(kind, a, nil))
	}
	compareMatrices(t, dev, b, r, f, a, da, u, v, du, dv)
	compareGemm(t, dev, b, r, f)
	compareSparse(t, dev, b, r, f, size)
}

func compareMatrices(t *testing.T, dev *cuda.Device, b *Base, r *rand.Rand, f family, a *Matrix, da *DeviceMatrix, u, v *Vector, du, dv *DeviceVector) {
	alpha, beta := f.draw(b, r), f.draw(b, r)
	Ger(alpha, u, v, a, nil)
	must(t, DeviceGer(alpha, du, dv, da))
	wantArray(t, "Ger", da.arr, a.arr)
	c := f.matrix(b, r, a.rows, a.cols)
	dc := c.onDeviceMatrix(t, dev)
	GeAcc(alpha, a, beta, c, nil)
	must(t, DeviceGeAcc(alpha, da, beta, dc))
	wantArray(t, "GeAcc", dc.arr, c.arr)
	GeLRScale(u, a, v, nil)
	must(t, DeviceGeLRScale(du, da, dv))
	wantArray(t, "GeLRScale", da.arr, a.arr)
	long := b.NewArray(a.cols+1).Vector(0, a.cols+1, 1).onDevice(t, dev)
	func() {
		defer func() {
			if e := recover(); e != errShape {
				t.Errorf("GeLRScale with a long diagonal: %v", e)
			}
		}()
		_ = DeviceGeLRScale(du, da, long)
	}()
	wantArray(t, "GeLRScale that is refused", da.arr, a.arr)
}

func compareGemm(t *testing.T, dev *cuda.Device, b *Base, r *rand.Rand, f family) {
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
		dc := c.onDeviceMatrix(t, dev)
		Gemm(Transpose(tA), Transpose(tB), s[0], x, y, s[1], c, nil)
		must(t, DeviceGemm(Transpose(tA), Transpose(tB), s[0], x.onDeviceMatrix(t, dev), y.onDeviceMatrix(t, dev), s[1], dc))
		wantArray(t, fmt.Sprint("Gemm ", k), dc.arr, c.arr)
	}
}

func compareSparse(t *testing.T, dev *cuda.Device, b *Base, r *rand.Rand, f family, size int) {
	rows, cols := 1+size/4, 9
	pointers := []int{0}
	var indices []int32
	for range rows {
		for range r.IntN(5) {
			indices = append(indices, int32(r.IntN(cols)))
		}
		pointers = append(pointers, len(indices))
	}
	a, err := NewCSR(rows, cols, pointers, indices, f.vector(b, r, len(indices)))
	must(t, err)
	x, y := f.vector(b, r, cols), f.vector(b, r, rows)
	dy := y.onDevice(t, dev)
	da, err := a.toDevice(dev)
	must(t, err)
	SpMV(a, x, y, nil)
	must(t, DeviceSpMV(da, x.onDevice(t, dev), dy))
	wantArray(t, "SpMV", dy.arr, y.arr)
	da.Free()
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

// TestDeviceErrors checks what is refused.
func TestDeviceErrors(t *testing.T) {
	b, err := GemvBase(106)
	must(t, err)
	for _, name := range []string{"cpu", "cuda:", "cuda:x", "cuda:60000"} {
		if _, err := b.NewVector(3).To(name); !errors.Is(err, halfulp.ErrDevice) {
			t.Errorf("device %q: %v", name, err)
		}
	}
}

// TestDeviceTableFails: a table that does not fit leaves nothing behind, and a later try
// succeeds.
func TestDeviceTableFails(t *testing.T) {
	b, err := GemvBase(106)
	must(t, err)
	const tables, functions = 10, 9
	for _, c := range []struct {
		call  string
		code  cudadrv.Code
		times int
	}{{"MemAlloc", cudadrv.OutOfMemory, tables}, {"MemcpyHtoDAsync", cudadrv.InvalidValue, tables}, {"ModuleGetFunction", cudadrv.NotFound, functions}} {
		drv := &fake.Driver{}
		for _, name := range []string{
			"rnsSum", "rnsDot", "rnsTree", "rnsMap", "rnsPairs", "rnsRecursiveS", "rnsRecursiveP", "rnsPairwiseS", "rnsPairwiseP",
		} {
			drv.Kernel(name, func(*fake.Launch) {})
		}
		dev, err := cuda.OpenDriver(drv, 0)
		must(t, err)
		for i := range c.times {
			must(t, dev.Do(t.Context(), func(s *cuda.Stream) error { return s.Trim() })) // no memory in reserve
			drv.Fail(c.call, i, c.code)
			if c.code == cudadrv.OutOfMemory {
				drv.Fail(c.call, i, c.code) // it is tried twice
			}
			if _, err := b.NewArray(0).toDevice(dev); cudadrv.CodeOf(err) != c.code && !errors.Is(err, halfulp.ErrMemory) {
				t.Fatalf("%s %d fails: %v", c.call, i, err)
			}
			if used, live := dev.Counters().InUse, drv.Live(); used != 0 || live.Modules != 0 {
				t.Errorf("%s %d fails: %d bytes and %d modules are left", c.call, i, used, live.Modules)
			}
		}
		_, err = b.NewArray(0).toDevice(dev)
		must(t, err)
	}
}
