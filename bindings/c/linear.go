package main

import (
	"math/big"
	"strings"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/eigen"
	"github.com/halfulp/halfulp/linsolve"
)

func logDet(a *halfulp.Matrix, f halfulp.Format, opt *halfulp.Options) (int, halfulp.Scalar, error) {
	needSquare(a)
	log, sign, err := linsolve.LogDet(a, f, opt)
	return sign, log, err
}

func det(a *halfulp.Matrix, f halfulp.Format, opt *halfulp.Options) (halfulp.Scalar, error) {
	needSquare(a)
	return linsolve.Det(a, f, opt)
}

// matrixNorm returns a norm of a matrix, rounded once: '1' is the 1-norm, 'I' the maximum norm, 'F'
// the Frobenius norm, 'M' the largest magnitude of an entry, and '2' the largest singular value.
// Rounding is monotonic, so the largest rounded column sum is the largest column sum, rounded.
func matrixNorm(which byte, a *halfulp.Matrix, f halfulp.Format, opt *halfulp.Options) (halfulp.Scalar, error) {
	if which == '2' {
		return eigen.Norm2(a, f, opt)
	}
	if a.Device() != halfulp.CPU && which != '1' && which != 'O' && which != 'I' {
		h, err := a.Host() // its entries may not lie at equal distances
		if err != nil {
			return halfulp.Scalar{}, err
		}
		a = h
	}
	switch which {
	case 'F':
		return halfulp.Nrm2(a.Vec(), f, opt)
	case 'I':
		a = a.T()
	case 'M':
		x := a.Vec()
		i, err := halfulp.Iamax(x, opt)
		if err != nil || i < 0 {
			return zero.Convert(f), err
		}
		return x.At(i).Abs().Convert(f), nil
	}
	largest := zero.Convert(f)
	for j := range a.Cols() {
		s, err := halfulp.Asum(a.Col(j), f, opt)
		if err != nil {
			return s, err
		}
		if s.IsNaN() {
			return s, nil
		}
		if s.Cmp(largest) > 0 {
			largest = s
		}
	}
	return largest, nil
}

func power(a *halfulp.Matrix, exponent int, f halfulp.Format, opt *halfulp.Options) (*halfulp.Matrix, error) {
	needSquare(a)
	if exponent < 0 {
		panic(misuse("argument exponent: %d; at least 0 is needed", exponent))
	}
	if err := checkMemory(f, a.Rows(), a.Cols()); err != nil {
		return nil, err
	}
	return linsolve.Pow(a, exponent, f, opt)
}

func expm(a *halfulp.Matrix, f halfulp.Format, opt *halfulp.Options) (*halfulp.Matrix, error) {
	needSquare(a)
	if err := checkMemory(f, a.Rows(), a.Cols()); err != nil {
		return nil, err
	}
	return linsolve.Expm(a, f, opt)
}

// orDefaults returns *opt, or the default options if opt is nil.
func orDefaults(opt *halfulp.Options) halfulp.Options {
	if opt == nil {
		return halfulp.Options{}
	}
	return *opt
}

// checkWeights panics unless w is nil or has one weight for each row.
func checkWeights(rows int, w *halfulp.Vector) {
	if w != nil && w.Len() != rows {
		panic(misuse("there are %d weights for %d rows", w.Len(), rows))
	}
}

// parsedUnit parses a unit, such as 1/1000 or 0.001. It returns nil for an empty text, and panics
// for a text that is not a number; arg names the argument.
func parsedUnit(arg, text string) *big.Rat {
	if text == "" {
		return nil
	}
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		panic(misuse("argument %s: %q; a number such as 1/1000 or 0.001 is needed", arg, text))
	}
	return r
}

// units are the units of a regression, as texts: of the numbers (unit), of each column (columns,
// separated by commas), and of the weights.
type units struct{ unit, columns, weights string }

func (u units) options(w *halfulp.Vector, columns int, covariance, pValues bool, confidence string, opt *halfulp.Options) *linsolve.RegressionOptions {
	o := &linsolve.RegressionOptions{
		LeastSquaresOptions: linsolve.LeastSquaresOptions{Options: orDefaults(opt), Weights: w},
		Covariance:          covariance,
		PValues:             pValues,
		Confidence:          parsedUnit("confidence", confidence),
		Unit:                parsedUnit("unit", u.unit),
		WeightUnit:          parsedUnit("weight_unit", u.weights),
	}
	if u.columns == "" {
		return o
	}
	for text := range strings.SplitSeq(u.columns, ",") {
		o.ColumnUnits = append(o.ColumnUnits, parsedUnit("column_units", strings.TrimSpace(text)))
	}
	if len(o.ColumnUnits) != columns {
		panic(misuse("argument column_units: there are %d for %d columns", len(o.ColumnUnits), columns))
	}
	return o
}

func regression(a, b *halfulp.Matrix, w *halfulp.Vector, u units, covariance, pValues bool, confidence string, f halfulp.Format, opt *halfulp.Options) (*record, error) {
	if a.Rows() != b.Rows() || a.Rows() < a.Cols() {
		panic(misuse("a is %d x %d, b is %d x %d: they need as many rows, and at least as many as a has columns", a.Rows(), a.Cols(), b.Rows(), b.Cols()))
	}
	checkWeights(a.Rows(), w)
	return fit(linsolve.Regression(a, b, f, u.options(w, a.Cols(), covariance, pValues, confidence, opt)))
}

func polyfit(x, y *halfulp.Vector, degree int, w *halfulp.Vector, u units, covariance, pValues bool, confidence string, f halfulp.Format, opt *halfulp.Options) (*record, error) {
	if degree < 0 || x.Len() != y.Len() || x.Len() <= degree {
		panic(misuse("%d and %d numbers for the degree %d: as many x as y, and more of them than the degree, are needed", x.Len(), y.Len(), degree))
	}
	checkWeights(x.Len(), w)
	return fit(linsolve.PolyFit(x, y, degree, f, u.options(w, 1, covariance, pValues, confidence, opt)))
}

// fit returns the record of a fit. Each statistic is a row with one entry for each column of B.
func fit(z *linsolve.Fit, err error) (*record, error) {
	if err != nil {
		return nil, err
	}
	r := &record{}
	r.add("observations", z.Observations)
	r.add("degrees_of_freedom", z.DegreesOfFreedom)
	centered := 0
	if z.Centered {
		centered = 1
	}
	r.add("centered", centered)
	r.add("X", z.X)
	r.add("standard_errors", z.StandardErrors)
	if z.Lower != nil {
		r.add("lower", z.Lower)
		r.add("upper", z.Upper)
		r.add("undecided", z.Undecided)
	}
	if z.T != nil {
		r.add("t", z.T)
		r.add("p", z.P)
		r.add("undecided_tests", z.UndecidedTests)
	}
	for i, c := range z.Covariances {
		r.add("covariance_"+big.NewInt(int64(i)).String(), c)
	}
	type statistic struct {
		name string
		of   func(*linsolve.Response) halfulp.Scalar
	}
	statistics := []statistic{
		{"residual_ss", func(p *linsolve.Response) halfulp.Scalar { return p.ResidualSS }},
		{"residual_ms", func(p *linsolve.Response) halfulp.Scalar { return p.ResidualMS }},
		{"residual_sd", func(p *linsolve.Response) halfulp.Scalar { return p.ResidualSD }},
		{"regression_ss", func(p *linsolve.Response) halfulp.Scalar { return p.RegressionSS }},
		{"r_squared", func(p *linsolve.Response) halfulp.Scalar { return p.RSquared }},
		{"f", func(p *linsolve.Response) halfulp.Scalar { return p.F }},
	}
	if z.T != nil {
		statistics = append(statistics, statistic{"f_p", func(p *linsolve.Response) halfulp.Scalar { return p.FP }})
	}
	for _, s := range statistics {
		m := halfulp.NewMatrix(z.X.NumberFormat(), 1, len(z.Responses))
		for j := range z.Responses {
			m.Set(0, j, s.of(&z.Responses[j]))
		}
		r.add(s.name, m)
	}
	return r, nil
}

func checkSystem(a, b *halfulp.Matrix, steps int) {
	needSquare(a)
	if a.Rows() != b.Rows() || steps < 0 {
		panic(misuse("a is %d x %d, b is %d x %d, and %d steps: a and b need as many rows, steps are at least 0", a.Rows(), a.Cols(), b.Rows(), b.Cols(), steps))
	}
}

func enclose(a, b *halfulp.Matrix, steps int, f halfulp.Format, opt *halfulp.Options) (lower, upper *halfulp.Matrix, err error) {
	checkSystem(a, b, steps)
	if err := checkMemory(f, a.Cols(), 2*b.Cols()); err != nil {
		return nil, nil, err
	}
	return linsolve.Enclose(a, b, steps, f, opt)
}

func encloseSet(a, da, b, db *halfulp.Matrix, steps int, f halfulp.Format, opt *halfulp.Options) (lower, upper *halfulp.Matrix, err error) {
	checkSystem(a, b, steps)
	for _, m := range [][2]*halfulp.Matrix{{a, da}, {b, db}} {
		if m[1] != nil && (m[0].Rows() != m[1].Rows() || m[0].Cols() != m[1].Cols()) {
			panic(misuse("the radii of %d x %d numbers are %d x %d", m[0].Rows(), m[0].Cols(), m[1].Rows(), m[1].Cols()))
		}
	}
	if err := checkMemory(f, a.Cols(), 2*b.Cols()); err != nil {
		return nil, nil, err
	}
	return linsolve.EncloseSet(a, da, b, db, steps, f, opt)
}

func rotm(x, y *halfulp.Vector, flag int, h11, h21, h12, h22 halfulp.Scalar, opt *halfulp.Options) error {
	return halfulp.Rotm(x, y, halfulp.RotmParams{Flag: halfulp.RotmFlag(flag), H11: h11, H21: h21, H12: h12, H22: h22}, opt)
}

func trace(a *halfulp.Matrix, f halfulp.Format, opt *halfulp.Options) (halfulp.Scalar, error) {
	needSquare(a)
	return halfulp.Trace(a, f, opt)
}

// cumSum returns the prefix sums of a vector, n x 1 or 1 x n, in the shape of the vector.
func cumSum(m *halfulp.Matrix, f halfulp.Format, opt *halfulp.Options) (*halfulp.Matrix, error) {
	if m.Cols() != 1 && m.Rows() != 1 {
		panic(misuse("the matrix is %d x %d; a vector is n x 1 or 1 x n", m.Rows(), m.Cols()))
	}
	z, err := result(f, m.Rows(), m.Cols(), m)
	if err != nil {
		return nil, err
	}
	x, y := m, z
	if m.Cols() != 1 {
		x, y = m.T(), z.T()
	}
	err = halfulp.CumSum(x.Col(0), y.Col(0), opt)
	return z, err
}
