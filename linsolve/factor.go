package linsolve

import (
	"fmt"
	"math/big"
	"sync"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/modular"
)

// missing returns how many bits closer enclosures have to be for most open entries to be decided,
// none if they tell nothing of the size of one.
func (u *unknown) missing() (bits int) {
	for i := range u.open {
		if u.open[i].missing == call.None32 {
			return call.None32
		}
		bits = max(bits, u.open[i].missing)
	}
	return bits
}

// attempt makes factors in some bits: what is wanted of them, and enclosures, nil if these bits do
// not suffice. The unknown ones stay the same while pivots do.
type attempt func(bits int) (*unknown, *enclosure, error)

// decideAll makes attempts in more and more bits until all entries of format f are decided.
func decideAll(s *call.Run, f num.Format, try attempt) error {
	var more int
	for bits := f.Bits() + 64; bits <= bound.MaxBits; bits += more {
		s.Stats.Precision, more = bits, bits
		u, e, err := try(bits)
		if err != nil {
			return err
		}
		s.Stage(fmt.Sprintf("%d bits", bits))
		if e == nil {
			continue
		}
		wanted := call.WantedCost(s, len(u.open), 1)
		if err := decide(s, u, e); err != nil {
			return err
		}
		s.Did(wanted)
		if err := prove(s, u, e); err != nil {
			return err
		}
		s.Stage("rounding")
		if len(u.open) == 0 {
			return nil
		}
		if bits = e.bits + spareBits; u.missing() != call.None32 {
			more = min(bits, max(u.missing(), bits-f.Bits()))
		}
	}
	return fmt.Errorf("factors in %d bits: %w", bound.MaxBits, call.ErrMemory)
}

// full returns nil if a matrix is proved to have full rank, an error that wraps ErrSingular if it
// is proved not to.
func full(s *call.Run, a num.Mat) error {
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

// known is a square matrix and what has been found out about it.
type known struct {
	a     num.Mat
	mutex sync.Mutex
	here  num.Mat // a on the host, if near is known
	near  *approximate
}

// solve solves with what is known of the matrix. It may be called by several goroutines.
func (y *known) solve(s *call.Run, b num.Mat, f num.Format) (num.Mat, error) {
	z := num.NewMat(f, b.Rows, b.Cols)
	if b.Rows == 0 || b.Cols == 0 {
		return z, s.Ctx.Err()
	}
	if err := call.Finite("B", b); err != nil {
		return num.Mat{}, err
	}
	if err := call.Workable(f.Bits()+64, b); err != nil {
		return num.Mat{}, err
	}
	p, err := y.approximate(s)
	if err != nil {
		return num.Mat{}, err
	}
	return z, solveBy(s, p, y.here, b, z)
}

// approximate returns the approximate inverse.
func (y *known) approximate(s *call.Run) (*approximate, error) {
	y.mutex.Lock()
	defer y.mutex.Unlock()
	if y.near == nil {
		on, err := onHost(y.a)
		if err != nil {
			return nil, err
		}
		if err := call.Finite("A", on[0]); err != nil {
			return nil, err
		}
		p, err := approximateInverse(s, on[0])
		if err != nil {
			return nil, err
		}
		y.near, y.here = p, on[0]
	}
	return y.near, nil
}

// symmetric returns an error if a square matrix is not symmetric.
func symmetric(a num.Mat) error {
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

// one is 1 in an entry of a factor.
func one(z num.Mat, i, j int) { z.SetEntry(i, j, num.Float(1)) }

// slack is how much larger than that of true pivots the growth may be of such that pass for equal.
var slack = new(big.Float).SetPrec(64).Add(big.NewFloat(1), new(big.Float).SetMantExp(big.NewFloat(1), -60))
