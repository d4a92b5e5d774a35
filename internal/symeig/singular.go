// may fuse throughout: all results are seeds

package symeig

import (
	"math"
	"slices"
)

// dividedSVD has the state of divide and conquer for an upper bidiagonal matrix (Gu, Eisenstat, A
// divide-and-conquer algorithm for the bidiagonal SVD, 1995). A column of zeros is added, so that
// every piece has one column more than rows: the rows from first to `to` have the columns from
// first to `to`, both included. The last vector of a piece spans its null space. Row mid joins the
// parts above and below it.
type dividedSVD struct {
	s               *solver
	d, e            []float64
	left, right     matrix
	room            matrix // for vectors that are multiplied
	inner, innerToo matrix // for vectors of secular equations
	order           []int  // the ascending order of the values of each piece, from its first on
}

// conquerSVD computes the singular values, in descending order, and the vectors, as rows, of the
// upper bidiagonal matrix with diagonal d and off-diagonal e, with an entry 0 more, which are
// destroyed.
func (s *solver) conquerSVD(d, e []float64) (values []float64, left, right matrix, ok bool) {
	n := len(d)
	t := &dividedSVD{s: s, d: d, e: e, left: newMatrix(n, n), right: newMatrix(n+1, n+1), order: make([]int, n),
		room: newMatrix(n+1, n+1), inner: newMatrix(n, n), innerToo: newMatrix(n, n)}
	for i := range n + 1 {
		t.right.data[i+i*(n+1)] = 1
		if i < n {
			t.left.data[i+i*n] = 1
		}
	}
	for _, level := range pieces(n, 1, 1) {
		if !s.each(level, t.merge) {
			return nil, matrix{}, matrix{}, false
		}
	}
	slices.Reverse(t.order)
	values = make([]float64, n)
	for i, j := range t.order {
		values[i] = d[j]
	}
	t.left.transposeOrdered(t.inner, t.order)
	t.right.transposeOrdered(t.innerToo, t.order) // the added entries are 0
	return values, t.inner, t.innerToo, true
}

// merge computes the decomposition of a piece. In the basis of its parts it has the row z and
// below it the diagonal d, with d_mid = 0.
func (t *dividedSVD) merge(p piece, workers int) bool {
	first, mid, k := p.first, p.mid, p.to-p.first
	upper := mid + 1 - first // rows of right vectors of the first part
	u := t.left.view(first, p.to, first, p.to)
	v := t.right.view(first, p.to+1, first, p.to+1)
	d := t.d[first:p.to]
	alpha, beta := t.d[mid], t.e[mid]
	d[mid-first] = 0
	scale, size := normalize(d, &alpha, &beta)
	if size == 0 {
		sortBy(t.order[first:p.to], d)
		return true
	}
	z, kind := make([]float64, k), make([]int8, k)
	for j := range z {
		if j < upper {
			z[j], kind[j] = alpha*v.data[upper-1+j*v.ld], top
		} else {
			z[j], kind[j] = beta*v.data[upper+j*v.ld], bottom
		}
	}
	tol := 8 * unitRoundoff * size
	// The null vectors of both parts become one that has an entry in z, and that of the whole.
	x, y := z[mid-first], beta*v.data[upper+k*v.ld]
	norm := math.Hypot(x, y)
	if norm > tol {
		rotate(v.column(mid-first), v.column(k), x/norm, y/norm)
	}
	z[mid-first], kind[mid-first] = max(norm, tol), mixed
	order := t.order[first:p.to]
	d[mid-first] = -1 // the first one
	sortBy(order, d)
	d[mid-first] = 0
	far := func(p, j int, _, _ float64) bool { return p == mid-first || d[j]-d[p] > tol }
	kept := deflate(z, kind, order, tol*(1-unitRoundoff), far, func(p, j int, c, s float64) {
		rotate(u.column(p), u.column(j), c, s)
		rotate(v.column(p), v.column(j), c, s)
	})
	if len(kept) > 1 {
		d[kept[1]] = max(d[kept[1]], tol/2)
	}
	e := &secular{k: t.s.k, d: make([]float64, len(kept)), z: make([]float64, len(kept)), squared: true}
	for i, j := range kept {
		e.d[i], e.z[i] = d[j], z[j]
	}
	g := group(kept, kind)
	delta := matrix{g.kept, g.kept, g.kept, t.inner.data[first*t.inner.ld:]}
	left := matrix{g.kept, g.kept, g.kept, t.innerToo.data[first*t.innerToo.ld:]}
	values := make([]float64, k)
	if !e.solve(t.s, delta, values[:g.kept], workers) {
		return false
	}
	t.s.vectors(e, delta, left, g.place, workers)
	room := t.room.data[first*t.room.ld:]
	t.s.combine(v.view(0, k+1, 0, k), upper, g, delta, room, workers)
	t.s.combine(u, upper, g, left, room, workers)
	for i, j := range g.columns[g.kept:] {
		values[g.kept+i] = d[j]
	}
	shift(values, scale)
	copy(d, values)
	sortBy(order, d)
	return !t.s.done()
}
