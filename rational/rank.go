package rational

import (
	"math/big"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/proof/modular"
)

// Rank returns the rank of A.
func Rank(a *Matrix, opt *halfulp.Options) (int, error) {
	of(a)
	s, err := begin("Rank", opt)
	if err != nil {
		return 0, err
	}
	r, err := s.rank(a.n)
	if err := s.end("Rank", err); err != nil {
		return 0, err
	}
	return r, nil
}

func (s *run) rank(g ints) (int, error) {
	if g.cols > g.rows { // fewer columns to represent
		g = g.transposed()
	}
	full := g.cols
	if full > smallOrder {
		e, err := s.pivotsModulo(modular.Numbered(0), g, full)
		if err != nil || len(e.pivots) == full {
			return full, err
		}
	}
	e, err := s.echelon(g, full, false)
	if err != nil {
		return 0, err
	}
	return len(e.pivots), nil
}

// columns returns the echelon of the columns of A.
func columns(name string, a *Matrix, opt *halfulp.Options) (*echelon, error) {
	of(a)
	s, err := begin(name, opt)
	if err != nil {
		return nil, err
	}
	e, err := s.echelon(a.n, a.n.cols, true)
	return e, s.end(name, err)
}

// NullSpace returns a basis of the x with A x = 0, for an m x n matrix A of rank r: the columns of
// an n x (n - r) matrix of integers. Each column belongs to a column of A that is a combination of
// columns before it, in ascending order. It is the primitive integer vector that represents this
// combination: its numbers have no common factor, and the first one that is not 0 is positive.
func NullSpace(a *Matrix, opt *halfulp.Options) (*Matrix, error) {
	e, err := columns("NullSpace", a, opt)
	if err != nil {
		return nil, err
	}
	return e.nullSpace(a.n.cols), nil
}

// nullSpace returns the basis of NullSpace for the echelon of n columns, and others behind them.
func (e *echelon) nullSpace(n int) *Matrix {
	z := New(n, n-len(e.pivots))
	for k, j := range e.free[:z.n.cols] {
		x := e.x[k]
		g := gcd(e.d[k], x...)
		first, negative := j, true // the first entry that is not 0 is -d, or before it
		for i, x := range x {
			if x.Sign() != 0 && e.pivots[i] < first {
				first, negative = e.pivots[i], x.Sign() < 0
			}
		}
		for i, x := range x {
			if x.Sign() != 0 {
				z.n.set(e.pivots[i], k, signed(divided(x, g), negative))
			}
		}
		z.n.set(j, k, signed(divided(new(big.Int).Set(e.d[k]), g), !negative))
	}
	return z
}

// divided returns x / d for a divisor d of x. It may change x.
func divided(x, d *big.Int) *big.Int {
	if isOne(d) {
		return x
	}
	return x.Quo(x, d)
}

// RREF returns the reduced row echelon form of A, with its r rows that are not 0 first, and the
// columns of the pivots. r is the rank.
func RREF(a *Matrix, opt *halfulp.Options) (z *Matrix, pivots []int, err error) {
	e, err := columns("RREF", a, opt)
	if err != nil {
		return nil, nil, err
	}
	t := New(a.n.cols, a.n.rows) // the transpose
	for i, j := range e.pivots {
		t.n.set(j, i, one)
	}
	for k, j := range e.free {
		t.den[j] = e.d[k]
		copy(t.n.row(j), e.x[k])
		t.reduce(j)
	}
	return t.T(), e.pivots, nil
}
