package halfulp

import (
	"encoding/json"
	"math/big"
	"reflect"
	"testing"

	"github.com/halfulp/halfulp/internal/niltest"
	"gonum.org/v1/gonum/mat"
)

// nilOperands makes operands of 2 x 2 matrices.
func nilOperands() niltest.Operands {
	o := niltest.Operands{}
	add := func(in reflect.Type, make func() reflect.Value) { o[in] = make }
	add(niltest.Of(func() *Matrix { return Identity(Float64, 2) }))
	add(niltest.Of(func() *Vector { return NewVector(Float64, 2) }))
	add(niltest.Of(func() Transpose { return NoTrans }))
	add(niltest.Of(func() Uplo { return Upper }))
	add(niltest.Of(func() Side { return Left }))
	add(niltest.Of(func() Diag { return Unit }))
	add(niltest.Of(func() *big.Float { return big.NewFloat(1) }))
	o[reflect.TypeFor[mat.Matrix]()] = func() reflect.Value { return reflect.ValueOf(mat.Matrix(mat.NewDense(1, 1, nil))) }
	return o
}

// TestNil calls every exported function and method with nil operands.
func TestNil(t *testing.T) {
	nilOperands().Functions(t, map[string]any{
		"Asum": Asum, "Dot": Dot, "Nrm2": Nrm2, "Sum": Sum, "Trace": Trace, "Axpy": Axpy, "Copy": Copy,
		"CumSum": CumSum, "Gbmv": Gbmv, "Gemm": Gemm, "GemmBatch": GemmBatch, "GemmTo": GemmTo, "Gemv": Gemv, "GemvTo": GemvTo, "Ger": Ger, "Iamax": Iamax, "Rot": Rot, "Rotm": Rotm,
		"Sbmv": Sbmv, "Scal": Scal, "Spmv": Spmv, "Swap": Swap, "Symm": Symm, "SymmTo": SymmTo, "Symv": Symv, "Syr": Syr, "Syr2": Syr2, "Syr2k": Syr2k,
		"Syr2kTo": Syr2kTo, "Syrk": Syrk, "Trmm": Trmm, "TrmmTo": TrmmTo, "Trmv": Trmv, "Trsm": Trsm, "TrsmTo": TrsmTo, "Trsv": Trsv, "Rotg": Rotg,
		"Rotmg": Rotmg, "FromGonum": FromGonum, "Prepare": Prepare, "NewScalar": NewScalar, "NewVectorBig": NewVectorBig,
		"Mul": Mul, "Add": Add, "Sub": Sub,
	})
	nilOperands().Methods(t, Identity(Float64, 2))
	nilOperands().Methods(t, NewVector(Float64, 2))
	nilOperands().Methods(t, Float(1))
	nilOperands().Methods(t, Float64)
	for _, c := range []struct {
		f    func()
		want string
	}{
		{func() { (*Matrix)(nil).At(0, 0) }, errNilMatrix},
		{func() { (*Vector)(nil).Len() }, errNilVector},
		{func() { _ = Gemm(NoTrans, NoTrans, Float(1), Identity(DD, 2), nil, Float(0), Identity(DD, 2), nil) }, errNilMatrix},
		{func() { _, _ = Sum(nil, DD, nil) }, errNilVector},
		{func() { FromGonum(DD, nil) }, errNilGonum},
		{func() { NewScalar(DD, nil) }, "halfulp: nil big.Float"},
	} {
		if got := panics(c.f); got != c.want {
			t.Errorf("panics with %v, want %s", got, c.want)
		}
	}
	if text, err := json.Marshal(struct{ M *Matrix }{}); err != nil || string(text) != `{"M":null}` {
		t.Errorf("nil in JSON: %s, %v", text, err)
	}
}
