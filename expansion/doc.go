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
// much cancels in an addition. Bounds, in units of u², u³ and u⁴ times the result,
// and in brackets the largest errors found, in 10^7 random operands each and by
// hill climbing with words of 9 bits, where the worst coincidences can be reached:
//
//	                  DD          TD          QD
//	+ -           3  (3.0)    8  (3.0)   16  (2.0)
//	×             4  (3.9)   32  (8.5)  106  (11)
//	square        4  (3.0)   18  (7.4)   61  (9.6)
//	/            12  (7.4)   80  (22)   600  (70)
//	reciprocal    9  (4.3)   42  (14)   304  (34)
//	√          3.13  (3.1)   24  (9.0)  140  (37)
//	1/√          13  (5.8)   66  (13)   444  (39)
//
// Sources and arguments stand at the methods. Bounds hold where nothing overflows
// or loses bits to underflow: operands of / and √, products and results have to
// be zero or at least 2^-1022 u^-w in magnitude, w the number of words. (Additions
// lose nothing to underflow.) Below that an error is at most 4u or a few units of
// 2^-1074, and a zero that was no zero in float64 has lost its sign. An addition of
// a number whose leading word is ±MaxFloat64 may overflow within.
//
// The words of a number satisfy |x[i+1]| ≤ ulp(x[i])/2. Results have the stronger
// form x[i] = RN(x[i] + x[i+1]), which is unique for a DD. The form in which
// package halfulp stores numbers, x[i] = RN(x[i] + x[i+1] + …), is another where a
// word of half an ulp is followed by one more: [QD.Canonical] changes to it, arrays
// have it. All operations take both.
//
// Zeros, infinities and NaN have one form, the word and +0. They arise where the
// float64 operation on the leading words, or the rounded sum of all, gives them,
// with its sign. So -0 + -0 = -0, 1 / -0 = -Inf, and an infinity never turns into
// a NaN by itself.
//
// # Vectors and matrices
//
// [Add], [Sub], [Mul], [Div], [Sqrt], [FMA], [Map], [Map2] and [SinCos] take vectors or matrices of
// package halfulp, any views, and every operation is the method of that name on numbers of the
// result's format, the same bits and bounds. [Dot], [Gemv] and [Gemm] are native products, sums in
// the arithmetic of the format itself, with bounds of their own; [Solve] eliminates. Of all of
// them:
//
//   - Formats: the result has format DD, TD or QD. Operands may have fewer words, Float32 and
//     Float64 too, which convert exactly. Others are errors that wrap [ErrFormat]. Solve wants one
//     format.
//   - Places: operands that all live on one device are computed with there, and the result stays
//     there, the number of Dot aside. Operands of the host are computed with on the CPU, also for
//     the device "auto", or, where Options.Device is "cuda:N", on that GPU, to which they travel
//     and from which the result comes back. Several GPUs are an error that wraps halfulp.ErrDevice,
//     operands in different places one that wraps halfulp.ErrPlace.
//   - Bits do not depend on the place, but in Gemv, nor on threads and the instruction set.
//   - Aliasing: the result may overlap operands in any way, wherever they live. They are read as
//     they were before; for that a copy is made where the result is not the same view.
//   - Panics: shapes that differ or do not fit, a bad Transpose and freed operands. All else is an
//     error, with which the contents of the result are unspecified, but of Solve.
//   - Options: Context ends a routine with its error, and Progress rises to 1; on a GPU both look
//     at the work between launches. MemoryLimit bounds what is taken beside the operands: copies of
//     those that overlap the result or are converted on a device, and Solve's system. Method is "",
//     "auto" or [Method], in some elementwise routines [Published], a paper's algorithms, and in
//     Gemm and Solve [SquareBlocks] and [LinearBlocks], its block schemes.
//   - Stats: the device, the method, on the CPU the instruction set as Kernel, threads, and the
//     stages: the work, and for operands that travel their way there and back. Overflow counts, on
//     the CPU, the infinite results of finite operands in Dot, Gemv and Gemm; it is not counted in
//     the other routines and on devices. Underflow is not counted. Condition is Solve's, with
//     SolveOptions.Estimate.
package expansion
