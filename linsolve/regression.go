package linsolve

import (
	"math/big"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/linsolve/internal/lsq"
)

// RegressionOptions select how [Regression] and [PolyFit] compute, and which results they return.
type RegressionOptions struct {
	LeastSquaresOptions
	// Covariance requests covariance matrices.
	Covariance bool
	// Confidence, if not nil, requests confidence intervals of the estimates. It is their level, a
	// number between 0 and 1: big.NewRat(95, 100) is 95 per cent.
	Confidence *big.Rat
	// PValues requests t and p-values, in formats of up to MaxPValueBits bits. The fit is then
	// computed twice, the second time in more than twice the bits.
	PValues bool
	// Unit, if not nil, is the unit of the numbers of B: the right-hand side is Unit B. It makes
	// decimals exact: with B = 1234 and the unit 1/1000, b is 1.234.
	Unit *big.Rat
	// ColumnUnits, if not nil, are the units of the numbers of A, one for each column. PolyFit
	// takes one unit, the unit of the nodes x.
	ColumnUnits []*big.Rat
	// WeightUnit, if not nil, is the unit of the numbers of Weights. It must be positive.
	WeightUnit *big.Rat
}

// Fit is a linear model b = A x + e, fitted by least squares, with its statistics. m is the number
// of rows of A with nonzero weights, n the number of columns of A, k the number of columns of B;
// dof = m - n.
type Fit struct {
	Observations     int // m
	DegreesOfFreedom int // m - n, of the residuals
	// Centered reports whether a column of A is constant, an intercept: then total sums of squares
	// are about the (weighted) mean, otherwise about 0.
	Centered bool
	X        *halfulp.Matrix // n x k: the estimates
	// StandardErrors, n x k, are the standard deviations of the estimates, √(s² u_ii) with s the
	// residual standard deviation and U = (AᵀWA)^-1; NaN for m = n.
	StandardErrors *halfulp.Matrix
	// Lower and Upper, n x k, are the limits of the confidence intervals of the estimates, nil
	// unless requested: x ∓ t s, where s is the standard error of x and t the number that a
	// Student's t of m - n degrees of freedom exceeds in magnitude with probability 1 - Confidence.
	// They are NaN for m = n, and equal to X for residuals of 0.
	Lower, Upper *halfulp.Matrix
	// T and P, n x k, are nil unless requested: T is the estimate divided by its standard error,
	// and P the probability of a magnitude of T at least as large if the parameter is 0 (two-sided,
	// Student's t). Both are NaN for m = n.
	T, P *halfulp.Matrix
	// UndecidedTests counts the numbers of T, P and Response.FP that may be the other one of the
	// two numbers nearest to the exact one, VanishedTests those that are 0 but not exactly so.
	UndecidedTests, VanishedTests int
	// Undecided counts the limits that may not be the nearest number: see [Regression].
	Undecided int
	// Covariances, if requested, are the n x n matrices s² U, one for each column of B. Their
	// entries are NaN for m = n.
	Covariances []*halfulp.Matrix
	Responses   []Response // one for each column of B
}

// Response holds the statistics of one column of B. Sums of squares are weighted if there are
// weights.
type Response struct {
	ResidualSS halfulp.Scalar // r = Σ w_i (b - A x)_i²
	ResidualMS halfulp.Scalar // r/dof; NaN for dof = 0, as ResidualSD and F
	ResidualSD halfulp.Scalar // √(r/dof)
	// RegressionSS is TSS - r, where TSS = Σ w_i (b_i - mean)², or Σ w_i b_i² without an intercept.
	RegressionSS halfulp.Scalar
	RSquared     halfulp.Scalar // 1 - r/TSS; NaN for TSS = 0
	// F is ((TSS - r)/p) / (r/dof), where p is the number of parameters without an intercept: +Inf
	// for r = 0, NaN if p or TSS is 0 as well.
	F halfulp.Scalar
	// FP is the probability of an F at least as large if all parameters but the intercept are 0, if
	// requested by PValues.
	FP halfulp.Scalar
}

// Regression fits the linear model B = A X + E by least squares. It returns the estimates X with
// their standard errors and the other statistics of [Fit], each the exact number rounded once to
// format f, whatever the condition of A. A is m x n with m ≥ n and independent columns, B is m x k;
// both may have any formats. Results are on the host.
//
//	fit, err := linsolve.Regression(a, b, halfulp.Float64, nil)
//	fmt.Println(fit.X.Float64(0, 0), fit.Responses[0].RSquared)
//
// Errors are as for [LeastSquares]. The error is a *RankError also if fewer than n rows have
// nonzero weights, and it wraps ErrUnit for invalid units and ErrConfidence for an invalid
// confidence level. Stats.Overflow counts the numbers of Fit that f made infinite, Stats.Underflow
// the numbers that lost bits below the smallest normal number of f. Regression panics if the shapes
// do not fit or m < n.
//
// Method. Residual sums of squares r are components of the solutions of larger linear systems, so
// they suffer no cancellation. The other statistics are functions of r, of entries of (AᵀWA)^-1 and
// of exact sums. They are enclosed until both ends of the enclosure round to one number. A
// statistic that lies halfway between two numbers is proved to do so by arithmetic modulo primes.
//
// Limits of confidence intervals are enclosed in the same way, with an enclosure of Student's t:
// Newton's method approximates t, and the incomplete beta function on both sides proves it. No
// proof decides a limit that is halfway between two numbers, or 0 where the standard error is not.
// With p the bits of f, if 8 (p + 64) bits leave a limit open, Undecided counts it, and Regression
// returns the number nearest to the middle of its enclosure, or 0 if the enclosure contains 0. That
// number differs from the exact limit by at most half an ulp plus 2^-7p (|x| + t s).
//
// T and p-values are enclosed by a fit in more bits and the incomplete beta function. Each is the
// number nearest to the exact one, or one of the two nearest if the exact one is within 2^-(2p+128)
// of it of the middle between them; UndecidedTests counts these.
func Regression(a, b *halfulp.Matrix, f halfulp.Format, opt *RegressionOptions) (*Fit, error) {
	if a.Rows() != b.Rows() || a.Rows() < a.Cols() || opt != nil && opt.ColumnUnits != nil && len(opt.ColumnUnits) != a.Cols() {
		panic(errShape)
	}
	if err := checkPValues("Regression", f, opt); err != nil {
		return nil, err
	}
	z, err := fitted("Regression", a, b, f, opt)
	if err != nil {
		return nil, err
	}
	if err := z.tested(f, opt, func(f halfulp.Format, opt *RegressionOptions) (*Fit, error) { return Regression(a, b, f, opt) }); err != nil {
		return nil, err
	}
	return z, nil
}

// fitted runs Regression for the routine with the given name.
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
	if err := r.Confidence(opt.Confidence); err != nil {
		return nil, ended(opt.options(), s, name, err)
	}
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
	if e.Lower.Arr != nil {
		z.Lower, z.Upper, z.Undecided = halfulp.MatrixOf(e.Lower), halfulp.MatrixOf(e.Upper), e.Undecided
	}
	for _, c := range e.Covariances {
		z.Covariances = append(z.Covariances, halfulp.MatrixOf(c))
	}
	for _, y := range e.Responses {
		of := halfulp.ScalarOf
		z.Responses = append(z.Responses, Response{of(y.ResidualSS), of(y.ResidualMS), of(y.ResidualSD), of(y.RegressionSS), of(y.RSquared), of(y.F), halfulp.Scalar{}})
	}
	return z
}
