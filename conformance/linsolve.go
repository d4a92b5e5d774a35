package conformance

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/eigen"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/linsolve"
)

// linear is one call of a routine of package linsolve: its operands, where the backend has them,
// and its results.
type linear struct {
	a, b *halfulp.Matrix
	f    halfulp.Format
	opt  *halfulp.Options
	out  []*halfulp.Matrix // results
	said []any             // results other than matrices
	// decided reports whether the requested way decided something.
	decided bool
	family  string // of A
}

// result adds a result, which lives where the operands do, or returns the error of the routine.
func (c *linear) result(z *halfulp.Matrix, err error) error {
	if err != nil {
		if z != nil {
			return mismatchf("a result after %v", err)
		}
		return err
	}
	if z.Device() != c.a.Device() {
		return mismatchf("a result on %s of a matrix on %s", z.Device(), c.a.Device())
	}
	h, err := z.Host()
	z.Free()
	c.out = append(c.out, h)
	return err
}

// scalar adds a result.
func (c *linear) scalar(z halfulp.Scalar) {
	m := halfulp.NewMatrix(z.NumberFormat(), 1, 1)
	m.Set(0, 0, z)
	c.out = append(c.out, m)
}

// exact checks results entry by entry, in the format f.
type exact func(f halfulp.Format, a, b *halfulp.Matrix, out []*halfulp.Matrix) error

// kind is the kind of matrix that a routine takes for A.
type kind int

const (
	squareA kind = iota
	tallA
	wideA
	symmetricA
	definiteA
)

// linearRoutine is a routine of package linsolve. check checks results without an error; nil checks
// nothing. bad reports whether an error is right; nil accepts no error.
type linearRoutine struct {
	name  string
	kind  kind
	run   func(c *linear) error
	check exact
	bad   func(a, b *halfulp.Matrix, err error) bool
}

// bounds reports whether results are bounds, which may differ between configurations and still be
// right.
func (r linearRoutine) bounds() bool { return strings.HasPrefix(r.name, "Enclose") }

// sameEntries compares a matrix with the rounded entries of want.
func sameEntries(what string, f halfulp.Format, got *halfulp.Matrix, want lintest.Matrix) error {
	for i := range want {
		for j, x := range want[i] {
			if w := lintest.Nearest(f, x); !got.At(i, j).Same(w) {
				return mismatchf("%s[%d,%d] = %s, want %s", what, i, j, got.At(i, j).Hex(), w.Hex())
			}
		}
	}
	return nil
}

// singular reports whether a square matrix is singular and the error says so with its rank.
func singular(a, _ *halfulp.Matrix, err error) bool {
	var e *linsolve.SingularError
	r := lintest.Of(a).Rank(a.Cols())
	return errors.As(err, &e) && e.Rank == r && r < a.Rows()
}

// deficient reports whether A lacks full rank and the error says so.
func deficient(a, _ *halfulp.Matrix, err error) bool {
	return errors.Is(err, linsolve.ErrSingular) && lintest.Of(a).Rank(a.Cols()) < min(a.Rows(), a.Cols())
}

// dependentColumns is deficient for the first min(rows, columns) columns of A.
func dependentColumns(a, _ *halfulp.Matrix, err error) bool {
	k := min(a.Rows(), a.Cols())
	return errors.Is(err, linsolve.ErrSingular) && lintest.Of(a.Slice(0, a.Rows(), 0, k)).Rank(k) < k
}

func solution(f halfulp.Format, a, b *halfulp.Matrix, out []*halfulp.Matrix) error {
	want := lintest.Of(a).Solve(lintest.Of(b))
	if want == nil {
		return mismatchf("a solution for a singular matrix")
	}
	for _, x := range out {
		if err := sameEntries("X", f, x, want); err != nil {
			return err
		}
	}
	return nil
}

// encloses checks that bounds enclose the solution.
func encloses(_ halfulp.Format, a, b *halfulp.Matrix, out []*halfulp.Matrix) error {
	for i, row := range lintest.Of(a).Solve(lintest.Of(b)) {
		for j, x := range row {
			for side, sign := range []int{1, -1} {
				v := out[side].Big(i, j)
				if v.IsInf() && v.Sign() == -sign {
					continue
				}
				if r, _ := v.Rat(nil); r == nil || r.Cmp(x)*sign > 0 {
					return mismatchf("bound %v of X[%d,%d], which is %v", v, i, j, x)
				}
			}
		}
	}
	return nil
}

// leastSquares checks X against the solution of the normal equations.
func leastSquares(f halfulp.Format, a, b *halfulp.Matrix, out []*halfulp.Matrix) error {
	x, y := lintest.Of(a), lintest.Of(b)
	t := x.T(a.Cols())
	if a.Rows() >= a.Cols() {
		return sameEntries("X", f, out[0], t.Times(x, a.Cols()).Solve(t.Times(y, b.Cols())))
	}
	z := x.Times(t, a.Rows()).Solve(y)
	return sameEntries("X", f, out[0], t.Times(z, b.Cols()))
}

// withFactors solves twice with the same factors.
func (c *linear) withFactors(solve func(b *halfulp.Matrix, f halfulp.Format, opt *halfulp.Options) (*halfulp.Matrix, error)) error {
	for range 2 {
		if err := c.result(solve(c.b, c.f, c.opt)); err != nil {
			return err
		}
	}
	return nil
}

// texts records the entries of factors, in hexadecimal.
func (c *linear) texts(factors ...*halfulp.Matrix) error {
	for _, m := range factors {
		h, err := m.Host()
		if err != nil {
			return err
		}
		c.said = append(c.said, h.Text(halfulp.Hex))
	}
	return nil
}

// orthogonal returns the run of a routine that computes Q and R.
func orthogonal(factor func(a *halfulp.Matrix, f halfulp.Format, opt *halfulp.Options) (*linsolve.QRFactors, error)) func(c *linear) error {
	return func(c *linear) error {
		z, err := factor(c.a, c.f, c.opt)
		if err == nil {
			c.out, c.said = append(c.out, z.Q, z.R), append(c.said, z.P)
		}
		return err
	}
}

func (c *linear) leastSquares() linsolve.LeastSquaresOptions {
	return linsolve.LeastSquaresOptions{Options: *c.opt}
}

// fit records the results of a fit.
func (c *linear) fit(fit *linsolve.Fit) {
	if fit == nil {
		return
	}
	c.out = append(append(c.out, fit.X, fit.StandardErrors), fit.Covariances...)
	c.said = append(c.said, fit.Centered, fit.DegreesOfFreedom)
	for _, r := range fit.Responses {
		v := reflect.ValueOf(r)
		for i := range v.NumField() {
			if z, ok := v.Field(i).Interface().(halfulp.Scalar); ok {
				c.scalar(z)
			}
		}
	}
}

const power = 5

// linearWays are routines forced to every way that package linsolve has for them on the host.
var linearWays = func() (all []linearRoutine) {
	for _, way := range call.SystemWays {
		// Digits, slices and series are ways for inverses alone.
		if way != call.ByDigits && way != call.BySlices && way != call.BySeries {
			all = append(all, routineOf(linearRoutines, "Solve").by(aSystem, way))
		}
		all = append(all, routineOf(linearRoutines, "Inverse").by(aSystem, way))
	}
	for _, way := range call.InverseWays {
		all = append(all, routineOf(linearRoutines, "Inverse").by(anInverse, way, call.ByProducts))
	}
	for _, way := range call.DeterminantWays {
		for _, name := range []string{"Det", "LogDet"} {
			all = append(all, routineOf(linearRoutines, name).by(aDeterminant, way))
		}
	}
	for _, way := range call.FactorWays {
		for _, r := range factorRoutines {
			if way == call.ByLongSeed && r.problem != anLU && r.problem != anLDLT || way == call.ByDigits && r.name == "QRPivoted" {
				continue // these have no such way
			}
			all = append(all, r.by(r.problem, way))
		}
	}
	return all
}()

// linearWaysThere are routines forced to the ways for matrices that live on devices.
var linearWaysThere = []linearRoutine{
	routineOf(linearRoutines, "Det").by(aDeterminant, call.ByTraces),
	routineOf(linearRoutines, "LogDet").by(aDeterminant, call.ByTraces),
}

// A factorRoutine is a routine that only computes factors.
type factorRoutine struct {
	problem string
	linearRoutine
}

var factorRoutines = []factorRoutine{
	{anLU, routineOf(linearRoutines, "LU")},
	{aCholesky, linearRoutine{"Cholesky", definiteA, routineOf(linearRoutines, "Cholesky").run, nil, routineOf(linearRoutines, "Cholesky").bad}},
	{anLDLT, linearRoutine{"LDLT", symmetricA, func(c *linear) error {
		z, err := linsolve.LDLT(c.a, c.f, c.opt)
		if err == nil {
			c.out, c.said = append(c.out, z.L, z.D), append(c.said, z.P, z.Blocks)
		}
		return err
	}, nil, singular}},
	{aQR, linearRoutine{"QR", tallA, orthogonal(linsolve.QR), nil, deficient}},
	{aQR, routineOf(linearRoutines, "QRPivoted")},
}

func routineOf(list []linearRoutine, name string) linearRoutine {
	return list[slices.IndexFunc(list, func(r linearRoutine) bool { return r.name == name })]
}

// forced reports whether the routine is forced to some ways.
func (r linearRoutine) forced() bool { return strings.Contains(r.name, " by ") }

// least returns the least order of matrices that the routine is for.
func (r linearRoutine) least() int {
	switch r.name {
	case "LDLT by " + call.ByDigits, "LDLT by " + call.ByNewton, "LDLT by " + call.ByLongSeed:
		return seed.Fewest
	}
	return 1
}

// by returns the routine forced to some ways, where they apply to its problem. The first way
// decides the problem, or may leave it open. A routine without a check has to give the same results
// as without forced ways.
func (r linearRoutine) by(problem string, ways ...string) linearRoutine {
	run, compared := r.run, r.check == nil
	r.name += " by " + strings.Join(ways, ", ")
	r.run = func(c *linear) error {
		in := func(ctx context.Context) (*linear, error) {
			one, opt := *c, halfulp.Options{}
			if c.opt != nil {
				opt = *c.opt
			}
			if opt.Stats == nil {
				opt.Stats = new(halfulp.Stats)
			}
			opt.Context, one.opt = ctx, &opt
			err := run(&one)
			return &one, err
		}
		chosen := context.Background()
		if c.opt != nil && c.opt.Context != nil {
			chosen = c.opt.Context
		}
		record := new(call.Record)
		forced, err := in(call.Recording(call.Forcing(chosen, ways...), record))
		decided, left := record.Of(problem, ways[0])
		if c.decided = decided > 0; err == nil && !c.decided && (c.opt == nil || c.opt.MemoryLimit == 0) {
			if err = forced.excused(r.name, problem, ways[0]); err != nil {
				err = mismatchf("left open, %d times: %v", left, err)
			}
		}
		if none := errors.Is(err, call.ErrWay); none || compared { // none: not for this problem
			plain, failed := in(chosen)
			switch {
			case none || errors.Is(failed, halfulp.ErrMemory):
				forced, err = plain, failed
			case errors.Is(err, halfulp.ErrMemory):
			case fmt.Sprint(err) != fmt.Sprint(failed):
				err = mismatchf("error %v, and %v by other ways", err, failed)
			case err == nil && problem == anLDLT && !reflect.DeepEqual(forced.said, plain.said):
				err = forced.isLDLT() // other pivots may be as good
			case err == nil:
				err = forced.differs(plain, "other ways")
			}
		}
		c.out, c.said = forced.out, forced.said
		return err
	}
	return r
}

// excused returns an error unless the way may leave open a problem that has been solved.
func (c *linear) excused(routine, problem, way string) error {
	a, err := c.a.Host()
	if err != nil {
		return err
	}
	b, err := c.b.Host()
	if err != nil {
		return err
	}
	if mayLeave(routine, problem, way, c.family, lintest.Of(a), lintest.Of(b), c.opt.Stats.Underflow+c.opt.Stats.Overflow > 0) == "" {
		return errors.New("it should decide it")
	}
	return nil
}

// isLDLT checks the factors against exact factors with the same pivots.
func (c *linear) isLDLT() error {
	a, err := c.a.Host()
	if err != nil {
		return err
	}
	l, d, ok := lintest.Of(a).LDLT(c.said[0].([]int), c.said[1].([]int))
	if !ok {
		return mismatchf("a pivot that is 0")
	}
	if err := sameEntries("L", c.f, c.out[0], l); err != nil {
		return err
	}
	return sameEntries("D", c.f, c.out[1], d)
}

var linearRoutines = []linearRoutine{
	{"Solve", squareA, func(c *linear) error {
		return c.result(linsolve.Solve(c.a, c.b, c.f, c.opt))
	}, solution, singular},
	{"Inverse", squareA, func(c *linear) error { return c.result(linsolve.Inverse(c.a, c.f, c.opt)) },
		func(f halfulp.Format, a, _ *halfulp.Matrix, out []*halfulp.Matrix) error {
			return solution(f, a, halfulp.Identity(halfulp.Float64, a.Rows()), out)
		}, singular},
	{"Det", squareA, func(c *linear) error {
		z, err := linsolve.Det(c.a, c.f, c.opt)
		c.scalar(z)
		return err
	}, func(f halfulp.Format, a, _ *halfulp.Matrix, out []*halfulp.Matrix) error {
		return sameEntries("det", f, out[0], lintest.Matrix{{lintest.Of(a).Det()}})
	}, nil},
	{"LogDet", squareA, func(c *linear) error {
		z, sign, err := linsolve.LogDet(c.a, c.f, c.opt)
		c.scalar(z)
		c.scalar(halfulp.Float(float64(sign)))
		return err
	}, func(_ halfulp.Format, a, _ *halfulp.Matrix, out []*halfulp.Matrix) error {
		det := lintest.Of(a).Det()
		log, sign := out[0].At(0, 0), out[1].Float64(0, 0)
		of := new(big.Rat).Abs(det).Cmp(big.NewRat(1, 1)) // the sign of the logarithm
		if det.Sign() == 0 && !log.IsInf(-1) || int(sign) != det.Sign() || det.Sign() != 0 && log.Big().Sign() != of {
			return mismatchf("%v and %v for %v", log, sign, det)
		}
		return nil
	}, nil},
	{"Rank", tallA, func(c *linear) error {
		r, err := linsolve.Rank(c.a, c.opt)
		c.scalar(halfulp.Float(float64(r)))
		return err
	}, func(_ halfulp.Format, a, _ *halfulp.Matrix, out []*halfulp.Matrix) error {
		if r := lintest.Of(a).Rank(a.Cols()); out[0].Float64(0, 0) != float64(r) {
			return mismatchf("rank %v, want %d", out[0].At(0, 0), r)
		}
		return nil
	}, nil},
	{"NullSpace", wideA, func(c *linear) error {
		z, err := linsolve.NullSpace(c.a, c.f, c.opt)
		if err == nil {
			c.out = append(c.out, z)
		}
		return err
	}, func(f halfulp.Format, a, _ *halfulp.Matrix, out []*halfulp.Matrix) error {
		n := a.Cols()
		rows, pivots, _ := lintest.Of(a).Reduce(n)
		want := lintest.New(n, n-len(pivots))
		next := 0
		for j, free := range order(pivots, n) {
			if !free {
				continue
			}
			want[j][next].SetInt64(1)
			for i, p := range pivots {
				want[p][next].Neg(rows[i][j])
			}
			next++
		}
		if out[0].Cols() != next {
			return mismatchf("%d vectors, want %d", out[0].Cols(), next)
		}
		return sameEntries("Z", f, out[0], want)
	}, nil},
	{"Cond, 1-norm", squareA, func(c *linear) error {
		z, err := linsolve.Cond(halfulp.OneNorm, c.a, c.f, c.opt)
		c.scalar(z)
		return err
	}, condition(true), nil},
	{"Cond, infinity norm", squareA, func(c *linear) error {
		z, err := linsolve.Cond(halfulp.InfNorm, c.a, c.f, c.opt)
		c.scalar(z)
		return err
	}, condition(false), nil},
	{"Pow", squareA, func(c *linear) error {
		return c.result(linsolve.Pow(c.a, power, c.f, c.opt))
	}, func(f halfulp.Format, a, _ *halfulp.Matrix, out []*halfulp.Matrix) error {
		return sameEntries("power", f, out[0], lintest.Of(a).Pow(power))
	}, nil},
	{"Expm", squareA, func(c *linear) error {
		return c.result(linsolve.Expm(c.a, c.f, c.opt))
	}, nil, func(_, _ *halfulp.Matrix, err error) bool { return errors.Is(err, linsolve.ErrNorm) }},
	{"LeastSquares, tall", tallA, func(c *linear) error {
		opt := c.leastSquares()
		return c.result(linsolve.LeastSquares(c.a, c.b, c.f, &opt))
	}, leastSquares, deficient},
	{"LeastSquares, wide", wideA, func(c *linear) error {
		opt := c.leastSquares()
		return c.result(linsolve.LeastSquares(c.a, c.b, c.f, &opt))
	}, leastSquares, deficient},
	{"Regression", tallA, func(c *linear) error {
		fit, err := linsolve.Regression(c.a, c.b, c.f, &linsolve.RegressionOptions{LeastSquaresOptions: c.leastSquares(), Covariance: true})
		c.fit(fit)
		return err
	}, leastSquares, deficient},
	{"PolyFit", tallA, func(c *linear) error {
		fit, err := linsolve.PolyFit(c.a.Col(0), c.b.Col(0), min(2, c.a.Rows()-1), c.f, &linsolve.RegressionOptions{LeastSquaresOptions: c.leastSquares()})
		c.fit(fit)
		return err
	}, func(f halfulp.Format, a, b *halfulp.Matrix, out []*halfulp.Matrix) error {
		x := lintest.New(a.Rows(), min(3, a.Rows()))
		for i := range x {
			v, _ := a.Big(i, 0).Rat(nil)
			x[i][0].SetInt64(1)
			for j := 1; j < len(x[i]); j++ {
				x[i][j].Mul(x[i][j-1], v)
			}
		}
		n := min(3, a.Rows())
		t := x.T(n)
		return sameEntries("X", f, out[0], t.Times(x, n).Solve(t.Times(lintest.Of(b.Slice(0, b.Rows(), 0, 1)), 1)))
	}, func(a, _ *halfulp.Matrix, err error) bool {
		nodes := map[string]bool{}
		for i := range a.Rows() {
			nodes[a.Big(i, 0).Text('p', 0)] = true
		}
		return errors.Is(err, linsolve.ErrSingular) && len(nodes) < min(3, a.Rows())
	}},
	{"LU", tallA, func(c *linear) error {
		z, err := linsolve.LU(c.a, c.f, c.opt)
		if err == nil {
			c.out, c.said = append(c.out, z.L, z.U), append(c.said, z.P)
		}
		return err
	}, nil, dependentColumns},
	{"LU.Solve", squareA, func(c *linear) error {
		z, err := linsolve.LU(c.a, halfulp.Float32, c.opt)
		if err != nil {
			return err
		}
		defer z.Free()
		return c.withFactors(z.Solve)
	}, solution, singular},
	{"Cholesky", symmetricA, func(c *linear) error {
		z, err := linsolve.Cholesky(c.a, c.f, c.opt)
		if err == nil {
			c.out = append(c.out, z.L)
		}
		return err
	}, nil, func(a, _ *halfulp.Matrix, err error) bool {
		var e *linsolve.NotPositiveDefiniteError
		return errors.As(err, &e) && lintest.Of(a.Slice(0, e.Order, 0, e.Order)).Det().Sign() == e.Sign
	}},
	{"Cholesky.Solve", definiteA, func(c *linear) error {
		z, err := linsolve.Cholesky(c.a, c.f, c.opt)
		if err != nil {
			return err
		}
		c.out = append(c.out, z.L)
		return c.withFactors(z.Solve)
	}, func(f halfulp.Format, a, b *halfulp.Matrix, out []*halfulp.Matrix) error {
		// L from the pivots d_j: l_ij √d_j
		x, _ := lintest.Of(a).LU(a.Rows())
		for i := range x {
			for j := range i + 1 {
				l := x[i][j]
				if i == j {
					l = big.NewRat(1, 1)
				}
				if w := lintest.NearestRoot(f, l, x[j][j]); !out[0].At(i, j).Same(w) {
					return mismatchf("L[%d,%d] = %v, want %v", i, j, out[0].At(i, j), w)
				}
			}
		}
		return solution(f, a, b, out[1:])
	}, func(a, _ *halfulp.Matrix, err error) bool {
		return errors.Is(err, linsolve.ErrNotPositiveDefinite) && lintest.Of(a).Det().Sign() == 0
	}},
	{"LDLT.Solve", symmetricA, func(c *linear) error {
		z, err := linsolve.LDLT(c.a, c.f, c.opt)
		if err != nil {
			return err
		}
		defer z.Free()
		if err := c.texts(z.L, z.D); err != nil {
			return err
		}
		c.said = append(c.said, z.P, z.Blocks)
		return c.withFactors(z.Solve)
	}, solution, singular},
	{"QR.Solve", squareA, func(c *linear) error {
		z, err := linsolve.QR(c.a, c.f, c.opt)
		if err != nil {
			return err
		}
		defer z.Free()
		if err := c.texts(z.Q, z.R); err != nil {
			return err
		}
		c.said = append(c.said, z.P)
		return c.withFactors(z.Solve)
	}, solution, singular},
	{"QRPivoted", tallA, orthogonal(linsolve.QRPivoted), nil, deficient},
	{"Enclose", squareA, func(c *linear) error {
		lower, upper, err := linsolve.Enclose(c.a, c.b, 2, c.f, c.opt)
		return firstError(c.result(lower, err), c.result(upper, err))
	}, encloses, singular},
	{"EncloseSet", squareA, func(c *linear) error {
		lower, upper, err := linsolve.EncloseSet(c.a, nil, c.b, c.b, 1, c.f, c.opt)
		return firstError(c.result(lower, err), c.result(upper, err))
	}, encloses, singular},
	{"VerifySolution", squareA, func(c *linear) error {
		v, err := linsolve.VerifySolution(c.a, c.b, c.b, c.opt)
		c.said = append(c.said, v)
		return err
	}, nil, singular},
	{"VerifyProduct", squareA, func(c *linear) error {
		v, err := linsolve.VerifyProduct(c.a, c.b, c.b, c.opt)
		c.said = append(c.said, v)
		return err
	}, nil, nil},
}

// order returns for each number below n whether some does not contain it.
func order(some []int, n int) []bool {
	z := make([]bool, n)
	for j := range z {
		z[j] = true
	}
	for _, j := range some {
		z[j] = false
	}
	return z
}

// condition checks a condition number.
func condition(one bool) exact {
	return func(f halfulp.Format, a, _ *halfulp.Matrix, out []*halfulp.Matrix) error {
		x := lintest.Of(a)
		y := x.Solve(lintest.Identity(len(x)))
		if y == nil {
			if !out[0].At(0, 0).IsInf(1) {
				return mismatchf("%v for a singular matrix", out[0].At(0, 0))
			}
			return nil
		}
		if one {
			x, y = x.T(len(x)), y.T(len(x))
		}
		return sameEntries("cond", f, out[0], lintest.Matrix{{new(big.Rat).Mul(x.Norm(), y.Norm())}})
	}
}

// linearFormats are the formats of results; the most used formats occur several times.
var linearFormats = []halfulp.Format{
	halfulp.Float64, halfulp.Float32, halfulp.Float64, halfulp.DD, halfulp.MP(106), halfulp.TD, halfulp.QD, halfulp.MP(2), halfulp.MP(24),
	halfulp.MP(53), halfulp.MP(424), halfulp.Float64, halfulp.MP(1696),
}

// emulatedBits bounds the bits of matrices whose products are computed by emulated tiles. The
// products of one solution in 16 000 bits take a minute.
const emulatedBits = 1000

// linear tests the routines of package linsolve in one of every `every` trials.
func (s *suite) linear(t *testing.T, every int) {
	count := 0
	routines := slices.Concat(linearRoutines, eigenRoutines)
	switch {
	case s.b.gpus > 0 && s.b.place != "":
		routines = slices.Concat(routines, linearWaysThere)
	case s.b.gpus > 0 || !s.b.Partial:
		routines = slices.Concat(routines, linearWays)
	}
	for _, r := range routines {
		t.Run(r.name, func(t *testing.T) {
			for _, fam := range lintest.Families {
				if (s.b.Partial || r.forced() && r.check == nil) && wide[fam.Name] {
					continue
				}
				for i := range testlength.Of(1, 2, 4) {
					if count++; count%every != 0 || r.forced() && s.b.gpus > 0 && s.b.place == "" && count/every%3 != 0 {
						continue
					}
					f := linearFormats[(count/every)%len(linearFormats)]
					if r.least() > 1 { // large orders: short numbers and fewer trials
						if count/every%4 != 0 {
							continue
						}
						f = linearFormats[count/every/4%3]
					}
					tr := s.trial(fmt.Sprintf("linsolve.%s %v %s", r.name, f, fam.Name), i)
					tr.fail(t, tr.linear(r, f, fam))
				}
			}
			// Machines without digits, and runs with few trials, do not reach all ways.
			missing := r.forced() && s.stats[r.name] == 0 && !strings.HasSuffix(r.name, " by "+call.ByDigits)
			if missing && r.least() == 1 && testlength.Long() && !s.b.Partial && whole(t) {
				t.Errorf("no call of linsolve.%s was decided so", r.name)
			}
		})
	}
}

// shaped makes a matrix of a kind from a square one; a product has at most the given bits.
func shaped(k kind, bits int, a, b *halfulp.Matrix) (x, y *halfulp.Matrix) {
	n := a.Rows()
	switch k {
	case tallA:
		return a.Slice(0, n, 0, n-n/3), b
	case wideA:
		return a.Slice(0, n-n/3, 0, n), b.Slice(0, n-n/3, 0, b.Cols())
	case symmetricA:
		x = a.Clone()
		for i := range n {
			for j := range i {
				x.Set(i, j, x.At(j, i))
			}
		}
		return x, b
	case definiteA:
		return narrowed(lintest.Product(bits, a.T(), a)), b
	}
	return a, b
}

// narrowed returns a matrix in the fewest bits that hold its entries: its arithmetic takes as long
// as for numbers of that length.
func narrowed(a *halfulp.Matrix) *halfulp.Matrix {
	bits := uint(2)
	for i := range a.Rows() {
		for j := range a.Cols() {
			bits = max(bits, a.Big(i, j).MinPrec())
		}
	}
	return a.Convert(halfulp.MP(bits))
}

// linear runs a routine in the trial's configurations. The results of the first one are right, and
// the results of all are the same.
func (tr *trial) linear(r linearRoutine, f halfulp.Format, fam lintest.Family) error {
	n, k := r.least()+tr.IntN(6), 1+tr.IntN(2)
	if !tr.b.Partial && tr.IntN(6) == 0 && r.least() == 1 { // many columns
		n, k = 9+tr.IntN(4), 9+tr.IntN(3)
	}
	a, b := fam.Make(tr.Rand, n, k)
	bits := 16000
	if tr.b.Partial {
		bits = 2000
	}
	a, b = shaped(r.kind, bits, a, b)
	a, b = a.Clone(), b.Clone()
	if max(a.NumberFormat().Bits(), b.NumberFormat().Bits()) > emulatedBits {
		tr.configs = slices.DeleteFunc(tr.configs, func(c config) bool { return c.mode.emulated })
	}
	tr.note("%v %d x %d, %v %d x %d", a.NumberFormat(), a.Rows(), a.Cols(), b.NumberFormat(), b.Rows(), b.Cols())
	var first *linear
	var failed error
	return tr.under(func(c config, opt *halfulp.Options) error {
		if c.way != "" {
			return halfulp.ErrMethod // a call computes many products
		}
		call := &linear{a: tr.move(a), b: tr.move(b), f: f, opt: opt, family: fam.Name}
		err := r.run(call)
		if call.decided {
			tr.stats[r.name]++
		}
		*opt.Stats = halfulp.Stats{Method: c.method, Device: opt.Stats.Device}
		if errors.Is(err, halfulp.ErrMethod) || c.memory != 0 && errors.Is(err, halfulp.ErrMemory) {
			return err // refused by products
		}
		if bad := (*mismatch)(nil); errors.As(err, &bad) {
			return err
		}
		for i, m := range call.out {
			var back error
			if call.out[i], back = m.Host(); back != nil { // a factor lives where A does
				return back
			}
		}
		if first == nil || r.bounds() {
			first, failed = call, err
			switch {
			case err != nil && (r.bad == nil || !r.bad(a, b, err)):
				return mismatchf("%v", err)
			case err == nil && r.check != nil:
				return r.check(f, a, b, call.out)
			}
			return nil
		}
		if fmt.Sprint(err) != fmt.Sprint(failed) {
			return mismatchf("error %v, before %v", err, failed)
		}
		if failed == nil {
			return call.differs(first, tr.configs[0])
		}
		return nil
	})
}

// differs compares results with the results of a call in another configuration.
func (c *linear) differs(first *linear, of any) error {
	for i, z := range c.out {
		if !z.Same(first.out[i]) {
			return mismatchf("result %d differs from the result of %s", i, of)
		}
	}
	if !reflect.DeepEqual(c.said, first.said) {
		return mismatchf("%v, for %s %v", c.said, of, first.said)
	}
	return nil
}

// takesB reports whether a routine reads B.
func (r linearRoutine) takesB() bool {
	for _, part := range []string{"Solve", "LeastSquares", "Regression", "PolyFit", "Enclose", "Verify"} {
		if strings.Contains(r.name, part) {
			return true
		}
	}
	return false
}

// try calls a routine, and returns the text of its panic and its error. The error may also report
// results left behind by an error, or changed inputs.
func (tr *trial) try(r linearRoutine, a, b *halfulp.Matrix, opt *halfulp.Options) (panicked string, err error) {
	f := halfulp.MP(106)
	call := &linear{a: tr.move(a), b: tr.move(b), f: f, opt: opt}
	defer func() {
		if v := recover(); v != nil {
			panicked = fmt.Sprint(v)
		}
		err = errors.Join(err, tr.end())
	}()
	err = r.run(call)
	return "", err
}

// expiring is a context that is cancelled when it is asked for the nth time. It goes on counting.
type expiring struct {
	context.Context
	asked atomic.Int64
	n     int64
	done  chan struct{}
}

func newExpiring(n int64) *expiring {
	return &expiring{Context: context.Background(), n: n, done: make(chan struct{})}
}

func (c *expiring) ask() bool {
	k := c.asked.Add(1)
	if k == c.n {
		close(c.done)
	}
	return k >= c.n
}

func (c *expiring) Done() <-chan struct{} { c.ask(); return c.done }

func (c *expiring) Err() error {
	if c.ask() {
		return context.Canceled
	}
	return nil
}

// linearMisuse tests bad input, and calls that are cancelled while they run.
func (s *suite) linearMisuse(t *testing.T) {
	const n = 9
	for _, r := range linearRoutines {
		tr := s.trial("misuse of linsolve."+r.name, 0)
		options := func() *halfulp.Options { return tr.b.Options() }
		a, b := shaped(r.kind, 16000, gallery.Hilbert(halfulp.MP(80), n), gallery.Random(halfulp.Float64, n, n, 0, 1))
		a, b = a.Clone(), b.Clone()
		expect := func(what string, a, b *halfulp.Matrix, opt *halfulp.Options, want error) {
			t.Helper()
			panicked, err := tr.try(r, a, b, opt)
			var bad *mismatch
			if !errors.Is(err, want) || errors.As(err, &bad) || panicked != "" {
				t.Errorf("linsolve.%s, %s: error %v, panic %q, want %v", r.name, what, err, panicked, want)
			}
		}
		expect("nothing wrong", a, b, options(), nil)
		for _, z := range []halfulp.Scalar{halfulp.NaN(halfulp.Float64), halfulp.Float(math.Inf(1)), halfulp.Float(math.Inf(-1))} {
			for _, at := range [][2]int{{0, 0}, {a.Rows() - 1, 0}} {
				bad := a.Clone()
				bad.Set(at[0], at[1], z)
				if r.kind == symmetricA || r.kind == definiteA {
					bad.Set(at[1], at[0], z)
				}
				expect(fmt.Sprintf("%v in A", z), bad, b, options(), linsolve.ErrNotFinite)
				bad = b.Clone()
				bad.Set(at[0], at[1], z)
				if r.takesB() {
					expect(fmt.Sprintf("%v in B", z), a, bad, options(), linsolve.ErrNotFinite)
				}
			}
		}
		o := options()
		o.Method = "lu"
		expect("an unknown method", a, b, o, halfulp.ErrMethod)
		o = options()
		o.Device = "cuda:99"
		want := halfulp.ErrDevice
		if s.b.place != "" {
			want = nil // the operands determine the device
		}
		if panicked, err := tr.try(r, a, b, o); !errors.Is(err, want) && s.b.place == "" || panicked != "" {
			t.Errorf("linsolve.%s on a device that is not there: %v, %q", r.name, err, panicked)
		}

		const shapes = "linsolve: shapes do not fit"
		fails := func(what string, a, b *halfulp.Matrix) {
			t.Helper()
			if panicked, err := tr.try(r, a, b, options()); panicked != shapes {
				t.Errorf("linsolve.%s, %s: error %v, panic %q", r.name, what, err, panicked)
			}
		}
		if r.kind == squareA || r.kind == symmetricA || r.kind == definiteA {
			fails("a matrix that is not square", a.Slice(0, a.Rows(), 0, a.Cols()-1).Clone(), b)
			fails("a matrix that is not square", a.Slice(0, a.Rows()-1, 0, a.Cols()).Clone(), b)
		}
		if r.takesB() {
			fails("another number of rows of B", a, b.Slice(0, b.Rows()-1, 0, b.Cols()).Clone())
		}

		// Cancelled from the start, then later and later.
		for k := int64(1); ; k = k + k/2 + 1 {
			ctx := newExpiring(k)
			o := options()
			o.Context = ctx
			panicked, err := tr.try(r, a, b, o)
			if err == nil && panicked == "" && ctx.asked.Load() < k {
				if k == 1 {
					t.Errorf("linsolve.%s never asks its context", r.name)
				}
				break
			}
			var bad *mismatch
			if err != nil && !errors.Is(err, context.Canceled) || errors.As(err, &bad) || panicked != "" || err == nil && k == 1 {
				t.Errorf("linsolve.%s, cancelled at the %dth question: %v, %q", r.name, k, err, panicked)
				break
			}
			// Each thread asks some more times before it ends.
			if more := ctx.asked.Load() - k; more > int64(80+10*runtime.GOMAXPROCS(0)) {
				t.Errorf("linsolve.%s, cancelled at the %dth question, asks %d times more", r.name, k, more)
			}
		}
	}
}

// eigenRoutines are routines of package eigen that take matrices as package linsolve does.
var eigenRoutines = []linearRoutine{
	{"Sym", symmetricA, func(c *linear) error {
		return c.spectrum(eigen.Sym(c.a, c.f, &eigen.SymOptions{Options: *c.opt, ValuesOnly: c.valuesOnly()}))
	}, func(f halfulp.Format, a, _ *halfulp.Matrix, out []*halfulp.Matrix) error {
		x := lintest.Of(a)
		for p := range a.Rows() {
			if w := x.Eigenvalue(f, p, out[0].At(p, 0)); !out[0].At(p, 0).Same(w) {
				return mismatchf("eigenvalue %d is %s, want %s", p, out[0].At(p, 0).Hex(), w.Hex())
			}
		}
		return nil
	}, nil},
	{"SVD", tallA, func(c *linear) error {
		z, err := eigen.SVD(c.a, c.f, &eigen.SVDOptions{Options: *c.opt, ValuesOnly: c.valuesOnly()})
		if err != nil {
			return err
		}
		if err := c.result(z.S.Matrix(), nil); err != nil {
			return err
		}
		if c.valuesOnly() {
			return nil
		}
		if err := c.result(z.U, nil); err != nil {
			return err
		}
		return c.result(z.V, nil)
	}, func(f halfulp.Format, a, _ *halfulp.Matrix, out []*halfulp.Matrix) error {
		x := lintest.Of(a)
		n := a.Cols()
		gram := x.T(n).Times(x, n)
		for q := range n {
			if w := gram.SingularValue(f, n-1-q, out[0].At(q, 0)); !out[0].At(q, 0).Same(w) {
				return mismatchf("singular value %d is %s, want %s", q, out[0].At(q, 0).Hex(), w.Hex())
			}
		}
		return nil
	}, nil},
	{"NullSpace with a tolerance", wideA, func(c *linear) error {
		if c.valuesOnly() {
			return nil
		}
		return c.result(eigen.NullSpace(c.a, c.f, &eigen.Options{Options: *c.opt, RCond: &tolerance}))
	}, func(f halfulp.Format, a, _ *halfulp.Matrix, out []*halfulp.Matrix) error {
		if len(out) == 0 {
			return nil
		}
		// Columns are orthonormal up to roundings, and A Z is small relative to A.
		z, wide := out[0], halfulp.MP(400)
		n := a.Cols()
		if z.Rows() != n || z.Cols() < n-a.Rows() {
			return mismatchf("%d x %d for %d x %d", z.Rows(), z.Cols(), a.Rows(), n)
		}
		g, err := halfulp.Mul(z.T(), z, wide, nil)
		if err != nil {
			return err
		}
		for i := range z.Cols() {
			for j := range z.Cols() {
				d := g.Big(i, j)
				if i == j {
					d.Sub(d, big.NewFloat(1))
				}
				if d.Sign() != 0 && d.MantExp(nil) > 8-f.Bits() {
					return mismatchf("entry (%d, %d) of Zᵀ Z - I is %s", i, j, d.Text('g', 6))
				}
			}
		}
		r, err := halfulp.Mul(a, z, wide, nil)
		if err != nil {
			return err
		}
		norm := func(m *halfulp.Matrix) *big.Float {
			most := new(big.Float)
			for i := range m.Rows() {
				for j := range m.Cols() {
					if x := m.Big(i, j); x.Abs(x).Cmp(most) > 0 {
						most = x
					}
				}
			}
			return most
		}
		limit := new(big.Float).Mul(norm(a), big.NewFloat(float64(n)*(1e-6+math.Ldexp(4, -f.Bits()))))
		if x := norm(r); x.Cmp(limit) > 0 {
			return mismatchf("an entry of A Z is %s, of A %s", x.Text('g', 6), norm(a).Text('g', 6))
		}
		return nil
	}, nil},
}

// tolerance is the RCond of null spaces.
var tolerance = halfulp.Float(1e-6)

// spectrum adds eigenvalues and eigenvectors.
func (c *linear) spectrum(z *eigen.SymResult, err error) error {
	if err != nil {
		return err
	}
	if err := c.result(z.Values.Matrix(), nil); err != nil || c.valuesOnly() {
		return err
	}
	return c.result(z.Vectors, nil)
}

// valuesOnly reports whether vectors are left out: their small entries are enclosed to more than 5
// times the bits of the format, which takes seconds for wide formats and exponents far apart.
func (c *linear) valuesOnly() bool { return c.f.Bits() > 128 || wide[c.family] }
