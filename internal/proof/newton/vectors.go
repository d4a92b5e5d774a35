package newton

import (
	"slices"

	"github.com/halfulp/halfulp/internal/residue"
)

// Products at the run's place need not examine their factors, and nobody waits for them, where the
// result of the examination is known: from extents of matrices, or from bounds proved for them.

// steady returns bounds of the rows and of the columns of every X that steps lead to, given the
// bounds rows and cols of the first X, which are in units of X itself. The E of the first X is at
// most 2^-8 in the norm, and so is the E of all later X.
//
// X' = (I - E') (I - E)^-1 X, so that X' - X = D X with
//
//	‖D‖ = ‖(E - E') (I - E)^-1‖ ≤ 2 2^-8 / (1 - 2^-8) < 2^-6.9.
//
// An entry changes by at most 2^-6.9 of the largest entry of its column. So the largest entry of a
// column at most doubles. The largest entry of a row is at most twice the larger of its former
// value and 2^-6 of the largest entry of all. The sum of magnitudes of row i changes by 2^-6.9 ‖X‖.
// Its bound is relative to 2^(top+1), at least 2^-5 of the largest entry, and has 2^-1.9 of that to
// spare. The sum of magnitudes of column j changes by less than n 2^-6.9 times the largest entry of
// the column.
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
