// Package symeig computes eigenvalues and eigenvectors of symmetric float64 matrices, and singular
// value decompositions, in float64. Residuals and the distance of vectors from orthonormal ones
// are about n u times the norm of the matrix, with u = 2^-53, as LAPACK's are; no bound is proved.
// Results are seeds, which other packages refine and prove. Their bits differ between machines.
//
// Matrices in the interface are stored by rows, entry (i, j) at i n + j for n columns. Inside the
// package they are stored by columns.
package symeig

import (
	"context"
	"math"
	"slices"

	"github.com/halfulp/halfulp/internal/place"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/lapack/gonum"
)

// Sym computes the eigenvalues w of the symmetric n x n matrix A, in ascending order and, if
// vectors is set, orthonormal eigenvectors, A X = X diag(w). a has the entries of A on entry, and
// on return column j of a is the eigenvector of w[j]; without vectors a is destroyed. At most
// workers goroutines compute. ok is false if ctx is done, if an entry or a result is not finite, or
// if an iteration does not converge.
func Sym(ctx context.Context, a []float64, n int, vectors bool, workers int) (w []float64, ok bool) {
	scale, ok := balance(a)
	if !ok || ctx.Err() != nil {
		return nil, false
	}
	c := newSolver(ctx, workers)
	m := matrix{n, n, n, a}
	d, e, tau := c.tridiagonal(m)
	if c.done() {
		return nil, false
	}
	if !vectors {
		ok = gonum.Implementation{}.Dsterf(n, d, e)
		return d, ok && unbalance(d, scale)
	}
	w, z, ok := c.conquer(d, e)
	if !ok {
		return nil, false
	}
	c.apply(m.view(0, n, 0, max(0, n-1)), 1, tau, z)
	copy(a, z.data)
	return w, !c.done() && unbalance(w, scale) && finite(a)
}

// A Reduction is T = H'A H of a symmetric A, with an orthogonal H and the tridiagonal T that has
// diagonal D and off-diagonal E. A device has H, and an n x n matrix Q; package place describes the
// functions. They report whether they succeed.
type Reduction struct {
	D, E  []float64
	Load  func(q []float64, rows int, base []int32) bool
	Ends  func(p place.Piece) ([]float64, bool)
	Merge func(m place.Merge) ([]float64, bool)
}

// Reduced returns the eigenvalues w, in any order, of a matrix of entries near 1 that a device has
// reduced. The eigenvectors of T become the columns of Q. It destroys D and E. Else it is like Sym.
func Reduced(ctx context.Context, r Reduction, workers int) (w []float64, ok bool) {
	if !finite(r.D) || !finite(r.E) {
		return nil, false
	}
	if _, ok := newSolver(ctx, workers).divide(r.D, r.E, &r); !ok {
		return nil, false
	}
	return r.D, ctx.Err() == nil && finite(r.D)
}

// Tridiagonal is like Sym for the matrix with diagonal d, of n entries, and with e, of n - 1
// entries, beside it. v is the n x n matrix of eigenvectors, nil without vectors. d and e are left
// as they are.
func Tridiagonal(ctx context.Context, d, e []float64, vectors bool, workers int) (w, v []float64, ok bool) {
	n := len(d)
	all := slices.Concat(d, e)
	scale, ok := balance(all)
	if !ok || ctx.Err() != nil {
		return nil, nil, false
	}
	d, e = all[:n:n], all[n:]
	if !vectors {
		ok = gonum.Implementation{}.Dsterf(n, d, e)
		return d, nil, ok && unbalance(d, scale)
	}
	c := newSolver(ctx, workers)
	w, z, ok := c.conquer(d, e)
	if !ok {
		return nil, nil, false
	}
	return w, z.data, unbalance(w, scale) && finite(z.data)
}

// SVD computes the singular values s of the m x n matrix A, m ≥ n, in descending order and, if
// vectors is set, the m x n matrix u and the n x n matrix v with orthonormal columns, A = U diag(s)
// V'. a is destroyed. Else it is like Sym.
func SVD(ctx context.Context, a []float64, m, n int, vectors bool, workers int) (u, s, v []float64, ok bool) {
	scale, ok := balance(a)
	if !ok || ctx.Err() != nil {
		return nil, nil, nil, false
	}
	c := newSolver(ctx, workers)
	x := newMatrix(m, n)
	transposeTo(x.data, a, m, n)
	core, tauTall := x, []float64(nil)
	if tall := float64(m) > 1.6*float64(n); tall {
		tauTall, core = c.triangular(x)
	}
	s, e, tau, tauRight, reflectors := c.bidiagonal(core)
	if c.done() {
		return nil, nil, nil, false
	}
	if !vectors {
		ok = n == 0 || gonum.Implementation{}.Dbdsqr(blas.Upper, n, 0, 0, 0, s, e[:n-1], nil, 1, nil, 1, nil, 1, make([]float64, 4*n))
		return nil, s, nil, ok && unbalance(s, scale)
	}
	values, l, r, ok := c.conquerSVD(s, e)
	if !ok {
		return nil, nil, nil, false
	}
	// Columns by rows are rows by columns.
	u = l.data
	if m > n {
		u = append(make([]float64, 0, m*n), u...)[:m*n]
	}
	c.apply(core, 0, tau, matrix{n, core.rows, n, u})
	c.apply(reflectors, 1, tauRight[:max(0, n-1)], r)
	if tauTall != nil {
		c.apply(x, 0, tauTall, matrix{n, m, n, u})
	}
	return u, values, r.data, !c.done() && unbalance(values, scale) && finite(u) && finite(r.data)
}

// balance divides the entries of a by a power of two, 2^scale, so that the largest magnitude lies
// in [1/2, 1). It reports whether all are finite.
func balance(a []float64) (scale int, ok bool) {
	if !finite(a) {
		return 0, false
	}
	largest := 0.0
	for _, x := range a {
		largest = max(largest, math.Abs(x))
	}
	if largest == 0 {
		return 0, true
	}
	_, scale = math.Frexp(largest)
	shift(a, -scale)
	return scale, true
}

// unbalance multiplies by 2^scale, and reports whether all results are finite.
func unbalance(w []float64, scale int) bool {
	shift(w, scale)
	return finite(w)
}

func finite(a []float64) bool {
	for _, x := range a {
		if !(math.Abs(x) <= math.MaxFloat64) {
			return false
		}
	}
	return true
}

// shift multiplies the entries of a by 2^scale, rounded once where the result is subnormal.
func shift(a []float64, scale int) {
	if scale == 0 {
		return
	}
	if -1000 <= scale && scale <= 1000 {
		f := math.Ldexp(1, scale)
		for i := range a {
			a[i] *= f
		}
		return
	}
	for i, x := range a {
		a[i] = math.Ldexp(x, scale)
	}
}

// transposeTo stores the transpose of an m x n matrix.
func transposeTo(to, a []float64, m, n int) {
	const side = 32
	for i0 := 0; i0 < m; i0 += side {
		for j0 := 0; j0 < n; j0 += side {
			for i := i0; i < min(m, i0+side); i++ {
				for j, x := range a[i*n+j0 : i*n+min(n, j0+side)] {
					to[(j0+j)*m+i] = x
				}
			}
		}
	}
}

// transpose transposes an n x n matrix in place.
func transpose(a []float64, n int) {
	const side = 32
	for i0 := 0; i0 < n; i0 += side {
		for j0 := 0; j0 <= i0; j0 += side {
			for i := i0; i < min(n, i0+side); i++ {
				for j := j0; j < min(i, j0+side); j++ {
					a[i*n+j], a[j*n+i] = a[j*n+i], a[i*n+j]
				}
			}
		}
	}
}
