// Package newton computes inverses, and solutions with many right-hand sides, by Newton's method.
//
// For X near the inverse of F, with E = I - X F and a proved bound rho of its norm,
//
//	F^-1 = (I - E)^-1 X = (I + E + E² + ...) X,
//
// so that each step, two products, doubles or triples the bits of X (Schulz, Iterative Berechnung
// der reziproken Matrix, 1933; Higham, Functions of Matrices, 2008, section 7.3). All steps but
// the last have as few bits as the next one needs. E of every step is computed, with a bound of its
// error, and so an enclosure of F^-1 is what the last step leaves; its entries are rounded as
// package ziv says.
//
// The first X is a float64 inverse, or comes from one by sums of float64 matrices. Matrices live
// on the host or at the run's place; what is left for the host to decide is given back there.
package newton
