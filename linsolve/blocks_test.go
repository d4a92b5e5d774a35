package linsolve

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/internal/lanes"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/scale"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
	"github.com/halfulp/halfulp/linsolve/internal/blocks"
	"github.com/halfulp/halfulp/linsolve/internal/digits"
)

// growing is a matrix of Wilkinson: elimination with partial pivoting doubles its last column step
// by step. Multiples of ε make it random.
func growing(r *rand.Rand, n int) *halfulp.Matrix {
	a := halfulp.NewMatrix(halfulp.Float64, n, n)
	for i := range n {
		for j := range n {
			switch x := r.Float64() * 0x1p-20; {
			case i == j || j == n-1:
				a.SetFloat64(i, j, 1-x)
			case i > j:
				a.SetFloat64(i, j, x-1)
			default:
				a.SetFloat64(i, j, x)
			}
		}
	}
	return a
}

// TestDetBlocks encloses determinants by blocks down to several orders, and in digits: the exact
// ones lie inside, and the ends near each other.
func TestDetBlocks(t *testing.T) {
	draw := testseed.Of(t)
	r := rand.New(rand.NewPCG(draw, 1))
	const inDigits = -1 // in place of an order
	for range testlength.Of(1, 3, 10) {
		n := 6 + r.IntN(testlength.Of(10, 20, 30))
		far := scaledRandom(r, halfulp.MP(80), n, 300)
		for name, a := range map[string]*halfulp.Matrix{
			"random":     halfulp.Random(halfulp.MP(150), n, n, 0, r.Uint64()),
			"graded":     far,
			"growing":    growing(r, n),
			"unimodular": unimodular(r, n),
			"integers":   lintest.Integers(r, n, n, 9),
			"signs":      lintest.Integers(r, n, n, 1),
			"identity":   halfulp.Identity(halfulp.Float64, n),
			"triangular": triangular(r, n),
		} {
			want := lintest.Of(a).Det()
			for _, leaf := range []int{1, 2, 5, n, inDigits} {
				for _, bits := range []int{40, 150, 700} {
					name := fmt.Sprintf("seed %d, %s, n = %d, leaf %d, %d bits", draw, name, n, leaf, bits)
					s, _, err := begin("Det", nil)
					if err != nil {
						t.Fatal(err)
					}
					f, err := seed.NewFactors(s, a.View(), scale.Of(a.View()))
					if err != nil {
						t.Fatal(err)
					}
					var d *seed.Determinant
					if leaf == inDigits {
						d, _, err = digits.Determinant(s, a.View(), f, 40+bits, bits)
						err = seed.UnlessShort(err)
					} else {
						d, err = blocks.Determinant(s, a.View(), f, bits, leaf)
					}
					if err != nil {
						t.Fatalf("%s: %v", name, err)
					}
					if d == nil {
						if random := strings.Contains(name, "random"); random && (leaf != inDigits || lanes.Bits() > 0) {
							t.Errorf("%s: none", name)
						}
						continue
					}
					if d.Log.Cmp(bound.Exp2(-bits+4)) > 0 {
						t.Errorf("%s: log %v", name, d.Log)
					}
					// |want / (mid 2^shift) - 1| ≤ 2 log
					mid, _ := d.Mid.Rat(nil)
					power := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(max(d.Shift, -d.Shift))))
					if d.Shift < 0 {
						power.Inv(power)
					}
					off := new(big.Rat).Quo(want, mid.Mul(mid, power))
					off.Abs(off.Sub(off, big.NewRat(1, 1)))
					if most, _ := d.Log.Rat(nil); off.Cmp(most.Add(most, most)) > 0 {
						t.Fatalf("%s: off by %v of itself, log %v", name, lintest.Nearest(halfulp.Float64, off), d.Log)
					}
				}
			}
		}
	}
}

// TestFixedLU eliminates matrices whose entries grow beyond what a small headroom holds.
func TestFixedLU(t *testing.T) {
	r := testseed.Rand(t, 2, 1)
	a := growing(r, 24)
	e := blocks.NewFixedLU(a.View(), 16, 100)
	for k := 0; k < 24 && !e.Far; k++ {
		e.Step(k)
	}
	if !e.Far {
		t.Error("entries up to 2^22 are within 2^7")
	}
	checkDet(t, "growing", a, halfulp.MP(100))
	large := halfulp.NewMatrix(halfulp.Float64, 2, 2)
	large.SetFloat64(0, 0, 128)
	if !blocks.NewFixedLU(large.View(), 16, 100).Far {
		t.Error("128 is within 2^7")
	}
}

// TestMultiplyFixed compares with integers, of words that carry far.
func TestMultiplyFixed(t *testing.T) {
	r := testseed.Rand(t, 3, 1)
	word := func() uint64 {
		return []uint64{0, 1, math.MaxUint64, math.MaxUint64 - 1, 1 << 63, r.Uint64()}[r.IntN(6)]
	}
	for range testlength.Of(2000, 20000, 200000) {
		w := 2 + r.IntN(5)
		if r.IntN(8) == 0 { // so many words that those left out add more than a unit
			w = 20
		}
		headroom := []uint{16, 62}[r.IntN(2)]
		x, y, z := make([]uint64, w), make([]uint64, w), make([]uint64, w)
		for i := range w {
			if x[i], y[i] = word(), word(); w == 20 {
				x[i], y[i] = x[i]|1<<63, y[i]|1<<63
			}
		}
		// As numbers below 2^most are.
		for _, v := range [][]uint64{x, y} {
			v[w-1] >>= headroom/2 + 1
		}
		blocks.MultiplyFixed(z, x, y, headroom)
		want := new(big.Int).Mul(blocks.Natural(new(big.Int), x), blocks.Natural(new(big.Int), y))
		want.Rsh(want, uint(64*w)-headroom)
		most := (&blocks.FixedLU{Words: w, Headroom: headroom}).Lost()
		if d := want.Sub(want, blocks.Natural(new(big.Int), z)); d.Sign() < 0 || d.Cmp(big.NewInt(int64(most))) >= 0 {
			t.Fatalf("%d words, headroom %d: %x times %x is off by %v", w, headroom, x, y, d)
		}
	}
}

// TestAdder compares sums of numbers, far apart or cancelling, with exact ones.
func TestAdder(t *testing.T) {
	r := testseed.Rand(t, 4, 1)
	for range testlength.Of(2000, 20000, 200000) {
		p, q, w := uint(24+r.IntN(300)), uint(24+r.IntN(300)), 1+r.IntN(6)
		if r.IntN(2) == 0 { // of one word, in two
			p, q, w = uint(24+r.IntN(41)), uint(24+r.IntN(41)), 2
		}
		number := func(f halfulp.Format) *halfulp.Matrix {
			m := halfulp.NewMatrix(f, 1, 1)
			if r.IntN(8) > 0 {
				v := new(big.Float).SetPrec(400)
				for range r.IntN(7) {
					v.SetMantExp(v, 64)
					v.Add(v, new(big.Float).SetUint64([]uint64{0, 1, math.MaxUint64, r.Uint64()}[r.IntN(4)]))
				}
				v.Add(v, big.NewFloat(1))
				if r.IntN(2) > 0 {
					v.Neg(v)
				}
				m.SetBig(0, 0, v.SetMantExp(v, []int{0, 0, 1, -1, 64, 63, -65, 200, -1000}[r.IntN(9)]-v.MantExp(nil)))
			}
			return m
		}
		x, y := number(halfulp.MP(p)), number(halfulp.MP(q))
		if r.IntN(4) == 0 { // cancels, nearly or wholly
			v := x.Big(0, 0)
			y.SetBig(0, 0, v.Neg(v))
		}
		a := bound.NewAdder(w)
		mx, my := x.View(), y.View()
		neg, mag, exp := a.Add(&mx, &my, 0, 0)
		got := new(big.Float).SetInt(blocks.Natural(new(big.Int), mag))
		if neg {
			got.Neg(got)
		}
		got.SetMantExp(got, int(exp))
		want := new(big.Float).SetPrec(4000).Add(x.Big(0, 0), y.Big(0, 0))
		d := new(big.Float).SetPrec(4000).Sub(want, got)
		if x.Big(0, 0).Sign() == 0 && y.Big(0, 0).Sign() == 0 {
			if len(mag) > 0 {
				t.Fatal("0 + 0 is not 0")
			}
			continue
		}
		if d.Abs(d).Cmp(new(big.Float).SetMantExp(big.NewFloat(2), int(exp))) >= 0 {
			t.Fatalf("%d words: %v + %v is off by %v units", w, x, y, d.SetMantExp(d, -int(exp)))
		}
		top := max(x.Big(0, 0).MantExp(nil), y.Big(0, 0).MantExp(nil))
		if x.Big(0, 0).Sign() != 0 && y.Big(0, 0).Sign() != 0 && int(exp) != top-64*w {
			t.Fatalf("the unit is 2^%d for numbers below 2^%d", exp, top)
		}
		if n := len(mag); n > 0 && mag[n-1] == 0 {
			t.Fatal("a leading zero")
		}
	}
}

// TestEncloseNear takes errors of all sizes beside the numbers: the exact number lies inside, and
// what is cut off adds little.
func TestEncloseNear(t *testing.T) {
	r := testseed.Rand(t, 5, 1)
	x, d := halfulp.NewMatrix(halfulp.MP(200), 1, 1), halfulp.NewMatrix(halfulp.MP(100), 1, 1)
	for range testlength.Of(2000, 20000, 200000) {
		x.SetBig(0, 0, new(big.Float).SetMantExp(big.NewFloat(1-2*r.Float64()), r.IntN(5)))
		d.SetBig(0, 0, new(big.Float).SetMantExp(big.NewFloat(1-2*r.Float64()), -r.IntN(150)))
		y := &bound.Nearly{X: x.View(), D: d.View(), Err: []int64{int64(-r.IntN(260))}, Words: 4, Left: []int64{3}, Right: []int64{-5}}
		set := &bound.Rounder{Adder: bound.NewAdder(y.Words), Ends: num.New(num.Float64, 2), Tmp: nil}
		mx, md := x.View(), d.View()
		v := set.Enclose(y, &mx, &md, 0, 0)
		if !v.Known {
			continue
		}
		mid := new(big.Float).SetInt(blocks.Natural(new(big.Int), v.Mag))
		if v.Neg {
			mid.Neg(mid)
		}
		mid.SetMantExp(mid, int(v.Exp))
		want := new(big.Float).SetPrec(4000).Add(x.Big(0, 0), d.Big(0, 0))
		want.SetMantExp(want, -2)
		off := want.Sub(want, mid)
		radius := new(big.Float).SetPrec(4000).SetMantExp(new(big.Float).SetUint64(v.Err), int(v.Exp))
		err := bound.Exp2(int(y.Err[0]) - 2)
		if off.Abs(off).Add(off, err).Cmp(radius) > 0 {
			t.Fatalf("%v + %v ± 2^%d: off by %v, radius %v", x, d, y.Err[0], off, radius)
		}
		if unit := int64(5 - 256); y.Err[0] > unit+bound.Slight && radius.Cmp(err.Mul(err, big.NewFloat(1.1))) > 0 && len(v.Mag) > 1 {
			t.Fatalf("%v + %v ± 2^%d: radius %v", x, d, y.Err[0], radius)
		}
	}
}

// TestUpperOf bounds numbers of more bits than bounds have.
func TestUpperOf(t *testing.T) {
	for _, x := range []float64{1, -1} {
		v := new(big.Float).SetPrec(200).SetFloat64(x)
		v.Mul(v, new(big.Float).SetPrec(200).Add(big.NewFloat(1), bound.Exp2(-100)))
		if bound.UpperOf(v).Cmp(new(big.Float).Abs(v)) < 0 {
			t.Errorf("%v is no bound of %v", bound.UpperOf(v), v)
		}
	}
}
