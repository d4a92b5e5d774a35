package main

import (
	"math"
	"math/big"
	"testing"

	"github.com/halfulp/halfulp/internal/testseed"
	"github.com/halfulp/halfulp/rns"
)

// TestBoundText: two digits, never below the bound, less than a unit above.
func TestBoundText(t *testing.T) {
	for _, c := range []struct {
		x    rns.XFloat
		want string
	}{
		{rns.XFloat{}, "0"},
		{rns.XFloat{F: math.Inf(1)}, "none"},
		{rns.XFloat{F: 1}, "1.0e+00"},
		{rns.XFloat{F: 1.5, I: 1}, "3.0e+00"},
		{rns.XFloat{F: math.Nextafter(1.5, 2), I: 1}, "3.1e+00"},
		{rns.XFloat{F: 1.249, I: 3}, "1.0e+01"},   // 9.992
		{rns.XFloat{F: 1.00001, I: 0}, "1.1e+00"}, // to nearest it would be 1.0
	} {
		if got := boundText(c.x); got != c.want {
			t.Errorf("boundText(%v) = %s, want %s", c.x, got, c.want)
		}
	}
	r := testseed.Rand(t, 1, 1)
	for range 1000 {
		x := rns.XFloat{F: 1 + r.Float64(), I: int32(r.IntN(8000) - 4000)}
		v, _, err := big.ParseFloat(boundText(x), 10, 200, big.ToNearestEven)
		if err != nil {
			t.Fatal(err)
		}
		if q, _ := v.Quo(v, x.Big()).Float64(); q < 1 || q > 1.1 {
			t.Errorf("boundText(%v) = %s, %v times as much", x, boundText(x), q)
		}
	}
}
