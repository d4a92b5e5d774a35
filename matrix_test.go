package halfulp

import (
	"math"
	"testing"
)

// TestShapesBeyondInt panics for shapes whose numbers an int does not count, among them those whose
// count wraps around to one that fits.
func TestShapesBeyondInt(t *testing.T) {
	const half = (math.MaxInt + 1) / 2 // 4 of it are 0 in an int
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
		{func() { Hilbert(Float64, math.MaxInt) }, errTooMany},
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
