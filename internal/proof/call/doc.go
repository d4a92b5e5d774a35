// Package call holds what a routine that runs carries, whatever it computes: its context, its
// threads, large slices that it gives back at the end, and what it tells of its progress.
package call
