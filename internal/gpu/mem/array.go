// Package mem keeps arrays, matrices and vectors in the memory of NVIDIA GPUs: uploads and
// downloads, views, copies for the host, and the open devices. It uses no kernels.
package mem

import (
	"fmt"
	"math"
	"sync"
	"sync/atomic"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/num"
)

// An Array is a num.Array in device memory, with the same structure of arrays.
type Array struct {
	num.Format
	n      int
	memory *cuda.Memory // all planes, so that filling or copying them takes one call of the driver
	// offsets of the planes in bytes; F32: numbers; F64 to QD: terms; MP: significands, exponents,
	// classes
	offset [4]int64
	freed  atomic.Bool

	mu   sync.Mutex
	kept []attached // guarded by mu
}

// PlaneBytes returns the bytes of a number in each plane.
func PlaneBytes(f num.Format) []int64 {
	switch f.Kind {
	case num.F32:
		return []int64{4}
	case num.MP:
		return []int64{8 * int64(f.Limbs()), 4, 1}
	}
	return []int64{8, 8, 8, 8}[:f.Terms()]
}

// planeAlignment divides the offset of each plane, in bytes, as it divides each address that the
// device's pool returns.
const planeAlignment = 256

// NewArray returns an array of n numbers, all +0.
func NewArray(s *cuda.Stream, f num.Format, n int) (*Array, error) {
	a, err := Room(s, f, n)
	if err != nil {
		return nil, err
	}
	if err := s.Zero(a.memory.Pointer(), a.memory.Size()); err != nil {
		a.Free()
		return nil, err
	}
	return a, nil
}

// Zeros returns an array of n numbers that are +0 for kernels: in MP the significands and exponents
// of zeros, which take 20 times as many bytes as their classes or more, are unspecified.
func Zeros(s *cuda.Stream, f num.Format, n int) (*Array, error) {
	if f.Kind != num.MP {
		return NewArray(s, f, n)
	}
	a, err := Room(s, f, n)
	if err != nil {
		return nil, err
	}
	if err := s.Zero(a.Plane(2), int64(n)); err != nil {
		a.Free()
		return nil, err
	}
	return a, nil
}

// Room returns an array of n numbers with unspecified contents.
func Room(s *cuda.Stream, f num.Format, n int) (*Array, error) {
	a := &Array{Format: f, n: n}
	total := int64(0)
	for i, size := range PlaneBytes(f) {
		if int64(n) > (math.MaxInt64-total)/size-planeAlignment {
			return nil, fmt.Errorf("%v: %w: %d numbers", s.Device(), cuda.ErrMemory, n)
		}
		total = (total + planeAlignment - 1) &^ (planeAlignment - 1)
		a.offset[i] = total
		total += size * int64(n)
	}
	var err error
	a.memory, err = s.Alloc(total)
	if err != nil {
		return nil, err
	}
	return a, nil
}

// Borrow returns an array of n numbers of format float32 or float64 at p, in memory of another
// library: see [cuda.Stream.Borrow].
func Borrow(s *cuda.Stream, f num.Format, p cuda.Pointer, n int) *Array {
	return &Array{Format: f, n: n, memory: s.Borrow(p, PlaneBytes(f)[0]*int64(n))}
}

// Borrowed reports whether the numbers are stored in memory of another library.
func (a *Array) Borrowed() bool { return a.memory.Borrowed() }

// Clone returns a copy of a on the device.
func (a *Array) Clone(s *cuda.Stream) (*Array, error) {
	b, err := Room(s, a.Format, a.n)
	if err != nil {
		return nil, err
	}
	if err := s.Copy(b.memory.Pointer(), a.memory.Pointer(), a.memory.Size()); err != nil {
		b.Free()
		return nil, err
	}
	return b, nil
}

// Free frees the memory and drops what is kept of a's views. Free of nil, or a second Free, does
// nothing.
func (a *Array) Free() {
	if a == nil || !a.freed.CompareAndSwap(false, true) {
		return
	}
	a.memory.Free()
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, k := range a.kept {
		k.what.Drop()
	}
	a.kept = nil
}

// Freed reports whether Free was called.
func (a *Array) Freed() bool { return a.freed.Load() }

// Len returns the number of numbers in the array.
func (a *Array) Len() int { return a.n }

// Upload returns a copy of the array h on the device.
func Upload(s *cuda.Stream, h *num.Array) (*Array, error) {
	a, err := Room(s, h.Format, h.Len())
	if err != nil {
		return nil, err
	}
	if err := a.Set(s, h); err != nil {
		a.Free()
		return nil, err
	}
	return a, nil
}

// Set copies h, which has the same format and length, to a.
func (a *Array) Set(s *cuda.Stream, h *num.Array) error { return a.setFrom(s, 0, h) }

// at returns the address of number i in a plane.
func (a *Array) at(plane, i int) cuda.Pointer {
	return a.memory.At(a.offset[plane] + PlaneBytes(a.Format)[plane]*int64(i))
}

// setFrom copies h, which has the same format, to the numbers of a from number i on.
func (a *Array) setFrom(s *cuda.Stream, i int, h *num.Array) error {
	switch a.Kind {
	case num.F32:
		return cuda.Upload(s, a.at(0, i), h.F32)
	case num.MP:
		if err := cuda.Upload(s, a.at(0, i), h.Sig); err != nil {
			return err
		}
		if err := cuda.Upload(s, a.at(1, i), h.Exp); err != nil {
			return err
		}
		return cuda.Upload(s, a.at(2, i), h.Cls)
	}
	for t := range a.Terms() {
		if err := cuda.Upload(s, a.at(t, i), h.F64[t]); err != nil {
			return err
		}
	}
	return nil
}

// Get copies a to h, which has the same format and length.
func (a *Array) Get(s *cuda.Stream, h *num.Array) error { return a.getFrom(s, 0, h) }

// getFrom copies the numbers of a from number i on to h, which has the same format.
func (a *Array) getFrom(s *cuda.Stream, i int, h *num.Array) error {
	switch a.Kind {
	case num.F32:
		return cuda.Download(s, h.F32, a.at(0, i))
	case num.MP:
		return cuda.DownloadAll(s, cuda.To(h.Sig, a.at(0, i)), cuda.To(h.Exp, a.at(1, i)), cuda.To(h.Cls, a.at(2, i)))
	}
	var terms []cuda.Piece
	for t := range a.Terms() {
		terms = append(terms, cuda.To(h.F64[t], a.at(t, i)))
	}
	return cuda.DownloadAll(s, terms...)
}

// Host returns a copy of a in host memory.
func (a *Array) Host(s *cuda.Stream) (*num.Array, error) {
	h := num.New(a.Format, a.n)
	return h, a.Get(s, h)
}

// Matrix is a view of an array as a matrix: entry (i, j) is number Off + i RS + j CS of Arr.
type Matrix struct {
	Arr         *Array
	Off, RS, CS int
	Rows, Cols  int
}

// T returns the transposed view.
func (m Matrix) T() Matrix {
	m.RS, m.CS, m.Rows, m.Cols = m.CS, m.RS, m.Cols, m.Rows
	return m
}

// On returns the same view of a host array.
func (m Matrix) On(h *num.Array) num.Mat {
	return num.Mat{Arr: h, Off: m.Off, RS: m.RS, CS: m.CS, Rows: m.Rows, Cols: m.Cols}
}

// Planes returns the number of planes of the numbers.
func (a *Array) Planes() int { return len(PlaneBytes(a.Format)) }

// Plane returns the address of plane i of the numbers, as kernels/common/common.cuh describes them.
func (a *Array) Plane(i int) cuda.Pointer { return a.memory.At(a.offset[i]) }

// Address returns the address of number i in a plane.
func (a *Array) Address(plane, i int) cuda.Pointer { return a.at(plane, i) }

// Range returns the addresses of number first and of the end of number last, for num.Mat.Extents.
func (a *Array) Range(first, last int) (from, to uintptr) {
	return uintptr(a.at(0, first)), uintptr(a.at(0, last)) + uintptr(PlaneBytes(a.Format)[0])
}
