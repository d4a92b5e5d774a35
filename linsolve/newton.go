package linsolve

import (
	"math"
	"math/big"
	"math/bits"
	"slices"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/scale"
	"github.com/halfulp/halfulp/internal/raw"
	"github.com/halfulp/halfulp/internal/residue"
)

// guard returns how many bits, in units of the largest entry of a column of n, a result has beyond
// the last place of its format. An entry 2^-k times as large as that is undecided by chance with a
// probability of some 2^(k+5-guard): with the k of random matrices' inverses, one of their entries
// is in one matrix of twenty or more. Its column is then refined alone.
func guard(n int) int { return 14 + 2*bits.Len(uint(n)) }

// newton is an approximate inverse X of F = diag(2^scale) A diag(2^weights), with ‖I - X F‖∞ ≤ rho
// proved.
//
// A step is X' = X + E' X + d for E' = E + h about E = I - X F, so that
//
//	I - X' F = -h + E' E - d F,    F^-1 = X + E X + E² (I - E)^-1 X.
//
// E is known to be small before it is computed: so its product is bounded (residue.Bound), and takes
// moduli for as many bits as X' has, and not for those of X and F together.
type newton struct {
	s    *solver
	by   scale.Scaling // of F
	f    *halfulp.Matrix
	row  []int64 // Σ_j |f_ij| ≤ 2^row[i]
	sums []int64 // Σ_j |x_ij| ≤ 2^sums[i] for the first X at a place
	x    *halfulp.Matrix
	rho  *big.Float
	amp  *big.Float // ≥ ‖|X| |F|‖∞
	// column j of X is at most 2^(col[j]+1), whatever the steps; all X have norms of 2^(norm+1) at
	// most.
	col  []int64
	norm int
	// E' that the proof has left, an upper bound of its norm, and what it is in error by beside its
	// rounding; nil if a step has used it
	early                 *halfulp.Matrix
	earlyNorm, earlyError *big.Float

	// What is known of F, of all X that are still to come, of the last E', whose rows sum up to
	// 2^eSums[i] at most, and of right-hand sides; nil where nothing is.
	fRows, fCols, xRows, xCols, eRows, gCols *residue.Vectors
	eSums                                    []int64

	one *halfulp.Matrix // the unit matrix; nil until it is needed
}

// leastNewton is the least gain that steps raise: from a gain g ≥ 3 one leads to g + 1 at least.
const leastNewton = 3

// newNewton returns X = R for a matrix that p approximates the inverse of; nil if A has numbers of
// more than most bits, or if R is so far from the inverse that steps would gain nothing.
func (s *solver) newNewton(a *halfulp.Matrix, p *approximate, most int) *newton {
	by := scale.Scaling{Rows: p.scale, Cols: p.weights}
	t := &newton{s: s, by: by, rho: bound.Largest([]*big.Float{p.rho, bound.Exp2(-2 * scale.SeedBits)})}
	if t.gain() < leastNewton {
		return nil
	}
	if t.f = scaledFloats(a, by); t.f == nil {
		t.f = scaled(a, by, most)
	}
	if t.f == nil {
		return nil
	}
	if t.x = scaled(p.r, scale.Scaling{Rows: bound.Negated(p.weights), Cols: bound.Negated(p.scale)}, math.MaxInt32); t.x == nil {
		return nil
	}
	sums := bound.BoundsOf(raw.Matrix(t.f), make([]int64, t.n()), make([]int64, t.n())).Sums()
	for _, v := range sums {
		t.row = append(t.row, int64(v.MantExp(nil)))
	}
	t.amp = p.abs.Times(sums)
	t.col = p.abs.Columns()
	t.norm = p.abs.Norm().MantExp(nil)
	return t
}

func (t *newton) n() int { return t.f.Rows() }

// scaled returns diag(2^rows) A diag(2^cols) exactly; nil for numbers of more than most bits, or of
// exponents that MP may not have.
func scaled(a *halfulp.Matrix, by scale.Scaling, most int) *halfulp.Matrix {
	return arranged(a, by, nil, most, halfulp.NewMatrix)
}

// scaledFloats is scaled for float64 numbers that remain such, whose products take less; nil for
// others.
func scaledFloats(a *halfulp.Matrix, by scale.Scaling) *halfulp.Matrix {
	m := raw.Matrix(a)
	if m.Arr.Kind != num.F64 {
		return nil
	}
	z := halfulp.NewMatrix(halfulp.Float64, m.Rows, m.Cols)
	to := raw.Matrix(z)
	const far = 400
	for j := range m.Cols {
		for i := range m.Rows {
			x, shift := m.Arr.F64[0][m.At(i, j)], by.Rows[i]+by.Cols[j]
			if size := math.Abs(x); x != 0 && (size < 0x1p-400 || size > 0x1p400 || shift < -far || shift > far) {
				return nil
			}
			to.Arr.F64[0][to.At(i, j)] = x * scale.Power(max(-far, min(shift, far)))
		}
	}
	return z
}

// scaledMatrix returns F of A exactly, as scaledFloats or scaled make it, and once.
func (s *solver) scaledMatrix(a *halfulp.Matrix, f *factors, most int) *halfulp.Matrix {
	if f.exact == nil {
		f.exact = scaledFloats(a, f.Scaling)
	}
	if f.exact == nil {
		f.exact = arranged(a, f.Scaling, nil, most, s.matrixHere)
	}
	if f.exact != nil && f.exact.Format().IsMP() && f.exact.Format().Bits() > most {
		return nil
	}
	return f.exact
}

// arranged is scaled with row order[i] as row i, if there is an order, in room for a matrix of
// zeros.
func arranged(a *halfulp.Matrix, by scale.Scaling, order []int, most int, room func(f halfulp.Format, rows, cols int) *halfulp.Matrix) *halfulp.Matrix {
	bits := a.Format().Bits()
	m := raw.Matrix(a)
	if m.Arr.Terms() > 1 || bits > most { // numbers may have fewer than their format
		bits = int(min(bound.Longest(a), math.MaxInt32))
	}
	if bits > most {
		return nil
	}
	z := room(halfulp.MP(uint(max(bits, halfulp.MinPrec))), m.Rows, m.Cols)
	to := raw.Matrix(z)
	same := m.Arr.Format == to.Arr.Format
	l := to.Arr.Limbs()
	var buf [num.MaxValueWords]uint64
	const far = 1 << 29
	for j := range m.Cols {
		if same && order == nil && m.RS == 1 { // the usual case: a third of the time
			from, at := m.At(0, j), to.At(0, j)
			copy(to.Arr.Sig[at*l:(at+m.Rows)*l], m.Arr.Sig[from*l:(from+m.Rows)*l])
			exp, cls := to.Arr.Exp[at:at+m.Rows], to.Arr.Cls[at:at+m.Rows]
			copy(cls, m.Arr.Cls[from:from+m.Rows])
			for i, e := range m.Arr.Exp[from : from+m.Rows] {
				if cls[i].Class() != num.Finite {
					clear(to.Arr.Sig[(at+i)*l : (at+i+1)*l])
					cls[i] = num.MakeCls(false, num.Zero)
					continue
				}
				shift := by.Rows[i] + by.Cols[j]
				if uint64(int64(e)+far) > 2*far || uint64(shift+far) > 2*far {
					return nil
				}
				exp[i] = e + int32(shift)
			}
			continue
		}
		for i := range m.Rows {
			k := i
			if order != nil {
				k = order[i]
			}
			from, at := m.At(k, j), to.At(i, j)
			shift := by.Rows[k] + by.Cols[j]
			if same {
				e := int64(m.Arr.Exp[from])
				switch {
				case m.Arr.Class(from) != num.Finite:
					continue
				case max(e, -e) > far || max(shift, -shift) > far:
					return nil
				}
				copy(to.Arr.Sig[at*l:at*l+l], m.Arr.Sig[from*l:from*l+l])
				to.Arr.Exp[at], to.Arr.Cls[at] = int32(e+shift), m.Arr.Cls[from]
				continue
			}
			if m.Arr.Kind == num.F64 && max(shift, -shift) <= far && bits >= 53 {
				setFloat(to.Arr, at, m.Arr.F64[0][from], shift)
				continue
			}
			x := m.Arr.Value(from, buf[:])
			if x.Class != num.Finite {
				continue
			}
			if e := x.Exp + int64(num.BitLen(x.Mag)); max(e, -e) > far || max(shift, -shift) > far {
				return nil
			}
			x.Exp += shift
			to.Arr.Set(at, x)
		}
	}
	return z
}

// gain returns some bits g with rho ≤ 2^-g.
func (t *newton) gain() int { return -t.rho.MantExp(nil) }

// refine raises the precision until ‖I - X F‖ ≤ 2^-bits.
func (t *newton) refine(bits int) error {
	for t.gain() < bits {
		e, h, err := t.errorMatrix(t.gain() + lateBits)
		if err != nil {
			return err
		}
		if t.gain() >= bits {
			return nil
		}
		if err := t.step(e, h, bits); err != nil {
			return err
		}
	}
	return nil
}

// lateBits are how many more bits than rho says E may turn out to be smaller by, and be of use.
const lateBits = 8

// errorMatrix returns E' with ‖E' - E‖ ≤ h, which is about 2^-bits rho, and lowers rho to what E'
// shows of it.
func (t *newton) errorMatrix(bits int) (e *halfulp.Matrix, h *big.Float, err error) {
	e, norm, lost := t.early, t.earlyNorm, t.earlyError
	if t.early = nil; e == nil || e.Format().Bits() < bits {
		t.s.drop(e)
		b := t.errorBound(int64(t.rho.MantExp(nil)), bits+lateBits)
		if e, err = t.difference(bits, b); err != nil {
			return nil, nil, err
		}
		if norm, err = t.look(e); err != nil {
			return nil, nil, err
		}
		lost = lostBy(b)
	}
	h = bound.Upper().Add(bound.Upper().SetMantExp(norm, -e.Format().Bits()), lost)
	least := bound.Exp2(-t.gain() - 2*bits) // so that a gain remains finite
	if norm.Add(norm, h).Cmp(least) < 0 {
		norm = least
	}
	if norm.Cmp(t.rho) < 0 {
		t.rho = norm
	}
	return e, h, nil
}

// look returns an upper bound of the norm of an E', and finds out what products want to know of it.
func (t *newton) look(e *halfulp.Matrix) (norm *big.Float, err error) {
	if t.s.at == nil {
		return rowNorm64(raw.Matrix(e)), nil
	}
	x, err := t.s.extents(e)
	if err != nil {
		return nil, err
	}
	t.eSums, norm = sums(x[0])
	t.eRows = vectorsOf(x[0])
	return norm, nil
}

// errorBound returns the bound 2^top of all entries of E, which may be in error by 2^(top - places)
// beside its rounding, in the norm.
func (t *newton) errorBound(top int64, places int) *residue.Bound {
	b := &residue.Bound{Rows: make([]int64, t.n()), Cols: make([]int64, t.n())}
	for i := range b.Rows {
		b.Rows[i] = top
	}
	b.Within = int64(places + bits.Len(uint(t.n())))
	return t.s.known(b, t.xRows, t.fCols)
}

// lostBy returns an upper bound of the norm of what a bound, if there is one, lets a square matrix
// be in error by.
func lostBy(b *residue.Bound) *big.Float {
	if b == nil || b.Within == 0 {
		return bound.Upper()
	}
	return bound.Exp2(int(b.Rows[0]-b.Within) + bits.Len(uint(len(b.Rows))))
}

// difference returns I - X F, which is proved to be within a bound, rounded to some bits.
func (t *newton) difference(bits int, b *residue.Bound) (e *halfulp.Matrix, err error) {
	t.s.stats.Steps++
	n := t.n()
	if t.one == nil {
		if t.one, err = t.s.identity(n); err != nil {
			return nil, err
		}
	}
	if e, err = t.s.room(halfulp.MP(uint(max(bits, 24))), n, n); err != nil {
		return nil, err
	}
	return e, t.s.gemmWithin(-1, t.x, t.f, 1, t.one, e, b)
}

// rowNorm64 returns an upper bound of the largest sum of magnitudes of a row of a matrix in MP.
func rowNorm64(m num.Mat) *big.Float {
	most := int64(math.MinInt32)
	for _, e := range columnTops(m, most) {
		most = max(most, e)
	}
	sums := make([]float64, m.Rows)
	l := m.Arr.Limbs()
	for j := range m.Cols {
		for i := range m.Rows {
			at := m.At(i, j)
			if m.Arr.Class(at) == num.Finite {
				sums[i] += scale.Ldexp(float64(m.Arr.Sig[at*l+l-1]>>12+1), int64(m.Arr.Exp[at])-most-52) + 0x1p-1000
			}
		}
	}
	// Each addition errs by 2^-53 relatively, and the sums of two likewise.
	norm := bound.Upper().SetFloat64(slices.Max(sums) * (1 + float64(float64(2*m.Cols+2)*0x1p-53)))
	return norm.SetMantExp(norm, int(most))
}

// steps returns how many steps of Newton's method lead from a gain to another one.
func steps(gain, bits int) (count int) {
	for ; bits > gain; count++ {
		bits = (bits + 3) / 2
	}
	return count
}

// step makes rho about 2^-next by E', for the next ≤ 2 gain - 2 from which a few such steps lead to
// bits.
func (t *newton) step(e *halfulp.Matrix, h *big.Float, bits int) error {
	g := t.gain()
	next := bits // of the last step, of the one before, ...
	for next > 2*g-2 {
		next = (next + 3) / 2
	}
	n := t.n()
	// X' has errors of 2^-prec, and those of E' X that much: d is below (2^-prec + 2^-prec +
	// 2^-prec) (|X| + |E'| |X|).
	prec := max(next+t.amp.MantExp(nil)+4, 64)
	unit, cut := t.unit(next)
	if unit != nil && t.s.at != nil { // all numbers above the unit have these bits
		prec = max(prec, int(slices.Max(t.xRows.Top)-*unit)+1)
	}
	d, err := t.s.room(halfulp.MP(uint(max(prec-g+1, 24))), n, n)
	if err != nil {
		return err
	}
	b, lost := t.stepBound(next, h)
	if err := t.s.gemmWithin(1, e, t.x, 0, nil, d, b); err != nil {
		return err
	}
	x, err := t.s.room(halfulp.MP(uint(prec)), n, n)
	if err != nil {
		return err
	}
	if err := t.s.sumTo(t.x, d, x, unit, 0); err != nil {
		return err
	}
	t.s.drop(e, d, t.x)
	if t.x = x; unit != nil && t.s.at != nil {
		t.xRows.Width, t.xCols.Width = slices.Max(t.xRows.Top)-*unit, slices.Max(t.xCols.Top)-*unit
	}
	t.s.stats.Precision = prec
	// rho' = h + (rho + h) rho + 3 2^-prec amp (1 + rho + h), at most (1/4 + 1/4 + 1/4) 2^-next,
	// and what the product's errors and their rounding, and what is cut off of X', come to with
	// |F|.
	lost.Add(bound.Upper().Add(lost, lost), cut)
	near := bound.Upper().Add(t.rho, h)
	rho := bound.Upper().Add(bound.Upper().Add(h, lost), bound.Upper().Mul(near, t.rho))
	t.amp = bound.Upper().Mul(t.amp, bound.Upper().Add(bound.Upper().Add(near, bound.Exp2(2-prec)), big.NewFloat(1)))
	t.amp = bound.Upper().Add(t.amp, lost)
	t.rho = bound.Upper().Add(rho, bound.Upper().Mul(t.amp, bound.Exp2(2-prec)))
	return nil
}

// unit returns the exponent of a unit that entries of X' need only be multiples of, if products
// make use of that, else nil, and an upper bound of ‖|δ| |F|‖ for what is cut off then, |δ_ij|
// below 2^unit but for the rounding of X': 2^unit Σ_j 2^row_j, at most 2^-(next+3). Numbers of X
// and X' in floating point of so many bits are multiples of units that are smaller by far, so that
// products would take more moduli than they need.
func (t *newton) unit(next int) (unit *int64, lost *big.Float) {
	if t.s.at != nil && (t.s.tally == nil || t.xRows == nil || t.xCols == nil) {
		return nil, bound.Upper()
	}
	e := int64(-(next + 4) - sumUp(nil, t.row).MantExp(nil))
	return &e, bound.Exp2(-(next + 3))
}

// stepBound returns what is known of E' X, ‖E' - E‖ ≤ h, of which the numbers need not be rounded
// correctly, nil for nothing, and an upper bound of ‖|δ| |F|‖ for what they are in error by beside
// their rounding: with |δ_ij| ≤
// 2^(e_i + c_j - within) that is the largest 2^(e_i - within) times Σ_j 2^(c_j + row_j), at most
// 2^-(next+3).
func (t *newton) stepBound(next int, h *big.Float) (b *residue.Bound, lost *big.Float) {
	sums, tops, both := t.eSums, make([]int64, t.n()), make([]int64, t.n())
	switch {
	case t.s.at == nil: // ‖E'‖ ≤ rho + h, and columns of X are below 2^(col + 1)
		sums = make([]int64, t.n())
		for i := range sums {
			sums[i], tops[i] = int64(bound.Upper().Add(t.rho, h).MantExp(nil)), t.col[i]+1
		}
	case t.s.tally == nil || t.eRows == nil || t.xCols == nil:
		return nil, bound.Upper()
	default:
		copy(tops, t.xCols.Top)
	}
	for j, top := range tops {
		both[j] = top + t.row[j]
	}
	least := int(slices.Max(sums)) + sumUp(nil, both).MantExp(nil)
	b = &residue.Bound{Rows: sums, Cols: tops, Within: int64(max(least+next+3, 1))}
	return t.s.known(b, t.eRows, t.xCols), bound.Exp2(least - int(b.Within))
}

// gemmWithin is gemm for a result that is proved to be within a bound.
func (s *solver) gemmWithin(alpha float64, a, b *halfulp.Matrix, beta float64, c, d *halfulp.Matrix, bound *residue.Bound) error {
	defer s.multiplying(a, b, d, 0)()
	st, err := raw.GemmWithin(alpha, a, b, beta, c, d, bound, &s.opt)
	return s.within(st.(halfulp.Stats), d, err)
}

// about says that a product on the host may be in error by 2^-(bits+4) of the largest number of row
// i of A and of column j of B multiplied, whatever cancels: that of an elimination in so many bits,
// of which nothing need be known.
func about(bits int) *residue.Bound { return &residue.Bound{Within: int64(bits + 4)} }

// cutBelow clears the lowest bits of x, whose last word is not 0, and returns it, nil if it is 0.
func cutBelow(x []uint64, low int64) []uint64 {
	if low <= 0 {
		return x
	}
	k := low >> 6
	if k >= int64(len(x)) {
		return nil
	}
	clear(x[:k])
	if x[k] &^= 1<<uint(low&63) - 1; x[k] == 0 && k == int64(len(x)-1) {
		return nil
	}
	return x
}

// words returns how many words hold bits bits below the first one, 32 of them to spare.
func words(bits int) int { return (bits + 32 + 63) / 64 }

// sumHere is sumTo on the host, for a z of zeros.
func (s *solver) sumHere(x, y, z *halfulp.Matrix, unit *int64) error {
	mx, my, mz := raw.Matrix(x), raw.Matrix(y), raw.Matrix(z)
	count := words(z.Format().Bits())
	adders := make([]*bound.Adder, s.Threads)
	return par.For(s.Ctx, s.Threads, mz.Cols, func(w, j int) {
		if adders[w] == nil {
			adders[w] = bound.NewAdder(count)
		}
		for i := range mz.Rows {
			neg, mag, exp := adders[w].Add(&mx, &my, i, j)
			if unit != nil {
				mag = cutBelow(mag, *unit-exp)
			}
			switch {
			case len(mag) == 0:
			case max(exp, -exp) < math.MaxInt32/2: // half of the time
				bound.StoreLeading(mz.Arr, mz.At(i, j), neg, mag, exp)
			default:
				mz.Arr.Set(mz.At(i, j), num.Real{Class: num.Finite, Neg: neg, Mag: mag, Exp: exp})
			}
		}
	})
}
