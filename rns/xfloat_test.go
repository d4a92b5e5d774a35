package rns

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp/internal/testlength"
)

func randomX(r *rand.Rand) XFloat {
	f := math.Float64frombits(r.Uint64()&fracMask | oneExp)
	switch r.IntN(8) {
	case 0:
		f = 1
	case 1:
		f = math.Nextafter(2, 1)
	case 2:
		f = math.Nextafter(1, 2)
	case 3:
		return xZero
	}
	return XFloat{f, int32(r.IntN(1 << r.IntN(9)))}
}

func TestXFloat(t *testing.T) {
	r := newRand(t, 10)
	ops := []struct {
		name     string
		down, up func(x, y XFloat) XFloat
		exact    func(z, x, y *big.Float) *big.Float
	}{
		{"+", XFloat.AddDown, XFloat.AddUp, (*big.Float).Add},
		{"-", XFloat.SubDown, XFloat.SubUp, (*big.Float).Sub},
		{"*", XFloat.MulDown, XFloat.MulUp, (*big.Float).Mul},
		{"/", XFloat.DivDown, XFloat.DivUp, (*big.Float).Quo},
	}
	for range testlength.Trials(100000) {
		x, y := randomX(r), randomX(r)
		if r.IntN(4) == 0 {
			y = XFloat{y.F, x.I + int32(r.IntN(5)-2)}
		}
		if y.isZero() {
			y.I = 0
		}
		if got, want := x.Cmp(y), x.Big().Cmp(y.Big()); got != want {
			t.Fatalf("%v cmp %v = %d", x, y, got)
		}
		for _, op := range ops {
			if op.name == "/" && y.isZero() {
				continue
			}
			exact := op.exact(new(big.Float).SetPrec(2000), x.Big(), y.Big())
			if exact.Sign() < 0 {
				exact.SetInt64(0)
			}
			down := new(big.Float).SetMode(big.ToZero).SetPrec(53).Set(exact)
			up := new(big.Float).SetMode(big.AwayFromZero).SetPrec(53).Set(exact)
			if got := op.down(x, y).Big(); got.Cmp(down) != 0 {
				t.Fatalf("%v %s %v down: %v, want %v", x, op.name, y, got, down)
			}
			if got := op.up(x, y).Big(); got.Cmp(up) != 0 {
				t.Fatalf("%v %s %v up: %v, want %v", x, op.name, y, got, up)
			}
			for _, z := range []XFloat{op.down(x, y), op.up(x, y)} {
				if z != xZero && (z.F < 1 || z.F >= 2) {
					t.Fatalf("%v %s %v = %v", x, op.name, y, z)
				}
			}
		}
	}
}

func TestXFloatRange(t *testing.T) {
	big, small := XFloat{1.5, math.MaxInt32}, XFloat{1.5, math.MinInt32}
	largest := XFloat{math.Nextafter(2, 1), math.MaxInt32}
	for _, c := range []struct {
		name      string
		got, want XFloat
	}{
		{"add down", big.AddDown(big), largest},
		{"add up", big.AddUp(big), xInf},
		{"mul down", big.MulDown(big), largest},
		{"mul up", big.MulUp(big), xInf},
		{"small down", small.MulDown(small), xZero},
		{"small up", small.MulUp(small), XFloat{1, math.MinInt32}},
		{"sub down", small.SubDown(XFloat{1, math.MinInt32}), xZero},
		{"sub up", small.SubUp(XFloat{1, math.MinInt32}), XFloat{1, math.MinInt32}},
		{"inf up", xInf.AddUp(small), xInf},
		{"zero times inf", xZero.MulUp(xInf), xZero},
		{"far up", big.AddUp(small), XFloat{math.Nextafter(1.5, 2), math.MaxInt32}},
		{"far down", big.SubDown(small), XFloat{math.Nextafter(1.5, 1), math.MaxInt32}},
		{"x / 0", small.DivDown(xZero), xInf},
		{"0 / 0", xZero.DivUp(xZero), xInf},
		{"1 / inf", XFloat{1, 0}.DivUp(xInf), xZero},
		{"div up", big.DivUp(small), xInf},
		{"scale", XFloat{1.25, 3}.Scale(-10), XFloat{1.25, -7}},
		{"scale zero", xZero.Scale(7), xZero},
	} {
		if c.got != c.want {
			t.Errorf("%s: %v, want %v", c.name, c.got, c.want)
		}
	}
	if xInf.Cmp(largest) != 1 || xInf.Cmp(xInf) != 0 || xZero.Cmp(xInf) != -1 {
		t.Error("comparisons with infinity")
	}
}
