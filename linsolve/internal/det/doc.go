// Package det computes determinants and their logarithms, rounded correctly.
//
// An elimination in fixed point or by blocks gives det G for a G near A, and
//
//	det A = det G det(I + K),   |log det(I + K)| ≤ n rho / (1 - rho),   ‖K‖ ≤ rho,
//
// which encloses the determinant. On a GPU det A is det(R A) / det R for the inverse R of float64
// factors, from traces of powers of I - R A. What enclosures do not decide, ties and zeros, is
// computed modulo primes until these exceed twice Hadamard's bound.
package det
