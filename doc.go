// Package halfulp does linear algebra at any precision with every result correctly rounded.
//
// The routines are those of the BLAS, and some statistics, under the names and with the arguments
// of the BLAS, the options last. What all of them promise stands here, under the headings that
// their documentation names.
//
// # Rounding
//
// A routine returns, in the format of its output, the number nearest to the exact value of its
// mathematical expression of the inputs as stored, ties to even: the error is at most half an ulp,
// whatever the cancellation or the spread of exponents. α, β and the old output are part of the
// expression, which is rounded once: RN(x) stands for that. Inputs are of any formats. So the bits
// of a result depend on the inputs alone, not on the device, the number of threads, the instruction
// set, the method or the memory allowed.
//
// [Trsv] and [Trsm] round every entry once as well, to the exact quotient that the entries before
// it make; their documentation has the bound on the error of the solution.
//
// # Scalars
//
// Arithmetic of single numbers is that of a format, which says where to round, as the receiver does
// in math/big: [Format.Add], [Format.Sub], [Format.Mul], [Format.Quo], [Format.FMA] and
// [Format.Sqrt] take operands of any formats and round once, so that halfulp.DD.Add(x, y) is the
// double-double number nearest to x + y. What is exact is a method of [Scalar]: Neg, Abs, Cmp,
// Sign. There are no options and no errors. Special values are those of IEEE 754, as below; 0 / 0,
// ∞ / ∞ and roots of numbers less than 0 are NaN.
//
// # Special values
//
// NaN and infinities are those that IEEE 754 gives to the sum of the exact products of the
// expression: a NaN, 0 · ∞ and ∞ - ∞ make NaN, else an infinity makes itself. The result is -0 only
// if every addend is -0; another exact zero is +0, and an empty sum is +0. A finite value beyond
// the format makes an infinity, one too small for it a subnormal number or a zero, with its sign.
// As in the BLAS, α = 0 leaves the factors unread and β = 0 the old output: infinities and NaN
// there do not count, and there are no such addends.
//
// # Aliasing
//
// Outputs may share storage with inputs and overlap them in any way, on the host and on devices:
// the result is the one for distinct storage.
//
// # Places
//
// A [Matrix] or [Vector] lives on the host or on a device: see [Matrix.On], [Matrix.Host] and
// [Matrix.Place]. Operands of a routine all live in one place, else the error wraps [ErrPlace].
// Where they live on the host, Options.Device says where the routine runs; numbers then travel
// there and back. Where they live on a device the routine runs there, whatever Options.Device says,
// and leaves its result there, but for scalars:
//
//   - [Sum], [Asum], [Trace], [Dot], [Nrm2], [Mean], [StdDev], [Autocorr1], [Iamax], [Axpy],
//     [Scal], [Copy], [Swap], [Rot], [Rotm], [Ger], [Gemv], [Gbmv], [Symv], [Sbmv], [Spmv], [Trmv],
//     [Trsv], [Gemm], [Symm], [Trmm], [Syrk], [Syr2k], [Syr], [Syr2] and [Trsm] run wholly there;
//     of a matrix that is stored in part there are copies meanwhile, whole or by blocks of rows.
//     Nothing travels but a few words, and the operands of what is left to the host: rows with
//     infinities or NaN, or whose exponents spread very far; band and triangular matrices times
//     vectors or matrices with infinities or NaN; vectors of MP beside those of DD, TD or QD in
//     Rot, Rotm, Syr2 and Syr2k; triangular systems with infinities, NaN or zeros on the diagonal,
//     of matrices in DD, TD or QD, for α = 0 and the method direct, or where the rounding of a
//     quotient is not decided by some 32 bits more than the solution has; and Asum in DD, TD and
//     QD.
//   - [Rotg] and [Rotmg] take scalars, and run on the CPU; so does [CumSum], on copies of vectors
//     that live on a device.
//
// Of several GPUs, "cuda:0-3", each has some of the columns of a matrix, and of the numbers of a
// vector. [Gemm], [Syrk], [Gemv], [Axpy], [Scal], [Ger] and copies run on all of them, each of
// which gets what it needs of the others' over the link between them; so do the products of other
// routines. What is no product runs on the first, with copies of its operands there: reductions,
// triangular systems, and the copies of matrices that are stored in part. For products of a matrix
// with some vectors GPUs keep the rows that they got, until the matrix changes or is freed, or
// memory is short.
//
// Entries of what lives on a device can be reached only by copying it to the host: At, Set,
// Convert, Same, text and the like panic.
//
// Devices other than the CPU are there for programs that import their package,
//
//	import _ "github.com/halfulp/halfulp/cuda"
//
// and errors say so in programs that do not. What a device does not fit is computed in parts.
//
// # Errors
//
// Misuse that a program can avoid, such as shapes that do not fit, indices out of range, nil
// operands or the use of a freed matrix, panics with a constant message, before anything else.
// Messages and fields of errors count rows, columns and entries from 0. The rest is errors: of
// the options ([ErrDevice], [ErrMethod]), of mixed places ([ErrPlace]), of memory ([ErrMemory]), of
// devices, and that of the context where it is cancelled. [Options.Validate] finds errors of
// options without running anything. After an error there is no scalar result, and an output is
// unchanged, but for outputs of [Gemm], [Symm], [Syrk], [Syr2k], [Syr] and [Syr2], and all outputs
// that live on a device, which are unspecified.
//
// # Statistics
//
// Where Options.Stats is given it receives how the routine ran. Threads, Moduli, Products, Blocks,
// Exact, Overflow and Underflow are counts, WidthA and WidthB bits, times are durations. Exact
// counts results that only the exact value decided, which depends on the method; Overflow counts
// finite values that became infinite and Underflow values that lost bits below the smallest normal
// number of their format: both are properties of the results, alike for all methods and devices.
package halfulp
