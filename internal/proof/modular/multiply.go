package modular

import (
	"context"
	"math/bits"

	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/superacc"
)

// Multiply returns the product of an m x k and a k x n matrix of elements, row by row.
func (f *Field) Multiply(ctx context.Context, threads int, x, y [][]uint64) ([][]uint64, error) {
	n := 0
	if len(y) > 0 {
		n = len(y[0])
	}
	z := make([][]uint64, len(x))
	for i := range z {
		z[i] = make([]uint64, n)
	}
	tiles := (n + modularTile - 1) / modularTile
	return z, par.For(ctx, threads, tiles, func(_, tile int) {
		j0, j1 := tile*modularTile, min(n, (tile+1)*modularTile)
		var vectors [modularTile]*superacc.WordVector
		for j := j0; j < j1; j++ {
			column := make([]uint64, len(y))
			for k := range column {
				column[k] = y[k][j]
			}
			vectors[j-j0] = superacc.NewWordVector(column)
		}
		for i, left := range x {
			for j := j0; j < j1; j++ {
				z[i][j] = f.Sum(vectors[j-j0].Dot(left))
			}
		}
	})
}

// AddMultiple adds c y to x, which are equally long. Multiples are elements.
func (f *Field) AddMultiple(x []uint64, c uint64, y []uint64) {
	for i, y := range y[:len(x)] {
		hi, lo := bits.Mul64(c, y)
		x[i] = f.Add(x[i], f.reduce(hi, lo))
	}
}
