package gallery

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/halfulp/halfulp"
)

func TestHilbertVandermonde(t *testing.T) {
	for _, f := range []halfulp.Format{halfulp.Float32, halfulp.Float64, halfulp.DD, halfulp.QD, halfulp.MP(53), halfulp.MP(300)} {
		h := Hilbert(f, 7)
		for i := range 7 {
			for j := range 7 {
				var want halfulp.Scalar
				if f.IsMP() {
					want = halfulp.NewScalar(f, new(big.Float).SetPrec(uint(f.Bits())).Quo(big.NewFloat(1), big.NewFloat(float64(i+j+1))))
				} else {
					q := new(big.Float).SetPrec(4000).Quo(big.NewFloat(1), big.NewFloat(float64(i+j+1)))
					want = halfulp.NewScalar(f, q)
				}
				if !h.At(i, j).Same(want) {
					t.Fatalf("%v: h(%d,%d) = %v, want %v", f, i, j, h.At(i, j), want)
				}
			}
		}
		nodes := halfulp.NewVector(f, 3)
		for i, s := range []string{"0.1", "-3", "0"} {
			if err := nodes.SetString(i, s); err != nil {
				t.Fatal(err)
			}
		}
		v := Vandermonde(f, nodes, 6)
		for i := range 3 {
			p := new(big.Float).SetPrec(5000).SetInt64(1)
			for j := range 6 {
				if want := halfulp.NewScalar(f, p); !v.At(i, j).Same(want) {
					t.Fatalf("%v: v(%d,%d) = %v, want %v", f, i, j, v.At(i, j), want)
				}
				p.Mul(p, nodes.Big(i))
			}
		}
	}
}

// TestVandermondeRange takes powers at the ends of the exponents of halfulp.MP, which big.Float
// does not reach.
func TestVandermondeRange(t *testing.T) {
	for _, c := range []struct {
		f          halfulp.Format
		node, want string // powers from 0 on, in hexadecimal
	}{
		// 81 x 2^-2147483656 is more than half of the least number, 2^-2147483649.
		{halfulp.MP(53), "0x9p-1073741828", "0x1p+0 0x1.2p-1073741825 0x1p-2147483649 0x0p+0"},
		{halfulp.MP(53), "-0x1p-1073741825", "0x1p+0 -0x1p-1073741825 0x0p+0 -0x0p+0"}, // a tie
		{halfulp.MP(200), "0x1.00000000000000000001p-1073741825", "0x1p+0 0x1.00000000000000000001p-1073741825 0x1p-2147483649"},
		{halfulp.MP(53), "-0x1p-715827883", "0x1p+0 -0x1p-715827883 0x1p-1431655766 -0x1p-2147483649 0x0p+0"},
		{halfulp.MP(53), "0x1p1073741823", "0x1p+0 0x1p+1073741823 0x1p+2147483646 inf"},
		{halfulp.MP(53), "-0x1.6a09e667f3bcap1073741823", "0x1p+0 -0x1.6a09e667f3bcap+1073741823 0x1.ffffffffffff9p+2147483646 -inf"},
		{halfulp.MP(4), "0x1.6p1073741823", "0x1p+0 0x1.6p+1073741823 0x1.ep+2147483646 inf"},
		{halfulp.MP(2), "0x1.8p1073741823", "0x1p+0 0x1.8p+1073741823 inf inf"},
		{halfulp.MP(64), "-0", "0x1p+0 -0x0p+0 0x0p+0 -0x0p+0"},
		{halfulp.MP(64), "-inf", "0x1p+0 -inf inf -inf"},
	} {
		x := halfulp.NewVector(c.f, 1)
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
		// the numbers are beyond these formats
		for _, f := range []halfulp.Format{halfulp.Float64, halfulp.QD} {
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
		x, y := Wampler(halfulp.MP(80), k)
		for i, s := range ys {
			if want, _ := halfulp.ParseScalar(halfulp.MP(80), s); !y.At(i).Same(want) {
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
	x, y3 := Wampler(halfulp.Float64, 3)
	_, y1 := Wampler(halfulp.Float64, 1)
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
	Wampler(halfulp.Float64, 6)
}

// TestPanics: a matrix of too many entries, and nodes that are nil.
func TestPanics(t *testing.T) {
	for name, f := range map[string]func(){
		"Hilbert":     func() { Hilbert(halfulp.Float64, math.MaxInt) },
		"Vandermonde": func() { Vandermonde(halfulp.Float64, nil, 2) },
	} {
		func() {
			defer func() {
				if message, ok := recover().(string); !ok || !strings.HasPrefix(message, "halfulp: ") {
					t.Errorf("%s: %v", name, message)
				}
			}()
			f()
		}()
	}
}
