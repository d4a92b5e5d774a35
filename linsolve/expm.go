package linsolve

import (
	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/linsolve/internal/function"
	"github.com/halfulp/halfulp/linsolve/internal/solve"
)

// Expm returns exp(A) = Σ A^k / k! of a square matrix A, each entry rounded once to format f. The
// result lives where A does.
//
// The error wraps ErrNotFinite for infinities and NaN in A. It wraps ErrNorm if, for some connected
// part of the graph of the nonzeros of A, μ or the norm of A - μ I exceeds 2^28 (μ is defined
// below). Expm panics if A is not square.
//
// Some entries cannot be decided. An entry is irrational unless its paths are nilpotent (see below)
// or exponentials of eigenvalues cancel. An entry that is zero or a tie because exponentials cancel
// cannot be told from an entry very near to it. Once 4096 bits and 16 times the bits of the format
// are reached, Expm returns 0 for an entry that seems to be zero, or one of the two numbers next to
// the tie, and counts it in Stats.Undecided. All other entries are correctly rounded.
//
// Method: scaling and squaring (Higham, Functions of Matrices, section 10.3) of a Taylor polynomial
// in Paterson and Stockmeyer's form. With an integer μ near the mean of the diagonal,
//
//	exp(A) = e^μ P(X)^(2^s) up to errors with a proved bound, X = (A - μ I) 2^-s,
//
// by matrix products in enough bits that the error bound leaves one number for each entry; as long
// as it does not, the bits double. An entry (i, j) depends only on the rows and columns on paths
// from i to j in the graph of the nonzeros of A. It is +0 if there is no such path. Parts of the
// graph that no edge connects are computed as separate matrices. Where a part does not decide an
// entry soon, the computation is restricted to the paths of that entry. If the matrix of these
// paths is nilpotent, the entry is rational and is computed exactly.
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
