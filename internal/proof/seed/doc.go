// Package seed makes approximate inverses of matrices, by float64 arithmetic where that does, and
// bounds how far they are off.
//
// A seed R of a matrix A is any matrix. What is proved of it is a bound rho of the norm of
// I - R A, computed with all errors of rounding: with rho < 1 both R and A are regular, and
//
//	A^-1 = (I - E)^-1 R,    E = I - R A,    ‖A^-1 - R‖ ≤ rho / (1 - rho) ‖R‖
//
// (Rump, Verification methods, Acta Numerica 2010, section 10). Seeds are inverses of float64
// factors or of their triangles, for matrices that are too ill-conditioned for these products of
// seeds (Rump, Inversion of extremely ill-conditioned matrices in floating-point, 2009), or
// inverses of factors by an elimination in more bits.
//
// An Inverse is what solutions with few right-hand sides take of an approximate inverse; this
// package has those of float64 factors.
package seed
