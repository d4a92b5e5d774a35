// Package det computes correctly rounded determinants and their logarithms.
//
// An elimination in fixed point or by blocks gives the determinant of a matrix G near A. With
// K = (A - G) G^-1,
//
//	det A = det G det(I + K),   |log det(I + K)| ≤ n rho / (1 - rho),   ‖K‖ ≤ rho,
//
// which encloses det A. On a GPU det A comes from triangular Z and U near the inverses of the
// factors of a scaled A: det A det Z det U = det(I + E), and the traces of powers of E = Z A U - I
// give log det(I + E). On the host two traces do so for float64 results where blocks do not fit in
// memory. Ties and zeros, which enclosures do not decide, are computed modulo primes
// until the product of the primes exceeds twice Hadamard's bound.
package det
