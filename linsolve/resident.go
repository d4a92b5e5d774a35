package linsolve

import (
	"errors"
	"math/big"
	"slices"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/scale"
	"github.com/halfulp/halfulp/internal/residue"
)

// Matrices of Newton's method live where their operands do: on the host, or at the run's place.
// The functions here are what the method does with them beside products.

// factored returns factors that run computes where A lives; nil where the place does not decide
// them.
func factored[T comparable](s *call.Run, a num.Mat, run func() (T, error)) (T, error) {
	var none T
	s.At = place.Of(a.Arr)
	z, err := run()
	if err = call.Resignable(err); z == none && err == nil {
		s.Resign()
		return none, nil
	}
	s.Release()
	s.At = nil
	return z, err
}

// solveThere solves A X = B, for the unit matrix if b is nil, with matrices that stay where A and B
// live. It returns nil where only the host can decide: where A is singular or nearly so, where
// entries are or may be ties or zeros, and for numbers that products of some bits do not reach.
func solveThere(s *call.Run, a, b num.Mat, f num.Format) (num.Mat, error) {
	z, err := solveResident(s, a, b, f)
	return z, call.Resignable(err)
}

// residentGuard takes the place of guard: what is not decided costs all of the host's way.
const residentGuard = 48

func solveResident(s *call.Run, a, b num.Mat, f num.Format) (num.Mat, error) {
	n := a.Rows
	k := n
	if b.Arr != nil {
		k = b.Cols
	}
	z, err := s.Room(f, n, k)
	if err != nil {
		return num.Mat{}, err
	}
	bits := f.Bits() + 4*(max(z.Arr.Terms(), 1)-1) + residentGuard
	t, x, g, err := seedThere(s, a, b, 4*bits+2048)
	s.Stage("approximate inverse")
	if err != nil || t == nil {
		return num.Mat{}, err
	}
	_, _, fixed := t.fixes(k, bits)
	width := t.likelyGain() + 2*lateBits // which the first step takes
	switch {
	case b.Arr == nil && 3*width >= bits: // the last one, perhaps
		width = max(width, bits-t.likelyGain()+2+lateBits)
	case b.Arr != nil && (fixed || t.coarseGain(t.likelyGain(), k, bits) <= t.likelyGain()): // none
		width = lateBits
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
		y, err = t.inverse(bits)
	default:
		y, err = t.solve(g, bits, t.coarseGain(t.gain(), k, bits))
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

// seedThere returns X for a float64 matrix R that may approximate the inverse of F, A scaled, about
// which nothing is proved, and G, B scaled, nil for nil; no X if there is none in float64
// arithmetic, or if A or B have numbers of more than most bits.
func seedThere(s *call.Run, a, b num.Mat, most int) (t *newton, r, g num.Mat, err error) {
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

// attempt makes a seed R, and X and G by it, which the place is asked for before R is known to be
// ok; and again, if it is not, there may be one.
func seedAttempt(s *call.Run, a, b, r num.Mat, most, attempt int) (t *newton, g num.Mat, again bool, err error) {
	rows, cols, begun, err := s.InverseThere(a, r, attempt)
	if err != nil || begun == nil {
		return nil, num.Mat{}, false, err
	}
	defer begun.Drop()
	t, g, err = scaledSystem(s, scale.Scaling{Rows: rows, Cols: cols}, a, b, r, most)
	if err != nil && !errors.Is(err, call.ErrRange) { // which numbers of no seed may be out of
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

// scaledBy returns X of newResident, and G.
func scaledSystem(s *call.Run, by scale.Scaling, a, b, r num.Mat, most int) (t *newton, g num.Mat, err error) {
	if err := s.NewTally(); err != nil {
		return nil, num.Mat{}, err
	}
	if b.Arr != nil {
		if g, err = s.Scaled(b, scale.Scaling{Rows: by.Rows, Cols: make([]int64, b.Cols)}, most); err != nil || g.Arr == nil {
			return nil, num.Mat{}, err
		}
	}
	t, err = newResident(s, a, r, g, by, most)
	return t, g, err
}

// newResident returns X for a float64 matrix R that may approximate the inverse of A scaled; nil if
// A has numbers of more than most bits, or if a row of R or a column of A has none but zeros. The
// right-hand sides may be nil.
func newResident(s *call.Run, a, r, right num.Mat, by scale.Scaling, most int) (*newton, error) {
	t := &newton{s: s, by: by}
	var err error
	if t.f, err = s.Scaled(a, by, most); err != nil || t.f.Arr == nil {
		return nil, err
	}
	if t.x, err = s.Scaled(r, scale.Scaling{}, most); err != nil || t.x.Arr == nil {
		return nil, err
	}
	if t.one, err = s.Identity(t.n()); err != nil { // which goes there while extents are to come
		return nil, err
	}
	list := []num.Mat{t.f, t.f.T(), t.x, t.x.T()}
	if right.Arr != nil {
		list = append(list, right.T())
	}
	found, err := s.Extents(list...)
	if err != nil {
		return nil, err
	}
	if right.Arr != nil {
		t.gCols = vectorsOf(found[4])
	}
	row, of := call.Sums(found[0])
	sumsX, norm := call.Sums(found[2])
	t.row, t.norm, t.col, t.sums = row, norm.MantExp(nil), call.ExtentTops(found[3], -1<<31), sumsX
	t.amp = bound.Upper().Mul(norm, of)
	t.fRows, t.fCols, t.xRows, t.xCols = vectorsOf(found[0]), vectorsOf(found[1]), vectorsOf(found[2]), vectorsOf(found[3])
	if t.fCols == nil || t.xRows == nil {
		return nil, nil
	}
	return t, nil
}

// likelyGain is about the gain of a seed.
func (t *newton) likelyGain() int { return max(scale.SeedBits-t.amp.MantExp(nil), lateBits) }

// prove finds rho by E = I - X F, for the X of newResident, and returns nil if X is no good
// inverse. E' has about width bits.
func (t *newton) prove(width int) (*newton, error) {
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
	if v, _ := rho.Float64(); v >= goodRho {
		return nil, nil
	}
	t.rho = bound.Largest([]*big.Float{rho, bound.Exp2(-2 * scale.SeedBits)})
	t.xRows, t.xCols = steady(t.xRows, t.xCols)
	v, _ := t.rho.Float64()
	note(t.s, 1, v, t.amp, big.NewFloat(1))
	return t, nil
}

// proofBound returns what is known of E = I - X F before anything is known of X and F but their
// sizes: with rows of |X| that sum up to 2^s_i and columns of F below 2^c_j,
//
//	|e_ij| ≤ 1 + 2^(s_i + c_j) ≤ 2^(max(s_i, -min c) + 1 + c_j).
//
// E' may be in error by 2^-places in the norm, the bound returned, beside its rounding.
func (t *newton) proofBound(places int) (b *residue.Bound, lost *big.Float) {
	b = &residue.Bound{Rows: make([]int64, t.n()), Cols: t.fCols.Top}
	least := -slices.Min(t.fCols.Top)
	for i, sum := range t.sums {
		b.Rows[i] = max(sum, least) + 1
	}
	size := int(slices.Max(b.Rows)) + sumUp(nil, b.Cols).MantExp(nil)
	b.Within = int64(max(size+places, 1))
	return t.s.Known(b, t.xRows, t.fCols), bound.Exp2(size - int(b.Within))
}

// newFactor returns a matrix that lives at p.
func newFactor(p place.Place, f num.Format, rows, cols int) (*halfulp.Matrix, error) {
	m, err := place.NewMat(p, f, rows, cols)
	if err != nil {
		return nil, err
	}
	return halfulp.MatrixOf(m), nil
}
