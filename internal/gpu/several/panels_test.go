package several_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	. "github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/cudadrv"
	"github.com/halfulp/halfulp/internal/cudadrv/fake"
	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/gpu/gputest"
	"github.com/halfulp/halfulp/internal/residue"
)

// inner is the least number of columns of A whose panels come to three fake GPUs while these
// compute, and some more.
const inner = 3*4*128 + 30

// TestPanels has factors whose panels come while GPUs compute: numbers far apart in one panel
// alone, zeros, infinities, numbers too far apart for residues, results that cancel, old entries.
func TestPanels(t *testing.T) {
	on(t, 3, func(_ []*cuda.Device, drv *fake.Driver) {
		drv.ForgetCalls()
		checkPanels(t, 10, 9, "cuda:0-2", "cuda:1,0")
		if !slices.Contains(drv.Calls(), "StreamCreate") {
			t.Error("no panels came on streams of their own")
		}
	})
}

// TestDevicePanels is TestPanels on the machine's GPUs.
func TestDevicePanels(t *testing.T) {
	gputest.Machine(t)
	if m, err := NewMatrixOn("cuda:0,1", Float64, 2, 2); err != nil {
		t.Skip("no two GPUs:", err)
	} else {
		m.Free()
	}
	checkPanels(t, 300, 1100, "cuda:0,1", "cuda:1,0")
}

func checkPanels(t *testing.T, m, n int, devices ...Device) {
	for k, f := range []Format{DD, MP(150)} {
		device := devices[k%2]
		a, b := gallery.Random(f, m, inner, 3, 1), gallery.Random(f, inner, n, 3, 2)
		c := gallery.Random(f, m, n, 3, 3)
		set := func(i int, from, to int, x float64) {
			for h := from; h < to; h++ {
				a.SetFloat64(i, h, x)
			}
		}
		set(1, 0, inner, 0)             // a row of zeros
		set(2, 0, 1400, 0)              // numbers in the last panel alone
		set(3, 700, inner, 0)           // in the first
		set(4, 900, 901, math.Inf(1))   // an infinity
		a.SetFloat64(5, 1500, 0x1p100)  // one far above the others
		a.SetFloat64(6, 1, 0x1p-100)    // one far below
		a.SetFloat64(7, inner-1, 1e-30) // at the end
		for h := range inner / 2 {      // a sum that cancels, but for one product
			a.Set(8, inner-1-h, a.At(8, h))
			for j := range n {
				b.Set(inner-1-h, j, b.At(h, j).Neg())
			}
		}
		da, db := must(a.On(device)), must(b.On(device))
		for i, beta := range []float64{0, -1.5} {
			want, dc := c.Clone(), must(c.On(device))
			ok(Gemm(NoTrans, NoTrans, Float(3), a, b, Float(beta), want, onCPU))
			x, y, z := da, db, dc
			if i == 1 { // by rows
				x, y, z = db.T(), da.T(), dc.T()
			}
			var st Stats
			ok(Gemm(NoTrans, NoTrans, Float(3), x, y, Float(beta), z, &Options{Stats: &st}))
			if st.Exact == 0 {
				t.Errorf("%v, beta %g: no exact pass, which takes the matrix", f, beta)
			}
			if want := map[Device]string{"cuda:0-2": "cuda:0,1,2"}[device]; st.Device != cmp.Or(want, "cuda:0,1") {
				t.Errorf("%v, beta %g: on %s", f, beta, st.Device)
			}
			if !must(dc.Host()).Same(want) {
				t.Errorf("%v, beta %g: other bits than on the CPU", f, beta)
			}
			dc.Free()
		}
		da.Free()
		db.Free()
	}
}

// integers returns a matrix of integers below 2^10, and what is known of its vectors, rows or
// columns.
func integers(m, n int, ofRows bool, seed uint64) (*Matrix, *residue.Vectors) {
	rng := rand.New(rand.NewPCG(seed, 1))
	x := NewMatrix(MP(30), m, n)
	for j := range n {
		for i := range m {
			x.SetFloat64(i, j, float64(rng.IntN(2047)-1023))
		}
	}
	count, length := n, m
	if ofRows {
		count, length = m, n
	}
	v := &residue.Vectors{Top: make([]int64, count), Norm: float64(length), Width: 10}
	for i := range v.Top {
		v.Top[i] = 10
	}
	return x, v
}

// TestPanelsKnown has products of which enough is known: panels come without a look at them, all,
// or those that a triangle wants. Where too little is known GPUs look at the whole matrix.
func TestPanelsKnown(t *testing.T) {
	on(t, 3, func(_ []*cuda.Device, drv *fake.Driver) {
		looked := false
		drv.Kernel("scanPanel", func(*fake.Launch, abi.Panels, abi.Vectors, int32) { looked = true })
		const k = 3 * 4 * 128
		for trial, c := range []struct {
			triangle byte
			factors  [2]byte
			m, n     int
			known    bool
			alpha    float64
		}{
			{0, [2]byte{}, 7, 5, true, -2},
			{0, [2]byte{}, 7, 5, false, 1},
			{0, [2]byte{}, 7, 5, true, 3}, // which GPUs do not compute without a look at factors
			{'L', [2]byte{}, 9, 9, true, 1},
			{0, [2]byte{0, 'L'}, 2, k, true, 1}, // what comes behind columns of B
			{0, [2]byte{0, 'U'}, 2, k, true, 1}, // or before
		} {
			if testing.Short() && c.factors[1] == 'U' {
				continue
			}
			a, rows := integers(c.m, k, true, 1)
			b, cols := integers(k, c.n, false, 2)
			for j := range c.n {
				for i := range k {
					if c.factors[1] == 'U' && i > j || c.factors[1] == 'L' && i < j {
						b.SetFloat64(i, j, 0)
					}
				}
			}
			if !c.known {
				rows, cols = nil, nil
			}
			want := NewMatrix(MP(40), c.m, c.n)
			must(gemmTriangle(c.alpha, a, b, 0, want, want, c.triangle, c.factors, nil, onCPU))
			device := Device([]string{"cuda:0-2", "cuda:1,0,2"}[trial%2])
			da, db := must(a.On(device)), must(b.On(device))
			dc, tally := must(NewMatrixOn(device, MP(40), c.m, c.n)), must(NewMatrixOn(device, Float64, 1, 1))
			bound := &residue.Bound{Rows: make([]int64, c.m), Cols: make([]int64, c.n), Within: 60, A: rows, B: cols, Tally: tally.View().Arr}
			for i := range bound.Rows {
				bound.Rows[i] = 33
			}
			drv.ForgetCalls()
			must(gemmTriangle(c.alpha, da, db, 0, dc, dc, c.triangle, c.factors, bound, &Options{}))
			// Streams for panels are kept.
			if slices.Contains(drv.Calls(), "StreamCreate") != (trial == 0) {
				t.Errorf("trial %d: streams %v", trial, drv.Calls())
			}
			if !must(dc.Host()).Same(want) {
				t.Errorf("trial %d: other bits than on the CPU", trial)
			}
			for _, m := range []*Matrix{da, db, dc, tally} {
				m.Free()
			}
		}
		if looked {
			t.Error("GPUs looked at panels of which enough was known")
		}
	})
}

// TestPanelsOnHost multiplies by a factor with one panel of much larger and smaller numbers than
// the others, and by a scalar for which the host computes the product. The host gets the whole
// factor.
func TestPanelsOnHost(t *testing.T) {
	on(t, 2, func([]*cuda.Device, *fake.Driver) {
		f := MP(60)
		a, b := gallery.Random(f, 2, inner, 3, 1), gallery.Random(f, inner, 3, 3, 2)
		a.Set(0, 1300, must(ParseScalar(f, "1e3000")))
		a.Set(1, 200, must(ParseScalar(f, "1e-3000")))
		da, db, dc := must(a.On("cuda:0,1")), must(b.On("cuda:0,1")), must(NewMatrixOn("cuda:0,1", f, 2, 3))
		for device, alpha := range map[string]Scalar{"cuda:0,1": Float(1), "cpu": must(ParseScalar(MP(100000), "0.1"))} {
			want := NewMatrix(f, 2, 3)
			ok(Gemm(NoTrans, NoTrans, alpha, a, b, Float(0), want, onCPU))
			var st Stats
			ok(Gemm(NoTrans, NoTrans, alpha, da, db, Float(0), dc, &Options{Stats: &st}))
			if st.Device != device {
				t.Errorf("on %s, want %s", st.Device, device)
			}
			if !must(dc.Host()).Same(want) {
				t.Errorf("%s: other bits than on the CPU", device)
			}
		}
	})
}

// countdown is a context that is cancelled when it was asked so often.
type countdown struct {
	context.Context
	cancel func()
	left   atomic.Int64
}

func (c *countdown) Err() error {
	if c.left.Add(-1) < 0 {
		c.cancel()
	}
	return c.Context.Err()
}

// TestPanelsFail lets memory, and the copies between GPUs, fail while panels come, and cancels
// products: all memory is given back, and operands remain.
func TestPanelsFail(t *testing.T) {
	on(t, 2, func(devs []*cuda.Device, drv *fake.Driver) {
		const n, inner = 4, 2*4*128 + 10
		a, b := gallery.Random(Float64, n, inner, 3, 1), gallery.Random(Float64, inner, n, 3, 2)
		da, db, dc := must(a.On("cuda:0-1")), must(b.On("cuda:0-1")), must(NewMatrixOn("cuda:0-1", Float64, n, n))
		run := func(ctx context.Context) error {
			err := Gemm(NoTrans, NoTrans, Float(1), da, db, Float(0), dc, &Options{Context: ctx})
			return err
		}
		if err := run(t.Context()); err != nil { // which keeps its constants
			t.Fatal(err)
		}
		// GPUs meet, by events of theirs, and copies have some
		ok(Gemm(NoTrans, Trans, Float(1), da, da, Float(0), dc, nil))
		must(da.Host())
		inUse := func() string {
			return fmt.Sprint(devs[0].Counters().InUse, devs[1].Counters().InUse, drv.Live().Events, drv.Live().Streams)
		}
		was := inUse()
		check := func(what string, err, want error) {
			t.Helper()
			if !errors.Is(err, want) {
				t.Fatalf("%s: %v", what, err)
			}
			if got := inUse(); got != was {
				t.Fatalf("%s: %s in use, %s before", what, got, was)
			}
			if !must(da.Host()).Same(a) {
				t.Fatalf("%s: a factor has changed", what)
			}
		}
		for after := range 16 {
			ctx, cancel := context.WithCancel(t.Context())
			c := &countdown{Context: ctx, cancel: cancel}
			c.left.Store(int64(after))
			if err := run(c); err != nil {
				check(fmt.Sprint("cancelled after ", after), err, context.Canceled)
			}
			cancel()
		}
		failed := 0
		for after := range 16 {
			for _, d := range devs { // so that memory comes from the driver
				if err := d.Do(t.Context(), (*cuda.Stream).Trim); err != nil {
					t.Fatal(err)
				}
			}
			for range 3 { // the pool tries again, and another GPU may have what was to fail
				drv.Fail("MemAlloc", after, cudadrv.OutOfMemory)
			}
			if err := run(t.Context()); err != nil {
				failed++
				check(fmt.Sprint("allocation ", after), err, ErrMemory)
			}
		}
		if failed < 5 {
			t.Errorf("%d allocations failed", failed)
		}
	})
}

// TestPanelsDropKept lets memory fail while panels are looked at: copies that are kept make room.
func TestPanelsDropKept(t *testing.T) {
	on(t, 2, func(devs []*cuda.Device, drv *fake.Driver) {
		const n, inner = 4, 2*4*128 + 10
		a, b := gallery.Random(Float64, n, inner, 3, 1), gallery.Random(Float64, inner, n, 3, 2)
		want, other := NewMatrix(Float64, n, n), gallery.Random(Float64, 20, 20, 3, 3)
		ok(Gemm(NoTrans, NoTrans, Float(1), a, b, Float(0), want, onCPU))
		da, db, dc := must(a.On("cuda:0-1")), must(b.On("cuda:0-1")), must(NewMatrixOn("cuda:0-1", Float64, n, n))
		dm, dy := must(other.On("cuda:0-1")), must(other.On("cuda:0-1"))
		// run has copies of M that are kept, and then a product that does without some memory.
		run := func(after int) error {
			ok(Gemv(NoTrans, Float(1), dm, dm.Col(1), Float(0), dy.Col(1), nil))
			for _, d := range devs { // so that memory comes from the driver
				if err := d.Do(t.Context(), (*cuda.Stream).Trim); err != nil {
					t.Fatal(err)
				}
			}
			if after >= 0 {
				for range 2 { // the pool tries again
					drv.Fail("MemAlloc", after, cudadrv.OutOfMemory)
				}
			}
			err := Gemm(NoTrans, NoTrans, Float(1), da, db, Float(0), dc, nil)
			return err
		}
		if err := run(-1); err != nil { // which keeps its constants
			t.Fatal(err)
		}
		// what A comes to, and the records of its panels, on each GPU
		for after := range 4 {
			if err := run(after); err != nil {
				t.Errorf("allocation %d: %v", after, err)
			} else if !must(dc.Host()).Same(want) {
				t.Errorf("allocation %d: other bits than on the CPU", after)
			}
		}
	})
}
