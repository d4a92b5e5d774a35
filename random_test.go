package halfulp

import "github.com/halfulp/halfulp/internal/num"

// randomMatrix returns the matrix of gallery.Random, which this package cannot import.
func randomMatrix(f Format, rows, cols, spread int, seed uint64) *Matrix {
	m := NewMatrix(f, rows, cols)
	num.FillRandom(m.mat(), spread, seed)
	return m
}
