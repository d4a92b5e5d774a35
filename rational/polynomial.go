package rational

import (
	"math"
	"math/big"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/proof/modular"
	"github.com/halfulp/halfulp/internal/superacc"
)

// CharPoly returns the coefficients c_0, ..., c_n of the characteristic polynomial det(x I - A) =
// c_0 + c_1 x + ... + c_n x^n of a square matrix A; c_n is 1.
//
// The polynomial of an integer matrix is computed modulo primes, from the powers of the matrix
// times a vector, or by Hessenberg matrices if they are dependent. Its coefficients are sums of
// principal minors, which Hadamard's inequality bounds.
func CharPoly(a *Matrix, opt *halfulp.Options) ([]*big.Rat, error) {
	return polynomial("CharPoly", a, opt, (*run).charPoly)
}

// MinPoly returns the coefficients of the minimal polynomial of a square matrix A: the polynomial m
// of least degree d with m(A) = 0, in ascending order; the last one, m_d, is 1.
//
// The minimal polynomial of an integer matrix is computed modulo primes. For all but few primes it
// has degree d, and no prime gives a larger degree. So a polynomial that has the largest degree
// found and annihilates A is m. It annihilates A if it annihilates vectors whose products with
// powers of A span the space.
func MinPoly(a *Matrix, opt *halfulp.Options) ([]*big.Rat, error) {
	return polynomial("MinPoly", a, opt, (*run).minPoly)
}

// polynomial returns the coefficients of a polynomial of A, computed for integers: A is G / D, and
// the coefficient of x^k for G is D^(degree - k) times the one for A.
func polynomial(name string, a *Matrix, opt *halfulp.Options, compute func(s *run, g ints) ([]*big.Int, error)) ([]*big.Rat, error) {
	if of(a).n.rows != a.n.cols {
		panic(errShape)
	}
	s, err := begin(name, opt)
	if err != nil {
		return nil, err
	}
	g, den := a.common()
	c, err := compute(s, g)
	if err := s.end(name, err); err != nil {
		return nil, err
	}
	all, z := make([]big.Rat, len(c)), make([]*big.Rat, len(c))
	power := big.NewInt(1)
	for k := len(c) - 1; k >= 0; k-- {
		if z[k] = &all[k]; isOne(den) {
			setInteger(z[k], c[k])
			continue
		}
		z[k].SetFrac(c[k], power)
		power = new(big.Int).Mul(power, den)
	}
	return z, nil
}

// setInteger sets z, which is 0, to x, which must not be used afterwards.
func setInteger(z *big.Rat, x *big.Int) {
	if z.Num().SetBits(x.Bits()); x.Sign() < 0 {
		z.Num().Neg(z.Num())
	}
}

func (s *run) charPoly(g ints) ([]*big.Int, error) {
	n := g.rows
	w := g.words()
	bits := minors(w.normsOf(g))
	if err := s.room(float64(n+1), 2*float64(bits)); err != nil {
		return nil, err
	}
	krylov := s.byKrylov
	if n <= modular.MostCross {
		krylov = s.directKrylov
	}
	if z, err := krylov(w, bits); z != nil || err != nil {
		return z, err
	}
	fields := primesFor(bits, one)
	residues := make([][]uint64, len(fields))
	s.Plan(float64(len(fields)) * cube(n))
	for k, f := range fields {
		rows, err := s.modulo(f, g)
		if err != nil {
			return nil, err
		}
		if residues[k], err = characteristic(s, f, rows); err != nil {
			return nil, err
		}
		s.Stats.Primes++
		s.Did(cube(n))
	}
	return s.combine(fields, residues)
}

// byKrylov is charPoly by vectors of Krylov. It returns nil if they span no space of dimension n
// modulo some primes: then A probably has a minimal polynomial of a smaller degree.
func (s *run) byKrylov(w *words, bits int) ([]*big.Int, error) {
	n := w.rows
	if n > mostFloats || bits/primeBits > mostCubes/4 {
		return nil, nil
	}
	spaces := make([]powerBasis, max(1, s.Threads))
	var fields []*modular.Field
	var residues [][]uint64
	for i := 0; len(fields)*primeBits <= bits; {
		some := bits/primeBits + 1 - len(fields)
		s.Plan(float64(some) * cube(n))
		if i == 0 {
			some = 1
		}
		rings, found := make([]*modular.Field, some), make([][]uint64, some)
		err := s.each(some, cube(n), func(worker, k int) {
			var q [3]int64
			rings[k], q = productOfThree(i + k)
			found[k] = spaces[worker].polynomial(w, rings[k], q)
		})
		if err != nil {
			return nil, err
		}
		for k, c := range found {
			if c != nil {
				fields, residues = append(fields, rings[k]), append(residues, c)
			}
		}
		if i += some; i > len(fields)+i/8+1 || len(fields) == 0 {
			return nil, nil
		}
	}
	return s.combine(fields, residues)
}

// combine returns the integers whose residues are elements: residues[k][i] of integer i in
// fields[k].
func (s *run) combine(fields []*modular.Field, residues [][]uint64) ([]*big.Int, error) {
	crt := newRemainders(fields)
	z := make([]*big.Int, len(residues[0]))
	return z, par.Each(s.Ctx, s.Threads, len(z), func(i int) {
		z[i] = crt.integer(func(k int) uint64 { return residues[k][i] })
	})
}

// minors returns a bound of the bits of the coefficients of the characteristic polynomial, for the
// norms of rows and columns, which it sorts: the coefficient of x^(n-k) is a sum of n over k minors
// of order k, each at most the product of the k longest rows, or columns.
func minors(rows, cols []float64) int {
	n := len(rows)
	bound := func(norms []float64) (most float64) {
		sum := 0.0
		for k := 1; k <= n; k++ { // n over k is n over k - 1 times (n - k + 1) / k
			sum += norms[k-1] + math.Log2(float64(n-k+1)/float64(k))
			most = max(most, sum)
		}
		return most + 0x1p-10 // the slack of each norm exceeds the rounding errors
	}
	return int(min(bound(descending(rows)), bound(descending(cols)))) + 1
}

// characteristic returns the characteristic polynomial of a matrix of elements, which it
// overwrites: the one of an upper Hessenberg matrix H with A L = L H for a unit lower triangular L
// and A with some rows and the same columns exchanged. Column m of H is determined by A times
// column m of L, and the rest is column m + 1 of L times a number (Wilkinson, The algebraic
// eigenvalue problem, 1965, section 6.11), so that all work is sums of products. With p_k the
// polynomial of the leading k x k part of H,
//
//	p_k = (x - h_kk) p_(k-1) - ∑ h_ik h_(i+1,i) ... h_(k,k-1) p_(i-1), i < k.
func characteristic(s *run, f *modular.Field, a [][]uint64) ([]uint64, error) {
	n := len(a)
	words := make([]uint64, 2*n*n)
	l, h := make([][]uint64, n), make([][]uint64, n) // rows of L, columns of H
	for i := range n {
		l[i], h[i] = words[i*n:(i+1)*n], words[(n+i)*n:(n+i+1)*n]
	}
	column, v := make([]uint64, n), make([]uint64, n)
	if n > 0 {
		l[0][0], column[0] = f.One, f.One
	}
	for m := range n {
		if err := s.Ctx.Err(); err != nil {
			return nil, err
		}
		by := products(f, column[m:])
		for i, row := range a {
			v[i] = by(row[m:])
		}
		for k := range m + 1 {
			h[m][k] = f.Sub(v[k], f.Dot(l[k][:k], h[m]))
		}
		if m == n-1 {
			break
		}
		by = products(f, h[m][:m+1])
		pivot := 0
		for i := n - 1; i > m; i-- {
			if v[i] = f.Sub(v[i], by(l[i][:m+1])); v[i] != 0 {
				pivot = i
			}
		}
		clear(column)
		column[m+1], l[m+1][m+1] = f.One, f.One
		if pivot == 0 {
			continue
		}
		if k := m + 1; pivot != k {
			v[k], v[pivot] = v[pivot], v[k]
			a[k], a[pivot] = a[pivot], a[k]
			for _, row := range a {
				row[k], row[pivot] = row[pivot], row[k]
			}
			for t := range k {
				l[k][t], l[pivot][t] = l[pivot][t], l[k][t]
			}
		}
		h[m][m+1] = v[m+1]
		inverse := f.Invert(v[m+1])
		for i := m + 2; i < n; i++ {
			column[i] = f.Mul(v[i], inverse)
			l[i][m+1] = column[i]
		}
	}
	// Coefficient j of p_i is p[j][i].
	p := make([][]uint64, n+1)
	for j := range p {
		p[j] = make([]uint64, n+1)
	}
	p[0][0] = f.One
	factors := make([]uint64, n)
	for k := 1; k <= n; k++ {
		by := f.One
		for i := k; i >= 1; i-- {
			if i < k {
				by = f.Mul(by, h[i-1][i])
			}
			factors[i-1] = f.Mul(by, h[k-1][i-1])
		}
		sum := products(f, factors[:k])
		for j := range k {
			p[j][k] = f.Sub(0, sum(p[j][:k]))
			if j > 0 {
				p[j][k] = f.Add(p[j][k], p[j-1][k-1])
			}
		}
		p[k][k] = f.One
	}
	z := make([]uint64, n+1)
	for j := range z {
		z[j] = p[j][n]
	}
	return z, nil
}

// shortProducts is the length up to which sums of products of two words are faster than
// superacc.WordVector.
const shortProducts = 32

// products returns a function for the sums of the products of elements x, which must not change
// meanwhile, with as many others.
func products(f *modular.Field, x []uint64) func(y []uint64) uint64 {
	if len(x) <= shortProducts {
		return func(y []uint64) uint64 { return f.Dot(x, y) }
	}
	v := superacc.NewWordVector(x)
	return func(y []uint64) uint64 { return f.Sum(v.Dot(y)) }
}

// minPoly returns the minimal polynomial of a square matrix of integers.
func (s *run) minPoly(g ints) ([]*big.Int, error) {
	n := g.rows
	if n == 0 {
		return []*big.Int{big.NewInt(1)}, nil
	}
	norm := g.norm()
	degree, bits := 0, 0
	var fields []*modular.Field
	var residues [][]uint64
	for i := 0; ; i++ {
		if err := s.Ctx.Err(); err != nil {
			return nil, err
		}
		f := modular.Numbered(i)
		rows, err := s.modulo(f, g)
		if err != nil {
			return nil, err
		}
		s.Stats.Primes++
		m, starts := minimal(f, rows)
		switch d := len(m) - 1; {
		case d == n:
			return s.charPoly(g)
		case d < degree:
			continue
		case d > degree:
			degree, fields, residues = d, nil, nil
			// The roots are eigenvalues, at most norm in magnitude: so the coefficients are at most
			// those of (x + norm)^d.
			bits = int(float64(float64(d)*log2(new(big.Int).Add(norm, one)))+0x1p-10) + 1
		}
		fields, residues = append(fields, f), append(residues, m)
		if len(fields)*primeBits <= bits {
			continue
		}
		z, err := s.combine(fields, residues)
		if err != nil {
			return nil, err
		}
		if ok, err := s.annihilates(z, g, norm, starts, fields, i+1); ok || err != nil {
			return z, err
		}
	}
}

// norm returns an upper bound of the magnitudes of the eigenvalues, which also bounds the growth of
// the entries of products with vectors: the largest sum of magnitudes of a row.
func (n ints) norm() *big.Int {
	most := new(big.Int)
	for i := range n.rows {
		sum := new(big.Int)
		for _, x := range n.row(i) {
			if x != nil {
				sum.Add(sum, new(big.Int).Abs(x))
			}
		}
		if sum.Cmp(most) > 0 {
			most = sum
		}
	}
	return most
}

// annihilates reports whether m(G) v is 0 for the unit vectors v with the numbers starts. The
// entries of m(G) v are at most ∑ |m_k| norm^k. They are 0 modulo the primes of known, and others
// follow from number i on.
func (s *run) annihilates(m []*big.Int, g ints, norm *big.Int, starts []int, known []*modular.Field, i int) (bool, error) {
	bound := new(big.Int)
	for k := len(m) - 1; k >= 0; k-- {
		bound.Add(bound.Mul(bound, norm), new(big.Int).Abs(m[k]))
	}
	for have := len(known) * primeBits; have <= bound.BitLen(); have += primeBits {
		if err := s.Ctx.Err(); err != nil {
			return false, err
		}
		f := modular.Numbered(i)
		i++
		rows, err := s.modulo(f, g)
		if err != nil {
			return false, err
		}
		s.Stats.Primes++
		c := make([]uint64, len(m))
		for k, x := range m {
			c[k] = f.Integer(x)
		}
		for _, j := range starts {
			for _, x := range applied(f, rows, c, j) {
				if x != 0 {
					return false, nil
				}
			}
		}
	}
	return true, nil
}

// applied returns m(A) e_j.
func applied(f *modular.Field, a [][]uint64, m []uint64, j int) []uint64 {
	v := make([]uint64, len(a))
	for k := len(m) - 1; k >= 0; k-- {
		v = times(f, a, v)
		v[j] = f.Add(v[j], m[k])
	}
	return v
}

// times returns A v.
func times(f *modular.Field, a [][]uint64, v []uint64) []uint64 {
	z, by := make([]uint64, len(a)), superacc.NewWordVector(v)
	for i, row := range a {
		z[i] = f.Sum(by.Dot(row))
	}
	return z
}

// minimal returns the minimal polynomial of a matrix of elements, and unit vectors whose products
// with powers of A span the space. With the polynomial m of the vectors so far, a further vector v
// adds the factor that is the minimal polynomial of m(A) v.
func minimal(f *modular.Field, a [][]uint64) (m []uint64, starts []int) {
	m = []uint64{f.One}
	all := &krylov{f: f}
	for j := range a {
		v := make([]uint64, len(a))
		v[j] = f.One
		if _, fresh := all.add(v, nil); !fresh {
			continue
		}
		starts = append(starts, j)
		for fresh := true; fresh; {
			v = times(f, a, v)
			_, fresh = all.add(v, nil)
		}
		w := applied(f, a, m, j)
		q, own := []uint64{f.One}, &krylov{f: f}
		for {
			relation, fresh := own.add(w, q)
			if !fresh {
				m = convolved(f, m, relation)
				break
			}
			last := own.vectors[len(own.vectors)-1]
			w = times(f, a, last.v)
			q = append([]uint64{0}, last.q...)
		}
	}
	return m, starts
}

// krylov is a basis of a space in echelon form.
type krylov struct {
	f       *modular.Field
	vectors []reduced
}

// reduced is a vector with its first number other than 0, which is 1, and the polynomial q with v =
// q(A) w for the first vector w.
type reduced struct {
	v  []uint64
	at int
	q  []uint64
}

// add adds the vector v = q(A) w to the basis. fresh is false if it is in the space; then the
// polynomial returned, whose leading coefficient is 1, annihilates w.
func (k *krylov) add(v, q []uint64) (relation []uint64, fresh bool) {
	f := k.f
	v, q = append([]uint64(nil), v...), append([]uint64(nil), q...)
	for _, b := range k.vectors {
		if x := v[b.at]; x != 0 {
			by := f.Sub(0, x)
			f.AddMultiple(v[b.at:], by, b.v[b.at:])
			if q != nil {
				f.AddMultiple(q[:len(b.q)], by, b.q)
			}
		}
	}
	at := 0
	for at < len(v) && v[at] == 0 {
		at++
	}
	scaled := func(x []uint64, by uint64) {
		for i := range x {
			x[i] = f.Mul(x[i], by)
		}
	}
	if at == len(v) {
		if len(q) > 0 {
			scaled(q, f.Invert(q[len(q)-1]))
		}
		return q, false
	}
	by := f.Invert(v[at])
	scaled(v, by)
	scaled(q, by)
	k.vectors = append(k.vectors, reduced{v, at, q})
	return nil, true
}

// convolved returns the product of polynomials.
func convolved(f *modular.Field, x, y []uint64) []uint64 {
	z := make([]uint64, len(x)+len(y)-1)
	for i, c := range x {
		f.AddMultiple(z[i:i+len(y)], c, y)
	}
	return z
}
