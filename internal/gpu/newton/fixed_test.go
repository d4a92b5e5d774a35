package newton_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/cudadrv"
	"github.com/halfulp/halfulp/internal/cudadrv/fake"
	"github.com/halfulp/halfulp/internal/gpu/gputest"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/gpu/newton"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

// TestRefine compares what is told of residuals with exact ones, for matrices near diagonal ones
// and inverses of these, and for X that are no inverses at all.
func TestRefine(t *testing.T) {
	cases := []struct {
		n, prec, spread, k, words int
		planes                    []int
		bad                       bool // X has nothing to do with F
	}{
		{n: 1, prec: 53, k: 1, words: 3, planes: []int{2, 2, 1}},
		{n: 30, prec: 53, k: 2, words: 3, planes: []int{4, 3, 3, 2, 1}},
		{n: 41, prec: 300, spread: 60, k: 1, words: 6, planes: []int{7, 6, 6, 5, 5, 5, 4, 3, 2, 1}},
		{n: 133, prec: 106, spread: 20, k: 1, words: 4, planes: []int{5, 5, 4, 3, 2}},
		{n: 20, prec: 700, spread: 5, k: 3, words: 12, planes: []int{12, 12, 11, 9, 9, 8, 8}},
		{n: 25, prec: 100, k: 1, words: 3, planes: []int{4, 4, 4}, bad: true},
	}
	run := func(t *testing.T, devs ...*cuda.Device) {
		for _, c := range cases {
			if c.n < len(devs) {
				continue
			}
			name := fmt.Sprintf("%+v", c)
			rng := testseed.Rand(t, 3, uint64(c.n))
			f := gputest.RandomMat(rng, gputest.MP(c.prec), gputest.Spread, c.n, c.n)
			g := gputest.RandomMat(rng, gputest.MP(c.prec), gputest.Spread, c.n, c.k)
			x := num.Mat{Arr: num.New(num.Float64, c.n*c.n), RS: c.n, CS: 1, Rows: c.n, Cols: c.n}
			norm := 0.0
			for i := range c.n {
				for j := range c.n {
					f.Arr.Exp[f.At(i, j)] -= int32(rng.IntN(c.spread+1)) + 14 // small
					switch {
					case i == j:
						setBig(f.Arr, f.At(i, j), new(big.Float).SetPrec(2000).Sub(big.NewFloat(float64(2*(i%2)-1)/2), bigOf(f.Arr, f.At(i, j))))
					case rng.IntN(10) == 0:
						f.Arr.Set(f.At(i, j), num.Real{Neg: true})
					}
					if i == j || c.bad {
						v, _ := bigOf(f.Arr, f.At(i, i)).Float64()
						x.Arr.F64[0][x.At(i, j)] = 1 / v
					}
				}
				norm = max(norm, 4*float64(map[bool]int{true: c.n}[c.bad]+1))
			}
			of := place.Refinement{Top: 1, Words: c.words, Planes: c.planes, Scale: int(math.Ceil(math.Log2(norm))) + 11}
			for j := range c.k {
				of.Shift = append(of.Shift, int64(j))
			}
			lengths, got := refined(t, devs, of, f, x, g)
			exact := func(x *big.Float) *big.Float { return new(big.Float).SetPrec(6000).Set(x) }
			for j, list := range lengths {
				lost := exact(big.NewFloat(1))
				for k, planes := range c.planes {
					lost.Add(lost, big.NewFloat(1))
					lost.Add(lost, new(big.Float).SetMantExp(big.NewFloat(float64(c.n)), of.Scale+list[k]+int(of.Top)-7-64*planes))
				}
				bound := lost.Add(lost, new(big.Float).SetMantExp(big.NewFloat(1), list[len(c.planes)]))
				bound.SetMantExp(bound, j-64*c.words)
				for i := range c.n {
					r := exact(bigOf(g.Arr, g.At(i, j)))
					for k := range c.n {
						r.Sub(r, exact(bigOf(f.Arr, f.At(i, k))).Mul(exact(bigOf(f.Arr, f.At(i, k))), bigOf(got, j*c.n+k)))
					}
					if r.Abs(r).Cmp(bound) > 0 {
						t.Fatalf("%s: residual %d of column %d is %g, bound %g (%v)", name, i, j, r, bound, list)
					}
				}
				if first, last := list[0], list[len(c.planes)]; c.bad == (last < first-20) {
					t.Errorf("%s: lengths %v", name, list)
				}
			}
		}
	}
	t.Run("reference", func(t *testing.T) {
		run(t, gputest.NewtonReference(t, new(fake.Driver)))
		devs, _ := gputest.Linked(t, 3)
		run(t, devs[:2]...)
		run(t, devs...)
	})
	t.Run("emulated", func(t *testing.T) {
		t.Setenv(gputest.Emulate, "newton/fixed")
		devs, _ := gputest.Linked(t, 3)
		each := func() {
			run(t, devs[0])
			if testlength.Long() {
				run(t, devs[:2]...)
			}
			run(t, devs...)
		}
		each()
		defer newton.LongSlices()() // in which sums of products fill 64 bits
		each()
	})
	t.Run("device", func(t *testing.T) {
		dev := gputest.Machine(t)
		run(t, dev)
		defer newton.LongSlices()()
		run(t, dev)
	})
	t.Run("devices", func(t *testing.T) {
		devs := gputest.Machines(t)
		run(t, devs...)
		defer newton.LongSlices()()
		run(t, devs...)
	})
}

// dealt gives devices more and more columns of F and of X, and rows of G.
func dealt(t *testing.T, devs []*cuda.Device, of place.Refinement, f, x, g num.Mat) (shares []newton.Share, free func()) {
	t.Helper()
	n, count := g.Rows, len(devs)
	from := 0
	for d, dev := range devs {
		to := max(from+1, n*(d+1)*(d+1)/(count*count))
		share := newton.Share{Device: dev}
		if err := dev.Do(t.Context(), func(s *cuda.Stream) error {
			there := func(m num.Mat) (mem.Matrix, error) {
				a, err := mem.Upload(s, m.Arr)
				return mem.Matrix{Arr: a, Off: m.Off, RS: m.RS, CS: m.CS, Rows: m.Rows, Cols: m.Cols}, err
			}
			var errs [4]error
			share.F, errs[0] = there(f)
			share.X, errs[1] = there(x)
			share.G, errs[2] = there(g)
			share.F.Off, share.F.Cols = f.At(0, from), to-from
			share.X.Off, share.X.Cols = x.At(0, from), to-from
			share.G.Off, share.G.Rows = g.At(from, 0), to-from
			var z *mem.Array
			z, errs[3] = mem.NewArray(s, gputest.MP(64*(of.Words+2)), (to-from)*g.Cols)
			share.Z = mem.Matrix{Arr: z, RS: 1, CS: to - from, Rows: to - from, Cols: g.Cols}
			return errors.Join(errs[:]...)
		}); err != nil {
			t.Fatal(err)
		}
		shares = append(shares, share)
		from = to
	}
	return shares, func() {
		for _, s := range shares {
			for _, m := range []mem.Matrix{s.F, s.X, s.G, s.Z} {
				m.Arr.Free()
			}
		}
	}
}

// refined refines on one device, or on several.
func refined(t *testing.T, devs []*cuda.Device, of place.Refinement, f, x, g num.Mat) (lengths [][]int, all *num.Array) {
	t.Helper()
	shares, free := dealt(t, devs, of, f, x, g)
	defer free()
	var ok bool
	var err error
	if len(devs) > 1 {
		if linked, err := cuda.Linked(t.Context(), devs...); err != nil || !linked {
			t.Fatal(linked, err)
		}
		lengths, ok, err = newton.RefineTogether(t.Context(), of, shares)
	} else {
		err = devs[0].Do(t.Context(), func(s *cuda.Stream) (err error) {
			lengths, ok, err = newton.Refine(s, of, shares[0].F, shares[0].X, shares[0].G, shares[0].Z)
			return err
		})
	}
	if err != nil || !ok {
		t.Fatalf("%+v on %d: %v, %v", of, len(devs), ok, err)
	}
	all = num.New(gputest.MP(64*(of.Words+2)), g.Rows*g.Cols)
	begin := 0
	for _, share := range shares {
		if err := share.Device.Do(t.Context(), func(s *cuda.Stream) error {
			h, err := share.Z.Arr.Host(s)
			if err != nil {
				return err
			}
			for j := range g.Cols {
				for i := range share.Z.Rows {
					all.CopyFrom(j*g.Rows+begin+i, h, j*share.Z.Rows+i)
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		begin += share.Z.Rows
	}
	return lengths, all
}

// TestRefineTogetherNot has calls that fail on one of two devices, which then keep nothing.
func TestRefineTogetherNot(t *testing.T) {
	devs, drv := gputest.Linked(t, 2)
	rng := testseed.Rand(t, 1, 2)
	f := gputest.RandomMat(rng, gputest.MP(53), gputest.Uniform, 4, 4)
	g := gputest.RandomMat(rng, gputest.MP(53), gputest.Uniform, 4, 1)
	x := gputest.RandomMat(rng, num.Float64, gputest.Uniform, 4, 4)
	of := place.Refinement{Top: 1, Words: 2, Planes: []int{2, 1}, Scale: 13, Shift: []int64{1}}
	shares, free := dealt(t, devs, of, f, x, g)
	defer free()
	used := func() (list []int64) {
		for _, dev := range devs {
			list = append(list, dev.Counters().InUse)
		}
		return list
	}
	before := used()
	for range 2 { // the first one makes what devices keep
		drv.ForgetCalls()
		if _, ok, err := newton.RefineTogether(t.Context(), of, shares); err != nil || !ok {
			t.Fatal(ok, err)
		}
	}
	calls := drv.Calls()
	for _, call := range []string{"LaunchKernel", "EventCreate", "EventRecord", "StreamWaitEvent", "MemcpyDtoHAsync"} {
		times := 0
		for _, c := range calls {
			if c == call {
				times++
			}
		}
		if times == 0 {
			t.Errorf("no %s", call)
		}
		for after := range times + 1 {
			drv.Fail(call, after, cudadrv.NotSupported)
			_, ok, err := newton.RefineTogether(t.Context(), of, shares)
			if failed := after < times; failed != (cudadrv.CodeOf(err) == cudadrv.NotSupported) || ok == failed {
				t.Errorf("%s, number %d: %v, %v", call, after, ok, err)
			}
			drv.Forgive()
			if now := used(); !slices.Equal(now, before) {
				t.Fatalf("%s, number %d: %v bytes are in use, %v before", call, after, now, before)
			}
		}
	}
	for after := range 100 { // looks at the context
		ctx, cancel := context.WithCancel(t.Context())
		c := &cancelling{Context: ctx, cancel: cancel}
		c.left.Store(int64(after))
		_, ok, err := newton.RefineTogether(c, of, shares)
		cancel()
		if ok == (err != nil) || err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled after %d: %v, %v", after, ok, err)
		}
		if now := used(); !slices.Equal(now, before) {
			t.Fatalf("cancelled after %d: %v bytes are in use, %v before", after, now, before)
		}
	}
}

// cancelling is a context that is cancelled when it has been looked at so often.
type cancelling struct {
	context.Context
	left   atomic.Int64
	cancel func()
}

func (c *cancelling) Err() error {
	if c.left.Add(-1) < 0 {
		c.cancel()
	}
	return c.Context.Err()
}
