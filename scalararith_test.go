package halfulp

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

// scalarFormats are the formats of operands and results in the tests of single operations.
var scalarFormats = []Format{Float32, Float64, DD, TD, QD, MP(2), MP(3), MP(24), MP(53), MP(64), MP(65), MP(424)}

// rationalOf returns the exact value of a finite number, including zeros.
func rationalOf(s Scalar) *big.Rat {
	r, _ := s.Big().Rat(nil)
	return r
}

// nearest returns the number of format f nearest to q, by an independent method: it takes
// candidates from both sides of q and compares their distances as rational numbers. Where only the
// rounding of one term decides ties of binary64 expansions, it rounds term by term.
func nearest(f Format, q *big.Rat, zeroNeg bool) Scalar {
	z := num.New(f.View(), 1)
	if q.Sign() == 0 {
		z.Set(0, num.Real{Neg: zeroNeg})
		return Scalar{num.ScalarOf(z)}
	}
	switch f.View().Kind {
	case num.F32:
		x, _ := q.Float32() // correctly rounded, says math/big
		z.F32[0] = x
		if x == 0 && q.Sign() < 0 {
			z.F32[0] = float32(math.Copysign(0, -1))
		}
	case num.F64:
		z.F64[0][0] = nearestFloat64(q)
	case num.MP: // exponents of the tests stay within the range
		x := new(big.Float).SetPrec(uint(f.Bits())).SetMode(big.ToNearestEven).SetRat(q)
		return NewScalar(f, x) // exact
	default:
		// h = RN(x), l = RN(x - h), ... and the same once more for the sum of these terms.
		terms := greedyTerms(q, f.View().Terms())
		if !math.IsInf(terms[0], 0) {
			v := new(big.Rat)
			for _, t := range terms {
				v.Add(v, new(big.Rat).SetFloat64(t))
			}
			if v.Sign() != 0 {
				terms = greedyTerms(v, f.View().Terms())
			}
		}
		for k, t := range terms {
			z.F64[k][0] = t
		}
	}
	return Scalar{num.ScalarOf(z)}
}

func nearestFloat64(q *big.Rat) float64 {
	x, _ := q.Float64()
	if x == 0 && q.Sign() < 0 {
		x = math.Copysign(0, -1)
	}
	return x
}

func greedyTerms(q *big.Rat, n int) []float64 {
	terms := make([]float64, n)
	terms[0] = nearestFloat64(q)
	rest := new(big.Rat).Set(q)
	for k := 0; k+1 < n && terms[k] != 0 && !math.IsInf(terms[k], 0); k++ {
		rest.Sub(rest, new(big.Rat).SetFloat64(terms[k]))
		if rest.Sign() == 0 {
			break
		}
		if terms[k+1] = nearestFloat64(rest); terms[k+1] == 0 {
			terms[k+1] = 0
		}
	}
	return terms
}

// nearestRoot returns the number of format f nearest to √q, q > 0. If a rational enclosure does not
// decide, either √q is rational, or the rounding is no tie and a closer enclosure decides.
func nearestRoot(f Format, q *big.Rat) Scalar {
	n, d := new(big.Int).Mul(q.Num(), q.Denom()), q.Denom() // √q = √n / d
	if r := new(big.Int).Sqrt(n); new(big.Int).Mul(r, r).Cmp(n) == 0 {
		return nearest(f, new(big.Rat).SetFrac(r, d), false)
	}
	for shift := uint(512); ; shift *= 2 {
		lo := new(big.Int).Sqrt(new(big.Int).Lsh(n, 2*shift))
		hi := new(big.Int).Add(lo, big.NewInt(1))
		s := new(big.Int).Lsh(d, shift)
		u := nearest(f, new(big.Rat).SetFrac(lo, s), false)
		if u.Same(nearest(f, new(big.Rat).SetFrac(hi, s), false)) {
			return u
		}
	}
}

// drawOperand returns a number of format f that often causes ties, cancellation, or results at the
// ends of ranges.
func drawOperand(r *rand.Rand, f Format) Scalar {
	z := num.New(f.View(), 1)
	switch r.IntN(16) {
	case 0:
		z.Set(0, num.Real{Class: num.Class(r.IntN(4)), Neg: sign(r), Mag: []uint64{1}})
	case 1: // small integers, so that quotients and roots are exact at times
		z.Set(0, num.Real{Class: num.Finite, Neg: sign(r), Mag: []uint64{1 + r.Uint64N(100)}})
	case 2: // a power of two plus a tiny number
		n := 1 + r.Int64N(250)
		x := new(big.Int).Lsh(big.NewInt(1), uint(n))
		z.Set(0, realOf(x.Add(x, big.NewInt(r.Int64N(3)-1)), r.Int64N(300)-r.Int64N(300)-n))
	case 3: // subnormal numbers of binary64 and binary32
		z.Set(0, randomReal(r, 64, []int64{-1022, -126}[r.IntN(2)]-r.Int64N(60)))
	case 4: // the upper end
		z.Set(0, randomReal(r, 64*(1+r.IntN(4)), []int64{1024, 128}[r.IntN(2)]-r.Int64N(3)))
	case 5: // half an ulp, or its square
		b := int64(f.Bits()) / (1 + r.Int64N(2))
		x := new(big.Int).Lsh(big.NewInt(1), uint(b))
		z.Set(0, realOf(x.Add(x, big.NewInt(1)), -b))
	default:
		z.Set(0, randomReal(r, 64*(1+r.IntN(7)), r.Int64N(60)-30))
	}
	return Scalar{num.ScalarOf(z)}
}

// TestScalarArithmetic compares with rational numbers, rounded by math/big.
func TestScalarArithmetic(t *testing.T) {
	trials := 8000
	if testlength.Long() {
		trials *= 50
	}
	seed := testseed.Of(t)
	r := rand.New(rand.NewPCG(seed, 1))
	for range trials {
		f := scalarFormats[r.IntN(len(scalarFormats))]
		var x [3]Scalar
		plain := r.IntN(8) == 0 // the machine's own operations
		if plain {
			f = Float64
		}
		for k := range x {
			g := scalarFormats[r.IntN(len(scalarFormats))]
			if plain {
				g = scalarFormats[r.IntN(2)]
			}
			x[k] = drawOperand(r, g)
		}
		switch r.IntN(4) {
		case 0: // almost cancels, or ties
			x[1] = x[0].Neg().Convert(scalarFormats[r.IntN(len(scalarFormats))])
		case 1:
			x[2] = f.Mul(x[0], x[1]).Neg()
		case 2: // a square, or a number next to one
			x[0] = x[0].NumberFormat().Mul(x[1], x[1])
		}
		checkScalars(t, f, x[0], x[1], x[2])
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// isFinite reports whether all numbers are finite.
func isFinite(all ...Scalar) bool {
	for _, x := range all {
		if x.IsNaN() || x.IsInf(0) {
			return false
		}
	}
	return true
}

func checkScalars(t *testing.T, f Format, x, y, z Scalar) {
	t.Helper()
	check := func(name string, got, want Scalar) {
		t.Helper()
		if !got.Same(want) {
			t.Errorf("%s in %v of %v %s, %v %s, %v %s is %s, want %s", name, f,
				x.NumberFormat(), x.Hex(), y.NumberFormat(), y.Hex(), z.NumberFormat(), z.Hex(), got.Hex(), want.Hex())
		}
	}
	check("-(-x)", x.Neg().Neg(), x)
	check("|x|", x.Abs(), Scalar.Abs(x.Neg()))
	if !isFinite(x, y, z) {
		checkSpecials(t, f, x, y, z)
		return
	}
	a, b, c := rationalOf(x), rationalOf(y), rationalOf(z)
	plus := func(u, v Scalar) bool { return u.Signbit() && v.Signbit() } // whether a zero sum is -0
	check("x + y", f.Add(x, y), nearest(f, new(big.Rat).Add(a, b), x.Sign() == 0 && plus(x, y)))
	check("x - y", f.Sub(x, y), nearest(f, new(big.Rat).Sub(a, b), x.Sign() == 0 && plus(x, y.Neg())))
	p := new(big.Rat).Mul(a, b)
	minus := x.Signbit() != y.Signbit()
	check("x y", f.Mul(x, y), nearest(f, p, minus))
	check("x y + z", f.FMA(x, y, z), nearest(f, new(big.Rat).Add(p, c), p.Sign() == 0 && minus && z.Signbit()))
	if b.Sign() != 0 {
		check("x / y", f.Quo(x, y), nearest(f, new(big.Rat).Quo(a, b), minus))
	} else {
		checkSpecials(t, f, x, y, z)
	}
	if a.Sign() > 0 {
		check("√x", f.Sqrt(x), nearestRoot(f, a))
	}
	if got, want := x.Cmp(y), a.Cmp(b); got != want || y.Cmp(x) != -want {
		t.Errorf("Cmp(%s, %s) is %d, want %d", x.Hex(), y.Hex(), got, want)
	}
	if got, want := x.Sign(), a.Sign(); got != want {
		t.Errorf("Sign(%s) is %d, want %d", x.Hex(), got, want)
	}
}

// checkSpecials compares classes and signs with the classes and signs of the same operation in
// binary64, where ±1 and ±0 stand in for finite numbers.
func checkSpecials(t *testing.T, f Format, x, y, z Scalar) {
	t.Helper()
	plain := func(s Scalar) float64 {
		if isFinite(s) && s.Sign() != 0 {
			return float64(s.Sign())
		}
		return s.Float64()
	}
	a, b, c := plain(x), plain(y), plain(z)
	for _, op := range []struct {
		name string
		got  Scalar
		want float64
	}{
		{"x + y", f.Add(x, y), a + b},
		{"x - y", f.Sub(x, y), a - b},
		{"x y", f.Mul(x, y), a * b},
		{"x / y", f.Quo(x, y), a / b},
		{"x y + z", f.FMA(x, y, z), math.FMA(a, b, c)},
		{"√x", f.Sqrt(x), math.Sqrt(a)},
		{"-x", x.Neg(), -a},
		{"|x|", x.Abs(), math.Abs(a)},
	} {
		switch {
		case math.IsNaN(op.want):
			if !op.got.Same(NaN(op.got.NumberFormat())) {
				t.Errorf("%s in %v of %v, %v, %v is %v, want NaN", op.name, f, x, y, z, op.got)
			}
		case math.IsInf(op.want, 0) && !op.got.IsInf(int(math.Copysign(1, op.want))):
			t.Errorf("%s in %v of %v, %v, %v is %v, want %v", op.name, f, x, y, z, op.got, op.want)
		case !isFinite(x, y) && op.want == 0 && (op.got.Sign() != 0 || op.got.Signbit() != math.Signbit(op.want)):
			t.Errorf("%s in %v of %v, %v, %v is %v, want %v", op.name, f, x, y, z, op.got, op.want)
		}
	}
	order := func(a, b float64) int {
		switch {
		case math.IsNaN(a) && math.IsNaN(b):
			return 0
		case math.IsNaN(a) || a < b:
			return -1
		case math.IsNaN(b) || a > b:
			return 1
		}
		return 0
	}
	if isFinite(x, y) {
		return
	}
	if got, want := x.Cmp(y), order(a, b); got != want {
		t.Errorf("Cmp(%v, %v) is %d, want %d", x, y, got, want)
	}
}

// TestScalarEnds tests numbers at the ends of ranges that random numbers miss.
func TestScalarEnds(t *testing.T) {
	tiny, huge := NewScalar(MP(8), new(big.Float).SetMantExp(big.NewFloat(1), math.MinInt32)), NewScalar(MP(8), new(big.Float).SetMantExp(big.NewFloat(0.75), math.MaxInt32))
	one, half, third := Float(1), Float(0.5), MP(100).Quo(Float(1), Float(3))
	zero := NewScalar(MP(8), new(big.Float))
	least := MP(8).Mul(tiny, half)
	for _, c := range []struct{ name, got, want string }{
		{"tiny / 2", least.Hex(), "0x1p-2147483649"},
		{"tiny / 4", MP(8).Mul(least, half).Hex(), "0x0p+0"},
		{"tiny 3/8", MP(8).Mul(least, Float(0.75)).Hex(), "0x1p-2147483649"},
		{"-tiny tiny", MP(8).Mul(tiny.Neg(), tiny).Hex(), "-0x0p+0"},
		{"huge + huge", MP(8).Add(huge, huge).Hex(), "inf"},
		{"-huge huge", MP(8).Mul(huge.Neg(), huge).Hex(), "-inf"},
		{"huge / tiny", MP(8).Quo(huge, tiny).Hex(), "inf"},
		{"tiny / huge", MP(8).Quo(tiny, huge).Hex(), "0x0p+0"},
		{"huge tiny", MP(8).Mul(huge, tiny).Hex(), "0x1.8p-2"},
		{"huge huge tiny", MP(8).FMA(huge, huge, huge.Neg()).Hex(), "inf"},
		{"huge + tiny in f64", Float64.Add(huge, tiny).Hex(), "inf"},
		{"tiny in dd", DD.Add(tiny, zero).Hex(), "0x0p+0"},
		{"1 + tiny", Float64.Add(one, tiny).Hex(), "0x1p+0"},
		// A tie that a number 2^31 binary places below breaks, either way.
		{"tie + tiny", Float32.FMA(Float(1+0x1p-24), one, tiny).Hex(), "0x1.000002p+0"},
		{"tie", Float32.Add(Float(1+0x1p-24), zero).Hex(), "0x1p+0"},
		{"tie - tiny", Float32.Sub(Float(1+0x3p-24), tiny).Hex(), "0x1.000002p+0"},
		{"tie of 3", Float32.Add(Float(1+0x3p-24), zero).Hex(), "0x1.000004p+0"},
		{"dd tie + tiny", DD.Add(DD.Add(one, Float(0x1p-53)), tiny).Hex(), "0x1.00000000000008p+0"},
		// Rounding to 64 bits first would give the tie and then the even neighbour.
		{"double rounding", Float64.Add(one, Float(0x1.0000000000001p-53)).Hex(), "0x1.0000000000001p+0"},
		{"double rounding of ⅓", third.Convert(Float32).Hex(), "0x1.555556p-2"},
		// 2^-1074 tie: half the least number goes to 0, what is above to the least.
		{"least / 2", Float64.Mul(Float(0x1p-1074), half).Hex(), "0x0p+0"},
		{"least 3/4", Float64.Mul(Float(0x1p-1074), Float(0.75)).Hex(), "0x1p-1074"},
		{"√least", Float64.Sqrt(tiny).Hex(), "0x0p+0"},
		{"√huge", Float64.Sqrt(huge).Hex(), "inf"},
		{"√tiny in mp", MP(8).Sqrt(least).Hex(), "0x1.6ap-1073741825"},
		{"MAX + half ulp", Float64.Add(Float(math.MaxFloat64), Float(0x1p970)).Hex(), "inf"},
		{"MAX + less", Float64.Add(Float(math.MaxFloat64), Float(0x1.fffffffffffffp969)).Hex(), "0x1.fffffffffffffp+1023"},
		{"dd MAX + half ulp", DD.Add(Float(math.MaxFloat64), Float(0x1p970)).Hex(), "inf"},
		{"dd MAX + less", DD.Add(Float(math.MaxFloat64), Float(0x1.fffffffffffffp969)).Hex(), "0x1.fffffffffffff7ffffffffffffcp+1023"},
		{"1 + 2^-300 in dd", DD.Add(one, Float(0x1p-300)).Hex(), fmt.Sprintf("0x1.%075dp+0", 1)},
	} {
		if c.got != c.want {
			t.Errorf("%s = %s, want %s", c.name, c.got, c.want)
		}
	}
}

// FuzzScalarArithmetic compares operations with rational arithmetic, for two binary64 numbers and
// for numbers of other formats derived from them.
func FuzzScalarArithmetic(f *testing.F) {
	f.Add(1.0, 0x1p-53, 0x1p-106, uint8(2), uint8(3))
	f.Add(3.0, 0.1, math.Inf(1), uint8(7), uint8(0))
	f.Add(0x1p-1074, 0.5, math.Copysign(0, -1), uint8(0), uint8(4))
	f.Fuzz(func(t *testing.T, x, y, z float64, to, from uint8) {
		f, g := scalarFormats[int(to)%len(scalarFormats)], scalarFormats[int(from)%len(scalarFormats)]
		u, v, w := Float(x), Float(y), Float(z)
		checkScalars(t, f, u, v, w)
		checkScalars(t, f, g.FMA(u, v, w), w, g.Quo(u, w))
	})
}

func BenchmarkScalar(b *testing.B) {
	for _, f := range []Format{Float64, DD, MP(424)} {
		x, y := NewScalar(f, big.NewFloat(1.25)), f.Quo(Float(1), Float(3))
		b.Run("Add/"+f.String(), func(b *testing.B) {
			for b.Loop() {
				f.Add(x, y)
			}
		})
		b.Run("Mul/"+f.String(), func(b *testing.B) {
			for b.Loop() {
				f.Mul(x, y)
			}
		})
		b.Run("Quo/"+f.String(), func(b *testing.B) {
			for b.Loop() {
				f.Quo(x, y)
			}
		})
	}
}
