// Package solve solves systems of linear equations: it knows the ways there are, which of them is
// the fastest for a matrix, its right-hand sides and its place, and falls from one to the next.
//
// A way returns entries of the solution that are proved to be rounded correctly, and leaves others
// open; what the last way leaves is decided exactly (package ziv), or the matrix is proved to be
// singular. Inverses, null spaces, condition numbers, enclosures of intervals' solutions and
// comparisons with exact values are solutions of systems too.
package solve
