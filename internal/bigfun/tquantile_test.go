package bigfun

import (
	"math/big"
	"testing"
)

// TestTQuantile compares with closed forms for 1, 2 and 4 degrees of freedom, and with a table.
func TestTQuantile(t *testing.T) {
	rat := func(s string) *big.Rat {
		x, ok := new(big.Rat).SetString(s)
		if !ok {
			t.Fatal(s)
		}
		return x
	}
	alphas := []*big.Rat{rat("1/2"), rat("0.05"), rat("0.1"), rat("0.001"), rat("1e-9"), rat("1e-200"), rat("0.999"), rat("1/3"), new(big.Rat).Sub(rat("1"), rat("1e-60"))}
	for _, prec := range []uint{20, 64, 200, 1000} {
		p := prec + 800
		one, two := integer(1, p), integer(2, p)
		for _, alpha := range alphas {
			a := number(p).SetRat(alpha)
			level := number(p).Sub(one, a)
			check := func(n int64, want *big.Float) {
				t.Helper()
				lower, upper := TQuantile(alpha, n, prec)
				slack := new(big.Float).SetMantExp(want, -int(prec)-500)
				if new(big.Float).Sub(lower, slack).Cmp(want) > 0 || new(big.Float).Add(upper, slack).Cmp(want) < 0 {
					t.Errorf("alpha %s, n = %d, %d bits: [%.30g, %.30g], want %.30g", alpha.FloatString(5), n, prec, lower, upper, want)
				}
				width := new(big.Float).Sub(upper, lower)
				if width.Sign() < 0 || upper.IsInf() || width.Cmp(new(big.Float).SetMantExp(want, 3-int(prec))) > 0 {
					t.Errorf("alpha %s, n = %d, %d bits: width %.5g of %.5g", alpha.FloatString(5), n, prec, width, want)
				}
			}
			// 2 degrees of freedom: level = t/√(2 + t²), so t = level √(2/(1 - level²)), where
			// 1 - level² = alpha (1 + level).
			w := number(p).Mul(a, number(p).Add(one, level))
			check(2, number(p).Mul(level, number(p).Sqrt(number(p).Quo(two, w))))
			// 4 degrees of freedom: with q = alpha (2 - alpha) and c = cos(acos(√q)/3)/√q,
			// t = 2√(c - 1) (Shaw, Sampling Student's T distribution, 2006). c solves
			// 4 c³ q - 3 c - 1 = 0, and Newton's method falls to it from 1 + 1/√q.
			q := number(p).Mul(a, number(p).Sub(two, a))
			c := number(p).Add(one, number(p).Quo(one, number(p).Sqrt(q)))
			for range 2000 {
				f := number(p).Mul(c, c)
				f.Mul(f, q)
				slope := number(p).Sub(number(p).Mul(integer(12, p), f), integer(3, p))
				f.Mul(f, c)
				f.Sub(number(p).Mul(integer(4, p), f), number(p).Add(number(p).Mul(integer(3, p), c), one))
				f.Quo(f, slope)
				if f.Sign() == 0 || f.MantExp(nil) < c.MantExp(nil)-int(p)+4 {
					break
				}
				c.Sub(c, f)
			}
			check(4, scale(number(p).Sqrt(number(p).Sub(c, one)), 1))
			// 1 degree of freedom: alpha = 2/π atan(1/t).
			lower, upper := TQuantile(alpha, 1, prec)
			of := func(x *big.Float) *big.Float {
				z := Atan2(one, number(p).Set(x), p)
				return z.Quo(scale(z, 1), number(p).Set(Pi(p)))
			}
			low, high := of(lower), of(upper)
			if low.Cmp(a) < 0 || high.Cmp(a) > 0 {
				t.Errorf("alpha %s, n = 1, %d bits: tails [%.30g, %.30g]", alpha.FloatString(5), prec, high, low)
			}
		}
	}
	// Two-sided values at 5 per cent and 0.1 per cent, rounded to three decimals (NIST/SEMATECH
	// e-Handbook of Statistical Methods, 1.3.6.7.2).
	for _, c := range []struct {
		n     int64
		alpha string
		want  string
	}{{3, "0.05", "3.182"}, {5, "0.05", "2.571"}, {9, "0.05", "2.262"}, {30, "0.05", "2.042"}, {100, "0.05", "1.984"}, {3, "0.002", "10.215"}, {20, "0.002", "3.552"}, {100, "0.002", "3.174"}} {
		lower, upper := TQuantile(rat(c.alpha), c.n, 100)
		if l, u := lower.Text('f', 3), upper.Text('f', 3); l != c.want || u != c.want {
			t.Errorf("n = %d, alpha %s: %s to %s, want %s", c.n, c.alpha, l, u, c.want)
		}
	}
	// Many degrees of freedom: near the quantile of the normal distribution.
	lower, upper := TQuantile(rat("0.05"), 100001, 100)
	if l, u := lower.Text('f', 5), upper.Text('f', 5); l != "1.95999" || u != "1.95999" {
		t.Errorf("100001 degrees of freedom: %s to %s", l, u)
	}
	// An alpha that FTail cannot separate from 0 still gives an enclosure.
	if lower, upper := TQuantile(new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), 100)), 1<<29, 60); lower.Cmp(upper) > 0 {
		t.Errorf("%v to %v", lower, upper)
	}
}
