package newton

import (
	"slices"

	"github.com/halfulp/halfulp/internal/residue"
)

// Products at the run's place need not look at their factors, and nobody waits for them, where
// what they would find is known: from extents of matrices, or by what is proved of them.

// steady returns what is known of the rows and of the columns of every X that steps lead to from
// one with these, of which X itself has the units, whose E is at most 2^-8 in the norm, as the E of
// all that follow are.
//
// X' = (I - E') (I - E)^-1 X, so that X' - X = D X with
//
//	‖D‖ = ‖(E - E') (I - E)^-1‖ ≤ 2 2^-8 / (1 - 2^-8) < 2^-6.9.
//
// An entry changes by 2^-6.9 of the largest of its column at most: that of all columns doubles at
// most, and a row's is at most twice what it was or 2^-6 of the largest of all. The sum of
// magnitudes of row i changes by 2^-6.9 ‖X‖, of which the bound's 2^(top+1), 2^-5 of the largest
// number or more, has 2^-1.9 to spare. That of column j changes by less than n 2^-6.9 times its
// largest number.
func steady(rows, cols *residue.Vectors) (r, c *residue.Vectors) {
	if rows == nil || cols == nil {
		return nil, nil
	}
	most, n := slices.Max(rows.Top), float64(len(rows.Top))
	r = &residue.Vectors{Norm: rows.Norm, Width: rows.Width}
	c = &residue.Vectors{Norm: min(n, (float64(cols.Norm/2)+float64(n*0x1p-7))*(1+0x1p-40)), Width: cols.Width + 1}
	for _, top := range rows.Top {
		r.Top = append(r.Top, max(top, most-6)+1)
		r.Width = max(r.Width, rows.Width+r.Top[len(r.Top)-1]-top)
	}
	for _, top := range cols.Top {
		c.Top = append(c.Top, top+1)
	}
	return r, c
}
