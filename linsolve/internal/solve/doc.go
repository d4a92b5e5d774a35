// Package solve solves systems of linear equations. It has several methods ("ways"), chooses the
// fastest one for a matrix, its right-hand sides and its place, and falls back to the next way if
// one fails.
//
// A way returns entries of the solution that are proved to be correctly rounded and leaves the
// others open. Entries that the last way leaves open are decided exactly (package ziv), or the
// matrix is proved to be singular. Inverses, null spaces, condition numbers, enclosures of interval
// systems and comparisons with exact values are computed as solutions of systems too.
//
// # From a system to its solution
//
// linsolve.Solve with one right-hand side on the CPU has these stops:
//
//  1. linsolve.Solve checks shapes and makes a call.Run from the options: context, threads, the
//     budget of memory, progress, statistics.
//  2. [Anywhere] finds that the operands live on the host. On a GPU newton.SolveThere comes first.
//  3. [Solve] makes one set of open entries for each column (ziv.NewEntries). ziv.WithoutZeros
//     removes the entries that the pattern of zeros decides.
//  4. seed.NewFactors scales A by powers of two. Package internal/dgemm makes float64 factors
//     P F = L U.
//  5. seed.InvertFactors inverts the triangles in float64 and bounds R F − I, with all rounding
//     errors. This bound is the proof.
//  6. refine.SolveFew holds the residual r = g − F y in fixed point (internal/proof/fixed). It adds
//     R r to y and subtracts F R r from r until r is small.
//  7. |F^-1 r| ≤ |R r| + rho/(1 − rho) ‖R r‖ encloses each entry. ziv.Entries.Decide rounds the
//     entries whose enclosures round to one number.
//  8. If float64 is not enough, digits.Eliminate, blocks.Eliminate or products of seeds make an
//     inverse in more bits, and steps 6 and 7 are repeated. Where it costs less, p-adic digits are
//     lifted until numerators and a denominator are proved (exactsolve.go).
//  9. Entries that look like a tie or a zero are decided by the system itself, or by p-adic digits
//     (ziv.Lift, modular.Lifting). modular.Rank proves that a singular A is singular.
//  10. [Finish] counts infinities and returns the result where A lives.
//
// Small systems whose statistics nobody reads need no more than package residual, which takes a
// float64 inverse and residuals in integers. If it leaves entries of at most 6 unknowns open,
// package minors eliminates in integers, and quotients of determinants are rounded.
//
// With many right-hand sides, and for inverses, package internal/proof/newton replaces steps 5 and
// 6: products improve X, and all entries are rounded from the last step.
package solve
