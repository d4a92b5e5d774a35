package linsolve

import (
	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/linsolve/internal/factors"
)

// LUFactors is the factorisation P A = L U. If A lives on a GPU, L and U live there too, with a
// copy of A.
type LUFactors struct {
	P    []int           // row i of P A is row P[i] of A, from 0
	L, U *halfulp.Matrix // m x k and k x n, k = min(m, n), lower and upper triangular
	system
}

// Free releases the GPU memory of the factors and of their copy of A. The factors must not be used
// afterwards. Free panics for nil and for zero factors.
func (z *LUFactors) Free() {
	if z == nil {
		panic(errFactors)
	}
	z.free(z.L, z.U)
}

// Solve returns the solution X of A X = B for the factored matrix A, which must be square: every
// entry is the exact one rounded once to format f, as by package function [Solve] and with the same
// errors. X lives where B does.
//
// The solution is computed from A itself, not from its rounded factors. The first call stores what
// it learns about A; every later call costs a few products of A with the right-hand sides. If A and
// B live on one GPU, the method calls package function [Solve]. Several goroutines may call it at
// once. Solve panics if A is not square or the shapes do not fit.
func (z *LUFactors) Solve(b *halfulp.Matrix, f halfulp.Format, opt *halfulp.Options) (*halfulp.Matrix, error) {
	if z == nil {
		panic(errFactors)
	}
	return z.solve(b, f, opt)
}

// LU returns the factors P A = L U of an m x n matrix A by elimination with partial pivoting (getrf
// of LAPACK): L is unit lower triangular, U upper triangular. For the returned P every entry of L
// and U is the exact one rounded once to format f, ties to even, whatever the condition of A. L and
// U live where A does.
//
//	z, err := linsolve.LU(a, halfulp.Float64, nil)
//	x, err := z.Solve(b, halfulp.Float64, nil)
//
// The error wraps ErrSingular if the first k columns of A are proved to be linearly dependent,
// k = min(m, n). For square matrices it is a *SingularError. It wraps ErrNotFinite for infinities
// and NaN. It wraps halfulp.ErrMemory, and names the bytes, if every method needs more than
// Options.MemoryLimit on the host. Options.Method and Options.Device apply to the matrix products.
//
// The pivot of a column is its largest entry, by numbers computed in more bits than f has. Of the
// entries whose magnitudes differ from the largest by less than 2^-64, relatively, it is the first.
// No entry of L exceeds 1 + 2^-60 before it is rounded, which is proved. A pivot found in float64
// arithmetic, or in fewer bits, is accepted if the other entries are proved to be smaller by more
// than 2^-60, relatively.
//
// Method. On AVX2 and AVX-512 square matrices are eliminated in fixed point, and the difference
// between P A and the computed L U encloses the factors. This method uses at most 40 digits, as
// Cholesky does, and 256 MiB: it reaches an order of some 1900 for 53 bits and 650 for 1700 bits.
// The other matrices are factored by the method described at [Cholesky].
//
// If A lives on a GPU or on a grid of processes, the computation runs there. The host handles only
// the cases that its arithmetic must decide: zeros, ties, pivots about as large as other entries of
// their column, singular matrices, small matrices and ill-conditioned ones.
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
