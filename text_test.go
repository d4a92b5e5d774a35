package halfulp

import (
	"testing"
)

func TestScalarText(t *testing.T) {
	x, err := ParseScalar(MP(100), "-1.25e-3")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		got, want string
	}{
		{x.String(), "-0.00125"},
		{x.Text(5), "-0.0012500"},
		{Float(-0.125).Text(2), "-0.12"},
		{Float(0.375).Text(2), "0.38"},
		{Float(1.5).Hex(), "0x1.8p+0"},
		{Float(0.1).Text(20), "0.10000000000000000555"},
		{NaN(DD).String(), "nan"},
		{Scalar{}.String(), "0"},
		{Float(1e300).String(), "1e+300"},
		{Float(123).Text(2), "1.2e+2"},
	} {
		if c.got != c.want {
			t.Errorf("got %s, want %s", c.got, c.want)
		}
	}
	if _, err := ParseScalar(Float64, "one"); err == nil {
		t.Error("one is a number")
	}
}

func TestMatrixText(t *testing.T) {
	m := NewMatrix(Float64, 2, 2)
	for i, s := range []string{"1", "-2.5", "1e3", "0.1"} {
		if err := m.SetString(i/2, i%2, s); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := m.String(), "   1 -2.5\n1000  0.1"; got != want {
		t.Errorf("got\n%s, want\n%s", got, want)
	}
	if got, want := m.T().String(), "   1 1000\n-2.5  0.1"; got != want {
		t.Errorf("got\n%s, want\n%s", got, want)
	}
	if got, want := m.Col(1).String(), "-2.5\n0.1"; got != want {
		t.Errorf("got\n%s, want\n%s", got, want)
	}
	if m.SetString(0, 0, "x") == nil || m.Col(0).SetString(0, "1..") == nil {
		t.Error("no error")
	}
}

func TestRandom(t *testing.T) {
	for _, f := range []Format{Float32, Float64, DD, TD, QD, MP(2), MP(64), MP(424), MP(1000)} {
		a, b := randomMatrix(f, 40, 30, 0, 7), randomMatrix(f, 40, 30, 0, 7)
		if !a.Same(b) || a.Same(randomMatrix(f, 40, 30, 0, 8)) {
			t.Fatalf("%v: the seed does not decide", f)
		}
		neg, small, full := 0, 0, 0
		for i := range 40 {
			for j := range 30 {
				x := a.Big(i, j)
				if x.Sign() == 0 || x.IsInf() || x.MantExp(nil) > 0 {
					t.Fatalf("%v: %v out of (-1, 1)", f, x)
				}
				if x.Sign() < 0 {
					neg++
				}
				if x.MantExp(nil) < 0 {
					small++
				}
				if x.MinPrec() == uint(f.Bits()) {
					full++
				}
			}
		}
		for _, n := range []int{neg, small, full} { // each 600 on average, deviation 17
			if n < 500 || n > 700 {
				t.Errorf("%v: %d negative, %d below 1/2, %d of full length among 1200", f, neg, small, full)
			}
		}
		low, high := 0, 0
		s := randomMatrix(f, 40, 30, 50, 7)
		for i := range 40 {
			for j := range 30 {
				e := s.Big(i, j).MantExp(nil)
				low, high = min(low, e), max(high, e)
			}
		}
		if low > -45 || high < 45 || high > 50 {
			t.Errorf("%v: exponents from %d to %d", f, low, high)
		}
	}
}

func TestIdentity(t *testing.T) {
	for _, f := range []Format{Float32, Float64, DD, QD, MP(53), MP(300)} {
		if id := Identity(f, 3); id.String() != "1 0 0\n0 1 0\n0 0 1" {
			t.Errorf("%v: identity:\n%v", f, id)
		}
	}
}
