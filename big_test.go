package halfulp

import (
	"math"
	"math/big"
	"testing"
)

// TestFromBig compares rounding of math/big numbers to nearest, ties to even, column by column.
func TestFromBig(t *testing.T) {
	tie := func(last int64) *big.Float { // 1 + last 2^-23 + 2^-24
		x := new(big.Float).SetPrec(100).SetMantExp(big.NewFloat(float64(2*last+1)), -24)
		return x.Add(x, big.NewFloat(1))
	}
	data := []*big.Float{tie(0), tie(1), big.NewFloat(-0x1p200), new(big.Float).SetInf(true), big.NewFloat(3), new(big.Float), nil}
	want := []float64{1, 1 + 0x1p-22, math.Inf(-1), math.Inf(-1), 3, 0}
	m := NewMatrixBig(Float32, 2, 3, data)
	x := NewVectorBig(Float32, data[:6])
	if r, c := m.Dims(); r != 2 || c != 3 || x.Len() != 6 || m.NumberFormat() != Float32 || x.NumberFormat() != Float32 {
		t.Fatalf("%d x %d of %v, %d of %v", r, c, m.NumberFormat(), x.Len(), x.NumberFormat())
	}
	for k, w := range want {
		if got := m.At(k%2, k/2).Float64(); got != w {
			t.Errorf("entry (%d, %d) = %v, want %v", k%2, k/2, got, w)
		}
		if got := x.At(k).Float64(); got != w {
			t.Errorf("entry %d = %v, want %v", k, got, w)
		}
	}
	defer func() {
		if recover() != errShort {
			t.Error("too few numbers do not panic")
		}
	}()
	NewMatrixBig(DD, 2, 4, data)
}
