package place

import "github.com/halfulp/halfulp/internal/num"

// SystemBatches is the part of a place that solves many small systems of linear equations at a
// time.
type SystemBatches interface {
	// SolveBatch returns the solutions X_i of A_i X_i = B_i, each entry rounded once to format f.
	// An X_i without an array is left to other methods, for whatever reason. All matrices live on
	// the host, or all at the place, where the solutions then live. Solutions on the host may
	// share arrays.
	SolveBatch(cfg Config, a, b []num.Mat, f num.Format) (x []num.Mat, err error)
}
