package linsolve

import (
	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/modular"
	"github.com/halfulp/halfulp/linsolve/internal/solve"
)

// Rank returns the rank of a matrix. The rank is proved. The error wraps ErrNotFinite for
// infinities and NaN.
//
// Cost. A matrix of full rank takes one elimination modulo a prime. If the rank is a little below
// both dimensions, Rank takes an inverse modulo a prime and, for every 60 bits of Hadamard's bound
// of a determinant, some products of the matrix with a vector; a few products in all suffice if one
// row or column is a simple combination of others. If the rank is far below both dimensions, every
// 60 bits take an elimination.
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

// NullSpace returns a basis, in format f, of the null space of an m x n matrix A of rank r: an
// n x (n - r) matrix Z with A Z = 0 up to the rounding of Z. Each entry is correctly rounded. Z has
// an identity matrix in the rows that belong to columns of A without pivots in an elimination
// modulo a prime, mostly the last ones. Time and errors are as for [Rank] and [Solve].
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
