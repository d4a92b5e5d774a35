// Package seed computes approximate inverses of matrices, in float64 arithmetic where it suffices,
// and bounds their errors.
//
// A seed R of a matrix A is any matrix. The proof is a bound rho of the norm of I - R A, computed
// with all rounding errors included. With rho < 1 both R and A are regular, and
//
//	A^-1 = (I - E)^-1 R,    E = I - R A,    ‖A^-1 - R‖ ≤ rho / (1 - rho) ‖R‖
//
// (Rump, Verification methods, Acta Numerica 2010, section 10). Seeds are inverses of float64
// factors or of their triangles. For matrices too ill-conditioned for these, seeds are products of
// such seeds (Rump, Inversion of extremely ill-conditioned matrices in floating-point, 2009), or
// inverses of factors by an elimination in more bits.
//
// An Inverse is the interface to an approximate inverse for solutions with few right-hand sides.
// This package implements it for inverses of float64 factors.
package seed
