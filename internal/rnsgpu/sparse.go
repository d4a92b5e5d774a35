package rnsgpu

import (
	"fmt"
	"math/bits"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/launch"
	"github.com/halfulp/halfulp/internal/place"
)

// sparse is struct sparse of kernels/rns/sparse.cuh.
type sparse struct {
	values, x, z                      operand
	doubles, pointers, columns, order cuda.Pointer
	iLo, iUp                          place.RNSFloat
	limit                             uint64
	significand                       int32
	format                            place.RNSFormat
	rows, cols, width, size           int32
}

// sparseMatrix is the device copy of a sparse matrix, without its numbers.
type sparseMatrix struct {
	place.RNSLayout // without slices
	memory          []*cuda.Memory

	doubles, pointers, columns, order cuda.Pointer
}

// Free implements place.RNSSparse.
func (a *sparseMatrix) Free() {
	for _, m := range a.memory {
		m.Free()
	}
}

// Sparse implements place.RNSQueue.
func (q *Queue) Sparse(l place.RNSLayout) (place.RNSSparse, error) {
	a := &sparseMatrix{RNSLayout: l}
	a.Pointers, a.Columns, a.Order, a.Doubles = nil, nil, nil, nil
	var err error
	if a.pointers, err = keep(q.s, a, l.Pointers); err == nil {
		a.columns, err = keep(q.s, a, l.Columns)
	}
	if err == nil {
		a.order, err = keep(q.s, a, l.Order)
	}
	if err == nil {
		a.doubles, err = keep(q.s, a, l.Doubles)
	}
	if err != nil {
		a.Free()
		return nil, err
	}
	return a, nil
}

// keep copies data to device memory owned by a; it returns 0 for empty data.
func keep[T cuda.Number](s *cuda.Stream, a *sparseMatrix, data []T) (cuda.Pointer, error) {
	if len(data) == 0 {
		return 0, nil
	}
	m, err := cuda.NewCopy(s, data)
	if err != nil {
		return 0, err
	}
	a.memory = append(a.memory, m)
	return m.Pointer(), nil
}

// SparseProducts implements place.RNSQueue.
func (q *Queue) SparseProducts(matrix place.RNSSparse, values, x place.RNSView, size int, z place.RNSView) error {
	a := matrix.(*sparseMatrix)
	if a.Rows == 0 {
		return nil
	}
	f, err := launch.KernelsOf(q.s).Function(q.s, fmt.Sprint("rns/sparse", q.padded), "rnsSparse")
	if err != nil {
		return err
	}
	s := sparse{
		x: native(x), z: native(z), doubles: a.doubles, pointers: a.pointers, columns: a.columns, order: a.order,
		iLo: q.iLo, iUp: q.iUp, limit: q.maxSignificand, significand: int32(bits.Len64(q.maxSignificand)),
		format: a.Format, rows: int32(a.Rows), cols: int32(a.Cols), width: int32(a.Width), size: int32(size),
	}
	if !a.Float64 {
		s.values = native(values)
	}
	if size == 1 {
		return f.Launch(q.s, q.blocks(a.Rows), cuda.Dim{X: threads}, 0, q.c, s)
	}
	t, err := q.newArray(a.Rows * size)
	if err != nil {
		return err
	}
	defer q.free(t)
	s.z = native(place.RNSView{Array: t, RS: size, CS: 1})
	if err := f.Launch(q.s, q.blocks(a.Rows*size), cuda.Dim{X: threads}, 0, q.c, s); err != nil {
		return err
	}
	return q.reduce(t, a.Rows, size, z, false)
}
