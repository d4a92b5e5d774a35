package main

import (
	"errors"
	"fmt"
	"math/big"
	"strings"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/eigen"
	"github.com/halfulp/halfulp/internal/cli"
	"github.com/halfulp/halfulp/internal/textio"
	"github.com/halfulp/halfulp/linsolve"
)

// fitFlags are the flags of least squares.
type fitFlags struct {
	Weights    string `placeholder:"FILE" help:"Weights of the rows, a vector: the weighted sum of the squares of residuals is minimised; rows of weight 0 are left out."`
	Covariance bool   `help:"Print the covariance matrix of the estimates, too."`
	PValues    bool   `name:"p-values" help:"Print t, the estimate over its standard error, and the p-values of the estimates (two-sided, Student's t) and of F, too. The fit is computed twice."`
	Confidence string `placeholder:"LEVEL" help:"Print the confidence intervals of the estimates of this level (Student's t), too: 95% or 0.95."`
}

// level returns the confidence level, nil if no intervals are requested.
func (c *fitFlags) level() (*big.Rat, error) {
	if c.Confidence == "" {
		return nil, nil
	}
	number, percent := strings.CutSuffix(c.Confidence, "%")
	x, ok := new(big.Rat), len(number) <= 1000 && strings.Trim(number, "0123456789.") == ""
	if ok {
		_, ok = x.SetString(number)
	}
	if percent {
		x.Quo(x, big.NewRat(100, 1))
	}
	if !ok || x.Sign() <= 0 || x.Cmp(big.NewRat(1, 1)) >= 0 {
		return nil, cli.Misuse("--confidence: %s is not a level between 0 and 1, like 0.95 or 95%%", shown(c.Confidence))
	}
	return x, nil
}

// fitHelp describes the output of a fit of b. parameters is the number of parameters beside a
// constant.
func fitHelp(estimates, model, b, center, parameters string) string {
	return `Prints these numbers, each the exact one rounded once:

  ` + estimates + ` with their standard errors
  residual SS    r, the sum of the squares of ` + b + ` - ` + model + `
  residual MS    r divided by the degrees of freedom, which are observations less estimates
  residual sd    the square root of the residual MS
  regression SS  TSS - r, where TSS is the sum of the squares of ` + b + ` less its mean` + center + `
  R-squared      1 - r/TSS
  F              (TSS - r)/` + parameters + ` divided by the residual MS

Decimals of text files enter exactly, 0.1 as one tenth, unless the file or --in names a format. If there are as many estimates as observations, as in a square system, the fit is exact and no degree of freedom remains: the standard errors, residual MS, residual sd and F are nan.

--p-values prints t and p-values as well, each the number nearest to the exact one, or one of the two nearest if the exact one is within 2^-(2 P + 128) of it of the middle between them, P the bits of the format.

--confidence 95% prints the limits of the confidence intervals of the estimates as well, x - t s and x + t s, where s is the standard error of x and t the number that a Student's t of as many degrees of freedom exceeds in magnitude with a probability of 5%. Each limit is the exact one rounded once; a warning counts limits that 8 (P + 64) bits left undecided.`
}

type lstsqCmd struct {
	A         string `arg:"" name:"A" help:"Matrix; - is standard input."`
	B         string `arg:"" name:"B" help:"Right-hand sides: a matrix with as many rows, or a vector."`
	Intercept bool   `help:"Add a column of ones before the first column of A: the model has a constant."`
	Solution  bool   `help:"Print only the estimates, as a matrix, for A of any rank: if they are not unique, the solution of minimal norm. Numbers are rounded when they are read, as for solve."`
	toleranceFlag
	fitFlags
	commonFlags
}

func (lstsqCmd) Help() string {
	return `Solves A x = b in the least-squares sense, whatever the condition of A, for each column b of B. A is m x n with m ≥ n. --intercept adds a column of ones, unless A has a constant column. Columns of a table with a header give their names to the estimates and right-hand sides. ` +
		fitHelp("the estimates x1, x2, ..., after an intercept,", "A x", "b", ", or of b if no column of A is constant", "(number of columns without a constant one)") + `

A must have independent columns. Otherwise it is an error, which states the rank; dependence is proved. With --solution A may have any shape and rank. If the solution is not unique, the one of minimal norm is printed, as by numpy.linalg.lstsq, and a note states the rank. --rcond 1e-15 treats small singular values as 0, see halfulp pinv.

Examples:

  halfulp lstsq A.csv b.txt
  halfulp lstsq points.csv:one,x points.csv:y        # columns of one table
  halfulp lstsq points.csv:x points.csv:y --intercept --confidence 95%
  halfulp lstsq A.csv b.txt --weights w.txt --covariance --digits 6
  halfulp lstsq A.mtx B.mtx --solution --out X.mtx
  halfulp lstsq A.mtx b.mtx --solution --rcond 1e-12`
}

func (c *lstsqCmd) Run(env *cli.Environment) error {
	if c.Format.exact && !c.Solution {
		return cli.Misuse("--format exact: standard errors are roots: --solution prints exact estimates alone")
	}
	j, err := c.solverJob(env, "lstsq", c.Solution, c.operands(c.A, c.B)...)
	if err != nil {
		return err
	}
	if c.Solution && c.Covariance {
		return cli.Misuse("--covariance: --solution prints the estimates alone")
	}
	if c.Solution && c.PValues {
		return cli.Misuse("--p-values: --solution prints the estimates alone")
	}
	if c.Solution && c.Confidence != "" {
		return cli.Misuse("--confidence: --solution prints the estimates alone")
	}
	if c.RCond != nil && !c.Solution {
		return cli.Misuse("--rcond: statistics need independent columns; --solution prints the solution for singular values above a tolerance")
	}
	if c.RCond != nil && c.Weights != "" {
		return cli.Misuse("--rcond and --weights cannot be combined")
	}
	if c.Solution {
		return c.solution(j)
	}
	a, columnUnits, err := j.decimals(c.A, true)
	if err != nil {
		return err
	}
	estimates := names(j.names, "x", 1, a.Cols())
	b, units, err := j.decimals(c.B, false)
	if err != nil {
		return err
	}
	if b, err = finiteSystem(c.A, a, c.B, b); err != nil {
		return err
	}
	responses := j.names
	if c.Intercept {
		if a, err = c.withOnes(j, a); err != nil {
			return err
		}
		estimates = append([]string{"intercept"}, estimates...)
		if columnUnits != nil {
			columnUnits = append([]*big.Rat{big.NewRat(1, 1)}, columnUnits...)
		}
	}
	if a.Rows() < a.Cols() {
		return cli.Misuse("%s is %d x %d: statistics need as many rows as columns; --solution prints the solution of minimal norm",
			shown(c.A), a.Rows(), a.Cols())
	}
	opt := &linsolve.RegressionOptions{ColumnUnits: columnUnits}
	left, err := c.options(j, opt, a.Rows(), units)
	if err != nil {
		return err
	}
	if left < a.Cols() {
		return cli.Misuse("%s leaves %d x %d entries of %s: statistics need as many rows as columns; --solution prints the solution of minimal norm",
			shown(c.Weights), left, a.Cols(), shown(c.A))
	}
	fit, err := solved(j, c.A, func(run *halfulp.Options) (*linsolve.Fit, error) {
		opt.Options = *run
		return linsolve.Regression(a, b, j.format, opt)
	})
	if errors.Is(err, linsolve.ErrSingular) {
		return fmt.Errorf("%w; --solution prints the solution of minimal norm", err)
	}
	if err != nil {
		return err
	}
	if !fit.Centered && !j.print.Quiet {
		fmt.Fprintf(j.env.Stderr, "halfulp: note: no column of %s is constant: the model has no intercept, and R-squared and F compare it with 0, not with the mean; --intercept adds a column of ones\n", shown(c.A))
	}
	j.warnTests(fit)
	return j.writeFit(fit, c.Confidence, estimates, names(responses, "column ", 1, b.Cols()))
}

// withOnes returns A with a column of ones before the others.
func (c *lstsqCmd) withOnes(j *job, a *halfulp.Matrix) (*halfulp.Matrix, error) {
	rows, cols := a.Dims()
	for k := range cols {
		constant := rows > 0 && a.At(0, k).Big().Sign() != 0
		for i := 1; i < rows && constant; i++ {
			constant = a.At(i, k).Same(a.At(0, k))
		}
		if constant {
			return nil, cli.Misuse("--intercept: column %d of %s is constant, an intercept already", k+1, shown(c.A))
		}
	}
	if err := j.how.Memory.checkSize(a.NumberFormat(), rows, cols+1); err != nil {
		return nil, fmt.Errorf("%s with a column of ones: %w", shown(c.A), err)
	}
	z := halfulp.NewMatrix(a.NumberFormat(), rows, cols+1)
	for i := range rows {
		z.SetFloat64(i, 0, 1)
		for k := range cols {
			z.Set(i, k+1, a.At(i, k))
		}
	}
	return z, nil
}

// names returns the names of n columns: the names of a header or, without a header, a prefix and a
// number from first on.
func names(header []string, prefix string, first, n int) []string {
	all := make([]string, n)
	for k := range all {
		if len(header) == n {
			all[k] = header[k]
		}
		if all[k] == "" {
			all[k] = fmt.Sprint(prefix, first+k)
		}
	}
	return all
}

func (c *lstsqCmd) solution(j *job) error {
	if j.rationally() {
		return c.exactSolution(j)
	}
	a, b, err := j.twoMatrices(c.A, c.B)
	if err != nil {
		return err
	}
	if b, err = finiteSystem(c.A, a, c.B, b); err != nil {
		return err
	}
	if c.Intercept {
		if a, err = c.withOnes(j, a); err != nil {
			return err
		}
	}
	opt := &eigen.LeastSquaresOptions{}
	if opt.RCond, err = c.tolerance(j); err != nil {
		return err
	}
	operands := []**halfulp.Matrix{&a, &b}
	var weights *halfulp.Matrix
	if c.Weights != "" {
		w, err := j.vector(c.Weights)
		if err != nil {
			return err
		}
		if _, err := c.checkWeights(w, nil, a.Rows()); err != nil {
			return err
		}
		weights = w.Matrix()
		operands = append(operands, &weights)
	}
	if err := j.there(operands...); err != nil {
		return err
	}
	if weights != nil {
		opt.Weights = weights.Col(0)
	}
	return j.minimal(c.A, a, b, opt)
}

type polyfitCmd struct {
	X         string `arg:"" name:"x" help:"Vector of nodes; - is standard input."`
	Y         string `arg:"" name:"y" help:"Vector of values, one for each node."`
	Degree    *int   `required:"" placeholder:"N" help:"Degree of the polynomial."`
	Intercept bool   `help:"Accepted as for lstsq, without effect: a polynomial always has the constant c0."`
	fitFlags
	commonFlags
}

func (polyfitCmd) Help() string {
	return `Fits y = c0 + c1 x + ... + cN x^N by least squares, like lstsq with the matrix of the exact powers of x. x needs N + 1 different nodes. ` +
		fitHelp("the coefficients c0, c1, ..., cN", "(c0 + c1 x + ... + cN x^N)", "y", "", "N") + `

Examples:

  halfulp polyfit x.txt y.txt --degree 1 --digits 15
  halfulp polyfit points.csv:x points.csv:y --degree 1
  halfulp polyfit x.txt y.txt --degree 2 --weights w.txt --json`
}

func (c *polyfitCmd) Run(env *cli.Environment) error {
	j, err := c.solverJob(env, "polyfit", false, c.operands(c.X, c.Y)...)
	if err != nil {
		return err
	}
	if *c.Degree < 0 {
		return cli.Misuse("--degree: %d is negative", *c.Degree)
	}
	x, columnUnits, err := j.decimalVector(c.X)
	if err != nil {
		return err
	}
	y, units, err := j.decimalVector(c.Y)
	if err != nil {
		return err
	}
	response := j.names
	if x.Len() != y.Len() {
		return cli.Misuse("%s has %s, %s has %d: each node needs a value", shown(c.X), textio.Count(x.Len(), "entry"), shown(c.Y), y.Len())
	}
	if x.Len() <= *c.Degree {
		return cli.Misuse("%s has %s: a polynomial of degree %d needs %d", shown(c.X), textio.Count(x.Len(), "entry"), *c.Degree, *c.Degree+1)
	}
	opt := &linsolve.RegressionOptions{ColumnUnits: columnUnits}
	if _, err := c.options(j, opt, x.Len(), units); err != nil {
		return err
	}
	fit, err := solved(j, c.X, func(run *halfulp.Options) (*linsolve.Fit, error) {
		opt.Options = *run
		return linsolve.PolyFit(x, y, *c.Degree, j.format, opt)
	})
	if err != nil {
		return err
	}
	j.warnTests(fit)
	return j.writeFit(fit, c.Confidence, names(nil, "c", 0, fit.X.Rows()), names(response, "column ", 1, 1))
}

// warnTests reports, --quiet or not, t and p-values that may be the other one of two neighbours,
// and those that became 0.
func (j *job) warnTests(fit *linsolve.Fit) {
	if fit.UndecidedTests > 0 {
		fmt.Fprintf(j.env.Stderr, "halfulp: warning: t or p-values that lie halfway between two numbers, or seem to, rounded to one of the two: %d\n", fit.UndecidedTests)
	}
	if fit.VanishedTests > 0 {
		fmt.Fprintf(j.env.Stderr, "halfulp: warning: t or p-values that are not 0 but too small for %v, printed as 0: %d\n", j.format, fit.VanishedTests)
	}
}

// operands returns the files to read.
func (c *fitFlags) operands(names ...string) []string {
	if c.Weights != "" {
		names = append(names, c.Weights)
	}
	return names
}

// options completes the options; units are the units of the right-hand sides. It returns the number
// of rows with weights other than 0.
func (c *fitFlags) options(j *job, opt *linsolve.RegressionOptions, rows int, units []*big.Rat) (left int, err error) {
	opt.Covariance, opt.PValues = c.Covariance, c.PValues
	if c.PValues && j.format.Bits() > linsolve.MaxPValueBits {
		return 0, cli.Misuse("--p-values: %v: formats of up to mp:%d have them", j.format, linsolve.MaxPValueBits)
	}
	if opt.Confidence, err = c.level(); err != nil {
		return 0, err
	}
	if units != nil {
		opt.Unit = units[0]
	}
	if c.Weights == "" {
		return rows, nil
	}
	w, units, err := j.decimalVector(c.Weights)
	if err != nil {
		return 0, err
	}
	if units != nil {
		opt.WeightUnit = units[0]
	}
	opt.Weights = w
	return c.checkWeights(w, opt.WeightUnit, rows)
}

// checkWeights returns the number of weights that are not 0, or an error for invalid weights. unit
// is their unit, nil for 1.
func (c *fitFlags) checkWeights(w *halfulp.Vector, unit *big.Rat, rows int) (left int, err error) {
	if w.Len() != rows {
		return 0, cli.Misuse("%s has %s: as many weights as rows, %d, are needed", shown(c.Weights), textio.Count(w.Len(), "entry"), rows)
	}
	for i := range w.Len() {
		x := w.At(i)
		if x.IsNaN() || x.IsInf(0) || x.Big().Sign() < 0 {
			return 0, fmt.Errorf("%s: weight %d is %s: %w", shown(c.Weights), i+1, inUnit(x, unit), linsolve.ErrWeights)
		}
		if x.Big().Sign() > 0 {
			left++
		}
	}
	return left, nil
}

// inUnit returns x times a unit, nil for 1, as a decimal or, if that has no end, as a fraction. x
// is finite.
func inUnit(x halfulp.Scalar, unit *big.Rat) string {
	if unit == nil {
		return x.String()
	}
	v, _ := x.Big().Rat(new(big.Rat))
	v.Mul(v, unit)
	if places, ok := v.FloatPrec(); ok {
		return v.FloatString(places)
	}
	return v.RatString()
}

// decimalVector reads an n x 1 or 1 x n matrix of finite numbers, like decimals.
func (j *job) decimalVector(name string) (*halfulp.Vector, []*big.Rat, error) {
	m, units, err := j.decimals(name, false)
	if err != nil {
		return nil, nil, err
	}
	x, err := asVector(name, m)
	if err != nil {
		return nil, nil, err
	}
	return x, units, checkFinite(name, m)
}

// fitResult is a fit for programs. Numbers are strings, because JSON readers round numbers to
// float64.
type fitResult struct {
	Command      string           `json:"command"`
	Format       string           `json:"format"`
	Observations int              `json:"observations"`
	Freedom      int              `json:"degrees_of_freedom"`
	Centered     bool             `json:"centered"` // total sums of squares are about the mean
	Confidence   string           `json:"confidence,omitempty"`
	Names        []string         `json:"names"` // of the estimates
	Responses    []responseResult `json:"responses"`
	Stats        *runStats        `json:"stats"`
}

type responseResult struct {
	Name           string     `json:"name"`
	Estimates      []string   `json:"estimates"`
	StandardErrors []string   `json:"standard_errors"`
	Lower          []string   `json:"lower,omitempty"` // limits of confidence intervals
	Upper          []string   `json:"upper,omitempty"`
	Covariance     [][]string `json:"covariance,omitempty"`
	ResidualSS     string     `json:"residual_ss"`
	ResidualMS     string     `json:"residual_ms"`
	ResidualSD     string     `json:"residual_sd"`
	RegressionSS   string     `json:"regression_ss"`
	RSquared       string     `json:"r_squared"`
	F              string     `json:"f"`
	T              []string   `json:"t,omitempty"`
	P              []string   `json:"p_values,omitempty"`
	FP             string     `json:"f_p_value,omitempty"`
}

// writeFit writes a table for each response, with names of estimates and responses; level is the
// confidence level as it was given. tests is nil if they are not requested.
func (j *job) writeFit(fit *linsolve.Fit, level string, estimates, responses []string) error {
	j.report(j.solver)
	if fit.DegreesOfFreedom == 0 && !j.print.Quiet {
		fmt.Fprintf(j.env.Stderr, "halfulp: note: as many estimates as observations: no degrees of freedom are left, and standard errors are nan\n")
	}
	if fit.Undecided > 0 {
		fmt.Fprintf(j.env.Stderr, "halfulp: warning: limits of confidence intervals that lie halfway between two numbers, or seem to, rounded to one of the two: %d\n", fit.Undecided)
	}
	r := fitResult{
		Command: j.command, Format: j.format.String(), Observations: fit.Observations, Freedom: fit.DegreesOfFreedom,
		Centered: fit.Centered, Confidence: level, Names: estimates, Stats: j.resultStats(j.solver),
	}
	n := fit.X.Rows()
	for k, of := range fit.Responses {
		z := responseResult{
			Name:      responses[k],
			Estimates: make([]string, n), StandardErrors: make([]string, n),
			ResidualSS: j.text(of.ResidualSS), ResidualMS: j.text(of.ResidualMS), ResidualSD: j.text(of.ResidualSD),
			RegressionSS: j.text(of.RegressionSS), RSquared: j.text(of.RSquared), F: j.text(of.F),
		}
		for i := range n {
			z.Estimates[i], z.StandardErrors[i] = j.text(fit.X.At(i, k)), j.text(fit.StandardErrors.At(i, k))
			if fit.Lower != nil {
				z.Lower, z.Upper = append(z.Lower, j.text(fit.Lower.At(i, k))), append(z.Upper, j.text(fit.Upper.At(i, k)))
			}
			if fit.Covariances != nil {
				row := make([]string, n)
				for l := range row {
					row[l] = j.text(fit.Covariances[k].At(i, l))
				}
				z.Covariance = append(z.Covariance, row)
			}
		}
		if fit.T != nil {
			for i := range n {
				z.T, z.P = append(z.T, j.text(fit.T.At(i, k))), append(z.P, j.text(fit.P.At(i, k)))
			}
			z.FP = j.text(of.FP)
		}
		r.Responses = append(r.Responses, z)
	}
	if j.print.JSON {
		return j.writeText(jsonText(r))
	}
	var b strings.Builder
	for k, z := range r.Responses {
		if len(r.Responses) > 1 {
			fmt.Fprintf(&b, "%s\n", z.Name)
		}
		b.WriteString("\testimate\tstandard error")
		if z.Lower != nil {
			fmt.Fprintf(&b, "\tlower %s\tupper %s", level, level)
		}
		if fit.T != nil {
			b.WriteString("\tt\tp-value")
		}
		b.WriteByte('\n')
		for i := range n {
			fmt.Fprintf(&b, "%s\t%s\t%s", estimates[i], z.Estimates[i], z.StandardErrors[i])
			if z.Lower != nil {
				fmt.Fprintf(&b, "\t%s\t%s", z.Lower[i], z.Upper[i])
			}
			if fit.T != nil {
				fmt.Fprintf(&b, "\t%s\t%s", z.T[i], z.P[i])
			}
			b.WriteByte('\n')
		}
		b.WriteByte('\n')
		for i, row := range z.Covariance {
			if i == 0 {
				b.WriteString("covariance\n")
			}
			fmt.Fprintf(&b, "%s\n", strings.Join(row, "\t"))
		}
		if z.Covariance != nil {
			b.WriteByte('\n')
		}
		for _, row := range [][2]string{
			{"observations", fmt.Sprint(r.Observations)}, {"degrees of freedom", fmt.Sprint(r.Freedom)},
			{"residual sd", z.ResidualSD}, {"residual SS", z.ResidualSS}, {"residual MS", z.ResidualMS},
			{"regression SS", z.RegressionSS}, {"R-squared", z.RSquared}, {"F", z.F},
		} {
			fmt.Fprintf(&b, "%s\t%s\n", row[0], row[1])
		}
		if fit.T != nil {
			fmt.Fprintf(&b, "p-value of F\t%s\n", z.FP)
		}
		if k+1 < len(r.Responses) {
			b.WriteByte('\n')
		}
	}
	return j.writeTable(b.String())
}
