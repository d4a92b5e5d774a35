// may fuse throughout: all results are seeds

package symeig

import "math"

// divided has the state of divide and conquer for a symmetric tridiagonal matrix (Cuppen, A divide
// and conquer method for the symmetric tridiagonal eigenproblem, 1981; Gu, Eisenstat, A divide-and-
// conquer algorithm for the symmetric tridiagonal eigenproblem, 1995).
type divided struct {
	s       *solver
	d, e    []float64
	vectors matrix
	room    matrix // for vectors that are multiplied
	inner   matrix // for vectors of secular equations
	order   []int  // the ascending order of the values of each piece, from its first on
}

// conquer computes the eigenvalues w, in ascending order, and the eigenvectors, as rows, of the
// tridiagonal matrix with diagonal d and off-diagonal e, which are destroyed.
func (s *solver) conquer(d, e []float64) (w []float64, vectors matrix, ok bool) {
	t, ok := s.divide(d, e)
	if !ok {
		return nil, matrix{}, false
	}
	w = make([]float64, len(d))
	for i, j := range t.order {
		w[i] = d[j]
	}
	t.vectors.transposeOrdered(t.room, t.order)
	return w, t.room, true
}

// divide replaces d by the eigenvalues of the tridiagonal matrix with diagonal d and off-diagonal
// e, in any order. The eigenvectors become the columns of vectors.
func (s *solver) divide(d, e []float64) (t *divided, ok bool) {
	n := len(d)
	t = &divided{s: s, d: d, e: e, vectors: newMatrix(n, n), room: newMatrix(n, n), inner: newMatrix(n, n), order: make([]int, n)}
	for i := range d {
		t.vectors.data[i+i*n] = 1
		if i > 0 {
			d[i] -= math.Abs(e[i-1])
		}
		if i < n-1 {
			d[i] -= math.Abs(e[i])
		}
	}
	for _, level := range pieces(n, 2, 0) {
		if !s.each(level, t.merge) {
			return nil, false
		}
	}
	return t, true
}

// merge computes the decomposition of a piece, D + ρ z z' in the basis of its parts.
func (t *divided) merge(p piece, workers int) bool {
	first, k := p.first, p.to-p.first
	upper := p.mid - first
	q := t.vectors.view(first, p.to, first, p.to)
	d := t.d[first:p.to]
	rho := math.Abs(t.e[p.mid-1]) * 2
	z, kind := make([]float64, k), make([]int8, k)
	for j := range z {
		if j < upper {
			z[j] = q.data[upper-1+j*q.ld] * math.Sqrt2 / 2
			kind[j] = top
		} else {
			z[j] = math.Copysign(q.data[upper+j*q.ld]*math.Sqrt2/2, q.data[upper+j*q.ld]*t.e[p.mid-1])
			kind[j] = bottom
		}
	}
	order := t.order[first:p.to]
	sortBy(order, d)
	scale, size := normalize(d, &rho)
	tol := 8 * unitRoundoff * size
	far := func(p, j int, c, s float64) bool { return math.Abs((d[j]-d[p])*c*s) > tol }
	kept := deflate(z, kind, order, tol/rho, far, func(p, j int, c, s float64) {
		rotate(q.column(p), q.column(j), c, s)
		d[p], d[j] = d[p]*c*c+d[j]*s*s, d[p]*s*s+d[j]*c*c
	})
	e := &secular{k: t.s.k, d: make([]float64, len(kept)), z: make([]float64, len(kept))}
	for i, j := range kept {
		e.d[i], e.z[i] = d[j], z[j]*math.Sqrt(rho)
	}
	g := group(kept, kind)
	delta := matrix{g.kept, g.kept, g.kept, t.inner.data[first*t.inner.ld:]}
	values := make([]float64, k)
	if !e.solve(t.s, delta, values[:g.kept], workers) {
		return false
	}
	t.s.vectors(e, delta, matrix{}, g.place, workers)
	t.s.combine(q, upper, g, delta, t.room.data[first*t.room.ld:], workers)
	for i, j := range g.columns[g.kept:] {
		values[g.kept+i] = d[j]
	}
	shift(values, scale)
	copy(d, values)
	sortBy(order, d)
	return !t.s.done()
}

// normalize multiplies d and more numbers by a power of two, 2^-scale, so that the largest
// magnitude, size, is in [1/2, 1), and squares do not underflow. It returns 0 for zeros.
func normalize(d []float64, more ...*float64) (scale int, size float64) {
	for _, x := range d {
		size = max(size, math.Abs(x))
	}
	for _, x := range more {
		size = max(size, math.Abs(*x))
	}
	if size == 0 {
		return 0, 0
	}
	size, scale = math.Frexp(size)
	shift(d, -scale)
	for _, x := range more {
		*x = math.Ldexp(*x, -scale)
	}
	return scale, size
}
