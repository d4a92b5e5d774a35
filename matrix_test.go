package halfulp

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestShapesBeyondInt checks the panics for shapes whose number of entries does not fit an int,
// including shapes whose number wraps around to one that fits.
func TestShapesBeyondInt(t *testing.T) {
	const half = (math.MaxInt + 1) / 2 // 4 times this wraps around to 0
	data := []float64{1, 2, 3}
	for i, v := range []struct {
		f    func()
		want string
	}{
		{func() { NewMatrix(DD, half, 4) }, errTooMany},
		{func() { NewMatrix(Float64, 4, half) }, errTooMany},
		{func() { NewMatrixLD(MP(100), 1, 5, half) }, errTooMany},
		{func() { NewMatrixBig(QD, half, 4, nil) }, errTooMany},
		{func() { NewVector(QD, half) }, errTooMany},
		{func() { NewVector(MP(MaxPrec), half/(MaxPrec/64)*4) }, errTooMany},
		{func() { NewMatrixFloat64(2, half, 4, data) }, errShort},
		{func() { NewMatrixFloat64(half, 4, half, data) }, errShort},
		{func() { NewVectorFloat64(2, math.MinInt, data) }, errShort},
		{func() { NewVectorFloat64(5, half, data) }, errShort},
		{func() { NewVectorFloat64(3, 2, data) }, errShort},
		{func() { NewVectorFloat64(1, 1, nil) }, errShort},
	} {
		if got := panics(v.f); got != v.want {
			t.Errorf("case %d: got %v, want %s", i, got, v.want)
		}
	}
	// Nothing to count, or what a slice just holds.
	if m := NewMatrix(DD, math.MaxInt, 0); m.Rows() != math.MaxInt || m.Cols() != 0 {
		t.Errorf("%d x %d", m.Rows(), m.Cols())
	}
	if m := NewMatrixFloat64(1, 2, 2, data); m.Float64(0, 1) != 3 {
		t.Errorf("entry (0, 1) = %v", m.Float64(0, 1))
	}
	x := NewVectorFloat64(2, -2, data)
	for _, step := range []int{2, math.MaxInt, math.MinInt} {
		y, want := x.Stride(step), x.Float64(0)
		if step < 0 {
			want = x.Float64(1)
		}
		if y.Len() != 1 || y.Float64(0) != want {
			t.Errorf("step %d: %d entries, want %v", step, y.Len(), want)
		}
	}
}

// TestRowMajor stores the same numbers row by row and column by column, also for gonum, and
// compares products.
func TestRowMajor(t *testing.T) {
	data := []float64{1, 2, 3, -1, 4, 5, 6, -1}
	m := NewMatrixFloat64RowMajor(2, 3, 4, data)
	const want = "1 2 3\n4 5 6"
	dense := mat.NewDense(2, 4, data).Slice(0, 2, 0, 3)
	raw := dense.(*mat.Dense).RawMatrix()
	for _, a := range []*Matrix{
		m, m.Clone(), FromRows(DD, [][]float64{{1, 2, 3}, {4, 5, 6}}), FromGonum(QD, dense), FromGonum(Float64, dense.T()).T(),
		NewMatrixFloat64RowMajor(raw.Rows, raw.Cols, raw.Stride, raw.Data), FromGonum(Float32, m.GonumView()), FromGonum(MP(9), m.T().GonumView().T()),
	} {
		if a.String() != want || !mat.Equal(a.Gonum(), dense) || !mat.Equal(a.GonumView(), dense) {
			t.Errorf("%v, want %s", a, want)
		}
		c := NewMatrix(Float64, 2, 2)
		if err := Gemm(NoTrans, Trans, Float(1), a, m, Float(0), c, nil); err != nil || c.String() != "14 32\n32 77" {
			t.Errorf("A Aᵀ = %v, %v", c, err)
		}
	}
	var product mat.Dense
	if product.Mul(m.GonumView(), m.T().GonumView()); !mat.Equal(&product, mat.NewDense(2, 2, []float64{14, 32, 32, 77})) {
		t.Errorf("gonum's product is %v", mat.Formatted(&product))
	}
	m.SetFloat64(1, 0, 40)
	if data[4] != 40 || m.GonumView().At(1, 0) != 40 {
		t.Error("the storage is not shared")
	}
	if r, c := FromRows(DD, nil).Dims(); r != 0 || c != 0 {
		t.Errorf("no rows are %d x %d", r, c)
	}
	if r, c := NewMatrixFloat64RowMajor(0, 3, 3, nil).Dims(); r != 0 || c != 3 {
		t.Errorf("0 x 3 is %d x %d", r, c)
	}
	for want, f := range map[string]func(){
		errStride: func() { NewMatrixFloat64RowMajor(2, 3, 2, data) },
		errShort:  func() { NewMatrixFloat64RowMajor(2, 3, 6, data) },
		errRagged: func() { FromRows(DD, [][]float64{{1}, {2, 3}}) },
	} {
		func() {
			defer func() {
				if got := recover(); got != want {
					t.Errorf("panic %v, want %s", got, want)
				}
			}()
			f()
		}()
	}
}
