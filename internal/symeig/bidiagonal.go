// may fuse throughout: all results are seeds

package symeig

// bidiagonal reduces an m x n matrix A, m ≥ n, to the upper bidiagonal matrix with diagonal d and
// off-diagonal e, B = H'A G. H is the product of the reflectors I - tau_j v_j v_j', where v_j
// replaces column j of A from row j on; G is the product of the reflectors for tauRight, and its
// vectors are the columns of right, from row j + 1 on (LAPACK's dgebrd).
func (s *solver) bidiagonal(a matrix) (d, e, tau, tauRight []float64, right matrix) {
	m, n := a.rows, a.cols
	d, e, tau, tauRight = make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	right = newMatrix(n, n)
	// A - V Y' - X R' is the matrix in the course of a panel.
	ys, xs := newMatrix(n, panelWidth), newMatrix(m, panelWidth)
	left, turned := make([]float64, 2*panelWidth*m), make([]float64, 2*panelWidth*n)
	f, row := make([]float64, panelWidth), make([]float64, n)
	for first := 0; first < n && !s.done(); first += panelWidth {
		last := min(first+panelWidth, n)
		v, r := a.view(0, m, first, last), right.view(0, n, first, last)
		for j := first; j < last; j++ {
			i, col := j-first, a.column(j)
			s.subtractRow(col[j:], v, j, ys, j, f[:i])
			s.subtractRow(col[j:], xs, j, r, j, f[:i])
			x := col[j:]
			d[j], tau[j] = householder(x)
			if j == n-1 {
				continue
			}
			y := ys.column(i)[j+1:]
			if tau[j] == 0 {
				clear(y)
			} else {
				s.products(a.view(j, m, j+1, n), x, y)
				s.subtractProduct(y, ys, j+1, v, j, x, f[:i])
				s.subtractProduct(y, r, j+1, xs, j, x, f[:i])
				scale(y, tau[j])
			}
			w := row[:n-j-1]
			for c := range w {
				w[c] = a.data[j+(j+1+c)*m]
			}
			s.subtractRow(w, ys, j+1, v, j, f[:i+1])
			s.subtractRow(w, r, j+1, xs, j, f[:i])
			e[j], tauRight[j] = householder(w)
			copy(right.column(j)[j+1:], w)
			z := xs.column(i)[j+1:]
			clear(z)
			if tauRight[j] != 0 {
				s.addProduct(a.view(j+1, m, j+1, n), z, w)
				s.subtractProduct(z, v, j+1, ys, j+1, w, f[:i+1])
				s.subtractProduct(z, xs, j+1, r, j+1, w, f[:i])
				scale(z, tauRight[j])
			}
		}
		if last == n {
			break
		}
		k := last - first
		both, other := matrix{m - last, 2 * k, m - last, left}, matrix{2 * k, n - last, 2 * k, turned}
		for c := range k {
			copy(both.column(c), v.column(c)[last:])
			copy(both.column(k+c), xs.column(c)[last:])
			y, x := ys.column(c)[last:], r.column(c)[last:]
			for i := range y {
				other.data[c+2*k*i], other.data[k+c+2*k*i] = y[i], x[i]
			}
		}
		s.subtract(a.view(last, m, last, n), both, other, s.workers)
	}
	return d, e, tau, tauRight, right
}

// subtractRow subtracts from y the product of the rows of a from row `from` on and a row of b. f is
// room, and has the number of columns.
func (s *solver) subtractRow(y []float64, a matrix, from int, b matrix, row int, f []float64) {
	for c := range f {
		f[c] = -b.data[row+c*b.ld]
	}
	if len(f) > 0 {
		s.k.addProduct(a.data[from:], a.ld, y, f)
	}
}

// subtractProduct subtracts A B'x from y, for the rows of A from fromA on and the rows of B from
// fromB on. f is room, and has the number of columns.
func (s *solver) subtractProduct(y []float64, a matrix, fromA int, b matrix, fromB int, x, f []float64) {
	if len(f) == 0 {
		return
	}
	s.k.products(b.data[fromB:], b.ld, x, f)
	negate(f)
	s.k.addProduct(a.data[fromA:], a.ld, y, f)
}

// products sets y = A'x, by several workers for large matrices.
func (s *solver) products(a matrix, x, y []float64) {
	workers := s.sharing(a)
	crew.Do(workers, func(i int) {
		if first, last := portion(a.cols, i, workers), portion(a.cols, i+1, workers); first < last {
			s.k.products(a.data[first*a.ld:], a.ld, x, y[first:last])
		}
	})
}

// addProduct adds A x to y.
func (s *solver) addProduct(a matrix, y, x []float64) {
	workers := s.sharing(a)
	crew.Do(workers, func(i int) {
		if first, last := portion(a.rows, i, workers), portion(a.rows, i+1, workers); first < last {
			s.k.addProduct(a.data[first:], a.ld, y[first:last], x)
		}
	})
}

// sharing returns the number of workers for a product of a matrix and a vector.
func (s *solver) sharing(a matrix) int {
	return min(s.workers, 1+a.rows*a.cols/(manyEntries*manyEntries/2))
}

// portion returns the beginning of part i of n entries.
func portion(n, i, parts int) int {
	if i == parts {
		return n
	}
	return n * i / parts &^ 7
}

func scale(x []float64, f float64) {
	for i := range x {
		x[i] *= f
	}
}

// triangular reduces an m x n matrix A, m ≥ n, to an upper triangle, in place. The reflectors of H
// are columns of a, see bidiagonal, and the n x n matrix r is the triangle, A = H R.
func (s *solver) triangular(a matrix) (tau []float64, r matrix) {
	m, n := a.rows, a.cols
	tau, r = make([]float64, n), newMatrix(n, n)
	f := make([]float64, panelWidth)
	for first := 0; first < n && !s.done(); first += panelWidth {
		last := min(first+panelWidth, n)
		for j := first; j < last; j++ {
			x := a.column(j)[j:]
			copy(r.column(j)[:j], a.column(j))
			r.data[j+j*n], tau[j] = householder(x)
			if j+1 == last {
				break
			}
			f := f[:last-j-1]
			s.k.products(a.data[j+(j+1)*m:], m, x, f)
			for c, v := range f {
				axpy(-tau[j]*v, x, a.column(j + 1 + c)[j:])
			}
		}
		if last < n {
			s.applyTransposed(a.view(first, m, first, last), tau[first:last], a.view(first, m, last, n))
		}
	}
	return tau, r
}
