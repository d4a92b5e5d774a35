package rational

import (
	"math/big"
	"slices"
	"sync"

	"github.com/halfulp/halfulp/internal/dgemm"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/proof/modular"
)

// Inverses modulo the cube of a prime q of 21 bits, by products of float64 matrices. Elements
// modulo q are integers x with |x| ≤ 0.51 q, so that sums of up to mostFloats products are below
// 2^51, and exact in any order, fused or not. Matrices are stored by columns.

// mostFloats is the largest order of these matrices.
const mostFloats = 1 << 12

// cubeRoot is 2^(61/3), rounded down: the cube of a slightly smaller prime is slightly below 2^61,
// as fields require.
const cubeRoot = 1321122

// cubes keeps the primes below cubeRoot, the largest ones first, as far as they were needed.
var cubes struct {
	sync.Mutex
	list []int64
	next int64
}

// floatPrime returns prime number i below cubeRoot, from 0.
func floatPrime(i int) int64 {
	cubes.Lock()
	defer cubes.Unlock()
	for len(cubes.list) <= i {
		if q := cubeRoot - cubes.next; big.NewInt(q).ProbablyPrime(0) { // exact below 2^64
			cubes.list = append(cubes.list, q)
		}
		cubes.next++
	}
	return cubes.list[i]
}

// mostCubes bounds the numbers of these primes: their cubes exceed 2^60.
const mostCubes = 10000

// floatField are the integers modulo a prime q.
type floatField struct{ q, inverse float64 }

// reduced returns x modulo q, for |x| < 2^53 - q.
func (f floatField) reduced(x float64) float64 {
	const round = 3 << 51 // x + round - round is an integer
	// may fuse: the integer may be either neighbour of x / q near a half
	t := x*f.inverse + round - round
	return x - t*f.q // may fuse: t q is an integer below 2^53, exact
}

// inverted returns 1 / x modulo q for x ≠ 0, by Euclid's algorithm.
func (f floatField) inverted(x float64) float64 {
	a, b := int64(f.q), int64(x)
	u, v := int64(0), int64(1) // a = u x, b = v x modulo q
	for b != 0 {
		t := a / b
		a, b = b, a-t*b
		u, v = v, u-t*v
	}
	return f.reduced(float64(u * a)) // a is ±1
}

// modularInverse is the inverse of a square matrix modulo the cube of a prime: elements of f, by
// rows.
type modularInverse struct {
	f    *modular.Field
	rows [][]uint64
}

// inverseModulo returns the inverse of a square matrix modulo the cube of a prime, nil if A is
// singular modulo some primes, or too large.
func (s *run) inverseModulo(a ints) (*modularInverse, error) {
	if a.rows > mostFloats {
		return nil, nil
	}
	for i := range 4 {
		q := floatPrime(i)
		f := modular.Cube(uint64(q))
		if rows, err := s.inverseCube(f, q, a); rows != nil || err != nil {
			return &modularInverse{f, rows}, err
		}
	}
	return nil, nil
}

// inverseByNumber returns the inverse of A modulo the cube of prime number i below cubeRoot, or
// modulo prime number i if A is too large for that. It returns no inverse if A is singular modulo
// the prime.
func (s *run) inverseByNumber(a ints, i int) (*modular.Field, [][]uint64, error) {
	if a.rows <= mostFloats && i < mostCubes {
		q := floatPrime(i)
		f := modular.Cube(uint64(q))
		rows, err := s.inverseCube(f, q, a)
		return f, rows, err
	}
	f := modular.Numbered(i)
	rows, err := s.modulo(f, a)
	if err != nil {
		return nil, nil, err
	}
	if ok, err := f.InvertMatrix(s.Ctx, s.Threads, rows); !ok || err != nil {
		return nil, nil, err
	}
	return f, rows, nil
}

// inverseCube is inverseModulo for one prime.
func (s *run) inverseCube(of *modular.Field, q int64, a ints) ([][]uint64, error) {
	n := a.rows
	f := floatField{float64(q), 1 / float64(q)}
	rows, err := s.modulo(of, a)
	if err != nil {
		return nil, err
	}
	var digits [3][]float64
	for k := range digits {
		digits[k] = make([]float64, n*n)
	}
	for i, row := range rows {
		for j, x := range row {
			v := of.Balanced(of.Value(x))
			for k := 0; v != 0; k++ {
				d := v % q
				switch {
				case 2*d > q:
					d -= q
				case 2*d < -q:
					d += q
				}
				digits[k%3][i+j*n] = float64(d)
				v = (v - d) / q
			}
		}
	}
	c0 := append([]float64(nil), digits[0]...)
	if det, err := s.invertFloats(f, n, c0); det == 0 || err != nil {
		return nil, err
	}
	c, err := s.inverseDigits(f, n, n, digits[:], c0, len(digits))
	if err != nil {
		return nil, err
	}
	for i, row := range rows {
		for j := range row {
			at := i + j*n
			v := int64(c[0][at]) + q*(int64(c[1][at])+q*int64(c[2][at]))
			if v < 0 {
				row[j] = of.Sub(0, of.Element(uint64(-v)))
			} else {
				row[j] = of.Element(uint64(v))
			}
		}
	}
	return rows, nil
}

// inverseDigits returns the digits c_0 to c_(k-1) of the inverse modulo q^k of an n x n matrix
// ∑ q^h a_h with leading dimension ld, for a known c_0. All digits are elements, and k n ≤ 2^14, so
// that sums of k n products are below 2^53. With s_0 = I,
//
//	c_t = c_0 s_t modulo q,  s_(t+1) = (s_t - a_0 c_t) / q - ∑ a_h c_(t+1-h), 1 ≤ h ≤ t + 1.
func (s *run) inverseDigits(f floatField, n, ld int, a [][]float64, c0 []float64, k int) ([][]float64, error) {
	subtract := func(z, x, y []float64) error {
		return dgemm.SubtractSame(s.Ctx, s.Threads, n, n, n, z, ld, x, ld, y, ld)
	}
	c, rest := [][]float64{c0}, make([]float64, n*ld)
	for i := range n {
		rest[i+i*ld] = 1
	}
	for t := 1; t < k; t++ {
		if err := subtract(rest, a[0], c[t-1]); err != nil { // a multiple of q
			return nil, err
		}
		for i, x := range rest {
			rest[i] = f.quotient(x)
		}
		for h := 1; h < min(t+1, len(a)); h++ {
			if !slices.ContainsFunc(a[h], func(x float64) bool { return x != 0 }) {
				continue
			}
			if err := subtract(rest, a[h], c[t-h]); err != nil {
				return nil, err
			}
		}
		right, next := make([]float64, n*ld), make([]float64, n*ld)
		for i, x := range rest {
			right[i] = -f.reduced(x)
		}
		if err := subtract(next, c0, right); err != nil {
			return nil, err
		}
		for i, x := range next {
			next[i] = f.reduced(x)
		}
		c = append(c, next)
	}
	return c, nil
}

// pivotBlock is the number of pivots that are eliminated at once.
const pivotBlock = 32

// invertFloats replaces a matrix of elements modulo q by its inverse. It returns its determinant, 0
// if it is singular. It is modular.InvertMatrix for floats.
//
// Entries are reduced when they become factors: until then each is a sum of up to n products.
func (s *run) invertFloats(f floatField, n int, a []float64) (det float64, err error) {
	order := span(0, n)
	panel := make([]float64, n*pivotBlock)
	block := make([]float64, pivotBlock*n)
	rows := make([]float64, pivotBlock*n)
	det = 1
	for k0 := 0; k0 < n; k0 += pivotBlock {
		k1 := min(n, k0+pivotBlock)
		w := k1 - k0
		f.reduce(a[k0*n : k1*n])
		odd, ok := f.bringPivots(n, a, order, k0, k1)
		if !ok {
			return 0, nil
		}
		if odd {
			det = -det
		}
		// The inverse B of the pivot block, w x w, and B times the rows of pivots.
		b := make([]float64, w*w)
		for j := range w {
			copy(b[j*w:(j+1)*w], a[k0+(k0+j)*n:])
		}
		det = f.reduced(det * f.invertBlock(w, b))
		copy(panel, a[k0*n:k1*n])
		for j := range w {
			clear(panel[k0+j*n : k1+j*n]) // rows of pivots stay
		}
		clear(a[k0*n : k1*n])
		for j := range n {
			pivots := a[k0+j*n : k1+j*n]
			f.reduce(pivots)
			for i, x := range pivots {
				block[i+j*w] = -x
			}
			clear(pivots)
		}
		for j := range w {
			clear(block[(k0+j)*w : (k0+j+1)*w])
			block[j+(k0+j)*w] = -1
		}
		clear(rows)
		if err := dgemm.SubtractSame(s.Ctx, s.Threads, w, n, w, rows, w, b, w, block, w); err != nil {
			return 0, err
		}
		f.reduce(rows[:w*n])
		if err := dgemm.SubtractSame(s.Ctx, s.Threads, n, n, w, a, n, panel, n, rows, w); err != nil {
			return 0, err
		}
		for j := range n {
			copy(a[k0+j*n:k1+j*n], rows[j*w:(j+1)*w])
		}
	}
	// Columns go back to the places of the rows.
	old := append([]float64(nil), a...)
	for k, j := range order {
		copy(a[j*n:(j+1)*n], old[k*n:(k+1)*n])
	}
	return det, par.Each(s.Ctx, s.Threads, n, func(j int) { f.reduce(a[j*n : (j+1)*n]) })
}

// reduce reduces numbers below 2^53 - q in magnitude.
func (f floatField) reduce(x []float64) {
	for i, v := range x {
		x[i] = f.reduced(v)
	}
}

// bringPivots exchanges rows from k0 on so that rows k0 ≤ i < k1 form a regular matrix in columns
// k0 ≤ j < k1. odd says that the number of exchanges is odd. ok is false if no rows do.
func (f floatField) bringPivots(n int, a []float64, order []int, k0, k1 int) (odd, ok bool) {
	m, w := n-k0, k1-k0
	p := make([]float64, m*w) // by rows: sums of up to w products
	for j := range w {
		for i, x := range a[k0+(k0+j)*n : (k0+j+1)*n] {
			p[i*w+j] = x
		}
	}
	for k := range w {
		at := -1
		for i := m - 1; i >= k; i-- {
			if x := &p[i*w+k]; *x != 0 {
				if *x = f.reduced(*x); *x != 0 {
					at = i
				}
			}
		}
		if at < 0 {
			return odd, false
		}
		if at != k {
			odd = !odd
			for j := range w {
				p[at*w+j], p[k*w+j] = p[k*w+j], p[at*w+j]
			}
			for j := range n {
				column := a[j*n : (j+1)*n]
				column[k0+at], column[k0+k] = column[k0+k], column[k0+at]
			}
			order[k0+at], order[k0+k] = order[k0+k], order[k0+at]
		}
		pivot := p[k*w+k : (k+1)*w]
		f.reduce(pivot)
		by := f.inverted(pivot[0])
		for i := k + 1; i < m; i++ {
			row := p[i*w+k : (i+1)*w]
			if row[0] == 0 {
				continue
			}
			dgemm.Axpy(-f.reduced(row[0]*by), pivot, row) // exact
		}
	}
	return odd, true
}

// invertBlock inverts a small regular matrix by the method of Gauss and Jordan with row exchanges.
// It returns its determinant. Entries are sums of up to 2 w products of elements.
func (f floatField) invertBlock(w int, a []float64) (det float64) {
	at := func(i, j int) *float64 { return &a[i+j*w] }
	order := span(0, w)
	left := make([]float64, w)
	det = 1
	for k := range w {
		f.reduce(a[k*w : (k+1)*w])
		i := k
		for *at(i, k) == 0 {
			i++
		}
		if i != k {
			det = -det
			for j := range w {
				*at(i, j), *at(k, j) = *at(k, j), *at(i, j)
			}
			order[i], order[k] = order[k], order[i]
		}
		det = f.reduced(det * *at(k, k))
		by := f.inverted(*at(k, k))
		copy(left, a[k*w:(k+1)*w])
		left[k] = 0
		clear(a[k*w : (k+1)*w])
		*at(k, k) = 1
		for j := range w {
			column := a[j*w : (j+1)*w]
			x := f.reduced(f.reduced(column[k]) * by)
			column[k] = x
			dgemm.Axpy(-x, left, column) // exact
		}
	}
	f.reduce(a)
	old := append([]float64(nil), a...)
	for k, j := range order {
		copy(a[j*w:(j+1)*w], old[k*w:(k+1)*w])
	}
	return det
}
