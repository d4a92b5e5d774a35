package eigen

import (
	"reflect"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/niltest"
)

// TestNil calls every exported function with nil operands.
func TestNil(t *testing.T) {
	o := niltest.Operands{}
	add := func(in reflect.Type, make func() reflect.Value) { o[in] = make }
	add(niltest.Of(func() *halfulp.Matrix { return halfulp.Identity(halfulp.Float64, 2) }))
	add(niltest.Of(func() *halfulp.Vector { return halfulp.NewVector(halfulp.Float64, 2) }))
	o.Functions(t, map[string]any{
		"GaussLegendre": GaussLegendre, "GaussHermite": GaussHermite, "GaussLaguerre": GaussLaguerre,
		"GaussChebyshev1": GaussChebyshev1, "GaussChebyshev2": GaussChebyshev2, "RealRoots": RealRoots, "GaussGenLaguerre": GaussGenLaguerre, "GaussJacobi": GaussJacobi, "GaussGegenbauer": GaussGegenbauer, "Tridiagonal": Tridiagonal,
		"Cond2": Cond2, "LeastSquares": LeastSquares, "Norm2": Norm2, "Pinv": Pinv, "Rank": Rank, "SVD": SVD, "Sym": Sym, "SymGeneral": SymGeneral, "NullSpace": NullSpace,
		"Polar": Polar, "SymFunc": func(a *halfulp.Matrix, f halfulp.Format, opt *halfulp.Options) (*halfulp.Matrix, error) {
			return SymFunc(Exp, a, f, opt)
		},
	})
}
