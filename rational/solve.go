package rational

import (
	"math/big"

	"github.com/halfulp/halfulp"
)

// Solve returns the X with A X = B, for an m x n matrix A of n independent columns, m ≥ n, and an m
// x k matrix B. If the columns of A are proved to be dependent the error is a [SingularError]. If a
// column of B is proved to be no combination of the columns of A the error is an
// [InconsistentError].
func Solve(a, b *Matrix, opt *halfulp.Options) (*Matrix, error) {
	s, e, err := system("Solve", a, b, opt)
	if err != nil {
		return nil, err
	}
	if r := len(e.pivots); r < a.n.cols {
		return nil, s.end("Solve", &SingularError{a.n.rows, a.n.cols, r})
	}
	x, err := e.particular(a.n.cols, b.n.cols)
	if err := s.end("Solve", err); err != nil {
		return nil, err
	}
	return x, nil
}

// SolveAll returns all solutions of A X = B, for an m x n matrix A and an m x k matrix B: column j
// of them is column j of the n x k matrix X plus any combination of the columns of the n x (n - r)
// matrix N, where r is the rank of A. N is [NullSpace] of A. X is 0 in the rows of the columns of A
// that are combinations of columns before them. If there is no solution, which is proved, the error
// is an [InconsistentError].
func SolveAll(a, b *Matrix, opt *halfulp.Options) (x, n *Matrix, err error) {
	s, e, err := system("SolveAll", a, b, opt)
	if err != nil {
		return nil, nil, err
	}
	x, err = e.particular(a.n.cols, b.n.cols)
	if err := s.end("SolveAll", err); err != nil {
		return nil, nil, err
	}
	return x, e.nullSpace(a.n.cols), nil
}

// system returns the echelon of the columns of A and B side by side, scaled row by row.
func system(name string, a, b *Matrix, opt *halfulp.Options) (*run, *echelon, error) {
	if of(a).n.rows != of(b).n.rows {
		panic(errShape)
	}
	s, err := begin(name, opt)
	if err != nil {
		return nil, nil, err
	}
	n := a.n.cols
	g := newInts(a.n.rows, n+b.n.cols)
	for i := range g.rows {
		d := lcm(a.den[i], b.den[i])
		put(g.row(i)[:n], a.n.row(i), quotient(d, a.den[i]))
		put(g.row(i)[n:], b.n.row(i), quotient(d, b.den[i]))
	}
	e, err := s.echelon(g, n, true)
	if err != nil {
		return nil, nil, s.end(name, err)
	}
	return s, e, nil
}

// put sets to to by times from.
func put(to, from []*big.Int, by *big.Int) {
	if isOne(by) {
		copy(to, from)
		return
	}
	for k, x := range from {
		if x != nil {
			to[k] = new(big.Int).Mul(x, by)
		}
	}
}

// quotient returns x / d for a divisor d of x, possibly x or 1 themselves.
func quotient(x, d *big.Int) *big.Int {
	switch {
	case isOne(d):
		return x
	case x.Cmp(d) == 0:
		return one
	}
	return new(big.Int).Quo(x, d)
}

// particular returns a solution of A X = B for the echelon of the n columns of A and k columns of
// B.
func (e *echelon) particular(n, k int) (*Matrix, error) {
	z := New(n, k)
	at := len(e.free) - k
	factors := make([]divisors, k)
	for j := range k {
		if e.outside[at+j] {
			return nil, &InconsistentError{j}
		}
		factors[j] = newDivisors(e.d[at+j], e.x[at+j])
	}
	parts := make([]*big.Int, k) // denominators of a row
	for i, row := range e.pivots {
		den := one
		for j := range k {
			g := factors[j].gcd(e.x[at+j][i])
			z.n.set(row, j, divided(e.x[at+j][i], g))
			if parts[j] = quotient(e.d[at+j], g); isOne(den) {
				den = parts[j]
			} else {
				den = lcm(den, parts[j])
			}
		}
		for j, d := range parts {
			if d != den && d.Cmp(den) != 0 {
				z.n.set(row, j, new(big.Int).Mul(z.n.at(row, j), quotient(den, d)))
			}
		}
		z.den[row] = den
	}
	return z, nil
}

// Inverse returns A^-1 for a square matrix A. If A is proved to be singular the error is a
// [SingularError].
func Inverse(a *Matrix, opt *halfulp.Options) (*Matrix, error) {
	if of(a).n.rows != a.n.cols {
		panic(errShape)
	}
	s, err := begin("Inverse", opt)
	if err != nil {
		return nil, err
	}
	x, err := s.inverse(a)
	if err := s.end("Inverse", err); err != nil {
		return nil, err
	}
	return x, nil
}

func (s *run) inverse(a *Matrix) (*Matrix, error) {
	// A = D^-1 G, A^-1 = G^-1 D: the columns of G^-1 times the denominators of the rows of A.
	n := a.n.rows
	g := newInts(n, 2*n)
	for i := range n {
		copy(g.row(i), a.n.row(i))
		g.set(i, n+i, one)
	}
	e, err := s.echelon(g, n, false)
	if err != nil {
		return nil, err
	}
	if r := len(e.pivots); r < n {
		return nil, &SingularError{n, n, r}
	}
	z := New(n, n)
	same := true
	for j := 1; j < n; j++ {
		same = same && (e.d[j] == e.d[0] || e.d[j].Cmp(e.d[0]) == 0)
	}
	if !same {
		columns := New(n, n)
		for j := range n {
			columns.den[j] = e.d[j]
			put(columns.n.row(j), e.x[j], a.den[j])
			columns.reduce(j)
		}
		return columns.T(), nil
	}
	for i := range n {
		z.den[i] = e.d[0]
		for j := range n {
			x := e.x[j][i]
			if !isOne(a.den[j]) {
				x = new(big.Int).Mul(x, a.den[j])
			}
			z.n.set(i, j, x)
		}
		z.reduce(i)
	}
	return z, nil
}
