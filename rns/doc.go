// Package rns is the residue number system floating-point arithmetic of the papers on
// MPRES and MPRES-BLAS: numbers, arrays, the three summations, GEMV by algorithm 1, and the
// routines of MPRES-BLAS, its sparse products and conjugate gradients among them, with bounds on
// rounding errors. Results are reproducible bit for bit; they are not correctly rounded, as those
// of package halfulp are.
//
//   - 001: Isupov, Knyazkov, Multiple-precision matrix-vector multiplication on graphics
//     processing units, 2020.
//   - 003: Isupov, Knyazkov, Kuvaev, Multiple-precision summation on CPUs and GPUs with
//     the library MPRES, 2018.
//
// # Numbers
//
// A [Base] has pairwise coprime moduli m₁ … mₙ with the product M. A number is
//
//	x = (-1)^s X 2^e,  0 ≤ X < √M,
//
// with the significand X as its residues X mod m_i. Significands are not normalised: a
// value has several representations, and the bits of later results depend on which. By the
// Chinese remainder theorem, with w_i = (M/m_i)^-1 mod m_i,
//
//	X/M = Σ |X w_i|_{m_i} / m_i - rank,
//
// whatever the integer rank is. An interval evaluation [Lo, Up] of X/M is kept with every
// number, as two floating-point numbers of extended range. It decides on alignment, signs,
// comparisons and the need for rounding.
//
// Let S = ⌊√M⌋ - ⌊√M / 2^16⌋ - 2, somewhat below √M. Every number satisfies
//
//  1. X ≤ S;
//  2. Lo ≤ X/M ≤ Up, and Up ≤ (1 + 2^-20) Lo;
//  3. 0 has X = 0, e = 0, s = 0 and the evaluation [0, 0].
//
// M ≥ 2^16 is asked of a base, so that the slack below holds.
//
// # Evaluations, defined
//
// CPU and GPU have to agree on every bit, so evaluations are defined by integers. With
// c_i = ⌊2^96/m_i⌋ and the numerators y_i = |2^s X w_i|_{m_i} the fraction is
//
//	F = Σ ( y_i ⌊c_i / 2^32⌋ + ⌊y_i (c_i mod 2^32) / 2^32⌋ ) mod 2^64,
//
// a sum of integers, in any order. A term loses less than 2 units, so that
// 0 ≤ 2^64 frac(2^s X/M) - F < 2n (modulo 2^64). The evaluation of X from its residues,
// given an upper bound U = f 2^I of X/M, takes s = max(0, -I - 2), which keeps
// 2^s X/M ≤ 1/2 unless s = 0:
//
//   - if F ≥ 2^64 - 2n, it has wrapped around, and 2n 2^(-64-s) is a better U;
//   - else if F < 2n 2^40, (F + 2n) 2^(-64-s), rounded up, is a better U;
//   - else Lo = F 2^(-64-s) rounded down to 53 bits, Up = (F + 2n) 2^(-64-s) rounded up.
//
// Each try but the last takes at least 12 bits off U, mostly over 50, so tiny X need few;
// the outcome depends on X and U and nothing else. X/M < 1 - 4n/2^64 is required, which all
// significands and exact intermediates of this package satisfy; [Base.Evaluate] and
// [Base.Rank] settle the rest by mixed-radix digits.
//
// All other evaluations come from the arithmetic of [XFloat] with directed rounding, which
// is defined there: sums [Lo + Lo', Up + Up'], differences [Lo - Up', Up - Lo'], products
// [Lo Lo' M, Up Up' M] with M rounded down or up, in this order, powers of two exactly, and
// after scaling down [Lo 2^-k - 1/(2M), Up 2^-k + 1/(2M)]. If then Up > (1 + 2^-20) Lo, the
// evaluation is made from the residues, with Up as U.
//
// # Scaling, defined
//
// Scaling by 2^-k is to nearest, halves up: ⌊X/2^k + 1/2⌋. X mod 2^k is Σ y_i (M/m_i) -
// rank M modulo 2^k; the quotient is found by exact division of residues. The rank is the
// number of times that F passed 2^64, plus one if F ≥ 2^64 - 2n: X/M < 1 - 4n/2^64, so such
// an F can only be an integer not reached. It is exact, and costs no mixed-radix conversion.
//
// # Bounds
//
// With u = 4/√M, the papers' (6), fl(x ∘ y) = (x ∘ y)(1 + δ), |δ| < u, holds for +, -, ×, /,
// square roots and conversions, as long as exponents stay in range. In fact |δ| < 1.1/√M
// for M ≥ 2^40:
//
// Rounding takes the least k with 2^-k Up ≤ T/M for T near S (1 - 2^-20), so that the result
// R satisfies T/2 (1 - 2^-20) - 1/2 ≤ R ≤ T + 1/2 ≤ S. To nearest, the error is at most 1/2,
// relatively at most 1/(T (1 - 2^-20)), which is below (1 + 2^-15)/√M but for terms of order
// 1/M.
//
// Multiplication: X Y ≤ S² < M (1 - 2^-16), so the product of residues is the exact product
// of significands, and rounding is the only error.
//
// Addition: of two non-zero numbers with exponents e ≥ e', X 2^e is scaled up to exponent e'
// if 2^(e-e') Up ≤ 15/16. Then both significands are integers, and their sum or difference
// is below 15/16 M + S < M (1 - 2^-16) and exact; rounding is the only error. (Scaling the
// other operand down instead, as one may read the paper, loses all of it where
// significands are not normalised.) If 2^(e-e') Up > 15/16, then |y| ≤ S 2^e' is below
// r = S/(15/16 (1 - 2^-20) M) < 1.07/√M times |x|. y is dropped, the result is x, and the
// error relative to x ± y is at most r/(1 - r).
//
// The sign of a difference follows from evaluations that do not overlap. If they do, the
// difference D of the residues is 0 exactly if all its residues are. Else 2^s D with
// 2^s |D|/M ≤ 1/4 has a fraction F in [-1/2, 1/2) with an error below 2n: F ≥ 0 says
// D > 0, F < -2n says D < 0, otherwise |D|/M is below 2n 2^(-64-s), and s grows. [Number.Cmp]
// is exact for the same reason.
//
// FMA: the product is not rounded. If both addends, aligned exactly, stay below 15/16 M, the
// error is that of one rounding. An addend that is dropped costs r as in addition, and the
// product is rounded. Between these the product is scaled down to make room. That costs at most
// half a unit, of which |x y| or |z| has more than M/18: hence the additional term
// 16/M (|x y| + |z|) = u² (|x y| + |z|), which matters only where x y and z cancel to less
// than half the digits.
//
// Quotient and root: X 2^k / Y, or √(X 2^k), is between T/2 (1 - 2^-19) and T (or it is X/1),
// and the integer Q that is returned is within 1/2 + 2^-20 + 1/T of it, as the exact
// remainder is known: |δ| < (1/2 + 2^-20 + 1/T) / (T/2 (1 - 2^-19)).
//
// # Routines of MPRES-BLAS
//
// What the library's code calls, beside asum, dot, scal, axpy, waxpby, rot, gemv, gemm, ger,
// ge_add, ge_acc, ge_diag_scale and ge_lr_scale, whose names are those of routines here:
//
//	norm, ge_norm               Nrm, GeNorm
//	axpy_dot                    AxpyDot: w = w - α v, and wᵀu
//	prod, diff                  Mul, Sub: entry by entry
//	maxpy                       Maxpy: r = y - α x
//	norm2                       Nrm2: ‖x‖₂
//	symv, syr, syr2, syrk       Symv, Syr, Syr2, Syrk: of one triangle
//
// Add, Sub, Mul, Div, Sqrt and FMA are the operations of [Number] on the entries of vectors and
// matrices. Arguments are in the order of BLAS.
//
// # Order of operations
//
// Sums and matrix routines say in which order they add. Each entry of a result is a fixed
// expression of rounded operations, so neither the number of goroutines nor the device
// changes a bit.
//
// # Sparse matrices
//
// A [Sparse] matrix is stored in one of the formats that MPRES-BLAS's code has ([CSR], [JAD],
// [ELL], [DIA]), its entries as numbers or as float64 numbers, which products convert as they go:
// the conversion is that of Number.SetFloat64, so both have the same bits. [SpMV] adds a row in the
// order of its places, by one thread (spmv_csr, _jad, _ell, _dia there) or by Options.RowThreads of
// them, whose sums are added as a tree (spmv_csrv, _jadv). Orders are those of rows, not of
// formats, so that CSR, JAD and ELL agree in every bit. Its two-stage routines add the same rounded
// products in the order of spmv_csr. An entry goes through one rounded product and at most n - 1
// rounded sums for n entries in its row, whatever the order: |y* - ŷ| <= γ_n |A| |x| for each
// entry, γ_n = n u / (1 - n u), [SpMVBound].
//
// [CG] is the method of conjugate gradients, mp_cg and mp_pcg there, as a composition of SpMV,
// [Dot] and updates entry by entry. It proves nothing but an enclosure of the residual of its
// result.
//
// # Places, options and errors
//
// Arrays, and with them vectors, matrices and sparse matrices, live on the host or on an NVIDIA
// GPU: On, Host and CopyFrom copy them, views are the same. A program has GPUs with import _
// "github.com/halfulp/halfulp/cuda". Every routine takes operands wherever they live, all in one
// place, else the error wraps [halfulp.ErrPlace]. On a GPU it runs there, and leaves outputs there;
// a [Number] that it returns is the host's. Operands of the host are copied there and back if
// Options.Device says so. Routines that run on the CPU whatever the device say so; [Number],
// [Base], conversions and single entries are the host's, and panic for arrays that are not.
//
// A routine returns when its work is done, with statistics that tell where it ran: Method is "rns",
// Overflow and Underflow are not counted. Options.Progress is called with 1 at the end, on the CPU
// now and then before. Errors are of options, of a cancelled context, which is looked at within
// loops and between launches, and of memory; outputs are unspecified then. Misuse of shapes, of
// numbers of different bases and of freed arrays panics. Outputs may be inputs entry by entry where
// a routine does not say otherwise, and overlap in no other way.
//
// # GPUs
//
// Moduli have to be odd and below 2^30 on a GPU, and at most 256. A number is worked on by one lane
// of a warp for every 8 moduli, which add fractions and words by shuffles. [Gemv] takes four
// launches in place of the ten of algorithm 1: α x; β y; the products, added by each thread as they
// are made, so that B is never stored; and the trees. The variant [Published] is algorithm 1 as the
// paper has it, with the same bits. [Symv] takes four launches, too, whose products read the
// triangle that there is. Updates of triangles take one launch, [Syrk] two; quotients, roots
// and FMA entry by entry one, of a kernel that is compiled when it is first needed. Sums by blocks
// are fastest with many threads: 64 blocks of 1024 for 10^6 numbers of 106 bits (BenchmarkDevice).
// [TuneSum] and [TuneGemv] find the fastest blocks and remember them; a result with other blocks
// has other bits. SpMV is one launch for one thread a row, two for more; a thread is a group of
// lanes, which converts float64 entries.
package rns
