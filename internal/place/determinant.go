package place

import "github.com/halfulp/halfulp/internal/num"

// Determinant is the part of a place for determinants in package linsolve, beside Newton.
type Determinant interface {
	// Triangles stores approximate inverses of the triangles of P F = L U, for F = diag(2^rows) A
	// diag(2^cols) as in Newton.Inverse and a permutation P that makes row order[j] of F row j of
	// P F: L^-1 in Z and U^-1 in U, both of Float64, which are zeros. Their other triangles stay
	// zeros, and the diagonal of L^-1 is 1 exactly; nothing else is known of the error. It is not
	// ok, and Z and U unspecified, if there is no such in float64 arithmetic.
	Triangles(cfg Config, a, z, u num.Mat) (rows, cols []int64, order []int32, ok bool, err error)
	// Gather sets row i of Z to row order[i] of X, both in MP of the same bits.
	Gather(cfg Config, x num.Mat, order []int32, z num.Mat) error
}
