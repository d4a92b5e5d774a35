package rational

import (
	"math"
	"slices"

	"github.com/halfulp/halfulp/internal/dgemm"
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

// nearDeterminant returns a bound of the bits of the determinant, at most Hadamard's. It exceeds
// the bits by 1 or 2 unless A is ill-conditioned.
//
// For any upper triangle X of floats |det A| is Hadamard's bound of A X by columns divided by the
// product of the diagonal of X, or less. X is about the inverse of U, for the factors A^T A = L U,
// so that the columns of A X are about orthogonal. The floats A' are A 2^-m with relative errors of
// 1.01 2^-53, or errors below 2^-836. With the product B of A' and X in floats, for sums in any
// order, and the columns a_k of A',
//
//	‖column j of A 2^-m X‖ ≤ ‖b_j‖ + 1.02 (n + 3) 2^-53 ∑ |x_kj| (‖a_k‖ + 2^-700) + 2^-900:
//
// the last terms cover the errors of A' and products that underflow, for n ≤ mostFloats.
func (s *run) nearDeterminant(m *square) (int, error) {
	n := m.ints.rows
	a, t := make([]float64, n*n), make([]float64, n*n) // A', -A'^T
	for i := range n {
		for j := range n {
			at := i*n + j
			x, b := m.w.leading(at)
			v := scaled(x, max(b-64, 0)-m.w.bits)
			if m.w.negative[at] != 0 {
				v = -v
			}
			a[i+j*n], t[at] = v, -v
		}
	}
	if n > mostFloats {
		return m.determinant, nil
	}
	g, x, b := make([]float64, n*n), make([]float64, n*n), make([]float64, n*n)
	err := dgemm.SubtractSame(s.Ctx, s.Threads, n, n, n, g, n, t, n, a, n)
	if err == nil {
		err = dgemm.LU(s.Ctx, s.Threads, n, g, 0x1p-100, nil)
	}
	if err == nil {
		err = dgemm.InvertUpper(s.Ctx, s.Threads, n, g, n, x)
	}
	for j := range n {
		clear(x[j+1+j*n : (j+1)*n])
	}
	if err == nil { // -B
		err = dgemm.SubtractSame(s.Ctx, s.Threads, n, n, n, b, n, a, n, x, n)
	}
	if err != nil {
		return 0, err
	}
	norm := func(x []float64) float64 { // errors are below 2^-38 of it, and 2^-530
		sum := 0.0
		for _, v := range x {
			sum += float64(v * v)
		}
		return math.Sqrt(sum)
	}
	norms := make([]float64, n)
	for k := range norms {
		norms[k] = norm(a[k*n:(k+1)*n]) + 0x1p-500
	}
	bound := 0.0
	for j := range n {
		sum := 0.0
		for k, y := range norms[:j+1] {
			sum += float64(math.Abs(x[k+j*n]) * y)
		}
		most := norm(b[j*n:(j+1)*n]) + float64(float64(n+3)*0x1p-52*sum) + 0x1p-500
		bound += math.Log2(most) - math.Log2(math.Abs(x[j+j*n])) + 0x1p-20
	}
	bound += float64(n) * float64(m.w.bits) // may fuse: below 2^40, with errors far below the slack
	if !(bound < float64(m.determinant)) {  // or no number
		return m.determinant, nil
	}
	return max(int(bound)+1, 1), nil
}
