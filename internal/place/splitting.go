package place

import "github.com/halfulp/halfulp/internal/num"

// Splitting is the part of a place for factors with two triangles in package linsolve.
type Splitting interface {
	// PivotedTriangles is Determinant.Triangles with partial pivoting, for an m x n matrix A of
	// m ≥ n rows that are not scaled: no entry of the column of a pivot is larger than it, as far
	// as float64 arithmetic tells. The order has the n rows of the pivots, to which the triangles
	// belong.
	PivotedTriangles(cfg Config, a, z, u num.Mat) (rows, cols []int64, order []int32, ok bool, err error)
	// Part copies what lies below the diagonal of a matrix in MP to one matrix of its shape and
	// format, and the rest to another one.
	Part(cfg Config, a, lower, upper num.Mat) error
	// NotSmall counts the numbers below the diagonal of a matrix of finite numbers that are above a
	// bound in magnitude, or may be, 1/2 < bound < 2^e ≤ 4; those that it does not count are below
	// bound + 2^(e-53).
	NotSmall(cfg Config, a num.Mat, bound float64) (count int, err error)
}
