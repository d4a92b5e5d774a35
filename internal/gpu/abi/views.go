// Package abi is the interface between the host and the kernels of products and rows: the
// structures that kernels take as arguments, laid out as in kernels/*.cu and *.cuh, and the layout
// of the memory that they share.
package abi

import (
	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/num"
)

// Numbers is an array in device memory: struct numbers of kernels/common/common.cuh.
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
	return n
}

// Vectors are N vectors of K numbers: number h of vector v is number Off + v RS + h CS of A.
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

// Target is the destination of rounded results: entry (i, j) is number Off + i RS + j CS of A.
type Target struct {
	A           Numbers
	Off, RS, CS int64
	Prec        int64
}

// TargetOf returns m as a Target.
func TargetOf(m mem.Matrix) Target {
	return Target{NumbersOf(m.Arr), int64(m.Off), int64(m.RS), int64(m.CS), int64(m.Arr.Prec)}
}

// Leftovers is a list of entries, each column << 32 | row, that a kernel leaves to another. It
// stores at most Capacity of them; Count counts all.
type Leftovers struct {
	Count, List cuda.Pointer
	Capacity    int64
}

// Flag returns 1 for true, 0 for false.
func Flag(b bool) int32 {
	if b {
		return 1
	}
	return 0
}
