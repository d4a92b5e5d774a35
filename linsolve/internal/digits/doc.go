// Package digits eliminates matrices in fixed point. Numbers are integers over a power of B, held
// as digits of 51 or 52 bits in lanes that AVX2 and AVX-512 multiply.
//
// An elimination of F by columns gives F ≈ L U for general matrices, L D Lᵀ for symmetric matrices
// with given pivots, and L Lᵀ for definite matrices. It uses as many digits as the condition number
// and the result require. The truncations of every step bound the difference between F and the
// product of the factors. This bound gives the determinant of F (see Determinant) and encloses the
// exact factors of F near the computed ones. It also proves that the triangles are an approximate
// inverse, for solutions with few right-hand sides (see Elimination) and for whole inverses (see
// QuickInverse).
package digits
