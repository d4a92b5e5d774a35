package rns

import (
	"fmt"
	"math"
	"math/big"
	"testing"
)

// TestVerbs: package fmt prints numbers as it prints those of package halfulp.
func TestVerbs(t *testing.T) {
	b, err := BaseFor(500, 31)
	if err != nil {
		t.Fatal(err)
	}
	x := b.NewNumber().SetBig(big.NewFloat(-1.375))
	for _, c := range []struct{ format, want string }{
		{"%v", "-1.375"}, {"%s", "-1.375"}, {"%g", "-1.375"}, {"%.2f", "-1.38"}, {"%+9.1e", " -1.4e+00"}, {"%-8v|", "-1.375  |"},
		{"%d", "%!d(halfulp.Scalar=-1.375)"},
	} {
		if got := fmt.Sprintf(c.format, x); got != c.want {
			t.Errorf("%s: %q, want %q", c.format, got, c.want)
		}
	}
	if got := fmt.Sprintf("%v %.3f", b.NewNumber().SetFloat64(math.NaN()), b.NewNumber()); got != "nan 0.000" {
		t.Error(got)
	}
	y := XFloat{F: 1.25, I: 3}
	if got := fmt.Sprintf("%v %s %.3f %7g", y, y, y, y); got != "1.25·2^3 1.25·2^3 1.250·2^3    1.25·2^3" {
		t.Error(got)
	}
}
