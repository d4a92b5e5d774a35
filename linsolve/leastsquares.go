package linsolve

import (
	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/linsolve/internal/lsq"
)

// LeastSquaresOptions change how least squares are computed, and what is minimised.
type LeastSquaresOptions struct {
	// Options are those of package halfulp, which change no bit of a result.
	halfulp.Options
	// Weights, if not nil, are w_i ≥ 0, one for each row: Σ w_i (b - A x)_i² is minimised in place
	// of Σ (b - A x)_i². Rows of weight 0 are left out.
	Weights *halfulp.Vector
}

// options returns the halfulp.Options.
func (o *LeastSquaresOptions) options() *halfulp.Options {
	if o == nil {
		return nil
	}
	return &o.Options
}

// weights returns the weights of the rows of a, nothing if there are none.
func (o *LeastSquaresOptions) weights(a *halfulp.Matrix) num.Mat {
	if o == nil || o.Weights == nil {
		return num.Mat{}
	}
	if o.Weights.Len() != a.Rows() {
		panic(errShape)
	}
	return o.Weights.View().Mat()
}

// operands returns matrices, of which the first is A, and the weights of its rows if there are any.
func (o *LeastSquaresOptions) operands(m ...*halfulp.Matrix) (all []num.Mat) {
	for _, x := range m {
		all = append(all, x.View())
	}
	if w := o.weights(m[0]); w.Arr != nil {
		all = append(all, w)
	}
	return all
}

// LeastSquares returns the solution X of min ‖B - A X‖₂, column by column: every entry is the exact
// one rounded once to format f, ties to even, whatever the condition of A. Zeros are +0. A, B and X
// are m x n, m x k and n x k, A and B of any formats. X lives where A and B do. With weights
// Σ w_i (b - A x)_i² is minimised, and in what follows A, B and m are without the rows of weight 0.
//
// For m ≥ n the columns of A must be independent. For m < n its rows must be: then of all x with
// A x = b the one of the smallest ‖x‖₂ is found.
//
// The normal equations AᵀA x = Aᵀb, for m < n AAᵀ y = b with x = Aᵀy, are formed without rounding,
// and solved as Solve does: that they square the condition number costs time alone. Where the
// exponents of A spread so far that AᵀA takes more memory than the augmented system,
//
//	(I  A) (r)   (b)
//	(Aᵀ 0) (x) = (0),
//
// that is solved in their place (Björck, Numerical methods for least squares problems, 1996,
// section 1.4).
//
// The error is a *RankError, which wraps ErrSingular, if the rank of A is below min(m, n); it wraps
// ErrNotFinite for infinities and NaN in A or B and ErrWeights for weights that are none.
// LeastSquares panics if shapes do not fit.
//
// Where A and B live on a GPU or on a grid of processes, with m ≥ n and no weights, the normal
// equations are formed and solved there, but for what only arithmetic on the host decides.
func LeastSquares(a, b *halfulp.Matrix, f halfulp.Format, opt *LeastSquaresOptions) (*halfulp.Matrix, error) {
	if a.Rows() != b.Rows() {
		panic(errShape)
	}
	s, err := start("LeastSquares", opt.options(), opt.operands(a, b)...)
	if err != nil {
		return nil, err
	}
	z, err := lsq.LeastSquares(s, a.View(), b.View(), opt.weights(a), f.View())
	return returned(opt.options(), s, "LeastSquares", z, err)
}
