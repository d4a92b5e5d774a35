// Package halfulp does linear algebra at any precision with every result
// correctly rounded.
//
// A BLAS-type routine returns, in the format of its output, the number nearest
// to the exact value of its mathematical expression, ties to even: the error is
// at most half an ulp, whatever the cancellation or the spread of exponents.
// alpha, beta and the old output are part of the expression, which is rounded
// once. Hence the bits of a result depend on the inputs alone, not on the
// number of threads, the instruction set or the algorithm.
package halfulp
