package linsolve

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

// The tests of this file are reduced cases of defects that reviews found.

// power2 returns x 2^e.
func power2(x float64, e int) *big.Float { return new(big.Float).SetMantExp(big.NewFloat(x), e) }

// An entry of an expansion whose second term lies far below its first one.
func TestExpmExpansionTerms(t *testing.T) {
	a := halfulp.NewMatrixFloat64(3, 3, 3, []float64{0, 0, 0, 1, 0, 0, 1, 0x1p-299, 0})
	want := new(big.Float).SetPrec(2000).Add(big.NewFloat(1), power2(1, -300))
	for _, f := range lintest.Formats {
		x, err := Expm(a, f, nil)
		if err != nil {
			t.Fatal(err)
		}
		if z := halfulp.NewScalar(f, want); !x.At(0, 2).Same(z) {
			t.Errorf("%v: %s, want %s", f, x.At(0, 2).Hex(), z.Hex())
		}
	}
}

// Determinants of matrices of numbers far from 1 take no arithmetic modulo primes.
func TestDetScaled(t *testing.T) {
	const n = 20
	for _, e := range []int{-2000, -300, 300, 2000} {
		a := gallery.Random(halfulp.MP(60), n, n, 0, 1)
		for i := range n {
			for j := range n {
				a.SetBig(i, j, new(big.Float).SetMantExp(a.Big(i, j), e))
			}
		}
		var stats halfulp.Stats
		if _, err := Det(a, halfulp.MP(60), &halfulp.Options{Stats: &stats}); err != nil || stats.Exact != 0 {
			t.Errorf("times 2^%d: %v, %+v", e, err, stats)
		}
	}
}

// Residuals, powers and bounds that leave the exponents of formats must not become zeros or
// infinities.
func TestFarExponents(t *testing.T) {
	matrix := func(n, k int, x ...*big.Float) *halfulp.Matrix { return halfulp.NewMatrixBig(halfulp.MP(64), n, k, x) }
	const least = big.MinExp + 40
	three, one := matrix(1, 1, power2(3, least)), matrix(1, 1, power2(1, least))
	for name, do := range map[string]func(x *halfulp.Matrix) error{
		"Solve": func(x *halfulp.Matrix) error { return lintest.Into(x)(Solve(three, one, x.NumberFormat(), nil)) },
		"Solve, A alone": func(x *halfulp.Matrix) error {
			return lintest.Into(x)(Solve(three, halfulp.Identity(halfulp.Float64, 1), x.NumberFormat(), nil))
		},
		"Solve, B alone": func(x *halfulp.Matrix) error {
			return lintest.Into(x)(Solve(matrix(1, 1, power2(3, 0)), one, x.NumberFormat(), nil))
		},
		"Enclose":  func(x *halfulp.Matrix) error { _, _, err := Enclose(three, one, 1, x.NumberFormat(), nil); return err },
		"Inverse":  func(x *halfulp.Matrix) error { return lintest.Into(x)(Inverse(three, x.NumberFormat(), nil)) },
		"LU":       func(x *halfulp.Matrix) error { _, err := LU(three, x.NumberFormat(), nil); return err },
		"Cholesky": func(x *halfulp.Matrix) error { _, err := Cholesky(three, x.NumberFormat(), nil); return err },
		"LDLT":     func(x *halfulp.Matrix) error { _, err := LDLT(three, x.NumberFormat(), nil); return err },
		"QR":       func(x *halfulp.Matrix) error { _, err := QRPivoted(three, x.NumberFormat(), nil); return err },
		"Pow":      func(x *halfulp.Matrix) error { return lintest.Into(x)(Pow(three, 3, x.NumberFormat(), nil)) },
		"Pow of a large number beside 1": func(x *halfulp.Matrix) error {
			a := matrix(2, 2, power2(1, 1<<30), new(big.Float), new(big.Float), power2(1, 0))
			return lintest.ErrorOf(Pow(a, 8, x.NumberFormat(), nil))
		},
	} {
		x := halfulp.NewMatrix(halfulp.MP(200), 1, 1)
		if err := do(x); !errors.Is(err, call.ErrRange) || x.Big(0, 0).Sign() != 0 {
			t.Errorf("%s: %v, %v", name, err, x.At(0, 0))
		}
	}
	// Determinants need none of those.
	if z, err := Det(three, halfulp.MP(64), nil); err != nil || z.Big().Cmp(power2(3, least)) != 0 {
		t.Errorf("%v, %v", z, err)
	}
}

// Formats have up to 2^20 bits, and so have intermediate numbers.
func TestWideFormats(t *testing.T) {
	three := halfulp.NewMatrixFloat64(1, 1, 1, []float64{3})
	f := halfulp.MP(halfulp.MaxPrec)
	if z, err := Det(three, f, nil); err != nil || z.Float64() != 3 {
		t.Errorf("%v, %v", z, err)
	}
	if _, err := Cond(halfulp.OneNorm, three, f, nil); !errors.Is(err, halfulp.ErrMemory) {
		t.Error(err)
	}
	if _, err := Inverse(three, f, nil); !errors.Is(err, halfulp.ErrMemory) {
		t.Error(err)
	}
	if _, _, err := Enclose(three, three, 1, f, nil); !errors.Is(err, halfulp.ErrMemory) {
		t.Error(err)
	}
	// x = (1, 0, 1/3), and integers of 2^21 bits prove its 1 and its 0.
	const e = 1 << 21
	a, b := halfulp.NewMatrix(halfulp.MP(64), 3, 3), halfulp.NewMatrix(halfulp.MP(64), 3, 1)
	for _, v := range []struct{ i, j, x, e int }{{0, 0, 1, 0}, {0, 1, 1, e}, {1, 0, 1, e}, {1, 1, 1, 0}, {2, 2, 3, 0}} {
		a.SetBig(v.i, v.j, power2(float64(v.x), v.e))
	}
	b.SetBig(0, 0, power2(1, 0))
	b.SetBig(1, 0, power2(1, e))
	b.SetBig(2, 0, power2(1, 0))
	if err := lintest.ErrorOf(Solve(a, b, halfulp.MP(64), nil)); !errors.Is(err, halfulp.ErrMemory) {
		t.Error(err)
	}
}

// A component far below the others, because its right-hand side is.
func TestSolveFarComponent(t *testing.T) {
	e := -testlength.Of(2000, 2000, 70000)
	a := halfulp.NewMatrixFloat64(2, 2, 2, []float64{3, 0, 1, 3})
	b := halfulp.NewMatrixBig(halfulp.MP(64), 2, 1, []*big.Float{power2(1, 0), power2(1, e)})
	var stats halfulp.Stats
	x, err := Solve(a, b, halfulp.MP(64), &halfulp.Options{Stats: &stats})
	third := new(big.Float).SetPrec(200).Quo(big.NewFloat(1), big.NewFloat(3))
	if want := halfulp.NewScalar(halfulp.MP(64), third.SetMantExp(third, e)); err != nil || !x.At(1, 0).Same(want) {
		t.Fatalf("%v, %v (%+v)", x.At(1, 0), err, stats)
	}
}

// Approximate inverses of these matrices are singular unless the code prevents it.
func TestUlpFromSingular(t *testing.T) {
	i := slices.IndexFunc(lintest.Families, func(f lintest.Family) bool { return f.Name == "an ulp from singular" })
	r := testseed.Rand(t, 1, 1)
	for trial := range testlength.Of(100, 200, 5000) {
		n := 2 + r.IntN(5)
		a, b := lintest.Families[i].Make(r, n, 1)
		if stats := check(t, fmt.Sprintf("trial %d", trial), a, b, halfulp.Float64); stats.Rounds > 5 {
			t.Errorf("trial %d: %d rounds", trial, stats.Rounds)
		}
	}
}

// Seeds of this matrix remain singular whatever is perturbed: numbers far apart vanish beside each
// other.
func TestSeedsInVain(t *testing.T) {
	const most = math.MaxFloat64
	a := halfulp.NewMatrixFloat64(5, 5, 5, []float64{
		most, most, 0x1p-1074, most, -0x1p-1074,
		0x1p-500, most, most, most, most,
		-0x1p-1074, -most, 0x1p-1074, 0x1p-500, most,
		0x1p-500, -most, -0x1p-1074, 0x1p-1022, -0x1p-1074,
		0x1p-1022, -most, -most, -most, -most,
	})
	check(t, "far apart", a, halfulp.NewMatrixFloat64(5, 1, 5, []float64{1, 2, 3, 4, 5}), halfulp.Float64)
}

// Zeros of a solution whose other entries are numbers of the format. Few bits determine these
// entries and prove that they solve the system. A bound of the inverse, far above the entries, made
// all of them look like 0.
func TestSolveZerosAmongIntegers(t *testing.T) {
	const n = 60
	r := testseed.Rand(t, 1, 2)
	x, b := lintest.Integers(r, n, 1, 5), halfulp.NewMatrix(halfulp.MP(600), n, 1)
	for i := range 4 {
		x.SetFloat64(7*i, 0, 0)
	}
	a := gallery.Hilbert(halfulp.MP(304), n)
	if err := halfulp.GemmTo(halfulp.NoTrans, halfulp.NoTrans, halfulp.Float(1), a, x, halfulp.Float(0), nil, b, nil); err != nil {
		t.Fatal(err)
	}
	var stats halfulp.Stats
	y, err := Solve(a, b, halfulp.Float64, &halfulp.Options{Stats: &stats})
	// Without kernels for digits rational numbers cost less.
	solved := stats.Solved == 1 && stats.Digits == 0 || stats.Exact == n
	if err != nil || !y.Same(x) || !solved {
		t.Errorf("%v, %v (%+v)", y, err, stats)
	}
}

// Ties in the first rows and columns of factors are quotients of minors of few rows, which few
// primes determine.
func TestFirstTies(t *testing.T) {
	const n = 60
	a := halfulp.NewMatrix(halfulp.MP(64), n, n)
	r := testseed.Rand(t, 5, 6)
	for i := range n {
		for j := range n {
			a.SetFloat64(i, j, float64(r.Int64N(1<<53)))
		}
	}
	// The first pivots, and a 0 in row 1 after one step.
	a.SetFloat64(0, 0, 0x1p60)
	a.SetFloat64(1, 1, 0x1p60)
	a.SetFloat64(1, 0, 0x1p59)
	a.SetBig(1, 2, new(big.Float).SetMantExp(a.Big(0, 2), -1))
	var stats halfulp.Stats
	z, err := LU(a, halfulp.Float64, &halfulp.Options{Stats: &stats})
	if err != nil || z.U.At(1, 2).Sign() != 0 || stats.Ties < 1 || stats.Primes > 4 {
		t.Errorf("LU: %v %v (%+v)", err, z.U.At(1, 2), stats)
	}
}

// The size of I - R A does not show how many bits an elimination lacks: the normal equations of a
// matrix of condition 2^700 took more than twenty eliminations.
func TestFewEliminations(t *testing.T) {
	const n = 30
	r := testseed.Rand(t, 1, 2)
	g, d := lintest.Integers(r, n, n, 255), halfulp.NewMatrix(halfulp.Float64, n, n)
	for i := range n {
		for j := range n {
			d.SetFloat64(i, j, math.Ldexp(g.Float64(i, j), -700*i/(n-1)))
		}
	}
	a := halfulp.NewMatrix(halfulp.MP(1600), n, n)
	if err := halfulp.GemmTo(halfulp.NoTrans, halfulp.NoTrans, halfulp.Float(1), g.T(), d, halfulp.Float(0), nil, a, nil); err != nil {
		t.Fatal(err)
	}
	b, x, y := gallery.Random(halfulp.Float64, n, 1, 0, 1), halfulp.NewMatrix(halfulp.Float64, n, 1), halfulp.NewMatrix(halfulp.Float64, n, 1)
	var stats halfulp.Stats
	err := lintest.Into(x)(LeastSquares(a, b, x.NumberFormat(), &LeastSquaresOptions{Options: halfulp.Options{Stats: &stats}}))
	if err != nil || stats.Rounds > 4*n {
		t.Errorf("%v, %d decompositions", err, stats.Rounds)
	}
	if err := lintest.Into(y)(Solve(a, b, y.NumberFormat(), nil)); err != nil || !x.Same(y) {
		t.Errorf("%v, and not the solution of the system", err)
	}
}
