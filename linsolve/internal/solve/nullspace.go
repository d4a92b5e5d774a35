package solve

import (
	"slices"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/modular"
)

// NullSpace returns a basis of the null space of a in format f, every entry correctly rounded.
func NullSpace(s *call.Run, a num.Mat, f num.Format) (num.Mat, error) {
	n := a.Cols
	r, prime, err := modular.Rank(s, a)
	if err != nil {
		return num.Mat{}, err
	}
	z := num.NewMat(f, n, n-r)
	if r == n {
		return z, nil
	}
	pivots := func(a num.Mat) ([]int, error) {
		rows, err := prime.Matrix(s.Ctx, s.Threads, a)
		if err != nil {
			return nil, err
		}
		p, _, err := prime.Eliminate(s.Ctx, s.Threads, rows, a.Cols, false)
		return p, err
	}
	// These r columns have rank r modulo the prime, and so have r of their rows.
	cols, err := pivots(a)
	if err != nil {
		return num.Mat{}, err
	}
	var free []int
	for j := range n {
		if !slices.Contains(cols, j) {
			free = append(free, j)
		}
	}
	all := make([]int, a.Rows)
	for i := range all {
		all[i] = i
	}
	rows, err := pivots(modular.Chosen(a, all, cols).T())
	if err != nil {
		return num.Mat{}, err
	}
	x := num.NewMat(f, r, n-r)
	if r > 0 {
		right := modular.Chosen(a, rows, free)
		minus := num.NewMat(right.Format(), r, n-r)
		if err := s.Gemm(-1, num.Identity(num.Float64, r), right, 0, num.Mat{}, minus); err != nil {
			return num.Mat{}, err
		}
		if x, err = Solve(s, modular.Chosen(a, rows, cols), minus, f); err != nil {
			return num.Mat{}, err
		}
	}
	for j, k := range free {
		z.SetEntry(k, j, num.Float(1))
		for i, c := range cols {
			z.SetEntry(c, j, x.Entry(i, j))
		}
	}
	return z, nil
}
