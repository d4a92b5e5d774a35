package linsolve

import (
	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/linsolve/internal/factors"
)

// LDLTFactors is the factorisation P A P^T = L D L^T of a symmetric matrix. If A lives on a GPU, L
// and D live there too, with a copy of A.
type LDLTFactors struct {
	P      []int // row and column i of P A P^T are row and column P[i] of A, from 0
	Blocks []int // the orders of the diagonal blocks of D, each 1 or 2
	// unit lower triangular; its diagonal blocks in the places of the blocks of D are identities
	L *halfulp.Matrix
	D *halfulp.Matrix // symmetric, block diagonal, n x n
	system
}

// Free releases the GPU memory of the factors and of their copy of A. The factors must not be used
// afterwards. Free panics for nil and for zero factors.
func (z *LDLTFactors) Free() {
	if z == nil {
		panic(errFactors)
	}
	z.free(z.L, z.D)
}

// Solve returns the solution X of A X = B for the factored matrix A, which must be square: every
// entry is the exact one rounded once to format f, as by package function [Solve] and with the same
// errors. X lives where B does.
//
// The solution is computed from A itself, not from its rounded factors. The first call stores what
// it learns about A; every later call costs a few products of A with the right-hand sides. If A and
// B live on one GPU, the method calls package function [Solve]. Several goroutines may call it at
// once. Solve panics if A is not square or the shapes do not fit.
func (z *LDLTFactors) Solve(b *halfulp.Matrix, f halfulp.Format, opt *halfulp.Options) (*halfulp.Matrix, error) {
	if z == nil {
		panic(errFactors)
	}
	return z.solve(b, f, opt)
}

// LDLT returns the factors P A P^T = L D L^T of a symmetric n x n matrix A, definite or not: L is
// unit lower triangular and D is block diagonal with 1 x 1 and 2 x 2 blocks (sytrf_rook of LAPACK
// with uplo = L). For the returned P and block sizes every entry of L and D is the exact one
// rounded once to format f, ties to even, whatever the condition of A. L and D live where A does.
//
//	z, err := linsolve.LDLT(a, halfulp.Float64, nil)
//	x, err := z.Solve(b, halfulp.Float64, nil)
//
// The error is a *SingularError, which wraps ErrSingular, if A is proved to be singular; it wraps
// ErrNotSymmetric, or ErrNotFinite for infinities and NaN. It wraps halfulp.ErrMemory, and names
// the bytes, if every method needs more than Options.MemoryLimit on the host. Options.Method and
// Options.Device apply to the matrix products. LDLT panics if A is not square.
//
// Pivots are chosen by the method of Bunch and Kaufman with a rook search (Ashcraft, Grimes and
// Lewis, Accurate symmetric indefinite linear equation solvers, SIAM J. Matrix Anal. Appl. 20,
// 1998). The search compares float64 numbers, the same on every machine, if all the magnitudes it
// compares differ by 2^-30 or more, relatively. Otherwise it compares numbers of 192 bits, or more
// if A needs them, and treats magnitudes as equal if they differ by less than 2^-64, relatively. No
// entry of L exceeds 2.79, which is proved.
//
// Method. On AVX2 and AVX-512, A is eliminated with these pivots in fixed point, up to the same
// limits as in [Cholesky]. The other matrices are factored by the method described there.
//
// If A lives on a GPU, the host chooses the pivots in float64 arithmetic and computes approximate
// inverses of the factors; the products run on the GPU. The host handles only the cases that its
// arithmetic must decide: zeros, ties, pivots that float64 arithmetic does not tell apart, singular
// matrices, small matrices and ill-conditioned ones.
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
