package linsolve

import (
	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/linsolve/internal/factors"
)

// LUFactors are those of P A = L U. Where A lives on a GPU L and U do, with a copy of A.
type LUFactors struct {
	P    []int           // row i of P A is row P[i] of A, from 0
	L, U *halfulp.Matrix // m x k and k x n, k = min(m, n), zeros above and below the diagonals
	system
}

// Free gives back what the factors have on a GPU. They are not to be used any more then.
func (z *LUFactors) Free() {
	if z == nil {
		panic(errFactors)
	}
	z.free(z.L, z.U)
}

// Solve returns the solution X of A X = B for the square matrix A that was decomposed: every entry
// is rounded once to format f, as by package function [Solve], with the same errors. It comes from
// A itself, not from its rounded factors. What the first call finds out about A serves all others,
// which take a few products of A with their right-hand sides. X lives where B does. Where A and B
// live on one GPU it is package function Solve that does it. Solve panics if A is not square, or
// shapes do not fit. It may be called by several goroutines.
func (z *LUFactors) Solve(b *halfulp.Matrix, f halfulp.Format, opt *halfulp.Options) (*halfulp.Matrix, error) {
	if z == nil {
		panic(errFactors)
	}
	return z.solve(b, f, opt)
}

// LU returns the factors P A = L U of an m x n matrix A by elimination with partial pivoting in
// format f, every entry of L, unit lower triangular, and of U, upper triangular, the exact one for
// P rounded once, ties to even, whatever the condition of A (getrf of LAPACK). L and U live where A
// does.
//
// The pivot of a column is its largest entry, the first one of those whose magnitudes differ by
// less than 2^-64 of them, by numbers computed in more bits than f has; proved is that no entry of
// L exceeds 1 + 2^-60 before it is rounded. Pivots that float64 arithmetic, or numbers of fewer
// bits, find are taken if the others are proved to be smaller by more than 2^-60 of them.
//
// On AVX2 and AVX-512 square matrices are eliminated in fixed point, in digits that these multiply,
// and the factors are enclosed by what their product is off by. That takes up to 40 digits, as
// Cholesky does, and 256 MiB: up to an order of some 1900 for 53 bits, 650 for 1700 bits. See
// Cholesky for the method of others.
//
// Where A lives on a GPU or on a grid of processes all of it runs there, but for what only
// arithmetic on the host decides: zeros, ties, pivots that are about as large as others, singular
// matrices, small or ill-conditioned ones.
//
// The error wraps ErrSingular, a *SingularError for square matrices, if the first k columns of A
// are linearly dependent, which is proved; for a matrix of less rows than columns these are the
// first m of them. It wraps ErrNotFinite for infinities and NaN. It wraps halfulp.ErrMemory, and
// names the bytes, if all methods take more than Options.MemoryLimit on the host. Options.Method is
// of the products, and so is Device.
func LU(a *halfulp.Matrix, f halfulp.Format, opt *halfulp.Options) (*LUFactors, error) {
	s, err := start("LU", opt, a.View())
	if err != nil {
		return nil, err
	}
	z, err := factors.FactorLU(s, a.View(), f.View())
	if err != nil {
		return nil, ended(opt, s, "LU", err)
	}
	s.Finished()
	return &LUFactors{P: z.P, L: halfulp.MatrixOf(z.L), U: halfulp.MatrixOf(z.U), system: newSystem(z.A)}, ended(opt, s, "", nil)
}
