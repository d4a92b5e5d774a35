package eigen

import (
	"errors"
	"fmt"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/linsolve"
)

// LeastSquaresOptions select which singular values are treated as 0, and weights.
type LeastSquaresOptions struct {
	Options
	// Weights, if not nil, are w_i ≥ 0, one for each row: LeastSquares minimises Σ w_i (b - A x)_i²
	// instead of Σ (b - A x)_i². Rows of weight 0 are left out. RCond must be nil.
	Weights *halfulp.Vector
}

// LeastSquares returns the X of least ‖x‖₂ among all that minimise ‖b - A x‖₂, column by column,
// for a matrix A of any rank: X = A⁺ B (see Pinv). Every entry is the exact one rounded once to
// format f, ties to even, whatever the condition of A. Zeros are +0. A, B and X are m x n, m x k
// and n x k; A and B may have any formats. X lives where A and B do.
//
//	x, err := eigen.LeastSquares(a, b, halfulp.Float64, nil)
//
// With a tolerance (see Options), the singular values that are treated as 0 are replaced by 0
// before A⁺ is formed, as by numpy.linalg.lstsq; entries are then decided as in Pinv.
//
// The error wraps linsolve.ErrWeights for weights that are negative, infinite or NaN, and ErrRCond
// for an invalid tolerance. Other errors are as for [Pinv]. LeastSquares panics if the shapes do
// not fit.
//
// Method. Problems of full rank are solved by linsolve.LeastSquares, or linsolve.Solve for a square
// A. For a smaller rank, X = Fᵀ Z with (Cᵀ A Fᵀ) Z = Cᵀ B is part of the solution of one linear
// system: see Pinv.
func LeastSquares(a, b *halfulp.Matrix, f halfulp.Format, opt *LeastSquaresOptions) (*halfulp.Matrix, error) {
	var o LeastSquaresOptions
	if opt != nil {
		o = *opt
	}
	m, n := a.Dims()
	if b.Rows() != m || o.Weights != nil && o.Weights.Len() != m {
		panic(errShape)
	}
	err := o.check()
	if err == nil && o.RCond != nil && o.Weights != nil {
		err = ErrRCond
	}
	if err != nil {
		return nil, fmt.Errorf("LeastSquares: %w", err)
	}
	o.Progress = par.Rising(o.Progress)
	var singular error
	if o.RCond == nil {
		var x *halfulp.Matrix
		if m == n && o.Weights == nil {
			if x, err = linsolve.Solve(a, b, f, &o.Options.Options); err != nil {
				err = fmt.Errorf("LeastSquares: %w", err)
			}
		} else {
			x, err = linsolve.LeastSquares(a, b, f, &linsolve.LeastSquaresOptions{Options: o.Options.Options, Weights: o.Weights})
		}
		if !errors.Is(err, linsolve.ErrSingular) {
			return x, err
		}
		if o.Weights == nil { // rows of weight 0 are left out below
			singular = err
		}
	}
	operands := []num.Mat{a.View(), b.View()}
	if o.Weights != nil {
		operands = append(operands, o.Weights.View().Mat())
	}
	s, on, err := start("LeastSquares", o.Options.Options, operands...)
	if err != nil {
		return nil, err
	}
	on = append(on, num.Mat{})
	z, err := func() (num.Mat, error) {
		p, err := newProblem(s, f, &o.Options.Options, on[0], on[1], on[2])
		if err != nil {
			return num.Mat{}, err
		}
		p.learn(singular)
		if o.RCond != nil {
			if z, err := p.truncated(*o.RCond); z.Arr != nil || err != nil {
				return z, err
			}
		}
		return p.deficient()
	}()
	if err := ended("LeastSquares", o.Options.Options, s, err); err != nil {
		return nil, err
	}
	return moved(z, a.View())
}
