// Package linsolve solves systems of linear equations and computes inverses, determinants,
// factorisations, least squares, ranks, powers and exponentials of matrices. Every entry of a
// result is correctly rounded, whatever the condition of the matrix; [Expm] counts the rare entries
// that it cannot decide, and [Enclose] and [EncloseSet] return bounds. Singular matrices are proved
// to be singular.
//
//	a := gallery.Hilbert(halfulp.MP(200), 12)
//	x, err := linsolve.Solve(a, b, halfulp.Float64, nil) // A X = B
//	d, err := linsolve.Det(a, halfulp.MP(200), nil)
//	l, err := linsolve.Cholesky(a, halfulp.Float64, nil) // A = L L^T
//
// # Errors
//
// Errors wrap [ErrRange] for exponents beyond 2^29 (some routines have smaller bounds) and for
// products that leave the exponents of all formats. They wrap halfulp.ErrMemory if more bits are
// needed than formats have. If exponents are so far apart that no format has the bits between them,
// factors come from elimination in interval arithmetic; the same errors occur if terms cancel there
// and the terms that are left lie too far below them. Rank has neither limit. Determinants have a
// limit of 2^26 bits in cases that only exact arithmetic decides.
//
// # Progress and memory
//
// Options.Progress receives the share of the planned work that is done. The plan is an estimate
// from the costs of products and loops, so the share also estimates the share of the time. It
// rises, except when a matrix turns out to be so ill-conditioned that more than twice the reported
// time is left: then it falls. A share of 0 means that the remaining work is unknown, because the
// number of seeds that an ill-conditioned matrix takes is known only once they have succeeded.
//
// Options.MemoryLimit bounds the memory on the host beside operands and results. Large matrices are
// counted before they are allocated, or the estimate of a method is. A method that exceeds the
// limit is replaced by another one, which takes more time and gives the same bits. If no method
// fits, the error wraps halfulp.ErrMemory and names the bytes of the method that takes the least.
// Matrices that only some ill-conditioned problems need are not counted.
//
// # Systems of linear equations
//
// A proof decides every rounding. An approximate inverse R comes from float64 decompositions and
// exact products (Rump, Inversion of extremely ill-conditioned matrices in floating-point, 2009).
// If rho = ‖I - R A‖ < 1 is proved in a weighted maximum norm, every x' satisfies
//
//	|x - x'| ≤ |R| |r| + rho/(1 - rho) ‖|R| |r|‖,  r = b - A x'
//
// (Rump, Verification methods, Acta Numerica 2010, section 10). Residuals are correctly rounded
// products of package halfulp, so a step x' + R r gains -log2(rho) bits. Steps continue until both
// ends of every enclosure round to one number. An entry that is a number of the format, or lies
// halfway between two such numbers, never gets there. It is decided in one of three ways: the exact
// residual of the rounded solution is 0; or the entry differs from that number modulo a prime, so
// that further steps decide; or the entry equals that number modulo a power of a prime beyond the
// bound by which Cramer's rule and Hadamard's inequality exclude any other number (Dixon, Exact
// solution of linear equations using p-adic expansions, 1982).
//
// For few right-hand sides R is the product of float64 inverses of the triangular factors; for a
// single one the inverse of the upper factor may be kept in two blocks. A bound of their rounding
// errors bounds I - A R. If that bound is too large, for condition numbers up to some 2^45, I - A R
// is computed in float64 and its rounding is bounded. For larger condition numbers A is eliminated
// in numbers of log2(kappa) bits and some more, in fixed point with digits that SIMD units
// multiply, or by blocks. That elimination is exact for a matrix near A: the inverses of its
// factors bound the inverse of that matrix, and the roundings bound its distance to A.
//
// Inverses of orders up to 320 (AVX-512) or 160 (AVX2) come from such an elimination too. Other
// inverses, and solutions for many right-hand sides, come from Newton's method, X <- X + (I - X A)
// X. Each step doubles the bits and proves the assumption of the next step:
//
//	|A^-1 - X - (I - X A) X| ≤ rho²/(1 - rho) ‖X‖,  rho = ‖I - X A‖.
//
// If float64 does not suffice for a seed, the seed comes from a block elimination.
//
// Residuals are known to be small before they are computed. Their products therefore take a residue
// base with as many bits as the result, not with the bits of both factors together.
//
// # Determinants
//
// Det multiplies the pivots of a fixed-point elimination. Where that is slower or unavailable, it
// multiplies the determinants of diagonal blocks and of their Schur complements. The Schur
// complements come from solutions with many right-hand sides in enough bits; a float64 inverse
// bounds the effect of their errors. For ill-conditioned matrices the blocks come from an
// elimination in more bits. On GPUs the determinant comes from triangular Z and U in float64,
// refined by products, and from
//
//	det(I + E) = exp(tr(E) - tr(E²)/2 + tr(E³)/3 - ...),  E = Z A U - I,
//
// for a small E. The powers up to E^m give all traces up to the trace of E^2m.
//
// # Other problems
//
// Least squares are solved by the normal equations. These are formed without rounding, so their
// solutions are the exact ones. Statistics of a fit are functions of components of such solutions.
//
// Powers of matrices come from products with a bound for each entry. The pattern of zeros of a
// matrix, and arithmetic modulo primes, prove entries that are 0 or halfway between two numbers.
//
// Factors come from triangular S and T for which S A T - I is proved to be small: S and T enclose
// the exact factors of A. Arithmetic modulo primes proves entries that are 0 or halfway between two
// numbers. S and T are float64 seeds that products refine, or come from eliminations in enough
// bits. Products that need not be correctly rounded have an error bound instead, which the proofs
// take into account, because exact rounding of results of cancellation would cost more than
// everything else.
package linsolve
