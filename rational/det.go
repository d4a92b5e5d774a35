package rational

import (
	"math/big"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/proof/modular"
)

// Det returns the determinant of the square matrix A; 1 for order 0.
//
// The denominator of one solution of A x = b divides the determinant of an integer matrix. The
// quotient is determined by its residues modulo primes whose product exceeds its bound by
// Hadamard's inequality (Abbott, Bronstein and Mulders, Fast deterministic computation of
// determinants of dense matrices, 1999).
func Det(a *Matrix, opt *halfulp.Options) (*big.Rat, error) {
	if of(a).n.rows != a.n.cols {
		panic(errShape)
	}
	s, err := begin("Det", opt)
	if err != nil {
		return nil, err
	}
	d, err := s.det(a.n)
	if err := s.end("Det", err); err != nil {
		return nil, err
	}
	den := big.NewInt(1)
	for _, x := range a.den {
		den.Mul(den, x)
	}
	return new(big.Rat).SetFrac(d, den), nil
}

// det returns the determinant of a matrix of integers.
func (s *run) det(a ints) (*big.Int, error) {
	n := a.rows
	if n <= smallOrder || a.bits() > longEntries {
		e, det, err := s.eliminate(a, n)
		if err == nil && len(e.pivots) < n {
			det = new(big.Int)
		}
		return det, err
	}
	if n <= directOrder {
		return s.multipleOf(a, one)
	}
	for i := 0; ; i++ {
		known, err := s.inverseModulo(a)
		if err != nil {
			return nil, err
		}
		var e *echelon
		if known == nil {
			if e, err = s.pivotsModulo(modular.Numbered(i), a, n); err != nil {
				return nil, err
			}
		}
		if known == nil && len(e.pivots) < n {
			// One other column that the pivots represent proves that the determinant is 0.
			e.free = e.free[:1]
			if ok, err := s.represent(e, a, n, false, i); err != nil {
				return nil, err
			} else if ok {
				return new(big.Int), nil
			}
			continue
		}
		b := newInts(n, 1)
		for k := range n {
			b.set(k, 0, big.NewInt(int64(k*k%7-3)))
		}
		x, d, err := s.byDigits(a, b, i, known)
		if err != nil {
			return nil, err
		}
		// In lowest terms the denominator divides the determinant.
		g := new(big.Int).Set(d[0])
		for _, v := range x[0] {
			if g.Cmp(one) == 0 {
				break
			}
			g.GCD(nil, nil, g, new(big.Int).Abs(v))
		}
		return s.multipleOf(a, new(big.Int).Quo(d[0], g))
	}
}

// multipleOf returns the determinant of A, a multiple of d > 0.
func (s *run) multipleOf(a ints, d *big.Int) (*big.Int, error) {
	bits := a.hadamard() - d.BitLen() + 1
	fields := primesFor(max(bits, 1), d)
	residues := make([]uint64, len(fields))
	s.Plan(float64(len(fields)) * cube(a.rows))
	if a.rows > modular.MostCrout {
		for k, f := range fields {
			rows, err := s.modulo(f, a)
			if err != nil {
				return nil, err
			}
			pivots, det, err := f.Eliminate(s.Ctx, s.Threads, rows, a.rows, false)
			if err != nil {
				return nil, err
			}
			if len(pivots) == a.rows {
				residues[k] = det
			}
			s.Stats.Primes++
			s.Did(cube(a.rows))
		}
	} else {
		w := a.words()
		spaces := make([]workspace, max(1, s.Threads))
		err := s.each(len(fields), cube(a.rows), func(worker, k int) {
			f := fields[k]
			if e := w.echelon(f, a.rows, &spaces[worker]); len(e.Pivots) == a.rows {
				if residues[k] = e.Det; odd(e.Order) {
					residues[k] = f.Sub(0, e.Det)
				}
			}
		})
		if err != nil {
			return nil, err
		}
	}
	if d.Cmp(one) != 0 {
		for k, f := range fields {
			residues[k] = f.Mul(residues[k], f.Invert(f.Integer(d)))
		}
	}
	z := newRemainders(fields).integer(func(k int) uint64 { return residues[k] })
	return z.Mul(z, d), nil
}

// odd reports whether a permutation is odd.
func odd(p []int) (z bool) {
	seen := make([]bool, len(p))
	for i := range p {
		for k := p[i]; k != i && !seen[i]; k = p[k] {
			seen[k] = true
			z = !z
		}
		seen[i] = true
	}
	return z
}
