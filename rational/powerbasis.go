package rational

import (
	"github.com/halfulp/halfulp/internal/dgemm"
	"github.com/halfulp/halfulp/internal/proof/modular"
)

// powerBasis computes characteristic polynomials modulo products of three primes below cubeRoot, by
// sums of products of floats that are exact: see inverse.go. Let K have the columns v, A v, ...,
// A^(n-1) v. If K is regular then K c = A^n v determines c, and x^n - c_(n-1) x^(n-1) - ... - c_0
// is the characteristic polynomial: by Cayley and Hamilton it annihilates A, so v as well.
type powerBasis struct {
	residues []uint64
	a, k     residueFloats // A and [K A^n v]
}

// polynomial returns the coefficients of the characteristic polynomial as elements of the integers
// modulo a product of three primes; nil if K is singular modulo one of them.
func (z *powerBasis) polynomial(w *words, of *modular.Field, q [3]int64) []uint64 {
	n := w.rows
	if z.residues == nil {
		z.residues = make([]uint64, n*n)
	}
	w.residues(of, z.residues)
	c := newJoint(n)
	for _, q := range q {
		z.a.f = floatField{float64(q), 1 / float64(q)}
		z.k.f = z.a.f
		z.a.resize(n, n)
		z.a.load(z.residues)
		x := z.solve()
		if x == nil {
			return nil
		}
		c.add(z.a.f, func(i int) float64 { return -x[i] })
	}
	for i, x := range c.x {
		c.x[i] = of.Element(x)
	}
	return append(c.x, of.One)
}

// solve returns the c of K c = A^n v, valid until the next call; nil if K is singular.
func (z *powerBasis) solve() []float64 {
	f, n := z.a.f, z.a.rows
	z.k.resize(n, n+1)
	first := z.k.column(0)
	clear(first)
	for i := range n { // any numbers
		first[i] = f.reduced(float64(uint32(i+1) * 2654435761 >> 13))
	}
	for j := range n {
		next := z.k.column(j + 1)
		clear(next)
		dgemm.Combine(z.a.a, z.a.ld, z.k.column(j)[:n], next)
		for i, x := range next[:n] {
			next[i] = f.reduced(x)
		}
	}
	if z.k.eliminate() == 0 {
		return nil
	}
	return z.k.column(n)
}
