// Package lsq solves least-squares problems and computes their statistics, correctly rounded.
//
// The normal equations AᵀA x = Aᵀb are formed without rounding. If exponents are far apart, the
// augmented system of residuals and estimates replaces them. Package solve solves either system.
// The square of the condition number costs bits, not accuracy. Statistics are functions of entries
// of (AᵀA)^-1, of the residual sum of squares and of exact sums. Intervals enclose them until both
// ends round to one number. A tie is proved by an identity of integers modulo primes.
package lsq
