package newton

import (
	"errors"
	"math/big"
	"slices"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/scale"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/residue"
)

// Matrices of Newton's method live where their operands do: on the host, or at the run's place.
// This file has the steps of the method other than products.

// SolveThere solves A X = B, for the unit matrix if b is empty, with matrices that stay where A and
// B live. It returns an empty matrix where only the host can decide: where A is singular or nearly
// so, where entries are or may be ties or zeros, and for numbers out of the range of products of
// some bits.
func SolveThere(s *call.Run, a, b num.Mat, f num.Format) (num.Mat, error) {
	z, err := solveOnDevice(s, a, b, f)
	return z, call.Resignable(err)
}

func solveOnDevice(s *call.Run, a, b num.Mat, f num.Format) (num.Mat, error) {
	n := a.Rows
	k := n
	if b.Arr != nil {
		k = b.Cols
	}
	z, err := s.Room(f, n, k)
	if err != nil {
		return num.Mat{}, err
	}
	bits := f.Bits() + 4*(max(z.Arr.Terms(), 1)-1) + call.DeviceGuard
	t, x, g, err := seedThere(s, a, b, 4*bits+2048)
	s.Stage("approximate inverse")
	if err != nil || t == nil {
		return num.Mat{}, err
	}
	_, _, fixed := t.fixes(k, bits)
	width := t.likelyGain() + 2*LateBits // for the first step
	switch {
	case b.Arr == nil && 3*width >= bits: // perhaps the last step
		width = max(width, bits-t.likelyGain()+2+LateBits)
	case b.Arr != nil && (fixed || t.CoarseGain(t.likelyGain(), k, bits) <= t.likelyGain()): // none
		width = LateBits
	}
	t, err = t.prove(width)
	s.Stage("proof")
	if err != nil || t == nil {
		return num.Mat{}, err
	}
	var y *bound.Nearly
	if fixed {
		if y, err = t.solveFixed(x, g, bits); err != nil {
			return num.Mat{}, err
		}
	}
	s.Drop(x)
	switch {
	case y != nil:
	case b.Arr == nil:
		y, err = t.Inverse(bits)
	default:
		y, err = t.Solve(g, bits, t.CoarseGain(t.Gain(), k, bits))
	}
	s.Stage("products")
	if err != nil || y == nil {
		return num.Mat{}, err
	}
	_, err = s.SumThere(place.Sum{X: y.X, D: y.D, Bits: bits, Errors: y.Err, Rows: y.Left, Cols: y.Right, Tally: s.Tally}, z)
	if err != nil {
		return num.Mat{}, err
	}
	left, err := s.Tallied()
	s.Stage("rounding")
	if err != nil || left > 0 {
		return num.Mat{}, err
	}
	return z, nil
}

// seedThere returns X for a float64 matrix R that may approximate the inverse of F, the scaled A;
// nothing is proved of R. It also returns the scaled B as G, empty if b is. X is nil if float64
// arithmetic finds no R, or if A or B have numbers of more than most bits.
func seedThere(s *call.Run, a, b num.Mat, most int) (t *Iteration, r, g num.Mat, err error) {
	if r, err = s.Room(num.Float64, a.Rows, a.Rows); err != nil {
		return nil, num.Mat{}, num.Mat{}, err
	}
	for attempt := 0; ; attempt++ {
		before := len(s.Away)
		t, g, again, err := seedAttempt(s, a, b, r, most, attempt)
		if !again || err != nil {
			return t, r, g, err
		}
		s.Drop(s.Away[before:]...)
	}
}

// seedAttempt computes a seed R, and X and G from it. It requests them from the place before R is
// known to be usable. again reports that R is not, but another attempt may be.
func seedAttempt(s *call.Run, a, b, r num.Mat, most, attempt int) (t *Iteration, g num.Mat, again bool, err error) {
	rows, cols, begun, err := s.InverseThere(a, r, attempt)
	if err != nil || begun == nil {
		return nil, num.Mat{}, false, err
	}
	defer begun.Drop()
	t, g, err = scaledSystem(s, scale.Scaling{Rows: rows, Cols: cols}, a, b, r, most)
	if err != nil && !errors.Is(err, call.ErrRange) { // numbers of a bad seed may be out of range
		return nil, num.Mat{}, false, err
	}
	switch ok, failed := begun.Settle(s.Config()); {
	case failed != nil:
		return nil, num.Mat{}, false, failed
	case !ok:
		return nil, num.Mat{}, true, nil
	}
	return t, g, false, err
}

// scaledSystem returns the X of newIteration, and G.
func scaledSystem(s *call.Run, by scale.Scaling, a, b, r num.Mat, most int) (t *Iteration, g num.Mat, err error) {
	if err := s.NewTally(); err != nil {
		return nil, num.Mat{}, err
	}
	if b.Arr != nil {
		if g, err = s.Scaled(b, scale.Scaling{Rows: by.Rows, Cols: make([]int64, b.Cols)}, most); err != nil || g.Arr == nil {
			return nil, num.Mat{}, err
		}
	}
	t, err = newIteration(s, a, r, g, by, most)
	return t, g, err
}

// newIteration returns X for a float64 matrix R that may approximate the inverse of the scaled A;
// nil if A has numbers of more than most bits, or if a row of R or a column of A is all zeros. The
// right-hand sides may be empty.
func newIteration(s *call.Run, a, r, right num.Mat, by scale.Scaling, most int) (*Iteration, error) {
	t := &Iteration{S: s, By: by}
	var err error
	if t.F, err = s.Scaled(a, by, most); err != nil || t.F.Arr == nil {
		return nil, err
	}
	if t.X, err = s.Scaled(r, scale.Scaling{}, most); err != nil || t.X.Arr == nil {
		return nil, err
	}
	if t.one, err = s.Identity(t.n()); err != nil { // copied there while extents are computed
		return nil, err
	}
	list := []num.Mat{t.F, t.F.T(), t.X, t.X.T()}
	if right.Arr != nil {
		list = append(list, right.T())
	}
	found, err := s.Measure(list...)
	if err != nil {
		return nil, err
	}
	if right.Arr != nil {
		t.gCols = found[4].Vectors()
	}
	norm := found[2].Norm()
	t.Row, t.Norm, t.Col, t.sums = found[0].Sums(), norm.MantExp(nil), found[3].Tops(-1<<31), found[2].Sums()
	t.Amp = bound.Upper().Mul(norm, found[0].Norm())
	t.fRows, t.fCols, t.xRows, t.xCols = found[0].Vectors(), found[1].Vectors(), found[2].Vectors(), found[3].Vectors()
	if t.fCols == nil || t.xRows == nil {
		return nil, nil
	}
	return t, nil
}

// likelyGain estimates the gain of a seed.
func (t *Iteration) likelyGain() int { return max(scale.SeedBits-t.Amp.MantExp(nil), LateBits) }

// prove finds rho from E = I - X F, for the X of newIteration, and returns nil if X is no good
// inverse. E' has about width bits.
func (t *Iteration) prove(width int) (*Iteration, error) {
	b, lost := t.proofBound(t.likelyGain() + width)
	var err error
	if t.early, err = t.difference(width, b); err != nil {
		return nil, err
	}
	if t.earlyNorm, err = t.look(t.early); err != nil {
		return nil, err
	}
	t.earlyError = lost
	rho := bound.Upper().Add(t.earlyNorm, bound.Upper().SetMantExp(t.earlyNorm, -t.early.Format().Bits()))
	rho = rho.Add(rho, t.earlyError)
	if v, _ := rho.Float64(); v >= seed.GoodRho {
		return nil, nil
	}
	t.Rho = bound.Largest([]*big.Float{rho, bound.Exp2(-2 * scale.SeedBits)})
	t.xRows, t.xCols = steady(t.xRows, t.xCols)
	v, _ := t.Rho.Float64()
	seed.Note(t.S, 1, v, t.Amp, big.NewFloat(1))
	return t, nil
}

// proofBound returns a bound of E = I - X F from the sizes of X and F alone. With row sums of |X|
// up to 2^s_i and columns of F below 2^c_j,
//
//	|e_ij| ≤ 1 + 2^(s_i + c_j) ≤ 2^(max(s_i, -min c) + 1 + c_j).
//
// E' may be in error by lost ≤ 2^-places in the norm, in addition to its rounding.
func (t *Iteration) proofBound(places int) (b *residue.Bound, lost *big.Float) {
	b = &residue.Bound{Rows: make([]int64, t.n()), Cols: t.fCols.Top}
	least := -slices.Min(t.fCols.Top)
	for i, sum := range t.sums {
		b.Rows[i] = max(sum, least) + 1
	}
	size := int(slices.Max(b.Rows)) + call.SumUp(nil, b.Cols).MantExp(nil)
	b.Within = int64(max(size+places, 1))
	return t.S.Known(b, t.xRows, t.fCols), bound.Exp2(size - int(b.Within))
}
