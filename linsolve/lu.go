package linsolve

import (
	"fmt"
	"slices"

	"github.com/halfulp/halfulp"
)

// LUFactors are those of P A = L U.
type LUFactors struct {
	P    []int           // row i of P A is row P[i] of A, from 0
	L, U *halfulp.Matrix // m x k and k x n, k = min(m, n), zeros above and below the diagonals
	system
}

// LU returns the factors P A = L U of an m x n matrix A by elimination with partial pivoting in
// format f, every entry of L, unit lower triangular, and of U, upper triangular, the exact one for
// P rounded once, ties to even, whatever the condition of A (getrf of LAPACK). Factors are on the
// host.
//
// The pivot of a column is its largest entry, the first one of those whose magnitudes differ by
// less than 2^-64 of them, by numbers computed in more bits than f has; proved is that no entry of
// L exceeds 1 + 2^-60 before it is rounded. Pivots that float64 arithmetic finds are taken if the
// others are proved to be smaller by more than 2^-60 of them. See Cholesky for the method.
//
// The error wraps ErrSingular, a *SingularError for square matrices, if the first k columns of A
// are linearly dependent, which is proved; for a matrix of less rows than columns these are the
// first m of them. It wraps ErrNotFinite for infinities and NaN. Options.Method and MemoryLimit are
// of the products, and so is Device.
func LU(a *halfulp.Matrix, f halfulp.Format, opt *halfulp.Options) (*LUFactors, Stats, error) {
	s, on, err := begin("LU", opt, a)
	if err != nil {
		return nil, Stats{}, err
	}
	z, err := s.lu(on[0], f)
	if err != nil {
		return nil, s.stats, fmt.Errorf("LU: %w", err)
	}
	s.countOverflow(z.L, z.U)
	s.finished()
	z.a = on[0].Clone()
	return z, s.stats, nil
}

func (s *solver) lu(a *halfulp.Matrix, f halfulp.Format) (*LUFactors, error) {
	if err := finite("A", a); err != nil {
		return nil, err
	}
	m, n := a.Dims()
	k := min(m, n)
	var z *LUFactors
	var u *unknown
	checked := false
	fails := func() (*unknown, *enclosure, error) {
		if checked {
			return nil, nil, nil
		}
		checked = true
		return nil, nil, s.full(a.Slice(0, m, 0, k))
	}
	seed, err := s.newPivoted(a, mostBits(f))
	if err != nil {
		return nil, err
	}
	set := func(order []int) {
		if z == nil || !slices.Equal(z.P, order) {
			z = &LUFactors{P: order, L: halfulp.NewMatrix(f, m, k), U: halfulp.NewMatrix(f, k, n)}
			u = z.unknown(chosen(a, order, all(n)))
		}
	}
	err = s.decideAll(f, func(bits int) (*unknown, *enclosure, error) {
		if seed != nil {
			e, err := seed.enclosure(bits - spareBits)
			if err != nil {
				return nil, nil, err
			}
			if e != nil {
				set(seed.order)
				if ok, err := s.below(u, e, distinct); ok || err != nil {
					return u, e, err
				}
			}
			seed = nil // pivots are about as large as others, or A is ill-conditioned
		}
		g, err := s.eliminate(a, k, bits, true)
		if err != nil {
			return nil, nil, err
		}
		if g.zero >= 0 {
			return fails()
		}
		set(g.order)
		li, ui, err := s.inverses(g.lu, k)
		if err != nil {
			return nil, nil, err
		}
		e, err := s.enclose(u.c, li, ui, bits)
		if err != nil {
			return nil, nil, err
		}
		if e == nil {
			return fails()
		}
		if ok, err := s.below(u, e, slack); !ok || err != nil {
			return nil, nil, err
		}
		return u, e, nil
	})
	return z, err
}

// unknown returns the entries of the factors, of c = P A.
func (z *LUFactors) unknown(c *halfulp.Matrix) *unknown {
	m, n := c.Dims()
	k := min(m, n)
	u := newUnknown(c, k, ones(k))
	for j := range k {
		one(z.L, j, j)
		for i := j + 1; i < m; i++ {
			u.want(ofL, i, j, z.L, i, j)
		}
	}
	for i := range k {
		for j := i; j < n; j++ {
			u.want(ofU, i, j, z.U, i, j)
		}
	}
	return u
}
