// Package refine solves systems with one or few right-hand sides by iterative refinement.
//
// With an approximate inverse R of F, A scaled by powers of two, of which it is proved how far it
// is off, a solution y is a sum of vectors c of few bits each: r = g - F y is held in fixed point,
// c = R r is added to y, and r becomes r - F c, exactly but for what is cut off below its last
// bit, which is counted. What is proved of y at the end is F^-1 r alone, by
//
//	|F^-1 r| ≤ |R r| + rho / (1 - rho) ‖R r‖,
//
// whatever the vectors c were (Demmel, Hida et al., Error bounds from extra-precise iterative
// refinement, 2006, without a proof; Rump, Verification methods, 2010). Entries that this does not
// decide are refined by products in more and more bits, and decided as package ziv says.
package refine
