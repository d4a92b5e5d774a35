package linsolve

import (
	"github.com/halfulp/halfulp/internal/num"
)

// may fuse throughout: estimates of memory, none of them a result.

// planeBytes returns the bytes of a in planes of 64 bits: see fixed.New.
func planeBytes(a num.Mat, planes int) float64 {
	if a.Arr.Kind == num.F64 && planes <= 2 {
		planes = 1
	}
	return 8 * float64(a.Rows) * float64(a.Cols) * float64(planes)
}

// fewBytes returns the bytes that a solution with few right-hand sides in format f takes: float64
// factors, the inverses of both triangles, and A in fixed point, of as many bits as the result and
// about a word more, unless A has fewer.
func fewBytes(a num.Mat, f num.Format, columns int) float64 {
	n, cut := float64(a.Rows), float64(upperCut(a.Rows, columns))
	return 8*(2*n*n+cut*cut+(n-cut)*(n-cut)) + planeBytes(a, (min(f.Bits(), a.Format().Bits())+127)/64)
}
