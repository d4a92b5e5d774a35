package roots

import (
	"fmt"
	"math"
	"math/big"
	"sync/atomic"

	"github.com/halfulp/halfulp/internal/bigfun"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/proof/call"
)

// A Rule names a quadrature rule.
type Rule int

// The rules. Weight functions: 1 on [-1, 1]; exp(-x²); exp(-x) on [0, ∞); x^α exp(-x) on [0, ∞);
// (1 - x)^α (1 + x)^β on [-1, 1].
const (
	Legendre Rule = iota
	Hermite
	Laguerre
	genLaguerre
	jacobi
)

// Nodes x of the rules with n points are the eigenvalues of a matrix J with diagonal a_k and
// off-diagonal entries b_k, k = 1, ..., n - 1 (Golub and Welsch, 1969):
//
//	Legendre  a_k = 0,        b_k² = k²/(4 k² - 1)
//	Hermite   a_k = 0,        b_k² = k/2
//	Laguerre  a_k = 2 k + 1,  b_k² = k²
//
// For Legendre and Hermite, J² splits into a part for even and one for odd indices. Their
// eigenvalues are y = x²; the part for indices of the parity of n has the eigenvalue y of each node
// x > 0 once, and no other.
//
// # Weights
//
// With p the orthogonal polynomial of degree n, k its leading coefficient, and P = Π (x - x_j) over
// the other nodes, p'(x) = k P, and (Abramowitz and Stegun, section 25.4; NIST Handbook, section
// 3.5)
//
//	Legendre  w = 2 / ((1 - x²) k² P²),   k = (2n)! / (2^n n!²)
//	Hermite   w = 2^(n+1) n! √π / (k² P²),  k = 2^n
//	Laguerre  w = 1 / (x k² P²),          k = 1/n!
//
// For symmetric nodes P² = 4 y Π (y - y_j)² over the other y_j > 0, times y if 0 is a node. For the
// node 0, P² = Π y_j², and these weights have the closed forms
//
//	Legendre  w = 2 (4^m / (n binomial(2m, m)))²,  Hermite  w = 2^(n-1) n! √π (m! / (n (2m)!))²,  n = 2m + 1.
//
// A difference of two numbers with errors r_i and r_j has the relative error (r_i + r_j) / (|y_i -
// y_j| - r_i - r_j) at most. The relative error of a product is below 2 Σ ε if the relative errors
// of its factors have a sum Σ ε ≤ 1/2.
//
// # Ties
//
// No node but 0, and 1 for Laguerre with n = 1, is a rational number that a format holds, nor
// halfway between two of them; so intervals decide all nodes. Hermite polynomials of even degree,
// those of odd degree divided by x, and Laguerre polynomials are irreducible over the rational
// numbers (Schur, 1929). For Legendre let x = a/2^k, a odd, k ≥ 1. With s(j) the number of ones of
// j in base 2, the term (-1)^j (2n-2j)! / (j! (n-j)! (n-2j)!) x^(n-2j) of 2^n P_n(x) is divisible
// by 2 exactly s(j) + s(n-2j) + 2kj - kn times (Legendre's formula). Since s(n) ≤ s(n-2j) + s(j),
// the term j = 0 alone has the least exponent, so that the sum is not 0.
//
// Weights of Hermite are algebraic multiples of √π, so they are transcendental. A rational weight
// of Laguerre would be the same at all nodes, since the polynomial is irreducible; but then the sum
// of w x would be the mean of the nodes, n, and not the integral of x exp(-x), 1. The Legendre
// weights for n = 1 and 2 are 2 and 1; the weight of the node 0 is no dyadic number for other n,
// since n is odd and divides the denominator. For the other weights of Legendre there is no proof;
// if one is undecided with 4 p + 256 bits, it is counted and the simplest number of its enclosure
// is rounded.
type quadrature struct {
	rule  Rule
	other *weightFunction // of the rules in jacobi.go
	half  bool            // nodes are symmetric: eigenvalues are y
	n     int
	s     *call.Run
	f     num.Format
	list  []*enclosed // y, or x
	mid   []*big.Float
	rad   []float64 // bounds of the distances from mid, in units of 2^-bits
	bits  int
	near  []double // mid in double-double, if that is enough for the weights
}

// Gauss returns the nodes, in ascending order, and weights of a rule with n points, rounded to
// format f.
func Gauss(s *call.Run, rule Rule, n int, f num.Format) (nodes, weights *num.Array, err error) {
	q := &quadrature{rule: rule, half: rule != Laguerre, n: n, s: s, f: f}
	return q.compute()
}

// compute returns the nodes and weights.
func (q *quadrature) compute() (nodes, weights *num.Array, err error) {
	s, n, f, m := q.s, q.n, q.f, q.count()
	// A level in math/big takes two numbers for each row; nodes and weights some more, and passes
	// three for each row on each thread.
	bits := float64(f.Bits() + guardBits + 128)
	if err := s.Budget.Check((float64(bits/8) + 64) * float64(m) * float64(8+3*s.Threads)); err != nil {
		return nil, nil, fmt.Errorf("%d nodes: %w", n, err)
	}
	if nodes, weights = num.New(f, n), num.New(f, n); n == 0 {
		return nodes, weights, nil
	}
	x, w := make([]rounded, m), make([]rounded, m)
	special := q.special(x, w)
	if m > 0 && !special {
		if err := q.run(x, w); err != nil {
			return nil, nil, err
		}
	}
	at := 0
	put := func(x, w rounded, neg bool) {
		nodes.CopyFrom(at, x.value.Array(), 0)
		if neg {
			nodes.Negate(at)
		}
		weights.CopyFrom(at, w.value.Array(), 0)
		at++
		count(s, x)
		count(s, w)
	}
	if q.half {
		for i := m - 1; i >= 0; i-- {
			put(x[i], w[i], true)
		}
		if n%2 == 1 {
			zero, err := q.atZero()
			if err != nil {
				return nil, nil, err
			}
			put(rounded{value: num.New(f, 1).Scalar(0)}, zero, false)
		}
	}
	for i := range m {
		put(x[i], w[i], false)
	}
	return nodes, weights, nil
}

// count returns the number of eigenvalues.
func (q *quadrature) count() int {
	if q.half {
		return q.n / 2
	}
	return q.n
}

// special stores the nodes and weights that are rational numbers, if all are; for Legendre with n =
// 2 it stores the weights alone.
func (q *quadrature) special(x, w []rounded) (all bool) {
	one := newRounder(q.f).exactly(dyadic{big.NewInt(1), 0})
	one.exact = false
	switch {
	case q.rule == Laguerre && q.n == 1:
		x[0], w[0] = one, one
		return true
	case q.rule == Legendre && q.n == 2:
		w[0] = one
	}
	return false
}

// diagonal returns a_k.
func (q *quadrature) diagonal(k int) *big.Rat {
	switch {
	case q.other != nil:
		return q.other.diagonal(k)
	case q.half:
		return new(big.Rat)
	}
	return new(big.Rat).SetInt64(int64(2*k + 1))
}

// square returns b_k².
func (q *quadrature) square(k int) *big.Rat {
	switch {
	case q.other != nil:
		return q.other.square(k)
	case q.rule == Hermite:
		return big.NewRat(int64(k), 2)
	case q.rule == Laguerre:
		return new(big.Rat).SetInt64(int64(k) * int64(k))
	}
	if k == 0 {
		return new(big.Rat)
	}
	return new(big.Rat).SetFrac64(int64(k)*int64(k), 4*int64(k)*int64(k)-1)
}

// matrix returns the matrix whose eigenvalues are x or y, times 2^-scale.
func (q *quadrature) matrix() (t *tridiagonal, scale int) {
	m, parity := q.count(), q.n%2
	switch q.rule {
	case Hermite, Laguerre:
		scale = int(math.Ceil(math.Log2(float64(4 * q.n))))
	case genLaguerre:
		alpha, _ := q.other.alpha.Float64()
		scale = int(math.Ceil(math.Log2(float64(4*q.n) + 2*max(alpha, 0))))
	}
	return newTridiagonal(m, func(w uint) (a, square []*big.Float) {
		number := func(x *big.Rat, scale int) *big.Float {
			z := new(big.Float).SetPrec(w).SetRat(x)
			return z.SetMantExp(z, -scale)
		}
		for i := range m {
			if !q.half {
				a = append(a, number(q.diagonal(i), scale))
				if i > 0 {
					square = append(square, number(q.square(i), 2*scale))
				}
				continue
			}
			k := 2*i + parity
			b0, b1 := q.square(k), q.square(k+1)
			a = append(a, number(new(big.Rat).Add(b0, b1), scale))
			if i+1 < m {
				square = append(square, number(new(big.Rat).Mul(b1, q.square(k+2)), 2*scale))
			}
		}
		return a, square
	}), scale
}

// run computes the nodes and weights for x > 0.
func (q *quadrature) run(x, w []rounded) error {
	m := len(x)
	t, scale := q.matrix()
	q.s.Stage("seeds")
	q.list, q.mid, q.rad = make([]*enclosed, m), make([]*big.Float, m), make([]float64, m)
	for i := range q.list {
		q.list[i] = t.eigenvalue(i)
	}
	openX, openW := make([]bool, m), make([]bool, m)
	wanted := make([]bool, m)
	for i := range m {
		openX[i], openW[i], wanted[i] = true, w[i].value == (num.Scalar{}), true
	}
	p := q.f.Bits()
	limit := uint(4*p + 256)
	report := q.s.Work.Report
	for try, bits := 0, uint(p+guardBits); ; try, bits = try+1, max(bits*3/2, 192) {
		if err := q.s.Ctx.Err(); err != nil {
			return err
		}
		q.s.Stats.Precision = int(bits)
		for i := range q.rad {
			q.rad[i] = math.Ldexp(q.rad[i], int(bits)-q.bits)
		}
		q.bits = int(bits)
		q.near = nil
		errs := make([]error, m)
		var done atomic.Int64
		if err := par.For(q.s.Ctx, q.s.Threads, m, func(_, i int) {
			if wanted[i] {
				errs[i] = q.list[i].refine(q.s.Ctx, bits)
				q.note(i, scale)
			}
			if d := done.Add(1); report != nil && try == 0 {
				report(0.8 * float64(d) / float64(m))
			}
		}); err != nil {
			return err
		}
		for _, err := range errs {
			if err != nil {
				return err
			}
		}
		q.s.Stage("nodes")
		done.Store(0)
		lead := q.constant(bits + 64)
		if bits <= doubleBits-doubleLoss {
			for _, x := range q.mid {
				q.near = append(q.near, doubleOf(new(big.Float).SetPrec(shiftBits).Set(x)))
			}
		}
		if err := par.For(q.s.Ctx, q.s.Threads, m, func(_, i int) {
			to := newRounder(q.f)
			if openX[i] {
				lo, hi := q.node(i, scale, bits+64)
				z, ok := to.decide(dyadicOf(lo), dyadicOf(hi))
				if !ok && bits > limit {
					z, ok = q.tied(to, lo, hi)
				}
				x[i], openX[i] = z, !ok
			}
			if openW[i] {
				lo, hi, good := q.weight(i, lead, bits+64)
				if good {
					z, ok := to.decide(dyadicOf(lo), dyadicOf(hi))
					if !ok && bits > limit {
						z, ok = q.exactWeight(to)
					}
					if !ok && bits > limit {
						z, ok = to.exactly(dyadicOf(simplest(lo, hi))), true
						z.exact, z.open = false, true
					}
					w[i], openW[i] = z, !ok
				}
			}
			if d := done.Add(1); report != nil && try == 0 {
				report(0.8 + 0.199*float64(d)/float64(m))
			}
		}); err != nil {
			return err
		}
		q.s.Stage("weights")
		// A weight needs its node and those around it in more bits.
		again := false
		clear(wanted)
		for i := range m {
			if openX[i] {
				wanted[i], again = true, true
			}
			if openW[i] {
				again = true
				near := 8 << try
				for j := max(0, i-near); j < min(m, i+near+1); j++ {
					wanted[j] = true
				}
			}
		}
		if !again {
			return nil
		}
	}
}

// note stores the middle and the radius of eigenvalue i.
func (q *quadrature) note(i, scale int) {
	e := q.list[i]
	mid := new(big.Float).SetPrec(max(e.lo.Prec(), e.hi.Prec())+64).Add(e.lo, e.hi)
	mid.SetMantExp(mid, scale-1)
	d := new(big.Float).SetPrec(64).Sub(e.hi, e.lo)
	r, _ := d.SetMantExp(d, scale+q.bits).Float64()
	// Half the width, the rounding of the middle included.
	q.mid[i], q.rad[i] = mid, float64(r*(0.5+0x1p-20))+math.SmallestNonzeroFloat64
}

// node encloses node i.
func (q *quadrature) node(i, scale int, prec uint) (lo, hi *big.Float) {
	e := q.list[i]
	lo, hi = new(big.Float).SetMantExp(e.lo, scale), new(big.Float).SetMantExp(e.hi, scale)
	if !q.half {
		return lo, hi
	}
	down, up := outward(prec)
	// Sqrt rounds to nearest; 2^(1-prec) is more than that.
	unit := new(big.Float).SetMantExp(big.NewFloat(1), 1-int(prec))
	one := new(big.Float).SetInt64(1)
	if lo.Sign() < 0 {
		lo.SetInt64(0)
	}
	l, h := new(big.Float).SetPrec(prec).Sqrt(lo), new(big.Float).SetPrec(prec).Sqrt(hi)
	return down().Mul(l, down().Sub(one, unit)), up().Mul(h, up().Add(one, unit))
}

// constant returns the part of weights that is the same for all nodes but 0, with a relative error
// below 2^(4-prec).
func (q *quadrature) constant(prec uint) *big.Float {
	if q.other != nil {
		return q.other.constant(q.n, prec)
	}
	z := new(big.Float).SetPrec(prec)
	n := int64(q.n)
	factorial := new(big.Int).MulRange(1, n)
	switch q.rule {
	case Legendre: // 2 / k²
		k := new(big.Float).SetPrec(prec).SetInt(new(big.Int).Binomial(2*n, n))
		k.Mul(k, k)
		z.Quo(z.SetInt64(2), k)
		z.SetMantExp(z, 2*int(n))
	case Hermite: // 2^(1-n) n! √π
		z.Sqrt(new(big.Float).SetPrec(prec).Set(bigfun.Pi(prec)))
		z.Mul(z, new(big.Float).SetPrec(prec).SetInt(factorial))
		z.SetMantExp(z, 1-int(n))
	case Laguerre: // n!²
		z.SetInt(factorial)
		z.Mul(z, z)
	}
	return z
}

// weight encloses the weight of node i; not ok if the enclosures of nodes are too wide.
func (q *quadrature) weight(i int, constant *big.Float, prec uint) (lo, hi *big.Float, ok bool) {
	z, d := new(big.Float).SetPrec(prec).SetInt64(1), new(big.Float).SetPrec(prec)
	x, r := q.mid[i], q.rad[i]
	err := 0.0 // sum of relative errors of the factors, in units of 2^-bits
	unit := math.Ldexp(1, -q.bits)
	factor := func(r float64) {
		size, _ := d.Float64()
		size = float64(math.Abs(size)*(1-0x1p-40)) - float64(r*unit)
		if !(size > 0) {
			size = 0 // err becomes infinite
		}
		err += float64(r / size * (1 + 0x1p-40))
		z.Mul(z, d)
	}
	if q.near == nil || !q.differences(i, z, &err) {
		for j, y := range q.mid {
			if j != i {
				d.Sub(x, y)
				factor(r + q.rad[j])
			}
		}
	}
	z.Mul(z, z)
	err *= 2
	if q.rule == Legendre || q.rule == jacobi {
		d.Sub(big.NewFloat(1), x)
		factor(r)
	}
	if q.rule == jacobi && !q.half {
		d.Add(big.NewFloat(1), x)
	} else {
		d.Set(x)
	}
	factor(r)
	if q.half && q.n%2 == 1 {
		factor(r)
	}
	z.Quo(constant, z)
	if q.half {
		z.SetMantExp(z, -2)
	}
	// Roundings: two for each factor, twice, and the few others, of 2^-prec each; prec = bits + 64.
	err = float64(2*err*(1+0x1p-20)) + float64(float64(8*len(q.mid)+64)*0x1p-64)
	if !(float64(err*unit) < 0.25) || err > math.MaxFloat64 {
		return nil, nil, false
	}
	lo, hi = around(z, err, -q.bits, prec)
	return lo, hi, true
}

// differences sets z to the product of the differences of node i and the others, from double-double
// numbers, and adds the relative errors of its factors to err, in units of 2^-bits. It is not ok if
// a difference is so small that the product might underflow; then z and err are unchanged.
//
// The two numbers of a difference, the difference and the product have relative errors of 2^-104,
// of 2^-102 and of 2^-102 at most.
func (q *quadrature) differences(i int, z *big.Float, err *float64) (ok bool) {
	const least, most, group = 0x1p-60, 0x1p60, 8
	unit, each := math.Ldexp(1, -q.bits), math.Ldexp(1, q.bits-101)
	own, largest := math.Ldexp(1, q.bits-103), 0.0 // of the numbers, in units of 2^-bits
	for _, y := range []double{q.near[0], q.near[len(q.near)-1]} {
		largest = max(largest, math.Abs(y.h))
	}
	r := q.rad[i] + float64(2*largest*own)
	x, product, exponent, sum := q.near[i], double{1, 0}, 0, 0.0
	for j, y := range q.near {
		if j%group == 0 {
			_, e := math.Frexp(product.h)
			product, exponent = double{math.Ldexp(product.h, -e), math.Ldexp(product.l, -e)}, exponent+e
		}
		if j == i {
			continue
		}
		d := x.sub(y)
		size := math.Abs(d.h)
		if !(size > least && size < most) {
			return false
		}
		s := r + q.rad[j]
		if size -= float64(s * unit); !(size > 0) {
			return false
		}
		sum += float64(s/size*(1+0x1p-40)) + each
		product = product.times(d)
	}
	*err += float64(sum * (1 + 0x1p-20))
	z.SetMantExp(product.float(), exponent)
	return true
}

// around encloses a number whose computed value is z with a relative error of at most err 2^e <
// 1/4, by numbers of prec bits.
func around(z *big.Float, err float64, e int, prec uint) (lo, hi *big.Float) {
	down, up := outward(prec)
	// z = w (1 + ε) with |ε| ≤ err 2^e, so w lies between z (1 - 2 err 2^e) and z (1 + 2 err 2^e).
	d := new(big.Float).SetFloat64(err)
	d.SetMantExp(d, e+1)
	one := new(big.Float).SetInt64(1)
	return down().Mul(z, down().Sub(one, d)), up().Mul(z, up().Add(one, d))
}

// atZero returns the weight of node 0.
func (q *quadrature) atZero() (rounded, error) {
	n, m := int64(q.n), int64(q.n/2)
	above, below := new(big.Int), new(big.Int)
	switch q.rule {
	case Legendre:
		above.Lsh(big.NewInt(2), uint(4*m))
		below.Binomial(2*m, m)
		below.Mul(below, big.NewInt(n))
		below.Mul(below, below)
	case Hermite:
		above.MulRange(1, m)
		above.Mul(above, above)
		above.Mul(above, new(big.Int).MulRange(1, n))
		above.Lsh(above, uint(n-1))
		below.MulRange(1, 2*m)
		below.Mul(below, big.NewInt(n))
		below.Mul(below, below)
	}
	to := newRounder(q.f)
	if q.rule == Legendre && n == 1 {
		z := to.exactly(dyadic{big.NewInt(2), 0})
		z.exact = false
		return z, nil
	}
	for bits := uint(q.f.Bits() + guardBits + 64); ; bits *= 2 {
		if err := q.s.Ctx.Err(); err != nil {
			return rounded{}, err
		}
		if q.other != nil {
			if z, ok := q.other.atZero(q.n, to, bits); ok {
				return z, nil
			}
			continue
		}
		z := new(big.Float).SetPrec(bits).SetInt(above)
		z.Quo(z, new(big.Float).SetPrec(bits).SetInt(below))
		if q.rule == Hermite {
			z.Mul(z, new(big.Float).SetPrec(bits).Sqrt(new(big.Float).SetPrec(bits).Set(bigfun.Pi(bits))))
		}
		lo, hi := around(z, 1, 4-int(bits), bits)
		if z, ok := to.decide(dyadicOf(lo), dyadicOf(hi)); ok {
			return z, nil
		}
	}
}
