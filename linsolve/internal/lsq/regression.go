package lsq

import (
	"errors"
	"fmt"
	"math/big"
	"slices"

	"github.com/halfulp/halfulp/internal/bigfun"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/interval"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/proof/ziv"
	"github.com/halfulp/halfulp/linsolve/internal/solve"
)

// ErrUnit is wrapped by errors about units that are 0, and about units of weights that are not
// positive.
var ErrUnit = errors.New("units must not be 0, and units of weights must be positive")

// ErrConfidence is wrapped by errors about confidence levels that are not between 0 and 1.
var ErrConfidence = errors.New("confidence levels lie between 0 and 1")

// Estimates has the fields of Fit in package linsolve.
type Estimates struct {
	Observations, DegreesOfFreedom int
	Centered                       bool
	X, StandardErrors              num.Mat
	Lower, Upper                   num.Mat // without entries if not requested
	Undecided                      int
	Covariances                    []num.Mat
	Responses                      []response
}

// response has the fields of Response in package linsolve.
type response struct {
	ResidualSS, ResidualMS, ResidualSD, RegressionSS, RSquared, F num.Scalar
}

// equationsShare is about the share of the work that the equations take.
const equationsShare = 0.2

// Regressor is the state of one call of Regression.
type Regressor struct {
	*Model
	Estimates
	f          num.Format
	covariance bool // whether covariances are requested
	// tail is 1 minus the confidence level; nil if no confidence intervals are requested.
	tail *big.Rat
	// quantile encloses Student's t of the intervals, in quantileBits bits.
	quantile     interval.Interval
	quantileBits interval.Prec
	// units of the numbers of B, of the weights, and of the columns of A
	unit, weight *big.Rat
	columns      []*big.Rat
	e            *Equations
	// For each column of B: the total to add to g_jᵀ y_j (see Equations), and q with TSS = q/s0.
	totals, q []*big.Float
	s0        *big.Float
}

// NewRegressor returns a regression with all units 1.
func NewRegressor(m *Model, f num.Format, covariance bool) *Regressor {
	r := &Regressor{Model: m, f: f, covariance: covariance}
	r.Units(nil, nil, nil)
	return r
}

// Units sets the units of the numbers of B, of the weights and of the columns of A, nil for 1.
func (r *Regressor) Units(unit, weight *big.Rat, columns []*big.Rat) {
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

// Confidence requests confidence intervals of the given level, unless it is nil.
func (r *Regressor) Confidence(level *big.Rat) error {
	if level == nil {
		return nil
	}
	r.tail = new(big.Rat).Sub(big.NewRat(1, 1), level)
	if level.Sign() <= 0 || r.tail.Sign() <= 0 {
		return ErrConfidence
	}
	return nil
}

// Fit computes all estimates and statistics by the system that equations returns.
func (r *Regressor) Fit(equations func() (*Equations, error)) error {
	if err := r.tall(); err != nil {
		return err
	}
	n, k := r.a.Cols, r.b.Cols
	for _, u := range append([]*big.Rat{r.unit}, r.columns...) {
		if u.Sign() == 0 || r.weight.Sign() <= 0 {
			return ErrUnit
		}
	}
	r.Observations, r.DegreesOfFreedom = r.a.Rows, r.a.Rows-n
	if r.tail != nil && r.DegreesOfFreedom > 0 && r.studentT(64).Hi.IsInf() {
		return fmt.Errorf("%w: this one is too near 1", ErrConfidence)
	}
	r.Centered = r.intercept()
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

	r.X, r.StandardErrors = num.NewMat(r.f, n, k), num.NewMat(r.f, n, k)
	if r.tail != nil {
		r.Lower, r.Upper = num.NewMat(r.f, n, k), num.NewMat(r.f, n, k)
	}
	r.Responses = make([]response, k)
	open := make([][]*statistic, k)
	for j := range open {
		if r.covariance {
			r.Covariances = append(r.Covariances, num.NewMat(r.f, n, n))
		}
		open[j] = r.statistics(j)
	}
	return r.decide(open)
}

// intercept reports whether a column is constant and not 0.
func (r *Regressor) intercept() bool {
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

// sums computes exact sums over the rows: sums of squares and total sums of squares.
func (r *Regressor) sums() error {
	rows := r.a.Rows
	r.s0 = big.NewFloat(1)
	if r.Centered {
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
		if r.Centered {
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

// statistic is a function of a product (see product).
type statistic struct {
	product
	// value encloses the statistic for an enclosure v of the product.
	value func(p interval.Prec, v interval.Interval) interval.Interval
	// equation returns k and c: product · k = c if and only if the statistic is t.
	equation func(t *big.Float) (k, c *big.Float)
	store    func(z num.Scalar)
	never    *big.Float // a tie that the statistic is proved not to equal
	// limit is not nil if the statistic is a limit of a confidence interval. It encloses the
	// statistic for an enclosure v of the product, the estimate, and an enclosure of spread, the
	// variance. Then value and equation belong to the estimate, which the limit equals if the
	// variance is 0.
	limit  func(p interval.Prec, v, variance interval.Interval) interval.Interval
	spread product
}

// uses reports whether the statistic needs a product with a property.
func (t *statistic) uses(of func(p product) bool) bool {
	return of(t.product) || t.limit != nil && of(t.spread)
}

// studentT encloses the number of standard errors between an estimate and the limits of its
// confidence interval.
func (r *Regressor) studentT(p interval.Prec) interval.Interval {
	if r.quantileBits != p {
		lower, upper := bigfun.TQuantile(r.tail, int64(r.DegreesOfFreedom), uint(p))
		r.quantile, r.quantileBits = interval.Interval{Lo: lower, Hi: upper}, p
	}
	return r.quantile
}

// limits returns the limits of the confidence interval of an estimate, given its statistic, its
// variance as a product, and the unit of that product.
func (r *Regressor) limits(estimate *statistic, variance product, scale *big.Rat, lower, upper func(num.Scalar)) []*statistic {
	of := linear(variance, scale, true, nil)
	limit := func(sign bool) func(p interval.Prec, v, variance interval.Interval) interval.Interval {
		return func(p interval.Prec, v, variance interval.Interval) interval.Interval {
			d := p.Mul(r.studentT(p), of.value(p, variance))
			if sign {
				d = interval.Interval{Lo: new(big.Float).Neg(d.Hi), Hi: new(big.Float).Neg(d.Lo)}
			}
			return p.Sub(estimate.value(p, v), d)
		}
	}
	low, high := *estimate, *estimate
	low.spread, low.limit, low.store = variance, limit(false), lower
	high.spread, high.limit, high.store = variance, limit(true), upper
	return []*statistic{&low, &high}
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

// statistics returns the statistics of column j of B that must be computed, and stores NaN for all.
func (r *Regressor) statistics(j int) []*statistic {
	unit, weight, units := r.unit, r.weight, r.columns
	n, dof := r.a.Cols, r.DegreesOfFreedom
	s0, q := r.s0, r.q[j]
	of := &r.Responses[j]
	put := func(z *num.Scalar) func(num.Scalar) {
		*z = num.NaNOf(r.f)
		return func(v num.Scalar) { *z = v }
	}
	entry := func(m num.Mat, i, j int) func(num.Scalar) {
		m.SetEntry(i, j, num.NaNOf(r.f))
		return func(v num.Scalar) { m.SetEntry(i, j, v) }
	}
	rat := func() *big.Rat { return new(big.Rat) }
	var z, estimates []*statistic
	for i, u := range units {
		x := product{u: [2]int{-1, -1}, x: i}
		estimates = append(estimates, linear(x, rat().Quo(unit, u), false, entry(r.X, i, j)))
	}
	z = append(z, estimates...)
	square := rat().Mul(unit, unit)
	square.Mul(square, weight)
	residual := product{r: true, u: [2]int{-1, -1}, x: -1}
	z = append(z, linear(residual, square, false, put(&of.ResidualSS)))

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
		store: put(&of.RegressionSS),
	})
	squared := put(&of.RSquared)
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

	ms, sd, f := put(&of.ResidualMS), put(&of.ResidualSD), put(&of.F)
	for i := range n {
		entry(r.StandardErrors, i, j)
		if r.tail != nil {
			entry(r.Lower, i, j)
			entry(r.Upper, i, j)
		}
	}
	if r.Covariances != nil {
		for i := range n {
			for l := range n {
				entry(r.Covariances[j], i, l)
			}
		}
	}
	if dof == 0 {
		return z
	}
	variance := rat().Quo(square, big.NewRat(int64(dof), 1))
	z = append(z, linear(residual, variance, false, ms), linear(residual, variance, true, sd))
	p := n
	if r.Centered {
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
			if i != l && r.Covariances == nil {
				continue
			}
			u := product{r: true, u: [2]int{i, l}, x: -1}
			// The unit of u is the inverse of the unit of the weights.
			scale := rat().Quo(variance, rat().Mul(units[i], units[l]))
			scale.Quo(scale, weight)
			if i == l {
				z = append(z, linear(u, scale, true, entry(r.StandardErrors, i, j)))
				if r.tail != nil {
					z = append(z, r.limits(estimates[i], u, scale, entry(r.Lower, i, j), entry(r.Upper, i, j))...)
				}
			}
			if r.Covariances != nil {
				z = append(z, linear(u, scale, false, entry(r.Covariances[j], i, l)))
			}
		}
	}
	return z
}

// decide rounds the open statistics of all columns of B, in more and more bits.
func (r *Regressor) decide(open [][]*statistic) error {
	s, e := r.s, r.e
	n, order := r.a.Cols, r.e.m.Rows
	whole := s.Work
	var approximate *seed.Approximate
	done := equationsShare
	share := func(by float64) { // of the remaining work
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
		units.SetFloat64(e.First+i, i, e.sign)
	}
	solve := func(d num.Mat, f num.Format) (num.Mat, error) {
		z := num.NewMat(f, order, d.Cols)
		if order == 0 || d.Cols == 0 {
			return z, s.Ctx.Err()
		}
		return z, solve.With(s, approximate, e.m, d, z)
	}
	first := r.f.Bits() + 64
	err := ziv.Decide(s, ziv.Loop{What: "statistics", First: first}, func(bits int) (missing int, err error) {
		f := num.Precision(uint(bits))
		needs := func(of func(p product) bool) bool {
			for _, statistics := range open {
				if slices.ContainsFunc(statistics, func(t *statistic) bool { return t.uses(of) }) {
					return true
				}
			}
			return false
		}
		var x, u num.Mat
		var residuals []*big.Float
		if needs(func(p product) bool { return p.x >= 0 }) {
			share(0.2)
			if x, err = solve(e.d, f); err != nil {
				return 0, err
			}
		}
		if needs(func(p product) bool { return p.u[0] >= 0 }) {
			share(0.3)
			if u, err = solve(units, f); err != nil {
				return 0, err
			}
		}
		if needs(func(p product) bool { return p.r }) {
			share(0.5)
			if residuals, err = r.residuals(f); err != nil {
				return 0, err
			}
		}
		share(0.5)
		p := interval.Prec(bits + 64)
		around := func(v *big.Float) interval.Interval { return p.Around(v, bits) }
		missing = ziv.Done
		for j := range open {
			value := func(t product) interval.Interval {
				v := interval.OfInt(1)
				if t.r {
					v = p.Mul(v, around(residuals[j]))
				}
				if t.u[0] >= 0 {
					v = p.Mul(v, around(u.Big(e.First+t.u[0], t.u[1])))
				}
				if t.x >= 0 {
					v = p.Mul(v, around(x.Big(e.First+t.x, j)))
				}
				return v
			}
			if open[j], err = r.round(j, open[j], p, value); err != nil {
				return 0, err
			}
			if bits >= limitShare*first {
				open[j] = r.settleLimits(open[j], p, value)
			}
			if len(open[j]) > 0 {
				missing = ziv.Double
			}
		}
		return missing, nil
	})
	s.Work = whole
	return err
}

// limitShare is the number of bits of the last attempt to round a limit of a confidence interval,
// relative to the first attempt. No proof decides a limit that is halfway between two numbers.
const limitShare = 8

// settleLimits stores the limits of confidence intervals among the open statistics, as the middles
// of their enclosures, or 0 if the enclosure contains 0. It returns the other statistics.
func (r *Regressor) settleLimits(open []*statistic, p interval.Prec, value func(product) interval.Interval) []*statistic {
	return slices.DeleteFunc(open, func(t *statistic) bool {
		if t.limit == nil {
			return false
		}
		v := t.limit(p, value(t.product), value(t.spread))
		middle := new(big.Float)
		if !v.HasZero() {
			middle.SetPrec(uint(p)).Add(v.Lo, v.Hi)
			middle.SetMantExp(middle, -1)
		}
		z := num.NewScalar(r.f, middle)
		ziv.LeavesRange(r.s, z, v.Lo, v.Hi)
		t.store(z)
		r.Undecided++
		return true
	})
}

// round stores the decided statistics of column j and returns the others.
func (r *Regressor) round(j int, open []*statistic, p interval.Prec, value func(product) interval.Interval) ([]*statistic, error) {
	var left, suspects []*statistic
	var ties []*big.Float
	var products []product
	store := func(t *statistic, z num.Scalar, x, y *big.Float) {
		ziv.LeavesRange(r.s, z, x, y)
		t.store(z)
	}
	for _, t := range open {
		product := value(t.product)
		v := t.value(p, product)
		if t.limit != nil {
			if variance := value(t.spread); variance.IsZero() {
				t.limit = nil
			} else {
				v = t.limit(p, product, variance)
			}
		}
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
		if c == nil || t.limit != nil || t.never != nil && c.Cmp(t.never) == 0 {
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

// residuals returns the residual sums of squares rounded to format f. For some columns at a time
// they are the diagonal of R in
//
//	(M   0) (Y)   (D)
//	(-Gᵀ I) (R) = (T), T the diagonal matrix of totals.
//
// A square A is known to be regular, so its residuals are 0. Proving that zero by this system, with
// numbers of twice as many bits, would take many times as long as everything else.
func (r *Regressor) residuals(f num.Format) ([]*big.Float, error) {
	e := r.e
	n, k := e.m.Rows, r.b.Cols
	if r.DegreesOfFreedom == 0 {
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
