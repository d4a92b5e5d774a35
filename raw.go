package halfulp

import (
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/raw"
	"github.com/halfulp/halfulp/internal/residue"
)

func init() {
	raw.Vector = func(x any) num.Vec { return x.(*Vector).vec() }
	raw.Matrix = func(x any) num.Mat { return x.(*Matrix).mat() }
	raw.Scalar = func(x any) num.Real { return x.(Scalar).value() }
	raw.GemmWithin = func(alpha float64, a, b any, beta float64, c, d any, bound *residue.Bound, opt any) (any, error) {
		return raw.GemmTriangle(alpha, a, b, beta, c, d, 0, [2]byte{}, bound, opt)
	}
	raw.GemmTriangle = func(alpha float64, a, b any, beta float64, c, d any, triangle byte, factors [2]byte, bound *residue.Bound, opt any) (any, error) {
		x, y, z := a.(*Matrix), b.(*Matrix), d.(*Matrix)
		old := orUnread(c.(*Matrix), Float(beta), z)
		return gemmWithin(x.mat(), y.mat(), old.m, z.mat(), Float(alpha), Float(beta), x.prepared, y.prepared, triangle, factors, bound, opt.(*Options))
	}
	raw.NewMatrix = func(m num.Mat) any { return &Matrix{m: m} }
}
