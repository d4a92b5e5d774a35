// Package modular computes with integers modulo primes of 61 bits: elements, elimination, inverses
// and powers of matrices.
//
// A result modulo a prime decides questions that no finite precision can: a determinant that is not
// 0 modulo one prime is not 0, and an integer with a known bound is 0 if enough primes divide it.
// Numbers of binary formats are elements too, since 2 is invertible.
package modular
