package several_test

import (
	"math"
	"math/big"
	"testing"

	. "github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/cudadrv/fake"
	"github.com/halfulp/halfulp/internal/gpu/several"
	"github.com/halfulp/halfulp/internal/place"
)

// magnitudesOf returns the exact ‖|A| |B|‖∞ for the first, and ‖|A| |B|‖1.
func magnitudesOf(a, b *Matrix) (rows, cols *big.Float) {
	sum := func() *big.Float { return new(big.Float).SetPrec(2000) }
	m, n := a.Rows(), b.Cols()
	r, c := make([]*big.Float, m), make([]*big.Float, n)
	for j := range n {
		c[j] = sum()
	}
	for i := range m {
		r[i] = sum()
		for j := range n {
			for k := range a.Cols() {
				x := sum().Mul(a.Big(i, k), b.Big(k, j))
				x.Abs(x)
				r[i].Add(r[i], x)
				c[j].Add(c[j], x)
			}
		}
	}
	most := func(list []*big.Float) *big.Float {
		z := sum()
		for _, x := range list {
			if x.Cmp(z) > 0 {
				z = x
			}
		}
		return z
	}
	return most(r), most(c)
}

// TestSpread compares bounds that GPUs find together with exact norms: they are no smaller, and not
// much larger.
func TestSpread(t *testing.T) {
	on(t, 3, func(_ []*cuda.Device, _ *fake.Driver) {
		const m, k, n = 11, 14, 9
		for _, device := range []Device{"cuda:0,1", "cuda:2,0-1"} {
			for trial := range 6 {
				bits := []Format{MP(30), MP(150)}[trial%2]
				a, b := gallery.Random(bits, m, k, 20, uint64(trial)), gallery.Random(bits, k, n, 20, uint64(trial+50))
				if trial > 1 { // a column of zeros, and a row
					for i := range m {
						a.SetFloat64(i, 3, 0)
					}
					for j := range n {
						b.SetFloat64(k-1, j, 0)
					}
				}
				x, y := must(a.On(device)), must(b.On(device))
				if trial > 3 { // by rows
					x, y = must(a.T().Clone().On(device)).T(), must(b.T().Clone().On(device)).T()
				}
				g := partOf[place.Factors](x.View().Arr)
				rows, cols, err := g.Spread(place.Config{}, x.View(), y.View())
				if err != nil {
					t.Fatal(err)
				}
				wantRows, wantCols := magnitudesOf(a, b)
				for of, c := range map[string]struct {
					got  float64
					want *big.Float
				}{"rows": {rows, wantRows}, "columns": {cols, wantCols}} {
					if v, _ := c.want.Float64(); big.NewFloat(c.got).Cmp(c.want) < 0 || !(c.got <= v*(1+0x1p-40)) {
						t.Errorf("%s, trial %d, %s: %g, want %g", device, trial, of, c.got, v)
					}
				}
			}
		}
		far := NewMatrix(MP(30), 5, 5)
		for i := range 5 {
			far.Set(i, i, must(ParseScalar(MP(30), "1e400")))
		}
		x := must(far.On("cuda:0,1"))
		if rows, cols, err := partOf[place.Factors](x.View().Arr).Spread(place.Config{}, x.View(), x.View()); err != nil || !math.IsInf(rows, 1) || !math.IsInf(cols, 1) {
			t.Errorf("numbers beyond 2^1000: %g, %g, %v", rows, cols, err)
		}
	})
}

// TestSmall has products of matrices that the first GPU stores, which computes alone unless a
// factor is in parts.
func TestSmall(t *testing.T) {
	defer several.Balance(8)()
	defer several.Alone(24)()
	on(t, 3, func(devs []*cuda.Device, _ *fake.Driver) {
		for _, c := range []struct {
			m, n, k int
			device  string
		}{{23, 23, 23, "cuda:0"}, {23, 2, 20, "cuda:0"}, {24, 24, 24, "cuda:0,1,2"}, {23, 23, 24, "cuda:0,1,2"}} {
			a, b, want := gallery.Random(MP(90), c.m, c.k, 3, 1), gallery.Random(MP(90), c.k, c.n, 3, 2), NewMatrix(MP(90), c.m, c.n)
			was := devs[2].Counters().InUse
			da, db, dc := must(a.On("cuda:0-2")), must(b.On("cuda:0-2")), must(want.On("cuda:0-2"))
			if now := devs[2].Counters().InUse; (now > was) != (c.device != "cuda:0") {
				t.Errorf("%+v: the last GPU has %d bytes", c, now-was)
			}
			var st Stats
			ok(Gemm(NoTrans, NoTrans, Float(1), a, b, Float(0), want, onCPU))
			ok(Gemm(NoTrans, NoTrans, Float(1), da, db, Float(0), dc, &Options{Stats: &st}))
			if st.Device != c.device {
				t.Errorf("%+v: computed on %s", c, st.Device)
			}
			if !must(dc.Host()).Same(want) {
				t.Errorf("%+v: other bits than on the CPU", c)
			}
			for _, m := range []*Matrix{da, db, dc} {
				m.Free()
			}
		}
	})
}
