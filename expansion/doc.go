// Package expansion computes with double-double, triple-double and quad-double
// numbers: [DD], [TD] and [QD], unevaluated sums of two, three and four float64
// words, about 106, 159 and 212 bits.
//
// Every operation is straight-line code of float64 additions, multiplications,
// divisions, square roots and fused multiply-adds in one fixed order, written
// once on words (addDD, mulQD, …). That order is the definition: scalars,
// vectors under every instruction set and GPUs give the same bits.
//
// # Accuracy
//
// u = 2^-53. The error of an operation is relative to its exact result, however
// much cancels in an addition; its bound and source stand at the method. Bounds
// hold where no intermediate result overflows or loses bits to underflow:
// products, quotients and their remainders down to u^w times the result have to
// be at least 2^-1022 (w words). Operands are normalised, and so are results:
// x[i] = RN(x[i] + x[i+1]). That form is unique for a DD, but not for a TD or QD
// with a word of exactly half an ulp of the one before.
//
// Zeros, infinities and NaN have one form, the word and +0. They arise exactly
// where the float64 operation on the leading words, or the rounded sum of all,
// gives them, with its sign.
package expansion
