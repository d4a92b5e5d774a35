package sgemm

import "math"

// A Kernel is one machine's way to multiply a panel by a panel.
type Kernel struct {
	Name   string
	MR, NR int // widths of the panels of the left and the right factor
	// micro runs the chains of a tile over k entries: c[r + s MR] is entry (r, s).
	micro func(c, a, b []float32, k int)
}

var generic = &Kernel{Name: "generic", MR: 4, NR: 4, micro: microGeneric}

// Best returns the fastest kernel of the level in force.
func Best() *Kernel { return generic }

// microGeneric is the loop that all kernels equal.
func microGeneric(c, a, b []float32, k int) {
	for h := range k {
		for s, y := range b[h*4 : h*4+4] {
			for r, x := range a[h*4 : h*4+4] {
				c[r+s*4] = fma(x, y, c[r+s*4])
			}
		}
	}
}

// fma returns x y + z rounded once. The product is exact in float64; the sum is rounded to
// odd, which a second rounding to float32 cannot tell from the exact sum (Boldo and
// Melquiond, 2008).
func fma(x, y, z float32) float32 {
	p, q := float64(x)*float64(y), float64(z)
	s := p + q
	t := s - p
	if e := (p - (s - t)) + (q - t); e != 0 { // two-sum; NaN is not rounded
		if b := math.Float64bits(s); b&1 == 0 && e == e {
			if (e > 0) == (s > 0) {
				b++
			} else {
				b--
			}
			s = math.Float64frombits(b)
		}
	}
	return float32(s)
}
