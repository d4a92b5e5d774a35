// Package refine solves systems with one or few right-hand sides by iterative refinement.
//
// F is A scaled by powers of two, and R an approximate inverse of F with a proved error bound. A
// solution y is a sum of vectors c of few bits each. The residual r = g - F y is held in fixed
// point. c = R r is added to y, and r becomes r - F c, exactly up to the truncation below its last
// bit, which is counted. The proof at the end is a bound of F^-1 r alone,
//
//	|F^-1 r| ≤ |R r| + rho / (1 - rho) ‖R r‖,
//
// whatever the vectors c were (Demmel, Hida et al., Error bounds from extra-precise iterative
// refinement, 2006, without a proof; Rump, Verification methods, 2010). Entries that this does not
// decide are refined by products in more and more bits, and decided as described in package ziv.
package refine
