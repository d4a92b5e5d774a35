// Package ozaki multiplies matrices of float64 numbers by products of a few float32 matrices: the
// Ozaki scheme with a constant number of slices, for hardware where float32 is cheap. The number of
// slices sets the accuracy: between single and double precision, or beyond. Unlike the results of
// package halfulp, the results are not correctly rounded; [Gemm] returns a bound on the error of
// each entry instead.
//
//	bound := halfulp.NewMatrix(halfulp.Float64, m, n)
//	err := ozaki.Gemm(halfulp.NoTrans, halfulp.NoTrans, 1, a, b, 0, c, &ozaki.Options{Slices: 3, Bound: bound})
//
// The paper is:
//
//   - 002: Nanai, Fujimoto, Evaluation of Double-precision Matrix Multiplication based on the
//     Ozaki Scheme with a Small Constant Number of Split Matrices in Single-precision for
//     Gaming GPUs, 2021 (algorithms 1 and 2).
//
// # Slices
//
// For C = A B, A m x k, B k x n, let L = min(k, Block) be the length of the longest float32 sum,
// and
//
//	α = ⌊(24 - ⌈log2 L⌉)/2⌋,  e_i = ⌈log2 max_h |a_ih|⌉,  f_j = ⌈log2 max_h |b_hj|⌉,
//
// e_i = 0 for a row of zeros. With x = a_ih and e = e_i, or x = b_hj and e = f_j,
//
//	r_1 = x 2^(α-e),  q_t = ⌊r_t⌉,  r_(t+1) = (r_t - q_t) 2^(α+1),
//
// in float64, where ⌊·⌉ is the nearest integer, ties to even. Then |q_t| ≤ 2^α and |r_t| ≤ 2^α, so
// a slice q_t is a float32 matrix of integers. A sum of L products of such integers is at most
// 2^24, so that float32 computes it without error, in any order. Slices are scaled by powers of two
// alone, each row and column by its own, so that rows of zeros, exponents beyond float32 and
// subnormal numbers need no special treatment. All steps are exact, except for numbers below
// 2^-1022 times the largest in their row or column.
//
// The paper finds q_t by adding and subtracting σ = 2^(e+β), with a maximum for each slice. Its
// negative numbers get α bits and the others α - 1. Here each slice has α bits, and the exponent of
// slice t is e - (t-1)(α+1). Options.Split = [Literal] selects the paper's slices instead: they
// reproduce its tables, but do not support numbers beyond the range of float32.
//
// # Products
//
// With W = 2^-(α+1), for K slices
//
//	A B = 2^(e_i+f_j-2α) (Σ_(s+t≤K) W^(s+t-2) q_s(A) q_t(B) + W^(K-1) Σ_(s≤K) x_s r_(K+1-s)(B)),
//
// with x_s = q_s(A) for s < K and x_K = r_K(A), holds exactly. The K (K-1)/2 products of the first
// sum are computed without error. The remainders r_t in the K products of the second sum are
// rounded to float32, and so are these products: (3) and (16) of the paper.
//
// # Order of operations
//
// For each block of Block columns of A and rows of B, in order, with T = 0 at first and P the
// product of slices in float32:
//
//	S = 0
//	for g = K+1, K, …, 2:
//	    S = S W
//	    for s = 1, …, min(g-1, K):  S = RN(S + P),  P = x_s r_(g-s) if g = K+1, else q_s q_(g-s)
//	T = RN(T + S)
//
// in float64. Multiplication by W is exact. The factor alpha of the product is m 2^x with
// 1/2 ≤ |m| < 1. Then
//
//	c_ij = RN(beta c_ij + RN(m T) 2^(x+e_i+f_j-2α)),
//
// for parts of any size; a subnormal result is rounded once more.
//
// On the CPU an entry of P is the chain of fused multiply-adds p = RN(a_ih b_hj + p) over h in
// order, with every instruction set. So results are reproducible: blocks of rows and columns,
// memory and threads change no bit. On GPUs, Options.SGEMM = "own" computes the same chain. cuBLAS
// adds in an order of its own: the products without error have the same bits there, and the others
// satisfy the same bound.
//
// # Devices
//
// Devices and Aliasing are as in the documentation of package halfulp: products run on the device
// where A, B and C live and leave C there, or for operands of the host, where Options.Device says.
// C may overlap A and B everywhere. A cancelled context ends a product between blocks, and progress
// rises to 1. Devices do not support a factor alpha that is infinite or NaN: its operands are
// copied to the host.
package ozaki
