package several_test

import (
	"errors"
	"fmt"
	"testing"

	. "github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/cudadrv"
	"github.com/halfulp/halfulp/internal/cudadrv/fake"
	"github.com/halfulp/halfulp/internal/gpu/several"
	"github.com/halfulp/halfulp/internal/residue"
	"github.com/halfulp/halfulp/internal/testlength"
)

// TestDirect has GPUs compute columns of products of triangles that others have, from factors where
// these are, which lie by columns or by rows.
func TestDirect(t *testing.T) {
	defer several.Balance(1)()
	defer several.Tiles(1)()
	const n = 4*128 - 30
	on(t, 3, func(_ []*cuda.Device, drv *fake.Driver) {
		for trial, c := range []struct {
			triangle byte
			factors  [2]byte
			alpha    float64
			adds     bool
			rows     [2]bool // a factor lies by rows
		}{
			{0, [2]byte{0, 'U'}, 1, false, [2]bool{false, true}},
			{'L', [2]byte{'L', 0}, 2, true, [2]bool{}},
			{'L', [2]byte{0, 'U'}, -1, false, [2]bool{false, true}},
			{'L', [2]byte{'L', 'L'}, 1, false, [2]bool{}},
			{'L', [2]byte{'L', 'U'}, -1, false, [2]bool{false, true}},
			{'L', [2]byte{'L', 0}, 3, false, [2]bool{false, true}}, // which GPUs do not compute so
		} {
			if testing.Short() && trial%3 == 1 || !testlength.Long() && trial%2 == 0 && trial > 0 {
				continue
			}
			device := []Device{"cuda:0,1", "cuda:0-2"}[trial%2]
			var of [2]*Matrix
			var there [2]*Matrix
			var known [2]*residue.Vectors
			for side := range of {
				of[side], known[side] = integers(n, n, side == 0, uint64(trial))
				for j := range n {
					for i := range n {
						if f := c.factors[side]; f == 'L' && i < j || f == 'U' && i > j {
							of[side].SetFloat64(i, j, 0)
						}
					}
				}
				if there[side] = of[side]; c.rows[side] {
					there[side] = must(of[side].T().Clone().On(device)).T()
				} else {
					there[side] = must(of[side].On(device))
				}
			}
			old := gallery.Random(MP(20), n, n, 0, 9)
			before, _ := integers(n, n, true, 7)
			want, beta := before.Clone(), 0.0
			if c.adds {
				beta = -1
				old, _ = integers(n, n, true, 9)
			}
			must(gemmTriangle(c.alpha, of[0], of[1], beta, old, want, c.triangle, c.factors, nil, onCPU))
			dc, dold, tally := must(before.On(device)), must(old.On(device)), must(NewMatrixOn(device, Float64, 1, 1))
			bound := &residue.Bound{Rows: make([]int64, n), Cols: make([]int64, n), Within: 60, A: known[0], B: known[1], Tally: tally.View().Arr}
			for i := range bound.Rows {
				bound.Rows[i] = 33
			}
			drv.ForgetCalls()
			must(gemmTriangle(c.alpha, there[0], there[1], beta, dold, dc, c.triangle, c.factors, bound, &Options{}))
			// Panels of A may come to all GPUs, in three planes each, and little else.
			copies, most := 0, 3*2*(1+trial%2*2)
			for _, call := range drv.Calls() {
				if call == "MemcpyPeerAsync" {
					copies++
				}
			}
			if (copies > most) != (c.alpha == 3) {
				t.Errorf("trial %d: %d copies from GPU to GPU, %d at most", trial, copies, most)
			}
			if !must(dc.Host()).Same(want) {
				t.Errorf("trial %d: other bits than on the CPU", trial)
			}
			for _, m := range []*Matrix{there[0], there[1], dc, dold, tally} {
				m.Free()
			}
		}
	})
}

// TestDirectFailures makes calls fail that copy blocks of factors from GPU to GPU. The error is
// returned, and all memory is freed. Without memory for copies, kernels read factors where they
// are, and the results are the same.
func TestDirectFailures(t *testing.T) {
	defer several.Balance(1)()
	defer several.Tiles(1)()
	const n, device = 2 * 128, Device("cuda:0,1")
	on(t, 2, func(devs []*cuda.Device, drv *fake.Driver) {
		a, knownA := integers(n, n, true, 1)
		b, knownB := integers(n, n, false, 2)
		for j := range n {
			for i := j + 1; i < n; i++ {
				b.SetFloat64(i, j, 0)
			}
		}
		da, db := must(a.On(device)), must(b.T().Clone().On(device)).T()
		c, _ := integers(n, n, true, 3)
		want := c.Clone()
		must(gemmTriangle(1, a, b, 0, want, want, 0, [2]byte{0, 'U'}, nil, onCPU))
		dc, tally := must(c.On(device)), must(NewMatrixOn(device, Float64, 1, 1))
		bound := &residue.Bound{Rows: make([]int64, n), Cols: make([]int64, n), Within: 60, A: knownA, B: knownB, Tally: tally.View().Arr}
		for i := range bound.Rows {
			bound.Rows[i] = 33
		}
		multiply := func() error {
			_, err := gemmTriangle(1, da, db, 0, dc, dc, 0, [2]byte{0, 'U'}, bound, &Options{})
			return err
		}
		right := func(what string) {
			if !must(dc.Host()).Same(want) {
				t.Fatalf("%s: other bits than on the CPU", what)
			}
		}
		if err := multiply(); err != nil {
			t.Fatal(err)
		}
		right("at first")
		inUse := func() string { return fmt.Sprint(devs[0].Counters().InUse, devs[1].Counters().InUse) }
		was := inUse()
		calls := []string{"Memcpy2DAsync", "EventRecord", "EventCreate", "StreamWaitEvent"}
		calls = calls[:testlength.Of(1, 2, len(calls))]
		for _, call := range calls {
			for after := 0; ; after += 1 + testlength.Of(3*after, 2*after, after/2) {
				drv.Fail(call, after, cudadrv.InvalidValue)
				err := multiply()
				drv.Forgive()
				if err == nil {
					if after == 0 {
						t.Errorf("no %s", call)
					}
					break
				}
				if cudadrv.CodeOf(err) != cudadrv.InvalidValue {
					t.Errorf("%s, call %d: %v", call, after, err)
				}
				if now := inUse(); now != was {
					t.Fatalf("%s, call %d: %s bytes in use, %s before", call, after, now, was)
				}
			}
			if err := multiply(); err != nil {
				t.Fatal(err)
			}
			right(call)
		}
		without, failed, rounds := 0, 0, 0
		for after := 0; ; after++ {
			for _, d := range devs {
				if err := d.Do(t.Context(), (*cuda.Stream).Trim); err != nil {
					t.Fatal(err)
				}
			}
			drv.ForgetCalls()
			// The pool tries again. Of three calls in turn that fail, one GPU has two.
			for range 3 {
				drv.Fail("MemAlloc", after, cudadrv.OutOfMemory)
			}
			err := multiply()
			drv.Forgive()
			count := 0
			for _, call := range drv.Calls() {
				if call == "MemAlloc" {
					count++
				}
			}
			if now := inUse(); now != was {
				t.Fatalf("allocation %d: %s bytes in use, %s before", after, now, was)
			}
			switch {
			case err == nil && count <= after+1:
				// Which allocations are of copies depends on the GPU that asks first, in each
				// product anew: another round may meet those that this one has missed.
				if without >= 1 && failed >= 2 {
					return
				}
				if rounds++; rounds == 8 {
					t.Errorf("%d products without copies, and %d that failed", without, failed)
					return
				}
				after = -1
			case err == nil:
				without++
				right(fmt.Sprintf("allocation %d", after))
			case errors.Is(err, ErrMemory):
				failed++
			default:
				t.Fatalf("allocation %d: %v", after, err)
			}
		}
	})
}
