package linsolve

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
	"github.com/halfulp/halfulp/linsolve/internal/lsq"
)

// rationalFit holds the statistics of one response in rationals.
type rationalFit struct {
	x                                []*big.Rat
	covariance                       [][]*big.Rat // nil for no degrees of freedom
	ss, ms, regression, rsquared, fs *big.Rat     // nil for NaN
}

// regress computes the statistics from their definitions.
func regress(a lintest.Matrix, b, w []*big.Rat, centered bool) *rationalFit {
	n := len(a[0])
	rat := func() *big.Rat { return new(big.Rat) }
	column := make(lintest.Matrix, len(b))
	for i := range b {
		column[i] = []*big.Rat{b[i]}
	}
	t := a.T(n)
	square := t.Weighted(w, a, n)
	x := square.Solve(t.Weighted(w, column, 1))
	if x == nil {
		return nil
	}
	z := &rationalFit{ss: rat()}
	for i := range x {
		z.x = append(z.x, x[i][0])
	}
	sum, weights := rat(), rat()
	for i := range b {
		sum.Add(sum, rat().Mul(w[i], b[i]))
		weights.Add(weights, w[i])
	}
	mean := rat()
	p := n
	if centered {
		mean.Quo(sum, weights)
		p--
	}
	total := rat()
	for i, fitted := range a.Times(x, 1) {
		d := rat().Sub(b[i], fitted[0])
		z.ss.Add(z.ss, d.Mul(d, d).Mul(d, w[i]))
		c := rat().Sub(b[i], mean)
		total.Add(total, c.Mul(c, c).Mul(c, w[i]))
	}
	z.regression = rat().Sub(total, z.ss)
	if total.Sign() != 0 {
		z.rsquared = rat().Quo(z.regression, total)
	}
	if dof := len(b) - n; dof > 0 {
		z.ms = rat().Quo(z.ss, big.NewRat(int64(dof), 1))
		if p > 0 && z.ms.Sign() != 0 {
			z.fs = rat().Quo(z.regression, big.NewRat(int64(p), 1))
			z.fs.Quo(z.fs, z.ms)
		}
		z.covariance = square.Solve(lintest.Identity(n))
		for i := range z.covariance {
			for j := range z.covariance[i] {
				z.covariance[i][j].Mul(z.covariance[i][j], z.ms)
			}
		}
	}
	return z
}

// texts returns all numbers of a fit.
func texts(fit *Fit) []string {
	z := []string{fit.X.Text(halfulp.Hex), fit.StandardErrors.Text(halfulp.Hex)}
	if fit.Lower != nil {
		z = append(z, fit.Lower.Text(halfulp.Hex), fit.Upper.Text(halfulp.Hex))
	}
	for _, c := range fit.Covariances {
		z = append(z, c.Text(halfulp.Hex))
	}
	for _, r := range fit.Responses {
		for _, v := range []halfulp.Scalar{r.ResidualSS, r.ResidualMS, r.ResidualSD, r.RegressionSS, r.RSquared, r.F} {
			z = append(z, v.Hex())
		}
	}
	return z
}

// halfLimits returns the limits of the confidence interval of 50 per cent of an estimate x with a
// variance, rounded to format f, for 1 and 2 degrees of freedom: Student's t is 1 and √(2/3).
func halfLimits(f halfulp.Format, x, variance *big.Rat, freedom int) (lower, upper halfulp.Scalar, ok bool) {
	square := new(big.Rat).Set(variance)
	switch freedom {
	case 1:
	case 2:
		square.Mul(square, big.NewRat(2, 3))
	default:
		return lower, upper, false
	}
	n, d := new(big.Int).Sqrt(square.Num()), new(big.Int).Sqrt(square.Denom())
	if root := new(big.Rat).SetFrac(n, d); new(big.Rat).Mul(root, root).Cmp(square) == 0 {
		return lintest.Nearest(f, new(big.Rat).Sub(x, root)), lintest.Nearest(f, new(big.Rat).Add(x, root)), true
	}
	// A sum of a rational number and an irrational root is no tie.
	const prec = 1 << 14
	root := new(big.Float).SetPrec(prec).SetRat(square)
	root.Sqrt(root)
	middle := new(big.Float).SetPrec(prec).SetRat(x)
	return halfulp.NewScalar(f, new(big.Float).SetPrec(prec).Sub(middle, root)), halfulp.NewScalar(f, new(big.Float).SetPrec(prec).Add(middle, root)), true
}

// TestConfidence fits means, whose limits of 50 per cent are known, and refuses invalid levels.
func TestConfidence(t *testing.T) {
	half := &RegressionOptions{Confidence: big.NewRat(1, 2)}
	one := halfulp.NewMatrixFloat64(2, 1, 2, []float64{1, 1})
	for _, c := range []struct{ b0, b1, lower, upper float64 }{{1, 2, 1, 2}, {0, 1, 0, 1}, {-3, 5, -3, 5}, {7, 7, 7, 7}} {
		fit, err := Regression(one, halfulp.NewMatrixFloat64(2, 1, 2, []float64{c.b0, c.b1}), halfulp.Float64, half)
		if err != nil {
			t.Fatal(err)
		}
		if l, u := fit.Lower.Float64(0, 0), fit.Upper.Float64(0, 0); l != c.lower || u != c.upper {
			t.Errorf("%g, %g: limits %g and %g", c.b0, c.b1, l, u)
		}
		if undecided := fit.Undecided; undecided != 0 && c.lower != 0 || undecided != 1 && c.lower == 0 {
			t.Errorf("%g, %g: %d limits undecided", c.b0, c.b1, undecided)
		}
	}
	near := new(big.Rat).Sub(big.NewRat(1, 1), new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Exp(big.NewInt(10), big.NewInt(300), nil)))
	fit, err := Regression(one, halfulp.NewMatrixFloat64(2, 1, 2, []float64{1, 2}), halfulp.Float64, &RegressionOptions{Confidence: near})
	// 1.5 + 0.5 tan(π/2 level), about 10^300/π
	if err != nil || !(fit.Upper.Float64(0, 0) > 1e299) {
		t.Fatalf("%v, %+v", err, fit)
	}
	for _, level := range []*big.Rat{new(big.Rat), big.NewRat(1, 1), big.NewRat(95, 1), big.NewRat(-1, 2)} {
		if _, err := Regression(one, one, halfulp.Float64, &RegressionOptions{Confidence: level}); !errors.Is(err, ErrConfidence) {
			t.Errorf("%v: %v", level, err)
		}
	}
}

func checkRegression(t *testing.T, name string, a, b *halfulp.Matrix, f halfulp.Format, opt *RegressionOptions) {
	t.Helper()
	opt.Covariance, opt.Confidence = true, big.NewRat(1, 2)
	var stats halfulp.Stats
	opt.Stats = &stats
	fit, err := Regression(a, b, f, opt)
	if err == nil {
		// The same by the augmented system.
		s, err := start("test", nil)
		if err != nil {
			t.Fatal(err)
		}
		m, err := lsq.NewModel(s, a.View(), b.View(), opt.weights(a))
		if err != nil {
			t.Fatal(err)
		}
		r := lsq.NewRegressor(m, f.View(), true)
		r.Units(opt.Unit, opt.WeightUnit, opt.ColumnUnits)
		if err := r.Confidence(opt.Confidence); err != nil {
			t.Fatal(err)
		}
		if err := r.Fit(m.Augmented); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !reflect.DeepEqual(texts(newFit(&r.Estimates)), texts(fit)) {
			t.Fatalf("%s: %v, by the augmented system %v", name, texts(fit), texts(newFit(&r.Estimates)))
		}
	}
	x, y := lintest.Of(a), lintest.Of(b)
	var w []*big.Rat
	var keptX, keptY [][]*big.Rat
	for i := range x {
		v := big.NewRat(1, 1)
		if opt.Weights != nil {
			v, _ = opt.Weights.Big(i).Rat(nil)
		}
		if opt.WeightUnit != nil {
			v.Mul(v, opt.WeightUnit)
		}
		if v.Sign() == 0 {
			continue
		}
		for j := range x[i] {
			if opt.ColumnUnits != nil {
				x[i][j].Mul(x[i][j], opt.ColumnUnits[j])
			}
		}
		for j := range y[i] {
			if opt.Unit != nil {
				y[i][j].Mul(y[i][j], opt.Unit)
			}
		}
		w, keptX, keptY = append(w, v), append(keptX, x[i]), append(keptY, y[i])
	}
	x, y = keptX, keptY
	centered := false
	for j := range a.Cols() {
		constant := len(x) > 0 && x[0][j].Sign() != 0
		for i := range x {
			constant = constant && x[i][j].Cmp(x[0][j]) == 0
		}
		centered = centered || constant
	}
	same := func(what string, got halfulp.Scalar, want *big.Rat, root bool) {
		t.Helper()
		z := halfulp.NaN(f)
		if want != nil && root {
			z = lintest.NearestRoot(f, big.NewRat(1, 1), want)
		} else if want != nil {
			z = lintest.Nearest(f, want)
		}
		if !got.Same(z) {
			t.Fatalf("%s: %s is %s, want %s (%+v)", name, what, got.Hex(), z.Hex(), stats)
		}
	}
	for j := range b.Cols() {
		column := make([]*big.Rat, len(y))
		for i := range y {
			column[i] = y[i][j]
		}
		var want *rationalFit
		if len(x) >= a.Cols() {
			want = regress(x, column, w, centered)
		}
		if want == nil {
			if !errors.Is(err, ErrSingular) {
				t.Fatalf("%s: %v, want a deficient rank", name, err)
			}
			return
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if fit.Centered != centered || fit.Observations != len(x) || fit.DegreesOfFreedom != len(x)-a.Cols() {
			t.Fatalf("%s: %+v", name, fit)
		}
		got := fit.Responses[j]
		same("residual sum of squares", got.ResidualSS, want.ss, false)
		same("residual mean square", got.ResidualMS, want.ms, false)
		same("residual standard deviation", got.ResidualSD, want.ms, true)
		same("regression sum of squares", got.RegressionSS, want.regression, false)
		same("R²", got.RSquared, want.rsquared, false)
		if want.fs == nil && want.rsquared != nil && want.ms != nil && (!centered || a.Cols() > 1) {
			if !got.F.IsInf(1) {
				t.Fatalf("%s: F is %s, want an infinity", name, got.F.Hex())
			}
		} else {
			same("F", got.F, want.fs, false)
		}
		for i := range a.Cols() {
			same(fmt.Sprintf("x[%d]", i), fit.X.At(i, j), want.x[i], false)
			if want.covariance == nil {
				same("standard error", fit.StandardErrors.At(i, j), nil, false)
				same("lower limit", fit.Lower.At(i, j), nil, false)
				same("upper limit", fit.Upper.At(i, j), nil, false)
				continue
			}
			if lower, upper, ok := halfLimits(f, want.x[i], want.covariance[i][i], fit.DegreesOfFreedom); ok && fit.Undecided == 0 {
				if !fit.Lower.At(i, j).Same(lower) || !fit.Upper.At(i, j).Same(upper) {
					t.Fatalf("%s: limits %d are %s and %s, want %s and %s", name, i, fit.Lower.At(i, j).Hex(), fit.Upper.At(i, j).Hex(), lower.Hex(), upper.Hex())
				}
			}
			same(fmt.Sprintf("standard error %d", i), fit.StandardErrors.At(i, j), want.covariance[i][i], true)
			for l := range a.Cols() {
				same(fmt.Sprintf("covariance %d, %d", i, l), fit.Covariances[j].At(i, l), want.covariance[i][l], false)
			}
		}
	}
}

func TestRegression(t *testing.T) {
	seed := testseed.Of(t)
	r := rand.New(rand.NewPCG(seed, 0))
	unit := func() *big.Rat {
		u := big.NewRat(int64(1+r.IntN(20)), int64(1+r.IntN(20)))
		if r.IntN(2) == 0 {
			u.Neg(u)
		}
		return u
	}
	for _, f := range lintest.Formats {
		for trial := range testlength.Of(1, 2, 60) {
			n, k := 1+r.IntN(4), 1+r.IntN(2)
			m := n + r.IntN(7)
			for _, a := range []*halfulp.Matrix{
				gallery.Random(halfulp.DD, m, n, 3, r.Uint64()), lintest.Integers(r, m, n, 4), lintest.Integers(r, m, n, 1),
			} {
				if trial%2 == 0 {
					for i := range m {
						a.SetFloat64(i, n-1, 3)
					}
				}
				opt := &RegressionOptions{}
				if trial%3 == 1 {
					opt.Weights = randomWeights(r, m)
				}
				if trial%4 >= 2 {
					opt.Unit = unit()
					for range n {
						opt.ColumnUnits = append(opt.ColumnUnits, unit())
					}
					opt.WeightUnit = new(big.Rat).Abs(unit())
				}
				name := fmt.Sprintf("seed %d, trial %d, %v, %d x %d, k = %d", seed, trial, f, m, n, k)
				checkRegression(t, name+", random", a, gallery.Random(halfulp.Float64, m, k, 2, r.Uint64()), f, opt)
				checkRegression(t, name+", integers", a, lintest.Integers(r, m, k, 3), f, opt)
				checkRegression(t, name+", signs", a, lintest.Integers(r, m, k, 1), f, opt)
				checkRegression(t, name+", zeros", a, halfulp.NewMatrix(halfulp.Float32, m, k), f, opt)
			}
		}
	}
	// Exponents too far apart for the normal equations.
	for _, f := range lintest.Formats {
		a := gallery.Random(halfulp.MP(60), 5, 2, 300, 7)
		a.SetBig(0, 0, new(big.Float).SetMantExp(big.NewFloat(3), 300))
		a.SetBig(4, 0, new(big.Float).SetMantExp(big.NewFloat(5), -300))
		checkRegression(t, "spread", a, gallery.Random(halfulp.Float64, 5, 2, 5, 8), f, &RegressionOptions{})
		checkRegression(t, "spread, weights", a, gallery.Random(halfulp.Float64, 5, 2, 5, 8), f,
			&RegressionOptions{LeastSquaresOptions: LeastSquaresOptions{Weights: randomWeights(testseed.Rand(t, 1, 1), 5)}})
	}
}

// TestRegressionTies computes statistics that lie halfway between two numbers of a format, or are
// numbers of the format.
func TestRegressionTies(t *testing.T) {
	one := func(m int) *halfulp.Matrix {
		a := halfulp.NewMatrix(halfulp.Float64, m, 1)
		for i := range m {
			a.SetFloat64(i, 0, 1)
		}
		return a
	}
	tie := 1 + 0x1p-24 // of float32
	for name, b := range map[string][]float64{
		"standard deviation 1":             {1, 2, 3}, // mean 2
		"zeros and threes":                 {0, 3, 0, 3, 3, 3, 0, 0, 0, 3, 3, 0, 3},
		"standard deviation half way":      {-tie, 0, tie},
		"standard error half way":          {-6 * tie, 6 * tie, 0, 0, 0, 0, 0, 0, 0},
		"R² 0":                             {1, -1, 1, -1},
		"residual sum of squares half way": {0x1p-12, 0, 1, 1 + 0x1p-12},
	} {
		for _, f := range lintest.Formats {
			m := len(b)
			checkRegression(t, name, one(m), halfulp.NewMatrixFloat64(m, 1, m, b), f, &RegressionOptions{})
			checkRegression(t, name+", thirds", one(m), halfulp.NewMatrixFloat64(m, 1, m, b), f,
				&RegressionOptions{Unit: big.NewRat(1, 3), ColumnUnits: []*big.Rat{big.NewRat(1, 3)}})
			// A second column, orthogonal to the responses: R² is 0 without an intercept.
			a := halfulp.NewMatrix(halfulp.Float64, m, 2)
			for i := range m {
				a.SetFloat64(i, 0, float64(i*i))
				a.SetFloat64(i, 1, 1)
			}
			checkRegression(t, name+", squares", a, halfulp.NewMatrixFloat64(m, 1, m, b), f, &RegressionOptions{})
		}
	}
}

// TestRegressionNearTies computes standard deviations so near to a tie that only more bits decide.
func TestRegressionNearTies(t *testing.T) {
	half := new(big.Float).SetPrec(600).SetFloat64(1 + 0x1p-24)
	a := halfulp.NewMatrixFloat64(3, 1, 3, []float64{1, 1, 1})
	for _, e := range []int{-90, -150, -300} {
		for _, sign := range []float64{1, -1} {
			d := new(big.Float).SetMantExp(big.NewFloat(sign), e)
			d.SetPrec(600).Add(d, half)
			b := halfulp.NewMatrixBig(halfulp.MP(600), 3, 1, []*big.Float{d, new(big.Float), new(big.Float).Neg(d)})
			for _, f := range lintest.Formats {
				checkRegression(t, fmt.Sprintf("2^%d", e), a, b, f, &RegressionOptions{})
			}
		}
	}
}

// TestRegressionExactFit fits data without residuals.
func TestRegressionExactFit(t *testing.T) {
	for _, f := range lintest.Formats {
		for k := 1; k <= 2; k++ {
			a, b := gallery.Wampler(halfulp.Float64, k)
			checkRegression(t, "Wampler", a, b.Matrix(), f, &RegressionOptions{})
			checkRegression(t, "Wampler without a constant", a.Slice(0, 21, 1, 6), a.Slice(0, 21, 4, 5), f, &RegressionOptions{})
		}
	}
}

func TestRegressionErrors(t *testing.T) {
	a, b := gallery.Random(halfulp.Float64, 5, 2, 0, 1), gallery.Random(halfulp.Float64, 5, 1, 0, 2)
	if _, err := Regression(a, b, halfulp.Float64, &RegressionOptions{Unit: new(big.Rat)}); !errors.Is(err, ErrUnit) {
		t.Fatal(err)
	}
	if _, err := Regression(a, b, halfulp.Float64, &RegressionOptions{WeightUnit: big.NewRat(-1, 2)}); !errors.Is(err, ErrUnit) {
		t.Fatal(err)
	}
	a.SetFloat64(1, 1, math.Inf(1))
	if _, err := Regression(a, b, halfulp.Float64, nil); !errors.Is(err, call.ErrNotFinite) {
		t.Fatal(err)
	}
	defer func() {
		if recover() != errShape {
			t.Fatal("no panic for shapes that do not fit")
		}
	}()
	_, _ = Regression(a.T(), b, halfulp.Float64, nil)
}

func TestPolyFit(t *testing.T) {
	r := testseed.Rand(t, 9, 9)
	for _, f := range lintest.Formats {
		for degree := range 5 {
			n := degree + 1 + r.IntN(5)
			x, y := gallery.Random(halfulp.DD, n, 1, 3, r.Uint64()).Col(0), gallery.Random(halfulp.Float64, n, 1, 0, r.Uint64()).Col(0)
			unit := big.NewRat(1, 1000)
			fit, err := PolyFit(x, y, degree, f, &RegressionOptions{Unit: unit, ColumnUnits: []*big.Rat{unit}})
			if err != nil {
				t.Fatal(err)
			}
			a, b, w := make([][]*big.Rat, n), make([]*big.Rat, n), make([]*big.Rat, n)
			for i := range a {
				node, _ := x.Big(i).Rat(nil)
				node.Mul(node, unit)
				power := big.NewRat(1, 1)
				for range degree + 1 {
					a[i] = append(a[i], power)
					power = new(big.Rat).Mul(power, node)
				}
				b[i], _ = y.Big(i).Rat(nil)
				b[i].Mul(b[i], unit)
				w[i] = big.NewRat(1, 1)
			}
			want := regress(a, b, w, true)
			for i := range want.x {
				if z := lintest.Nearest(f, want.x[i]); !fit.X.At(i, 0).Same(z) {
					t.Fatalf("%v, degree %d: coefficient %d is %s, want %s", f, degree, i, fit.X.At(i, 0).Hex(), z.Hex())
				}
				if want.covariance == nil {
					continue
				}
				if z := lintest.NearestRoot(f, big.NewRat(1, 1), want.covariance[i][i]); !fit.StandardErrors.At(i, 0).Same(z) {
					t.Fatalf("%v, degree %d: standard error %d is %s, want %s", f, degree, i, fit.StandardErrors.At(i, 0).Hex(), z.Hex())
				}
			}
		}
	}
	x := halfulp.NewVectorFloat64(3, 1, []float64{1, 2, 1})
	if _, err := PolyFit(x, x, 2, halfulp.Float64, nil); !errors.Is(err, ErrSingular) {
		t.Fatalf("%v, want a deficient rank", err)
	}
}

// TestInterpolation fits as many points as coefficients, with and without weights of 0: the
// residual is 0 without a separate proof.
func TestInterpolation(t *testing.T) {
	const n = 14
	x, y := halfulp.NewVector(halfulp.Float64, n+1), halfulp.NewVector(halfulp.Float64, n+1)
	w := halfulp.NewVector(halfulp.Float64, n+1)
	for i := range n + 1 {
		x.SetFloat64(i, float64(i)+0.125*float64(i%3))
		y.SetFloat64(i, float64(i*i%7)-0.5)
		w.SetFloat64(i, 1)
	}
	w.SetFloat64(n, 0)
	for _, f := range []halfulp.Format{halfulp.Float64, halfulp.QD} {
		var stats halfulp.Stats
		fit, err := PolyFit(x.Slice(0, n), y.Slice(0, n), n-1, f, &RegressionOptions{LeastSquaresOptions: LeastSquaresOptions{Options: halfulp.Options{Stats: &stats}}})
		if err != nil {
			t.Fatal(err)
		}
		weighted, err := PolyFit(x, y, n-1, f, &RegressionOptions{LeastSquaresOptions: LeastSquaresOptions{Weights: w}})
		if err != nil {
			t.Fatal(err)
		}
		if stats.Primes != 0 || stats.Ties != 0 || stats.Digits != 0 {
			t.Errorf("%v: zeros were proved: %+v", f, stats)
		}
		for _, z := range []*Fit{fit, weighted} {
			of := z.Responses[0]
			if zero := halfulp.NewScalar(f, new(big.Float)); !of.ResidualSS.Same(zero) || of.RSquared.Float64() != 1 || !of.ResidualMS.IsNaN() || !of.F.IsNaN() || !z.X.Same(fit.X) {
				t.Errorf("%v: %+v", f, of)
			}
			// TSS = Σ y² - (Σ y)²/n, exactly.
			squares, sum := new(big.Rat), new(big.Rat)
			for i := range n {
				v, _ := y.Big(i).Rat(nil)
				sum.Add(sum, v)
				squares.Add(squares, v.Mul(v, v))
			}
			sum.Mul(sum, sum).Quo(sum, big.NewRat(n, 1))
			if want := lintest.Nearest(f, squares.Sub(squares, sum)); !of.RegressionSS.Same(want) {
				t.Errorf("%v: regression SS %v, want %v", f, of.RegressionSS, want)
			}
		}
	}
}

// TestPValues compares p-values with closed forms: Student's t of 1 degree of freedom is Cauchy's
// distribution, and F of (1, m) degrees of freedom is the square of t.
func TestPValues(t *testing.T) {
	a := halfulp.FromRows(halfulp.Float64, [][]float64{{1, 0}, {1, 1}, {1, 2}})
	b := halfulp.FromRows(halfulp.Float64, [][]float64{{1, 3}, {2, 3}, {4, 3}})
	x, y := halfulp.NewVectorFloat64(3, 1, []float64{0, 1, 2}), halfulp.NewVectorFloat64(3, 1, []float64{1, 2, 4})
	opt := &RegressionOptions{PValues: true}
	z, err := Regression(a, b, halfulp.Float64, opt)
	if err != nil {
		t.Fatal(err)
	}
	p, err := PolyFit(x, y, 1, halfulp.Float64, opt)
	if err != nil {
		t.Fatal(err)
	}
	// By hand, x = (5/6, 3/2), s^2 = 1/6, and the diagonal of the inverse of AᵀA is (5/6, 1/2).
	for i, want := range []float64{math.Sqrt(5), 3 * math.Sqrt(3)} {
		near := func(got halfulp.Scalar, want float64) {
			t.Helper()
			if x := got.Float64(); math.Abs(x-want) > 4e-16*want {
				t.Errorf("estimate %d: %v, want %v", i, x, want)
			}
		}
		near(z.T.At(i, 0), want)
		near(z.P.At(i, 0), 2*math.Atan(1/want)/math.Pi)
		if !p.T.At(i, 0).Same(z.T.At(i, 0)) || !p.P.At(i, 0).Same(z.P.At(i, 0)) {
			t.Errorf("estimate %d: PolyFit has %v and %v", i, p.T.At(i, 0), p.P.At(i, 0))
		}
	}
	if f := z.Responses[0].FP; !f.Same(z.P.At(1, 0)) || z.UndecidedTests != 0 {
		t.Errorf("F has the p-value %v, t of the slope %v; %d undecided", f, z.P.At(1, 0), z.UndecidedTests)
	}
	// The second column fits exactly: the slope 0 has the standard error 0.
	if x := z.T.At(0, 1); !x.IsInf(1) || z.P.At(0, 1).Float64() != 0 || !z.T.At(1, 1).IsNaN() || !z.Responses[1].FP.IsNaN() {
		t.Errorf("an exact fit has t = %v, p = %v", z.T, z.P)
	}
	if _, err := Regression(a, b, halfulp.MP(2*MaxPValueBits), opt); !errors.Is(err, halfulp.ErrOptions) {
		t.Errorf("too many bits: %v", err)
	}
	if z, err := Regression(a, b, halfulp.Float64, nil); err != nil || z.T != nil {
		t.Errorf("without a request: %v, %v", z.T, err)
	}
}
