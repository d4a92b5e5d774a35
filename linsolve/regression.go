package linsolve

import (
	"errors"
	"math/big"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/interval"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/proof/ziv"
	"github.com/halfulp/halfulp/linsolve/internal/solve"
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

// errUnit is wrapped by errors about units that are 0, or below for weights.
var errUnit = errors.New("units are not 0, and those of weights positive")

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
func Regression(a, b *halfulp.Matrix, f halfulp.Format, opt *RegressionOptions) (*Fit, Stats, error) {
	if a.Rows() != b.Rows() || a.Rows() < a.Cols() || opt != nil && opt.ColumnUnits != nil && len(opt.ColumnUnits) != a.Cols() {
		panic(errShape)
	}
	return fitted("Regression", a, b, f, opt)
}

// fitted is Regression for a routine of some name.
func fitted(name string, a, b *halfulp.Matrix, f halfulp.Format, opt *RegressionOptions) (*Fit, Stats, error) {
	if opt == nil {
		opt = &RegressionOptions{}
	}
	s, err := start(name, opt.options(), opt.operands(a, b)...)
	if err != nil {
		return nil, Stats{}, err
	}
	m, err := newModel(s, a.View(), b.View(), opt.weights(a))
	if err != nil {
		return nil, Stats{}, wrapped(name, err)
	}
	r := newRegressor(m, f.View(), opt.Covariance)
	r.units(opt.Unit, opt.WeightUnit, opt.ColumnUnits)
	if err := r.fit(m.equations); err != nil {
		return nil, result(s), wrapped(name, err)
	}
	s.Stage("statistics")
	s.Finished()
	return newFit(&r.estimates), result(s), nil
}

// newFit returns estimates with this package's types.
func newFit(e *estimates) *Fit {
	z := &Fit{
		Observations: e.observations, DegreesOfFreedom: e.degreesOfFreedom, Centered: e.centered,
		X: halfulp.MatrixOf(e.x), StandardErrors: halfulp.MatrixOf(e.standardErrors),
	}
	for _, c := range e.covariances {
		z.Covariances = append(z.Covariances, halfulp.MatrixOf(c))
	}
	for _, y := range e.responses {
		of := halfulp.ScalarOf
		z.Responses = append(z.Responses, Response{of(y.residualSS), of(y.residualMS), of(y.residualSD), of(y.regressionSS), of(y.rSquared), of(y.f)})
	}
	return z
}

// estimates are a Fit.
type estimates struct {
	observations, degreesOfFreedom int
	centered                       bool
	x, standardErrors              num.Mat
	covariances                    []num.Mat
	responses                      []response
}

// response is a Response.
type response struct {
	residualSS, residualMS, residualSD, regressionSS, rSquared, f num.Scalar
}

// equationsShare is the share of the work that goes to equations, about.
const equationsShare = 0.2

// regressor is one call of Regression.
type regressor struct {
	*model
	estimates
	f          num.Format
	covariance bool // whether covariances are asked for
	// what one of the numbers of B, of the weights, and of the columns of A stands for
	unit, weight *big.Rat
	columns      []*big.Rat
	e            *equations
	// For each column of B: what the residual sums of squares lack, and TSS = q/s0.
	totals, q []*big.Float
	s0        *big.Float
}

func newRegressor(m *model, f num.Format, covariance bool) *regressor {
	r := &regressor{model: m, f: f, covariance: covariance}
	r.units(nil, nil, nil)
	return r
}

// units sets the units of the numbers of B, of the weights and of the columns of A, nil for 1.
func (r *regressor) units(unit, weight *big.Rat, columns []*big.Rat) {
	one := big.NewRat(1, 1)
	if r.unit = unit; unit == nil {
		r.unit = one
	}
	if r.weight = weight; weight == nil {
		r.weight = one
	}
	if r.columns = columns; columns == nil {
		for range r.a.Cols {
			r.columns = append(r.columns, one)
		}
	}
}

// fit computes everything by some equations.
func (r *regressor) fit(equations func() (*equations, error)) error {
	if err := r.tall(); err != nil {
		return err
	}
	n, k := r.a.Cols, r.b.Cols
	for _, u := range append([]*big.Rat{r.unit}, r.columns...) {
		if u.Sign() == 0 || r.weight.Sign() <= 0 {
			return errUnit
		}
	}
	r.observations, r.degreesOfFreedom = r.a.Rows, r.a.Rows-n
	r.centered = r.intercept()
	var err error
	whole := r.s.Work
	r.s.Part(whole, 0, equationsShare)
	r.e, err = equations()
	r.s.Work = whole
	if err != nil {
		return err
	}
	if err := r.sums(); err != nil {
		return err
	}
	r.s.Stage("equations")

	r.x, r.standardErrors = num.NewMat(r.f, n, k), num.NewMat(r.f, n, k)
	r.responses = make([]response, k)
	open := make([][]*statistic, k)
	for j := range open {
		if r.covariance {
			r.covariances = append(r.covariances, num.NewMat(r.f, n, n))
		}
		open[j] = r.statistics(j)
	}
	return r.decide(open)
}

// intercept reports whether a column is constant and not 0.
func (r *regressor) intercept() bool {
	for j := range r.a.Cols {
		i := 0
		for i < r.a.Rows && r.a.Big(i, j).Cmp(r.a.Big(0, j)) == 0 {
			i++
		}
		if i > 0 && i == r.a.Rows && r.a.Big(0, j).Sign() != 0 {
			return true
		}
	}
	return false
}

// sums computes exact sums over the rows: those of squares, and total sums of squares.
func (r *regressor) sums() error {
	rows := r.a.Rows
	r.s0 = big.NewFloat(1)
	if r.centered {
		r.s0 = new(big.Float).SetInt64(int64(rows))
		if r.w.Arr != nil {
			r.s0 = new(big.Float)
			for i := range rows {
				r.s0 = interval.ExactAdd(r.s0, r.w.Big(i, 0))
			}
		}
	}
	for j := range r.b.Cols {
		squares, err := exactProduct(r.s, r.b.Slice(0, rows, j, j+1), r.wb.Slice(0, rows, j, j+1))
		if err != nil {
			return err
		}
		total := squares.Big(0, 0)
		q := total
		if r.centered {
			s1 := new(big.Float)
			for i := range rows {
				s1 = interval.ExactAdd(s1, r.wb.Big(i, j))
			}
			q = interval.ExactSub(interval.ExactMul(total, r.s0), interval.ExactMul(s1, s1))
		}
		r.q = append(r.q, q)
		if !r.e.total {
			total = new(big.Float)
		}
		r.totals = append(r.totals, total)
	}
	return nil
}

// statistic is a function of a product of numbers that least squares make.
type statistic struct {
	product
	// value returns the interval of the statistic's values for an interval of the product.
	value func(p interval.Prec, v interval.Interval) interval.Interval
	// equation returns k and c: product · k = c if and only if the statistic is t.
	equation func(t *big.Float) (k, c *big.Float)
	store    func(z num.Scalar)
	never    *big.Float // what the statistic is not
}

// linear returns the statistic product · scale, or its root.
func linear(p product, scale *big.Rat, root bool, store func(z num.Scalar)) *statistic {
	num, den := ziv.ExactInt(scale.Num()), ziv.ExactInt(scale.Denom())
	return &statistic{
		product: p,
		value: func(p interval.Prec, v interval.Interval) interval.Interval {
			v = p.Quo(p.Mul(v, interval.Of(num)), interval.Of(den))
			if root {
				v = p.Sqrt(v)
			}
			return v
		},
		equation: func(t *big.Float) (k, c *big.Float) {
			if root {
				t = interval.ExactMul(t, t)
			}
			return num, interval.ExactMul(t, den)
		},
		store: store,
	}
}

// statistics returns the statistics of column j of B, and stores those that are no numbers.
func (r *regressor) statistics(j int) []*statistic {
	unit, weight, units := r.unit, r.weight, r.columns
	n, dof := r.a.Cols, r.degreesOfFreedom
	s0, q := r.s0, r.q[j]
	of := &r.responses[j]
	put := func(z *num.Scalar) func(num.Scalar) {
		*z = num.NaNOf(r.f)
		return func(v num.Scalar) { *z = v }
	}
	entry := func(m num.Mat, i, j int) func(num.Scalar) {
		m.SetEntry(i, j, num.NaNOf(r.f))
		return func(v num.Scalar) { m.SetEntry(i, j, v) }
	}
	rat := func() *big.Rat { return new(big.Rat) }
	var z []*statistic
	for i, u := range units {
		x := product{u: [2]int{-1, -1}, x: i}
		z = append(z, linear(x, rat().Quo(unit, u), false, entry(r.x, i, j)))
	}
	square := rat().Mul(unit, unit)
	square.Mul(square, weight)
	residual := product{r: true, u: [2]int{-1, -1}, x: -1}
	z = append(z, linear(residual, square, false, put(&of.residualSS)))

	// (q/s0 - r) num/den
	num, den := ziv.ExactInt(square.Num()), ziv.ExactInt(square.Denom())
	tss := func(p interval.Prec) interval.Interval { return p.Quo(interval.Of(q), interval.Of(s0)) }
	z = append(z, &statistic{
		product: residual,
		value: func(p interval.Prec, v interval.Interval) interval.Interval {
			return p.Quo(p.Mul(p.Sub(tss(p), v), interval.Of(num)), interval.Of(den))
		},
		equation: func(t *big.Float) (k, c *big.Float) {
			return interval.ExactMul(s0, num), interval.ExactSub(interval.ExactMul(q, num), interval.ExactMul(interval.ExactMul(t, den), s0))
		},
		store: put(&of.regressionSS),
	})
	squared := put(&of.rSquared)
	if q.Sign() != 0 {
		z = append(z, &statistic{
			product: residual,
			value: func(p interval.Prec, v interval.Interval) interval.Interval {
				return p.Sub(interval.OfInt(1), p.Quo(v, tss(p)))
			},
			equation: func(t *big.Float) (k, c *big.Float) {
				return s0, interval.ExactMul(q, interval.ExactSub(big.NewFloat(1), t))
			},
			store: squared,
		})
	}

	ms, sd, f := put(&of.residualMS), put(&of.residualSD), put(&of.f)
	for i := range n {
		entry(r.standardErrors, i, j)
	}
	if r.covariances != nil {
		for i := range n {
			for l := range n {
				entry(r.covariances[j], i, l)
			}
		}
	}
	if dof == 0 {
		return z
	}
	variance := rat().Quo(square, big.NewRat(int64(dof), 1))
	z = append(z, linear(residual, variance, false, ms), linear(residual, variance, true, sd))
	p := n
	if r.centered {
		p--
	}
	if p > 0 && q.Sign() != 0 {
		z = append(z, &statistic{
			product: residual,
			value: func(a interval.Prec, v interval.Interval) interval.Interval {
				if v.Hi.Sign() == 0 {
					inf := new(big.Float).SetInf(false)
					return interval.Interval{Lo: inf, Hi: inf}
				}
				ratio := a.Sub(a.Quo(tss(a), v), interval.OfInt(1))
				return a.Quo(a.Mul(ratio, interval.OfInt(dof)), interval.OfInt(p))
			},
			equation: func(t *big.Float) (k, c *big.Float) {
				d := new(big.Float).SetInt64(int64(dof))
				return interval.ExactMul(s0, interval.ExactAdd(d, interval.ExactMul(t, new(big.Float).SetInt64(int64(p))))), interval.ExactMul(d, q)
			},
			store: f,
		})
	}
	for i := range n {
		for l := range n {
			if i != l && r.covariances == nil {
				continue
			}
			u := product{r: true, u: [2]int{i, l}, x: -1}
			// u has the unit of weights inverted.
			scale := rat().Quo(variance, rat().Mul(units[i], units[l]))
			scale.Quo(scale, weight)
			if i == l {
				z = append(z, linear(u, scale, true, entry(r.standardErrors, i, j)))
			}
			if r.covariances != nil {
				z = append(z, linear(u, scale, false, entry(r.covariances[j], i, l)))
			}
		}
	}
	return z
}

// decide rounds statistics, those of each column of B, in more and more bits.
func (r *regressor) decide(open [][]*statistic) error {
	s, e := r.s, r.e
	n, order, k := r.a.Cols, r.e.m.Rows, len(open)
	whole := s.Work
	var approximate *seed.Approximate
	done := equationsShare
	share := func(by float64) { // of what is left
		s.Part(whole, done, done+float64((1-done)*by))
		done += float64((1 - done) * by)
	}
	if order > 0 {
		var err error
		share(0.2)
		if approximate, err = solve.ApproximateInverse(s, e.m); err != nil {
			return r.ranked(err)
		}
	}
	units := num.NewMat(num.Float64, order, n)
	for i := range n {
		units.SetFloat64(e.first+i, i, e.sign)
	}
	solve := func(d num.Mat, f num.Format) (num.Mat, error) {
		z := num.NewMat(f, order, d.Cols)
		if order == 0 || d.Cols == 0 {
			return z, s.Ctx.Err()
		}
		return z, solve.SolveBy(s, approximate, e.m, d, z)
	}
	left := k
	for bits := r.f.Bits() + 64; left > 0; bits *= 2 {
		f, err := ziv.FormatFor(int64(bits))
		if err != nil {
			return err
		}
		needs := func(of func(p product) bool) bool {
			for _, statistics := range open {
				for _, t := range statistics {
					if of(t.product) {
						return true
					}
				}
			}
			return false
		}
		var x, u num.Mat
		var residuals []*big.Float
		if needs(func(p product) bool { return p.x >= 0 }) {
			share(0.2)
			if x, err = solve(e.d, f); err != nil {
				return err
			}
		}
		if needs(func(p product) bool { return p.u[0] >= 0 }) {
			share(0.3)
			if u, err = solve(units, f); err != nil {
				return err
			}
		}
		if needs(func(p product) bool { return p.r }) {
			share(0.5)
			if residuals, err = r.residuals(f); err != nil {
				return err
			}
		}
		share(0.5)
		p := interval.Prec(bits + 64)
		around := func(v *big.Float) interval.Interval { return p.Around(v, bits) }
		left = 0
		for j := range open {
			value := func(t product) interval.Interval {
				v := interval.OfInt(1)
				if t.r {
					v = p.Mul(v, around(residuals[j]))
				}
				if t.u[0] >= 0 {
					v = p.Mul(v, around(u.Big(e.first+t.u[0], t.u[1])))
				}
				if t.x >= 0 {
					v = p.Mul(v, around(x.Big(e.first+t.x, j)))
				}
				return v
			}
			if open[j], err = r.round(j, open[j], p, value); err != nil {
				return err
			}
			if len(open[j]) > 0 {
				left++
			}
		}
	}
	s.Work = whole
	return nil
}

// round stores the statistics of column j that are decided, and returns the others.
func (r *regressor) round(j int, open []*statistic, p interval.Prec, value func(product) interval.Interval) ([]*statistic, error) {
	var left, suspects []*statistic
	var ties []*big.Float
	var products []product
	store := func(t *statistic, z num.Scalar, x, y *big.Float) {
		ziv.LeavesRange(r.s, z, x, y)
		t.store(z)
	}
	for _, t := range open {
		v := t.value(p, value(t.product))
		if v.Lo.IsInf() && v.Hi.IsInf() { // F for residuals of 0
			t.store(num.NewScalar(r.f, v.Lo))
			continue
		}
		if v.Lo.Sign() == 0 && v.Hi.Sign() == 0 {
			t.store(num.NewScalar(r.f, new(big.Float))) // no -0
			continue
		}
		lower, upper := num.NewScalar(r.f, v.Lo), num.NewScalar(r.f, v.Hi)
		if lower.Same(upper) {
			store(t, lower, v.Lo, v.Hi)
			continue
		}
		left = append(left, t)
		c, _ := ziv.Tie(lower, upper)
		if c == nil || t.never != nil && c.Cmp(t.never) == 0 {
			continue
		}
		t.k, t.c = t.equation(c)
		suspects, ties, products = append(suspects, t), append(ties, c), append(products, t.product)
	}
	if len(suspects) == 0 {
		return left, nil
	}
	holds, err := identities(r.s, r.e, j, r.totals[j], products)
	if err != nil {
		return nil, err
	}
	decided := map[*statistic]bool{}
	for i, t := range suspects {
		if !holds[i] {
			t.never = ties[i]
			continue
		}
		r.s.Stats.Exact++
		decided[t] = true
		store(t, num.NewScalar(r.f, ties[i]), ties[i], ties[i])
	}
	open, left = left, nil
	for _, t := range open {
		if !decided[t] {
			left = append(left, t)
		}
	}
	return left, nil
}

// residuals returns the residual sums of squares rounded to format f, those of some columns at a
// time from
//
//	(M   0) (Y)   (D)
//	(-Gᵀ I) (R) = (T), T the diagonal matrix of totals.
//
// A square A, of which it is known that it is regular, leaves none: a proof of the zero by that
// system, with numbers of twice as many bits, would take many times as long as all else.
func (r *regressor) residuals(f num.Format) ([]*big.Float, error) {
	e := r.e
	n, k := e.m.Rows, r.b.Cols
	if r.degreesOfFreedom == 0 {
		z := make([]*big.Float, k)
		for j := range z {
			z[j] = new(big.Float)
		}
		return z, r.s.Ctx.Err()
	}
	bits := max(bound.Longest(e.m), bound.Longest(e.d), bound.Longest(e.g))
	for _, t := range r.totals {
		bits = max(bits, int64(t.MinPrec()))
	}
	g, err := ziv.FormatFor(bits)
	if err != nil {
		return nil, err
	}
	var z []*big.Float
	whole := r.s.Work
	for first := 0; first < k; first += max(n, 1) {
		count := min(max(n, 1), k-first)
		m, d := num.NewMat(g, n+count, n+count), num.NewMat(g, n+count, count)
		for i := range n {
			for j := range n {
				m.SetBig(i, j, e.m.Big(i, j))
			}
			for j := range count {
				d.SetBig(i, j, e.d.Big(i, first+j))
				v := e.g.Big(i, first+j)
				m.SetBig(n+j, i, v.Neg(v))
			}
		}
		for j := range count {
			m.SetFloat64(n+j, n+j, 1)
			d.SetBig(n+j, j, r.totals[first+j])
		}
		r.s.Part(whole, float64(first)/float64(k), float64(first+count)/float64(k))
		y, err := solve.Solve(r.s, m, d, f)
		if err != nil {
			return nil, err
		}
		for j := range count {
			z = append(z, y.Big(n+j, j))
		}
	}
	return z, nil
}
