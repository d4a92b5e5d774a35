// Package rns is floating-point arithmetic in a residue number system, after the papers on MPRES
// and MPRES-BLAS. It has numbers, arrays, the three summations, GEMV by algorithm 1 and the
// routines of MPRES-BLAS, including sparse products and conjugate gradients, with bounds on
// rounding errors. Results are reproducible bit for bit. Unlike the results of package halfulp,
// they are not correctly rounded.
//
//	b, err := rns.SummationBase(120)
//	sum, err := rns.Reduce2(b.VectorFloat64([]float64{1e16, 1, -1e16}), nil)
//	fmt.Println(sum) // 1
//
// The papers are:
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
// where rank is an integer. An interval evaluation [Lo, Up] of X/M is kept with every
// number, as two floating-point numbers of extended range. It decides on alignment, signs,
// comparisons and the need for rounding.
//
// Let S = ⌊√M⌋ - ⌊√M / 2^16⌋ - 2, somewhat below √M. Every number satisfies
//
//  1. X ≤ S;
//  2. Lo ≤ X/M ≤ Up, and Up ≤ (1 + 2^-20) Lo;
//  3. 0 has X = 0, e = 0, s = 0 and the evaluation [0, 0].
//
// A base must have M ≥ 2^16, so that the slack below holds.
//
// # Evaluations, defined
//
// CPU and GPU have to agree on every bit, so evaluations are defined by integers. With
// c_i = ⌊2^96/m_i⌋ and the numerators y_i = |2^s X w_i|_{m_i} the fraction is
//
//	F = Σ ( y_i ⌊c_i / 2^32⌋ + ⌊y_i (c_i mod 2^32) / 2^32⌋ ) mod 2^64,
//
// a sum of integers, in any order. A term loses less than 2 units, so that
// 0 ≤ 2^64 frac(2^s X/M) - F < 2n (modulo 2^64). X is evaluated from its residues and an upper
// bound U = f 2^I of X/M, with s = max(0, -I - 2), which keeps 2^s X/M ≤ 1/2 unless s = 0:
//
//   - if F ≥ 2^64 - 2n, it has wrapped around, and 2n 2^(-64-s) is a better U;
//   - else if F < 2n 2^40, (F + 2n) 2^(-64-s), rounded up, is a better U;
//   - else Lo = F 2^(-64-s) rounded down to 53 bits, Up = (F + 2n) 2^(-64-s) rounded up.
//
// Each try but the last takes at least 12 bits off U, mostly over 50, so that a tiny X needs few
// tries. The outcome depends on X and U and nothing else. The method requires X/M < 1 - 4n/2^64.
// All significands and exact intermediates of this package satisfy this; for other X,
// [Base.Evaluate] and [Base.Rank] decide by mixed-radix digits.
//
// All other evaluations come from the arithmetic of [XFloat] with directed rounding, which is
// defined there: sums [Lo + Lo', Up + Up'], differences [Lo - Up', Up - Lo'], products [Lo Lo' M,
// Up Up' M] with M rounded down or up, in this order, powers of two exactly, and after scaling down
// [Lo 2^-k - 1/(2M), Up 2^-k + 1/(2M)]. If the result has Up > (1 + 2^-20) Lo, the evaluation is
// computed again from the residues, with Up as U.
//
// # Scaling, defined
//
// Scaling by 2^-k rounds to nearest, halves up: ⌊X/2^k + 1/2⌋. X mod 2^k is Σ y_i (M/m_i) - rank M
// modulo 2^k; exact division of residues gives the quotient. The rank is the number of times that F
// passed 2^64, plus one if F ≥ 2^64 - 2n: since X/M < 1 - 4n/2^64, such an F can only be an integer
// not reached. The rank is exact, and costs no mixed-radix conversion.
//
// # Bounds
//
// With u = 4/√M, the papers' (6), fl(x ∘ y) = (x ∘ y)(1 + δ), |δ| < u, holds for +, -, ×, /,
// square roots and conversions, as long as exponents stay in range. In fact |δ| < 1.1/√M
// for M ≥ 2^40:
//
// Rounding takes the least k with 2^-k Up ≤ T/M for T near S (1 - 2^-20), so that the result
// R satisfies T/2 (1 - 2^-20) - 1/2 ≤ R ≤ T + 1/2 ≤ S. To nearest, the error is at most 1/2,
// relatively at most 1/(T (1 - 2^-20)), which is below (1 + 2^-15)/√M up to terms of order
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
// FMA: the product is not rounded. If both addends, aligned exactly, stay below 15/16 M, the only
// error is one rounding. An addend that is dropped costs r as in addition, and the product is
// rounded. Between these two cases the product is scaled down to make room. This costs at most half
// a unit, where |x y| or |z| has more than M/18 units: hence the additional term 16/M (|x y| + |z|)
// = u² (|x y| + |z|), which matters only where x y and z cancel to less than half the digits.
//
// Quotient and root: X 2^k / Y, or √(X 2^k), is between T/2 (1 - 2^-19) and T (or it is X/1). The
// exact remainder is known, so the returned integer Q is within 1/2 + 2^-20 + 1/T of it: |δ| < (1/2
// + 2^-20 + 1/T) / (T/2 (1 - 2^-19)).
//
// # Routines of MPRES-BLAS
//
// The names of MPRES-BLAS's code, and the routines here. asum, dot, scal, axpy, waxpby, rot, gemv,
// gemm, ger, ge_add, ge_acc, ge_diag_scale and ge_lr_scale have the same names here.
//
//	norm, ge_norm               Nrm, GeNorm
//	axpy_dot                    AxpyDot: w = w - α v, and wᵀu
//	prod, diff                  Mul, Sub: entry by entry
//	maxpy                       Maxpy: r = y - α x
//	norm2                       Nrm2: ‖x‖₂
//	symv, syr, syr2, syrk       Symv, Syr, Syr2, Syrk: of one triangle
//
// Add, Sub, Mul, Div, Sqrt and FMA apply the operations of [Number] to the entries of vectors and
// matrices. Arguments are in the order of BLAS.
//
// # Order of operations
//
// The documentation of each sum and matrix routine gives its order of additions. Each entry of a
// result is a fixed expression of rounded operations, so neither the number of goroutines nor the
// device changes a bit.
//
// # Sparse matrices
//
// A [Sparse] matrix is stored in one of the formats of MPRES-BLAS's code ([CSR], [JAD], [ELL],
// [DIA]). Its entries are numbers, or float64 numbers that products convert when they use them. The
// conversion is Number.SetFloat64, so both kinds give the same bits. [SpMV] adds the products of a
// row in the order of their places, by one thread (MPRES-BLAS's spmv_csr, _jad, _ell, _dia) or by
// Options.RowThreads threads, whose sums are added as a tree (spmv_csrv, _jadv). The order of
// additions depends on the row and not on the format, so that CSR, JAD and ELL agree in every bit.
// MPRES-BLAS's two-stage routines add the same rounded products in the order of spmv_csr. For n
// entries in a row, each entry goes through one rounded product and at most n - 1 rounded sums, in
// any order: |y* - ŷ| <= γ_n |A| |x| for each entry, γ_n = n u / (1 - n u), [SpMVBound].
//
// [CG] is the method of conjugate gradients, MPRES-BLAS's mp_cg and mp_pcg, composed of SpMV, [Dot]
// and updates entry by entry. It proves nothing about its result except an enclosure of the
// residual.
//
// # Devices, options and errors
//
// Arrays, and with them vectors, matrices and sparse matrices, live on the host or on an NVIDIA
// GPU. On, Host and CopyFrom copy them; views live where their array does. Importing _
// "github.com/halfulp/halfulp/cuda" adds the GPUs to a program. The operands of a call must all
// live on one device, else the error wraps [halfulp.ErrMixedDevices]. If they live on a GPU, the
// routine runs there and leaves its outputs there; a [Number] that it returns lives on the host.
// Operands on the host are copied to the device and back if Options.Device names one. Routines that
// always run on the CPU say so. [Number], [Base], conversions and single entries work on the host;
// conversions and single entries panic for arrays that live elsewhere.
//
// A routine returns when its work is done. Its statistics report where it ran; Method is "rns", and
// Overflow and Underflow are not counted. Options.Progress is called with 1 at the end, and on the
// CPU now and then before. A routine fails for invalid options, a cancelled context (checked within
// loops and between launches) and lack of memory; its outputs are unspecified then. It panics for
// wrong shapes, numbers of different bases and freed arrays. Unless a routine says otherwise, an
// output may be the same as an input, entry by entry; outputs and inputs must not overlap in any
// other way.
//
// # GPUs
//
// On a GPU, moduli must be odd and below 2^30, and there may be at most 256. One lane of a warp
// works on each 8 moduli of a number; lanes add fractions and words by shuffles. [Gemv] takes four
// launches in place of the ten of algorithm 1: α x; β y; the products, which each thread adds as it
// makes them, so that B is never stored; and the trees. The variant [Published] is algorithm 1 as
// the paper has it, with the same bits. [Symv] also takes four launches, whose products read the
// stored triangle. Updates of triangles take one launch, [Syrk] two. Quotients, roots and FMA entry
// by entry take one launch of a kernel that is compiled when it is first needed. Sums by blocks are
// fastest with many threads: 64 blocks of 1024 for 10^6 numbers of 106 bits (BenchmarkDevice).
// [TuneSum] and [TuneGemv] find the fastest blocks and remember them; a result with other blocks
// has other bits. SpMV takes one launch for one thread a row, and two for more threads; a thread
// here is a group of lanes, which converts float64 entries.
package rns
