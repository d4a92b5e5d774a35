package several_test

import (
	"errors"
	"fmt"
	"testing"

	. "github.com/halfulp/halfulp"
	_ "github.com/halfulp/halfulp/cuda"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/cudadrv"
	"github.com/halfulp/halfulp/internal/cudadrv/fake"
	"github.com/halfulp/halfulp/internal/gpu/gputest"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/gpu/several"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/product"
	"github.com/halfulp/halfulp/internal/residue"
)

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

// on runs f with fake GPUs.
func on(t *testing.T, n int, f func(devs []*cuda.Device, drv *fake.Driver)) {
	t.Helper()
	devs, drv := gputest.Linked(t, n)
	defer mem.Substitute(devs...)()
	f(devs, drv)
}

// TestShares has triangles that are shared out fairly, results that one GPU has, and results of few
// columns and of few rows, whose large factors are kept and change.
func TestShares(t *testing.T) {
	defer several.Balance(8)()
	on(t, 3, func(devs []*cuda.Device, _ *fake.Driver) {
		const n = 33
		for _, device := range []Device{"cuda:0,1", "cuda:0-2"} {
			a, b, c := gallery.Random(MP(90), n, n, 3, 1), gallery.Random(MP(90), n, n, 3, 2), gallery.Random(MP(90), n, n, 3, 3)
			da, db, dc := must(a.On(device)), must(b.On(device)), must(c.On(device))
			for name, run := range map[string]func(a, b, c *Matrix, opt *Options) error{
				"syrk": func(a, _, c *Matrix, opt *Options) error {
					return Syrk(Lower, NoTrans, Float(2), a, Float(1), c, opt)
				},
				"upper": func(a, _, c *Matrix, opt *Options) error {
					return Syrk(Upper, Trans, Float(2), a, Float(0), c, opt)
				},
				"trmm": func(a, b, c *Matrix, opt *Options) error {
					return Trmm(Right, Upper, NoTrans, NonUnit, Float(1), a, c, opt)
				},
				"one GPU": func(a, b, c *Matrix, opt *Options) error {
					return Gemm(NoTrans, Trans, Float(1), a.Slice(0, n, 0, 9), b.Slice(0, 9, 0, 9), Float(3), c.Slice(0, n, 1, 10), opt)
				},
				"column": func(a, b, c *Matrix, opt *Options) error {
					return Gemm(NoTrans, NoTrans, Float(1), a, b.Slice(0, n, 3, 5), Float(1), c.Slice(0, n, 14, 16), opt)
				},
				"row": func(a, b, c *Matrix, opt *Options) error {
					return Gemm(NoTrans, NoTrans, Float(1), a.Slice(3, 4, 0, n), b, Float(0), c.Slice(2, 3, 0, n), opt)
				},
				"gemv": func(a, b, c *Matrix, opt *Options) error {
					return Gemv(NoTrans, Float(1), a, b.Row(2), Float(2), c.Col(12), opt)
				},
				"change": func(a, b, _ *Matrix, opt *Options) error {
					err := Scal(Float(3), a.Row(7), opt)
					if err != nil {
						return err
					}
					return Ger(Float(1), a.Col(1), b.Row(1), b, opt)
				},
			} {
				for range 2 { // the second time with what is kept
					done := 0.0
					progress := func(d float64) {
						if d < done {
							t.Errorf("%s: %g done after %g", name, d, done)
						}
						done = d
					}
					ok(run(a, b, c, onCPU))
					ok(run(da, db, dc, &Options{Progress: progress}))
					if done != 1 && name != "change" {
						t.Errorf("%s: %g done at the end", name, done)
					}
					for k, m := range []*Matrix{da, db, dc} {
						if !must(m.Host()).Same([]*Matrix{a, b, c}[k]) {
							t.Fatalf("%s, %s: other bits of operand %d than on the CPU", device, name, k)
						}
					}
				}
			}
			for _, m := range []*Matrix{da, db, dc} {
				m.Free()
			}
		}
	})
}

// TestMemory lets each allocation of a product fail: the error says so, the operands remain as they
// are, and all memory is given back.
func TestMemory(t *testing.T) {
	on(t, 2, func(devs []*cuda.Device, drv *fake.Driver) {
		const n = 20
		a := gallery.Random(Float64, n, n, 3, 1)
		da, dc := must(a.On("cuda:0-1")), must(a.On("cuda:0-1"))
		ok(Gemm(NoTrans, Trans, Float(1), da, da, Float(1), dc, nil)) // which keeps its constants
		inUse := func() string { return fmt.Sprint(devs[0].Counters().InUse, devs[1].Counters().InUse) }
		was := inUse()
		failed := 0
		for after := 0; ; after++ {
			for _, d := range devs { // so that memory comes from the driver
				if err := d.Do(t.Context(), (*cuda.Stream).Trim); err != nil {
					t.Fatal(err)
				}
			}
			drv.Fail("MemAlloc", after, cudadrv.OutOfMemory)
			drv.Fail("MemAlloc", after, cudadrv.OutOfMemory) // the pool tries again
			err := Gemm(NoTrans, Trans, Float(1), da, da, Float(1), dc, nil)
			if err == nil {
				break
			}
			failed++
			if !errors.Is(err, ErrMemory) {
				t.Fatalf("allocation %d: %v", after, err)
			}
			if got := inUse(); got != was {
				t.Fatalf("allocation %d: %s bytes in use, %s before", after, got, was)
			}
			if !must(da.Host()).Same(a) {
				t.Fatalf("allocation %d: a factor has changed", after)
			}
		}
		if failed < 5 {
			t.Errorf("%d allocations failed", failed)
		}
	})
}

// TestRoom has copies that are kept make room for others.
func TestRoom(t *testing.T) {
	on(t, 2, func(devs []*cuda.Device, drv *fake.Driver) {
		const n = 20
		a := gallery.Random(Float64, n, n, 3, 1)
		da, dc := must(a.On("cuda:0-1")), must(a.On("cuda:0-1"))
		ok(Gemm(NoTrans, Trans, Float(1), da, da, Float(0), dc, nil))
		ok(Gemv(NoTrans, Float(1), da, da.Col(1), Float(0), dc.Col(1), nil))
		ok(Scal(Float(1), da.Row(1), nil)) // drops its copies
		inUse := func() string { return fmt.Sprint(devs[0].Counters().InUse, devs[1].Counters().InUse) }
		was := inUse()
		ok(Gemv(NoTrans, Float(1), da, da.Col(1), Float(0), dc.Col(1), nil))
		if inUse() == was {
			t.Error("no copy is kept")
		}
		for _, d := range devs {
			if err := d.Do(t.Context(), (*cuda.Stream).Trim); err != nil {
				t.Fatal(err)
			}
		}
		drv.Fail("MemAlloc", 0, cudadrv.OutOfMemory)
		drv.Fail("MemAlloc", 0, cudadrv.OutOfMemory)
		ok(Gemm(NoTrans, Trans, Float(1), da, da, Float(0), dc, nil))
		if got := inUse(); got != was {
			t.Errorf("%s bytes in use, %s before", got, was)
		}
	})
}

// TestNoPeers has GPUs that do not reach each other's memory: the driver copies through the host.
func TestNoPeers(t *testing.T) {
	drv := &fake.Driver{Devices: 2, NoPeers: true}
	gputest.Kernels(t, drv)
	devs := []*cuda.Device{must(cuda.OpenDriver(drv, 0)), must(cuda.OpenDriver(drv, 1))}
	defer mem.Substitute(devs...)()
	a := gallery.Random(Float64, 9, 9, 3, 1)
	want := NewMatrix(Float64, 9, 9)
	ok(Gemm(NoTrans, NoTrans, Float(1), a, a, Float(0), want, onCPU))
	da, dc := must(a.On("cuda:0,1")), must(NewMatrixOn("cuda:0,1", Float64, 9, 9))
	ok(Gemm(NoTrans, NoTrans, Float(1), da, da, Float(0), dc, nil))
	if !must(dc.Host()).Same(want) {
		t.Error("other bits than on the CPU")
	}
}

// TestPlaces has names of places of several GPUs, and matrices with fewer columns than GPUs.
func TestPlaces(t *testing.T) {
	on(t, 3, func(devs []*cuda.Device, _ *fake.Driver) {
		for name, want := range map[Device]Device{"cuda:0-2": "cuda:0,1,2", "cuda:all": "cuda:0,1,2", "cuda:2,0": "cuda:2,0", "cuda:1-1": "cuda:1"} {
			m := must(NewMatrixOn(name, Float64, 2, 2))
			if m.Device() != want {
				t.Errorf("%s: %s", name, m.Device())
			}
		}
		if _, err := NewMatrixOn("cuda:1,3", Float64, 2, 2); !errors.Is(err, ErrDevice) {
			t.Errorf("a GPU that is not there: %v", err)
		}
		a, b := must(NewMatrixOn("cuda:0,1", Float64, 2, 2)), must(NewMatrixOn("cuda:1,0", Float64, 2, 2))
		if err := Gemm(NoTrans, NoTrans, Float(1), a, b, Float(0), a, nil); !errors.Is(err, ErrMixedDevices) {
			t.Errorf("two places: %v", err)
		}
		for _, shape := range [][2]int{{0, 0}, {0, 3}, {3, 0}, {1, 1}, {1, 2}, {2, 1}, {5, 2}, {2, 5}} {
			h := gallery.Random(MP(70), shape[0], shape[1], 3, 1)
			m := must(h.On("cuda:0-2"))
			if !must(m.Host()).Same(h) || !must(m.T().Host()).Same(h.T()) {
				t.Errorf("%v: other numbers", shape)
			}
			m.Free()
		}
	})
}

// TestHost has products of matrices of the host, which take the bus by parts.
func TestHost(t *testing.T) {
	defer several.Balance(8)()
	on(t, 3, func(devs []*cuda.Device, _ *fake.Driver) {
		a, b, c := gallery.Random(MP(90), 21, 30, 3, 1), gallery.Random(Float64, 30, 25, 3, 2), gallery.Random(DD, 21, 25, 3, 3)
		bt := b.T().Clone()
		for _, device := range []Device{"cuda:1,0", "cuda:0-2"} {
			for name, run := range map[string]func(d *Matrix, opt *Options) error{
				"plain": func(d *Matrix, opt *Options) error {
					return GemmTo(NoTrans, NoTrans, Float(1), a, b, Float(0), nil, d, opt)
				},
				"transposed": func(d *Matrix, opt *Options) error {
					return GemmTo(NoTrans, Trans, Float(1), a, bt, Float(2), c, d, opt)
				},
				"in place": func(d *Matrix, opt *Options) error {
					return Gemm(NoTrans, NoTrans, Float(3), a, b, Float(-1), d, opt)
				},
				"views": func(d *Matrix, opt *Options) error {
					return Gemm(Trans, Trans, Float(3), b.Slice(0, 30, 3, 24), a, Float(-1), d.T().Slice(2, 23, 0, 21), opt)
				},
			} {
				want, got := gallery.Random(MP(70), 21, 25, 3, 4), gallery.Random(MP(70), 21, 25, 3, 4)
				ok(run(want, onCPU))
				var st Stats
				ok(run(got, &Options{Device: device, Stats: &st}))
				if !got.Same(want) {
					t.Errorf("%s, %s: other bits than on the CPU", device, name)
				}
				if len(st.Stages) != 2 || st.Stages[1].Name != "product" {
					t.Errorf("%s, %s: %+v", device, name, st)
				}
			}
		}
	})
}

// gemmTriangle computes D = alpha A B + beta C within a triangle, or 0, for factors with zeros
// beyond triangles, or 0, and a bound that may be nil.
func gemmTriangle(alpha float64, a, b *Matrix, beta float64, c, d *Matrix, triangle byte, factors [2]byte, bound *residue.Bound, opt *Options) (residue.Stats, error) {
	s, err := opt.Settings()
	if err != nil {
		return residue.Stats{}, err
	}
	return s.Gemm(&place.Gemm{
		Problem: product.Problem{
			Alpha: Float(alpha).View(), A: a.View(), B: b.View(), Beta: Float(beta).View(), Old: c.View(), C: d.View(), Triangle: triangle, Bound: bound,
		},
		Factors: factors,
	})
}

// TestDeclined has a scalar that GPUs do not take: the host computes the product, with the old
// entries, of results that GPUs have, that they compute for each other, and of the host.
func TestDeclined(t *testing.T) {
	defer several.Balance(8)()
	on(t, 2, func([]*cuda.Device, *fake.Driver) {
		f := MP(60)
		alpha := must(ParseScalar(MP(100000), "0.1"))
		for _, shape := range [][2]int{{40, 2}, {2, 40}, {33, 33}, {0, 3}} {
			m, n := shape[0], shape[1]
			const inner = 5
			a, b, c := gallery.Random(f, m, inner, 3, 1), gallery.Random(f, inner, n, 3, 2), gallery.Random(f, m, n, 3, 3)
			for name, run := range map[string]func(a, b, c *Matrix, opt *Options) error{
				"gemm": func(a, b, c *Matrix, opt *Options) error {
					return Gemm(NoTrans, NoTrans, alpha, a, b, Float(2), c, opt)
				},
				"without": func(a, b, c *Matrix, opt *Options) error {
					return Gemm(NoTrans, NoTrans, alpha, a, b, Float(0), c, opt)
				},
				"transpose": func(a, b, c *Matrix, opt *Options) error {
					return Gemm(Trans, Trans, alpha, b, a, Float(2), c.T(), opt)
				},
				"syrk": func(a, _, c *Matrix, opt *Options) error {
					return Syrk(Lower, NoTrans, alpha, a, Float(2), c, opt)
				},
			} {
				if name == "syrk" && m != n {
					continue
				}
				want := c.Clone()
				ok(run(a, b, want, onCPU))
				for _, resident := range []bool{true, false} {
					x, y, z := a, b, c.Clone()
					if resident {
						x, y, z = must(a.On("cuda:0,1")), must(b.On("cuda:0,1")), must(c.On("cuda:0,1"))
					}
					done := 0.0
					var st Stats
					ok(run(x, y, z, &Options{Device: "cuda:0,1", Progress: func(share float64) {
						if share <= done {
							t.Errorf("%s, %v, resident %t: progress fell from %g to %g", name, shape, resident, done, share)
						}
						done = share
					}, Stats: &st}))
					if st.Device != "cpu" || done != 1 && len(st.Stages) > 0 {
						t.Errorf("%s, %v, resident %t: %+v, progress %g", name, shape, resident, st, done)
					}
					if !must(z.Host()).Same(want) {
						t.Errorf("%s, %v, resident %t: other bits than on the CPU", name, shape, resident)
					}
					for _, m := range []*Matrix{x, y, z} {
						m.Free()
					}
				}
			}
		}
	})
}
