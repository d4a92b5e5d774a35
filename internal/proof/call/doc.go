// Package call holds the state of a running routine. A [Call] has the state that every routine
// needs: its context, its threads, large slices that are released at the end, and its progress. A
// [Run] is a Call of a routine on matrices: it knows where they live, computes products, sums and
// bounds there, and keeps the statistics and the matrices that are released at the end.
package call
