package linsolve

import (
	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/linsolve/internal/det"
	"github.com/halfulp/halfulp/linsolve/internal/factors"
)

// CholeskyFactors are those of A = L L^T. Where A lives on a GPU they do, with a copy of A.
type CholeskyFactors struct {
	L *halfulp.Matrix // lower triangular with a positive diagonal, zeros above
	system
}

// Free gives back what the factors have on a GPU. They are not to be used any more then.
func (y *CholeskyFactors) Free() {
	if y == nil {
		panic(errFactors)
	}
	y.free(y.L)
}

// Solve returns the solution X of A X = B for the square matrix A that was decomposed: every entry
// is rounded once to format f, as by package function [Solve], with the same errors. It comes from
// A itself, not from its rounded factors. What the first call finds out about A serves all others,
// which take a few products of A with their right-hand sides. X lives where B does. Where A and B
// live on one GPU it is package function Solve that does it. Solve panics if A is not square, or
// shapes do not fit. It may be called by several goroutines.
func (y *CholeskyFactors) Solve(b *halfulp.Matrix, f halfulp.Format, opt *halfulp.Options) (*halfulp.Matrix, error) {
	if y == nil {
		panic(errFactors)
	}
	return y.solve(b, f, opt)
}

// Cholesky returns the Cholesky factor L of a symmetric positive definite n x n matrix A = L L^T in
// format f, every entry the exact one rounded once, ties to even, whatever the condition of A
// (potrf of LAPACK with uplo = L). L lives where A does.
//
// On AVX2 and AVX-512 A, scaled so that no number exceeds 1, is eliminated in fixed point, in
// digits that these multiply, and what L L^T is off A by encloses the entries. That takes up to 40
// digits of 51 or 52 bits, which hold the condition number's as well, and 256 MiB: up to an order
// of some 3000 for 53 bits, 1700 for 424 bits.
//
// Else a triangular S for which ‖S A S^T - I‖ is proved to be small gives enclosures of L. It
// comes from a float64 seed by products, each step of which has four times the bits of the one
// before; for matrices too ill-conditioned for float64 from an elimination by products, in blocks
// for which float64 does where it can. For small n, and where neither does, S and another factor T
// come from an elimination in enough bits, entry by entry. Enclosures are made again with more
// bits until all entries round to one number. Zeros, and entries halfway between two numbers of
// the format, never get there: those are proved modulo primes.
//
// Where A lives on a GPU or on a grid of processes all of it runs there, but for what only
// arithmetic on the host decides: zeros below the diagonal, ties, matrices that are not positive
// definite, small or ill-conditioned ones.
//
// The error is a *NotPositiveDefiniteError, which names a leading minor that is proved not to be
// positive, or wraps ErrNotSymmetric, or ErrNotFinite for infinities and NaN. It wraps
// halfulp.ErrMemory, and names the bytes, if all methods take more than Options.MemoryLimit on the
// host. Options.Method is of the products, and so is Device. Cholesky panics if A is not square.
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
	if err := factors.Keep(a.View(), &kept, &l); err != nil {
		return nil, ended(opt, s, "Cholesky", err)
	}
	s.Finished()
	return &CholeskyFactors{halfulp.MatrixOf(l), newSystem(kept)}, ended(opt, s, "", nil)
}
