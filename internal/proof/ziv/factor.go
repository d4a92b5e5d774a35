package ziv

import (
	"context"
	"fmt"

	"github.com/halfulp/halfulp/internal/counted"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/modular"
)

// Enclosures by this method are requested with SpareBits fewer bits than an elimination would use.
// Their bits are the bits of the results.
const SpareBits = 16

// missing returns how many bits narrower the enclosures must be so that most open entries are
// decided. It returns call.None32 if the enclosure of an open entry does not determine the entry's
// size.
func (u *Unknown) missing() (bits int) {
	for i := range u.Open {
		if u.Open[i].missing == call.None32 {
			return call.None32
		}
		bits = max(bits, int(u.Open[i].missing))
	}
	return bits
}

// attempt computes factors with the given bits. It returns the wanted entries and their enclosures,
// or nil enclosures if the bits do not suffice. It returns the same Unknown as long as the pivots
// stay the same.
type attempt func(bits int) (*Unknown, *Enclosure, error)

// DecideFactors decides all entries of factors of format f by attempts with more and more bits.
func DecideFactors(s *call.Run, f num.Format, t Theory, try attempt) error {
	return Decide(s, Loop{What: "factors", First: f.Bits() + 64, Theory: t}, func(bits int) (missing int, err error) {
		s.Stats.Precision = bits
		u, e, err := try(bits)
		if err != nil {
			return 0, err
		}
		s.Stage(fmt.Sprintf("%d bits", bits))
		if e == nil {
			return Unenclosed, nil
		}
		wanted := call.WantedCost(s, len(u.Open), 1)
		if err := RoundFactors(s, u, e); err != nil {
			return 0, err
		}
		s.Did(wanted)
		if err := prove(s, u, e); err != nil {
			return 0, err
		}
		s.Stage("rounding")
		if len(u.Open) == 0 {
			return Done, nil
		}
		have := e.Bits + SpareBits
		if missing = u.missing(); missing == call.None32 {
			return have, nil
		}
		return have - bits + min(have, max(missing, have-f.Bits())), nil
	})
}

// FullRank returns nil if a matrix is proved to have full rank, and an error that wraps ErrSingular
// if it is proved to have a smaller rank.
func FullRank(s *call.Run, a num.Mat) error {
	r, _, err := modular.Rank(s, a)
	if err != nil {
		return err
	}
	switch m, n := a.Dims(); {
	case r == min(m, n):
		return nil
	case m == n:
		return &call.SingularError{N: n, Rank: r}
	default:
		return fmt.Errorf("the rank of %d x %d entries is %d (proved): %w", m, n, r, call.ErrSingular)
	}
}

// Symmetric returns an error that wraps call.ErrNotSymmetric if a square matrix is not symmetric.
func Symmetric(threads int, name string, a num.Mat) error {
	m := a
	differ := make([]int, m.Cols) // for each column j, 1 + the first row i < j, or 0
	_ = par.Each(context.Background(), threads, m.Cols, func(j int) {
		for i := range j {
			if !m.Arr.SameBits(m.At(i, j), m.Arr, m.At(j, i)) && a.Big(i, j).Cmp(a.Big(j, i)) != 0 {
				differ[j] = i + 1
				return
			}
		}
	})
	for j, i := range differ {
		if i--; i >= 0 {
			return counted.New(call.ErrNotSymmetric, func(first int) string {
				return fmt.Sprintf("entries %s[%d,%d] and %s[%d,%d] differ: %v", name, i+first, j+first, name, j+first, i+first, call.ErrNotSymmetric)
			})
		}
	}
	return nil
}

// SetOne sets entry (i, j) of a factor to 1.
func SetOne(z num.Mat, i, j int) { z.SetEntry(i, j, num.Float(1)) }
