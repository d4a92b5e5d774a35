package rational

import (
	"sync"

	"github.com/halfulp/halfulp/internal/dgemm"
	"github.com/halfulp/halfulp/internal/proof/modular"
)

// Eliminations modulo a prime q of 21 bits, by sums of products of floats that are exact: see
// inverse.go. Three of these primes take less time than one of 61 bits, and give as many bits.

// residueFloats is a matrix modulo q. Column j begins at a[j ld], and has zeros behind its rows, to
// a multiple of 8 of them.
type residueFloats struct {
	f          floatField
	rows, cols int
	ld         int
	a          []float64
	inverse    []float64 // of pivots
	by         []float64 // the multiples of a combination of columns
}

// resize sets the shape, and keeps memory.
func (z *residueFloats) resize(rows, cols int) {
	z.rows, z.cols, z.ld = rows, cols, (rows+7)&^7
	if len(z.a) < z.ld*cols {
		z.a = make([]float64, z.ld*cols)
	}
	if most := max(z.ld, cols); len(z.inverse) < most {
		z.inverse, z.by = make([]float64, most), make([]float64, most)
	}
}

// column returns column j with the zeros behind it.
func (z *residueFloats) column(j int) []float64 { return z.a[j*z.ld : (j+1)*z.ld] }

// load stores integers below 2^61, row by row, modulo q.
func (z *residueFloats) load(x []uint64) {
	for i := range z.rows {
		for j, x := range x[i*z.cols : (i+1)*z.cols] {
			z.a[i+j*z.ld] = z.f.value(x)
		}
	}
	for j := range z.cols {
		clear(z.column(j)[z.rows:])
	}
}

// value returns an integer below 2^61 modulo q.
func (f floatField) value(x uint64) float64 {
	const half = 1 << 31
	high := f.reduced(float64(int64(x / half)))
	return f.reduced(float64(high*half) + float64(int64(x%half))) // below 2^52
}

// panelWidth is the number of pivots of a panel: of the length of the vectors that dgemm.Combine
// adds up.
const panelWidth = 8

// eliminate factors the first rows columns, P A = L U, and solves L U X = P B for the other columns
// B, which X replaces. It returns the determinant of the first columns; 0 if they are singular, and
// then the matrix has no meaning. Columns are sums of products that are reduced when they become
// factors: entries stay below 2^53 for up to mostFloats rows.
func (z *residueFloats) eliminate() (det float64) {
	f, n := z.f, z.rows
	det = 1
	for k0 := 0; k0 < n; k0 += panelWidth {
		k1 := min(n, k0+panelWidth)
		for j := k0; j < z.cols; j++ {
			c := z.column(j)
			// The pivots of this panel that are left of column j.
			top := min(k1, max(j, k0))
			for k := k0; k < top; k++ {
				x := c[k]
				for h := k0; h < k; h++ {
					x += float64(z.by[h-k0] * z.a[k+h*z.ld])
				}
				x = f.reduced(x)
				c[k], z.by[k-k0] = x, -x
			}
			if j >= k1 {
				if k1 < n {
					dgemm.Combine(z.a[k1+k0*z.ld:], z.ld, z.by[:k1-k0], c[k1:])
				}
				continue
			}
			// Column j has the next pivot. Rows from j on of the columns of the panel.
			for h := k0; h < j; h++ {
				l, x := z.column(h)[j:n], z.by[h-k0]
				y := c[j:n]
				y = y[:len(l)]
				for i, l := range l {
					y[i] += float64(x * l)
				}
			}
			at := -1
			for i := n - 1; i >= j; i-- {
				if c[i] = f.reduced(c[i]); c[i] != 0 {
					at = i
				}
			}
			if at < 0 {
				return 0
			}
			if at != j {
				for j0 := range z.cols {
					z.a[j+j0*z.ld], z.a[at+j0*z.ld] = z.a[at+j0*z.ld], z.a[j+j0*z.ld]
				}
				det = -det
			}
			det = f.reduced(det * c[j])
			by := f.inverted(c[j])
			z.inverse[j] = by
			for i := j + 1; i < n; i++ {
				c[i] = f.reduced(c[i] * by)
			}
		}
	}
	for j := n; j < z.cols; j++ {
		z.substitute(z.column(j))
	}
	return det
}

// substitute solves U x = c, and replaces c by x.
func (z *residueFloats) substitute(c []float64) {
	f := z.f
	for k1 := z.rows; k1 > 0; {
		k0 := (k1 - 1) &^ (panelWidth - 1)
		for k := k1 - 1; k >= k0; k-- {
			x := c[k]
			for h := k + 1; h < k1; h++ {
				x += float64(z.by[h-k0] * z.a[k+h*z.ld])
			}
			x = f.reduced(f.reduced(x) * z.inverse[k])
			c[k], z.by[k-k0] = x, -x
		}
		dgemm.Combine(z.a[k0*z.ld:], z.ld, z.by[:k1-k0], c[:k0])
		k1 = k0
	}
}

// threes keeps products of three primes, as far as they were needed.
var threes struct {
	sync.Mutex
	list []three
}

type three struct {
	f *modular.Field
	q [3]int64
}

// productOfThree returns the integers modulo the product of primes 3 i to 3 i + 2 below cubeRoot.
func productOfThree(i int) (f *modular.Field, q [3]int64) {
	threes.Lock()
	defer threes.Unlock()
	for n := len(threes.list); n <= i; n++ {
		t, m := three{}, uint64(1)
		for k := range t.q {
			t.q[k] = floatPrime(3*n + k)
			m *= uint64(t.q[k])
		}
		t.f = modular.Ring(m)
		threes.list = append(threes.list, t)
	}
	return threes.list[i].f, threes.list[i].q
}

// joint collects integers modulo the product of some primes from their residues modulo each.
type joint struct {
	product uint64 // of the primes so far
	x       []uint64
}

func newJoint(n int) *joint { return &joint{1, make([]uint64, n)} }

// add takes the residues modulo a further prime.
func (z *joint) add(f floatField, residue func(i int) float64) {
	// x + product times the multiple that makes it the residue.
	by := f.inverted(f.value(z.product))
	for i, x := range z.x {
		t := f.reduced(f.reduced(residue(i)-f.value(x)) * by)
		if t < 0 {
			t += f.q
		}
		z.x[i] += z.product * uint64(t)
	}
	z.product *= uint64(f.q)
}

// regular returns the echelon form of a matrix whose first columns form a regular square matrix,
// modulo the product of three primes, with the determinant of this square matrix and without an
// order of the rows; nil if these columns are singular modulo one of the primes.
func (w *words) regular(of *modular.Field, q [3]int64, space *workspace) *modular.Echelon {
	n := w.rows
	if len(space.elements) < len(w.negative) {
		space.elements = make([]uint64, len(w.negative))
	}
	w.residues(of, space.elements)
	z, free := &space.floats, w.cols-n
	all := newJoint(free*n + 1)
	for _, q := range q {
		z.f = floatField{float64(q), 1 / float64(q)}
		z.resize(n, w.cols)
		z.load(space.elements)
		det := z.eliminate()
		if det == 0 {
			return nil
		}
		all.add(z.f, func(i int) float64 {
			if i == free*n {
				return det
			}
			return z.a[i%n+(n+i/n)*z.ld]
		})
	}
	e := &modular.Echelon{Order: span(0, n), Pivots: span(0, n), Free: span(n, w.cols), Outside: make([]bool, free), X: all.x[:free*n]}
	e.Det = of.Element(all.x[free*n])
	for i, x := range e.X {
		e.X[i] = of.Element(x)
	}
	return e
}
