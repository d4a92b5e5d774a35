package roots

import (
	"fmt"
	"math/big"
	"math/bits"

	"github.com/halfulp/halfulp/internal/bigfun"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/interval"
	"github.com/halfulp/halfulp/internal/proof/ziv"
)

// A weightFunction is x^α exp(-x), if beta is nil, or (1 - x)^α (1 + x)^β, with α, β > -1. The
// monic orthogonal polynomials satisfy p_(k+1) = (x - a_k) p_k - b_k² p_(k-1) (NIST Handbook,
// section 18.9), with
//
//	a_k = 2 k + 1 + α,  b_k² = k (k + α)
//
// or, with c = α + β,
//
//	a_k = (β² - α²) / ((2k + c) (2k + c + 2)),                   a_0 = (β - α) / (c + 2),
//	b_k² = 4 k (k + α) (k + β) (k + c) / ((2k + c)² ((2k + c)² - 1)),
//	b_1² = 4 (1 + α) (1 + β) / ((2 + c)² (3 + c)).
//
// For c = 0, a_k is 0 if α = β = 0 and (β - α)/2 for k = 0, which the formula for a_0 covers.
//
// # Weights
//
// In the notation of quadrature.go, with the integrals μ of the weight functions,
//
//	w = μ n! (α + 1) ... (α + n) / (x P²),                 μ = Γ(α + 1),
//	w = μ 4^n n! Π (α + j) (β + j) / (Π (c + j) Π (n + c + j)² (1 - x²) P²),  μ = 2^(c+1) Γ(α + 1) Γ(β + 1) / Γ(c + 2),
//
// with products over j = 1, ..., n, except that Π (c + j) begins with j = 2. They follow from w =
// Γ(n + α + 1) / (n! x L_n'(x)²) and w = Γ(n + α + 1) Γ(n + β + 1) / (Γ(n + c + 1) n!) 2^(c+1) /
// ((1 - x²) P_n'(x)²) (NIST Handbook, section 3.5). For α = β and odd n, the weight of the node 0
// is
//
//	w = μ Π b_k² / (p_n'(0) p_(n-1)(0)),  k = 1, ..., n - 1.
//
// # Ties
//
// Nodes are algebraic. A number that an enclosure with more than 4 p + 256 bits leaves open, for a
// format of p bits, is a node if the polynomial is 0 there in exact arithmetic. Weights for n = 1,
// and of the node 0, are rational if α and β are integers, and are then computed exactly if
// enclosures do not decide them. For other weights there is no proof; if one is undecided, it is
// counted and the simplest number of its enclosure is rounded.
type weightFunction struct {
	alpha, beta *big.Float
	a, b, c     *big.Rat // α, β and α + β
}

// MostExponent bounds α and β, and the negated exponent of their last bits.
const (
	MostExponent = 1 << 20
	leastBit     = -4096
)

// GenLaguerre returns the rule for x^α exp(-x) on [0, ∞).
func GenLaguerre(s *call.Run, n int, alpha *big.Float, f num.Format) (nodes, weights *num.Array, err error) {
	w, err := newWeightFunction(alpha, nil)
	if err != nil {
		return nil, nil, err
	}
	if alpha.Sign() == 0 {
		return Gauss(s, Laguerre, n, f)
	}
	q := &quadrature{rule: genLaguerre, other: w, n: n, s: s, f: f}
	return q.compute()
}

// Jacobi returns the rule for (1 - x)^α (1 + x)^β on [-1, 1].
func Jacobi(s *call.Run, n int, alpha, beta *big.Float, f num.Format) (nodes, weights *num.Array, err error) {
	w, err := newWeightFunction(alpha, beta)
	if err != nil {
		return nil, nil, err
	}
	equal := alpha.Cmp(beta) == 0
	switch {
	case equal && alpha.Sign() == 0:
		return Gauss(s, Legendre, n, f)
	case equal && alpha.Cmp(big.NewFloat(-0.5)) == 0:
		return Chebyshev(s, 1, n, f)
	case equal && alpha.Cmp(big.NewFloat(0.5)) == 0:
		return Chebyshev(s, 2, n, f)
	}
	q := &quadrature{rule: jacobi, other: w, half: equal, n: n, s: s, f: f}
	return q.compute()
}

func newWeightFunction(alpha, beta *big.Float) (*weightFunction, error) {
	w := &weightFunction{alpha: alpha, beta: beta}
	for _, x := range []*big.Float{alpha, beta} {
		if x == nil {
			continue
		}
		if x.Cmp(big.NewFloat(MostExponent)) > 0 || x.Sign() != 0 && interval.Lowest(x) < leastBit {
			return nil, fmt.Errorf("exponent %s of a weight function, want at most 2^20 and no bits below 2^%d: %w", x.Text('g', 10), leastBit, call.ErrRange)
		}
	}
	w.a, _ = alpha.Rat(nil)
	if w.c = w.a; beta != nil {
		w.b, _ = beta.Rat(nil)
		w.c = new(big.Rat).Add(w.a, w.b)
	}
	return w, nil
}

// plus returns x + i.
func plus(x *big.Rat, i int) *big.Rat { return new(big.Rat).Add(x, new(big.Rat).SetInt64(int64(i))) }

func times(x ...*big.Rat) *big.Rat {
	z := new(big.Rat).SetInt64(1)
	for _, y := range x {
		z.Mul(z, y)
	}
	return z
}

// diagonal returns a_k.
func (w *weightFunction) diagonal(k int) *big.Rat {
	if w.b == nil {
		return plus(w.a, 2*k+1)
	}
	d := new(big.Rat).Sub(w.b, w.a)
	if k == 0 {
		return d.Quo(d, plus(w.c, 2))
	}
	d.Mul(d, w.c)
	return d.Quo(d, times(plus(w.c, 2*k), plus(w.c, 2*k+2)))
}

// square returns b_k², and 0 for k = 0.
func (w *weightFunction) square(k int) *big.Rat {
	switch {
	case k == 0:
		return new(big.Rat)
	case w.b == nil:
		return times(plus(new(big.Rat), k), plus(w.a, k))
	}
	d := plus(w.c, 2*k)
	z := times(new(big.Rat).SetInt64(4), plus(w.a, k), plus(w.b, k))
	if k > 1 {
		z.Mul(z, times(plus(new(big.Rat), k), plus(w.c, k)))
		z.Quo(z, plus(d, -1))
	}
	return z.Quo(z, times(d, d, plus(d, 1)))
}

// mass returns μ with a relative error below 2^(3-prec).
func (w *weightFunction) mass(prec uint) *big.Float {
	one := big.NewFloat(1)
	gamma := func(x *big.Float, i int) *big.Float { // Γ(x + i), for a sum that is exact
		y := interval.ExactAdd(x, new(big.Float).SetInt64(int64(i)))
		return new(big.Float).SetPrec(prec).Set(bigfun.Gamma(y, prec+8))
	}
	if w.beta == nil {
		return gamma(w.alpha, 1)
	}
	c := interval.ExactAdd(w.alpha, w.beta)
	z := gamma(w.alpha, 1)
	z.Mul(z, gamma(w.beta, 1))
	z.Quo(z, gamma(c, 2))
	power := interval.ExactAdd(c, one)
	whole, _ := power.Int64()
	if rest := interval.ExactSub(power, new(big.Float).SetInt64(whole)); rest.Sign() != 0 {
		y := new(big.Float).SetPrec(prec+64).Mul(rest, bigfun.Ln2(prec+64))
		z.Mul(z, bigfun.Exp(y, prec+8))
	}
	return z.SetMantExp(z, int(whole))
}

// constant returns what weights have in common for n nodes, with a relative error below 2^(4-prec).
func (w *weightFunction) constant(n int, prec uint) *big.Float {
	prec += uint(bits.Len(uint(n))) + 8 // 8 n roundings
	z, t := w.mass(prec), new(big.Float).SetPrec(prec)
	plus := func(x *big.Rat, i int) *big.Float { return t.SetRat(plus(x, i)) }
	for j := 1; j <= n; j++ {
		z.Mul(z, plus(w.a, j))
		z.Mul(z, t.SetInt64(int64(j)))
		if w.b == nil {
			continue
		}
		z.Mul(z, plus(w.b, j))
		if j > 1 {
			z.Quo(z, plus(w.c, j))
		}
		z.Quo(z, plus(w.c, n+j))
		z.Quo(z, t)
	}
	if w.b != nil {
		z.SetMantExp(z, 2*n)
	}
	return z
}

// atZero rounds the weight of the node 0 for n nodes; not ok if enclosures of about the given bits
// do not decide it. All terms of p_(k+1)' = p_k - b_k² p_(k-1)' have the same sign at 0.
func (w *weightFunction) atZero(n int, to rounder, prec uint) (rounded, bool) {
	number := func(x *big.Rat) *big.Float { return new(big.Float).SetPrec(prec).SetRat(x) }
	z := new(big.Float).SetPrec(prec).Set(w.mass(prec))
	// p_k(0) for even k and p_k'(0) for odd k, without signs.
	value, slope := number(new(big.Rat).SetInt64(1)), number(new(big.Rat))
	for k := range n {
		s := number(w.square(k))
		if k > 0 {
			z.Mul(z, s)
		}
		if k%2 == 0 {
			slope.Add(value, slope.Mul(slope, s))
		} else {
			value.Mul(value, s)
		}
	}
	z.Quo(z, slope)
	z.Quo(z, value)
	lo, hi := around(z, 1, 5+bits.Len(uint(n))-int(prec), prec)
	r, ok := to.decide(dyadicOf(lo), dyadicOf(hi))
	if ok || int(prec) < 8*to.two.Bits() {
		return r, ok
	}
	// Such an enclosure is wider than a rational number that is no tie for long only.
	if total, ok := w.exactMass(); ok {
		value, slope := new(big.Rat).SetInt64(1), new(big.Rat)
		for k := range n {
			s := w.square(k)
			if k > 0 {
				total.Mul(total, s)
			}
			if k%2 == 0 {
				slope.Add(value, slope.Mul(slope, s))
			} else {
				value.Mul(value, s)
			}
		}
		return exactRat(to, total.Quo(total, slope.Mul(slope, value)))
	}
	r = to.exactly(dyadicOf(simplest(lo, hi)))
	r.exact, r.open = false, true
	return r, true
}

// exactMass returns μ for integers α and β.
func (w *weightFunction) exactMass() (*big.Rat, bool) {
	if !w.a.IsInt() || w.b != nil && !w.b.IsInt() {
		return nil, false
	}
	factorial := func(x *big.Rat, i int64) *big.Int { return new(big.Int).MulRange(1, x.Num().Int64()+i) }
	if w.b == nil {
		return new(big.Rat).SetInt(factorial(w.a, 0)), true
	}
	above := factorial(w.a, 0)
	above.Mul(above, factorial(w.b, 0))
	above.Lsh(above, uint(w.c.Num().Int64()+1))
	return new(big.Rat).SetFrac(above, factorial(w.c, 1)), true
}

// exactRat rounds a rational number if it is m 2^e.
func exactRat(to rounder, x *big.Rat) (rounded, bool) {
	d := x.Denom()
	e := d.TrailingZeroBits()
	if uint(d.BitLen()) != e+1 {
		return rounded{}, false
	}
	return to.exactly(dyadic{x.Num(), -int64(e)}), true
}

// exactWeight rounds the weight of the only node, if it is known to be a number m 2^e.
func (q *quadrature) exactWeight(to rounder) (z rounded, ok bool) {
	if q.n > 1 || q.other == nil {
		return z, false
	}
	x, ok := q.other.exactMass()
	if !ok {
		return z, false
	}
	return exactRat(to, x)
}

// tied rounds a node in [lo, hi] if it is proved to be 0 or the middle of the two numbers that the
// ends round to.
func (q *quadrature) tied(to rounder, lo, hi *big.Float) (z rounded, ok bool) {
	x := new(big.Float)
	if lo.Sign()*hi.Sign() > 0 {
		if x, _ = ziv.Tie(num.NewScalar(q.f, lo), num.NewScalar(q.f, hi)); x == nil {
			return z, false
		}
	}
	at, _ := x.Rat(nil)
	p, before := new(big.Rat).SetInt64(1), new(big.Rat)
	for k := range q.n {
		next := new(big.Rat).Sub(at, q.diagonal(k))
		next.Mul(next, p)
		p, before = next.Sub(next, before.Mul(before, q.square(k))), p
	}
	if p.Sign() != 0 {
		return z, false
	}
	return to.exactly(dyadicOf(x)), true
}
