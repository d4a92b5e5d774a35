package main

import (
	"context"
	"fmt"
	"runtime"
	"unsafe"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/backend"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
)

// on runs f on the GPU p.
func on(p place.Place, f func(s *cuda.Stream) error) error {
	return backend.Do(context.Background(), p, f)
}

// follow makes the work of a call wait for the work that other libraries have put into the default
// stream, if they share the memory.
func (s *memory) follow() error {
	if !s.shared.Load() {
		return nil
	}
	return on(s.at, (*cuda.Stream).FollowDefault)
}

// settle waits until the work of a call is done, if other libraries share the memory; they may then
// use it.
func (s *memory) settle() error {
	if !s.shared.Load() {
		return nil
	}
	return on(s.at, (*cuda.Stream).Synchronize)
}

// oneGPU returns the place of a device that is a single GPU.
func oneGPU(device string) (place.Place, error) {
	n, err := place.ParseName(device)
	if err != nil || n.Kind != place.CUDA || len(n.Numbers) != 1 {
		return nil, fmt.Errorf("device %q: %w (want cuda:N)", device, halfulp.ErrDevice)
	}
	return n.Open()
}

// borrow returns a view of another library's numbers in the memory of a GPU, and whether their
// strides allow a matrix without a copy (see laid). address is the address of entry (0, 0).
func borrow(f halfulp.Format, address uint64, rows, cols, rs, cs int, device string) (m num.Mat, together bool, err error) {
	checkShape(rows, cols)
	own, size := num.Float64, uint64(8)
	if f == halfulp.Float32 {
		own, size = num.Float32, 4
	}
	switch {
	case address == 0 && rows > 0 && cols > 0:
		panic(misuse("argument address: 0; the address of %d x %d numbers is needed", rows, cols))
	case address%size != 0:
		panic(misuse("argument address: %#x; a multiple of %d is needed", address, size))
	}
	p, err := oneGPU(device)
	if err != nil {
		return m, false, err
	}
	m, first, n, together := laid(rows, cols, rs, cs)
	m.Arr, err = backend.Borrow(context.Background(), p, own, cuda.Pointer(int64(address)+int64(first)*int64(size)), n)
	return m, together, err
}

// wrapCUDA returns a matrix that uses another library's memory on a GPU as its storage.
func wrapCUDA(f halfulp.Format, address uint64, rows, cols, rs, cs int, device string) (*halfulp.Matrix, error) {
	m, together, err := borrow(f, address, rows, cols, rs, cs, device)
	switch {
	case err != nil:
		return nil, err
	case !together:
		return nil, apart(rows, cols, rs, cs)
	}
	return halfulp.MatrixOf(m), nil
}

// fromCUDA returns a copy, on the same GPU, of another library's numbers. The copy is stored by
// rows if the numbers are, otherwise by columns.
func fromCUDA(f halfulp.Format, address uint64, rows, cols, rs, cs int, device string) (*halfulp.Matrix, error) {
	m, _, err := borrow(f, address, rows, cols, rs, cs, device)
	if err != nil {
		return nil, err
	}
	p := place.Of(m.Arr)
	byRows := magnitude(cs) < magnitude(rs)
	if byRows {
		rows, cols = cols, rows
	}
	z, err := halfulp.NewMatrixOn(halfulp.Device(device), f, rows, cols)
	if err != nil {
		return nil, err
	}
	if byRows {
		z = z.T()
	}
	if err := on(p, (*cuda.Stream).FollowDefault); err != nil {
		z.Free()
		return nil, err
	}
	err = z.CopyFrom(halfulp.MatrixOf(m))
	if done := on(p, (*cuda.Stream).Synchronize); err == nil {
		err = done
	}
	if err != nil {
		z.Free()
		return nil, err
	}
	return z, nil
}

// cudaStream returns the driver's handle of the stream in which halfulp's work on a GPU runs.
func cudaStream(device string) (stream int, err error) {
	p, err := oneGPU(device)
	if err != nil {
		return 0, err
	}
	err = on(p, func(s *cuda.Stream) error {
		stream = int(s.Handle())
		return nil
	})
	return stream, err
}

// share returns a view of a matrix for another library, with the address of its first entry, its
// strides, the bits of a number (32 or 64), and the index of its GPU, -1 for the host. The numbers
// stay valid until the view's memory is freed.
func share(v view) (shared view, address, rs, cs, bits, gpu int, err error) {
	m := v.Matrix.View()
	switch v.NumberFormat() {
	case halfulp.Float64:
		bits = 64
	case halfulp.Float32:
		bits = 32
	default:
		panic(misuse("the matrix is of format %v; other libraries share numbers of f64 and f32: convert it", v.NumberFormat()))
	}
	shared, rs, cs = v, m.RS, m.CS
	p := place.Of(m.Arr)
	if p == nil {
		var pin runtime.Pinner
		if m.Rows > 0 && m.Cols > 0 {
			var first unsafe.Pointer
			if bits == 64 {
				first = unsafe.Pointer(&m.Arr.F64[0][m.Off])
			} else {
				first = unsafe.Pointer(&m.Arr.F32[m.Off])
			}
			pin.Pin(first)
			address = int(uintptr(first))
		}
		shared.memory = &memory{free: pin.Unpin}
		return shared, address, rs, cs, bits, -1, nil
	}
	if p.First() != p {
		panic(misuse("the matrix lives on %s; other libraries share numbers on one GPU: copy it to one", p))
	}
	v.memory.shared.Store(true)
	if err := on(p, (*cuda.Stream).Synchronize); err != nil {
		return view{}, 0, 0, 0, 0, 0, err
	}
	base := v.memory
	base.hold()
	shared.memory = &memory{at: p, free: func() {
		// If synchronization fails, the device is lost, and its memory with it.
		if on(p, (*cuda.Stream).SynchronizeContext) == nil {
			base.drop()
		}
	}}
	a := backend.Matrix(m).Arr
	address = int(a.Plane(0)) + m.Off*bits/8
	return shared, address, rs, cs, bits, backend.Device(p).Info().Index, nil
}
