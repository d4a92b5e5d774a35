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
	n        int
	residues []uint64
	a, k     []float64 // A and [K A^n v] by columns
	inverse  []float64 // of pivots
}

func newPowerBasis(n int) *powerBasis {
	return &powerBasis{n: n, residues: make([]uint64, n*n), a: make([]float64, n*n), k: make([]float64, n*(n+1)), inverse: make([]float64, n)}
}

// productOfThree returns the integers modulo the product of primes 3 i to 3 i + 2 below cubeRoot.
func productOfThree(i int) (f *modular.Field, q [3]int64) {
	m := uint64(1)
	for k := range q {
		q[k] = floatPrime(3*i + k)
		m *= uint64(q[k])
	}
	return modular.Ring(m), q
}

// polynomial returns the coefficients of the characteristic polynomial as elements of the integers
// modulo a product of three primes; nil if K is singular modulo one of them.
func (z *powerBasis) polynomial(w *words, of *modular.Field, q [3]int64) []uint64 {
	w.residues(of, z.residues)
	c := make([]uint64, z.n+1)
	product := uint64(1)
	for _, q := range q {
		f := floatField{float64(q), 1 / float64(q)}
		z.load(f)
		x := z.solve(f)
		if x == nil {
			return nil
		}
		// c + product times the multiple that makes it -x modulo q.
		by := f.inverted(f.value(product))
		for i, x := range x {
			t := f.reduced(f.reduced(-x-f.value(c[i])) * by)
			if t < 0 {
				t += f.q
			}
			c[i] += product * uint64(t)
		}
		product *= uint64(q)
	}
	for i, x := range c[:z.n] {
		c[i] = of.Element(x)
	}
	c[z.n] = of.One
	return c
}

// value returns an integer below 2^61 modulo q.
func (f floatField) value(x uint64) float64 {
	const half = 1 << 31
	high := f.reduced(float64(x / half))
	return f.reduced(float64(high*half) + float64(x%half)) // below 2^52
}

// load stores the residues modulo q in a.
func (z *powerBasis) load(f floatField) {
	for i := range z.n {
		for j, x := range z.residues[i*z.n : (i+1)*z.n] {
			z.a[i+j*z.n] = f.value(x)
		}
	}
}

// solve returns the c of K c = A^n v, valid until the next call; nil if K is singular.
func (z *powerBasis) solve(f floatField) []float64 {
	n := z.n
	column := func(j int) []float64 { return z.k[j*n : (j+1)*n] }
	for i := range n { // any numbers
		column(0)[i] = f.reduced(float64(uint32(i+1) * 2654435761 >> 13))
	}
	for j := range n {
		v, next := column(j), column(j+1)
		clear(next)
		for k, x := range v {
			dgemm.Axpy(x, z.a[k*n:(k+1)*n], next)
		}
		for i, x := range next {
			next[i] = f.reduced(x)
		}
	}
	// Columns are updated by sums of up to n products, and reduced when they have the pivot.
	for k := range n {
		pivots := column(k)
		at := -1
		for i := n - 1; i >= k; i-- {
			if pivots[i] = f.reduced(pivots[i]); pivots[i] != 0 {
				at = i
			}
		}
		if at < 0 {
			return nil
		}
		by := f.inverted(pivots[at])
		z.inverse[k] = by
		pivots[k], pivots[at] = pivots[at], pivots[k]
		below := pivots[k+1:]
		for i, x := range below {
			below[i] = f.reduced(x * by)
		}
		for j := k + 1; j <= n; j++ {
			c := column(j)
			c[k], c[at] = c[at], c[k]
			c[k] = f.reduced(c[k])
			dgemm.Axpy(-c[k], below, c[k+1:])
		}
	}
	x := column(n)
	for k := n - 1; k >= 0; k-- {
		x[k] = f.reduced(f.reduced(x[k]) * z.inverse[k])
		dgemm.Axpy(-x[k], column(k)[:k], x[:k])
	}
	return x
}
