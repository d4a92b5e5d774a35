package linsolve

import (
	"reflect"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/niltest"
)

// TestNil calls every exported function with nil operands, and the methods of factors, nil and zero
// ones as well.
func TestNil(t *testing.T) {
	o := niltest.Operands{}
	add := func(in reflect.Type, make func() reflect.Value) { o[in] = make }
	add(niltest.Of(func() *halfulp.Matrix { return halfulp.Identity(halfulp.Float64, 2) }))
	add(niltest.Of(func() *halfulp.Vector { return halfulp.FromRows(halfulp.Float64, [][]float64{{1, 2}}).Row(0) }))
	add(niltest.Of(func() halfulp.Norm { return halfulp.OneNorm }))
	o.Functions(t, map[string]any{
		"Cholesky": Cholesky, "LDLT": LDLT, "LU": LU, "QR": QR, "QRPivoted": QRPivoted, "PolyFit": PolyFit, "Regression": Regression,
		"VerifyProduct": VerifyProduct, "VerifySolution": VerifySolution, "Cond": Cond, "Det": Det, "LogDet": LogDet, "Enclose": Enclose,
		"EncloseSet": EncloseSet, "Expm": Expm, "Inverse": Inverse, "LeastSquares": LeastSquares, "NullSpace": NullSpace, "Pow": Pow, "Rank": Rank,
		"Solve": Solve, "SolveBatch": SolveBatch,
	})
	a := halfulp.Identity(halfulp.Float64, 2)
	cholesky, err1 := Cholesky(a, halfulp.DD, nil)
	ldlt, err2 := LDLT(a, halfulp.DD, nil)
	lu, err3 := LU(a, halfulp.DD, nil)
	qr, err4 := QR(a, halfulp.DD, nil)
	for i, err := range []error{err1, err2, err3, err4} {
		if err != nil {
			t.Fatal(i, err)
		}
	}
	for _, f := range []any{cholesky, ldlt, lu, qr, &CholeskyFactors{}, &LDLTFactors{}, &LUFactors{}, &QRFactors{}} {
		o.Methods(t, f)
	}
	defer func() {
		if p := recover(); p != errFactors {
			t.Errorf("a solution with zero factors panics with %v", p)
		}
	}()
	_, _ = new(LUFactors).Solve(a, halfulp.DD, nil)
}
