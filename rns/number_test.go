package rns

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/testlength"
)

// testPrec holds every exact sum and product of the tests.
const testPrec = 40000

func exactFloat() *big.Float { return new(big.Float).SetPrec(testPrec) }

// number returns ±x 2^e, x ≤ S, with a significand that is not reduced.
func number(b *Base, x *big.Int, e int, neg bool) *Number {
	z := b.NewNumber()
	if x.Sign() != 0 {
		b.setInt(&z.v, new(big.Int).Set(x), int64(e), neg)
	}
	return z
}

// testRounds is the number of rounds of a test for a base: fewer for long ones.
func testRounds(b *Base, n int) int {
	n /= testlength.Of(10, 3, 1)
	if b.n > 20 {
		n = n * 20 / b.n
	}
	return n
}

// significands are integers of [0, S].
func significands(b *Base, r *rand.Rand, random int) []*big.Int {
	var xs []*big.Int
	for _, x := range adversaries(b, r, random) {
		if x.Cmp(b.limInt) <= 0 {
			xs = append(xs, x)
		}
	}
	for d := int64(0); d < 3; d++ {
		xs = append(xs, new(big.Int).Sub(b.limInt, big.NewInt(d)))
	}
	return xs
}

// randomNumber returns a number and exponents next to each other, at the distances at
// which alignment changes, and farther apart.
func randomNumber(b *Base, r *rand.Rand, xs []*big.Int) *Number {
	p := b.prec
	e := []int{0, 0, 1, -1, p, p + 1, p - 1, -p, 2 * p, 2*p + 2, 2*p + 3, 3 * p, -3 * p}[r.IntN(13)] + r.IntN(5) - 2
	if r.IntN(4) == 0 {
		e = r.IntN(4*p) - 2*p
	}
	return number(b, xs[r.IntN(len(xs))], e, r.IntN(2) == 0)
}

// checkForm checks the conditions of doc.go on the fields of a number.
func checkForm(t *testing.T, z *Number) *big.Float {
	t.Helper()
	b := z.b
	x := b.CRT(z.v.x)
	if z.IsNaN() {
		t.Fatalf("NaN")
	}
	if x.Sign() == 0 {
		if !z.IsZero() || z.v.neg || z.v.exp != 0 || z.v.ev != (Interval{}) {
			t.Fatalf("zero as %v %d %v", z.v.neg, z.v.exp, z.v.ev)
		}
		return exactFloat()
	}
	if x.Cmp(new(big.Int).Sqrt(b.bigM)) >= 0 {
		t.Fatalf("significand %v of M = %v", x, b.bigM)
	}
	lo, _ := z.v.ev.Lo.Big().Rat(nil)
	up, _ := z.v.ev.Up.Big().Rat(nil)
	ratio := new(big.Rat).SetFrac(x, b.bigM)
	width := new(big.Rat).Sub(up, lo)
	if lo.Cmp(ratio) > 0 || ratio.Cmp(up) > 0 || lo.Sign() == 0 || width.Cmp(new(big.Rat).Mul(lo, big.NewRat(1, 1<<20))) > 0 {
		t.Fatalf("evaluation %v of %v / %v = %v", z.v.ev, x, b.bigM, ratio.FloatString(30))
	}
	f, err := z.Big()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// inUlps returns |got - exact| / |exact| in units of 1/√M.
func inUlps(b *Base, got, exact *big.Float) float64 {
	d := exactFloat().Sub(got, exact)
	if d.Sign() == 0 {
		return 0
	}
	d.SetPrec(100).Quo(d, new(big.Float).SetPrec(100).Set(exact))
	d.Mul(d, new(big.Float).SetPrec(100).Sqrt(new(big.Float).SetInt(b.bigM)))
	f, _ := d.Float64()
	return math.Abs(f)
}

// bound bounds errors, in units of 1/√M. The papers' bound is 4; doc.go proves 1.1 where M is not
// tiny.
func (b *Base) bound() float64 {
	if b.bigM.BitLen() < 40 {
		return 4
	}
	return 1.1
}

func describe(xs ...*Number) string {
	s := ""
	for _, x := range xs {
		sign := ""
		if x.v.neg {
			sign = "-"
		}
		s += fmt.Sprintf("%s%v·2^%d ", sign, x.b.CRT(x.v.x), x.v.exp)
	}
	return s
}

func TestArithmetic(t *testing.T) {
	for _, b := range testBases(t) {
		t.Run(b.testName(), func(t *testing.T) {
			r := newRand(t, 20)
			xs := significands(b, r, 100)
			rounds := testRounds(b, 3000)
			worst := map[string]float64{}
			for range rounds {
				x, y := randomNumber(b, r, xs), randomNumber(b, r, xs)
				if r.IntN(4) == 0 { // cancellation
					v := b.CRT(x.v.x)
					v.Add(v, big.NewInt(int64(r.IntN(5)-2)))
					if v.Sign() > 0 && v.Cmp(b.limInt) <= 0 {
						y = number(b, v, int(x.v.exp), !x.v.neg)
					}
				}
				fx, fy := checkForm(t, x), checkForm(t, y)
				for _, op := range []struct {
					name  string
					do    func(z, x, y *Number) *Number
					exact *big.Float
				}{
					{"+", (*Number).Add, exactFloat().Add(fx, fy)},
					{"-", (*Number).Sub, exactFloat().Sub(fx, fy)},
					{"*", (*Number).Mul, exactFloat().Mul(fx, fy)},
				} {
					z := op.do(b.NewNumber(), x, y)
					got := checkForm(t, z)
					if op.exact.Sign() == 0 != z.IsZero() {
						t.Fatalf("%s %s: %v, want %v", op.name, describe(x, y), got, op.exact)
					}
					if op.exact.Sign() == 0 {
						continue
					}
					err := inUlps(b, got, op.exact)
					if !(err < b.bound()) {
						t.Fatalf("%s %s: error %v/√M\n%v\n%v", op.name, describe(x, y), err, got, op.exact)
					}
					worst[op.name] = max(worst[op.name], err)
					// The result may be an operand.
					if v := op.do(b.NewNumber().Set(x), x, y); !same(op.do(v.Set(x), v, y), z) || !same(op.do(v.Set(y), x, v), z) {
						t.Fatalf("%s %s: another result in place", op.name, describe(x, y))
					}
				}
				if c, ok := x.Cmp(y); !ok || c != fx.Cmp(fy) {
					t.Fatalf("cmp %s: %d", describe(x, y), c)
				}
				if c, ok := x.CmpAbs(y); !ok || c != new(big.Float).Abs(fx).Cmp(new(big.Float).Abs(fy)) {
					t.Fatalf("cmpabs %s: %d", describe(x, y), c)
				}
			}
			t.Log(worst)
		})
	}
}

func same(x, y *Number) bool {
	if x.v.ev != y.v.ev || x.v.exp != y.v.exp || x.v.neg != y.v.neg {
		return false
	}
	for i := range x.v.x {
		if x.v.x[i] != y.v.x[i] {
			return false
		}
	}
	return true
}

func TestFMA(t *testing.T) {
	for _, b := range testBases(t) {
		t.Run(b.testName(), func(t *testing.T) {
			r := newRand(t, 21)
			xs := significands(b, r, 100)
			rounds := testRounds(b, 3000)
			worst := 0.0
			m := exactFloat().SetInt(b.bigM)
			for range rounds {
				x, y, c := randomNumber(b, r, xs), randomNumber(b, r, xs), randomNumber(b, r, xs)
				fx, fy, fc := checkForm(t, x), checkForm(t, y), checkForm(t, c)
				product := exactFloat().Mul(fx, fy)
				switch r.IntN(4) {
				case 3: // both as close to M as they come
					top := func(e int) *Number {
						return number(b, new(big.Int).Sub(b.limInt, big.NewInt(int64(r.IntN(3)))), e, r.IntN(2) == 0)
					}
					x, y, c = top(0), top(3), top(3+b.prec+r.IntN(9)-4)
					product.Mul(checkForm(t, x), checkForm(t, y))
					fc = checkForm(t, c)
				case 0: // c cancels the product
					c.SetBig(product)
					if !c.IsNaN() {
						c.v.neg = !c.v.neg && !c.IsZero()
						fc = checkForm(t, c)
					}
				case 1: // exponents of product and c at the distances that matter
					if !c.IsZero() && !x.IsZero() && !y.IsZero() {
						c.v.exp = x.v.exp + y.v.exp + int32(r.IntN(4*b.prec)-2*b.prec)
						fc = checkForm(t, c)
					}
				}
				exact := exactFloat().Add(product, fc)
				z := b.NewNumber().FMA(x, y, c)
				got := checkForm(t, z)
				// |error| ≤ u |x y + c| + u² (|x y| + |c|), u² = 16/M
				diff := exactFloat().Sub(got, exact)
				extra := exactFloat().Add(product.Abs(product), fc.Abs(fc))
				extra.Mul(extra, big.NewFloat(16)).Quo(extra.SetPrec(200), m)
				diff.Abs(diff).Sub(diff, extra)
				if diff.Sign() > 0 {
					diff.SetPrec(100).Quo(diff, exactFloat().Abs(exact))
					f, _ := diff.Mul(diff, new(big.Float).Sqrt(new(big.Float).SetPrec(100).SetInt(b.bigM))).Float64()
					if !(f < 2*b.bound()) {
						t.Fatalf("fma %s: error %v/√M", describe(x, y, c), f)
					}
					worst = max(worst, f)
				}
				for i, in := range []*Number{x, y, c} {
					args := []*Number{x, y, c}
					v := b.NewNumber().Set(in)
					args[i] = v
					if !same(v.FMA(args[0], args[1], args[2]), z) {
						t.Fatalf("fma %s: another result in place", describe(x, y, c))
					}
				}
			}
			t.Log("worst", worst)
		})
	}
}

func TestQuotientAndRoot(t *testing.T) {
	for _, b := range testBases(t) {
		t.Run(b.testName(), func(t *testing.T) {
			r := newRand(t, 22)
			xs := significands(b, r, 60)
			rounds := testRounds(b, 1500)
			var worstQ, worstR float64
			for range rounds {
				x, y := randomNumber(b, r, xs), randomNumber(b, r, xs)
				if r.IntN(8) == 0 {
					y.SetInt64(int64(1 + r.IntN(5)))
				}
				if r.IntN(8) == 0 {
					x.Mul(y, y)
				}
				fx, fy := checkForm(t, x), checkForm(t, y)
				z := b.NewNumber().Quo(x, y)
				switch {
				case fy.Sign() == 0:
					if !z.IsNaN() {
						t.Fatalf("%v / 0 = %v", fx, z)
					}
				case fx.Sign() == 0:
					if !z.IsZero() {
						t.Fatalf("0 / %v = %v", fy, z)
					}
				default:
					got := checkForm(t, z)
					err := inUlps(b, got, new(big.Float).SetPrec(uint(4*b.prec+200)).Quo(fx, fy))
					if !(err < b.bound()) {
						t.Fatalf("quotient %s: error %v/√M", describe(x, y), err)
					}
					worstQ = max(worstQ, err)
					if !same(b.NewNumber().Set(y).Quo(x, y), z) {
						t.Fatal("another result in place")
					}
				}
				x.Abs(x)
				if z.Sqrt(x); x.IsZero() {
					if !z.IsZero() {
						t.Fatalf("√0 = %v", z)
					}
					continue
				}
				got := checkForm(t, z)
				err := inUlps(b, got, new(big.Float).SetPrec(uint(4*b.prec+200)).Sqrt(fx.Abs(fx)))
				if !(err < b.bound()) {
					t.Fatalf("root %s: error %v/√M", describe(x), err)
				}
				worstR = max(worstR, err)
				if !z.Sqrt(x.Neg(x)).IsNaN() {
					t.Fatalf("root %s: %v", describe(x), z)
				}
			}
			t.Log("worst", worstQ, worstR)
		})
	}
}

func TestExactQuotients(t *testing.T) {
	for _, b := range testBases(t) {
		for i := int64(1); i < 12; i++ {
			for j := int64(1); j < 12; j++ {
				x, y := b.NewNumber().SetInt64(i*j), b.NewNumber().SetInt64(j)
				if got := b.NewNumber().Quo(x, y).Float64(); got != float64(i) {
					t.Fatalf("%s: %d / %d = %v", b.testName(), i*j, j, got)
				}
			}
			if got := b.NewNumber().Sqrt(b.NewNumber().SetInt64(i * i)).Float64(); got != float64(i) {
				t.Fatalf("%s: √%d = %v", b.testName(), i*i, got)
			}
		}
	}
}

// A long chain widens evaluations until they are computed again.
func TestChain(t *testing.T) {
	for _, p := range []int{30, 60} {
		b, err := SummationBase(p)
		if err != nil {
			t.Fatal(err)
		}
		r := newRand(t, 23)
		x, y := b.NewNumber().SetInt64(1), b.NewNumber()
		renewed, narrow := 0, false
		for i := range testlength.Trials(20000) {
			y.SetFloat64(1 + 1/float64(1+r.IntN(1000)))
			switch {
			case x.Float64() > 1e9:
				x.MulPow2(x, -25)
			case i%3 == 0:
				x.Add(x, y)
			case i%7 == 0:
				x.Sub(x, y)
			default:
				x.Mul(x, y)
			}
			checkForm(t, x)
			if x.IsZero() {
				continue
			}
			was := narrow
			narrow = x.v.ev.Up.SubUp(x.v.ev.Lo).less(x.v.ev.Lo.Scale(-24))
			if narrow && !was {
				renewed++
			}
		}
		if p == 30 && renewed < 3 {
			t.Errorf("evaluations became narrow %d times", renewed)
		}
	}
}

func TestSpecialValues(t *testing.T) {
	b, err := GemvBase(106)
	if err != nil {
		t.Fatal(err)
	}
	nan, one := b.NewNumber().SetFloat64(math.NaN()), b.NewNumber().SetInt64(1)
	zero := b.NewNumber()
	for name, x := range map[string]*Number{
		"inf":                b.NewNumber().SetFloat64(math.Inf(-1)),
		"big inf":            b.NewNumber().SetBig(new(big.Float).SetInf(true)),
		"scalar nan":         b.NewNumber().SetScalar(halfulp.NaN(halfulp.QD)),
		"scalar inf":         b.NewNumber().SetScalar(halfulp.Float(math.Inf(1))),
		"nan + 1":            b.NewNumber().Add(nan, one),
		"1 - nan":            b.NewNumber().Sub(one, nan),
		"0 nan":              b.NewNumber().Mul(zero, nan),
		"nan 0 + 0":          b.NewNumber().FMA(nan, zero, zero),
		"0 0 + nan":          b.NewNumber().FMA(zero, zero, nan),
		"1 / 0":              b.NewNumber().Quo(one, zero),
		"0 / 0":              b.NewNumber().Quo(zero, zero),
		"√-1":                b.NewNumber().Sqrt(b.NewNumber().SetInt64(-1)),
		"√nan":               b.NewNumber().Sqrt(nan),
		"overflow":           b.NewNumber().MulPow2(one, maxExp+1),
		"overflow by *":      b.NewNumber().Mul(b.NewNumber().MulPow2(one, maxExp), b.NewNumber().SetInt64(2)),
		"overflow by /":      b.NewNumber().Quo(b.NewNumber().MulPow2(one, maxExp), b.NewNumber().MulPow2(one, -1000)),
		"overflow by FMA":    b.NewNumber().FMA(b.NewNumber().MulPow2(one, maxExp), b.NewNumber().MulPow2(one, maxExp), one),
		"overflow by input":  b.NewNumber().SetBig(new(big.Float).SetMantExp(big.NewFloat(1), maxExp+2)),
		"overflow of k":      b.NewNumber().MulPow2(one, math.MaxInt),
		"negated":            b.NewNumber().Neg(nan),
		"absolute":           b.NewNumber().Abs(nan),
		"scaled":             b.NewNumber().MulPow2(nan, -5),
		"overflow by square": b.NewNumber().Mul(b.NewNumber().MulPow2(one, 1<<29+1), b.NewNumber().MulPow2(one, 1<<29)),
	} {
		if !x.IsNaN() || x.IsZero() || x.Sign() != 0 || x.Exponent() != 0 || !isZero(x.v.x) {
			t.Errorf("%s: %v", name, x)
		}
		if _, err := x.Big(); !errors.Is(err, ErrNaN) {
			t.Errorf("%s: %v", name, err)
		}
		if _, ordered := x.Cmp(one); ordered {
			t.Errorf("%s is ordered", name)
		}
		if _, ordered := one.CmpAbs(x); ordered {
			t.Errorf("%s is ordered", name)
		}
		if s := x.String(); s != "nan" && s != "NaN" {
			t.Errorf("%s: %q", name, s)
		}
	}
	tiny := b.NewNumber().MulPow2(one, minExp)
	for name, x := range map[string]*Number{
		"tiny tiny": b.NewNumber().Mul(tiny, tiny),
		"tiny/2":    b.NewNumber().Quo(tiny, b.NewNumber().SetInt64(2)),
		"scaled":    b.NewNumber().MulPow2(tiny, -1),
		"far down":  b.NewNumber().MulPow2(tiny, math.MinInt),
		"-0":        b.NewNumber().SetFloat64(math.Copysign(0, -1)),
		"-(0)":      b.NewNumber().Neg(zero),
		"0 -1":      b.NewNumber().Mul(zero, b.NewNumber().SetInt64(-1)),
		"big -0":    b.NewNumber().SetBig(new(big.Float).Neg(new(big.Float))),
		"fma":       b.NewNumber().FMA(tiny, tiny, zero),
	} {
		if !x.IsZero() {
			t.Errorf("%s: %v", name, x)
		}
		checkForm(t, x)
	}
	// Exponents at both ends meet.
	large := b.NewNumber().MulPow2(one, maxExp)
	if c, _ := large.Cmp(tiny); c != 1 {
		t.Error("2^(2^30) < 2^(-2^30)")
	}
	if !same(b.NewNumber().Add(large, tiny), large) || !same(b.NewNumber().Sub(tiny, large), b.NewNumber().Neg(large)) {
		t.Error("2^(2^30) + 2^(-2^30)")
	}
	for _, z := range []*Number{b.NewNumber().FMA(tiny, tiny, large), b.NewNumber().FMA(large, one, tiny)} {
		if c, ok := z.Cmp(large); c != 0 || !ok {
			t.Errorf("fma of ends: %v", z)
		}
	}
	if c, _ := b.NewNumber().FMA(large, tiny, b.NewNumber().SetInt64(-1)).Cmp(zero); c != 0 {
		t.Error("fma of ends that cancel")
	}
}

func TestNumberConversions(t *testing.T) {
	for _, b := range testBases(t) {
		t.Run(b.testName(), func(t *testing.T) {
			r := newRand(t, 24)
			for range testlength.Trials(500) {
				x := math.Float64frombits(r.Uint64())
				if r.IntN(10) == 0 {
					x = float64(r.IntN(100) - 50)
				}
				if r.IntN(10) == 0 {
					x = math.Float64frombits(r.Uint64() >> 12) // subnormal
				}
				if math.IsNaN(x) || math.IsInf(x, 0) {
					continue
				}
				z, v := b.NewNumber().SetFloat64(x), b.NewNumber().SetBig(big.NewFloat(x))
				if !same(z, v) && x != 0 && z.v.exp != v.v.exp {
					t.Fatalf("%v by its bits %s, as a big.Float %s", x, describe(z), describe(v))
				}
				got := checkForm(t, z)
				if b.prec >= 53 && got.Cmp(big.NewFloat(x)) != 0 {
					t.Fatalf("%v becomes %v", x, got)
				}
				if b.prec >= 53 && z.Float64() != x {
					t.Fatalf("%v becomes %v", x, z.Float64())
				}
				if x != 0 && !(inUlps(b, got, big.NewFloat(x)) < b.bound()) {
					t.Fatalf("%v becomes %v", x, got)
				}
			}
			for _, x := range significands(b, r, 100) {
				z := number(b, x, r.IntN(2000)-1000, r.IntN(2) == 0)
				f := checkForm(t, z)
				if z.IsZero() {
					continue
				}
				if got := z.Scalar(halfulp.MP(9000)).Big(); got.Cmp(f) != 0 {
					t.Fatalf("%v as a scalar: %v", f, got)
				}
				for _, format := range []halfulp.Format{halfulp.Float64, halfulp.DD, halfulp.QD, halfulp.MP(100)} {
					s := z.Scalar(format)
					if !s.Same(halfulp.NewScalar(format, f)) {
						t.Fatalf("%v as %v", f, s)
					}
					if v := b.NewNumber().SetScalar(s); !s.IsInf(0) && !s.IsNaN() && s.Float64() != 0 && !(inUlps(b, checkForm(t, v), s.Big()) < b.bound()) {
						t.Fatalf("%v becomes %v", s, v)
					}
				}
				for _, text := range []string{z.String(), z.Text(halfulp.Hex)} {
					v, err := b.Parse(text)
					if err != nil {
						t.Fatal(err)
					}
					if c, _ := v.Cmp(z); c != 0 {
						t.Fatalf("%s reads as %s", text, describe(v))
					}
				}
				// Longer inputs are rounded.
				long := exactFloat().SetInt(new(big.Int).Add(new(big.Int).Lsh(x, 70), big.NewInt(r.Int64())))
				if got := checkForm(t, b.NewNumber().SetBig(long)); !(inUlps(b, got, long) < b.bound()) {
					t.Fatalf("%v becomes %v", long, got)
				}
			}
			if _, err := b.Parse("1.2.3"); err == nil {
				t.Error("1.2.3 is no number")
			}
			for _, i := range []int64{0, 1, -1, math.MaxInt64, math.MinInt64} {
				f := checkForm(t, b.NewNumber().SetInt64(i))
				if i != 0 && !(inUlps(b, f, new(big.Float).SetInt64(i)) < b.bound()) {
					t.Errorf("%d becomes %v", i, f)
				}
			}
		})
	}
}
