package bigfun

import (
	"math"
	"math/big"
	"testing"
)

// TestFTail compares with closed forms for one and two degrees of freedom, and with sums of Poisson
// and of binomial probabilities.
func TestFTail(t *testing.T) {
	const prec = 200
	check := func(name string, f float64, m, n int64, want *big.Float) {
		t.Helper()
		lower, upper := FTail(big.NewFloat(f), m, n, prec+300)
		slack := new(big.Float).SetMantExp(want, -prec)
		if l := new(big.Float).Sub(lower, slack); l.Cmp(want) > 0 {
			t.Errorf("%s, f = %g, m = %d, n = %d: lower %s, want %s", name, f, m, n, lower.Text('p', 30), want.Text('p', 30))
		}
		if u := new(big.Float).Add(upper, slack); u.Cmp(want) < 0 {
			t.Errorf("%s, f = %g, m = %d, n = %d: upper %s, want %s", name, f, m, n, upper.Text('p', 30), want.Text('p', 30))
		}
		if width := new(big.Float).Sub(upper, lower); width.Sign() < 0 || width.Cmp(slack) > 0 {
			t.Errorf("%s, f = %g, m = %d, n = %d: width %s of %s", name, f, m, n, width.Text('p', 10), want.Text('p', 10))
		}
	}
	const p = prec + 200
	one := integer(1, p)
	for _, f := range []float64{1e-9, 0.03125, 0.75, 1, 2, 17, 1e4, 1e30} {
		x := number(p).SetFloat64(f)
		root := number(p).Sqrt(x)
		// Student's t with 1 degree of freedom: 1 - 2/π atan t = 2/π atan(1/t).
		a := scale(Atan2(one, root, p), 1)
		check("Cauchy", f, 1, 1, a.Quo(a, number(p).Set(Pi(p))))
		// with 2: 1 - t/√(2 + t²) = 2/((2 + t²) (1 + t/√(2 + t²)))
		s := number(p).Add(x, integer(2, p))
		r := number(p).Quo(root, number(p).Sqrt(s))
		r.Add(r, one)
		check("t of 2", f, 1, 2, number(p).Quo(integer(2, p), r.Mul(r, s)))
		// F with 2 and n degrees of freedom: (n/(n + 2 f))^(n/2)
		for _, n := range []int64{1, 2, 3, 8, 101, 100000} {
			y := number(p).Add(scale(x, 1), integer(n, p))
			y.Quo(integer(n, p), y)
			check("F of 2", f, 2, n, halfPower(y, n, p))
		}
		// F with even m and n: Σ C(N, k) y^k x^(N-k), k < m/2, N = (m+n)/2 - 1
		for _, d := range [][2]int64{{4, 6}, {10, 2}, {40, 80}, {2, 4}} {
			m, n := d[0], d[1]
			total := number(p).Add(number(p).Mul(x, integer(m, p)), integer(n, p))
			y := number(p).Quo(number(p).Mul(x, integer(m, p)), total)
			z := number(p).Quo(integer(n, p), total)
			sum := number(p)
			N := (m+n)/2 - 1
			for k := int64(0); k < m/2; k++ {
				c := number(p).SetInt(new(big.Int).Binomial(N, k))
				c.Mul(c, halfPower(y, 2*k, p))
				sum.Add(sum, c.Mul(c, halfPower(z, 2*(N-k), p)))
			}
			check("F of even numbers", f, m, n, sum)
		}
	}
	// Reciprocals: P(F(m, n) > f) + P(F(n, m) > 1/f) = 1, for odd m and n.
	for _, d := range [][2]int64{{3, 5}, {7, 1}, {1, 999}, {33, 21}} {
		for _, f := range []float64{0.25, 1, 4} {
			l1, u1 := FTail(big.NewFloat(f), d[0], d[1], prec)
			l2, u2 := FTail(big.NewFloat(1/f), d[1], d[0], prec)
			if number(prec).Add(l1, l2).Cmp(one) > 0 || number(prec).Add(u1, u2).Cmp(one) < 0 {
				t.Errorf("m, n = %d, f = %g: %.40g to %.40g and %.40g to %.40g", d, f, l1, u1, l2, u2)
			}
		}
	}
	// Many degrees of freedom: near the normal distribution, 2 (1 - Φ(2)) = 0.04550026389635842.
	lower, upper := FTail(big.NewFloat(4), 1, 1<<20, 128)
	l, _ := lower.Float64()
	u, _ := upper.Float64()
	if !(l < u || l == u) || math.Abs(l-0.04550026389635842) > 1e-6 || u-l > 1e-20 {
		t.Errorf("%g to %g", l, u)
	}
}

// TestFTailFar has bounds that enclose the probability for numbers that are out of reach.
func TestFTailFar(t *testing.T) {
	for _, f := range []*big.Float{new(big.Float), big.NewFloat(0x1p1000), new(big.Float).SetMantExp(big.NewFloat(1), 1<<29), new(big.Float).SetMantExp(big.NewFloat(1), -1<<29)} {
		for _, m := range []int64{1, 20, 1 << 21} {
			lower, upper := FTail(f, m, 20, 64)
			if lower.Sign() != 0 && f.Cmp(big.NewFloat(0x1p1000)) != 0 || upper.Sign() <= 0 || lower.Cmp(upper) > 0 {
				t.Errorf("P(F > %v), %d and 20 degrees of freedom: from %v to %v", f, m, lower, upper)
			}
		}
	}
}
