package linsolve

import (
	"math/big"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/linsolve/internal/lsq"
)

// RegressionOptions change how Regression and PolyFit compute, and what.
type RegressionOptions struct {
	LeastSquaresOptions
	// Covariance asks for covariance matrices.
	Covariance bool
	// Unit, if not nil, is what one of the numbers of B stands for: the problem is that of Unit B.
	// So decimals are exact: with B = 1234 and the unit 1/1000, b is 1.234.
	Unit *big.Rat
	// ColumnUnits, if not nil, are what the numbers of each column of A stand for. PolyFit takes
	// one unit, that of the nodes x.
	ColumnUnits []*big.Rat
	// WeightUnit, if not nil, is what one of the numbers of Weights stands for, above 0.
	WeightUnit *big.Rat
}

// Fit is a linear model b = A x + e, fitted by least squares, with its statistics. m are the rows
// of A of weights that are not 0, n the columns, k those of B; dof = m - n.
type Fit struct {
	Observations     int // m
	DegreesOfFreedom int // m - n, of the residuals
	// Centered says that a column of A is constant, an intercept: total sums of squares are about
	// the (weighted) mean then, else about 0.
	Centered bool
	X        *halfulp.Matrix // n x k: the estimates
	// StandardErrors, n x k, are the standard deviations of the estimates, √(s² u_ii) with s the
	// residual standard deviation and U = (AᵀWA)^-1; NaN for m = n.
	StandardErrors *halfulp.Matrix
	// Covariances, if they are asked for, are s² U for each column of B, n x n; NaN for m = n.
	Covariances []*halfulp.Matrix
	Responses   []Response // one for each column of B
}

// Response has statistics of one column of B. Sums of squares are weighted if there are weights.
type Response struct {
	ResidualSS halfulp.Scalar // r = Σ w_i (b - A x)_i²
	ResidualMS halfulp.Scalar // r/dof; NaN for dof = 0, as ResidualSD and F
	ResidualSD halfulp.Scalar // √(r/dof)
	// RegressionSS is TSS - r, where TSS = Σ w_i (b_i - mean)², or Σ w_i b_i² without an intercept.
	RegressionSS halfulp.Scalar
	RSquared     halfulp.Scalar // 1 - r/TSS; NaN for TSS = 0
	// F is ((TSS - r)/p) / (r/dof), p the parameters but for an intercept: +Inf for r = 0, NaN if p
	// or TSS is 0 as well.
	F halfulp.Scalar
}

// Regression fits the linear model B = A X + E by least squares and returns the estimates X with
// their standard errors and the other statistics of Fit, each the exact number rounded once to
// format f, whatever the condition of A. A is m x n with m ≥ n and independent columns, B m x k, of
// any formats.
//
// Residual sums of squares r are components of the solutions of larger systems, so they have no
// cancellation either. Statistics are functions of r, of the entries of the inverse of AᵀWA and of
// exact sums, and are enclosed until both ends round to one number; a statistic that lies halfway
// between two is proved to do so by arithmetic modulo primes.
//
// Stats.Overflow and Stats.Underflow count numbers of Fit that f made infinite, or that lost bits
// below its smallest normal number.
//
// Errors are those of LeastSquares, with a *RankError also where fewer than n rows have weights
// other than 0, and one that wraps ErrUnit. Regression panics if shapes do not fit or m < n.
// Results are on the host.
func Regression(a, b *halfulp.Matrix, f halfulp.Format, opt *RegressionOptions) (*Fit, error) {
	if a.Rows() != b.Rows() || a.Rows() < a.Cols() || opt != nil && opt.ColumnUnits != nil && len(opt.ColumnUnits) != a.Cols() {
		panic(errShape)
	}
	return fitted("Regression", a, b, f, opt)
}

// fitted is Regression for a routine of some name.
func fitted(name string, a, b *halfulp.Matrix, f halfulp.Format, opt *RegressionOptions) (*Fit, error) {
	if opt == nil {
		opt = &RegressionOptions{}
	}
	s, err := start(name, opt.options(), opt.operands(a, b)...)
	if err != nil {
		return nil, err
	}
	m, err := lsq.NewModel(s, a.View(), b.View(), opt.weights(a))
	if err != nil {
		return nil, wrapped(name, err)
	}
	r := lsq.NewRegressor(m, f.View(), opt.Covariance)
	r.Units(opt.Unit, opt.WeightUnit, opt.ColumnUnits)
	if err := r.Fit(m.Equations); err != nil {
		return nil, ended(opt.options(), s, name, err)
	}
	s.Stage("statistics")
	s.Finished()
	return newFit(&r.Estimates), ended(opt.options(), s, "", nil)
}

// newFit returns estimates with this package's types.
func newFit(e *lsq.Estimates) *Fit {
	z := &Fit{
		Observations: e.Observations, DegreesOfFreedom: e.DegreesOfFreedom, Centered: e.Centered,
		X: halfulp.MatrixOf(e.X), StandardErrors: halfulp.MatrixOf(e.StandardErrors),
	}
	for _, c := range e.Covariances {
		z.Covariances = append(z.Covariances, halfulp.MatrixOf(c))
	}
	for _, y := range e.Responses {
		of := halfulp.ScalarOf
		z.Responses = append(z.Responses, Response{of(y.ResidualSS), of(y.ResidualMS), of(y.ResidualSD), of(y.RegressionSS), of(y.RSquared), of(y.F)})
	}
	return z
}
