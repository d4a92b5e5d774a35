package linsolve

import (
	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/linsolve/internal/factors"
)

// LDLTFactors are those of P A P^T = L D L^T. Where A lives on a GPU L and D do, with a copy of A.
type LDLTFactors struct {
	P      []int // row and column i of P A P^T are those P[i] of A, from 0
	Blocks []int // the orders of the diagonal blocks of D, each 1 or 2
	// unit lower triangular, with unit matrices in the places of the blocks of D
	L *halfulp.Matrix
	D *halfulp.Matrix // symmetric, block diagonal, n x n
	system
}

// Free gives back what the factors have on a GPU. They are not to be used any more then.
func (z *LDLTFactors) Free() {
	if z == nil {
		panic(errFactors)
	}
	z.free(z.L, z.D)
}

// Solve returns the solution X of A X = B for the square matrix A that was decomposed: every entry
// is rounded once to format f, as by package function [Solve], with the same errors. It comes from
// A itself, not from its rounded factors. What the first call finds out about A serves all others,
// which take a few products of A with their right-hand sides. X lives where B does. Where A and B
// live on one GPU it is package function Solve that does it. Solve panics if A is not square, or
// shapes do not fit. It may be called by several goroutines.
func (z *LDLTFactors) Solve(b *halfulp.Matrix, f halfulp.Format, opt *halfulp.Options) (*halfulp.Matrix, error) {
	if z == nil {
		panic(errFactors)
	}
	return z.solve(b, f, opt)
}

// LDLT returns the factors P A P^T = L D L^T of a symmetric n x n matrix A, definite or not, with
// 1 x 1 and 2 x 2 blocks in D (sytrf_rook of LAPACK with uplo = L), in format f: every entry of L
// and of D is the exact one for P and these blocks rounded once, ties to even, whatever the
// condition of A. L and D live where A does.
//
// Pivots are chosen by the method of Bunch and Kaufman with a rook's search (Ashcraft, Grimes and
// Lewis, Accurate symmetric indefinite linear equation solvers, SIAM J. Matrix Anal. Appl. 20,
// 1998), from computed numbers: those of float64 arithmetic, the same on every machine, where all
// that decides differs by 2^-30 and more, or else of 192 bits or as many more as A takes, where
// magnitudes that differ by less than 2^-64 of them pass for equal. That no entry of L exceeds 2.79
// is proved. On AVX2 and AVX-512 A is eliminated with them in fixed point, as far as Cholesky does.
// See there for the method of others.
//
// Where A lives on a GPU the host chooses the pivots, in float64 arithmetic, and approximate
// inverses of the factors; products run there, but for what only arithmetic on the host decides:
// zeros, ties, pivots that float64 arithmetic does not tell apart, singular matrices, small or
// ill-conditioned ones.
//
// The error is a *SingularError, which wraps ErrSingular, if A is singular, which is proved; it
// wraps ErrNotSymmetric, or ErrNotFinite for infinities and NaN. It wraps halfulp.ErrMemory, and
// names the bytes, if all methods take more than Options.MemoryLimit on the host. Options.Method is
// of the products, and so is Device. LDLT panics if A is not square.
func LDLT(a *halfulp.Matrix, f halfulp.Format, opt *halfulp.Options) (*LDLTFactors, error) {
	if a.Rows() != a.Cols() {
		panic(errShape)
	}
	s, on, err := begin("LDLT", opt, a.View())
	if err != nil {
		return nil, err
	}
	z, err := factors.FactorLDLT(s, a.View(), on[0], f.View())
	if err != nil {
		return nil, ended(opt, s, "LDLT", err)
	}
	s.Finished()
	return &LDLTFactors{P: z.P, Blocks: z.Blocks, L: halfulp.MatrixOf(z.L), D: halfulp.MatrixOf(z.D), system: newSystem(z.A)}, ended(opt, s, "", nil)
}
