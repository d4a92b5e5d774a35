package roots

import (
	"fmt"
	"math/big"
	"math/bits"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/budget"
)

// poly is a polynomial with integer coefficients in ascending powers. The last coefficient is not
// 0; the polynomial 0 has none.
type poly []*big.Int

func (p poly) degree() int { return len(p) - 1 }

// trimmed returns p without leading coefficients that are 0.
func (p poly) trimmed() poly {
	for len(p) > 0 && p[len(p)-1].Sign() == 0 {
		p = p[:len(p)-1]
	}
	return p
}

// bits returns the bits of the largest coefficient.
func (p poly) bits() (most int) {
	for _, c := range p {
		most = max(most, c.BitLen())
	}
	return most
}

// primitive divides p by the greatest common divisor of its coefficients.
func (p poly) primitive() poly {
	g := new(big.Int)
	for _, c := range p {
		if g.GCD(nil, nil, g, new(big.Int).Abs(c)); g.IsInt64() && g.Int64() == 1 {
			return p
		}
	}
	z := make(poly, len(p))
	for i, c := range p {
		z[i] = new(big.Int).Quo(c, g)
	}
	return z
}

// derivative returns p'.
func (p poly) derivative() poly {
	if len(p) == 0 {
		return nil
	}
	z := make(poly, len(p)-1)
	for i := range z {
		z[i] = new(big.Int).Mul(p[i+1], big.NewInt(int64(i+1)))
	}
	return z
}

// mirrored returns p(-x).
func (p poly) mirrored() poly {
	z := make(poly, len(p))
	for i, c := range p {
		if z[i] = c; i%2 == 1 {
			z[i] = new(big.Int).Neg(c)
		}
	}
	return z
}

// scaled returns 2^k p(2^s x) with the least k that leaves integers.
func (p poly) scaled(s int) poly {
	low, some := 0, false
	for i, c := range p {
		if c.Sign() != 0 {
			if l := int(c.TrailingZeroBits()) + s*i; !some || l < low {
				low, some = l, true
			}
		}
	}
	z := make(poly, len(p))
	for i, c := range p {
		z[i] = new(big.Int)
		if by := s*i - low; by >= 0 {
			z[i].Lsh(c, uint(by))
		} else {
			z[i].Rsh(c, uint(-by))
		}
	}
	return z
}

// read returns an integer polynomial p and s such that the roots of the polynomial with the given
// coefficients, which are finite, are 2^s times the roots of p. Powers of x that divide it are left
// out; zeros is their number. p is nil if all coefficients are 0.
func read(v num.Vec, of *budget.Budget) (p poly, s int64, zeros int, err error) {
	type term struct {
		m        []uint64
		neg      bool
		low, top int64
	}
	terms := make([]term, v.N)
	first, last := -1, -1
	for i := range terms {
		r := v.Arr.Value(v.At(i), make([]uint64, num.MaxValueWords))
		if r.Class != num.Finite {
			continue
		}
		last = i
		if first < 0 {
			first = i
		}
		terms[i] = term{r.Mag, r.Neg, r.Exp + int64(num.TrailingZeros(r.Mag)), r.Exp + int64(num.BitLen(r.Mag))}
	}
	if first < 0 {
		return nil, 0, 0, nil
	}
	// spread returns the bits of the integers for a scale, and their lowest exponent.
	spread := func(s int64) (bits, low int64) {
		some, top := false, int64(0)
		for i, t := range terms[first : last+1] {
			if t.m == nil {
				continue
			}
			l, h := t.low+s*int64(i), t.top+s*int64(i)
			if !some {
				low, top, some = l, h, true
			}
			low, top = min(low, l), max(top, h)
		}
		return top - low, low
	}
	least, low := spread(0)
	if last > first {
		slope := (terms[first].top - terms[last].top) / int64(last-first)
		for _, t := range []int64{slope, slope - 1, slope + 1} {
			if b, l := spread(t); b < least {
				least, low, s = b, l, t
			}
		}
	}
	const copies = 8 // of the coefficients, in factors and their scaled polynomials
	if err := of.Check(copies / 8 * float64(least) * float64(last-first+1)); err != nil {
		return nil, 0, 0, fmt.Errorf("coefficients of %d bits after scaling: %w", least, err)
	}
	p = make(poly, last-first+1)
	for i := range p {
		t := terms[first+i]
		p[i] = new(big.Int)
		if t.m == nil {
			continue
		}
		p[i].Rsh(num.ToInt(t.m), uint(num.TrailingZeros(t.m)))
		p[i].Lsh(p[i], uint(t.low+s*int64(i)-low))
		if t.neg {
			p[i].Neg(p[i])
		}
	}
	return p, s, first, nil
}

// bound returns an s such that all roots have magnitudes below 2^s: with the coefficient c_(d-i)
// below 2^(e_i) in magnitude, and the leading coefficient at least 2^(e-1), |x| < 2 max |c_(d-i) /
// c_d|^(1/i) (Fujiwara, 1916; the bound is strict because the quotients are).
func (p poly) bound() (s int) {
	d := p.degree()
	lead := p[d].BitLen() - 1
	first := true
	for i := 1; i <= d; i++ {
		c := p[d-i]
		if c.Sign() == 0 {
			continue
		}
		e := c.BitLen() - lead
		q := e / i // ⌈e/i⌉
		if e > 0 && e%i != 0 {
			q++
		}
		if q++; first || q > s {
			s, first = q, false
		}
	}
	return s
}

// A valuer computes values of a polynomial.
type valuer struct {
	p    poly
	prec uint // bits that the last value took
}

func newValuer(p poly) *valuer {
	return &valuer{p: p, prec: 128}
}

// at returns the sign of p(m / 2^k), and an approximate value of p(m / 2^k) unless it is 0.
//
// In Horner's rule with w bits, the coefficient of x^i and the i factors x are rounded once, and
// there are i products and i + 1 sums, so with u = 2^-w the error is at most γ Σ |c_i| |x|^i, γ = n
// u / (1 - n u), n = 3 d + 3 (Higham, Accuracy and Stability of Numerical Algorithms, section 5.1).
func (v *valuer) at(m *big.Int, k int) (sign int, value *big.Float) {
	d := v.p.degree()
	exact := uint(v.p.bits() + d*max(m.BitLen(), k, 1) + bits.Len(uint(d)) + 1)
	slack := bits.Len(uint(3*d+3)) + 3
	for try := range 3 {
		w := v.prec
		if w >= exact {
			break
		}
		x := new(big.Float).SetPrec(w).SetInt(m)
		x.SetMantExp(x, -k)
		a := new(big.Float).SetPrec(64).Abs(x)
		z, bound := new(big.Float).SetPrec(w), new(big.Float).SetPrec(64)
		c, t := new(big.Float).SetPrec(w), new(big.Float).SetPrec(64)
		for i := d; i >= 0; i-- {
			z.Mul(z, x)
			bound.Mul(bound, a)
			if v.p[i].Sign() != 0 {
				z.Add(z, c.SetInt(v.p[i]))
				bound.Add(bound, t.Abs(t.SetInt(v.p[i])))
			}
		}
		// The bound has relative errors below 1/2; the power of two is at least twice n u.
		if z.Sign() != 0 {
			lost := bound.MantExp(nil) + slack - z.MantExp(nil) - int(w)
			if lost < -8 {
				if lost < -int(w)/2 && w > 128 {
					v.prec = max(128, w*3/4/64*64)
				}
				return z.Sign(), z
			}
			if try == 0 && lost+72 > 0 {
				v.prec = (w + uint(lost) + 72 + 63) / 64 * 64
				continue
			}
		}
		v.prec = w * 2
	}
	v.prec = min(v.prec, 1<<12)
	z := v.exactly(m, k)
	if z.Sign() == 0 {
		return 0, nil
	}
	f := new(big.Float).SetInt(z)
	return z.Sign(), f.SetMantExp(f, -k*d)
}

// exactly returns 2^(k d) p(m / 2^k).
func (v *valuer) exactly(m *big.Int, k int) *big.Int {
	d := v.p.degree()
	z, c := new(big.Int), new(big.Int)
	for i := d; i >= 0; i-- {
		z.Mul(z, m)
		z.Add(z, c.Lsh(v.p[i], uint(k*(d-i))))
	}
	return z
}
