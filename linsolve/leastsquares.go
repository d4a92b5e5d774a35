package linsolve

import (
	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/linsolve/internal/lsq"
)

// LeastSquaresOptions select how least squares are computed, and with which weights.
type LeastSquaresOptions struct {
	// Options are the options of package halfulp. They change no bit of a result.
	halfulp.Options
	// Weights, if not nil, are w_i ≥ 0, one for each row: LeastSquares minimises Σ w_i (b - A x)_i²
	// instead of Σ (b - A x)_i². Rows of weight 0 are left out.
	Weights *halfulp.Vector
}

// options returns the halfulp.Options.
func (o *LeastSquaresOptions) options() *halfulp.Options {
	if o == nil {
		return nil
	}
	return &o.Options
}

// weights returns the weights of the rows of a, or a zero Mat if there are none.
func (o *LeastSquaresOptions) weights(a *halfulp.Matrix) num.Mat {
	if o == nil || o.Weights == nil {
		return num.Mat{}
	}
	if o.Weights.Len() != a.Rows() {
		panic(errShape)
	}
	return o.Weights.View().Mat()
}

// operands returns the matrices m, the first of which is A, followed by the weights of the rows of
// A if there are any.
func (o *LeastSquaresOptions) operands(m ...*halfulp.Matrix) (all []num.Mat) {
	for _, x := range m {
		all = append(all, x.View())
	}
	if w := o.weights(m[0]); w.Arr != nil {
		all = append(all, w)
	}
	return all
}

// LeastSquares returns the X that minimises ‖B - A X‖₂ column by column: every entry is the exact
// one rounded once to format f, ties to even, whatever the condition of A. Zeros are +0. A, B and X
// are m x n, m x k and n x k; A and B may have any formats. X lives where A and B do.
//
//	x, err := linsolve.LeastSquares(a, b, halfulp.Float64, nil)
//
// With weights it minimises Σ w_i (b - A x)_i²; in what follows A, B and m exclude the rows of
// weight 0.
//
// For m ≥ n the columns of A must be linearly independent. For m < n the rows of A must be linearly
// independent: X then has the smallest ‖x‖₂ of all x with A x = b, column by column.
//
// The error is a *RankError, which wraps ErrSingular, if the rank of A is below min(m, n). It wraps
// ErrNotFinite for infinities and NaN in A or B, and ErrWeights for weights that are negative,
// infinite or NaN. LeastSquares panics if the shapes do not fit.
//
// Method. The normal equations AᵀA x = Aᵀb, or AAᵀ y = b with x = Aᵀy for m < n, are formed without
// rounding and solved as by [Solve]. They square the condition number, which costs time but no
// accuracy. If the exponents of A are so far apart that AᵀA takes more memory than the augmented
// system,
//
//	(I  A) (r)   (b)
//	(Aᵀ 0) (x) = (0),
//
// the augmented system is solved instead (Björck, Numerical methods for least squares problems,
// 1996, section 1.4).
//
// If A and B live on a GPU or on a grid of processes, with m ≥ n and no weights, the normal
// equations are formed and solved there. The host handles only the cases that its arithmetic must
// decide.
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
