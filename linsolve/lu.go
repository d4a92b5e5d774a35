package linsolve

import (
	"slices"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/modular"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/proof/ziv"
)

// LUFactors are those of P A = L U. Where A lives on a GPU L and U do, with a copy of A.
type LUFactors struct {
	P    []int           // row i of P A is row P[i] of A, from 0
	L, U *halfulp.Matrix // m x k and k x n, k = min(m, n), zeros above and below the diagonals
	system
}

// Free gives back what the factors have on a GPU. They are not to be used any more then.
func (z *LUFactors) Free() {
	z.L.Free()
	z.U.Free()
	z.of.A.Free()
}

// luFactors are L, U and pivots, and a copy of A where that lives.
type luFactors struct {
	P       []int
	L, U, A num.Mat
}

// LU returns the factors P A = L U of an m x n matrix A by elimination with partial pivoting in
// format f, every entry of L, unit lower triangular, and of U, upper triangular, the exact one for
// P rounded once, ties to even, whatever the condition of A (getrf of LAPACK). L and U live where A
// does.
//
// The pivot of a column is its largest entry, the first one of those whose magnitudes differ by
// less than 2^-64 of them, by numbers computed in more bits than f has; proved is that no entry of
// L exceeds 1 + 2^-60 before it is rounded. Pivots that float64 arithmetic, or numbers of fewer
// bits, find are taken if the others are proved to be smaller by more than 2^-60 of them.
//
// On AVX2 and AVX-512 square matrices are eliminated in fixed point, in digits that these multiply,
// and the factors are enclosed by what their product is off by. That takes up to 40 digits, as
// Cholesky does, and 256 MiB: up to an order of some 1900 for 53 bits, 650 for 1700 bits. See
// Cholesky for the method of others.
//
// Where A lives on a GPU or on a grid of processes all of it runs there, but for what only
// arithmetic on the host decides: zeros, ties, pivots that are about as large as others, singular
// matrices, small or ill-conditioned ones.
//
// The error wraps ErrSingular, a *SingularError for square matrices, if the first k columns of A
// are linearly dependent, which is proved; for a matrix of less rows than columns these are the
// first m of them. It wraps ErrNotFinite for infinities and NaN. Options.Method and MemoryLimit are
// of the products, and so is Device.
func LU(a *halfulp.Matrix, f halfulp.Format, opt *halfulp.Options) (*LUFactors, Stats, error) {
	s, err := start("LU", opt, a.View())
	if err != nil {
		return nil, Stats{}, err
	}
	z, err := factorLU(s, a.View(), f.View())
	if err != nil {
		return nil, result(s), wrapped("LU", err)
	}
	s.Finished()
	return &LUFactors{P: z.P, L: halfulp.MatrixOf(z.L), U: halfulp.MatrixOf(z.U), system: newSystem(z.A)}, result(s), nil
}

// luOf returns the factors where a lives, with a copy of it.
func factorLU(s *call.Run, a num.Mat, f num.Format) (*luFactors, error) {
	z, err := luThere(s, a, f)
	if err != nil {
		return nil, err
	}
	if z == nil {
		here := a
		if !a.OnHost() {
			if here, err = place.On(nil, a); err != nil {
				return nil, err
			}
		}
		if z, err = lu(s, here, f); err != nil {
			return nil, err
		}
		countOverflow(s, z.L, z.U)
	}
	return z, keep(a, &z.A, &z.L, &z.U)
}

// keep makes a copy of the matrix of factors, where that lives, and moves those of the host there.
// After an error nothing is left at the place.
func keep(a num.Mat, copied *num.Mat, factors ...*num.Mat) error {
	err := func() (err error) {
		p := place.Of(a.Arr)
		for _, m := range factors {
			here := *m
			if place.Label(place.Of(here.Arr)) == place.Label(p) {
				continue
			}
			*m = num.Mat{}
			if *m, err = place.On(p, here); err != nil {
				return err
			}
		}
		*copied, err = place.On(p, a)
		return err
	}()
	if err != nil {
		for _, m := range factors {
			if m.Arr != nil {
				m.Free()
			}
		}
	}
	return err
}

func lu(s *call.Run, a num.Mat, f num.Format) (*luFactors, error) {
	if err := call.Finite("A", a); err != nil {
		return nil, err
	}
	if err := call.Workable(0, a); err != nil {
		return nil, err
	}
	m, n := a.Dims()
	k := min(m, n)
	var z *luFactors
	var u *ziv.Unknown
	checked := false
	full := func() error {
		if checked {
			return nil
		}
		checked = true
		return ziv.FullRank(s, a.Slice(0, m, 0, k))
	}
	var origin *pivoted
	first, digits := true, true
	set := func(order []int) {
		if z == nil || !slices.Equal(z.P, order) {
			z = &luFactors{P: order, L: num.NewMat(f, m, k), U: num.NewMat(f, k, n)}
			u = z.unknown(modular.Chosen(a, order, call.All(n)))
		}
	}
	err := ziv.DecideAll(s, f, func(bits int) (*ziv.Unknown, *ziv.Enclosure, error) {
		if digits {
			made, v, e, err := luAttempt(s, a, f, bits-ziv.SpareBits, &checked, z, u)
			if err != nil {
				return nil, nil, err
			}
			if digits = e != nil; digits {
				z, u = made, v
				return u, e, nil
			}
		}
		var e *ziv.Enclosure
		var err error
		if first {
			if origin, err = newPivoted(s, a, mostBits(f)); err != nil {
				return nil, nil, err
			}
		}
		if origin != nil {
			e, err = origin.enclosure(bits - ziv.SpareBits)
		}
		for ; ; first = false {
			if e != nil {
				set(origin.order)
				if ok, err := pivotsAreFirst(s, u, e, origin.order); ok || err != nil {
					first = false
					return u, e, err
				}
			}
			if err != nil {
				return nil, nil, err
			}
			if !first {
				break
			}
			// A is ill-conditioned, or pivots are as large as others, which takes more bits.
			origin, e, err = luByElimination(s, a, mostBits(f), bits-ziv.SpareBits, full)
		}
		origin = nil
		if is, err := byIntervals(s, a, f, bits); err != nil {
			return nil, nil, err
		} else if is {
			g, err := eliminateIntervals(s, a, ziv.Ones(k), bits, true)
			if err != nil {
				return nil, nil, err
			}
			if g.bad < 0 {
				set(g.order)
				e := g.enclosure(bits)
				if ok, err := belowLimit(s, u, e, seed.Slack); ok || err != nil {
					return u, e, err
				}
			}
		}
		g, err := seed.Eliminate(s, a, k, bits, true)
		if err != nil {
			return nil, nil, err
		}
		if g.Zero >= 0 {
			return nil, nil, full()
		}
		set(g.Order)
		li, ui, err := seed.TriangleInverses(s, g.LU, k)
		if err != nil {
			return nil, nil, err
		}
		if e, err = ziv.Enclose(s, u.C, li, ui, bits); err != nil {
			return nil, nil, err
		}
		if e == nil {
			return nil, nil, full()
		}
		if ok, err := belowLimit(s, u, e, seed.Slack); !ok || err != nil {
			return nil, nil, err
		}
		return u, e, nil
	})
	return z, err
}

// luAttempt is an attempt by digits, and makes factors with all that is decided, unless z are those
// for its pivots. There is no enclosure where digits are not the way.
func luAttempt(s *call.Run, a num.Mat, f num.Format, bits int, known *bool, z *luFactors, u *ziv.Unknown) (*luFactors, *ziv.Unknown, *ziv.Enclosure, error) {
	defer s.Release()
	t, err := luByDigits(s, a, bits, known)
	if t == nil || err != nil {
		return nil, nil, nil, err
	}
	if z == nil || !slices.Equal(z.P, t.Order) {
		n := t.N
		z = &luFactors{P: t.Order, L: num.NewMat(f, n, n), U: num.NewMat(f, n, n)}
		lower, upper, ok, err := t.RoundTo(z.L, z.U)
		if !ok || err != nil {
			return nil, nil, nil, err
		}
		s.Did(call.WantedCost(s, n, n))
		u = &ziv.Unknown{K: n, Blocks: ziv.Ones(n)}
		if len(lower)+len(upper) > 0 {
			u.C = modular.Chosen(a, t.Order, call.All(n))
			u.Fill()
		}
		for _, at := range lower {
			u.Want(ziv.OfL, at[0], at[1], z.L, at[0], at[1])
		}
		for _, at := range upper {
			u.Want(ziv.OfU, at[0], at[1], z.U, at[0], at[1])
		}
	}
	return z, u, t.Enclosure(u), nil
}

// unknown returns the entries of the factors, of c = P A.
func (z *luFactors) unknown(c num.Mat) *ziv.Unknown {
	m, n := c.Dims()
	k := min(m, n)
	u := ziv.NewUnknown(c, k, ziv.Ones(k), k*(m+n-k))
	for j := range k {
		ziv.SetOne(z.L, j, j)
		for i := j + 1; i < m; i++ {
			u.Want(ziv.OfL, i, j, z.L, i, j)
		}
	}
	for i := range k {
		for j := i; j < n; j++ {
			u.Want(ziv.OfU, i, j, z.U, i, j)
		}
	}
	return u
}
