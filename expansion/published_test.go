package expansion

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/halfulp/halfulp/internal/bigfun"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

// publishedLimit is the limit in the documentation of Published for an error of w words, in units
// of u^w: proved bounds for PublishedDD; for PublishedQD several times the largest errors found, in
// the same terms. size is |x| for e^x, sin x and cos x, and |ln x| for ln x.
func publishedLimit(name string, w int, size float64) float64 {
	list := map[string][2][2]float64{
		"Add": {{3}, {1}}, "Mul": {{5}, {0.5}}, "Div": {{15}, {4}}, "Sqrt": {{16}, {1}},
		"exp": {{2070, 10}, {256, 2}}, "log": {{2100, 13}, {256, 2}}, "sin": {{75, 10}, {1, 0.5}}, "cos": {{75, 10}, {1, 0.5}},
	}
	c := list[name][w/2-1]
	return c[0] + float64(c[1]*size)
}

// published is the operation or function of that name of slices of words.
func published(name string, x, y []float64) []float64 {
	op := publishedOperation(slices.Index(publishedNames, name))
	if y == nil {
		y = x
	}
	if len(x) == 2 {
		z := publishedOf(op, PublishedDD(x), PublishedDD(y))
		return z[:]
	}
	z := publishedOf(op, PublishedQD(x), PublishedQD(y))
	return z[:]
}

// TestPublishedErrors compares the errors of all operations and functions with the documentation.
func TestPublishedErrors(t *testing.T) {
	for _, w := range []int{2, 4} {
		t.Run(fmt.Sprint(w, " words"), func(t *testing.T) {
			t.Parallel()
			testPublishedErrors(t, w)
		})
	}
}

func testPublishedErrors(t *testing.T, w int) {
	largest := map[string]float64{}
	seed := testseed.Of(t)
	r := rand.New(rand.NewPCG(seed, uint64(w)))
	check := func(name string, x, y, z []float64, want, scale *big.Float, size float64) {
		t.Helper()
		e := relative(z, want, scale)
		limit := publishedLimit(name, w, size)
		largest[name] = max(largest[name], e)
		largest[name+", of the limit"] = max(largest[name+", of the limit"], e/limit)
		if !(e <= limit) || !nearlyNormalised(z) {
			t.Errorf("seed %d: %s(%x, %x) = %x: error %.3g of 2^-%d, limit %g, normalised %v", seed, name, x, y, z, e, 53*w, limit, nearlyNormalised(z))
		}
	}
	const bits = 600
	near := func() *big.Float { return new(big.Float).SetPrec(bits) }
	wide := func() *big.Float { return new(big.Float).SetPrec(4 * prec) }
	one := big.NewFloat(1)
	for range sweeps() {
		x, y := operand(r, w, -300, 300), operand(r, w, -300, 300)
		if r.IntN(2) == 0 {
			_, e := math.Frexp(x[0])
			y = operand(r, w, e-120, e+120)
		}
		X, Y := exact(x), exact(y)
		p, q := wide().Mul(X, Y), near().Quo(X, Y)
		check("Mul", x, y, published("Mul", x, y), p, p, 0)
		check("Div", x, y, published("Div", x, y), q, q, 0)
		if r.IntN(4) == 0 {
			y = precision(53).near(r, x)
			Y = exact(y)
		}
		both := wide().Add(wide().Abs(X), wide().Abs(Y))
		check("Add", x, y, published("Add", x, y), wide().Add(X, Y), both, 0)
		check("Add", x, y, published("Sub", x, y), wide().Sub(X, Y), both, 0)
		if x[0] > 0 {
			s, l := near().Sqrt(X), bigfun.Log(X, bits)
			size, _ := l.Float64()
			check("Sqrt", x, nil, published("Sqrt", x, x), s, s, 0)
			check("log", x, nil, published("log", x, x), l, one, math.Abs(size))
		}
		x = operand(r, w, -60, 8)
		X = exact(x)
		e := bigfun.Exp(X, bits)
		check("exp", x, nil, published("exp", x, x), e, e, math.Abs(x[0]))
		if r.IntN(2) == 0 {
			x = operand(r, w, 0, 40)
			X = exact(x)
		}
		s, c := bigfun.SinCos(X, bits)
		check("sin", x, nil, published("sin", x, x), s, one, math.Abs(x[0]))
		check("cos", x, nil, published("cos", x, x), c, one, math.Abs(x[0]))
		if math.Abs(x[0]) < 1e-3 { // there, errors are relative
			check("sin", x, nil, published("sin", x, x), s, s, 0)
		}
	}
	for name, e := range largest {
		t.Logf("%s, %d words: largest error %.3g", name, w, e)
	}
}

// nearlyNormalised reports whether |x[i+1]| <= ulp(x[i]), as Renorm leaves words.
func nearlyNormalised(x []float64) bool {
	for i := 1; i < len(x); i++ {
		_, e := math.Frexp(x[i-1])
		if x[i] != 0 && (x[i-1] == 0 || math.Abs(x[i]) > math.Ldexp(1, e-53)) {
			return false
		}
	}
	return true
}

// TestPublishedCancellation shows that a sum which cancels is not accurate, unlike in DD and QD.
func TestPublishedCancellation(t *testing.T) {
	for _, w := range []int{2, 4} {
		r := testseed.Rand(t, 1, uint64(w))
		worst, ours := 0.0, 0.0
		for range 20000 {
			x := operand(r, w, 0, 0)
			y := precision(53).near(r, x)
			want := exact(x)
			if want.Add(want, exact(y)); want.Sign() != 0 {
				worst = max(worst, relative(published("Add", x, y), want, want))
				ours = max(ours, relative(formats[w-2].add(x, y), want, want))
			}
		}
		t.Logf("%d words: %.3g, ours %.3g", w, worst, ours)
		if worst < 0x1p30 || ours > bounds["add"][w-2] {
			t.Errorf("%d words: largest relative error %.3g of 2^-%d, ours %.3g", w, worst, 53*w, ours)
		}
	}
}

// TestPublishedSplit compares Split, and Two-Prod by Split, with their definitions.
func TestPublishedSplit(t *testing.T) {
	r := testseed.Rand(t, 1, 1)
	for range testlength.Trials(20000) {
		a, b := word(r, -300, 300), word(r, -300, 300)
		hi, lo := split(a)
		if hi+lo != a || hi-a+lo != 0 || math.Float64bits(hi)<<37 != 0 || math.Float64bits(lo)<<37 != 0 {
			t.Fatalf("Split(%x) = %x, %x", a, hi, lo)
		}
		p, e := twoProd(a, b)
		if q, f := splitTwoProd(a, b); p != q || e != f {
			t.Fatalf("Two-Prod(%x, %x) = %x, %x, by FMA %x, %x", a, b, q, f, p, e)
		}
	}
}

// TestPublishedSpecials compares special values, and the ends of the range, with package math.
func TestPublishedSpecials(t *testing.T) {
	values := []float64{0, math.Copysign(0, -1), 0x1p-1074, 0x1p-1030, 1e-300, 0.5, 1, 2, -1, -3, 709, 710, -745, -746, 800, 1e15, -1e16, 1e300, math.MaxFloat64, math.Inf(1), math.Inf(-1), math.NaN()}
	for _, w := range []int{2, 4} {
		number := func(x float64) []float64 { return append([]float64{x}, make([]float64, w-1)...) }
		for _, x := range values {
			for name, f := range map[string]func(float64) float64{"Sqrt": math.Sqrt, "exp": math.Exp, "log": math.Log} {
				z, want := published(name, number(x), number(x)), f(x)
				if name == "log" && x > 0 && x < 0x1p-1022 { // where math.Log may err
					want, _ = bigfun.Log(big.NewFloat(x), 60).Float64()
				}
				if d := math.Abs(z[0] - want); !(z[0] == want && math.Signbit(z[0]) == math.Signbit(want) || z[0] != z[0] && want != want || d <= 1e-15*math.Abs(want)+0x1p-1073) {
					t.Errorf("%s(%g) = %x, want %x", name, x, z, want)
				}
				if !ordinary(z[0]) && z[1] != 0 {
					t.Errorf("%s(%g) = %x", name, x, z)
				}
			}
			for _, name := range []string{"sin", "cos"} {
				z := published(name, number(x), number(x))
				if reduced := math.Abs(x) < 1e15; reduced != (z[0] == z[0]) || reduced && !(math.Abs(z[0]) <= 1) {
					t.Errorf("%s(%g) = %x", name, x, z)
				}
			}
		}
		if z := published("sin", number(math.Copysign(0, -1)), number(0)); z[0] != 0 || !math.Signbit(z[0]) {
			t.Errorf("sin(-0) = %x", z)
		}
	}
}
