// Package expansion computes with double-double, triple-double and quad-double
// numbers: [DD], [TD] and [QD], unevaluated sums of two, three and four float64
// words, about 106, 159 and 212 bits.
//
//	x := expansion.QDOf(2).Sqrt()
//	fmt.Printf("%.60f\n", x)
//	c := halfulp.NewMatrix(halfulp.QD, 2, 2)
//	err := expansion.Add(a, b, c, nil) // matrices and vectors of package halfulp
//
// Every operation is straight-line code of float64 additions, multiplications, divisions, square
// roots and fused multiply-adds in one fixed order, written once on words (addDD, mulQD, …). That
// order is the definition: scalars, vectors under every instruction set and GPUs give the same
// bits.
//
// # Accuracy
//
// u = 2^-53. The error of an operation is relative to its exact result, however much cancels in an
// addition. The table has bounds in units of u², u³ and u⁴ times the result. In brackets are the
// largest errors found, in 10^7 random operands each and by hill climbing with words of 9 bits,
// where the worst coincidences can be reached:
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
// Sources and arguments are in the documentation of the methods. Bounds hold where nothing
// overflows or loses bits to underflow: operands of / and √, products and results must be zero or
// at least 2^-1022 u^-w in magnitude, w the number of words. (Additions lose nothing to underflow.)
// Below that, an error is at most 4u or a few units of 2^-1074, and a zero that was not zero in
// float64 has lost its sign. An addition with a number whose leading word is ±MaxFloat64 may
// overflow internally.
//
// The words of a number satisfy |x[i+1]| ≤ ulp(x[i])/2. Results have the stronger form
// x[i] = RN(x[i] + x[i+1]), which is unique for a DD. Package halfulp stores numbers in another
// form, x[i] = RN(x[i] + x[i+1] + …). It differs where a word of half an ulp is followed by one
// more. [QD.Canonical] converts to it, and arrays store it. All operations accept both forms.
//
// Zeros, infinities and NaN have one form: the leading word, and +0 in the others. They arise where
// the float64 operation on the leading words, or the rounded sum of all words, gives them, with the
// same sign. So -0 + -0 = -0, 1 / -0 = -Inf, and an infinity never turns into a NaN by itself.
//
// # Vectors and matrices
//
// [Add], [Sub], [Mul], [Div], [Sqrt], [FMA], [Map], [Map2] and [SinCos] work on vectors or matrices
// of package halfulp, any views. Every operation is the method of the same name on numbers of the
// result's format, with the same bits and bounds. [Dot], [Gemv] and [Gemm] are native products:
// sums in the arithmetic of the format itself, with bounds of their own. [Solve] solves systems by
// elimination. For all of them:
//
//   - Formats: the result has format DD, TD or QD. Operands may have fewer words, also Float32 and
//     Float64; these convert exactly. Other formats are errors that wrap [halfulp.ErrFormat]. Solve
//     requires one format for all.
//   - Devices: if all operands live on one device, the routine runs there and leaves the result
//     there, except the number of Dot. For operands on the host it runs on the CPU, also for the
//     device "auto". With Options.Device = "cuda:N" it copies them to that GPU, and the result
//     back. Several GPUs are an error that wraps halfulp.ErrDevice, operands on different devices
//     an error that wraps halfulp.ErrMixedDevices.
//   - Bits depend on the device only in Gemv. They never depend on threads or the instruction set.
//   - Aliasing: the result may overlap operands in any way, wherever they live. Routines use the
//     operands' values before the call; they copy operands that overlap the result in another view.
//   - Panics: shapes that differ or do not fit, a bad Transpose and freed operands. All else is an
//     error, which leaves the contents of the result unspecified, except in Solve.
//   - Options: if Context is cancelled, a routine returns its error. Progress rises to 1. On a GPU
//     both are served between launches. MemoryLimit bounds the memory beside the operands: copies
//     of operands that overlap the result or are converted on a device, and Solve's system. Method
//     is "", "auto" or [Method]; in some elementwise routines also [Published], a paper's
//     algorithms, and in Gemm and Solve also [SquareBlocks] and [LinearBlocks], the paper's block
//     schemes.
//   - Stats: the device, the method, on the CPU the instruction set as Kernel, threads, and the
//     stages: the work, and the copies of operands and results to and from a device. Overflow
//     counts, on the CPU, the infinite results of finite operands in Dot, Gemv and Gemm. It is not
//     counted in the other routines and on devices. Underflow is not counted. Condition is set by
//     Solve with SolveOptions.Estimate.
package expansion
