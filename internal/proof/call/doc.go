// Package call holds what a routine that runs carries, whatever it computes: its context, its
// threads, large slices that it gives back at the end, and what it tells of its progress. A Run is
// that of a routine on matrices: it knows where they live, computes products, sums and bounds
// there, and keeps the statistics and the matrices that are given back at the end.
package call
