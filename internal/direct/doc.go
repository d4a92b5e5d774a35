// Package direct computes sums, dot products, norms, updates and rotations, and products of
// matrices with vectors or of small matrices. It adds up products directly, without residues, and
// rounds each sum of products only once. It serves levels 1 and 2 of the BLAS, small shapes of
// level 3, and the entries of other engines that fail their rounding test.
//
// The methods below are tried in turn, as formats and sizes permit, until one of them decides the
// rounding of the sum. Each method has a bound on the distance between its result and the true sum:
//
//   - Compensated sums of binary64 and binary32 numbers (floats.go, gemvfloat.go). With the exact
//     errors of additions and products (Knuth, Dekker; Ogita, Rump and Oishi), s + e differs from
//     the sum of the v_k by less than 2 (m + 2)^2 u^2 Σ|v_k|.
//   - The highest words of each product in fixed point (top.go, toprows.go).
//   - Leading digits, on tiles (package tiles), in lanes (package lanes), or of 28 bits by
//     convolution (gemv.go, dot.go). With K digits to base B, the parts that are cut off sum to
//     less than (K + 3) B^-K of the largest product for each product.
//
// If both ends of the enclosure round to the same number, the sum rounds to that number too (Ziv).
// The exact sum in an accumulator of package superacc is used when no method decides and for
// infinities and NaN. So the result is the correctly rounded one, the same bits on every machine,
// whichever method was used.
//
// A [Reduction] is a sum over vectors. [Gemv], [Gemm] and [Entries] compute products. [Structured]
// holds band, symmetric, packed and triangular matrices. [Work] holds the options of loops. The
// loops in generic.go define what the assembly kernels compute, bit for bit. EstimateGemm and
// similar functions estimate the cost of the methods, for the choice between them and other
// engines.
package direct
