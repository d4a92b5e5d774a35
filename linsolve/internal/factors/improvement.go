package factors

import (
	"math/big"
	"math/bits"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/newton"
	"github.com/halfulp/halfulp/internal/proof/scale"
	"github.com/halfulp/halfulp/internal/proof/ziv"
	"github.com/halfulp/halfulp/internal/residue"
)

// Improvement is how far the approximate inverses of factors have come, and what is lost with them.
type Improvement struct {
	Gain int // ‖E‖ ≤ 2^-gain if it is proved; 0 if nothing is known
	Amp  int // products of the factors' magnitudes are at most 2^amp: a guess before the first E
}

func (t *Improvement) known() *Improvement { return t }

// Improving are approximate inverses of factors that products make better: CholeskyNewton
// and LUNewton.
type Improving interface {
	known() *Improvement
	// errorMatrix returns what E needs of V, of width bits, and E of so many places, up to h, and
	// finds out what it shows of the gain.
	errorMatrix(width, places int) (v, e num.Mat, h *big.Float, err error)
	// step makes ‖E‖ about 2^-next by E, of V.
	step(v, e num.Mat, h *big.Float, next int) error
	// planned says that E of a gain is to lead to so many bits.
	planned(gain, bits int)
	// finish returns the enclosure that E leads to.
	finish(bits, width int, v, e num.Mat, h *big.Float) (*ziv.Enclosure, error)
}

// mostSteps bounds the steps of an improvement, which is given up then: a step makes of a gain
// g ≥ LeastGain one of about 2 g - 6, see correction, up to the next bits, and bits are fewer than
// 2^20, so that some 20 steps do.
const mostSteps = 64

// Improved returns an enclosure whose errors are about 2^-bits of the largest entries of rows and
// columns of the factors; nil if the seed is not good enough.
func Improved(s *call.Run, t Improving, bits int) (*ziv.Enclosure, error) {
	at := t.known()
	for taken := 0; taken <= mostSteps && bits+at.Amp+4 <= bound.MaxBits; taken++ { // of V, at last
		if at.Gain != 0 && at.Gain < LeastGain { // as an earlier call found out
			return nil, nil
		}
		t.planned(at.likelyGain(), bits)
		next, width, places := at.next(bits)
		guess := at.Amp
		v, e, h, err := t.errorMatrix(width, places)
		if err != nil {
			return nil, err
		}
		if at.Gain < LeastGain {
			if taken == 0 && at.Amp-guess > next-LeastGain {
				at.Gain = 0 // V had too few bits to tell, as it turned out
				s.Drop(v, e)
				continue
			}
			return nil, nil
		}
		if next == bits && order(at.Gain, bits+3) <= 4 {
			s.Work.Guessed = false
			return t.finish(bits, width, v, e, h)
		}
		if at.Gain >= next { // the seed is better than was likely
			s.Drop(v, e)
			continue
		}
		if err := t.step(v, e, h, next); err != nil {
			return nil, err
		}
		s.Work.Guessed = false // the seed is good
		s.Drop(v)
	}
	return nil, nil
}

// smallest returns how many bits smaller than 1 the least pivot is, about, by a triangular matrix
// that has the inverses of pivots on its diagonal: enclosures of as many more bits tell it as well
// as the others.
func smallest(inverse num.Mat) int {
	m, most := inverse, int64(0)
	for i := range m.Rows {
		most = max(most, scale.Exponent(m.Arr, m.At(i, i)))
	}
	return int(most)
}

// likelyGain is the gain, or what is likely before the first E.
func (t *Improvement) likelyGain() int {
	if t.Gain == 0 {
		return likely
	}
	return t.Gain
}

// next returns the bits of the next step on the way to some, those of V for it, and E's places.
func (t *Improvement) next(bits int) (next, width, places int) {
	g := t.likelyGain()
	next = bits
	for order(g+newton.LateBits, next+3) > 4 { // of the last step, of the one before, ...
		next = (next+3)/4 + 3
	}
	return next, next + t.Amp + 4, max(next-g+4, 24)
}

// bound returns one of an E of order n and so many places that was computed from factors up to
// lost, V being of width bits; nil if nothing is known of it. Where products need not be rounded
// correctly E may be in error by a quarter of 2^(amp - width), or of what its rounding may be, in
// the norm.
func (t *Improvement) bound(s *call.Run, n, places, width int, lost *big.Float) *residue.Bound {
	top := max(t.Amp, 0) + 1 // |E| ≤ I + |S| |V|, or the like
	if t.Gain > 0 {
		top = bound.Upper().Add(bound.Exp2(-t.Gain), lost).MantExp(nil)
	}
	b := &residue.Bound{Rows: make([]int64, n), Cols: make([]int64, n)}
	for i := range b.Rows {
		b.Rows[i] = int64(top)
	}
	b.Within = int64(max(top+width-t.Amp, places) + bits.Len(uint(n)) + 2)
	return b
}

// learn takes the gain from the norm of an E that is rounded to so many places and was computed
// from factors up to lost > 0, and returns what E is in error by.
func (t *Improvement) learn(s *call.Run, norm, lost *big.Float, places int) (h *big.Float) {
	s.Stats.Rho = call.Measure(norm)
	h = bound.Upper().Add(lost, bound.Upper().SetMantExp(norm, -places))
	t.Gain = -bound.Upper().Add(norm, h).MantExp(nil)
	return h
}

// likely are about the bits of ‖E‖ that a seed leaves for matrices that are not ill-conditioned.
const likely = 32

// LeastGain is how many bits of ‖E‖ are needed to go on.
const LeastGain = 8

// order returns how many powers of 2^-gain, up to four, a correction takes into account so that
// what is left is below 2^-bits; 5 if four are not enough.
func order(gain, bits int) int {
	for k := 2; k <= 4; k++ {
		if k*gain-2*k+1 >= bits {
			return k
		}
	}
	return 5
}

// MostBits are those of numbers of a matrix whose factors have format f.
func MostBits(f num.Format) int { return min(4*f.Bits()+2048, bound.MaxBits) }
