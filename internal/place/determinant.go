package place

import "github.com/halfulp/halfulp/internal/num"

// Determinant is the part of a place for determinants in package linsolve. They use part Newton as
// well.
type Determinant interface {
	// Triangles computes approximate inverses of the triangular factors of P F = L U, where F =
	// diag(2^rows) A diag(2^cols) as in Newton.Inverse, and P is the permutation that makes row
	// order[j] of F row j of P F. It stores L^-1 in Z and U^-1 in U, both of Float64 and all zero
	// before. Their other triangles stay zero, and the diagonal of L^-1 is exactly 1. Nothing else
	// is known of the error. ok is false, and Z and U unspecified, if float64 arithmetic finds no
	// such factors.
	Triangles(cfg Config, a, z, u num.Mat) (rows, cols []int64, order []int32, ok bool, err error)
	// Gather sets row i of Z to row order[i] of X. Both are in MP with the same number of bits.
	Gather(cfg Config, x num.Mat, order []int32, z num.Mat) error
}
