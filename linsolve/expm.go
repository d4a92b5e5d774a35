package linsolve

import (
	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/linsolve/internal/function"
	"github.com/halfulp/halfulp/linsolve/internal/solve"
)

// Expm returns exp(A) = Σ A^k / k!, each entry rounded once to format f, for a square matrix A. It
// lives where A does.
//
// The method is scaling and squaring (Higham, Functions of Matrices, section 10.3) of a Taylor
// polynomial in Paterson and Stockmeyer's form: with an integer μ near the mean of the diagonal,
//
//	exp(A) = e^μ P(X)^(2^s) but for errors with a proved bound, X = (A - μ I) 2^-s,
//
// all by matrix products of so many bits that the bound leaves one number for each entry, twice as
// many where it does not. An entry (i, j) depends only on the rows and columns on paths from i to
// j in the graph of the nonzeros of A: without such a path it is +0. Parts of the graph that no
// edge connects are matrices of their own, and computations are restricted to the paths where a
// part does not decide soon. Where they are nilpotent the entry is rational and is found exactly.
//
// Any other entry is irrational unless exponentials of eigenvalues cancel: one that is 0 or a tie
// for that reason cannot be told from one very near to it. With 4096 bits and 16 times those of
// the format such an entry is 0, or one of the two numbers next to the tie, and
// counted in Stats.Undecided; all others are correctly rounded.
//
// The error wraps ErrNotFinite for infinities and NaN in A, and ErrNorm if μ or the norm of A - μ I
// exceeds 2^28, for a part of the graph. Expm panics if shapes do not fit.
func Expm(a *halfulp.Matrix, f halfulp.Format, opt *halfulp.Options) (*halfulp.Matrix, error) {
	if a.Rows() != a.Cols() {
		panic(errShape)
	}
	s, on, err := begin("Expm", opt, a.View())
	if err != nil {
		return nil, err
	}
	z, err := func() (num.Mat, error) {
		if err := call.Finite("A", on[0]); err != nil {
			return num.Mat{}, err
		}
		z := num.NewMat(f.View(), a.Rows(), a.Rows())
		if err := function.Expm(s, on[0], z); err != nil {
			return num.Mat{}, err
		}
		s.Stage("products")
		return solve.Finish(s, z, a.View())
	}()
	return returned(opt, s, "Expm", z, err)
}
