package linsolve

import (
	"slices"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/modular"
)

// Rank returns the rank of a matrix, which is proved.
//
// The time is that of an elimination modulo a prime. Where the rank is less than both dimensions,
// by little, it is that of an inverse modulo a prime and, for each 60 bits of Hadamard's bound of a
// determinant, of some products of the matrix with a vector: a few in all where a row or column is
// a simple combination of others. Where it is less by much each 60 bits take an elimination. The
// error wraps ErrNotFinite for infinities and NaN.
func Rank(a *halfulp.Matrix, opt *halfulp.Options) (int, Stats, error) {
	s, on, err := begin("Rank", opt, a.View())
	if err != nil {
		return 0, Stats{}, err
	}
	if err := call.Finite("A", on[0]); err != nil {
		return 0, result(s), wrapped("Rank", err)
	}
	defer s.Release()
	r, _, err := modular.Rank(s, on[0])
	if err != nil {
		return 0, result(s), wrapped("Rank", err)
	}
	s.Stage("elimination")
	s.Finished()
	return r, result(s), nil
}

// NullSpace returns a basis of the null space of an m x n matrix A of rank r in format f: an
// n x (n - r) matrix Z with A Z = 0 but for the roundings of Z, each entry correctly rounded. It is
// the one that has a unit matrix in those rows that belong to columns of A without pivots in an
// elimination modulo a prime, mostly the last ones. The time and errors are those of Rank and
// Solve.
func NullSpace(a *halfulp.Matrix, f halfulp.Format, opt *halfulp.Options) (*halfulp.Matrix, Stats, error) {
	s, on, err := begin("NullSpace", opt, a.View())
	if err != nil {
		return nil, Stats{}, err
	}
	if err := call.Finite("A", on[0]); err != nil {
		return nil, result(s), wrapped("NullSpace", err)
	}
	z, err := nullSpace(s, on[0], f.View())
	if err != nil {
		return nil, result(s), wrapped("NullSpace", err)
	}
	s.Finished()
	return halfulp.MatrixOf(z), result(s), nil
}

func nullSpace(s *call.Run, a num.Mat, f num.Format) (num.Mat, error) {
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
		if x, err = solve(s, modular.Chosen(a, rows, cols), minus, f); err != nil {
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
