package seed

import (
	"sync/atomic"

	"github.com/halfulp/halfulp/internal/dgemm"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/scale"
)

// LeastPivot replaces pivots of smaller magnitude.
const LeastPivot = 0x1p-80

// Factors are float64 factors of F = D1 A D2 ≈ P L U. P exchanges row i with row Pivots[i], one
// after the other, of the product of the triangular matrices L and U.
type Factors struct {
	scale.Scaling
	N       int
	Threads int
	LU      []float64 // by columns
	Sums    []float64 // bounds of the row sums of |F|
	Norm    float64   // bound of ‖F‖∞: the largest of Sums
	Pivots  []int

	// about log2 of the condition number, from an elimination; 0 if there was none
	Condition int
	Exact     num.Mat // F, see scaledMatrix of package newton
}

// NewFactors decomposes the scaled a by LU with partial pivoting in float64. Nothing is known of
// the error. Where pivots vanish, the factors belong to a matrix near a.
func NewFactors(s *call.Run, a num.Mat, by scale.Scaling) (*Factors, error) {
	f := &Factors{Scaling: by, N: a.Rows, Threads: s.Threads, Pivots: make([]int, a.Rows)}
	f.LU = f.Float64sOn(s.Threads, a, s.Floats(f.N*f.N))
	sums := make([]float64, f.N)
	for i := range sums {
		sums[i] = 1
	}
	for i, sum := range AbsAll(s.Threads, f.N, f.LU, sums) {
		sums[i] = float64(sum * (1 + 0x1p-47))
	}
	f.Sums, f.Norm = sums, call.LargestOf(sums)
	return f, dgemm.LU(s.Ctx, s.Threads, f.N, f.LU, LeastPivot, f.Pivots)
}

// unit returns the unit matrix by columns.
func unit(n int) []float64 {
	x := make([]float64, n*n)
	for i := range n {
		x[i+i*n] = 1
	}
	return x
}

// Order returns which row of F lies in each row of L U.
func (f *Factors) Order() (rows []int, odd bool) {
	rows = make([]int, f.N)
	for i := range rows {
		rows[i] = i
	}
	for i, p := range f.Pivots {
		if i != p {
			rows[i], rows[p] = rows[p], rows[i]
			odd = !odd
		}
	}
	return rows, odd
}

// seedInverse returns an approximate inverse of F, by columns.
func seedInverse(s *call.Run, f *Factors) ([]float64, error) {
	n := f.N
	x := make([]float64, n*n) // P^T
	rows, _ := f.Order()
	for i, k := range rows {
		x[i+k*n] = 1
	}
	if err := dgemm.SolveLower(s.Ctx, s.Threads, n, n, f.LU, x); err != nil {
		return nil, err
	}
	return x, dgemm.SolveUpper(s.Ctx, s.Threads, n, n, f.LU, x)
}

// seed returns an approximate inverse of a, computed from its factors scaled as by.
func seed(s *call.Run, a num.Mat, by scale.Scaling) (num.Mat, error) {
	f, err := NewFactors(s, a, by)
	if err != nil {
		return num.Mat{}, err
	}
	x, err := seedInverse(s, f)
	if err != nil {
		return num.Mat{}, err
	}
	return unscaled(s, f, x)
}

// unscaled returns D2 X D1.
func unscaled(s *call.Run, f *Factors, x []float64) (num.Mat, error) {
	return Stored(s, f.N, func(i, j int) float64 { return x[i+j*f.N] }, f.Cols, f.Rows)
}

// Stored returns the n x n matrix of the entries x(i, j) 2^(left[i] + right[j]), with 0 for entries
// that are not finite. The error wraps ErrRange where an entry leaves the exponents of MP: a bound
// proved for x does not hold for a matrix without that entry.
func Stored(s *call.Run, n int, x func(i, j int) float64, left, right []int64) (num.Mat, error) {
	z := num.NewMat(num.Precision(scale.SeedBits), n, n)
	m := z
	var beyond atomic.Bool
	err := par.Each(s.Ctx, s.Threads, n, func(j int) {
		for i := range n {
			if !call.SetFloat(m.Arr, m.At(i, j), x(i, j), left[i]+right[j]) {
				beyond.Store(true)
			}
		}
	})
	if err == nil && beyond.Load() {
		err = ErrBeyond
	}
	return z, err
}
