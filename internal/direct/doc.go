// Package direct computes sums, dot products, norms, updates, rotations, and products of matrices
// with vectors or of small matrices, by adding up their products: no residues, and no sum of
// products is rounded but once. It serves level 1 and level 2 of the BLAS, small shapes of level
// 3, and the entries of other engines that fail their rounding test.
//
// A sum goes through the ways below in turn, as formats and sizes suit, until one of them decides
// its rounding; each says how far the true sum may lie from what it has:
//
//   - compensated sums of binary64 and binary32 numbers (floats.go, gemvfloat.go): s + e is the
//     sum of the v_k but for 2 (m + 2)^2 u^2 Σ|v_k|, by the exact errors of additions and of
//     products (Knuth, Dekker; Ogita, Rump and Oishi);
//   - the highest words of each product in fixed point (top.go, toprows.go);
//   - leading digits, on tiles (package tiles), in lanes (package lanes), or of 28 bits by
//     convolution (gemv.go, dot.go): of K digits the products cut off sum to less than (K + 3)
//     B^-K of the largest product each.
//
// If both ends of the enclosure round to the same number, so does the sum (Ziv). What no way
// decides, infinities and NaN take the exact sum in an accumulator of package superacc. So the
// result is the one correct rounding, whatever way a machine takes, and the same bits everywhere.
//
// A [Reduction] is a sum over vectors, [Gemv], [Gemm] and [Entries] are products, [Structured]
// matrices band, symmetric, packed and triangular ones; [Work] says how loops run. The loops in
// generic.go say what the kernels in assembly compute, bit for bit. EstimateGemm and its like tell
// what the ways cost, for the choice between them and other engines.
package direct
