// Package lsq solves problems of least squares and computes their statistics, rounded correctly.
//
// The normal equations AᵀA x = Aᵀb are formed without rounding, or the augmented system of
// residuals and estimates where exponents are far apart, and package solve solves them: that the
// condition number is squared costs bits alone. Statistics are functions of entries of (AᵀA)^-1, of
// the residual sum of squares and of exact sums: intervals enclose them until both ends round
// alike, and one that is a tie is proved to be one by an identity of integers modulo primes.
package lsq
