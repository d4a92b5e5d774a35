// Package newton computes inverses, and solutions with many right-hand sides, by Newton's method.
//
// For X near the inverse of F, with E = I - X F and a proved bound rho of its norm,
//
//	F^-1 = (I - E)^-1 X = (I + E + E² + ...) X,
//
// so that each step of two products doubles or triples the bits of X (Schulz, Iterative Berechnung
// der reziproken Matrix, 1933; Higham, Functions of Matrices, 2008, section 7.3). All steps but the
// last have as few bits as the next one needs. Every step computes E with a bound of its error, so
// the last step leaves an enclosure of F^-1. Its entries are rounded as described in package ziv.
//
// The first X is a float64 inverse, or comes from one by sums of float64 matrices. Matrices live on
// the host or at the run's place; entries that only the host can decide are given back there.
package newton
