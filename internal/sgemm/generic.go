package sgemm

import "math"

const genericTile = 4

var generic = &Kernel{Name: "generic", MR: genericTile, NR: genericTile, micro: microGeneric, block: block{64, 256, 64}}

// microGeneric is the reference loop, whose bits all kernels reproduce.
func microGeneric(c []float32, ldc int, a, b []float32, k int, load bool) {
	for s := range genericTile {
		for r := range genericTile {
			p := float32(0)
			if load {
				p = c[r+s*ldc]
			}
			for h := range k {
				p = fma(a[h*genericTile+r], b[h*genericTile+s], p)
			}
			c[r+s*ldc] = p
		}
	}
}

// fma returns x y + z rounded once. The product is exact in float64. The sum is rounded to
// odd; rounding it to float32 then gives the same result as rounding the exact sum (Boldo
// and Melquiond, 2008).
func fma(x, y, z float32) float32 {
	p, q := float64(float64(x)*float64(y)), float64(z)
	s := p + q
	t := s - p
	// two-sum; NaN is not rounded
	if e := float64(p-float64(s-t)) + float64(q-t); e != 0 && e == e {
		if b := math.Float64bits(s); b&1 == 0 {
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
