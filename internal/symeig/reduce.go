// may fuse throughout: all results are seeds

package symeig

import "math"

// panelWidth is the number of columns that are reduced before the rest of the matrix is updated.
const panelWidth = 24

// tridiagonal reduces a symmetric matrix A, of which the lower triangle is read, to the tridiagonal
// matrix with diagonal d and off-diagonal e, T = H'A H. H is the product of the reflectors I -
// tau_j v_j v_j', and v_j replaces column j of A from row j + 1 on (Dongarra, Hammarling, Sorensen,
// Block reduction of matrices to condensed forms, 1989, LAPACK's dsytrd).
func (s *solver) tridiagonal(a matrix) (d, e, tau []float64) {
	n := a.rows
	d, e, tau = make([]float64, n), make([]float64, max(0, n-1)), make([]float64, max(0, n-1))
	w := newMatrix(n, panelWidth)
	left, right := make([]float64, 2*panelWidth*n), make([]float64, 2*panelWidth*n)
	f := make([]float64, panelWidth)
	p := newProduct(s, n)
	for first := 0; first < n-1 && !s.done(); first += panelWidth {
		last := min(first+panelWidth, n-1)
		for j := first; j < last; j++ {
			i, col := j-first, a.column(j)
			v, u := a.data[first*n:], w.data // the reflectors, and the vectors w of the panel
			f := f[:i]
			if i > 0 {
				for c := range f {
					f[c] = -u[j+c*n]
				}
				s.k.addProduct(v[j:], n, col[j:], f)
				for c := range f {
					f[c] = -v[j+c*n]
				}
				s.k.addProduct(u[j:], n, col[j:], f)
			}
			d[j] = col[j]
			x, y := col[j+1:], w.column(i)[j+1:]
			e[j], tau[j] = householder(x)
			if tau[j] == 0 {
				clear(y)
				continue
			}
			p.multiply(a.view(j+1, n, j+1, n), x, y)
			if i > 0 {
				s.k.products(v[j+1:], n, x, f)
				negate(f)
				s.k.addProduct(u[j+1:], n, y, f)
				s.k.products(u[j+1:], n, x, f)
				negate(f)
				s.k.addProduct(v[j+1:], n, y, f)
			}
			for r := range y {
				y[r] *= tau[j]
			}
			axpy(-tau[j]/2*inner(x, y), x, y)
		}
		// A -= V W' + W V' for the lower triangle.
		m, k := n-last, last-first
		both, turned := matrix{m, 2 * k, m, left}, matrix{2 * k, m, 2 * k, right}
		for c := range k {
			x, y := a.column(first + c)[last:], w.column(c)[last:]
			copy(both.column(c), x)
			copy(both.column(k+c), y)
			for i := range m {
				turned.data[c+2*k*i], turned.data[k+c+2*k*i] = y[i], x[i]
			}
		}
		const strip = 192
		for c := 0; c < m; c += strip {
			to := min(m, c+strip)
			s.subtract(a.view(last+c, n, last+c, last+to), both.view(c, m, 0, 2*k), turned.view(0, 2*k, c, to), s.workers)
		}
	}
	if n > 0 {
		d[n-1] = a.data[n*n-1]
	}
	return d, e, tau
}

func negate(x []float64) {
	for i := range x {
		x[i] = -x[i]
	}
}

// product computes products of symmetric matrices and vectors.
type product struct {
	s    *solver
	sums []matrix // a column for each worker after the first
	d    [][]float64
}

func newProduct(s *solver, n int) *product {
	p := &product{s: s}
	for range s.workers {
		p.sums = append(p.sums, newMatrix(n, 1))
		p.d = append(p.d, make([]float64, 4))
	}
	return p
}

// manyEntries is the order from which several workers share a product.
const manyEntries = 384

// multiply sets y = A x for a symmetric matrix, of which the lower triangle is read.
func (p *product) multiply(a matrix, x, y []float64) {
	m := a.rows
	clear(y)
	workers := min(p.s.workers, 1+m/manyEntries)
	if workers == 1 {
		p.part(a, 0, m, x, y, p.d[0])
		return
	}
	crew.Do(workers, func(i int) {
		to := y
		if i > 0 {
			to = p.sums[i].data[:m]
			clear(to)
		}
		p.part(a, share(m, i, workers), share(m, i+1, workers), x, to, p.d[i])
	})
	for i := 1; i < workers; i++ {
		axpy(1, p.sums[i].data[:m], y)
	}
}

// share returns the first column of part i of parts of a lower triangle with similar areas.
func share(m, i, parts int) int {
	if i == parts {
		return m
	}
	return int(float64(m)*(1-math.Sqrt(1-float64(i)/float64(parts)))) &^ 3
}

// part adds to y the product of x and the columns from first on, and of the rows above.
func (p *product) part(a matrix, first, to int, x, y, d []float64) {
	m := a.rows
	j := first
	for ; j+4 <= to; j += 4 {
		for c := j; c < j+4; c++ { // the block on the diagonal
			y[c] += a.data[c+c*a.ld] * x[c]
			for r := c + 1; r < j+4; r++ {
				v := a.data[r+c*a.ld]
				y[r] += v * x[c]
				y[c] += v * x[r]
			}
		}
		if j+4 < m {
			p.s.k.addBoth(a.data[j+4+j*a.ld:], a.ld, x[j+4:], y[j+4:], x[j:j+4], d)
			for c, v := range d {
				y[j+c] += v
			}
		}
	}
	for ; j < to; j++ {
		y[j] += a.data[j+j*a.ld] * x[j]
		for r := j + 1; r < m; r++ {
			v := a.data[r+j*a.ld]
			y[r] += v * x[j]
			y[j] += v * x[r]
		}
	}
}

// blockWidth returns the number of reflectors that are applied at a time.
func blockWidth(n int) int {
	if n < 400 {
		return 32
	}
	return 64
}

// apply sets Z = H Z for the product H of reflectors I - tau_j v_j v_j', where v_j is column j of v
// from row j + offset on. It takes the transpose of Z, as columns of that are packed faster.
func (s *solver) apply(v matrix, offset int, tau []float64, turned matrix) {
	n, k, width := v.rows, len(tau), blockWidth(v.rows)
	s.room = grown(s.room, width*(3*n+turned.rows))
	for first := (k - 1) / width * width; first >= 0 && k > 0 && !s.done(); first -= width {
		last := min(k, first+width)
		r := s.block(v.view(first, n, first, last), offset, tau[first:last], turned.rows)
		z := turned.view(0, turned.rows, first+offset, n)
		inside, right := matrix{z.rows, r.b, z.rows, r.inside}, matrix{r.b, r.m, r.b, r.product}
		s.subtract(inside, z, r.v, s.workers)       // - Z'V
		s.subtract(right, r.t, r.turned, s.workers) // - T'V'
		s.subtract(z, inside, right, s.workers)
	}
}

// applyTransposed sets A = H'A for a few reflectors.
func (s *solver) applyTransposed(v matrix, tau []float64, a matrix) {
	r := s.block(v, 0, tau, a.cols)
	inside, left := matrix{r.b, a.cols, r.b, r.inside}, matrix{r.m, r.b, r.m, r.product}
	s.subtract(inside, r.turned, a, s.workers) // - V'A
	s.subtract(left, r.v, r.t, s.workers)      // - V T'
	s.subtract(a, left, inside, s.workers)
}

// reflectors is a product of b reflectors, H = I - V T V' (Schreiber, Van Loan, A storage-efficient
// WY representation, 1989). V has m rows.
type reflectors struct {
	b, m      int
	v, turned matrix // V and V'
	t         matrix // T'
	// zeros for two products
	product, inside []float64
}

// block returns the product of the reflectors, and room for products with a matrix of other rows or
// columns. The next call uses the same memory.
func (s *solver) block(v matrix, offset int, tau []float64, other int) reflectors {
	b, m := len(tau), v.rows-offset
	s.room = grown(s.room, b*(3*m+other))
	r := reflectors{b: b, m: m, v: matrix{m, b, m, s.room[:b*m]}, turned: matrix{b, m, b, s.room[b*m : 2*b*m]}, t: newMatrix(b, b),
		product: s.room[2*b*m : 3*b*m], inside: s.room[3*b*m : b*(3*m+other)]}
	clear(r.product)
	clear(r.inside)
	for c := range b {
		x := r.v.column(c)
		clear(x[:min(c, m)])
		if c < m {
			copy(x[c:], v.data[c+offset+c*v.ld:][:m-c])
		}
		for i, f := range x {
			r.turned.data[c+i*b] = f
		}
	}
	gram := newMatrix(b, b) // - V'V
	s.subtract(gram, r.turned, r.v, s.workers)
	for c, f := range tau {
		r.t.data[c+c*b] = f
		for i := range c {
			sum := 0.0
			for h := i; h < c; h++ {
				sum += r.t.data[i+h*b] * gram.data[h+c*b]
			}
			r.t.data[i+c*b] = f * sum
		}
	}
	transpose(r.t.data, b)
	return r
}

// grown returns room of length n.
func grown(x []float64, n int) []float64 {
	if cap(x) < n {
		return make([]float64, n, max(n, 2*cap(x)))
	}
	return x[:n]
}
