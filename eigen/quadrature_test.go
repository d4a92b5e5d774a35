package eigen_test

import (
	"context"
	"errors"
	"math"
	"math/big"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/eigen"
	"github.com/halfulp/halfulp/internal/testlength"
)

// piDigits are the first digits of π.
const piDigits = "3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211706798214808651328230664709384460955058223172535940812848111745028410270193852110555964462294895493038196442881097566593344612847564823378678316527120190914564856692346034861045432664821339360726024914127372458700660631558817488152092096282925409171536436"

// A ruleOracle computes a quadrature rule in another way: nodes as sign changes of a polynomial
// in exact arithmetic, weights by a formula in many bits.
type ruleOracle struct {
	name string
	run  func(n int, f halfulp.Format, opt *halfulp.Options) (x, w *halfulp.Vector, err error)
	// step returns the polynomial of degree k+1 at x from the polynomials of degrees k and k-1.
	step func(k int64, x, p, before *big.Float) *big.Float
	// derivative returns the derivative of the polynomial of degree n.
	derivative func(n int64, x, p, before *big.Float) *big.Float
	weight     func(n int64, x, before, derivative *big.Float) *big.Float
}

// oracleBits are the bits of oracles: all numbers of tests fit, and products of them are exact in
// step for nodes of few bits.
const oracleBits = 1100

func num(x int64) *big.Float { return new(big.Float).SetPrec(oracleBits).SetInt64(x) }

func calc() *big.Float { return new(big.Float).SetPrec(oracleBits) }

func pi() *big.Float {
	x, _, err := big.ParseFloat(piDigits, 10, oracleBits, big.ToNearestEven)
	if err != nil {
		panic(err)
	}
	return x
}

func factorial(n int64) *big.Float { return calc().SetInt(new(big.Int).MulRange(1, n)) }

func oracles() []ruleOracle {
	mul, sub, quo := func(x ...*big.Float) *big.Float {
		z := num(1)
		for _, y := range x {
			z.Mul(z, y)
		}
		return z
	}, func(x, y *big.Float) *big.Float { return calc().Sub(x, y) },
		func(x, y *big.Float) *big.Float { return calc().Quo(x, y) }
	oneLess := func(x *big.Float) *big.Float { return sub(num(1), mul(x, x)) }
	return []ruleOracle{
		{"Legendre", eigen.GaussLegendre, func(k int64, x, p, before *big.Float) *big.Float {
			return quo(sub(mul(num(2*k+1), x, p), mul(num(k), before)), num(k+1))
		}, func(n int64, x, p, before *big.Float) *big.Float {
			return quo(mul(num(n), sub(before, mul(x, p))), oneLess(x))
		}, func(n int64, x, before, _ *big.Float) *big.Float { // 2 (1 - x²) / (n P_(n-1))²
			return quo(mul(num(2), oneLess(x)), mul(num(n), num(n), before, before))
		}},
		{"Hermite", eigen.GaussHermite, func(k int64, x, p, before *big.Float) *big.Float {
			return sub(mul(num(2), x, p), mul(num(2*k), before))
		}, func(n int64, _, _, before *big.Float) *big.Float {
			return mul(num(2*n), before)
		}, func(n int64, _, before, _ *big.Float) *big.Float { // 2^(n-1) n! √π / (n H_(n-1))²
			z := mul(factorial(n), calc().Sqrt(pi()))
			return quo(z.SetMantExp(z, int(n-1)), mul(num(n), num(n), before, before))
		}},
		{"Laguerre", eigen.GaussLaguerre, func(k int64, x, p, before *big.Float) *big.Float {
			return quo(sub(mul(sub(num(2*k+1), x), p), mul(num(k), before)), num(k+1))
		}, func(n int64, x, p, before *big.Float) *big.Float {
			return quo(mul(num(n), sub(p, before)), x)
		}, func(n int64, x, before, _ *big.Float) *big.Float { // x / (n L_(n-1))²
			return quo(x, mul(num(n), num(n), before, before))
		}},
		{"Chebyshev 1", eigen.GaussChebyshev1, func(k int64, x, p, before *big.Float) *big.Float {
			if k == 0 {
				return x
			}
			return sub(mul(num(2), x, p), before)
		}, func(n int64, x, p, before *big.Float) *big.Float {
			return quo(mul(num(n), sub(before, mul(x, p))), oneLess(x))
		}, func(n int64, _, _, _ *big.Float) *big.Float { return quo(pi(), num(n)) }},
		{"Chebyshev 2", eigen.GaussChebyshev2, func(_ int64, x, p, before *big.Float) *big.Float {
			return sub(mul(num(2), x, p), before)
		}, func(n int64, x, p, before *big.Float) *big.Float {
			return quo(sub(mul(num(n+1), before), mul(num(n), x, p)), oneLess(x))
		}, func(n int64, x, _, _ *big.Float) *big.Float {
			return quo(mul(pi(), oneLess(x)), num(n+1))
		}},
	}
}

// at returns the polynomials of degrees n and n-1 at x.
func (o ruleOracle) at(n int, x *big.Float) (p, before *big.Float) {
	before, p = new(big.Float), num(1)
	for k := range n {
		before, p = p, o.step(int64(k), x, p, before)
	}
	return p, before
}

// check compares the rule of n points with the oracle. Signs of polynomials in oracleBits bits are
// exact for all purposes: the values are far larger than the errors, which is checked.
func (o ruleOracle) check(t *testing.T, n int, f halfulp.Format) {
	t.Helper()
	x, w, err := o.run(n, f, nil)
	if err != nil || x.Len() != n || w.Len() != n || x.NumberFormat() != f || w.NumberFormat() != f {
		t.Fatalf("%s, %d points, %v: %v", o.name, n, f, err)
	}
	for i := range n {
		node := x.Big(i)
		if i > 0 && node.Cmp(x.Big(i-1)) <= 0 {
			t.Fatalf("%s, %d points, %v: nodes %v and %v", o.name, n, f, x.At(i-1), x.At(i))
		}
		lo, hi, _ := roundsTo(f, node)
		sign := func(r *big.Rat) int {
			p, _ := o.at(n, calc().SetRat(r))
			if p.Sign() != 0 && p.MantExp(nil) < -oracleBits/2 {
				t.Fatalf("the oracle has too few bits")
			}
			return p.Sign()
		}
		at, _ := o.at(n, calc().Set(node))
		exact := at.Sign() == 0 // the node is a number of the format
		if node.Sign() == 0 {
			if n%2 == 0 || i != n/2 {
				t.Fatalf("%s, %d points, %v: node %d is 0", o.name, n, f, i)
			}
		} else if sign(lo)*sign(hi) >= 0 { // nodes in the middle are irrational
			t.Fatalf("%s, %d points, %v: node %d is %v", o.name, n, f, i, x.At(i))
		}
		// Bisection, then Newton's method.
		y := calc().Set(node)
		for a, b := calc().SetRat(lo), calc().SetRat(hi); !exact && b.Cmp(a) > 0; {
			y = calc().Add(a, b)
			y.SetMantExp(y, -1)
			if d := calc().Sub(b, a); d.MantExp(nil) < node.MantExp(nil)-40 {
				break
			}
			p, _ := o.at(n, y)
			q, _ := o.at(n, a)
			if p.Sign() == q.Sign() {
				a = y
			} else {
				b = y
			}
		}
		for range 9 {
			if exact {
				break
			}
			p, before := o.at(n, y)
			y.Sub(y, p.Quo(p, o.derivative(int64(n), y, p, before)))
		}
		p, before := o.at(n, y)
		want := o.weight(int64(n), y, before, o.derivative(int64(n), y, p, before))
		z := halfulp.NewScalar(f, want)
		if !w.At(i).Same(z) {
			t.Fatalf("%s, %d points, %v: weight %d is %v, want %v", o.name, n, f, i, w.At(i), z)
		}
	}
}

func TestGauss(t *testing.T) {
	for _, o := range oracles() {
		t.Run(o.name, func(t *testing.T) {
			t.Parallel()
			for n := 1; n <= testlength.Of(8, 12, 60); n++ {
				for _, f := range []halfulp.Format{halfulp.Float32, halfulp.Float64, halfulp.MP(14), halfulp.MP(100), halfulp.MP(300)} {
					o.check(t, n, f)
				}
			}
			for _, n := range []int{testlength.Of(30, 50, 200), testlength.Of(31, 51, 201)} {
				o.check(t, n, halfulp.Float64)
			}
			if x, w, err := o.run(0, halfulp.Float64, nil); err != nil || x.Len() != 0 || w.Len() != 0 {
				t.Errorf("no points: %v %v %v", x, w, err)
			}
		})
	}
}

// TestGaussFormats compares formats of several terms with numbers of more bits.
func TestGaussFormats(t *testing.T) {
	for _, o := range oracles() {
		for _, n := range []int{1, 2, 3, 7, testlength.Of(12, 12, 20)} {
			x, w, err := o.run(n, halfulp.MP(1500), nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range []halfulp.Format{halfulp.DD, halfulp.TD, halfulp.QD} {
				y, v, err := o.run(n, f, nil)
				if err != nil {
					t.Fatal(err)
				}
				if !y.Same(x.Convert(f)) || !v.Same(w.Convert(f)) {
					t.Errorf("%s, %d points, %v", o.name, n, f)
				}
			}
		}
	}
}

// TestGaussSums checks that weights of many points add up, and Stats.
func TestGaussSums(t *testing.T) {
	sqrtPi, halfPi := math.Sqrt(math.Pi), math.Pi/2
	for i, want := range []float64{2, sqrtPi, 1, math.Pi, halfPi} {
		o := oracles()[i]
		var st halfulp.Stats
		_, w, err := o.run(testlength.Of(200, 500, 2000), halfulp.Float64, &halfulp.Options{Stats: &st})
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for k := range w.Len() {
			sum += w.Float64(k)
		}
		if math.Abs(sum-want) > 1e-12 || st.Undecided != 0 || st.Method != halfulp.Direct || len(st.Stages) == 0 {
			t.Errorf("%s: sum %v, want %v; %+v", o.name, sum, want, st)
		}
	}
}

func TestGaussErrors(t *testing.T) {
	for _, o := range oracles() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if _, _, err := o.run(5, halfulp.Float64, &halfulp.Options{Context: ctx}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: cancelled: %v", o.name, err)
		}
		if _, _, err := o.run(1<<24, halfulp.Float64, &halfulp.Options{MemoryLimit: 1 << 20}); !errors.Is(err, halfulp.ErrMemory) {
			t.Errorf("%s: memory: %v", o.name, err)
		}
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", o.name)
				}
			}()
			_, _, _ = o.run(-1, halfulp.Float64, nil)
		}()
	}
}
