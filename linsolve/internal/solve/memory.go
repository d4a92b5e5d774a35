package solve

import (
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/seed"
)

// may fuse throughout: estimates of memory, none of them a result.

// fewBytes returns the bytes that a solution with few right-hand sides in format f takes: float64
// factors, the inverses of both triangles, and A in fixed point, of as many bits as the result and
// about a word more, unless A has fewer.
func fewBytes(a num.Mat, f num.Format, columns int) float64 {
	n, cut := float64(a.Rows), float64(seed.UpperCut(a.Rows, columns))
	return 8*(2*n*n+cut*cut+(n-cut)*(n-cut)) + call.PlaneBytes(a, (min(f.Bits(), a.Format().Bits())+127)/64)
}
