package product

import (
	"testing"

	"github.com/halfulp/halfulp/internal/gpu/gputest"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/residue"
)

// TestEstimate checks what the choice of a device rests on: the GPU gains on two threads of
// the CPU with the size of a product, and times grow with size and precision.
func TestEstimate(t *testing.T) {
	var before float64
	for _, n := range []int{8, 64, 512, 4096} {
		f := gputest.MP(212)
		g, ok := Estimate(n, n, n, f, f, f)
		if !ok {
			t.Fatalf("n = %d: not for the GPU", n)
		}
		c, _ := residue.Estimate(2, n, n, n, f, f, f, [2]bool{})
		gain := c.Seconds() / g.Seconds()
		if gain <= before {
			t.Errorf("n = %d: the GPU gains %g, at the size before %g", n, gain, before)
		}
		before = gain
		if n == 8 && gain > 1 || n == 4096 && gain < 1 {
			t.Errorf("n = %d: CPU %v, GPU %v", n, c, g)
		}
		h, _ := Estimate(n, n, n, gputest.MP(848), gputest.MP(848), gputest.MP(848))
		if d, _ := residue.Estimate(2, n, n, n, gputest.MP(848), gputest.MP(848), gputest.MP(848), [2]bool{}); h <= g || d <= c {
			t.Errorf("n = %d: 848 bits take %v and %v, 212 bits %v and %v", n, d, h, c, g)
		}
	}
	for _, k := range []int{0, maxInner + 1} {
		if d, ok := Estimate(10, 10, k, num.Float64, num.Float64, num.Float64); ok {
			t.Errorf("k = %d: %v", k, d)
		}
	}
}
