package linsolve

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/interval"
	"github.com/halfulp/halfulp/internal/proof/ziv"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
	"github.com/halfulp/halfulp/linsolve/internal/solve"
)

// inside checks that the rational solution lies between the bounds.
func inside(t *testing.T, name string, a, b, lower, upper *halfulp.Matrix) {
	t.Helper()
	for i, row := range lintest.Of(a).Solve(lintest.Of(b)) {
		for j, x := range row {
			below := func(m *halfulp.Matrix) int { // m_ij - x
				v := m.Big(i, j)
				if v.IsInf() {
					return v.Sign()
				}
				w, _ := v.Rat(nil)
				return w.Cmp(x)
			}
			if below(lower) > 0 || below(upper) < 0 {
				d, _ := x.Float64()
				t.Fatalf("%s: x[%d,%d] = %g is not in [%v, %v]", name, i, j, d, lower.At(i, j), upper.At(i, j))
			}
		}
	}
}

// widths returns the largest width of bounds in ulps.
func widths(lower, upper *halfulp.Matrix) (most float64) {
	for i := range lower.Rows() {
		for j := range lower.Cols() {
			l, u := lower.Big(i, j), upper.Big(i, j)
			d := new(big.Float).SetPrec(64).Sub(u, l)
			e := max(l.MantExp(nil), u.MantExp(nil))
			w, _ := d.SetMantExp(d, lower.NumberFormat().Bits()-e).Float64()
			most = max(most, w)
		}
	}
	return most
}

func TestEnclose(t *testing.T) {
	seed := testseed.Of(t)
	t.Log("seed", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for _, f := range lintest.Formats {
		for range testlength.Of(3, 3, 100) {
			n, k := 1+r.IntN(6), 1+r.IntN(3)
			g := lintest.Formats[r.IntN(len(lintest.Formats))]
			for name, a := range map[string]*halfulp.Matrix{
				"random": gallery.Random(g, n, n, 0, r.Uint64()), "spread": gallery.Random(g, n, n, 50, r.Uint64()),
				"Hilbert": gallery.Hilbert(halfulp.MP(100), 12), "powers": halfulp.Identity(halfulp.Float64, n),
			} {
				b := gallery.Random(g, a.Rows(), k, r.IntN(2)*100, r.Uint64())
				for _, steps := range []int{0, 1, 4, 40} {
					var stats halfulp.Stats
					l, u, err := Enclose(a, b, steps, f, &halfulp.Options{Stats: &stats})
					if err != nil || stats.Steps != steps {
						t.Fatalf("%s: %v, %+v", name, err, stats)
					}
					inside(t, name, a, b, l, u)
					if w := widths(l, u); steps == 40 && name == "random" && f != halfulp.Float32 && w > 4 {
						t.Errorf("%s, %v: %g ulps after %d steps", name, f, w, steps)
					}
				}
			}
		}
	}
	// Steps narrow bounds down to the formats, however large the condition number is.
	for _, f := range lintest.Formats {
		a, b := gallery.Random(halfulp.Float64, 3, 3, 0, seed).Convert(halfulp.MP(300)), gallery.Random(halfulp.Float64, 3, 2, 0, seed+1)
		for j := range 3 { // the last row is almost the first one
			x := a.Big(0, j)
			a.SetBig(2, j, x.Add(x, new(big.Float).SetMantExp(a.Big(2, j), -150)))
		}
		l, u, err := Enclose(a, b, 40, f, nil)
		if err != nil {
			t.Fatal(err)
		}
		inside(t, "nearly singular", a, b, l, u)
		if w := widths(l, u); f != halfulp.Float32 && w > 4 {
			t.Errorf("nearly singular, %v: %g ulps", f, w)
		}
	}
	// Diagonal matrices of powers of two are solved exactly, up to rounding outwards.
	a := halfulp.NewMatrixFloat64(2, 2, 2, []float64{2, 0, 0, 0.25})
	b := halfulp.NewMatrixFloat64(2, 1, 2, []float64{-6, 1})
	l, u, err := Enclose(a, b, 1, halfulp.Float64, nil)
	if err != nil || !l.Same(u) || l.Float64(0, 0) != -3 || l.Float64(1, 0) != 4 {
		t.Errorf("%v, %v, %v", l, u, err)
	}
}

func TestEncloseSet(t *testing.T) {
	seed := testseed.Of(t)
	r := rand.New(rand.NewPCG(seed, 0))
	for _, f := range lintest.Formats {
		for trial := range testlength.Of(4, 8, 100) {
			n, k := 1+r.IntN(5), 1+r.IntN(2)
			a, b := gallery.Random(halfulp.Float64, n, n, 0, r.Uint64()), gallery.Random(halfulp.Float64, n, k, 0, r.Uint64())
			da, db := halfulp.NewMatrix(halfulp.Float64, n, n), halfulp.NewMatrix(halfulp.Float64, n, k)
			scale := math.Ldexp(1, -6-r.IntN(50))
			for i := range n {
				for j := range n {
					da.SetFloat64(i, j, scale*r.Float64())
				}
				for j := range k {
					db.SetFloat64(i, j, scale*r.Float64())
				}
			}
			if trial%4 == 0 {
				da = nil
			} else if trial%4 == 1 {
				db = nil
			}
			l, u, err := EncloseSet(a, da, b, db, 2, f, nil)
			if errors.Is(err, ErrWide) {
				if scale < 0x1p-50 { // else the condition number may be as large
					t.Fatalf("seed %d: %v", seed, err)
				}
				continue
			} else if err != nil {
				t.Fatal(err)
			}
			// Corners of the system, exactly.
			corner := func(m, d *halfulp.Matrix) *halfulp.Matrix {
				z := m.Convert(halfulp.MP(2200))
				for i := range m.Rows() {
					for j := range m.Cols() {
						if v := m.Big(i, j); d != nil {
							v.SetPrec(2200)
							if e := d.Big(i, j); r.IntN(2) == 0 {
								v.Add(v, e)
							} else {
								v.Sub(v, e)
							}
							z.SetBig(i, j, v)
						}
					}
				}
				return z
			}
			for range 8 {
				inside(t, "corner", corner(a, da), corner(b, db), l, u)
			}
		}
	}
	// [1, 3] x = 1 has the solutions [1/3, 1].
	two, one := halfulp.NewMatrixFloat64(1, 1, 1, []float64{2}), halfulp.Identity(halfulp.Float64, 1)
	l, u, err := EncloseSet(two, one, one, nil, 2, halfulp.Float64, nil)
	if err != nil || l.Float64(0, 0) > 1.0/3 || u.Float64(0, 0) < 1 || l.Float64(0, 0) < -1e-9 {
		t.Errorf("%v, %v, %v", l, u, err)
	}
	if _, _, err := EncloseSet(one, one, one, nil, 2, halfulp.Float64, nil); !errors.Is(err, ErrWide) {
		t.Errorf("[0, 2]: %v", err)
	}
	if _, _, err := EncloseSet(halfulp.NewMatrix(halfulp.Float64, 1, 1), one, one, nil, 2, halfulp.Float64, nil); !errors.Is(err, ErrSingular) {
		t.Errorf("[-1, 1]: %v", err)
	}
	two.Set(0, 0, halfulp.Float(math.NaN()))
	if _, _, err := EncloseSet(one, two, one, nil, 2, halfulp.Float64, nil); !errors.Is(err, call.ErrNotFinite) {
		t.Errorf("NaN: %v", err)
	}
}

// TestBelow rounds numbers down at the ends of ranges.
func TestBelow(t *testing.T) {
	power := func(e int) *big.Float { return new(big.Float).SetMantExp(big.NewFloat(1), e) }
	neg := func(x *big.Float) *big.Float { return new(big.Float).Neg(x) }
	for _, c := range []struct {
		x    *big.Float
		want float64
	}{
		{power(2000), math.MaxFloat64}, {neg(power(2000)), math.Inf(-1)}, {power(-2000), 0}, {neg(power(-2000)), -math.SmallestNonzeroFloat64},
		{big.NewFloat(0), 0}, {big.NewFloat(-1), -1}, {new(big.Float).SetPrec(300).Add(big.NewFloat(1), neg(power(-200))), 1 - 0x1p-53},
		{new(big.Float).SetPrec(300).Add(big.NewFloat(-1), neg(power(-200))), -1 - 0x1p-52}, {neg(power(1024)), math.Inf(-1)},
	} {
		if z := solve.Below(halfulp.Float64.View(), c.x, new(big.Float)); z.Float64() != c.want {
			t.Errorf("below %.3g: %v, want %g", c.x, z, c.want)
		}
	}
	for _, f := range []halfulp.Format{halfulp.Float32, halfulp.Float64, halfulp.DD, halfulp.TD, halfulp.QD} {
		least, spacing := ziv.Border(f.View())
		half := new(big.Float).SetMantExp(spacing, -1)
		largest := interval.ExactSub(least, half) // the largest number
		for _, x := range []*big.Float{largest, interval.ExactAdd(largest, new(big.Float).SetMantExp(half, -9)), least, interval.ExactAdd(least, spacing), power(2000)} {
			if z := solve.Below(f.View(), x, new(big.Float)); z.Big().Cmp(largest) != 0 {
				t.Errorf("%v: below %.40g: %s, want %.40g", f, x, halfulp.ScalarOf(z).Hex(), largest)
			}
			if z := solve.Below(f.View(), new(big.Float).Neg(x), new(big.Float)); z.IsInf(-1) != (x != largest) {
				t.Errorf("%v: below -%.40g: %s", f, x, halfulp.ScalarOf(z).Hex())
			}
		}
	}
	r := testseed.Rand(t, 9, 10)
	for _, f := range lintest.Formats {
		for range 200 {
			x := new(big.Float).SetPrec(900).SetMantExp(big.NewFloat(r.NormFloat64()), r.IntN(300)-150)
			x = new(big.Float).SetPrec(900).Quo(x, big.NewFloat(7))
			radius := new(big.Float).SetMantExp(big.NewFloat(r.Float64()), r.IntN(300)-450)
			z, want := solve.Below(f.View(), x, radius).Big(), new(big.Float).SetPrec(2000).Sub(x, radius)
			d := new(big.Float).SetPrec(2000).Sub(want, z)
			if least := power(max(want.MantExp(nil)-f.Bits()+1, -1074)); d.Sign() < 0 || f != halfulp.Float32 && d.Cmp(least) > 0 {
				t.Fatalf("%v: below %.30g: %.30g", f, want, z)
			}
		}
	}
}
