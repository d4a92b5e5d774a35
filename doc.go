// Package halfulp computes linear algebra at any precision with every result correctly rounded.
//
//	x := halfulp.NewVectorFloat64(3, 1, []float64{1e16, 1, -1e16})
//	s, err := halfulp.Sum(x, halfulp.Float64, nil) // 1
//	a := gallery.Random(halfulp.MP(200), 3, 3, 0, 1)
//	c, err := halfulp.Mul(a, a, halfulp.DD, nil) // every entry rounded once to DD
//	fmt.Printf("%.30f\n", c)
//
// The routines are the BLAS, and sums, with the names and arguments of the BLAS and the options
// last. The headings below state what all routines promise; the documentation of a routine refers
// to them by name. Package linsolve solves systems, stats computes statistics, matfile reads and
// writes files, and gallery has test matrices.
//
// # Rounding
//
// A routine returns, in the format of its output, the number nearest to the exact value of its
// mathematical expression for the inputs as stored, ties to even. So the error is at most half an
// ulp, whatever the cancellation or the spread of exponents. α, β and the old output are part of
// the expression, and the expression is rounded once: RN(x) denotes this rounding. Inputs may have
// any formats. The bits of a result depend on the inputs alone, not on the device, the number of
// threads, the instruction set, the method or the memory allowed.
//
// [Trsv] and [Trsm] round every entry of the solution once as well: the exact quotient for the
// entries solved before it. Their documentation bounds the error of the solution.
//
// # Scalars
//
// A method of [Format] computes with single numbers and rounds to that format, as the receiver does
// in math/big. [Format.Add], [Format.Sub], [Format.Mul], [Format.Quo], [Format.FMA] and
// [Format.Sqrt] take operands of any formats and round once: halfulp.DD.Add(x, y) is the
// double-double number nearest to x + y. Exact operations are methods of [Scalar]: Neg, Abs, Cmp,
// Sign. They take no options and return no errors. Special values follow IEEE 754, as below; 0 / 0,
// ∞ / ∞ and square roots of numbers less than 0 are NaN.
//
// # Special values
//
// NaN and infinities follow IEEE 754 for the sum of the exact products of the expression. The
// result is NaN if an addend is NaN or 0 · ∞, or if infinities of both signs are added. Otherwise
// an infinite addend gives the infinity of its sign. The result is -0 only if every addend is -0;
// any other exact zero is +0, and an empty sum is +0. A finite value too large for the format
// becomes an infinity, and a value too small for it a subnormal number or a zero, each with the
// sign of the value. As in the BLAS, α = 0 leaves the factors unread and β = 0 the old output:
// infinities and NaN there have no effect, and these operands contribute no addends.
//
// # Aliasing
//
// Outputs may share storage with inputs and overlap them in any way, on the host and on devices:
// the result is the same as for distinct storage.
//
// # Devices
//
// A [Matrix] or [Vector] lives on the host or on a device: see [Matrix.On], [Matrix.Host] and
// [Matrix.Device]. All operands of a routine must live on the same device, otherwise the error
// wraps [ErrMixedDevices]. If they live on the host, Options.Device chooses where the routine runs,
// and numbers are copied there and back. If they live on a device the routine runs there, whatever
// Options.Device says, and its result stays there, except that scalars are returned to the host:
//
//   - [Sum], [Asum], [Trace], [Dot], [Nrm2], the statistics of package stats, [Iamax], [Axpy],
//     [Scal], [Copy], [Swap], [Rot], [Rotm], [Ger], [Gemv], [Gbmv], [Symv], [Sbmv], [Spmv], [Trmv],
//     [Trsv], [Gemm], [Symm], [Trmm], [Syrk], [Syr2k], [Syr], [Syr2] and [Trsm] run wholly on the
//     device. A matrix that is stored in part (a triangle or a band) is copied there for the call,
//     whole or by blocks of rows. Only a few words are transferred, and the operands of the cases
//     that the host computes. These cases are: rows with infinities or NaN, or whose exponents
//     spread very far; band and triangular matrices times vectors or matrices with infinities or
//     NaN; vectors of MP together with vectors of DD, TD or QD in Rot, Rotm, Syr2 and Syr2k; Asum
//     in DD, TD and QD. The host also solves triangular systems with infinities or NaN, with zeros
//     on the diagonal, with matrices in DD, TD or QD, with α = 0, with the method direct, and
//     systems where some 32 bits more than the solution has do not decide the rounding of a
//     quotient.
//   - [Rotg] and [Rotmg] take scalars and run on the CPU. [CumSum] runs on the CPU too, on copies
//     of vectors that live on a device.
//
// On several GPUs ("cuda:0-3") a matrix is distributed by columns and a vector by entries. The
// first GPU stores matrices of at most 32 MiB whose order is below 3584, and computes with them.
// [Gemm], [Syrk], [Gemv], [Axpy], [Scal], [Ger] and copies run on all of them, and each GPU gets
// what it needs from the others over the link between them; so do the products within other
// routines. All else runs on the first GPU, with copies of its operands there: reductions,
// triangular systems, and the copies of matrices that are stored in part. For products of a matrix
// with some vectors GPUs keep the rows that they got, until the matrix changes or is freed, or
// memory is short.
//
// Entries of a matrix or vector on a device can be reached only by copying it to the host: At, Set,
// Convert, Same, text and the like panic.
//
// A program has devices other than the CPU if it imports their package,
//
//	import _ "github.com/halfulp/halfulp/cuda"
//
// and without that import the errors name it. Operands that do not fit in device memory are
// processed in parts.
//
// # Errors
//
// Misuse that a program can avoid panics with a constant message, before anything else: shapes that
// do not fit, indices out of range, nil operands, the use of a freed matrix and the like. Messages
// and fields of errors count rows, columns and entries from 0. All other failures are errors: of
// options ([ErrDevice], [ErrMethod], [ErrOptions]), of operands on different devices
// ([ErrMixedDevices]), of memory ([ErrMemory]), of devices, and the error of a cancelled context.
// [Options.Validate] finds errors of options without running anything. After an error there is no
// scalar result, and an output is unchanged, with two exceptions: the outputs of [Gemm], [Symm],
// [Syrk], [Syr2k], [Syr] and [Syr2], and all outputs that live on a device, are unspecified.
//
// # Statistics
//
// Options.Stats, if given, receives how the routine ran. Threads, Moduli, Products, Blocks, Exact,
// Overflow and Underflow are counts, WidthA and WidthB are bits, times are durations. Exact counts
// the results that only the exact value decided; it depends on the method. Overflow counts finite
// values that became infinite, and Underflow values that lost bits below the smallest normal number
// of their format. Both are properties of the results, the same for all methods and devices.
package halfulp
