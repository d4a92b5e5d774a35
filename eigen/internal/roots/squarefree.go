package roots

import (
	"context"
	"math/big"

	"github.com/halfulp/halfulp/internal/proof/modular"
)

// A factor is a square-free polynomial whose roots have the given multiplicity.
type factor struct {
	p            poly
	multiplicity int
}

// squareFree returns square-free polynomials without common roots whose powers have the product p,
// apart from a constant (Yun, On square-free decomposition algorithms, 1976). Factors of degree 0
// are left out. p has a degree of at least 1.
func squareFree(ctx context.Context, p poly) (list []factor, err error) {
	p = p.primitive()
	dp := p.derivative()
	g, err := gcd(ctx, p, dp)
	if err != nil {
		return nil, err
	}
	if g.degree() == 0 {
		return []factor{{p, 1}}, nil
	}
	b, c := mustDivide(p, g), mustDivide(dp, g)
	for k := 1; b.degree() > 0; k++ {
		d := subtract(c, b.derivative())
		if len(d) == 0 {
			return append(list, factor{b.primitive(), k}), nil
		}
		a, err := gcd(ctx, b, d)
		if err != nil {
			return nil, err
		}
		if a.degree() > 0 {
			list = append(list, factor{a, k})
		}
		b, c = mustDivide(b, a), mustDivide(d, a)
	}
	return list, nil
}

func subtract(p, q poly) poly {
	z := make(poly, max(len(p), len(q)))
	for i := range z {
		z[i] = new(big.Int)
		if i < len(p) {
			z[i].Set(p[i])
		}
		if i < len(q) {
			z[i].Sub(z[i], q[i])
		}
	}
	return z.trimmed()
}

// divide returns p / q, nil if the quotient is no polynomial with integer coefficients. For a
// primitive q that divides p over the rational numbers it is one (Gauss).
func divide(p, q poly) poly {
	n := len(p) - len(q)
	if n < 0 {
		return nil
	}
	rest := make(poly, len(p))
	for i, c := range p {
		rest[i] = new(big.Int).Set(c)
	}
	z, r, t := make(poly, n+1), new(big.Int), new(big.Int)
	lead := q[len(q)-1]
	for i := n; i >= 0; i-- {
		z[i] = new(big.Int)
		z[i].QuoRem(rest[i+len(q)-1], lead, r)
		if r.Sign() != 0 {
			return nil
		}
		for j, c := range q {
			rest[i+j].Sub(rest[i+j], t.Mul(z[i], c))
		}
	}
	for _, c := range rest {
		if c.Sign() != 0 {
			return nil
		}
	}
	return z
}

// mustDivide is divide for a q that divides p.
func mustDivide(p, q poly) poly {
	z := divide(p, q)
	if z == nil {
		panic("roots: a common divisor does not divide")
	}
	return z
}

// gcd returns the primitive greatest common divisor of p and q, which are not 0, with a positive
// leading coefficient. p is primitive.
//
// Modulo a prime that does not divide both leading coefficients, the degree of the greatest common
// divisor is at least the true one. So a polynomial of the least degree found that divides p and q
// is the divisor; degree 0 modulo one prime proves that there is none.
func gcd(ctx context.Context, p, q poly) (poly, error) {
	lead := new(big.Int).GCD(nil, nil, new(big.Int).Abs(p[len(p)-1]), new(big.Int).Abs(q[len(q)-1]))
	q = q.primitive()
	var image poly // of lead times the monic divisor, modulo modulus
	modulus := new(big.Int)
	next := modular.Primes()
	try := 1 // images until the next division
	for images := 0; ; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		f := modular.New(next())
		l := f.Integer(lead)
		if l == 0 {
			continue
		}
		g := gcdModulo(f, reduced(f, p), reduced(f, q))
		switch {
		case len(g) == 1:
			return poly{big.NewInt(1)}, nil
		case image == nil || len(g) < len(image):
			image, images = make(poly, len(g)), 0
			for i := range image {
				image[i] = new(big.Int)
			}
			modulus.SetInt64(1)
			try = 1
		case len(g) > len(image): // an unlucky prime
			continue
		}
		by := f.Mul(l, f.Invert(g[len(g)-1]))
		combine(f, image, modulus, g, by)
		if images++; images < try {
			continue
		}
		try = images + images/4 + 1
		if z := balanced(image, modulus).trimmed(); len(z) == len(image) {
			z = z.primitive()
			if z[len(z)-1].Sign() < 0 {
				z = subtract(nil, z)
			}
			if divide(p, z) != nil && divide(q, z) != nil {
				return z, nil
			}
		}
	}
}

// combine replaces image, whose coefficients are known modulo modulus, by the polynomial that also
// equals by times g modulo f.P, and multiplies modulus by f.P.
func combine(f *modular.Field, image poly, modulus *big.Int, g []uint64, by uint64) {
	inverse := f.Invert(f.Integer(modulus))
	t := new(big.Int)
	for i, c := range image {
		d := f.Sub(f.Mul(g[i], by), f.Integer(c))
		t.SetUint64(f.Value(f.Mul(d, inverse)))
		c.Add(c, t.Mul(t, modulus))
	}
	modulus.Mul(modulus, t.SetUint64(f.P))
}

// balanced returns the representatives of least magnitude.
func balanced(image poly, modulus *big.Int) poly {
	half := new(big.Int).Rsh(modulus, 1)
	z := make(poly, len(image))
	for i, c := range image {
		z[i] = new(big.Int).Set(c)
		if c.Cmp(half) > 0 {
			z[i].Sub(c, modulus)
		}
	}
	return z
}

// reduced returns p modulo a prime, without leading zeros.
func reduced(f *modular.Field, p poly) []uint64 {
	z := make([]uint64, len(p))
	for i, c := range p {
		z[i] = f.Integer(c)
	}
	return trim(z)
}

func trim(x []uint64) []uint64 {
	for len(x) > 0 && x[len(x)-1] == 0 {
		x = x[:len(x)-1]
	}
	return x
}

// gcdModulo returns a greatest common divisor by Euclid's algorithm, and overwrites x and y. Both
// are not 0.
func gcdModulo(f *modular.Field, x, y []uint64) []uint64 {
	if len(x) < len(y) {
		x, y = y, x
	}
	for len(y) > 0 {
		inverse := f.Invert(y[len(y)-1])
		for len(x) >= len(y) {
			q := f.Mul(x[len(x)-1], inverse)
			at := len(x) - len(y)
			for i, c := range y {
				x[at+i] = f.Sub(x[at+i], f.Mul(q, c))
			}
			x = trim(x)
		}
		x, y = y, x
	}
	return x
}
