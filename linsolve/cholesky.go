package linsolve

import (
	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/linsolve/internal/det"
	"github.com/halfulp/halfulp/linsolve/internal/factors"
)

// CholeskyFactors is the factorisation A = L L^T of a symmetric positive definite matrix. If A
// lives on a GPU, L lives there too, with a copy of A.
type CholeskyFactors struct {
	L *halfulp.Matrix // lower triangular with a positive diagonal, zeros above
	system
}

// Free releases the GPU memory of the factors and of their copy of A. The factors must not be used
// afterwards. Free panics for nil and for zero factors.
func (y *CholeskyFactors) Free() {
	if y == nil {
		panic(errFactors)
	}
	y.free(y.L)
}

// Solve returns the solution X of A X = B for the factored matrix A, which must be square: every
// entry is the exact one rounded once to format f, as by package function [Solve] and with the same
// errors. X lives where B does.
//
// The solution is computed from A itself, not from its rounded factors. The first call stores what
// it learns about A; every later call costs a few products of A with the right-hand sides. If A and
// B live on one GPU, the method calls package function [Solve]. Several goroutines may call it at
// once. Solve panics if A is not square or the shapes do not fit.
func (y *CholeskyFactors) Solve(b *halfulp.Matrix, f halfulp.Format, opt *halfulp.Options) (*halfulp.Matrix, error) {
	if y == nil {
		panic(errFactors)
	}
	return y.solve(b, f, opt)
}

// Cholesky returns the lower triangular factor L of A = L L^T for a symmetric positive definite
// n x n matrix A (potrf of LAPACK with uplo = L). Every entry of L is the exact one rounded once to
// format f, ties to even, whatever the condition of A. L lives where A does.
//
//	y, err := linsolve.Cholesky(a, halfulp.Float64, nil)
//	x, err := y.Solve(b, halfulp.Float64, nil)
//
// The error is a *NotPositiveDefiniteError, which names a leading minor that is proved not to be
// positive, or it wraps ErrNotSymmetric, or ErrNotFinite for infinities and NaN. It wraps
// halfulp.ErrMemory, and names the bytes, if every method needs more than Options.MemoryLimit on
// the host. Options.Method and Options.Device apply to the matrix products. Cholesky panics if A is
// not square.
//
// Method. On AVX2 and AVX-512, A is scaled so that no entry exceeds 1 and eliminated in fixed
// point, with digits of 51 or 52 bits. The difference between A and the computed L L^T encloses the
// entries. This method uses at most 40 digits, which must hold the bits of the condition number as
// well, and 256 MiB: it reaches an order of some 3000 for 53 bits and 1700 for 424 bits.
//
// Otherwise L is enclosed by a triangular S for which ‖S A S^T - I‖ is proved to be small. S is a
// float64 seed that matrix products refine; each step has four times the bits of the step before.
// If A is too ill-conditioned for float64, S comes from a block elimination by matrix products,
// with float64 for the blocks that allow it. For small n, and if neither succeeds, S and another
// factor T come from an elimination entry by entry in enough bits. Enclosures are repeated with
// more bits until each of them rounds to one number. That never happens for entries that are zero,
// or halfway between two numbers of the format: these are proved modulo primes.
//
// If A lives on a GPU or on a grid of processes, the computation runs there. The host handles only
// the cases that its arithmetic must decide: zeros below the diagonal, ties, matrices that are not
// positive definite, small matrices and ill-conditioned ones.
func Cholesky(a *halfulp.Matrix, f halfulp.Format, opt *halfulp.Options) (*CholeskyFactors, error) {
	if a.Rows() != a.Cols() {
		panic(errShape)
	}
	s, err := start("Cholesky", opt, a.View())
	if err != nil {
		return nil, err
	}
	l, err := factors.FactorCholesky(s, a.View(), f.View(), det.Sign)
	if err != nil {
		return nil, ended(opt, s, "Cholesky", err)
	}
	var kept num.Mat
	if err := factors.Keep(s, a.View(), &kept, &l); err != nil {
		return nil, ended(opt, s, "Cholesky", err)
	}
	s.Finished()
	return &CholeskyFactors{halfulp.MatrixOf(l), newSystem(kept)}, ended(opt, s, "", nil)
}
