package halfulp

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/cudadrv"
	"github.com/halfulp/halfulp/internal/cudadrv/fake"
	"github.com/halfulp/halfulp/internal/direct"
	"github.com/halfulp/halfulp/internal/gpu/backend"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/product"
	"github.com/halfulp/halfulp/internal/residue"
	"github.com/halfulp/halfulp/internal/testseed"
)

func TestAutoWithoutGPU(t *testing.T) {
	skipWithGPU(t)
	// A product of 2^60 multiply-adds: only its shape exists.
	a := NewMatrix(Float64, 0, 0).m
	a.Rows, a.Cols = 1<<20, 1<<20
	if _, ok := new(place.Product).Estimate(&product.Problem{A: a, B: a, C: a}, time.Hour); ok {
		t.Error("a GPU is chosen where there is none")
	}
}

// TestAutoLeaves lets auto choose a GPU with too little memory: the routine runs on the CPU.
func TestAutoLeaves(t *testing.T) {
	dev, err := cuda.OpenDriver(&fake.Driver{TotalMemory: 1 << 10}, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer mem.Substitute(dev)()
	opt := &Options{Threads: 1}
	x := uniformVector(MP(1696), 20000)
	if r, err := begin("Dot", opt, x.v.Arr); err != nil {
		t.Fatal(err)
	} else if r.choose(direct.EstimateProducts(1, x.Len(), x.v.Arr.Format, x.v.Arr.Format), vecBytes(x.v)); r.at != backend.At(dev) {
		t.Fatal("the GPU is not chosen")
	}
	want := must(Dot(x, x, Float64, onCPU))
	var st Stats
	if got := must(Dot(x, x, Float64, opt.WithStats(&st))); !got.Same(want) || st.Device != "cpu" {
		t.Errorf("Dot on %s: %v, want %v", st.Device, got, want)
	}
	want = must(Nrm2(x, Float64, onCPU))
	if got := must(Nrm2(x, Float64, opt.WithStats(&st))); !got.Same(want) || st.Device != "cpu" {
		t.Errorf("Nrm2 on %s: %v, want %v", st.Device, got, want)
	}
	a, b, c := randomMatrix(MP(424), 70, 70, 3, 1), randomMatrix(MP(424), 70, 70, 3, 2), randomMatrix(MP(424), 70, 70, 3, 3)
	onHost, _ := residue.Estimate(1, 70, 70, 70, a.m.Arr.Format, b.m.Arr.Format, c.m.Arr.Format, [2]bool{})
	if _, ok := new(place.Product).Estimate(&product.Problem{A: a.m, B: b.m, C: c.m}, onHost); !ok {
		t.Fatal("the GPU is not chosen for a product of matrices")
	}
	d := c.Clone()
	ok(Gemm(NoTrans, Trans, Float(3), a, b, Float(-1), c, onCPU))
	ok(Gemm(NoTrans, Trans, Float(3), a, b, Float(-1), d, opt.WithStats(&st)))
	if !d.Same(c) || st.Device != "cpu" {
		t.Errorf("wrong product on %s", st.Device)
	}
	big, u := randomMatrix(MP(1696), 70, 2000, 3, 1), uniformVector(MP(1696), 2000)
	v, y := NewVector(MP(424), 70), NewVector(MP(424), 70)
	ok(Gemv(NoTrans, Float(1), big, u, Float(0), v, onCPU))
	ok(Gemv(NoTrans, Float(1), big, u, Float(0), y, opt.WithStats(&st)))
	if !y.Same(v) || st.Device != "cpu" {
		t.Errorf("Gemv: wrong product on %s", st.Device)
	}
}

// TestAutoFails lets auto choose a GPU that does not work: the routine runs on the CPU, and later
// ones do not try the GPU again.
func TestAutoFails(t *testing.T) {
	x := uniformVector(MP(1696), 20000)
	want := must(Dot(x, x, Float64, onCPU))
	for _, call := range []string{"ModuleLoadData", "MemAllocHost", "LaunchKernel"} {
		drv := new(fake.Driver)
		dev, err := cuda.OpenDriver(drv, 0)
		if err != nil {
			t.Fatal(err)
		}
		restore := mem.Substitute(dev)
		drv.Fail(call, 0, cudadrv.Unknown)
		var st Stats
		if got := must(Dot(x, x, Float64, &Options{Threads: 1, Stats: &st})); !got.Same(want) || st.Device != "cpu" {
			t.Errorf("%s fails: Dot on %s: %v, want %v", call, st.Device, got, want)
		}
		if !place.Unfit.Swap(false) {
			t.Errorf("%s fails: the GPU would be tried again", call)
		}
		restore()
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Dot(x, x, Float64, &Options{Threads: 1, Context: ctx}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v for a cancelled context", err)
	}
	// A method that does not apply is no fault of the GPU.
	if !place.HostInstead(context.Background(), fmt.Errorf("gemm: %w", ErrMethod)) || place.Unfit.Swap(false) {
		t.Error("the GPU would not be tried again after a method that does not apply")
	}
}

// TestDeviceAuto runs on a GPU: auto sends large products of matrices to it once it is open, but
// not small ones. Whether vectors go there depends on the machine.
func TestDeviceAuto(t *testing.T) {
	needGPU(t)
	if err := Device("cuda:0").Validate(); err != nil {
		t.Fatal(err)
	}
	x := uniformVector(MP(1696), 1<<16)
	var st Stats
	if _, err := Dot(x.Slice(0, 100), x.Slice(0, 100), Float64, &Options{Threads: 2, Stats: &st}); err != nil || st.Device != "cpu" {
		t.Errorf("Dot of 100 ran on %s: %v", st.Device, err)
	}
	want := must(Dot(x, x, Float64, onCPU))
	if z := must(Dot(x, x, Float64, &Options{Threads: 2, Stats: &st})); !z.Same(want) {
		t.Errorf("Dot on %s: %v, want %v", st.Device, z, want)
	}
	for _, c := range []struct {
		n      int
		device string
	}{{10, "cpu"}, {1200, "cuda:0"}} {
		f := MP(424)
		a, b := NewMatrix(f, c.n, c.n), NewMatrix(f, c.n, c.n)
		fillUniform(testseed.Rand(t, 1, 1), a.m.Arr)
		fillUniform(testseed.Rand(t, 1, 2), b.m.Arr)
		x, y := NewMatrix(f, c.n, c.n), NewMatrix(f, c.n, c.n)
		var st Stats
		err := Gemm(NoTrans, Trans, Float(1), a, b, Float(0), x, &Options{Threads: 2, Stats: &st})
		if err != nil {
			t.Fatal(err)
		}
		if st.Device != c.device {
			t.Errorf("n = %d ran on %s, want %s", c.n, st.Device, c.device)
		}
		if err := Gemm(NoTrans, Trans, Float(1), a, b, Float(0), y, &Options{Device: "cpu"}); err != nil {
			t.Fatal(err)
		}
		for i := range c.n * c.n {
			if !x.m.Arr.SameBits(i, y.m.Arr, i) {
				t.Fatalf("n = %d: entry %d differs", c.n, i)
			}
		}
	}
}
