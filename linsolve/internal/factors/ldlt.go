package factors

import (
	"slices"

	"github.com/halfulp/halfulp/internal/lanes"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/modular"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/proof/ziv"
	"github.com/halfulp/halfulp/linsolve/internal/digits"
)

// FactorLDLT returns the factors where a lives, of which there is a copy on the host, with a copy
// of a.
func FactorLDLT(s *call.Run, a, here num.Mat, f num.Format) (*LDLTFactors, error) {
	if err := call.Finite("A", here); err != nil {
		return nil, err
	}
	if err := ziv.Symmetric(here); err != nil {
		return nil, err
	}
	var seed *Rooked
	var z *LDLTFactors
	if !a.OnHost() {
		var err error
		if seed, err = newRook(s, here, MostBits(f)); err != nil {
			return nil, err
		}
		if z, err = LDLTThere(s, a, f, seed); err != nil {
			return nil, err
		}
	}
	if z == nil {
		var err error
		if z, err = ldlt(s, here, f, seed); err != nil {
			return nil, err
		}
		countOverflow(s, z.L, z.D)
	}
	return z, Keep(a, &z.A, &z.L, &z.D)
}

// ldlt returns the factors, on the host, by a seed of newRook, nil if that has not been made.
func ldlt(s *call.Run, a num.Mat, f num.Format, origin *Rooked) (*LDLTFactors, error) {
	n := a.Rows
	z := &LDLTFactors{}
	var u *ziv.Unknown
	checked := false
	full := func() error {
		if checked {
			return nil
		}
		checked = true
		return ziv.FullRank(s, a)
	}
	set := func(order, blocks []int) {
		if u == nil || !slices.Equal(z.P, order) || !slices.Equal(z.Blocks, blocks) {
			z = &LDLTFactors{P: order, Blocks: blocks, L: num.NewMat(f, n, n), D: num.NewMat(f, n, n)}
			u = z.unknown(modular.Chosen(a, order, order))
		}
	}
	// What makes pivots, where float64 does not suffice: that with the pivots of the seed, and that
	// which chooses its own ones.
	ways := []func(some int) (*Rook, error){func(some int) (*Rook, error) { return RookOf(s, a, some) }}
	seeded := func() {
		if origin != nil {
			pivots := origin
			ways = append([]func(some int) (*Rook, error){func(some int) (*Rook, error) { return rookAgain(s, pivots, some) }}, ways...)
		}
	}
	var pivots *seed.RookOrder // for digits
	fixed := origin == nil && !s.Set.Check && lanes.Bits() > 0
	if fixed {
		var err error
		if pivots, err = seed.RookForDigits(s, a, MostBits(f)); err != nil {
			return nil, err
		}
		fixed = pivots != nil
	}
	if origin == nil && !fixed { // so that pivots are those of the levels that have no digits
		var err error
		if origin, err = newRook(s, a, MostBits(f)); err != nil {
			return nil, err
		}
	}
	seeded()
	limits := ziv.Theory{Need: func() ziv.Need { return ziv.NeedOf(a, n, f, false) }, Regular: full}
	err := ziv.DecideAll(s, f, limits, func(bits int) (*ziv.Unknown, *ziv.Enclosure, error) {
		if fixed {
			var t *digits.LDLT
			var err error
			if t, z, u, err = ldltAttempt(s, a, f, pivots, bits-ziv.SpareBits, full, z, u); err != nil {
				return nil, nil, err
			}
			if t != nil {
				return u, t.Enclosure(u), nil
			}
			fixed = false
			if err = reserve(s, a, n, f.Bits(), n*(n+1)/2, 0); err != nil {
				return nil, nil, err
			}
			if origin, err = newRook(s, a, MostBits(f)); err != nil {
				return nil, nil, err
			}
			seeded()
		}
		var e *ziv.Enclosure
		var err error
		if origin != nil {
			e, err = origin.LUNewton.Enclosure(bits - ziv.SpareBits)
		}
		for {
			if err != nil {
				return nil, nil, err
			}
			if e != nil {
				set(origin.Order, origin.Blocks)
				if ok, err := BelowLimit(s, u, e, seed.RookGrowth); ok || err != nil {
					return u, e, err
				}
				ways = ways[max(len(ways)-1, 0):] // other pivots
			}
			if len(ways) == 0 {
				break
			}
			origin, e, err = rookByElimination(s, a, MostBits(f), bits-ziv.SpareBits, full, ways[0])
			ways = ways[1:]
		}
		origin = nil
		r, err := RookOf(s, a, bits)
		if err != nil {
			return nil, nil, err
		}
		if r == nil {
			return nil, nil, full()
		}
		set(r.Order, r.Blocks)
		if is, err := byIntervals(s, a, f, bits); err != nil {
			return nil, nil, err
		} else if is {
			g, err := EliminateIntervals(s, u.C, r.Blocks, bits, false)
			if err != nil {
				return nil, nil, err
			}
			if g.Bad < 0 {
				e := g.enclosure(bits)
				if ok, err := BelowLimit(s, u, e, seed.RookGrowth); ok || err != nil {
					return u, e, err
				}
			}
		}
		li, ui, err := blockInverses(s, r, bits)
		if err != nil {
			return nil, nil, err
		}
		if e, err = ziv.Enclose(s, u.C, li, ui, bits); err != nil {
			return nil, nil, err
		}
		if e == nil {
			return nil, nil, full()
		}
		if ok, err := BelowLimit(s, u, e, seed.RookGrowth); !ok || err != nil {
			return nil, nil, err
		}
		return u, e, nil
	})
	if err != nil {
		return nil, err
	}
	b := 0
	for _, size := range z.Blocks {
		if size == 2 {
			z.D.SetEntry(b+1, b, z.D.Entry(b, b+1))
		}
		b += size
	}
	return z, nil
}

// ldltAttempt is an attempt by digits: the first time, u being nil, it makes factors z, with all
// that is decided. There is no elimination where digits are not the way.
func ldltAttempt(s *call.Run, a num.Mat, f num.Format, pivots *seed.RookOrder, bits int, regular func() error, z *LDLTFactors, u *ziv.Unknown) (*digits.LDLT, *LDLTFactors, *ziv.Unknown, error) {
	defer s.Release()
	t, err := digits.NewLDLT(s, a, pivots, bits, regular)
	if t == nil || err != nil || u != nil {
		return t, z, u, err
	}
	n := a.Rows
	made := &LDLTFactors{P: pivots.Order, Blocks: pivots.Blocks, L: num.NewMat(f, n, n), D: num.NewMat(f, n, n)}
	lower, middle, ok, err := t.RoundTo(made.L, made.D)
	if !ok || err != nil {
		return nil, z, nil, err
	}
	s.Did(call.WantedCost(s, n, n) / 2)
	u = &ziv.Unknown{K: n, Blocks: made.Blocks}
	if len(lower)+len(middle) > 0 {
		u.C = modular.Chosen(a, made.P, made.P)
		u.Fill()
	}
	for _, at := range lower {
		u.Want(ziv.OfL, at[0], at[1], made.L, at[0], at[1])
	}
	for _, at := range middle {
		u.Want(ziv.OfU, at[0], at[1], made.D, at[0], at[1])
	}
	return t, made, u, nil
}
