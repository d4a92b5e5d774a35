package dgemm

import (
	"math"

	"github.com/halfulp/halfulp/internal/par"
)

// Axpy adds alpha x to y. Products are rounded or fused, all in the same way: the bits do not
// depend on the lengths of the parts in which a caller adds x.
func Axpy(alpha float64, x, y []float64) {
	if alpha == 0 {
		return
	}
	k := best()
	whole := 0
	if len(x) >= 16 && k.axpy != nil {
		whole = len(x) &^ 7
		k.axpy(alpha, x[:whole], y[:whole])
	}
	if k.axpy == nil {
		axpyGeneric(alpha, x, y)
		return
	}
	for i := whole; i < len(x); i++ {
		y[i] = math.FMA(alpha, x[i], y[i])
	}
}

func axpyGeneric(alpha float64, x, y []float64) {
	y = y[:len(x)]
	for i, v := range x {
		y[i] += alpha * v // may fuse: a seed
	}
}

// Eliminate subtracts multiples of row k from the other rows of the n x n matrix a, stored row by
// row: entry (i, j) becomes a_ij - a_ik a_kj, and entry (i, k) becomes -a_ik a_kk, for all i other
// than k. Products are rounded or fused.
func Eliminate(a []float64, n, k int) {
	_ = a[n*n-1]
	if f := best().eliminate; f != nil && n%4 == 0 {
		f(a, n, k)
		return
	}
	eliminateGeneric(a, n, k)
}

func eliminateGeneric(a []float64, n, k int) {
	row := a[k*n : (k+1)*n]
	for i := range n {
		if i == k {
			continue
		}
		to := a[i*n : (i+1)*n]
		x := to[k]
		to[k] = 0
		for j, v := range row {
			to[j] -= x * v // may fuse: a seed
		}
	}
}

// AxpyAbs adds alpha |x| to y. Products are rounded or fused, all in the same way, as by Axpy.
func AxpyAbs(alpha float64, x, y []float64) {
	k := best()
	whole := 0
	if len(x) >= 16 && k.axpyAbs != nil {
		whole = len(x) &^ 7
		k.axpyAbs(alpha, x[:whole], y[:whole])
	}
	if k.axpyAbs == nil {
		axpyAbsGeneric(alpha, x, y)
		return
	}
	for i := whole; i < len(x); i++ {
		y[i] = math.FMA(alpha, math.Abs(x[i]), y[i])
	}
}

func axpyAbsGeneric(alpha float64, x, y []float64) {
	y = y[:len(x)]
	for i, v := range x {
		y[i] += alpha * math.Abs(v) // may fuse: bounds hold for both
	}
}

// Combine adds Σ a_j x_j to y, where x_j begins at x[j ld] and has the length of y. Products are
// rounded or fused.
func Combine(x []float64, ld int, a, y []float64) {
	if len(a) == 0 || len(y) == 0 {
		return
	}
	_ = x[(len(a)-1)*ld+len(y)-1]
	k := best()
	whole := 0
	if k.combine != nil {
		whole = len(y) &^ 7
		k.combine(x, ld, a, y[:whole])
	}
	if whole < len(y) {
		combineGeneric(x[whole:], ld, a, y[whole:])
	}
}

func combineGeneric(x []float64, ld int, a, y []float64) {
	for j, v := range a {
		axpyGeneric(v, x[j*ld:j*ld+len(y)], y)
	}
}

// CombineSingle is Combine for x_j of single precision.
func CombineSingle(x []float32, ld int, a, y []float64) {
	if len(a) == 0 || len(y) == 0 {
		return
	}
	_ = x[(len(a)-1)*ld+len(y)-1]
	k := best()
	whole := 0
	if k.combineSingle != nil {
		whole = len(y) &^ 7
		k.combineSingle(x, ld, a, y[:whole])
	}
	if whole == len(y) {
		return
	}
	for j, v := range a {
		for i, x := range x[j*ld+whole : j*ld+len(y)] {
			y[whole+i] += v * float64(x) // may fuse: as documented
		}
	}
}

// block is the order of the triangles at which recursive substitution ends, wide the number of
// right-hand sides at a time.
const (
	block = 12
	wide  = 4
)

// triangleGeneric solves T X = B for a lower triangle of order block by columns, with the
// reciprocals of its diagonal. X replaces B; row i is x[4i : 4i+4].
func triangleGeneric(t, x []float64) {
	for k := range block {
		row := x[wide*k:][:wide]
		for c := range row {
			row[c] *= t[k*block+k]
		}
		for i := k + 1; i < block; i++ {
			f, other := t[k*block+i], x[wide*i:][:wide]
			for c, v := range row {
				other[c] -= f * v // may fuse: a seed
			}
		}
	}
}

// substitution is the memory of a substitution.
type substitution struct {
	t [block * block]float64
	x [wide * block]float64
}

// substitute solves T X = B for T of order n ≤ block. entry returns the entries of T, with rows in
// the order in which they are solved: the order of B or, if up, its reverse.
func (w *worker) substitute(n int, entry func(i, k int) float64, up bool, b matrix) {
	t, x := &w.room.t, &w.room.x
	*t = [block * block]float64{}
	for k := range block {
		t[k*block+k] = 1
		if k < n {
			t[k*block+k] = 1 / entry(k, k)
			for i := k + 1; i < n; i++ {
				t[k*block+i] = entry(i, k)
			}
		}
	}
	const some = 64 // columns a call
	if n*b.cols < 8*some*block {
		w.substituteBy(t, x, n, up, b)
		return
	}
	_ = par.For(w.ctx, w.threads, (b.cols+some-1)/some, func(_, part int) {
		var x [wide * block]float64
		w.substituteBy(t, &x, n, up, b.view(0, b.rows, part*some, min((part+1)*some, b.cols)))
	})
}

// substituteBy is substitute for the triangle t, with memory x.
func (w *worker) substituteBy(t *[block * block]float64, x *[wide * block]float64, n int, up bool, b matrix) {
	*x = [wide * block]float64{}
	first, step := 0, wide // of row 0 of B in X, and from one row to the next
	if up {
		first, step = wide*(n-1), -wide
	}
	for j := 0; j < b.cols; j += wide {
		cols := min(wide, b.cols-j)
		for c := range cols {
			at := first + c
			for _, v := range b.data[(j+c)*b.ld:][:n] {
				x[at] = v
				at += step
			}
		}
		w.k.triangle(t[:], x[:])
		for c := range cols {
			column, at := b.data[(j+c)*b.ld:][:n], first+c
			for i := range column {
				column[i] = x[at]
				at += step
			}
		}
	}
}

// whole is a common multiple of the sides of all tiles and of block.
const whole = 48

// halfOf returns the length of the first of two parts of n > block. It is a multiple of block, and
// of whole if such a multiple is near the half, so that few tiles are partial.
func halfOf(n int) int {
	if n >= 2*whole {
		return (n/2 + whole/2) / whole * whole
	}
	return max(block, n/2/block*block)
}
