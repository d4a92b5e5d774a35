// Package scale computes powers of two that scale the rows and columns of a matrix so that its
// entries lie near 1, and converts the scaled entries to float64.
//
// Elimination and Newton's method begin in float64, whatever the exponents of the matrix. Results
// for F = D1 A D2 hold exactly for A, since D1 and D2 are powers of two.
package scale
