package halfulp

import (
	"github.com/halfulp/halfulp/cuda"
	"github.com/halfulp/halfulp/internal/gpu"
	"github.com/halfulp/halfulp/internal/num"
)

// A DeviceVector is a vector in the memory of an NVIDIA GPU, or a view of one: Slice and
// Stride share storage with their vector, Row, Col and Vec of a DeviceMatrix with that.
// What is said of DeviceMatrix holds for it.
type DeviceVector struct {
	dev *cuda.Device
	v   gpu.Vector
}

// To returns a copy of x in the memory of the GPU "cuda:N", with the errors of
// Matrix.To.
func (x *Vector) To(device string) (*DeviceVector, error) {
	z, err := NewDeviceVector(device, x.Format(), x.v.N)
	if err != nil {
		return nil, err
	}
	if err := z.Set(x); err != nil {
		z.Free()
		return nil, err
	}
	return z, nil
}

// NewDeviceVector returns a vector of n times +0 in the memory of the GPU "cuda:N", with
// the errors of Matrix.To.
func NewDeviceVector(device string, f Format, n int) (*DeviceVector, error) {
	if n < 0 {
		panic(errNegativeDim)
	}
	dev, err := openOne(device)
	if err != nil {
		return nil, err
	}
	a, err := newDeviceArray(dev, f, n)
	if err != nil {
		return nil, err
	}
	return &DeviceVector{dev, gpu.Vector{Arr: a, Inc: 1, N: n}}, nil
}

func (x *DeviceVector) place() (*cuda.Device, *gpu.Array) { return x.dev, x.v.Arr }

// Len returns the number of entries.
func (x *DeviceVector) Len() int { return x.v.N }

// Format returns the format of the entries.
func (x *DeviceVector) Format() Format { return Format{x.v.Arr.Format} }

// Device returns the name of the GPU, "cuda:N".
func (x *DeviceVector) Device() string { return x.dev.String() }

// Slice returns the view of the entries i0 <= i < i1.
func (x *DeviceVector) Slice(i0, i1 int) *DeviceVector {
	if i0 < 0 || i1 < i0 || i1 > x.v.N {
		panic(errIndex)
	}
	v := x.v
	v.Off, v.N = v.Off+i0*v.Inc, i1-i0
	return &DeviceVector{x.dev, v}
}

// Stride returns the view of every step-th entry, from the first on, or from the last on
// backwards for step < 0. It panics if step = 0.
func (x *DeviceVector) Stride(step int) *DeviceVector {
	h := Vector{num.Vec{Off: x.v.Off, Inc: x.v.Inc, N: x.v.N}}
	v := h.Stride(step).v
	return &DeviceVector{x.dev, gpu.Vector{Arr: x.v.Arr, Off: v.Off, Inc: v.Inc, N: v.N}}
}

// Set copies y, of the same length and format, to x. If x is a view whose entries do not
// lie one after the other, what lies between them travels as well.
func (x *DeviceVector) Set(y *Vector) error {
	if y.v.N != x.v.N {
		panic(errShape)
	}
	if y.v.Arr.Format != x.v.Arr.Format {
		panic(errFormat)
	}
	return deviceDo(placeOf(x), func(s *cuda.Stream) error { return x.v.Col().Set(s, y.v.Mat()) })
}

// Vector returns a copy of x in the host's memory. If x is a view whose entries do not lie
// one after the other, what lies between them travels as well.
func (x *DeviceVector) Vector() (*Vector, error) {
	var v Vector
	err := deviceDo(placeOf(x), func(s *cuda.Stream) error {
		m, err := x.v.Col().Get(s)
		v.v = num.Vec{Arr: m.Arr, Off: m.Off, Inc: m.RS, N: m.Rows}
		return err
	})
	if err != nil {
		return nil, err
	}
	if v.v.Inc != 1 {
		v.v = num.Vec{Arr: copyMat(v.v.Mat()).Arr, Inc: 1, N: v.v.N}
	}
	return &v, nil
}

// Free gives the memory of x, and of the vector or matrix that it is a view of, back. No
// routine may be using it.
func (x *DeviceVector) Free() { x.v.Arr.Free() }
