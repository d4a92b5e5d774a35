// Package linsolve solves systems of linear equations with every entry correctly rounded, whatever
// the condition of the matrix, and proves matrices singular that are.
//
// What decides a rounding is a proof. An approximate inverse R comes from float64 decompositions
// and exact products (Rump, Inversion of extremely ill-conditioned matrices in floating-point,
// 2009); with a weighted maximum norm for which rho = ‖I - R A‖ < 1 is proved, every x' satisfies
//
//	|x - x'| ≤ |R| |r| + rho/(1 - rho) ‖|R| |r|‖,  r = b - A x'
//
// (Rump, Verification methods, Acta Numerica 2010, section 10). Residuals are correctly rounded
// products of package halfulp, so x' + R r gains -log2(rho) bits a step, until both ends of every
// enclosure round to one number. An entry that is a number of the format, or lies halfway between
// two, never gets there: then the exact residual of the rounded solution is 0; or the entry is
// another number modulo a prime, so that further steps will decide; or it is that number modulo a
// power of a prime beyond what Cramer's rule and Hadamard's bound allow for another (Dixon, Exact
// solution of linear equations using p-adic expansions, 1982).
//
// For few right-hand sides R is the product of float64 inverses of triangles, for one with the
// upper one in two blocks where these do. What they may lose bounds I - A R, or where that is too
// much, for condition numbers of up to some 2^45, I - A R in float64 does, with a bound of its
// rounding. For systems that are worse conditioned it is elimination in numbers of log2(kappa)
// bits and some more that comes next to A: in fixed point, of digits that SIMD units multiply, or
// of blocks. Of the matrix of which that is exact the inverse is bounded by those of its factors,
// and its distance to A by what roundings there were.
//
// Inverses of orders up to 320 (AVX-512) or 160 (AVX2) come from such an elimination too. Others,
// and many right-hand sides, come from Newton's method, X <- X + (I - X A) X, each step of
// which doubles the bits and proves what the next one rests on:
//
//	|A^-1 - X - (I - X A) X| ≤ rho²/(1 - rho) ‖X‖,  rho = ‖I - X A‖.
//
// Where float64 does not suffice for a seed it is made of an elimination of blocks.
//
// Residuals are known to be small before they are computed, so that their products take a residue
// base of as many bits as the result has, and not of those of the factors together.
//
// Determinants are products of the pivots of an elimination in fixed point as well, or where that
// is slower or there is none those of blocks times those of their Schur complements, which
// solutions with many right-hand sides give in enough bits; an inverse in float64 bounds what their
// errors change. For ill-conditioned matrices blocks are those of an elimination in more bits.
// On GPUs they are those of triangular Z and U in float64, which products refine, and
//
//	det(I + E) = exp(tr(E) - tr(E²)/2 + tr(E³)/3 - ...),  E = Z A U - I,
//
// for a small E, where powers up to E^m tell the traces up to that of E^2m.
//
// Least squares are solved by the normal equations, which are formed without rounding, so that
// their solutions are exact ones; statistics of a fit are functions of components of such
// solutions.
//
// Powers come from products with a bound for each entry; the pattern of a matrix, and arithmetic
// modulo primes, prove entries that are 0 or halfway between two numbers.
//
// Factors come from triangular S and T with a small S A T - I, which is proved: they enclose the
// exact factors of A, and arithmetic modulo primes proves entries that are 0 or halfway between two
// numbers. S and T are float64 seeds which products refine, or come from eliminations in enough
// bits. Products that need not be rounded correctly are in error by a bound that proofs take into
// account: exact rounding of what cancellation leaves would cost more than all else.
//
// Options.Progress is called with shares of the work that is planned, from costs of products and
// loops, which is also one of the time. They rise, but fall where a matrix turns out to be so much
// worse than it seemed that more than twice as long is left as was told. A share of 0 says that it
// is not known how much is left: how many seeds an ill-conditioned matrix takes shows when they
// have succeeded.
//
// Options.MemoryLimit bounds the memory beside operands and results, on the host: large matrices
// are counted before they are made, or a method's estimate is. A method that does not fit gives way
// to another, in more time and with the same bits. The error wraps halfulp.ErrMemory where none
// fits, and names the bytes of the one that takes the least. Matrices that only some
// ill-conditioned problems need are not counted.
//
// Errors wrap ErrRange for exponents beyond 2^29, some routines' smaller bounds, and products that
// leave the exponents of formats, halfulp.ErrMemory where more bits are needed than formats have.
// Where exponents are so far apart that no format has the bits between them factors come from
// elimination in interval arithmetic; the same errors say so where terms that cancel leave others
// too far below them for it.
// Ranks have neither limit, determinants one of 2^26 bits where only exact arithmetic decides.
package linsolve
