package halfulp

import (
	"math/big"
	"strings"
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
		a, b := Random(f, 40, 30, 0, 7), Random(f, 40, 30, 0, 7)
		if !a.Same(b) || a.Same(Random(f, 40, 30, 0, 8)) {
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
		s := Random(f, 40, 30, 50, 7)
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

func TestHilbertVandermonde(t *testing.T) {
	for _, f := range []Format{Float32, Float64, DD, QD, MP(53), MP(300)} {
		h := Hilbert(f, 7)
		for i := range 7 {
			for j := range 7 {
				var want Scalar
				if f.IsMP() {
					want = NewScalar(f, new(big.Float).SetPrec(uint(f.Bits())).Quo(big.NewFloat(1), big.NewFloat(float64(i+j+1))))
				} else {
					q := new(big.Float).SetPrec(4000).Quo(big.NewFloat(1), big.NewFloat(float64(i+j+1)))
					want = NewScalar(f, q)
				}
				if !h.At(i, j).Same(want) {
					t.Fatalf("%v: h(%d,%d) = %v, want %v", f, i, j, h.At(i, j), want)
				}
			}
		}
		nodes := NewVector(f, 3)
		for i, s := range []string{"0.1", "-3", "0"} {
			if err := nodes.SetString(i, s); err != nil {
				t.Fatal(err)
			}
		}
		v := Vandermonde(f, nodes, 6)
		for i := range 3 {
			p := new(big.Float).SetPrec(5000).SetInt64(1)
			for j := range 6 {
				if want := NewScalar(f, p); !v.At(i, j).Same(want) {
					t.Fatalf("%v: v(%d,%d) = %v, want %v", f, i, j, v.At(i, j), want)
				}
				p.Mul(p, nodes.Big(i))
			}
		}
		if id := Identity(f, 3); id.String() != "1 0 0\n0 1 0\n0 0 1" {
			t.Errorf("identity:\n%v", id)
		}
	}
}

// TestVandermondeRange takes powers at the ends of the exponents of MP, which big.Float does not
// reach.
func TestVandermondeRange(t *testing.T) {
	for _, c := range []struct {
		f          Format
		node, want string // powers from 0 on, in hexadecimal
	}{
		// 81 x 2^-2147483656 is more than half of the least number, 2^-2147483649.
		{MP(53), "0x9p-1073741828", "0x1p+0 0x1.2p-1073741825 0x1p-2147483649 0x0p+0"},
		{MP(53), "-0x1p-1073741825", "0x1p+0 -0x1p-1073741825 0x0p+0 -0x0p+0"}, // a tie
		{MP(200), "0x1.00000000000000000001p-1073741825", "0x1p+0 0x1.00000000000000000001p-1073741825 0x1p-2147483649"},
		{MP(53), "-0x1p-715827883", "0x1p+0 -0x1p-715827883 0x1p-1431655766 -0x1p-2147483649 0x0p+0"},
		{MP(53), "0x1p1073741823", "0x1p+0 0x1p+1073741823 0x1p+2147483646 inf"},
		{MP(53), "-0x1.6a09e667f3bcap1073741823", "0x1p+0 -0x1.6a09e667f3bcap+1073741823 0x1.ffffffffffff9p+2147483646 -inf"},
		{MP(4), "0x1.6p1073741823", "0x1p+0 0x1.6p+1073741823 0x1.ep+2147483646 inf"},
		{MP(2), "0x1.8p1073741823", "0x1p+0 0x1.8p+1073741823 inf inf"},
		{MP(64), "-0", "0x1p+0 -0x0p+0 0x0p+0 -0x0p+0"},
		{MP(64), "-inf", "0x1p+0 -inf inf -inf"},
	} {
		x := NewVector(c.f, 1)
		if err := x.SetString(0, c.node); err != nil {
			t.Fatal(err)
		}
		want := strings.Fields(c.want)
		v := Vandermonde(c.f, x, len(want))
		for j, w := range want {
			if got := v.At(0, j).Hex(); got != w {
				t.Errorf("%v: (%s)^%d is %s, want %s", c.f, c.node, j, got, w)
			}
		}
		for _, f := range []Format{Float64, QD} { // the numbers are beyond these formats
			for j, s := range want {
				got := Vandermonde(f, x, len(want)).At(0, j)
				if w := v.At(0, j).Convert(f); !got.Same(w) {
					t.Errorf("(%s)^%d in %v is %v, want %v of %s", c.node, j, f, got, w, s)
				}
			}
		}
	}
}

// TestWampler compares with values of the published files.
func TestWampler(t *testing.T) {
	published := map[int][]string{
		1: {"1", "6", "63", "364", "1365", "3906", "9331", "19608", "37449", "66430", "111111", "177156", "271453",
			"402234", "579195", "813616", "1118481", "1508598", "2000719", "2613660", "3368421"},
		2: {"1.00000", "1.11111", "1.24992", "1.42753", "1.65984", "1.96875", "2.38336", "2.94117", "3.68928", "4.68559",
			"6.00000", "7.71561", "9.92992", "12.75603", "16.32384", "20.78125", "26.29536", "33.05367", "41.26528",
			"51.16209", "63.00000"},
		3: {"760", "-2042", "2111", "-1684", "3888", "1858", "11379", "17560", "39287", "64382", "113159", "175108",
			"273291", "400186", "581243", "811568", "1121004", "1506550", "2002767", "2611612", "3369180"},
		4: {"75901", "-204794"}, 5: {"7590001", "-20479994"},
	}
	for k, ys := range published {
		x, y := Wampler(MP(80), k)
		for i, s := range ys {
			if want, _ := ParseScalar(MP(80), s); !y.At(i).Same(want) {
				t.Errorf("Wampler%d: y(%d) = %v, want %v", k, i, y.At(i), want)
			}
		}
		for j := range 6 {
			if got := x.At(20, j).String(); got != []string{"1", "20", "400", "8000", "160000", "3200000"}[j] {
				t.Errorf("Wampler%d: x(20,%d) = %s", k, j, got)
			}
		}
	}
	// The disturbance is orthogonal to the columns of X.
	x, y3 := Wampler(Float64, 3)
	_, y1 := Wampler(Float64, 1)
	for j := range 6 {
		sum := 0.0
		for i := range 21 {
			sum += x.Float64(i, j) * (y3.Float64(i) - y1.Float64(i))
		}
		if sum != 0 {
			t.Errorf("column %d: %v", j, sum)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("Wampler6 exists")
		}
	}()
	Wampler(Float64, 6)
}
