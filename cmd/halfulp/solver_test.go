package main

import (
	"math"
	"testing"

	"github.com/halfulp/halfulp"
)

// TestLargest has entries beyond the range of float64: only zeros have the largest entry 0.
func TestLargest(t *testing.T) {
	m := halfulp.NewMatrix(residualFormat, 2, 2)
	for _, x := range []struct{ entry, want string }{{"0", "0"}, {"-3.25e-400", "3.25e-400"}, {"0.5", "0.5"}, {"-7e500", "7e+500"}} {
		if err := m.SetString(1, 0, x.entry); err != nil {
			t.Fatal(err)
		}
		if got := largest(m); got != x.want {
			t.Errorf("of %s: %s, want %s", x.entry, got, x.want)
		}
	}
	m.SetFloat64(0, 0, math.Inf(-1))
	if got := largest(m); got != "+Inf" {
		t.Errorf("of infinities: %s", got)
	}
	m.SetFloat64(1, 1, math.NaN())
	if got := largest(m); got != "NaN" {
		t.Errorf("of NaN: %s", got)
	}
}
