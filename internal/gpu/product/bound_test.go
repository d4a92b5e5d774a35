package product

import (
	"context"
	"math"
	"math/big"
	"testing"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/cudadrv/fake"
	"github.com/halfulp/halfulp/internal/gpu/gputest"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/plan"
	"github.com/halfulp/halfulp/internal/residue"
	"github.com/halfulp/halfulp/internal/testseed"
)

// TestBounded computes residuals old beta + alpha A B, old being the product rounded to some bits,
// on the device with bounds that just suffice, and compares them with the host's. A bound that is
// too small by 2^-40 shows.
func TestBounded(t *testing.T) {
	t.Run("reference", func(t *testing.T) { testBounded(t, gputest.Reference(t, &fake.Driver{}), 10) })
	t.Run("device", func(t *testing.T) { testBounded(t, gputest.Machine(t), 80) })
}

func testBounded(t *testing.T, dev *cuda.Device, size int) {
	rng := testseed.Rand(t, 3, 9)
	olds := []num.Format{num.Float32, num.Float64, gputest.MP(24), gputest.MP(64), gputest.MP(106), gputest.MP(212), gputest.MP(500)}
	fewer := 0
	for trial := range 42 {
		f, g, h := gputest.MP(53+rng.IntN(300)), gputest.MP(53+rng.IntN(300)), olds[trial%7]
		m, k, n := 1+rng.IntN(2*size), 2+rng.IntN(size), 1+rng.IntN(2*size)
		kind := []gputest.Family{gputest.Uniform, gputest.Spread, gputest.Sparse}[trial%3]
		p := &bounded{a: gputest.RandomMat(rng, f, kind, m, k), b: gputest.RandomMat(rng, g, gputest.Uniform, n, k).T(), old: hostMat(h, m, n)}
		sign := float64(1 - 2*rng.IntN(2))
		p.alpha, p.beta = gputest.Scalar(math.Ldexp(-sign, rng.IntN(9)-4)), gputest.Scalar(sign)
		minus := p.alpha
		minus.Neg = !p.alpha.Neg != (sign < 0)
		if _, err := hostGemm(Config{}.defaults(), minus, p.a, p.b, num.Real{}, p.old, p.old); err != nil {
			t.Fatal(err)
		}
		out := []num.Format{num.Float64, gputest.MP(24), gputest.MP(130), num.DDouble}[trial%4]
		want := p.host(t, out)
		bound := p.bound(t)
		got, st := p.device(t, dev, out, bound)
		if !sameEntries(got, want) {
			t.Fatalf("trial %d: %v %v %v -> %v, %d x %d x %d: other bits (%+v)", trial, f, g, h, out, m, k, n, st)
		}
		if _, without := p.device(t, dev, out, nil); st.Moduli < without.Moduli {
			fewer++
		}
		if trial%7 == 5 && kind == gputest.Uniform && out.Kind == num.MP {
			for i := range bound.Rows {
				bound.Rows[i] -= 40
			}
			if got, _ := p.device(t, dev, out, bound); sameEntries(got, want) {
				t.Errorf("trial %d: a bound of 2^-40 of the result goes unnoticed", trial)
			}
		}
	}
	if fewer < 20 {
		t.Errorf("%d of 42 products had a smaller base", fewer)
	}
}

// TestTolerant lets entries of products and residuals be in error: they are, by no more than that
// beside their rounding, none takes the exact pass, and the base is smaller.
func TestTolerant(t *testing.T) {
	t.Run("reference", func(t *testing.T) { testTolerant(t, gputest.Reference(t, &fake.Driver{}), 10) })
	t.Run("device", func(t *testing.T) { testTolerant(t, gputest.Machine(t), 80) })
}

func testTolerant(t *testing.T, dev *cuda.Device, size int) {
	rng := testseed.Rand(t, 4, 9)
	fewer, wrong := 0, 0
	for trial := range 24 {
		f, g := gputest.MP(300+rng.IntN(300)), gputest.MP(300+rng.IntN(300))
		m, k, n := 1+rng.IntN(2*size), 2+rng.IntN(size), 1+rng.IntN(2*size)
		kind := []gputest.Family{gputest.Uniform, gputest.Spread, gputest.Sparse}[trial%3]
		p := &bounded{a: gputest.RandomMat(rng, f, kind, m, k), b: gputest.RandomMat(rng, g, gputest.Uniform, n, k).T(), old: hostMat(gputest.MP(64), m, n)}
		p.alpha, p.beta = gputest.Scalar(-2), num.Real{}
		if trial%4 > 0 { // the old entries cancel the product
			p.beta = gputest.Scalar(1)
			if _, err := hostGemm(Config{}.defaults(), gputest.Scalar(2), p.a, p.b, num.Real{}, p.old, p.old); err != nil {
				t.Fatal(err)
			}
		}
		if trial%8 == 5 { // and have more places than products of the factors
			exact := hostMat(gputest.MP(500), m, n)
			if _, err := hostGemm(Config{}.defaults(), gputest.Scalar(2), p.a, p.b, num.Real{}, exact, exact); err != nil {
				t.Fatal(err)
			}
			p.old, p.a, p.b = exact, rounded(p.a, gputest.MP(40)), rounded(p.b, gputest.MP(60))
		}
		out := []num.Format{num.Float64, gputest.MP(24), gputest.MP(130)}[rng.IntN(3)]
		bound := p.bound(t)
		if trial%2 == 0 { // which does not make the base
			for i := range bound.Rows {
				bound.Rows[i] += 500
			}
			bound.Within = 500
		}
		bound.Within += 1 + rng.Int64N(150)
		got, st := p.device(t, dev, out, bound)
		want := p.host(t, gputest.MP(4000))
		if st.Exact > 0 && kind == gputest.Uniform {
			t.Errorf("trial %d: %d entries in the exact pass", trial, st.Exact)
		}
		for i := range m {
			for j := range n {
				x, y := bigOf(got.Arr, got.At(i, j)), bigOf(want.Arr, want.At(i, j))
				diff := new(big.Float).SetPrec(5000).Sub(x, y)
				if diff.Sign() == 0 {
					continue
				}
				allowed := new(big.Float).SetMantExp(big.NewFloat(1), int(bound.Rows[i]+bound.Cols[j]-bound.Within))
				if diff.Abs(diff).Cmp(allowed) > 0 {
					// and half a unit of its last place
					allowed.Add(allowed, new(big.Float).SetMantExp(big.NewFloat(1), x.MantExp(nil)-int(plan.ResultBits(out))-1))
					if diff.Cmp(allowed) > 0 {
						t.Fatalf("trial %d, entry %d, %d: off by %.3g, may be by %.3g", trial, i, j, diff, allowed)
					}
				}
			}
		}
		if !sameEntries(got, p.host(t, out)) {
			wrong++
		}
		bound.Within = 0
		if _, without := p.device(t, dev, out, bound); st.Moduli < without.Moduli {
			fewer++
		}
	}
	if fewer < 8 || wrong < 8 {
		t.Errorf("of 24 products %d had a smaller base, %d were not rounded correctly", fewer, wrong)
	}
}

// rounded returns a matrix in another format.
func rounded(m num.Mat, f num.Format) num.Mat {
	z := hostMat(f, m.Rows, m.Cols)
	for i := range m.Rows {
		for j := range m.Cols {
			z.Arr.Set(z.At(i, j), m.Arr.Value(m.At(i, j), make([]uint64, num.MaxValueWords)))
		}
	}
	return z
}

// bigOf returns a finite number.
func bigOf(a *num.Array, at int) *big.Float {
	r := a.Value(at, make([]uint64, num.MaxValueWords))
	x := new(big.Int)
	for k := len(r.Mag) - 1; k >= 0; k-- {
		x.Lsh(x, 64).Or(x, new(big.Int).SetUint64(r.Mag[k]))
	}
	z := new(big.Float).SetPrec(5000).SetInt(x)
	if z.SetMantExp(z, int(r.Exp)); r.Neg {
		z.Neg(z)
	}
	return z
}

// bounded is a product whose result is small.
type bounded struct {
	a, b, old   num.Mat
	alpha, beta num.Real
}

func hostMat(f num.Format, m, n int) num.Mat {
	return num.Mat{Arr: num.New(f, m*n), RS: 1, CS: m, Rows: m, Cols: n}
}

// host returns the result by the host.
func (p *bounded) host(t *testing.T, f num.Format) num.Mat {
	t.Helper()
	c := hostMat(f, p.old.Rows, p.old.Cols)
	if _, err := hostGemm(Config{}.defaults(), p.alpha, p.a, p.b, p.beta, p.old, c); err != nil {
		t.Fatal(err)
	}
	return c
}

// bound returns the smallest bound of which one row's is given by its largest entry.
func (p *bounded) bound(t *testing.T) *residue.Bound {
	t.Helper()
	c := p.host(t, gputest.MP(64))
	const least = -1 << 30
	b := &residue.Bound{Rows: make([]int64, c.Rows), Cols: make([]int64, c.Cols)}
	top := func(i, j int) int64 {
		if class, top, _ := c.Arr.Span(c.At(i, j)); class == num.Finite {
			return top
		}
		return least
	}
	for i := range b.Rows {
		b.Rows[i] = least
		for j := range b.Cols {
			b.Rows[i] = max(b.Rows[i], top(i, j))
		}
	}
	for j := range b.Cols {
		b.Cols[j] = least
		for i := range b.Rows {
			b.Cols[j] = max(b.Cols[j], top(i, j)-b.Rows[i])
		}
	}
	return b
}

// device returns the result by the device.
func (p *bounded) device(t *testing.T, dev *cuda.Device, f num.Format, b *residue.Bound) (c num.Mat, st residue.Stats) {
	t.Helper()
	err := dev.Do(context.Background(), func(s *cuda.Stream) error {
		var on [4]mem.Matrix
		for i, h := range []num.Mat{p.a, p.b, p.old, hostMat(f, p.old.Rows, p.old.Cols)} {
			var err error
			if on[i], err = mem.UploadView(s, h); err != nil {
				return err
			}
			defer on[i].Arr.Free()
		}
		var err error
		if st, err = GemmOnDevice(s, Config{Pattern: place.Pattern{Bound: b}, Run: par.Run{Check: p.old.Rows%2 == 0}}, p.alpha, on[0], on[1], p.beta, on[2], on[3]); err != nil {
			return err
		}
		c, err = on[3].Get(s)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return c, st
}

func sameEntries(a, b num.Mat) bool {
	for i := range a.Rows {
		for j := range a.Cols {
			if !a.Arr.SameBits(a.At(i, j), b.Arr, b.At(i, j)) {
				return false
			}
		}
	}
	return true
}
