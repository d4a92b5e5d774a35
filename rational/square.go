package rational

import (
	"math"
	"slices"
)

// square is a square matrix A of integers, of which systems are solved.
type square struct {
	ints
	w                  *words
	rowNorms, colNorms []float64     // upper bounds of log2
	determinant        int           // Hadamard's bound of its bits
	inverse            *floatInverse // nil if A is singular modulo some primes, or too large
}

func (s *run) squareOf(a ints) (*square, error) {
	z := &square{ints: a, w: a.words()}
	z.rowNorms, z.colNorms = a.bothNormsOf(z.w.bits, z.w.leading)
	z.determinant = hadamard(z.rowNorms, z.colNorms)
	var err error
	z.inverse, err = s.floatInverse(z.w)
	return z, err
}

// cramer returns a bound of the bits of the determinants of A with one of its columns replaced by
// a column of b, by the norms of its rows or of its columns.
func (a *square) cramer(b ints) int {
	byRows := 0.0
	for i, x := range a.rowNorms {
		most := 0.0
		for _, y := range b.row(i) {
			if y != nil {
				most = max(most, log2(y))
			}
		}
		// √(x² + y²) ≤ √2 max(x, y), and ≤ x (1 + y² / 2x²)
		if large, small := max(x, most), min(x, most); large > small+30 {
			byRows += large + 0x1p-20
		} else {
			byRows += large + float64(math.Log2(1+math.Exp2(2*(small-large)))/2) + 0x1p-20
		}
	}
	most := 0.0
	for _, x := range b.transposed().norms() {
		most = max(most, x)
	}
	byCols := total(a.colNorms)
	if len(a.colNorms) > 0 {
		byCols += max(0, most-slices.Min(a.colNorms))
	}
	return int(min(byRows, byCols)) + 1
}
