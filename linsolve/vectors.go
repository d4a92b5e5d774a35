package linsolve

import (
	"math"
	"math/big"
	"slices"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/raw"
	"github.com/halfulp/halfulp/internal/residue"
)

// Products at the solver's place need not look at their factors, and nobody waits for them, where
// what they would find is known: from extents of matrices, or by what is proved of them.

// sums returns exponents of bounds of the sums of magnitudes of rows, and a bound of the largest.
func sums(x place.Extents) (exps []int64, most *big.Float) {
	exps = make([]int64, len(x.Top))
	top, largest := int64(noNumber), 0.0
	for i, t := range x.Top {
		if exps[i] = t; t <= noNumber {
			continue
		}
		frac, e := math.Frexp(x.Norm[i])
		exps[i] += int64(e)
		if exps[i] > top || exps[i] == top && frac > largest {
			top, largest = exps[i], frac
		}
	}
	return exps, bound.ScaledUp(bound.Upper().SetFloat64(largest), max(top, math.MinInt32))
}

// noNumber is above the exponents of rows of zeros.
const noNumber = -1 << 60

// vectorsOf returns what the extents tell products; nil if there are rows of zeros, which have no
// exponents.
func vectorsOf(x place.Extents) *residue.Vectors {
	if len(x.Top) == 0 || slices.Min(x.Top) <= noNumber {
		return nil
	}
	return &residue.Vectors{Top: x.Top, Norm: slices.Max(x.Norm), Width: x.Width}
}

// uniformVectors are so many vectors of n numbers of at most 2^top, whose sums of magnitudes are at
// most 2^sum.
func uniformVectors(count, n int, top, sum int64) *residue.Vectors {
	v := &residue.Vectors{Top: make([]int64, count), Norm: min(float64(n), math.Ldexp(1, int(min(sum-top, 1000))))}
	for i := range v.Top {
		v.Top[i] = top
	}
	return v
}

// known adds to the bound of a product what is known of its factors, if it is known of both.
func (s *solver) known(b *residue.Bound, x, y *residue.Vectors) *residue.Bound {
	if b != nil && s.tally != nil && x != nil && y != nil {
		b.A, b.B, b.Tally = x, y, s.tally
	}
	return b
}

// newTally lets operations count what they cannot store until extents asks for it, and not wait.
func (s *solver) newTally() error {
	m, err := s.matrix(halfulp.Float64, 1, 1)
	if err != nil {
		return err
	}
	s.tally = raw.Matrix(m).Arr
	return nil
}

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
