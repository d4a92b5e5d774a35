package bound_test

import (
	"math"
	"math/big"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/numtest"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

// TestAdder compares sums of numbers, far apart or cancelling, with exact sums.
func TestAdder(t *testing.T) {
	r := testseed.Rand(t, 4, 1)
	for range testlength.Of(2000, 6000, 200000) {
		p, q, w := uint(24+r.IntN(300)), uint(24+r.IntN(300)), 1+r.IntN(6)
		if r.IntN(2) == 0 { // numbers of one word, sum of two
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
		got := new(big.Float).SetInt(numtest.Integer(mag))
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

// TestEncloseNear encloses numbers with errors of all sizes: the exact number is in the enclosure,
// and cutting off adds little to it.
func TestEncloseNear(t *testing.T) {
	r := testseed.Rand(t, 5, 1)
	x, d := halfulp.NewMatrix(halfulp.MP(200), 1, 1), halfulp.NewMatrix(halfulp.MP(100), 1, 1)
	for range testlength.Of(2000, 6000, 200000) {
		x.SetBig(0, 0, new(big.Float).SetMantExp(big.NewFloat(1-2*r.Float64()), r.IntN(5)))
		d.SetBig(0, 0, new(big.Float).SetMantExp(big.NewFloat(1-2*r.Float64()), -r.IntN(150)))
		y := &bound.Nearly{X: x.View(), D: d.View(), Err: []int64{int64(-r.IntN(260))}, Words: 4, Left: []int64{3}, Right: []int64{-5}}
		set := &bound.Rounder{Adder: bound.NewAdder(y.Words), Ends: num.New(num.Float64, 2), Tmp: nil}
		mx, md := x.View(), d.View()
		v := set.Enclose(y, &mx, &md, 0, 0)
		if !v.Known {
			continue
		}
		mid := new(big.Float).SetInt(numtest.Integer(v.Mag))
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

// TestUpperOf bounds numbers of more bits than a bound has.
func TestUpperOf(t *testing.T) {
	for _, x := range []float64{1, -1} {
		v := new(big.Float).SetPrec(200).SetFloat64(x)
		v.Mul(v, new(big.Float).SetPrec(200).Add(big.NewFloat(1), bound.Exp2(-100)))
		if bound.UpperOf(v).Cmp(new(big.Float).Abs(v)) < 0 {
			t.Errorf("%v is no bound of %v", bound.UpperOf(v), v)
		}
	}
}
