package expansion

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp/internal/testseed"
)

// TestExtremes computes at the ends of the exponent range. A result is NaN only if the float64
// operation on the leading words is NaN, and infinite only near overflow. It is as accurate as a
// float64 result, up to a few units of 2^-1074 where underflow loses bits.
func TestExtremes(t *testing.T) {
	for _, f := range formats {
		t.Run(f.name, func(t *testing.T) {
			seed := testseed.Of(t)
			r := rand.New(rand.NewPCG(seed, 0))
			ends := [][2]int{{-1074, -1000}, {950, 1023}, {-600, -400}, {400, 600}, {-60, 60}, {-1074, 1023}}
			draw := func() []float64 {
				e := ends[r.IntN(len(ends))]
				x := operand(r, f.w, e[0], e[1])
				if x[0] == 0 || math.IsInf(x[0], 0) {
					x[0] = math.MaxFloat64
				}
				canonical(x)
				if r.IntN(50) == 0 {
					clear(x)
					x[0] = []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN(), math.MaxFloat64, 5e-324}[r.IntN(7)]
				}
				return x
			}
			huge := new(big.Float).SetFloat64(0x1.ffffffffffffep1023)
			// Each of the w(w+1)/2 products of two words loses at most half of 2^-1074, so does
			// the rounding of the leading word, and other operations lose less.
			lost := new(big.Float).SetMantExp(big.NewFloat(float64(f.w*(f.w+1)/2+1)), -1075)
			real := func() *big.Float { return new(big.Float).SetPrec(4 * prec) }
			for i := range sweeps() {
				a, b, c := draw(), draw(), draw()
				if i == 0 { // two products lose bits, and the sum cancels: 1.09 units for a QD
					pad := func(x ...float64) []float64 { return append(x, 0, 0, 0)[:f.w] }
					a = []float64{0x1.fffffffffffffp-05, 0x1.cd75db8fa9d08p-59, -0x1.89b818929f3ffp-113, 0x1.4000000001p-167}[:f.w]
					b, c = pad(-0x1.08000000004p-1018, -0x1.8p-1072), pad(0x1.000000020002p-1022)
				}
				check := func(op string, z []float64, lead float64, want func() *big.Float, args ...[]float64) {
					t.Helper()
					fail := func(what string) {
						t.Helper()
						t.Fatalf("seed %d: %s(%x) = %x, leading words %x: %s", seed, op, args, z, lead, what)
					}
					if !ordinary(z[0]) {
						for _, w := range z[1:] {
							if math.Float64bits(w) != 0 {
								fail("other words are not +0")
							}
						}
					}
					if z[0] != z[0] {
						if lead == lead {
							fail("NaN")
						}
						if math.Float64bits(z[0]) != math.Float64bits(math.NaN()) {
							fail("another NaN")
						}
						return
					}
					for _, x := range args {
						if x[0]-x[0] != 0 || lead-lead != 0 && !math.IsInf(lead, 0) {
							if z[0] != lead {
								fail("special value")
							}
							return
						}
					}
					if (op == "div" || op == "recip" || op == "rsqrt") && args[len(args)-1][0] == 0 {
						if z[0] != lead {
							fail("division by zero")
						}
						return
					}
					x := want()
					if math.IsInf(z[0], 0) {
						for _, x := range args { // TwoSum's one overflow of its own
							if math.Abs(x[0]) == math.MaxFloat64 {
								return
							}
						}
						if real().Abs(x).Cmp(huge) < 0 || (z[0] > 0) != (x.Sign() > 0) {
							fail("overflow")
						}
						return
					}
					if x.Sign() == 0 {
						if z[0] != 0 || math.Signbit(z[0]) != math.Signbit(lead) {
							fail("zero")
						}
						return
					}
					d := real().Sub(exact(z), x)
					bound := real().SetMantExp(real().Abs(x), -51)
					if d.Abs(d).Cmp(bound.Add(bound, lost)) > 0 {
						fail("inaccurate")
					}
					if z[0] == 0 && lead == 0 && math.Signbit(z[0]) != math.Signbit(lead) {
						fail("sign of zero")
					}
				}
				sum := func(y []float64) func() *big.Float {
					return func() *big.Float { return real().Add(exact(a), exact(y)) }
				}
				product := func(y []float64) func() *big.Float {
					return func() *big.Float { return real().Mul(exact(a), exact(y)) }
				}
				check("add", f.add(a, b), a[0]+b[0], sum(b), a, b)
				check("sub", f.sub(a, b), a[0]-b[0], func() *big.Float { return real().Sub(exact(a), exact(b)) }, a, b)
				check("mul", f.mul(a, b), a[0]*b[0], product(b), a, b)
				check("sqr", f.sqr(a), a[0]*a[0], product(a), a)
				check("div", f.div(a, b), a[0]/b[0], func() *big.Float { return real().Quo(exact(a), exact(b)) }, a, b)
				check("recip", f.recip(a), 1/a[0], func() *big.Float { return real().Quo(big.NewFloat(1), exact(a)) }, a)
				check("addF", f.addF(a, b[0]), a[0]+b[0], sum(b[:1]), a, b[:1])
				check("mulF", f.mulF(a, b[0]), a[0]*b[0], product(b[:1]), a, b[:1])
				check("sqrt", f.sqrt(a), math.Sqrt(a[0]), func() *big.Float { return real().Sqrt(exact(a)) }, a)
				check("rsqrt", f.rsqrt(a), 1/math.Sqrt(a[0]), func() *big.Float {
					x := real().Sqrt(exact(a))
					return x.Quo(big.NewFloat(1), x)
				}, a)
				if p := math.Abs(a[0]) * math.Abs(b[0]); p < 0x1p1022 || p-p != 0 && (a[0]-a[0] != 0 || b[0]-b[0] != 0) {
					check("fma", f.fma(a, b, c), math.FMA(a[0], b[0], c[0]), func() *big.Float { return real().Add(product(b)(), exact(c)) }, a, b, c)
				}
			}
		})
	}
}
