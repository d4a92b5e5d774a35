package halfulp

import (
	"testing"

	"github.com/halfulp/halfulp/internal/gpu/backend"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
)

// TestView checks the access of method packages to the storage of arrays and to numbers on devices.
func TestView(t *testing.T) {
	m := NewMatrixLD(QD, 3, 2, 5).T()
	m.SetFloat64(1, 2, 7)
	if v := m.View(); v.Rows != 2 || v.Cols != 3 || v.Arr.F64[0][v.At(1, 2)] != 7 {
		t.Errorf("matrix %+v", v)
	}
	x := NewVector(DD, 9).Stride(-2)
	x.SetFloat64(4, 3)
	if v := x.View(); v.N != 5 || v.Inc != -2 || v.Arr.F64[0][v.At(4)] != 3 {
		t.Errorf("vector %+v", v)
	}
	e := NewMatrix(Float64, 3, 2)
	if data, _, ok := e.Slice(3, 3, 2, 2).RawFloat64(); !ok || len(data) != 0 {
		t.Errorf("empty view beyond the storage: %v, %v", data, ok)
	}
	if v := Float(-2).View(); v.Class != num.Finite || !v.Neg {
		t.Errorf("scalar %+v", v)
	}
	if m := MatrixOf(m.View()); m.Float64(1, 2) != 7 {
		t.Errorf("matrix %v", m)
	}
}

// TestViewDevice checks the same access for numbers on a GPU.
func TestViewDevice(t *testing.T) {
	dev := fakeGPUs(t, 1)[0]
	m := must(NewMatrixOn("cuda:0", DD, 4, 3))
	defer m.Free()
	x := m.Row(1).Slice(1, 3)
	if v := m.T().View(); place.Of(v.Arr) != backend.At(dev) || v.Rows != 3 || v.CS != 1 || v.Arr.Len() != 12 {
		t.Errorf("matrix %+v", v)
	}
	if v := x.View(); backend.Vector(v).Arr == nil || v.N != 2 || v.Off != 5 || v.Inc != 4 {
		t.Errorf("vector %+v", v)
	}
}
