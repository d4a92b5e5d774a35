// may fuse throughout: all results are seeds

package symeig

import (
	"math"
	"slices"

	"github.com/halfulp/halfulp/internal/place"
)

// divided has the state of divide and conquer for a symmetric tridiagonal matrix (Cuppen, A divide
// and conquer method for the symmetric tridiagonal eigenproblem, 1981; Gu, Eisenstat, A divide-and-
// conquer algorithm for the symmetric tridiagonal eigenproblem, 1995).
type divided struct {
	s       *solver
	d, e    []float64
	vectors matrix
	base    []int32 // the row that column j of vectors begins with; nil for zeros
	room    matrix  // for vectors that are multiplied
	inner   matrix  // for vectors of secular equations
	order   []int   // the ascending order of the values of each piece, from its first on
}

// conquer computes the eigenvalues w, in ascending order, and the eigenvectors, as rows, of the
// tridiagonal matrix with diagonal d and off-diagonal e, which are destroyed.
func (s *solver) conquer(d, e []float64) (w []float64, vectors matrix, ok bool) {
	t, ok := s.divide(d, e, nil)
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

// MergeFrom is the order from which a device merges pieces: a merge has about 9 launches, and waits
// for the device twice. On an H200 the 31 merges of order 256 to 4096 took 10 ms; on its host, with
// 16 threads, 0.3 to 0.6 s. Only tests change it.
var MergeFrom = 250

// divide replaces d by the eigenvalues of the tridiagonal matrix with diagonal d and off-diagonal
// e, in any order. The eigenvectors become the columns of vectors, or of Q of a device.
func (s *solver) divide(d, e []float64, device *Reduction) (t *divided, ok bool) {
	n := len(d)
	rows := n // of the largest piece that is merged here
	if device != nil {
		rows = min(n, MergeFrom)
	}
	t = &divided{s: s, d: d, e: e, vectors: newMatrix(rows, n), room: newMatrix(rows, n), inner: newMatrix(rows, n), order: make([]int, n)}
	levels := pieces(n, 2, 0)
	here := len(levels) // levels that are merged here
	if device != nil {
		here = slices.IndexFunc(levels, func(level []piece) bool {
			return slices.ContainsFunc(level, func(p piece) bool { return p.to-p.first >= MergeFrom })
		})
		if here < 0 {
			here = len(levels)
		}
		t.base = make([]int32, n)
	}
	if here < len(levels) {
		for _, p := range levels[here] {
			for j := p.first; j < p.mid; j++ {
				t.base[j] = int32(p.first)
			}
			for j := p.mid; j < p.to; j++ {
				t.base[j] = int32(p.mid)
			}
		}
	}
	for i := range d {
		t.vectors.data[i-t.baseOf(i)+i*rows] = 1
		if i > 0 {
			d[i] -= math.Abs(e[i-1])
		}
		if i < n-1 {
			d[i] -= math.Abs(e[i])
		}
	}
	for _, level := range levels[:here] {
		if !s.each(level, func(p piece, workers int) bool { return t.merge(p, t, workers) }) {
			return nil, false
		}
	}
	if device != nil && !device.Load(t.vectors.data, rows, t.base) {
		return nil, false
	}
	for _, level := range levels[here:] {
		for _, p := range level {
			if !t.merge(p, device, s.workers) {
				return nil, false
			}
		}
	}
	return t, true
}

// A basis has the eigenvectors of pieces as columns, whose rotations and combinations become the
// eigenvectors of a larger piece. It is on the host or on a device.
type basis interface {
	// ends returns the last row of the first part of a piece, and the first row of the second part.
	ends(p piece) (row []float64, ok bool)
	// merged returns the roots of e, and replaces the columns of the piece, after rotations.
	merged(p piece, rotations []place.Rotation, g groups, e *secular, workers int) (roots []float64, ok bool)
}

// merge computes the decomposition of a piece, D + ρ z z' in the basis of its parts.
func (t *divided) merge(p piece, b basis, workers int) bool {
	first, k := p.first, p.to-p.first
	upper := p.mid - first
	d := t.d[first:p.to]
	rho := math.Abs(t.e[p.mid-1]) * 2
	z, ok := b.ends(p)
	if !ok {
		return false
	}
	kind := make([]int8, k)
	for j, v := range z {
		if j < upper {
			z[j] = v * math.Sqrt2 / 2
			kind[j] = top
		} else {
			z[j] = math.Copysign(v*math.Sqrt2/2, v*t.e[p.mid-1])
			kind[j] = bottom
		}
	}
	order := t.order[first:p.to]
	sortBy(order, d)
	scale, size := normalize(d, &rho)
	tol := 8 * unitRoundoff * size
	far := func(p, j int, c, s float64) bool { return math.Abs((d[j]-d[p])*c*s) > tol }
	var rotations []place.Rotation
	kept := deflate(z, kind, order, tol/rho, far, func(p, j int, c, s float64) {
		rotations = append(rotations, place.Rotation{X: p, Y: j, C: c, S: s})
		d[p], d[j] = d[p]*c*c+d[j]*s*s, d[p]*s*s+d[j]*c*c
	})
	e := &secular{k: t.s.k, d: make([]float64, len(kept)), z: make([]float64, len(kept))}
	for i, j := range kept {
		e.d[i], e.z[i] = d[j], z[j]*math.Sqrt(rho)
	}
	g := group(kept, kind)
	roots, ok := b.merged(p, rotations, g, e, workers)
	if !ok || len(roots) < g.kept {
		return false
	}
	values := make([]float64, k)
	copy(values, roots)
	for i, j := range g.columns[g.kept:] {
		values[g.kept+i] = d[j]
	}
	shift(values, scale)
	copy(d, values)
	sortBy(order, d)
	return !t.s.done()
}

// baseOf returns the row of the first entry that is stored of column j.
func (t *divided) baseOf(j int) int {
	if t.base == nil {
		return 0
	}
	return int(t.base[j])
}

// view returns the rows and columns of a piece.
func (t *divided) view(p piece) matrix {
	base := t.baseOf(p.first)
	return t.vectors.view(p.first-base, p.to-base, p.first, p.to)
}

func (t *divided) ends(p piece) (row []float64, ok bool) {
	q, upper := t.view(p), p.mid-p.first
	row = make([]float64, q.cols)
	for j := range row {
		if j < upper {
			row[j] = q.data[upper-1+j*q.ld]
		} else {
			row[j] = q.data[upper+j*q.ld]
		}
	}
	return row, true
}

func (t *divided) merged(p piece, rotations []place.Rotation, g groups, e *secular, workers int) (roots []float64, ok bool) {
	q := t.view(p)
	for _, r := range rotations {
		rotate(q.column(r.X), q.column(r.Y), r.C, r.S)
	}
	delta := matrix{g.kept, g.kept, g.kept, t.inner.data[p.first*t.inner.ld:]}
	roots = make([]float64, g.kept)
	if !e.solve(t.s, delta, roots, workers) {
		return nil, false
	}
	t.s.vectors(e, delta, matrix{}, g.place, workers)
	t.s.combine(q, p.mid-p.first, g, delta, t.room.data[p.first*t.room.ld:], workers)
	return roots, true
}

func (r *Reduction) ends(p piece) (row []float64, ok bool) {
	return r.Ends(place.Piece{First: p.first, Mid: p.mid, To: p.to})
}

func (r *Reduction) merged(p piece, rotations []place.Rotation, g groups, e *secular, _ int) (roots []float64, ok bool) {
	return r.Merge(place.Merge{
		Piece: place.Piece{First: p.first, Mid: p.mid, To: p.to}, Rotations: rotations, Columns: small(g.columns),
		Top: g.upTo[top], Mixed: g.upTo[mixed], D: e.d, Z: e.z, Place: small(g.place),
	})
}

func small(x []int) []int32 {
	z := make([]int32, len(x))
	for i, v := range x {
		z[i] = int32(v)
	}
	return z
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
