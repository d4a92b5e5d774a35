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
// and in brackets the largest errors found, in random operands and in millions more
// with words of 4 to 10 bits instead of 53, where the worst coincidences turn up:
//
//	                  DD          TD          QD
//	+ -           3  (2.6)    8  (2.0)   16  (1.9)
//	×             4  (3.7)    8  (6.1)   16  (8.0)
//	square        4  (3.0)    8  (6.5)   16  (7.3)
//	/            12  (7.1)   80  (17)   600  (37)
//	reciprocal    9  (4.0)   42  (9.9)  304  (21)
//	√          3.13  (2.9)   24  (8.2)  140  (20)
//	1/√          13  (5.3)   66  (8.9)  444  (21)
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
// [Add], [Sub], [Mul], [Div], [Sqrt], [FMA], [Map], [Map2] and [SinCos] take vectors or
// matrices of package halfulp, any views. The result has format DD, TD or QD, and every
// operation is the method of that name on numbers of that format, the same bits and
// bounds. Operands may have fewer words, float32 and float64 too, which convert exactly;
// other formats are errors that wrap [ErrFormat]. Shapes that differ panic. The result may
// overlap operands in any way. [Dot], [Gemv] and [Gemm] are native products, sums in the
// arithmetic of the format itself, with bounds of their own. Of the options, Device,
// Threads, Context and Progress count; Threads and the instruction set change no bit.
package expansion
