package modular

import (
	"context"
	"slices"

	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/superacc"
)

// Block is the order of the blocks of pivots of inverses modulo a prime. With a larger block the
// sums of products are faster, and the search for pivots is slower.
const Block = 96

// modularTile is a number of columns whose vectors stay in the second-level cache.
const modularTile = 32

// InvertMatrix replaces a square matrix of elements, stored row by row, by its inverse. ok is false
// if it is singular.
//
// It is an in-place Gauss-Jordan elimination with blocks of pivots. Let K be the columns of a block
// and B the inverse of the pivot rows in these columns. Then
//
//	rows of pivots    <- B times them,         their columns K <- B,
//	other rows i      <- less a_iK times that, their columns K <- -a_iK B.
//
// These are sums of products over a block, each reduced once. The result is the inverse of P A, the
// matrix with its rows in another order, so its columns are permuted to the original row positions.
func (f *Field) InvertMatrix(ctx context.Context, threads int, rows [][]uint64) (ok bool, err error) {
	n := len(rows)
	order := make([]int, n) // row i is row order[i] of A
	for i := range order {
		order[i] = i
	}
	for k0 := 0; k0 < n; k0 += Block {
		k1 := min(n, k0+Block)
		if ok, err := f.bringPivots(ctx, threads, rows, order, k0, k1); !ok || err != nil {
			return false, err
		}
		inverse, err := f.inverseOf(ctx, threads, rows[k0:k1], k0)
		if err != nil {
			return false, err
		}
		panel := make([][]uint64, n) // columns K
		for i, row := range rows {
			panel[i] = append([]uint64(nil), row[k0:k1]...)
		}
		tiles := (n + modularTile - 1) / modularTile
		err = par.For(ctx, threads, tiles, func(_, tile int) {
			j0, j1 := tile*modularTile, min(n, (tile+1)*modularTile)
			var vectors [modularTile]*superacc.WordVector
			for j := j0; j < j1; j++ {
				x := make([]uint64, k1-k0)
				if j >= k0 && j < k1 {
					for h := range x {
						x[h] = inverse[h][j-k0]
						rows[k0+h][j] = x[h]
					}
				} else {
					for h := range x {
						x[h] = rows[k0+h][j]
					}
					v := superacc.NewWordVector(x)
					x = make([]uint64, k1-k0)
					for h := range x {
						x[h] = f.Sum(v.Dot(inverse[h]))
						rows[k0+h][j] = x[h]
					}
				}
				vectors[j-j0] = superacc.NewWordVector(x)
			}
			for i, left := range panel {
				if i >= k0 && i < k1 {
					continue
				}
				row := rows[i][j0:j1]
				for j := range row {
					x := row[j]
					if j0+j >= k0 && j0+j < k1 {
						x = 0
					}
					row[j] = f.Sub(x, f.Sum(vectors[j].Dot(left)))
				}
			}
		})
		if err != nil {
			return false, err
		}
	}
	return true, par.For(ctx, threads, n, func(_, i int) {
		row := slices.Clone(rows[i])
		for k, j := range order {
			rows[i][j] = row[k]
		}
	})
}

// bringPivots exchanges rows from k0 on so that rows k0 ≤ i < k1 form a regular matrix in columns
// k0 ≤ j < k1. ok is false if no rows do.
func (f *Field) bringPivots(ctx context.Context, threads int, rows [][]uint64, order []int, k0, k1 int) (ok bool, err error) {
	m := k1 - k0
	left := make([][]uint64, len(rows)-k0)
	for i := range left { // the row's original index is stored after its end
		left[i] = append(append(make([]uint64, 0, m+1), rows[k0+i][k0:k1]...), uint64(k0+i))[:m]
	}
	pivots, _, err := f.Eliminate(ctx, threads, left, m, false)
	if err != nil || len(pivots) < m {
		return false, err
	}
	oldRows, oldOrder := slices.Clone(rows), slices.Clone(order)
	for i, row := range left {
		from := row[:m+1][m]
		rows[k0+i], order[k0+i] = oldRows[from], oldOrder[from]
	}
	return true, nil
}

// inverseOf returns the inverse of the regular square matrix that starts in column k0 of rows.
func (f *Field) inverseOf(ctx context.Context, threads int, rows [][]uint64, k0 int) ([][]uint64, error) {
	n := len(rows)
	z := make([][]uint64, n)
	for i := range z {
		z[i] = append(append([]uint64(nil), rows[i][k0:k0+n]...), make([]uint64, n)...)
		z[i][n+i] = f.One
	}
	if _, _, err := f.Eliminate(ctx, threads, z, n, true); err != nil {
		return nil, err
	}
	for i := range z {
		z[i] = z[i][n:]
	}
	return z, nil
}
