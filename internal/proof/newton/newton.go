package newton

import (
	"math"
	"math/big"
	"math/bits"
	"slices"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/scale"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/residue"
)

// Iteration is an approximate inverse X of F = diag(2^scale) A diag(2^weights), with ‖I - X F‖∞ ≤
// rho proved.
//
// A step is X' = X + E' X + d, where d is the rounding and E' = E + h approximates E = I - X F, so
// that
//
//	I - X' F = -h + E' E - d F,    F^-1 = X + E X + E² (I - E)^-1 X.
//
// E is known to be small before it is computed. So the product X F is computed within a bound
// (residue.Bound), and takes moduli for as many bits as X' has, not for the bits of X and F
// together.
type Iteration struct {
	S    *call.Run
	By   scale.Scaling // of F
	F    num.Mat
	Row  []int64 // Σ_j |f_ij| ≤ 2^row[i]
	sums []int64 // Σ_j |x_ij| ≤ 2^sums[i] for the first X at a place
	X    num.Mat
	Rho  *big.Float
	Amp  *big.Float // ≥ ‖|X| |F|‖∞
	// column j of X is at most 2^(Col[j]+1) in every step, and the norm of every X is at most
	// 2^(Norm+1).
	Col  []int64
	Norm int
	// E' left by the proof, an upper bound of its norm, and its error without its rounding; nil
	// once a step has used it
	early                 num.Mat
	earlyNorm, earlyError *big.Float

	// Bounds of F, of all later X, of the last E', whose row sums are at most 2^eSums[i], and of
	// right-hand sides; nil where nothing is known.
	fRows, fCols, xRows, xCols, eRows, gCols *residue.Vectors
	eSums                                    []int64

	one num.Mat // the unit matrix; nil until it is needed
}

// LeastNewton is the least gain that steps raise: a step from a gain g ≥ 3 leads to at least g + 1.
const LeastNewton = 3

// New returns the iteration that starts from X = R, the approximate inverse p of a; nil if A has
// numbers of more than most bits, or if R is so far from the inverse that steps would gain nothing.
func New(s *call.Run, a num.Mat, p *seed.Approximate, most int) *Iteration {
	return newIn(s, a, p, most, func(f num.Format, rows, cols int) num.Mat {
		s.Budget.Reclaim(call.MatrixBytes(f, rows, cols))
		return num.NewMat(f, rows, cols)
	})
}

// newIn is New with memory for F and X from room, which returns matrices of zeros.
func newIn(s *call.Run, a num.Mat, p *seed.Approximate, most int, room func(f num.Format, rows, cols int) num.Mat) *Iteration {
	by := scale.Scaling{Rows: p.Scale, Cols: p.Weights}
	t := &Iteration{S: s, By: by, Rho: bound.Largest([]*big.Float{p.Rho, bound.Exp2(-2 * scale.SeedBits)})}
	if t.Gain() < LeastNewton {
		return nil
	}
	if t.F = scaledFloats(a, by, room); t.F.Arr == nil {
		t.F = call.Arranged(a, by, nil, most, room)
	}
	if t.F.Arr == nil {
		return nil
	}
	if t.X = call.Arranged(p.R, scale.Scaling{Rows: bound.Negated(p.Weights), Cols: bound.Negated(p.Scale)}, nil, math.MaxInt32, room); t.X.Arr == nil {
		return nil
	}
	sums := bound.BoundsOf(t.F, make([]int64, t.n()), make([]int64, t.n())).Sums()
	for _, v := range sums {
		t.Row = append(t.Row, int64(v.MantExp(nil)))
	}
	t.Amp = p.Abs.Times(sums)
	t.Col = p.Abs.Columns()
	t.Norm = p.Abs.Norm().MantExp(nil)
	return t
}

func (t *Iteration) n() int { return t.F.Rows }

// scaledFloats is call.Arranged for float64 numbers that remain float64 when scaled, whose products
// are faster; nil for other matrices.
func scaledFloats(a num.Mat, by scale.Scaling, room func(f num.Format, rows, cols int) num.Mat) num.Mat {
	m := a
	if m.Arr.Kind != num.F64 {
		return num.Mat{}
	}
	const far = 400
	for j := range m.Cols {
		for i := range m.Rows {
			x, shift := m.Arr.F64[0][m.At(i, j)], by.Rows[i]+by.Cols[j]
			if size := math.Abs(x); x != 0 && (size < 0x1p-400 || size > 0x1p400 || shift < -far || shift > far) {
				return num.Mat{}
			}
		}
	}
	to := room(num.Float64, m.Rows, m.Cols)
	for j := range m.Cols {
		for i := range m.Rows {
			x, shift := m.Arr.F64[0][m.At(i, j)], by.Rows[i]+by.Cols[j]
			to.Arr.F64[0][to.At(i, j)] = x * scale.Power(max(-far, min(shift, far)))
		}
	}
	return to
}

// scaledMatrix returns the exact F of A, as scaledFloats or call.Arranged compute it, and keeps it
// in f.
func scaledMatrix(s *call.Run, a num.Mat, f *seed.Factors, most int) num.Mat {
	if f.Exact.Arr == nil {
		f.Exact = scaledFloats(a, f.Scaling, s.MatrixHere)
	}
	if f.Exact.Arr == nil {
		f.Exact = call.Arranged(a, f.Scaling, nil, most, s.MatrixHere)
	}
	if f.Exact.Arr != nil && f.Exact.Format().IsMP() && f.Exact.Format().Bits() > most {
		return num.Mat{}
	}
	return f.Exact
}

// Gain returns a number g of bits with rho ≤ 2^-g.
func (t *Iteration) Gain() int { return -t.Rho.MantExp(nil) }

// Refine takes steps until ‖I - X F‖ ≤ 2^-bits.
func (t *Iteration) Refine(bits int) error {
	for t.Gain() < bits {
		e, h, err := t.errorMatrix(t.Gain() + LateBits)
		if err != nil {
			return err
		}
		if t.Gain() >= bits {
			return nil
		}
		if t.blurred(h, min(bits, t.Gain()*3/2)) {
			t.S.Drop(e)
			continue
		}
		if err := t.step(e, h, bits); err != nil {
			return err
		}
	}
	return nil
}

// LateBits is how many bits smaller than rho E may turn out to be, and still be useful.
const LateBits = 8

// blurred reports whether the error h of an E' is above 2^-bits. Where E turns out to be much
// smaller than rho said, E' is hardly more than its error, and a step by E' would gain next to
// nothing. E' is then computed again, with the rho that it has shown.
func (t *Iteration) blurred(h *big.Float, bits int) bool { return -h.MantExp(nil) < bits }

// errorMatrix returns E' with ‖E' - E‖ ≤ h, where h is about 2^-bits rho. It lowers rho to the
// bound that E' shows.
func (t *Iteration) errorMatrix(bits int) (e num.Mat, h *big.Float, err error) {
	e, norm, lost := t.early, t.earlyNorm, t.earlyError
	if t.early = (num.Mat{}); e.Arr == nil || e.Format().Bits() < bits {
		t.S.Drop(e)
		b := t.errorBound(int64(t.Rho.MantExp(nil)), bits+LateBits)
		if e, err = t.difference(bits, b); err != nil {
			return num.Mat{}, nil, err
		}
		if norm, err = t.look(e); err != nil {
			return num.Mat{}, nil, err
		}
		lost = LostBy(b)
	}
	h = bound.Upper().Add(bound.Upper().SetMantExp(norm, -e.Format().Bits()), lost)
	least := bound.Exp2(-t.Gain() - 2*bits) // so that a gain remains finite
	if norm.Add(norm, h).Cmp(least) < 0 {
		norm = least
	}
	if norm.Cmp(t.Rho) < 0 {
		t.Rho = norm
	}
	return e, h, nil
}

// look returns an upper bound of the norm of an E', and records the bounds that products need.
func (t *Iteration) look(e num.Mat) (norm *big.Float, err error) {
	x, err := t.S.Measure(e)
	if err != nil {
		return nil, err
	}
	t.eSums, t.eRows = x[0].Sums(), x[0].Vectors()
	return x[0].Norm(), nil
}

// errorBound returns the bound 2^top of all entries of E. It allows E' an error of 2^(top - places)
// in the norm, in addition to its rounding.
func (t *Iteration) errorBound(top int64, places int) *residue.Bound {
	b := &residue.Bound{Rows: make([]int64, t.n()), Cols: make([]int64, t.n())}
	for i := range b.Rows {
		b.Rows[i] = top
	}
	b.Within = int64(places + bits.Len(uint(t.n())))
	return t.S.Known(b, t.xRows, t.fCols)
}

// LostBy returns an upper bound of the norm of the error that b, if any, allows a square matrix.
func LostBy(b *residue.Bound) *big.Float {
	if b == nil || b.Within == 0 {
		return bound.Upper()
	}
	return bound.Exp2(int(b.Rows[0]-b.Within) + bits.Len(uint(len(b.Rows))))
}

// difference returns I - X F, rounded to the given bits, which is proved to be within the bound b.
func (t *Iteration) difference(bits int, b *residue.Bound) (e num.Mat, err error) {
	t.S.Stats.Steps++
	n := t.n()
	if t.one.Arr == nil {
		if t.one, err = t.S.Identity(n); err != nil {
			return num.Mat{}, err
		}
	}
	if e, err = t.S.Room(num.Precision(uint(max(bits, 24))), n, n); err != nil {
		return num.Mat{}, err
	}
	return e, t.S.GemmWithin(-1, t.X, t.F, 1, t.one, e, b)
}

// steps returns how many steps of Newton's method lead from a gain to bits.
func steps(gain, bits int) (count int) {
	for ; bits > gain; count++ {
		bits = (bits + 3) / 2
	}
	return count
}

// step makes rho about 2^-next by E', for the next ≤ 2 gain - 2 from which further such steps, as
// few as possible, lead to bits.
func (t *Iteration) step(e num.Mat, h *big.Float, bits int) error {
	g := t.Gain()
	next := bits // bits of the last step, of the one before, ...
	for next > 2*g-2 {
		next = (next + 3) / 2
	}
	n := t.n()
	// X' has errors of 2^-prec, and so has E' X: d is below (2^-prec + 2^-prec + 2^-prec) (|X| +
	// |E'| |X|).
	prec := max(next+t.Amp.MantExp(nil)+4, 64)
	unit, cut := t.unit(next)
	if unit != nil && t.S.At.UsesBounds() { // multiples of the unit have these bits
		prec = max(prec, int(slices.Max(t.xRows.Top)-*unit)+1)
	}
	d, err := t.S.Room(num.Precision(uint(max(prec-g+1, 24))), n, n)
	if err != nil {
		return err
	}
	b, lost := t.stepBound(next, h)
	if err := t.S.GemmWithin(1, e, t.X, 0, num.Mat{}, d, b); err != nil {
		return err
	}
	x, err := t.S.Room(num.Precision(uint(prec)), n, n)
	if err != nil {
		return err
	}
	if err := t.S.SumTo(t.X, d, x, unit, 0); err != nil {
		return err
	}
	t.S.Drop(e, d, t.X)
	if t.X = x; unit != nil && t.S.At.UsesBounds() {
		t.xRows.Width, t.xCols.Width = slices.Max(t.xRows.Top)-*unit, slices.Max(t.xCols.Top)-*unit
	}
	t.S.Stats.Precision = prec
	// rho' = h + (rho + h) rho + 3 2^-prec amp (1 + rho + h), at most (1/4 + 1/4 + 1/4) 2^-next,
	// plus the errors of the product, their rounding, and the truncation of X', all times |F|.
	lost.Add(bound.Upper().Add(lost, lost), cut)
	near := bound.Upper().Add(t.Rho, h)
	rho := bound.Upper().Add(bound.Upper().Add(h, lost), bound.Upper().Mul(near, t.Rho))
	t.Amp = bound.Upper().Mul(t.Amp, bound.Upper().Add(bound.Upper().Add(near, bound.Exp2(2-prec)), big.NewFloat(1)))
	t.Amp = bound.Upper().Add(t.Amp, lost)
	t.Rho = bound.Upper().Add(rho, bound.Upper().Mul(t.Amp, bound.Exp2(2-prec)))
	return nil
}

// unit returns the exponent of a unit of which entries of X' need only be multiples, if products
// make use of it, else nil. It also returns an upper bound of ‖|δ| |F|‖ for the truncation δ, where
// |δ_ij| is below 2^unit, the rounding of X' aside: 2^unit Σ_j 2^row_j, at most 2^-(next+3).
// Without the unit, numbers of X and X' in floating point are multiples of far smaller units, and
// products would take more moduli than they need.
func (t *Iteration) unit(next int) (unit *int64, lost *big.Float) {
	if t.S.At.UsesBounds() && (t.S.Tally == nil || t.xRows == nil || t.xCols == nil) {
		return nil, bound.Upper()
	}
	e := int64(-(next + 4) - call.SumUp(nil, t.Row).MantExp(nil))
	return &e, bound.Exp2(-(next + 3))
}

// stepBound returns a bound of E' X, for ‖E' - E‖ ≤ h, within which its numbers need not be rounded
// correctly; nil if nothing is known. It also returns an upper bound of ‖|δ| |F|‖ for the errors δ
// of E' X without its rounding. With |δ_ij| ≤ 2^(e_i + c_j - within) this bound is the largest
// 2^(e_i - within) times Σ_j 2^(c_j + row_j), at most 2^-(next+3).
func (t *Iteration) stepBound(next int, h *big.Float) (b *residue.Bound, lost *big.Float) {
	sums, tops, both := t.eSums, make([]int64, t.n()), make([]int64, t.n())
	switch {
	case !t.S.At.UsesBounds(): // ‖E'‖ ≤ rho + h, and columns of X are below 2^(col + 1)
		sums = make([]int64, t.n())
		for i := range sums {
			sums[i], tops[i] = int64(bound.Upper().Add(t.Rho, h).MantExp(nil)), t.Col[i]+1
		}
	case t.S.Tally == nil || t.eRows == nil || t.xCols == nil:
		return nil, bound.Upper()
	default:
		copy(tops, t.xCols.Top)
	}
	for j, top := range tops {
		both[j] = top + t.Row[j]
	}
	least := int(slices.Max(sums)) + call.SumUp(nil, both).MantExp(nil)
	b = &residue.Bound{Rows: sums, Cols: tops, Within: int64(max(least+next+3, 1))}
	return t.S.Known(b, t.eRows, t.xCols), bound.Exp2(least - int(b.Within))
}
