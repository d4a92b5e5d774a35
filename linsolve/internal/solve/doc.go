// Package solve solves systems of linear equations. It has several methods ("ways"), chooses the
// fastest one for a matrix, its right-hand sides and its place, and falls back to the next way if
// one fails.
//
// A way returns entries of the solution that are proved to be correctly rounded and leaves the
// others open. Entries that the last way leaves open are decided exactly (package ziv), or the
// matrix is proved to be singular. Inverses, null spaces, condition numbers, enclosures of interval
// systems and comparisons with exact values are computed as solutions of systems too.
package solve
