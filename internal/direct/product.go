package direct

import (
	"sort"

	"github.com/halfulp/halfulp/internal/num"
)

// A Product is C = alpha A B + beta Old, rounded once. A is m x k, B is k x n, and Old and C are m
// x n views. C shares no storage with A and B, and with Old only if it is the same view. If alpha
// is zero, A and B are not read; if beta is zero, Old is not read. Triangle restricts C to one
// triangle, 'U' or 'L', unless it is 0. If Steps is not nil, it replaces the diagonal as the border
// of the triangle: in row i, 'L' has the columns j < Steps[i] and 'U' has the others. The values of
// Steps never decrease.
type Product struct {
	Alpha    num.Real
	A, B     num.Mat
	Beta     num.Real
	Old, C   num.Mat
	Triangle byte
	Steps    []int
}

// t returns the transposed product.
func (p Product) t() Product {
	if p.Steps != nil { // j < Steps[i] is equivalent to i ≥ across[j]
		across := make([]int, p.C.Cols)
		for j := range across {
			across[j] = p.step(j)
		}
		p.Steps = across
	}
	p.A, p.B, p.Old, p.C = p.B.T(), p.A.T(), p.Old.T(), p.C.T()
	switch p.Triangle {
	case 'U':
		p.Triangle = 'L'
	case 'L':
		p.Triangle = 'U'
	}
	return p
}

// rows returns the rows lo <= i < hi of column j that belong to the triangle.
func (p *Product) rows(j, lo, hi int) (int, int) {
	switch p.Triangle {
	case 'U':
		return lo, min(hi, p.step(j))
	case 'L':
		return max(lo, p.step(j)), hi
	}
	return lo, hi
}

// step returns the first row of column j that is in the triangle 'L', or the first that is not in
// 'U'.
func (p *Product) step(j int) int {
	switch {
	case p.Steps != nil:
		return sort.SearchInts(p.Steps, j+1)
	case p.Triangle == 'L':
		return j
	}
	return j + 1
}
