package mem

import "github.com/halfulp/halfulp/internal/num"

// Vector is a view of an array as a vector: entry i is number Off + i Inc of Arr.
type Vector struct {
	Arr         *Array
	Off, Inc, N int
}

// Row returns the vector as a matrix of one row.
func (v Vector) Row() Matrix { return Matrix{Arr: v.Arr, Off: v.Off, CS: v.Inc, Rows: 1, Cols: v.N} }

// On returns the same view of a host array.
func (v Vector) On(h *num.Array) num.Vec { return num.Vec{Arr: h, Off: v.Off, Inc: v.Inc, N: v.N} }

// Col returns the vector as a matrix of one column.
func (v Vector) Col() Matrix { return Matrix{Arr: v.Arr, Off: v.Off, RS: v.Inc, Rows: v.N, Cols: 1} }
