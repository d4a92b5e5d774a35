package halfulp

import (
	"context"
	"fmt"
	"math"

	"github.com/halfulp/halfulp/cuda"
	"github.com/halfulp/halfulp/internal/gpu"
)

// A DeviceMatrix is a matrix in the memory of an NVIDIA GPU, column by column, or a view
// of one: T, Slice, Row, Col and Vec share storage with their matrix. Numbers travel by
// To, Set and Matrix alone; results of DeviceGemm and the other routines for such
// operands stay where the operands are.
//
// Free gives the memory back; any later use of the matrix or of a view of it panics, but
// for Free, which does nothing then.
type DeviceMatrix struct {
	dev *cuda.Device
	m   gpu.Matrix
}

// To returns a copy of m in the memory of the GPU "cuda:N". Free gives the memory
// back. It returns an error that wraps ErrDevice if there is no such GPU, and
// ErrMemory if it has too little memory.
func (m *Matrix) To(device string) (*DeviceMatrix, error) {
	z, err := NewDeviceMatrix(device, m.Format(), m.m.Rows, m.m.Cols)
	if err != nil {
		return nil, err
	}
	if err := z.Set(m); err != nil {
		z.Free()
		return nil, err
	}
	return z, nil
}

// NewDeviceMatrix returns a rows x cols matrix of +0 in the memory of the GPU "cuda:N",
// with the errors of To.
func NewDeviceMatrix(device string, f Format, rows, cols int) (*DeviceMatrix, error) {
	if rows < 0 || cols < 0 {
		panic(errNegativeDim)
	}
	dev, err := openOne(device)
	if err != nil {
		return nil, err
	}
	if cols > 0 && rows > math.MaxInt/cols {
		return nil, fmt.Errorf("%v: %w: %d x %d numbers", dev, ErrMemory, rows, cols)
	}
	a, err := newDeviceArray(dev, f, rows*cols)
	if err != nil {
		return nil, err
	}
	return &DeviceMatrix{dev, gpu.Matrix{Arr: a, RS: 1, CS: max(rows, 1), Rows: rows, Cols: cols}}, nil
}

// newDeviceArray returns n times +0.
func newDeviceArray(dev *cuda.Device, f Format, n int) (a *gpu.Array, err error) {
	err = deviceDo(dev, func(s *cuda.Stream) error {
		a, err = gpu.NewArray(s, f.f, n)
		return err
	})
	return a, err
}

// deviceDo runs f on a GPU.
func deviceDo(dev *cuda.Device, f func(s *cuda.Stream) error) error {
	return deviceError(dev.Do(context.Background(), f))
}

func (z *DeviceMatrix) place() (*cuda.Device, *gpu.Array) { return z.dev, z.m.Arr }

// Dims returns the numbers of rows and columns.
func (z *DeviceMatrix) Dims() (rows, cols int) { return z.m.Rows, z.m.Cols }

// Rows returns the number of rows.
func (z *DeviceMatrix) Rows() int { return z.m.Rows }

// Cols returns the number of columns.
func (z *DeviceMatrix) Cols() int { return z.m.Cols }

// Format returns the format of the entries.
func (z *DeviceMatrix) Format() Format { return Format{z.m.Arr.Format} }

// Device returns the name of the GPU, "cuda:N".
func (z *DeviceMatrix) Device() string { return z.dev.String() }

// T returns the transpose as a view.
func (z *DeviceMatrix) T() *DeviceMatrix { return &DeviceMatrix{z.dev, z.m.T()} }

// Slice returns the view of the rows i0 <= i < i1 and the columns j0 <= j < j1.
func (z *DeviceMatrix) Slice(i0, i1, j0, j1 int) *DeviceMatrix {
	if i0 < 0 || i1 < i0 || i1 > z.m.Rows || j0 < 0 || j1 < j0 || j1 > z.m.Cols {
		panic(errIndex)
	}
	v := z.m
	v.Off += i0*v.RS + j0*v.CS
	v.Rows, v.Cols = i1-i0, j1-j0
	return &DeviceMatrix{z.dev, v}
}

// Row returns row i as a view.
func (z *DeviceMatrix) Row(i int) *DeviceVector {
	if i < 0 || i >= z.m.Rows {
		panic(errIndex)
	}
	return &DeviceVector{z.dev, gpu.Vector{Arr: z.m.Arr, Off: z.m.Off + i*z.m.RS, Inc: z.m.CS, N: z.m.Cols}}
}

// Col returns column j as a view.
func (z *DeviceMatrix) Col(j int) *DeviceVector { return z.T().Row(j) }

// Vec returns vec(z), the entries column by column, as a view. It panics if they do not
// lie at equal distances, as those of a slice of some rows.
func (z *DeviceMatrix) Vec() *DeviceVector {
	v := gpu.Vector{Arr: z.m.Arr, Off: z.m.Off, Inc: z.m.RS, N: z.m.Rows * z.m.Cols}
	switch {
	case z.m.Rows == 1:
		v.Inc = z.m.CS
	case v.N > 0 && z.m.Cols > 1 && z.m.CS != z.m.RS*z.m.Rows:
		panic(errGaps)
	}
	return &DeviceVector{z.dev, v}
}

// Set copies m, of the same shape and format, to z. If z is a view whose entries do not
// lie one after the other, what lies between them travels as well.
func (z *DeviceMatrix) Set(m *Matrix) error {
	if m.m.Rows != z.m.Rows || m.m.Cols != z.m.Cols {
		panic(errShape)
	}
	if m.m.Arr.Format != z.m.Arr.Format {
		panic(errFormat)
	}
	return deviceDo(placeOf(z), func(s *cuda.Stream) error { return z.m.Set(s, m.m) })
}

// Matrix returns a copy of z in the host's memory. If z is a view whose entries do not lie
// one after the other, what lies between them travels as well.
func (z *DeviceMatrix) Matrix() (*Matrix, error) {
	var m Matrix
	err := deviceDo(placeOf(z), func(s *cuda.Stream) (err error) {
		m.m, err = z.m.Get(s)
		return err
	})
	if err != nil {
		return nil, err
	}
	if m.m.RS != 1 || m.m.CS != max(m.m.Rows, 1) {
		m.m = copyMat(m.m)
	}
	return &m, nil
}

// Prepare lets products keep the exponents and the residues of z in the GPU's memory, from
// the next one on, for repeated products with other matrices. Results have the same bits.
// It serves z, its transpose and views equal to either; other views are ordinary matrices.
//
// Residues take about 21 bytes an entry at 53 bits, 36 at 106, 78 at 212, 171 at 424. They
// serve products of like precision from the same side; for others they are computed anew. A
// GPU keeps what fits a quarter of its memory, and a product adds no more than a quarter of
// Options.MemoryLimit if that is given; what does not fit is computed every time. A change
// of z, by Set or as a result, gives them back, and so does Free.
func (z *DeviceMatrix) Prepare() {
	placeOf(z)
	z.m.Prepare()
}

// Free gives the memory of z and of all its views back. No routine may be using it.
func (z *DeviceMatrix) Free() { z.m.Arr.Free() }

// op returns op(z).
func (z *DeviceMatrix) op(t Transpose) gpu.Matrix {
	switch t {
	case NoTrans:
		return z.m
	case Trans, ConjTrans:
		return z.m.T()
	}
	panic(errTranspose)
}
