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

// Improvement holds the accuracy of approximate inverses of factors, and how much they amplify
// errors.
type Improvement struct {
	Gain int // ‖E‖ ≤ 2^-gain, proved; 0 if nothing is known
	Amp  int // products of the factors' magnitudes are at most 2^amp: a guess before the first E
	// Least, if not 0, is the least number of bits of an enclosure: it may have fewer bits than
	// requested if it then takes fewer products.
	Least int

	last bool // the next step is expected to be the last one
}

func (t *Improvement) known() *Improvement { return t }

// Improving is implemented by approximate inverses of factors that products improve: CholeskyNewton
// and LUNewton.
type Improving interface {
	known() *Improvement
	// errorMatrix returns the part of V that E depends on, in width bits, and E in places, known up
	// to h. It updates the gain accordingly.
	errorMatrix(width, places int) (v, e num.Mat, h *big.Float, err error)
	// step improves the inverses until ‖E‖ is about 2^-next, by V and E.
	step(v, e num.Mat, h *big.Float, next int) error
	// planned announces the cost of the steps from a gain to bits.
	planned(gain, bits int)
	// finish returns the enclosure, accurate to bits, from V and E.
	finish(bits, width int, v, e num.Mat, h *big.Float) (*ziv.Enclosure, error)
}

// mostSteps bounds the steps of an improvement, which fails beyond them. A step turns a gain
// g ≥ LeastGain into about 2 g - 6, up to the next bits; see correction. Bits are fewer than 2^20,
// so some 20 steps suffice.
const mostSteps = 64

// Improved returns an enclosure whose errors are about 2^-bits times the largest entries of rows
// and columns of the factors; nil if the seed is not good enough.
func Improved(s *call.Run, t Improving, bits int) (*ziv.Enclosure, error) {
	at := t.known()
	for taken := 0; taken <= mostSteps && bits+at.Amp+4 <= bound.MaxBits; taken++ { // of the last V
		if at.Gain != 0 && at.Gain < LeastGain { // as an earlier call found out
			return nil, nil
		}
		t.planned(at.likelyGain(), bits)
		next, width, places := at.next(bits)
		guess := at.Amp
		at.last = next == bits
		v, e, h, err := t.errorMatrix(width, places)
		if err != nil {
			return nil, err
		}
		if at.Gain < LeastGain {
			if taken == 0 && at.Amp-guess > next-LeastGain {
				at.Gain = 0 // V turned out to have too few bits to determine the gain
				s.Drop(v, e)
				continue
			}
			return nil, nil
		}
		if next == bits && order(at.Gain, bits+3) <= 4 {
			s.Work.Guessed = false
			return t.finish(at.fewer(bits), width, v, e, h)
		}
		if at.Gain >= next { // the seed is better than expected
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

// smallest returns about -log2 of the least pivot, from a triangular matrix with the inverses of
// the pivots on its diagonal. Enclosures with that many more bits are as accurate for the least
// pivot as for the others.
func smallest(inverse num.Mat) int {
	m, most := inverse, int64(0)
	for i := range m.Rows {
		most = max(most, scale.Exponent(m.Arr, m.At(i, i)))
	}
	return int(most)
}

// fewer returns the number of bits, at most the given number and at least Least, for which a
// correction takes the fewest powers into account; see order.
func (t *Improvement) fewer(bits int) int {
	for k := 2; k <= 4 && t.Least > 0; k++ {
		if most := k*t.Gain - 2*k - 2; most >= t.Least {
			return min(bits, most)
		}
	}
	return bits
}

// likelyGain returns the gain, or the likely gain of a seed before the first E.
func (t *Improvement) likelyGain() int {
	if t.Gain == 0 {
		return likely
	}
	return t.Gain
}

// next returns the bits of the next step on the way to bits, the width of V for it, and the places
// of E.
func (t *Improvement) next(bits int) (next, width, places int) {
	g := t.likelyGain()
	next = bits
	for order(g+newton.LateBits, next+3) > 4 { // from the last step backwards
		next = (next+3)/4 + 3
	}
	return next, next + t.Amp + 4, max(next-g+4, 24)
}

// bound returns a bound of the entries of an E of order n in places, computed from factors with
// errors up to lost and a V of width bits. Where products need not be correctly rounded, the norm
// of the error of E may be a quarter of 2^(amp - width), or of the error of its rounding.
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

// learn sets the gain from the norm of an E that is rounded to places and was computed from factors
// with errors up to lost > 0. It returns the bound h of the error of E.
func (t *Improvement) learn(s *call.Run, norm, lost *big.Float, places int) (h *big.Float) {
	s.Stats.Rho = call.Measure(norm)
	h = bound.Upper().Add(lost, bound.Upper().SetMantExp(norm, -places))
	t.Gain = -bound.Upper().Add(norm, h).MantExp(nil)
	return h
}

// likely is about -log2 ‖E‖ for a seed of a matrix that is not ill-conditioned.
const likely = 32

// LeastGain is the least gain with which an improvement continues.
const LeastGain = 8

// order returns the number of powers of 2^-gain, up to four, that a correction takes into account
// for a remaining error below 2^-bits; 5 if four are not enough.
func order(gain, bits int) int {
	for k := 2; k <= 4; k++ {
		if k*gain-2*k+1 >= bits {
			return k
		}
	}
	return 5
}

// MostBits bounds the bits of the entries of a matrix whose factors have format f.
func MostBits(f num.Format) int { return min(4*f.Bits()+2048, bound.MaxBits) }
