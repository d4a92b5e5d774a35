package several_test

import (
	"math"
	"slices"
	"testing"

	. "github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/cudadrv/fake"
	"github.com/halfulp/halfulp/internal/gpu/several"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/linsolve"
)

// partOf returns a part of the place where numbers live.
func partOf[T any](a *num.Array) T {
	part, _ := place.Part[T](place.Of(a))
	return part
}

// TestInverse has the same approximate inverses by one GPU and by all of them, which is how those
// are made of matrices by columns whose columns can be shared.
func TestInverse(t *testing.T) {
	on(t, 3, func(devs []*cuda.Device, drv *fake.Driver) {
		for _, c := range []struct {
			n      int
			device Device
			view   func(m *Matrix) *Matrix
			shared bool
		}{
			{256, "cuda:0,1", func(m *Matrix) *Matrix { return m }, true},
			{384, "cuda:2,0-1", func(m *Matrix) *Matrix { return m }, true},
			{130, "cuda:0,1", func(m *Matrix) *Matrix { return m }, false},
			{256, "cuda:0,1", (*Matrix).T, false},
		} {
			a := c.view(must(gallery.Random(MP(90), c.n, c.n, 3, 1).On(c.device)))
			var want *Matrix
			for _, from := range []int{math.MaxInt, 1} {
				restore := several.Share(from)
				x := must(NewMatrix(Float64, c.n, c.n).On(c.device))
				m := a.View()
				drv.ForgetCalls()
				rows, cols, begun, err := partOf[place.Newton](m.Arr).Inverse(place.Config{}, m, x.View(), 0)
				restore()
				ok := begun != nil
				if err != nil || !ok || len(rows) != c.n || len(cols) != c.n {
					t.Fatalf("n = %d, %s: %v, %v, %d and %d exponents", c.n, c.device, ok, err, len(rows), len(cols))
				}
				// One GPU has a stream for panels only where matrices are larger.
				if got, want := slices.Contains(drv.Calls(), "StreamCreate"), c.shared && from == 1; got != want {
					t.Errorf("n = %d, %s: shared %v, want %v", c.n, c.device, got, want)
				}
				host := must(x.On("cpu"))
				if want == nil {
					want = host
				}
				for j := range c.n {
					for i := range c.n {
						if host.Float64(i, j) != want.Float64(i, j) {
							t.Fatalf("n = %d, %s: entry (%d, %d) is %v, want %v", c.n, c.device, i, j, host.Float64(i, j), want.Float64(i, j))
						}
					}
				}
				x.Free()
			}
			a.Free()
		}
	})
}

// TestInverseRoot has about the same inverse Cholesky factors by one GPU and by two.
func TestInverseRoot(t *testing.T) {
	on(t, 2, func(devs []*cuda.Device, drv *fake.Driver) {
		const n, device = 256, Device("cuda:0,1")
		h := gallery.Random(Float64, n, n, 0, 1)
		for j := range n {
			for i := range j {
				h.Set(i, j, h.At(j, i))
			}
			h.SetFloat64(j, j, n)
		}
		a := must(h.On(device))
		var want *Matrix
		var exps []int64
		for _, from := range []int{math.MaxInt, 1} {
			restore := several.Share(from)
			x := must(NewMatrixOn(device, Float64, n, n))
			drv.ForgetCalls()
			m := a.View()
			got, begun, err := partOf[place.Factors](m.Arr).InverseRoot(place.Config{}, m, x.View())
			restore()
			if err != nil || begun == nil {
				t.Fatalf("from %d: %v, %v", from, begun, err)
			}
			if shared := slices.Contains(drv.Calls(), "StreamCreate"); shared != (from == 1) {
				t.Errorf("from %d: shared %v", from, shared)
			}
			host := must(x.Host())
			if want == nil {
				want, exps = host, got
			}
			if !slices.Equal(got, exps) {
				t.Errorf("exponents %v, want %v", got, exps)
			}
			for j := range n {
				for i := range n {
					if x, y := host.Float64(i, j), want.Float64(i, j); math.Abs(x-y) > 1e-14 || i < j && x != 0 {
						t.Fatalf("from %d: entry (%d, %d) is %v, want %v", from, i, j, x, y)
					}
				}
			}
		}
	})
}

// TestRefine has systems with one right-hand side, of as many bits as one machine word holds and of
// more, solved in fixed point by one GPU, which gets what the other has of F and X, and by both.
func TestRefine(t *testing.T) {
	on(t, 2, func(devs []*cuda.Device, drv *fake.Driver) {
		const n, device = 256, Device("cuda:0,1")
		for _, f := range []Format{MP(150), Float64}[:testlength.Of(1, 1, 2)] {
			a, b := gallery.Random(f, n, n, 3, 1), gallery.Random(f, n, 1, 3, 2)
			want := NewMatrix(f, n, 1)
			ok(lintest.Into(want)(linsolve.Solve(a, b, want.NumberFormat(), nil)))
			peers, left := map[int]int{}, int64(0)
			for _, from := range []int{math.MaxInt, 1} {
				x, da, db := must(NewMatrixOn(device, f, n, 1)), must(a.On(device)), must(b.On(device))
				restore := several.Refined(from)
				drv.ForgetCalls()
				var st Stats
				err := lintest.Into(x)(linsolve.Solve(da, db, x.NumberFormat(), &Options{Stats: &st}))
				restore()
				if err != nil {
					t.Fatal(err)
				}
				for _, call := range drv.Calls() {
					if call == "MemcpyPeerAsync" {
						peers[from]++
					}
				}
				if got := must(x.Host()); !got.Same(want) || st.Precision%64 != 0 || st.Stages[len(st.Stages)-1].Name != "rounding" {
					t.Errorf("%v, from %d: other bits, or not in fixed point: %+v", f, from, st)
				}
				for _, m := range []*Matrix{x, da, db} {
					m.Free()
				}
				// What engines keep the first one has made.
				if used := devs[0].Counters().InUse + devs[1].Counters().InUse; left > 0 && used != left {
					t.Errorf("%v: %d bytes are in use, %d before", f, used, left)
				} else {
					left = used
				}
			}
			if peers[1] >= peers[math.MaxInt] {
				t.Errorf("%v: copies from GPU to GPU: %v", f, peers)
			}
		}
	})
}
