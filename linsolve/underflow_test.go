package linsolve

import (
	"testing"

	"github.com/halfulp/halfulp"
)

// TestDetUnderflow looks at what Stats say of determinants x y next to the smallest numbers.
func TestDetUnderflow(t *testing.T) {
	for _, c := range []struct {
		f    halfulp.Format
		x, y string
		want int64
	}{
		{halfulp.Float64, "0x1p-540", "0x1p-540", 1},
		{halfulp.Float64, "-0x1p-540", "0x1p-540", 1},
		{halfulp.Float64, "0x1p-537", "0x1p-537", 0},
		{halfulp.Float64, "0x3p-538", "0x1p-537", 1},
		{halfulp.Float64, "0x1p-3000", "0x1.8p100", 1},
		{halfulp.Float64, "0", "0x1p-540", 0},
		{halfulp.Float64, "3", "5", 0},
		{halfulp.MP(53), "0x1p-540", "0x1p-540", 0},
		{halfulp.DD, "0x1p-1000", "0x1.0000000000000000000000001p0", 1},
		{halfulp.DD, "0x1p-900", "0x1.0000000000000000000000001p0", 0},
		{halfulp.Float32, "0x1p-75", "0x1p-75", 1},
		{halfulp.Float32, "0x1p-75", "0x1p-74", 0},
	} {
		a := halfulp.NewMatrix(halfulp.MP(200), 2, 2)
		for i, text := range []string{c.x, c.y} {
			if err := a.SetString(i, i, text); err != nil {
				t.Fatal(err)
			}
		}
		d, stats, err := Det(a, c.f, nil)
		if err != nil || stats.Underflow != c.want {
			t.Errorf("%v: %s times %s is %s, %d underflows, %v", c.f, c.x, c.y, d, stats.Underflow, err)
		}
	}
}
