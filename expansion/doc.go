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
// [Add], [Sub], [Mul], [Div], [Sqrt], [FMA], [Map], [Map2] and [SinCos] take vectors or
// matrices of package halfulp, any views. The result has format DD, TD or QD, and every
// operation is the method of that name on numbers of that format, the same bits and
// bounds. Operands may have fewer words, float32 and float64 too, which convert exactly;
// other formats are errors that wrap [ErrFormat]. Shapes that differ panic. The result may
// overlap operands in any way. [Dot], [Gemv] and [Gemm] are native products, sums in the
// arithmetic of the format itself, with bounds of their own. Of the options, Device,
// Threads, Context and Progress count; Threads and the instruction set change no bit.
package expansion
