package gpu_test

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	. "github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance"
	_ "github.com/halfulp/halfulp/cuda"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/gputest"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/stats"
)

// onCPU keeps auto from choosing a GPU.
var onCPU = &Options{Device: "cpu"}

// must returns a value that came without an error.
func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

// ok stops a test at an error.
func ok(err error) {
	if err != nil {
		panic(err)
	}
}

// operands holds the operands of a routine on the host and their copies on a GPU.
type operands struct {
	format      Format
	at          Device
	alpha, beta Scalar
	a, b, c     *Matrix
	x, y        *Vector
	da, db, dc  *Matrix
	dx, dy      *Vector
}

// newOperands returns A n+20 x n, B n x n+10, C n+20 x n+10, x of n and y of n+20 entries, and
// copies of them at a place.
func newOperands(f Format, n int, at Device) *operands {
	o := &operands{format: f, a: gallery.Random(f, n+20, n, 3, 1), b: gallery.Random(f, n, n+10, 3, 2), c: gallery.Random(f, n+20, n+10, 3, 3),
		x: gallery.Random(f, n, 1, 3, 4).Col(0), y: gallery.Random(f, n+20, 1, 3, 5).Col(0)}
	o.da, o.db, o.dc = must(o.a.On(at)), must(o.b.On(at)), must(o.c.On(at))
	o.dx, o.dy = must(o.x.On(at)), must(o.y.On(at))
	o.at = o.dx.Device()
	return o
}

func (o *operands) free() {
	for _, d := range []interface{ Free() }{o.da, o.db, o.dc, o.dx, o.dy} {
		d.Free()
	}
}

// TestOnDevice compares the routines for resident operands with the host's, bit for bit.
func TestOnDevice(t *testing.T) {
	gputest.OnDevices(t, 12, 50, func(t *testing.T, size int) { checkOnDevice(t, size, "cuda:0", formatsOnDevice) })
}

var formatsOnDevice = []Format{Float32, Float64, DD, QD, MP(106), MP(424)}

// checkOnDevice is TestOnDevice at a place, with operands of some formats.
func checkOnDevice(t *testing.T, size int, at Device, formats []Format) {
	for _, f := range formats {
		o := newOperands(f, size, at)
		third := must(ParseScalar(MP(80), "0.33333"))
		scalars := []struct{ alpha, beta Scalar }{{Float(1), Float(0)}, {third, Float(1)}, {Float(-2), Float(0)}, {Float(1), third}, {Float(0), Float(2)}}
		if !testlength.Long() {
			scalars = scalars[:2]
		}
		for _, s := range scalars {
			o.alpha, o.beta = s.alpha, s.beta
			o.products(t)
			o.updates(t)
		}
		o.reductions(t)
		o.free()
	}
}

// check runs a routine on the host and on the GPU, with the same C and another result.
func (o *operands) check(t *testing.T, what string, h func(z *Matrix) error, d func(z *Matrix) error) {
	t.Helper()
	want := o.c.Clone()
	ok(h(want))
	if err := o.dc.CopyFrom(o.c); err != nil {
		t.Fatal(err)
	}
	ok(d(o.dc))
	if !must(o.dc.Host()).Same(want) {
		t.Errorf("%s of %v, alpha %v, beta %v: other bits than on the CPU", what, o.format, o.alpha, o.beta)
	}
}

func (o *operands) products(t *testing.T) {
	n := o.x.Len()
	al, be := o.alpha, o.beta
	o.check(t, "Gemm", func(z *Matrix) error { return Gemm(NoTrans, NoTrans, al, o.a, o.b, be, z, onCPU) },
		func(z *Matrix) error { return Gemm(NoTrans, NoTrans, al, o.da, o.db, be, z, nil) })
	o.check(t, "Gemm of views", func(z *Matrix) error {
		return GemmTo(Trans, Trans, al, o.b.Slice(0, n, 2, 12), o.a.Slice(3, 11, 0, n), be, z.Slice(0, 10, 2, 10), z.Slice(10, 20, 3, 11), onCPU)
	}, func(z *Matrix) error {
		return GemmTo(Trans, Trans, al, o.db.Slice(0, n, 2, 12), o.da.Slice(3, 11, 0, n), be, z.Slice(0, 10, 2, 10), z.Slice(10, 20, 3, 11), nil)
	})
	o.check(t, "Gemm within a matrix", func(z *Matrix) error {
		return Gemm(NoTrans, NoTrans, al, z.Slice(6, n, 0, 6), z.Slice(0, 6, 6, n), be, z.Slice(6, n, 6, n), onCPU)
	}, func(z *Matrix) error {
		return Gemm(NoTrans, NoTrans, al, z.Slice(6, n, 0, 6), z.Slice(0, 6, 6, n), be, z.Slice(6, n, 6, n), nil)
	})
	o.check(t, "Syrk", func(z *Matrix) error { return Syrk(Lower, Trans, al, o.a, be, z.Slice(0, n, 0, n), onCPU) },
		func(z *Matrix) error {
			return Syrk(Lower, Trans, al, o.da, be, z.Slice(0, n, 0, n), nil)
		})
	o.check(t, "Gemv", func(z *Matrix) error { return Gemv(NoTrans, al, o.a, o.x, be, z.Col(3), onCPU) },
		func(z *Matrix) error { return Gemv(NoTrans, al, o.da, o.dx, be, z.Col(3), nil) })
	o.check(t, "Gemv within a matrix", func(z *Matrix) error {
		return GemvTo(Trans, al, z.Slice(3, n, 1, 6), o.y.Slice(0, n-3), be, z.Col(0).Slice(0, 5), z.Row(2).Stride(-2).Slice(0, 5), onCPU)
	}, func(z *Matrix) error {
		return GemvTo(Trans, al, z.Slice(3, n, 1, 6), o.dy.Slice(0, n-3), be, z.Col(0).Slice(0, 5), z.Row(2).Stride(-2).Slice(0, 5), nil)
	})
	if o.beta.Float64() == 0 {
		o.check(t, "GemmTo without C", func(z *Matrix) error { return GemmTo(NoTrans, NoTrans, al, o.a, o.b, be, nil, z, onCPU) },
			func(z *Matrix) error {
				return GemmTo(NoTrans, NoTrans, al, o.da, o.db, be, nil, z, nil)
			})
		o.check(t, "GemvTo without y", func(z *Matrix) error { return GemvTo(NoTrans, al, o.a, o.x, be, nil, z.Col(1), onCPU) },
			func(z *Matrix) error {
				return GemvTo(NoTrans, al, o.da, o.dx, be, nil, z.Col(1), nil)
			})
	}
}

func (o *operands) updates(t *testing.T) {
	n, al := o.x.Len(), o.alpha
	o.check(t, "Axpy", func(z *Matrix) error { return Axpy(al, o.x, z.Row(2).Slice(3, n+3), onCPU) },
		func(z *Matrix) error { return Axpy(al, o.dx, z.Row(2).Slice(3, n+3), nil) })
	o.check(t, "Axpy within a vector", func(z *Matrix) error { return Axpy(al, z.Vec().Slice(1, n), z.Vec().Slice(2, n+1), onCPU) },
		func(z *Matrix) error {
			return Axpy(al, z.Vec().Slice(1, n), z.Vec().Slice(2, n+1), nil)
		})
	o.check(t, "Scal", func(z *Matrix) error { return Scal(al, z.Col(1).Stride(-3), onCPU) },
		func(z *Matrix) error { return Scal(al, z.Col(1).Stride(-3), nil) })
	o.check(t, "Ger", func(z *Matrix) error { return Ger(al, o.y, o.x, z.Slice(0, n+20, 4, n+4), onCPU) },
		func(z *Matrix) error { return Ger(al, o.dy, o.dx, z.Slice(0, n+20, 4, n+4), nil) })
	o.check(t, "Ger within a matrix", func(z *Matrix) error { return Ger(al, z.Row(1), z.Col(2), z.T(), onCPU) },
		func(z *Matrix) error { return Ger(al, z.Row(1), z.Col(2), z.T(), nil) })
}

func (o *operands) reductions(t *testing.T) {
	for _, v := range []struct {
		h *Vector
		d *Vector
	}{{o.x, o.dx}, {o.b.Row(1).Stride(-2), o.db.Row(1).Stride(-2)}, {o.x.Slice(1, 1), o.dx.Slice(1, 1)}} {
		want, err := Iamax(v.h, onCPU)
		if err != nil {
			t.Fatal(err)
		}
		var st Stats
		if got, err := Iamax(v.d, &Options{Stats: &st}); err != nil || got != want || st.Device != string(o.at) {
			t.Errorf("Iamax of %v: %d, want %d; %+v, %v", o.format, got, want, st, err)
		}
	}
	row, drow := o.b.Row(3).Stride(-1).Slice(0, o.x.Len()), o.db.Row(3).Stride(-1).Slice(0, o.x.Len())
	for _, f := range []Format{o.format, Float64, MP(90)} {
		for _, r := range []struct {
			name string
			h, d func(opt *Options) (Scalar, error)
		}{
			{"Sum", func(opt *Options) (Scalar, error) { return Sum(o.x, f, opt) }, func(opt *Options) (Scalar, error) { return Sum(o.dx, f, opt) }},
			{"Asum", func(opt *Options) (Scalar, error) { return Asum(row, f, opt) }, func(opt *Options) (Scalar, error) { return Asum(drow, f, opt) }},
			{"Dot", func(opt *Options) (Scalar, error) { return Dot(o.x, row, f, opt) }, func(opt *Options) (Scalar, error) { return Dot(o.dx, drow, f, opt) }},
			{"Mean", func(opt *Options) (Scalar, error) { return stats.Mean(row, f, opt) }, func(opt *Options) (Scalar, error) { return stats.Mean(drow, f, opt) }},
			{"StdDev", func(opt *Options) (Scalar, error) { return stats.StdDev(row, f, opt) }, func(opt *Options) (Scalar, error) { return stats.StdDev(drow, f, opt) }},
			{"Autocorr1", func(opt *Options) (Scalar, error) { return stats.Autocorr1(o.x, f, opt) }, func(opt *Options) (Scalar, error) { return stats.Autocorr1(o.dx, f, opt) }},
			{"Nrm2", func(opt *Options) (Scalar, error) { return Nrm2(row, f, opt) }, func(opt *Options) (Scalar, error) { return Nrm2(drow, f, opt) }},
		} {
			want, err := r.h(onCPU)
			if err != nil {
				t.Fatal(err)
			}
			var st Stats
			got, err := r.d(&Options{Stats: &st})
			if err != nil || !got.Same(want) || st.Device != string(o.at) {
				t.Errorf("%s of %v to %v: %v, want %v; %+v, %v", r.name, o.format, f, got, want, st, err)
			}
		}
	}
}

// TestNewMatrices compares the routines that return new matrices with the host's, for operands of a
// GPU: the result lives there.
func TestNewMatrices(t *testing.T) {
	devs, _ := gputest.References(t, 1)
	defer mem.Substitute(devs...)()
	for name, of := range map[string]func(a, b *Matrix, f Format, opt *Options) (*Matrix, error){"Add": Add, "Sub": Sub, "Mul": Mul} {
		for _, f := range []Format{Float64, MP(90), DD} {
			a, b := gallery.Random(f, 5, 5, 9, 1), gallery.Random(Float64, 5, 5, 9, 2)
			want := must(of(a, b, f, onCPU))
			got := must(of(must(a.On("cuda:0")).T(), must(b.On("cuda:0")).T(), f, nil))
			if name == "Mul" {
				want = must(of(a.T(), b.T(), f, onCPU))
			} else {
				want = want.T()
			}
			if got.Device() != "cuda:0" || !must(got.Host()).Same(want) {
				t.Errorf("%s in %v: %v on %s, want %v", name, f, got, got.Device(), want)
			}
		}
	}
}

// TestSeveral compares products that several devices share with the host's, and checks what
// Options.Device asks for.
func TestSeveral(t *testing.T) {
	devs, _ := gputest.References(t, 3)
	defer mem.Substitute(devs...)()
	a, b := gallery.Random(Float64, 3, 4, 3, 1), gallery.Random(Float64, 4, 800, 3, 2)
	want := NewMatrix(Float64, 3, 800)
	ok(Gemm(NoTrans, NoTrans, Float(1), a, b, Float(0), want, onCPU))
	for device, ran := range map[Device]string{
		"cuda:0,1,2": "cuda:0,1,2", "cuda:0-2": "cuda:0,1,2", "cuda:all": "cuda:0,1,2", "cuda:2,0-1": "cuda:0,1,2",
		"cuda:1-2": "cuda:1,2", "cuda:2,0": "cuda:0,2", "cuda:1": "cuda:1", "cuda:1-1": "cuda:1",
	} {
		if testing.Short() && len(device) != len("cuda:all") {
			continue
		}
		var done float64
		opt := &Options{Device: device, Progress: func(d float64) { done = d }}
		c := NewMatrix(Float64, 3, 800)
		var st Stats
		ok(Gemm(NoTrans, NoTrans, Float(1), a, b, Float(0), c, opt.WithStats(&st)))
		if !c.Same(want) || st.Device != ran || done != 1 {
			t.Errorf("%s: on %s, %g done; the same bits: %v", device, st.Device, done, c.Same(want))
		}
		c = NewMatrix(Float64, 800, 3)
		ok(Gemm(Trans, Trans, Float(1), b, a, Float(0), c, opt))
		if !c.T().Same(want) {
			t.Errorf("%s: other bits of the transpose", device)
		}
		// The first one runs the rest.
		first := string(device[:len("cuda:0")])
		if device == "cuda:all" {
			first = "cuda:0"
		}
		done = 0
		s, err := Sum(b.Vec(), Float64, opt.WithStats(&st))
		plain, _ := Sum(b.Vec(), Float64, onCPU)
		if err != nil || !s.Same(plain) || st.Device != first || done != 1 {
			t.Errorf("%s: Sum on %s, %g done: %v", device, st.Device, done, err)
		}
	}
	for device, text := range map[Device]string{
		"cuda:0,3": "cuda:3", "cuda:0-3": "cuda:3", "cuda:0,0": "want", "cuda:0-1,1": "want", "cuda:": "want", "cuda:,": "want", "cuda:1-0": "want",
		"cuda:0,": "want", "cuda:-": "want", "cuda:0-1-2": "want", "cuda:all,0": "want", "cuda:+1": "want", "cuda:99999999": "want",
	} {
		c := NewMatrix(Float64, 3, 800)
		err := Gemm(NoTrans, NoTrans, Float(1), a, b, Float(0), c, &Options{Device: device})
		_, errSum := Sum(b.Vec(), Float64, &Options{Device: device})
		for _, err := range []error{err, errSum} {
			if !errors.Is(err, ErrDevice) || !strings.Contains(err.Error(), text) {
				t.Errorf("%s: %v", device, err)
			}
		}
	}
}

// TestDevicePrepare multiplies by a prepared resident matrix, changes it and frees it.
func TestDevicePrepare(t *testing.T) {
	gputest.OnDevices(t, 12, 50, func(t *testing.T, size int) {
		for _, f := range []Format{Float64, MP(212)} {
			o := newOperands(f, size, "cuda:0")
			o.alpha, o.beta = Float(1), Float(0)
			for range 3 {
				Prepare(o.da)
				Prepare(o.db.T())
				o.products(t)
				o.a, o.b = gallery.Random(f, size+20, size, 2, 7), gallery.Random(f, size, size+10, 3, 8)
				if err := errors.Join(o.da.CopyFrom(o.a), o.db.T().CopyFrom(o.b.T())); err != nil {
					t.Fatal(err)
				}
			}
			o.free()
			if text := func() (text any) {
				defer func() { text = recover() }()
				Prepare(o.da)
				return nil
			}(); text != "halfulp: use of a matrix or vector after Free" {
				t.Error(text)
			}
		}
	})
}

// TestPrepare multiplies by a prepared matrix of the host on a GPU, where it keeps a copy until it
// is garbage.
func TestPrepare(t *testing.T) {
	devs, drivers := gputest.References(t, 2)
	defer mem.Substitute(devs...)()
	x := gallery.Random(MP(106), 7, 5, 3, 1)
	uploads := func() (n int) {
		for _, drv := range drivers {
			for _, call := range drv.Calls() {
				if call == "MemcpyHtoDAsync" {
					n++
				}
			}
			drv.ForgetCalls()
		}
		return n
	}
	inUse := func() (n int64) { return devs[0].Counters().InUse + devs[1].Counters().InUse }
	multiply := func(a *Matrix, device Device) {
		n := 6
		if device == "cuda:0,1" { // two parts
			n = 520
		}
		for i, f := range []Format{MP(106), Float64} {
			b := gallery.Random(f, 5, n, 3, uint64(i))
			c, want := NewMatrix(f, 7, n), NewMatrix(f, 7, n)
			ok(Gemm(NoTrans, NoTrans, Float(1), x, b, Float(0), want, onCPU))
			var st Stats
			ok(Gemm(NoTrans, NoTrans, Float(1), a, b, Float(0), c, &Options{Device: device, Stats: &st}))
			if !c.Same(want) {
				t.Errorf("%s: other bits: %+v", device, st)
			}
			c, want = NewMatrix(f, n, 7), NewMatrix(f, n, 7)
			ok(Gemm(Trans, Trans, Float(1), b, x, Float(0), want, onCPU))
			ok(Gemm(Trans, Trans, Float(1), b, a, Float(0), c, &Options{Device: device}))
			if !c.Same(want) {
				t.Errorf("%s: other bits of the transpose", device)
			}
			c, want = NewMatrix(f, 5, 5), NewMatrix(f, 5, 5)
			ok(Syrk(Upper, Trans, Float(1), x, Float(0), want, onCPU))
			ok(Syrk(Upper, Trans, Float(1), a, Float(0), c, &Options{Device: device}))
			if !c.Same(want) {
				t.Errorf("%s: other bits of the square", device)
			}
		}
	}
	multiply(x, "cuda:0")
	multiply(x, "cuda:0,1")
	uploads()
	multiply(x, "cuda:0")
	plain := uploads()
	before := inUse()
	for _, device := range []Device{"cuda:0", "cuda:0,1"} {
		func() {
			a := Prepare(x)
			multiply(a, device)
			uploads()
			multiply(a, device)
			// Three planes of the copy for each of six products.
			if n := uploads(); device == "cuda:0" && n > plain-3*6 {
				t.Errorf("%d uploads, %d without preparation", n, plain)
			}
			if n := inUse(); n <= before+64<<10 { // but constants of bases
				t.Errorf("nothing is kept: %d bytes in use, %d before", n, before)
			}
			runtime.KeepAlive(a)
		}()
		for deadline := time.Now().Add(2 * time.Minute); inUse() > before+64<<10; time.Sleep(time.Millisecond) {
			if runtime.GC(); time.Now().After(deadline) {
				t.Fatalf("%s: %d bytes in use, %d before", device, inUse(), before)
			}
		}
	}
}

// conjugateGradients improves x until the residual r has shrunk a million million times, and
// returns the number of steps, where its operands live. p and q have the length of r, r = p = b - A
// x at the beginning.
func conjugateGradients(f Format, a *Matrix, x, r, p, q *Vector) int {
	dot := func(x, y *Vector) *big.Float {
		s, err := Dot(x, y, f, onCPU)
		return must(s, err).Big()
	}
	ratio := func(x, y *big.Float) Scalar { return NewScalar(f, new(big.Float).SetPrec(uint(f.Bits())).Quo(x, y)) }
	rr := dot(r, r)
	end := new(big.Float).Mul(rr, big.NewFloat(1e-24))
	for step := 1; ; step++ {
		ok(Gemv(NoTrans, Float(1), a, p, Float(0), q, onCPU))
		alpha := ratio(rr, dot(p, q))
		ok(Axpy(alpha, p, x, onCPU))
		ok(Axpy(NewScalar(f, new(big.Float).Neg(alpha.Big())), q, r, onCPU))
		before := rr
		if rr = dot(r, r); rr.Cmp(end) <= 0 {
			return step
		}
		ok(Scal(ratio(rr, before), p, onCPU))
		ok(Axpy(Float(1), r, p, onCPU))
	}
}

// TestConjugateGradients solves a system of equations on the CPU and, with a resident matrix, on a
// GPU: the same steps, bit for bit.
func TestConjugateGradients(t *testing.T) {
	gputest.OnDevices(t, 12, 50, func(t *testing.T, size int) {
		f := MP(212)
		a := NewMatrix(f, size, size)
		b := gallery.Random(f, size, size, 0, 1)
		ok(Syrk(Upper, NoTrans, Float(1), b, Float(0), a, onCPU))
		for i := range size {
			a.SetFloat64(i, i, a.Float64(i, i)+1)
			for j := range i {
				a.Set(i, j, a.At(j, i))
			}
		}
		rhs := gallery.Random(f, size, 1, 0, 2).Col(0)
		x := NewVector(f, size)
		steps := conjugateGradients(f, a, x, rhs.Clone(), rhs.Clone(), NewVector(f, size))

		on := must(NewMatrixOn("cuda:0", f, size, size+4))
		defer on.Free()
		matrix, work := on.Slice(0, size, 0, size), on.Slice(0, size, size, size+4)
		if err := errors.Join(matrix.CopyFrom(a), work.Col(1).CopyFrom(rhs), work.Col(2).CopyFrom(rhs)); err != nil {
			t.Fatal(err)
		}
		got := conjugateGradients(f, matrix, work.Col(0), work.Col(1), work.Col(2), work.Col(3))
		if z := must(work.Col(0).Host()); got != steps || !z.Same(x) {
			t.Errorf("%d steps on the GPU, %d on the CPU; the same bits: %v", got, steps, z.Same(x))
		}
		ok(Gemv(NoTrans, Float(-1), a, x, Float(1), rhs, onCPU))
		if s, err := Nrm2(rhs, Float64, onCPU); err != nil || s.Float64() > 1e-11 || steps > 3*size {
			t.Errorf("residual %v after %d steps: %v", s, steps, err)
		}
	})
}

// TestCycles creates, computes and frees many times: the memory in use does not grow, neither on
// the GPU nor on the host. The GPU's free memory is compared under HALFULP_WANT_GPU alone: other
// processes may use it.
func TestCycles(t *testing.T) {
	t.Run("reference", func(t *testing.T) {
		devs, drivers := gputest.References(t, 1)
		defer mem.Substitute(devs...)()
		cycle(t, 3)
		cycle(t, 3)
		live, counters := drivers[0].Live(), devs[0].Counters()
		for range 50 {
			cycle(t, 3)
		}
		if l, c := drivers[0].Live(), devs[0].Counters(); l != live || c != counters {
			t.Errorf("%+v after %+v\n%+v after %+v", l, live, c, counters)
		}
	})
	t.Run("device", func(t *testing.T) {
		dev := gputest.Machine(t)
		free := func() (n uint64) {
			err := dev.Do(t.Context(), func(s *cuda.Stream) (err error) {
				n, _, err = s.MemInfo()
				return err
			})
			return must(n, err)
		}
		for range 50 {
			cycle(t, 100)
		}
		before, heap, resident := free(), heapBytes(), residentBytes()
		for range 1000 {
			cycle(t, 100)
		}
		t.Logf("bytes before and after: GPU %d %d free, heap %d %d, process %d %d", before, free(), heap, heapBytes(), resident, residentBytes())
		if n := free(); n+1<<20 < before && os.Getenv("HALFULP_WANT_GPU") != "" {
			t.Errorf("%d bytes of the GPU's memory are free, %d before", n, before)
		}
		if n := heapBytes(); n > heap+4<<20 {
			t.Errorf("%d bytes on the heap, %d before", n, heap)
		}
		if n := residentBytes(); n > resident+64<<20 {
			t.Errorf("%d bytes of the host's memory, %d before", n, resident)
		}
	})
}

// cycle computes with operands of the host and of the GPU, and frees these.
func cycle(t *testing.T, n int) {
	f := MP(106)
	a, x := gallery.Random(f, n, n, 3, 1), gallery.Random(f, n, 1, 3, 2).Col(0)
	c := NewMatrix(f, n, n)
	onGPU := &Options{Device: "cuda:0"}
	ok(Gemm(NoTrans, Trans, Float(1), a, a, Float(0), c, onGPU))
	ok(Gemv(NoTrans, Float(1), a, x, Float(0), c.Col(0), onGPU))
	da, dc, dx := must(a.On("cuda:0")), must(NewMatrixOn("cuda:0", f, n, n)), must(x.On("cuda:0"))
	Prepare(da)
	for range 2 {
		ok(Gemm(NoTrans, NoTrans, Float(1), da, da, Float(0), dc, nil))
	}
	ok(Gemv(NoTrans, Float(1), da, dx, Float(0), dc.Col(0), nil))
	ok(Axpy(Float(3), dx, dc.Col(1), nil))
	_, err := Dot(dx, dc.Row(1), f, nil)
	must(must(dc.Host()), err)
	for _, d := range []interface{ Free() }{da, dc, dx} {
		d.Free()
	}
}

// heapBytes is what is in use on the heap.
func heapBytes() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// residentBytes is the memory of the process, 0 where the system does not tell it.
func residentBytes() (n int) {
	debug.FreeOSMemory() // what the heap has room for does not count
	var size, pages int
	if text, err := os.ReadFile("/proc/self/statm"); err == nil {
		fmt.Sscan(string(text), &size, &pages)
	}
	return pages * os.Getpagesize()
}

// BenchmarkPrepare measures products of matrices of the host on a GPU, with and without
// preparation.
func BenchmarkPrepare(b *testing.B) {
	gputest.Machine(b)
	const n = 1000
	for _, f := range []Format{Float64, MP(212)} {
		a, x, c := gallery.Random(f, n, n, 0, 1), gallery.Random(f, n, n, 0, 2), NewMatrix(f, n, n)
		for _, m := range []struct {
			name string
			a    *Matrix
		}{{"none", a}, {"left", Prepare(a)}} {
			b.Run(fmt.Sprintf("%v/%s", f, m.name), func(b *testing.B) {
				for b.Loop() {
					ok(Gemm(NoTrans, NoTrans, Float(1), m.a, x, Float(0), c, &Options{Device: "cuda:0"}))
				}
			})
		}
	}
}

// TestConformance runs some trials of the conformance suite on fake devices, with operands of the
// host on one and on two, and with resident ones.
func TestConformance(t *testing.T) {
	// Of one driver: eigen keeps matrices on both.
	devs, _ := gputest.Linked(t, 2)
	defer mem.Substitute(devs...)()
	every := testlength.Of(900, 700, 100)
	for _, b := range []conformance.Backend{conformance.CUDA(0), conformance.CUDA(0, 1), conformance.Resident(0)} {
		t.Run(b.Name, func(t *testing.T) { conformance.RunSome(t, b, every) })
	}
}

// TestConformanceParts is TestConformance for operands that live on several devices in parts.
func TestConformanceParts(t *testing.T) {
	devs, _ := gputest.Linked(t, 3)
	defer mem.Substitute(devs...)()
	every := testlength.Of(900, 700, 100)
	backends := []conformance.Backend{conformance.Resident(0, 1, 2), conformance.Resident(0, 1)}
	if testing.Short() {
		backends = backends[:1]
	}
	for _, b := range backends {
		t.Run(b.Name, func(t *testing.T) { conformance.RunSome(t, b, every) })
	}
}

// TestMethodResidue: where residues do not reach, neither on the GPU nor on the CPU, the method
// residue is refused and auto takes another.
func TestMethodResidue(t *testing.T) {
	gputest.OnDevices(t, 12, 50, func(t *testing.T, n int) {
		a, c := gallery.Random(Float64, n, n, 0, 1), NewMatrix(Float64, n, n)
		da, dc := must(a.On("cuda:0")), must(c.On("cuda:0"))
		defer da.Free()
		defer dc.Free()
		for _, x := range []struct {
			alpha  Scalar
			method Method
			want   error
		}{
			{Float(math.Inf(1)), "residue", ErrMethod},
			{Float(math.NaN()), "residue", ErrMethod},
			{Float(math.Inf(1)), "auto", nil},
			{Float(2), "residue", nil},
			{Float(0), "residue", nil},
			{Float(2), "direct", ErrMethod},
		} {
			opt := &Options{Device: "cuda:0", Method: x.method}
			err := Gemm(NoTrans, Trans, x.alpha, a, a, Float(0), c, opt)
			derr := Gemm(NoTrans, Trans, x.alpha, da, da, Float(0), dc, opt)
			if !errors.Is(err, x.want) || !errors.Is(derr, x.want) {
				t.Errorf("%v A A, %s: errors %v and %v, want %v", x.alpha, x.method, err, derr, x.want)
			}
		}
	})
}

// TestTraceReference sums diagonals of matrices that live on a device, and on several in parts.
func TestTraceReference(t *testing.T) {
	devs, _ := gputest.Linked(t, 3)
	defer mem.Substitute(devs...)()
	for _, f := range []Format{Float64, DD, MP(150)} {
		a := gallery.Random(f, 9, 11, 20, 5)
		for _, name := range []Device{"cuda:0", "cuda:0-2"} {
			d, err := a.On(name)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range [][4]int{{0, 9, 0, 9}, {0, 9, 2, 11}, {3, 9, 1, 7}, {2, 2, 5, 5}} {
				for _, transposed := range []bool{false, true} {
					x, y := a.Slice(s[0], s[1], s[2], s[3]), d.Slice(s[0], s[1], s[2], s[3])
					if transposed {
						x, y = x.T(), y.T()
					}
					want, err := Trace(x, MP(90), nil)
					if err != nil {
						t.Fatal(err)
					}
					if z, err := Trace(y, MP(90), nil); err != nil || !z.Same(want) {
						t.Errorf("%v, %s, %v: %v, %v, want %v", f, name, s, z, err, want)
					}
				}
			}
			d.Free()
		}
	}
}
