// Package abi is what the host and the kernels of products and rows agree on: the structures
// that kernels take, laid out as in kernels/*.cu and *.cuh, and the layout of memory they share.
package abi

import (
	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/num"
)

// Numbers are an array in the device's memory: struct numbers of kernels/common/common.cuh. Of MP
// the last of the planes is the precision.
type Numbers struct {
	Plane       [4]cuda.Pointer
	Kind, Limbs int32
}

// NumbersOf returns the numbers of a.
func NumbersOf(a *mem.Array) Numbers {
	n := Numbers{Kind: int32(a.Kind), Limbs: int32(a.Limbs())}
	for i := range a.Planes() {
		n.Plane[i] = a.Plane(i)
	}
	if a.Kind == num.MP {
		n.Plane[3] = cuda.Pointer(a.Prec)
	}
	return n
}

// Vectors are n vectors of k numbers: number h of vector v is off + v rs + h cs of a.
type Vectors struct {
	A           Numbers
	Off, RS, CS int64
	N, K        int32
}

// RowsOf returns the rows of m as vectors.
func RowsOf(m mem.Matrix) Vectors {
	return Vectors{NumbersOf(m.Arr), int64(m.Off), int64(m.RS), int64(m.CS), int32(m.Rows), int32(m.Cols)}
}

// Term returns the vectors of term t of the numbers.
func (x Vectors) Term(t int) Vectors {
	if x.A.Kind == int32(num.DD) || x.A.Kind == int32(num.TD) || x.A.Kind == int32(num.QD) {
		x.A = Numbers{Plane: [4]cuda.Pointer{x.A.Plane[t]}, Kind: int32(num.F64)}
	}
	return x
}

// Target is where a kernel rounds results to: (i, j) to number off + i rs + j cs of a.
type Target struct {
	A           Numbers
	Off, RS, CS int64
	Prec        int64
}

// TargetOf returns m as a place for results.
func TargetOf(m mem.Matrix) Target {
	return Target{NumbersOf(m.Arr), int64(m.Off), int64(m.RS), int64(m.CS), int64(m.Arr.Prec)}
}

// Leftovers are a list of entries, column << 32 | row each, that a kernel leaves to another. It
// holds as many as there is room for; all are counted.
type Leftovers struct {
	Count, List cuda.Pointer
	Capacity    int64
}

// Flag returns 1 for true.
func Flag(b bool) int32 {
	if b {
		return 1
	}
	return 0
}
