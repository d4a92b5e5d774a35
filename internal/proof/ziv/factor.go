package ziv

import (
	"fmt"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/modular"
)

// SpareBits are how many bits less than eliminations have these enclosures are asked for, whose
// bits are those of the results.
const SpareBits = 16

// missing returns how many bits closer enclosures have to be for most open entries to be decided,
// none if they tell nothing of the size of one.
func (u *Unknown) missing() (bits int) {
	for i := range u.Open {
		if u.Open[i].missing == call.None32 {
			return call.None32
		}
		bits = max(bits, int(u.Open[i].missing))
	}
	return bits
}

// attempt makes factors in some bits: what is wanted of them, and enclosures, nil if these bits do
// not suffice. The unknown ones stay the same while pivots do.
type attempt func(bits int) (*Unknown, *Enclosure, error)

// Theory is what ends attempts that contradict it.
type Theory struct {
	Need func() Need
	// Regular returns an error if a matrix is proved to have no such factors, else nil
	Regular func() error
}

// TheoryBits are how many more than those of the format attempts have before theory is asked for.
const TheoryBits = 1 << 11

// DecideAll makes attempts in more and more bits until all entries of format f are decided, or
// until these are more than theory says.
func DecideAll(s *call.Run, f num.Format, t Theory, try attempt) error {
	var more int
	most := Need{bound.MaxBits + 1, bound.MaxBits + 1}
	asked := false
	for bits := f.Bits() + 64; bits <= bound.MaxBits; bits += more {
		if !asked && bits > f.Bits()+TheoryBits {
			asked, most = true, t.Need()
		}
		s.Stats.Precision, more = bits, bits
		u, e, err := try(bits)
		if err != nil {
			return err
		}
		s.Stage(fmt.Sprintf("%d bits", bits))
		if e == nil {
			if bits >= most.Enclosed {
				return contradicted(t, bits)
			}
			continue
		}
		wanted := call.WantedCost(s, len(u.Open), 1)
		if err := DecideFactors(s, u, e); err != nil {
			return err
		}
		s.Did(wanted)
		if err := prove(s, u, e); err != nil {
			return err
		}
		s.Stage("rounding")
		if len(u.Open) == 0 {
			return nil
		}
		if bits >= most.Decided {
			return contradicted(t, bits)
		}
		if bits = e.Bits + SpareBits; u.missing() != call.None32 {
			more = min(bits, max(u.missing(), bits-f.Bits()))
		}
	}
	return fmt.Errorf("factors in %d bits: %w", bound.MaxBits, call.ErrMemory)
}

// contradicted returns the error of factors that so many bits do not decide.
func contradicted(t Theory, bits int) error {
	if err := t.Regular(); err != nil {
		return err
	}
	return call.Contradiction(fmt.Sprintf("factors are not decided by %d bits", bits))
}

// FullRank returns nil if a matrix is proved to have full rank, an error that wraps ErrSingular if
// it is proved not to.
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

// Symmetric returns an error if a square matrix is not symmetric.
func Symmetric(a num.Mat) error {
	m := a
	for j := range m.Cols {
		for i := range j {
			if !m.Arr.SameBits(m.At(i, j), m.Arr, m.At(j, i)) && a.Big(i, j).Cmp(a.Big(j, i)) != 0 {
				return fmt.Errorf("entries A[%d,%d] and A[%d,%d] differ: %w", i+1, j+1, j+1, i+1, call.ErrNotSymmetric)
			}
		}
	}
	return nil
}

// SetOne is 1 in an entry of a factor.
func SetOne(z num.Mat, i, j int) { z.SetEntry(i, j, num.Float(1)) }
