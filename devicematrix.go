package halfulp

import (
	"fmt"

	"github.com/halfulp/halfulp/cuda"
	"github.com/halfulp/halfulp/internal/exact"
	"github.com/halfulp/halfulp/internal/gpu"
	"github.com/halfulp/halfulp/internal/num"
)

// A DeviceMatrix is a matrix in the memory of an NVIDIA GPU. Numbers travel by To, Set
// and Matrix alone; results of DeviceGemm stay where their operands are.
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

// NewDeviceMatrix returns a rows x cols matrix of zeros in the memory of the GPU
// "cuda:N", with the errors of To.
func NewDeviceMatrix(device string, f Format, rows, cols int) (*DeviceMatrix, error) {
	if rows < 0 || cols < 0 {
		panic(errNegativeDim)
	}
	n, err := parseDevice(device)
	if err == nil && n < 0 {
		err = fmt.Errorf("device %q: %w (want cuda:N)", device, ErrDevice)
	}
	if err != nil {
		return nil, err
	}
	dev, err := openDevice(n)
	if err != nil {
		return nil, err
	}
	z := newDeviceMatrix(dev, rows, cols)
	if err := z.allocate(f); err != nil {
		return nil, err
	}
	return z, nil
}

// newDeviceMatrix returns a matrix without memory.
func newDeviceMatrix(dev *cuda.Device, rows, cols int) *DeviceMatrix {
	return &DeviceMatrix{dev, gpu.Matrix{RS: 1, CS: rows, Rows: rows, Cols: cols}}
}

// allocate gives z memory of zeros.
func (z *DeviceMatrix) allocate(f Format) error {
	return z.do(nil, func(s *cuda.Stream) (err error) {
		z.m.Arr, err = gpu.NewArray(s, f.f, z.m.Rows*z.m.Cols)
		return err
	})
}

// do runs f on the device.
func (z *DeviceMatrix) do(opt *Options, f func(s *cuda.Stream) error) error {
	s, err := opt.settings()
	if err != nil {
		return err
	}
	return deviceError(z.dev.Do(s.ctx, f))
}

// Dims returns the numbers of rows and columns.
func (z *DeviceMatrix) Dims() (rows, cols int) { return z.m.Rows, z.m.Cols }

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

// whole reports whether z is all of its storage, column by column.
func (z *DeviceMatrix) whole() bool {
	return z.m.Off == 0 && z.m.RS == 1 && z.m.CS == z.m.Rows && z.m.Rows*z.m.Cols == z.m.Arr.Len()
}

// Set copies m, of the same shape and format, to z. It panics if z is a view of part
// of a matrix.
func (z *DeviceMatrix) Set(m *Matrix) error {
	if m.m.Rows != z.m.Rows || m.m.Cols != z.m.Cols || m.m.Arr.Format != z.m.Arr.Format || !z.whole() {
		panic(errShape)
	}
	h := m.m
	if h.Off != 0 || h.RS != 1 || h.CS != h.Rows || h.Rows*h.Cols != h.Arr.Len() {
		h = copyMat(h)
	}
	return z.do(nil, func(s *cuda.Stream) error { return z.m.Arr.Set(s, h.Arr) })
}

// Matrix returns a copy of z in the host's memory.
func (z *DeviceMatrix) Matrix() (*Matrix, error) {
	h := num.New(z.m.Arr.Format, z.m.Arr.Len())
	if err := z.do(nil, func(s *cuda.Stream) error { return z.m.Arr.Get(s, h) }); err != nil {
		return nil, err
	}
	v := num.Mat{Arr: h, Off: z.m.Off, RS: z.m.RS, CS: z.m.CS, Rows: z.m.Rows, Cols: z.m.Cols}
	if z.whole() {
		return &Matrix{m: v}, nil
	}
	return &Matrix{m: copyMat(v)}, nil
}

// Free gives the memory of z and of all its views back.
func (z *DeviceMatrix) Free() { z.m.Arr.Free() }

// DeviceGemm is Gemm for matrices in the memory of one GPU, opt.Device being left
// aside: the same bits, no transfer but of the few entries that the GPU leaves to the
// host, or of all where alpha is no power of two, beta is not 0 or the format of C is
// DD, TD or QD. C must not share storage with A or B; DeviceGemm panics then, and
// if the matrices are on several GPUs.
func DeviceGemm(tA, tB Transpose, alpha Scalar, a, b *DeviceMatrix, beta Scalar, c *DeviceMatrix, opt *Options) (Stats, error) {
	x, y := a.op(tA), b.op(tB)
	if c.m.Rows != x.Rows || c.m.Cols != y.Cols || x.Cols != y.Rows {
		panic(errShape)
	}
	if a.dev != c.dev || b.dev != c.dev {
		panic(errDevices)
	}
	if c.m.Arr == x.Arr || c.m.Arr == y.Arr {
		panic(errAlias)
	}
	s, err := opt.settings()
	if err != nil {
		return Stats{}, err
	}
	cfg := gpu.Config{Ctx: s.ctx, Threads: s.threads, Memory: s.limit}
	var bufA, bufB [num.MaxValueWords]uint64
	al, be := alpha.array().Value(0, bufA[:]), beta.array().Value(0, bufB[:])
	var st exact.Stats
	err = c.do(opt, func(s *cuda.Stream) error {
		var err error
		st, err = gpu.GemmResident(s, cfg, al, x, y, be, c.m, c.m)
		return err
	})
	if err != nil {
		return Stats{}, fmt.Errorf("gemm %d x %d x %d: %w", c.m.Rows, x.Cols, c.m.Cols, err)
	}
	return stats(st, s.threads), nil
}

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
