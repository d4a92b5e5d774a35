// Package scale finds the powers of two that bring the entries of a matrix near 1, by its rows and
// columns, and takes entries so scaled as float64 numbers.
//
// Elimination and Newton's method begin in float64, whatever the exponents of the matrix; what they
// find of F = D1 A D2 is exact for A, since powers of two are.
package scale
