package linsolve

import (
	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/modular"
	"github.com/halfulp/halfulp/linsolve/internal/solve"
)

// Rank returns the rank of a matrix, which is proved.
//
// The time is that of an elimination modulo a prime. Where the rank is less than both dimensions,
// by little, it is that of an inverse modulo a prime and, for each 60 bits of Hadamard's bound of a
// determinant, of some products of the matrix with a vector: a few in all where a row or column is
// a simple combination of others. Where it is less by much each 60 bits take an elimination. The
// error wraps ErrNotFinite for infinities and NaN.
func Rank(a *halfulp.Matrix, opt *halfulp.Options) (int, error) {
	s, on, err := begin("Rank", opt, a.View())
	if err != nil {
		return 0, err
	}
	if err := call.Finite("A", on[0]); err != nil {
		return 0, ended(opt, s, "Rank", err)
	}
	defer s.Release()
	r, _, err := modular.Rank(s, on[0])
	if err != nil {
		return 0, ended(opt, s, "Rank", err)
	}
	s.Stage("elimination")
	s.Finished()
	return r, ended(opt, s, "", nil)
}

// NullSpace returns a basis of the null space of an m x n matrix A of rank r in format f: an
// n x (n - r) matrix Z with A Z = 0 but for the roundings of Z, each entry correctly rounded. It is
// the one that has a unit matrix in those rows that belong to columns of A without pivots in an
// elimination modulo a prime, mostly the last ones. The time and errors are those of Rank and
// Solve.
func NullSpace(a *halfulp.Matrix, f halfulp.Format, opt *halfulp.Options) (*halfulp.Matrix, error) {
	s, on, err := begin("NullSpace", opt, a.View())
	if err != nil {
		return nil, err
	}
	if err := call.Finite("A", on[0]); err != nil {
		return nil, ended(opt, s, "NullSpace", err)
	}
	z, err := solve.NullSpace(s, on[0], f.View())
	if err != nil {
		return nil, ended(opt, s, "NullSpace", err)
	}
	s.Finished()
	return halfulp.MatrixOf(z), ended(opt, s, "", nil)
}
