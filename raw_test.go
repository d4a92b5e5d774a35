package halfulp

import (
	"errors"
	"testing"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/raw"
)

// TestRaw checks that method packages get at the storage of arrays and at the numbers of devices.
func TestRaw(t *testing.T) {
	m := NewMatrixLD(QD, 3, 2, 5).T()
	m.SetFloat64(1, 2, 7)
	if v := raw.Matrix(m); v.Rows != 2 || v.Cols != 3 || v.Arr.F64[0][v.At(1, 2)] != 7 {
		t.Errorf("matrix %+v", v)
	}
	x := NewVector(DD, 9).Stride(-2)
	x.SetFloat64(4, 3)
	if v := raw.Vector(x); v.N != 5 || v.Inc != -2 || v.Arr.F64[0][v.At(4)] != 3 {
		t.Errorf("vector %+v", v)
	}
	e := NewMatrix(Float64, 3, 2)
	if data, _, ok := e.Slice(3, 3, 2, 2).RawFloat64(); !ok || len(data) != 0 {
		t.Errorf("empty view beyond the storage: %v, %v", data, ok)
	}
	if v := raw.Scalar(Float(-2)); v.Class != num.Finite || !v.Neg {
		t.Errorf("scalar %+v", v)
	}
	for name, want := range map[string]int{"": 0, "auto": 0, "cpu": 0, "cuda:3": 1, "cuda:1,4-5": 3} {
		if list, err := raw.Devices(name); err != nil || len(list) != want {
			t.Errorf("device %q: %v, %v", name, list, err)
		}
	}
	if _, err := raw.Devices("gpu"); !errors.Is(err, ErrDevice) {
		t.Error(err)
	}
}

// TestRawDevice checks that they get at what lies on a GPU, unless it was freed.
func TestRawDevice(t *testing.T) {
	dev := fakeGPUs(t, 1)[0]
	m := must(NewDeviceMatrix("cuda:0", DD, 4, 3))
	x := m.Row(1).Slice(1, 3)
	if d, v := raw.DeviceMatrix(m.T()); d != dev || v.Rows != 3 || v.CS != 1 || v.Arr.Plane(1) == v.Arr.Plane(0) {
		t.Errorf("matrix %+v of %v", v, d)
	}
	if d, v := raw.DeviceVector(x); d != dev || v.N != 2 || v.Off != 5 || v.Inc != 4 {
		t.Errorf("vector %+v of %v", v, d)
	}
	m.Free()
	if got := panics(func() { raw.DeviceVector(x) }); got != errFreed {
		t.Errorf("after Free: %v", got)
	}
}
