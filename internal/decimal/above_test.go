package decimal

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

func TestAbove(t *testing.T) {
	for _, c := range []struct {
		x      float64
		digits int
		want   string
	}{
		{0, 3, "0.00e+00"},
		{1, 2, "1.0e+00"},
		{100, 3, "1.00e+02"},
		{100.0000001, 3, "1.01e+02"},
		{9.999, 3, "1.00e+01"},
		{9.991, 3, "1.00e+01"},
		{0.1, 3, "1.01e-01"}, // the float64 number is above 1/10
		{0.3, 3, "3.00e-01"}, // and this one below 3/10
		{math.MaxFloat64, 3, "1.80e+308"},
		{math.SmallestNonzeroFloat64, 3, "4.95e-324"},
	} {
		if got := AboveFloat(c.x, c.digits); got != c.want {
			t.Errorf("AboveFloat(%g, %d) = %s, want %s", c.x, c.digits, got, c.want)
		}
	}
	seed := testseed.Of(t)
	r := rand.New(rand.NewPCG(seed, 0))
	for range testlength.Of(500, 2000, 100000) {
		digits := 2 + r.IntN(5)
		x := new(big.Float).SetMantExp(new(big.Float).SetPrec(80).SetInt64(1+r.Int64()), r.IntN(900)-500)
		if r.IntN(40) == 0 {
			x.SetMantExp(x, r.IntN(6000)-3000)
		}
		s := Above(x, digits)
		v, ok := new(big.Rat).SetString(s)
		if !ok {
			t.Fatalf("seed %d: Above(%v, %d) = %s", seed, x, digits, s)
		}
		exact, _ := x.Rat(nil)
		if v.Cmp(exact) < 0 {
			t.Fatalf("seed %d: Above(%v, %d) = %s, which is less", seed, x, digits, s)
		}
		most := 1 + math.Pow10(1-digits)
		if x.MantExp(nil) > 1000 || x.MantExp(nil) < -1000 {
			most += math.Pow10(1-digits) + 4e-5
		}
		if q, _ := new(big.Rat).Quo(v, exact).Float64(); q > most {
			t.Fatalf("seed %d: Above(%v, %d) = %s, %g times as much", seed, x, digits, s, q)
		}
	}
}

// TestAbovePowers has numbers just above powers of 10 far outside the range of float64 numbers.
func TestAbovePowers(t *testing.T) {
	for k := 400; k < 2000; k += 40 {
		x, _ := new(big.Float).SetPrec(8000).SetString(fmt.Sprintf("1e%d", k))
		x.Add(x, big.NewFloat(1))
		for _, x := range []*big.Float{x, new(big.Float).Quo(big.NewFloat(1), new(big.Float).Sub(x, big.NewFloat(2)))} {
			s := Above(x, 3)
			v, ok := new(big.Rat).SetString(s)
			if exact, _ := x.Rat(nil); !ok || v.Cmp(exact) < 0 {
				t.Errorf("Above(%.20g, 3) = %s", x, s)
			}
		}
	}
}
