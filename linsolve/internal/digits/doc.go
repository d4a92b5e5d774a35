// Package digits eliminates matrices in fixed point: numbers are integers over a power of B, held
// as digits of 51 or 52 bits in lanes that AVX2 and AVX-512 multiply.
//
// An elimination of F by columns gives F ≈ L U for general matrices, L D Lᵀ for symmetric ones with
// given pivots, and L Lᵀ for definite ones, in as many digits as the condition number and the
// result take. How far the product of the factors is off F is bounded from what is cut off at every
// step. That bound gives the determinant of F (see Determinant), encloses the factors of F by those
// that were computed, and proves the inverse that the triangles are, for solutions with few
// right-hand sides (see Elimination) and for whole inverses (see QuickInverse).
package digits
