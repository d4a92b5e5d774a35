package blocks

import (
	"math"
	"math/big"
	mathbits "math/bits"
	"slices"

	"github.com/halfulp/halfulp/internal/dgemm"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/fixed"
	"github.com/halfulp/halfulp/internal/proof/newton"
	"github.com/halfulp/halfulp/internal/proof/scale"
	"github.com/halfulp/halfulp/internal/proof/seed"
)

// Elimination is an approximate inverse of an ill-conditioned F by block elimination in numbers of
// a fixed precision. Its cubic work is about one product of matrices of that precision.
//
// At each block S, at first S = F, float64 factors of the scaled and equilibrated S choose the
// pivots: as many as float64 arithmetic tells from noise. With their rows in front,
//
//	P S = [B S12; S21 S22],  X ≈ B^-1 S12,  S' ≈ S22 - S21 X.
//
// Newton's method gives V ≈ B^-1 with a proof of ‖I - V B‖∞ ≤ ε. X and S' are exact products with V
// and X, rounded once. The remainder S' is smaller than S by the factor that the pivots resolved,
// and is rounded to correspondingly fewer bits. A float64 inverse of the last block is proved to be
// good.
//
// In the proof, G is the matrix for which the elimination is exact:
//
//	P G = [B 0; S21 I] [I X; 0 G'],  G = S in the last block,
//	P (S - G) = [0 S12 - B X; 0 (S22 - S21 X - S') + (S' - G')],
//
// With e = (1, ..., 1) and h ≥ |G^-1| e, ‖(F - G) G^-1‖∞ ≤ max |F - G| h = rho. Where rho < 1,
// F^-1 = G^-1 (I + (F - G) G^-1)^-1, so that
//
//	|F^-1 r| ≤ h ‖r‖∞ / (1 - rho).
//
// Nothing is claimed of the computed G^-1 r.
type Elimination struct {
	s     *call.Run
	by    scale.Scaling // of F
	First *block
	H     []float64 // bounds of |F^-1| e
	Rho   float64
	// defect is the same bound as Rho. Rho cannot be less than the least float64 number.
	defect *big.Float
}

// block is one block of the elimination.
type block struct {
	s     *call.Run
	by    scale.Scaling // of S
	order []int         // row order[i] of S is row i of P S; nil in the last block
	good  int           // about how many bits of S are right

	inverse num.Mat           // V
	newton  *newton.Iteration // source of V
	rho     *big.Float        // ε
	pivots  num.Mat           // B
	left    num.Mat           // S21
	right   num.Mat           // X
	under   num.Mat           // S21 V in 53 bits
	unit    *big.Float        // |X - V S12| ≤ unit |X|
	top     int64             // |S| ≤ 2^top
	lost    *big.Float        // |S' - (S22 - S21 X)| ≤ lost
	Rest    *block

	last *seed.Approximate // inverse of the last block
	seed []float64         // the same inverse in float64, by columns
	all  num.Mat           // S

	fixed [4]*shiftedFixed // V, S21, X and S
}

// shiftedFixed is 2^exp F.
type shiftedFixed struct {
	*fixed.Matrix
	exp int64
}

const (
	// Spare is the number of bits beyond log2 of the condition number: for the proof and G^-1 r. At
	// n = 1000 the proof takes some 40; a step of refinement gains the others.
	Spare = 130
	// SlowRho is the rho from which an elimination in digits is repeated, with the bits that the
	// norm of its inverse calls for. With rho just below SlowRho a step of refinement gains 17
	// bits, not 50.
	SlowRho = 0x1p-20
	// PivotRange is the least ratio of a block's pivots to its largest entry.
	PivotRange = 0x1p-36
)

// Eliminate eliminates A, scaled as by f, in numbers of the given bits. most bounds the pivots of a
// block. If these bits do not suffice, it returns a guess of how many more will.
func Eliminate(s *call.Run, a num.Mat, f *seed.Factors, bits, most int) (z *Elimination, more int, err error) {
	n := f.N
	if err := s.Budget.Reserve(eliminationBytes(n, bits)); err != nil {
		return nil, 0, err
	}
	near, exact := seed.Narrow(a, uint(bits))
	m := call.Scaled(near, f.Scaling, math.MaxInt32)
	if m.Arr == nil {
		return nil, 0, call.ErrRange
	}
	z = &Elimination{s: s, by: f.Scaling}
	if z.First, more, err = eliminateBlocks(s, m, bits, f, most); err != nil {
		return nil, more, err
	}
	h, err := z.bound()
	if err != nil {
		return nil, 0, err
	}
	defect := z.First.defect(h)
	if !exact { // |f| ≤ 2^top, and rounding loses 2^-bits of it
		lost := bound.Upper().Mul(sumOf(h), bound.Exp2(int(z.First.top)-bits+1))
		for i, d := range defect {
			defect[i] = bound.Upper().Add(d, lost)
		}
	}
	z.defect = bound.Largest(defect)
	if z.Rho, _ = z.defect.Float64(); !(z.Rho <= seed.MostRho) {
		return nil, z.defect.MantExp(nil) + 16, seed.ErrProof
	}
	z.Rho += 0x1p-1000
	z.H = make([]float64, n)
	for i, v := range h {
		x, _ := v.Float64()
		z.H[i] = float64(x * (1 + 0x1p-50) / (1 - z.Rho) * (1 + 0x1p-50))
		if z.H[i] = z.H[i] + 0x1p-1000; !(z.H[i] < 0x1p900) {
			return nil, 0, call.ErrRange
		}
	}
	return z, 0, nil
}

// eliminateBlocks is newBlock for all of F. If its bits do not suffice, it guesses how many more
// will.
func eliminateBlocks(s *call.Run, m num.Mat, bits int, f *seed.Factors, most int) (t *block, more int, err error) {
	n := f.N
	t, done, err := newBlock(s, m, bits, f, most)
	if err != nil {
		// As many bits for each remaining pivot; twice the bits if few pivots remain.
		if more = bits; done < n-n/4 {
			more = min(more, bits*(n-done)/max(done, 1)+seed.LeastGood/2)
		}
	}
	return t, more, err
}

// lastGood returns how many bits of the last block are right.
func (t *block) lastGood() int {
	for t.Rest != nil {
		t = t.Rest
	}
	return t.good
}

// newBlock eliminates m, whose first good bits are right, and overwrites it. f holds factors of m
// as it is; without f, newBlock scales m first. most bounds the pivots of a block.
func newBlock(s *call.Run, m num.Mat, good int, f *seed.Factors, most int) (t *block, done int, err error) {
	n := m.Rows
	t = &block{s: s, by: scale.Unscaled(n, n), good: good}
	first := f != nil
	if !first {
		t.by = scale.Of(m)
		if !seed.Rescale(m, t.by) {
			return nil, 0, call.ErrRange
		}
		if f, err = seed.NewFactors(s, m, scale.Unscaled(n, n)); err != nil {
			return nil, 0, err
		}
		s.Stats.Rounds++
		s.Did(call.FactorCost(n))
	}
	t.top = LargestTop(m)
	r := f.PivotsAbove(PivotRange)
	if !first && r == n {
		if t.last, err = seed.FirstWithin(s, m, f, seed.MostRho); err != nil {
			return nil, 0, err
		}
		if t.last.Rho == nil {
			t.last = nil
		} else {
			t.all, t.seed = m, make([]float64, n*n)
			for i := range t.seed {
				t.seed[i] = t.last.R.Float64(i%n, i/n)
			}
			return t, n, nil
		}
	}
	if r = min(r, most, n-1); r == 0 {
		return nil, 0, seed.ErrNoise
	}
	t.order, _ = f.Order()
	m = permuted(m, t.order)
	var v *newton.Iteration
	for ; ; r = r * 3 / 4 {
		if r == 0 {
			return nil, 0, seed.ErrNoise
		}
		if v, err = newtonOf(s, m.Slice(0, r, 0, r)); err != nil {
			return nil, 0, err
		}
		if v != nil {
			break
		}
	}
	if err := v.Refine(good + 8); err != nil {
		return nil, 0, err
	}
	t.pivots = m.Slice(0, r, 0, r)
	t.inverse, t.newton, t.rho, t.left = v.X, v, v.Rho, m.Slice(r, n, 0, r)
	t.right = num.NewMat(num.Precision(uint(good+8)), r, n-r)
	t.unit = bound.Exp2(-good - 8)
	if err := s.Gemm(1, t.inverse, m.Slice(0, r, r, n), 0, num.Mat{}, t.right); err != nil {
		return nil, 0, err
	}
	t.under = num.NewMat(num.Precision(scale.SeedBits), n-r, r)
	if err := s.Gemm(1, t.left, t.inverse, 0, num.Mat{}, t.under); err != nil {
		return nil, 0, err
	}
	// Row r of U is approximately a row of S'.
	row := 0.0
	for j := r; j < n; j++ {
		row = max(row, math.Abs(f.LU[r+j*n]))
	}
	smaller := min(max(-int(seed.Log2(row+0x1p-60))-4, 0), good-seed.LeastGood)
	places := good - smaller + 4
	next := num.NewMat(num.Precision(uint(places)), n-r, n-r)
	// The product is rounded by itself: a product that cancels against its addend takes more than
	// planned.
	minus := num.NewMat(num.Precision(uint(good+4)), n-r, n-r)
	if err := s.Gemm(-1, t.left, t.right, 0, num.Mat{}, minus); err != nil {
		return nil, 0, err
	}
	if err := s.Sum(m.Slice(r, n, r, n), minus, next); err != nil {
		return nil, 0, err
	}
	top := LargestTop(next)
	left := good + int(min(top-t.top, 0))
	if top == scale.None || left < seed.LeastGood {
		return nil, r, seed.ErrNoise
	}
	// The rounding of the product, the truncation of the sum and the rounding of the sum.
	both := max(t.top, LargestTop(minus))
	t.lost = bound.Upper().Add(bound.Exp2(int(both)-good-3), bound.Exp2(int(both)-places-28))
	t.lost.Add(t.lost, bound.Exp2(int(top)-places+1))
	t.Rest, done, err = newBlock(s, next, min(left, places), nil, most)
	return t, r + done, err
}

// newtonOf returns Newton's method for B from a float64 inverse; nil if that is not proved to be
// good.
func newtonOf(s *call.Run, b num.Mat) (*newton.Iteration, error) {
	n := b.Rows
	defer s.Did(call.FactorCost(n))
	f, err := seed.NewFactors(s, b, scale.Unscaled(n, n))
	if err != nil {
		return nil, err
	}
	p, err := seed.FirstWithin(s, b, f, 0x1p-6) // steps from 2^-2 on gain nothing
	if err != nil || p.Rho == nil {
		return nil, err
	}
	return newton.New(s, b, p, math.MaxInt32), nil
}

// permuted returns a copy of a matrix in MP with row order[i] of m as row i.
func permuted(m num.Mat, order []int) num.Mat {
	z := num.NewMat(m.Format(), m.Rows, m.Cols)
	from, to := m, z
	for j := range to.Cols {
		for i, k := range order {
			x, y, l := from.At(k, j), to.At(i, j), to.Arr.Limbs()
			copy(to.Arr.Sig[y*l:(y+1)*l], from.Arr.Sig[x*l:(x+1)*l])
			to.Arr.Exp[y], to.Arr.Cls[y] = from.Arr.Exp[x], from.Arr.Cls[x]
		}
	}
	return z
}

// LargestTop returns the exponent of the largest entry of a matrix in MP, scale.None for zeros.
func LargestTop(m num.Mat) int64 {
	most := int64(scale.None)
	for j := range m.Cols {
		for i := range m.Rows {
			most = max(most, scale.Exponent(m.Arr, m.At(i, j)))
		}
	}
	return most
}

// sumOf returns an upper bound of the sum of nonnegative numbers.
func sumOf(x []*big.Float) *big.Float {
	z := bound.Upper()
	for _, v := range x {
		z.Add(z, v)
	}
	return z
}

// bound returns bounds h of |G^-1| e.
//
// With all rows in the order of the pivots, G = L D U. L and U are triangular with ones on their
// diagonals, and D is block diagonal; the blocks of L, D and U are S21 B^-1, B and X up to powers
// of two. L' and U' are L and U rounded. For inverses Z and Y of L' and U', as for triangles,
//
//	|L Z - I| ≤ (|L - L'| + γ |L'|) |Z| = E,  |L^-1| e ≤ |Z| e / (1 - ‖E‖∞),
//
// and the same for U, with |U^-1| v ≤ |Y| (v + ‖E‖∞ / (1 - ‖E‖∞) max v e).
func (z *Elimination) bound() ([]*big.Float, error) {
	s, n := z.s, len(z.by.Rows)
	defer s.Temporary()()
	l, u, li, ui := s.Floats(n*n), s.Floats(n*n), s.Floats(n*n), s.Floats(n*n)
	for _, x := range [][]float64{l, u, li, ui} {
		clear(x)
	}
	rows, cols, labels := make([]int64, n), make([]int64, n), make([]int, n)
	for i := range n {
		labels[i], u[i+i*n] = i, 1
	}
	// Block k: S = diag(2^rows) F diag(2^cols), with rows labels.
	type part struct {
		*block
		at         int
		rows, cols []int64
		labels     []int
	}
	var parts []part
	position := make([]int, n)
	for t, at := z.First, 0; ; t = t.Rest {
		p := part{t, at, make([]int64, n-at), make([]int64, n-at), make([]int, n-at)}
		for i := range p.rows {
			k := i
			if t.order != nil {
				k = t.order[i]
			}
			p.rows[i], p.labels[i] = rows[k]+t.by.Rows[k], labels[k]
			p.cols[i] = cols[i] + t.by.Cols[i]
			position[p.labels[i]] = at + i
		}
		parts = append(parts, p)
		if t.last != nil {
			break
		}
		r := t.inverse.Rows
		rows, cols, labels, at = p.rows[r:], p.cols[r:], p.labels[r:], at+r
	}
	for _, p := range parts[:len(parts)-1] {
		r := p.inverse.Rows
		w, x := p.under, p.right
		for j := range r {
			for i := range w.Rows {
				f, e := w.Arr.Leading(w.At(i, j))
				l[position[p.labels[r+i]]+(p.at+j)*n] = scale.Ldexp(f, e-p.rows[r+i]+p.rows[j])
			}
		}
		for j := range x.Cols {
			for i := range r {
				f, e := x.Arr.Leading(x.At(i, j))
				u[p.at+i+(p.at+r+j)*n] = scale.Ldexp(f, e+p.cols[i]-p.cols[r+j])
			}
		}
	}
	if err := dgemm.InvertLower(s.Ctx, s.Threads, n, l, li); err != nil {
		return nil, err
	}
	if err := dgemm.InvertUpper(s.Ctx, s.Threads, n, u, n, ui); err != nil {
		return nil, err
	}
	if !(max(call.LargestOf(l), call.LargestOf(u), call.LargestOf(li), call.LargestOf(ui)) < 0x1p100) {
		return nil, call.ErrRange
	}
	ones := make([]float64, n)
	for i := range ones {
		ones[i] = 1
	}
	// Leading is right to 2^-48, Ldexp loses bits below 2^-1000, products in 53 bits are right to
	// 2^-53.
	gamma := float64(float64(n+16)*0x1p-53) + 0x1p-47
	v := seed.AbsLower(s.Threads, n, li, ones)
	lost := seed.AbsLower(s.Threads, n, l, v) // |L'| |Z| e
	for i := range lost {
		lost[i] = float64(gamma*lost[i]*1.001) + float64(float64(n)*0x1p-700)
	}
	least := call.LargestOf(lost) // at any number of bits
	// S21 B^-1 - S21 V = S21 (I - V B) B^-1. No entry of (I - V B) B^-1 exceeds 2 ε times the
	// largest entry of V, and no row sum of S21 exceeds r 2^top.
	for _, p := range parts[:len(parts)-1] {
		r := p.inverse.Rows
		size := bound.Upper().Mul(bound.Exp2(int(p.top+LargestTop(p.inverse))), bound.Upper().SetInt64(int64(2*r)))
		size.Mul(size, p.rho)
		sum := bound.Upper()
		for j := range r {
			sum.Add(sum, bound.ScaledUp(bound.Upper().SetFloat64(v[p.at+j]), p.rows[j]))
		}
		size.Mul(size, sum)
		for i, label := range p.labels[r:] {
			f, _ := bound.ScaledUp(size, -p.rows[r+i]).Float64()
			lost[position[label]] += float64(f*(1+0x1p-50)) + 0x1p-1000
		}
	}
	e := float64(call.LargestOf(lost) * (1 + 0x1p-30))
	switch {
	case e < seed.MostRho:
	case least < seed.MostRho:
		return nil, seed.ErrNoise
	default:
		return nil, call.ErrRange
	}
	middle := make([]*big.Float, n)
	for _, p := range parts {
		r := len(p.rows)
		if p.last == nil {
			r = p.inverse.Rows
		}
		part := make([]*big.Float, r)
		for i := range part {
			part[i] = bound.ScaledUp(bound.Upper().SetFloat64(float64(v[p.at+i]/(1-e)*(1+0x1p-50))), p.rows[i])
		}
		var error *big.Float
		if p.last != nil {
			// S^-1 = (I - E)^-1 R with ‖E‖∞ ≤ rho ≤ 1/2
			part = p.last.Abs.Apply(part)
			error = bound.Upper().Mul(p.last.Rho, bound.Upper().SetInt64(2))
		} else {
			// No entry of a column of B^-1 exceeds 1/(1 - ε) ≤ 2 times the largest entry of V.
			part = bound.RawBounds(p.inverse).Apply(part)
			error = bound.Upper().Mul(p.rho, bound.Upper().SetInt64(int64(2*r)))
		}
		error.Mul(error, bound.Largest(part))
		for i, x := range part {
			middle[p.at+i] = bound.ScaledUp(bound.Upper().Add(x, error), p.cols[i])
		}
	}
	top := bound.Largest(middle).MantExp(nil)
	lost = seed.AbsUpper(s.Threads, n, u, seed.AbsUpper(s.Threads, n, ui, ones))
	e = float64(gamma*call.LargestOf(lost)*1.001) + float64(float64(n)*0x1p-700)
	if !(e < seed.MostRho) {
		return nil, call.ErrRange
	}
	for i, x := range middle {
		f, _ := bound.ScaledUp(x, int64(-top)).Float64()
		v[i] = float64(f*(1+0x1p-50)) + float64(e/(1-e)*(1+0x1p-50)) + 0x1p-1000
	}
	h := make([]*big.Float, n)
	for i, f := range seed.AbsUpper(s.Threads, n, ui, v) {
		h[i] = bound.ScaledUp(bound.Upper().SetFloat64(f), int64(top))
	}
	return h, nil
}

// defect returns bounds of |S - G| h for h ≥ 0.
//
// With V B = I - E, ‖E‖∞ ≤ ε ≤ 1/2, and X = V S12 + D, |D| ≤ 2^-bits |X|:
//
//	B^-1 S12 = (I - E)^-1 (X - D),  B V = I - B E B^-1,  S12 - B X = B E B^-1 S12 - B D,
//
// so that |S12 - B X| h ≤ |B| e (2 ε (1 + 2^-bits) + 2^-bits) max |X| h.
func (t *block) defect(h []*big.Float) []*big.Float {
	d := make([]*big.Float, len(h))
	if t.last != nil {
		for i := range d {
			d[i] = bound.Upper()
		}
		return d
	}
	r := t.inverse.Rows
	below := make([]*big.Float, len(h)-r)
	for i := range below {
		below[i] = bound.ScaledUp(h[r+i], -t.by.Cols[r+i])
	}
	most := bound.Largest(bound.RawBounds(t.right).Apply(below))
	most.Mul(most, bound.Upper().Add(bound.Upper().Mul(t.rho, big.NewFloat(3)), t.unit))
	most.Mul(most, bound.Upper().Mul(bound.Exp2(int(t.top)), bound.Upper().SetInt64(int64(r))))
	lost := bound.Upper().Mul(sumOf(below), t.lost)
	rest := t.Rest.defect(below)
	for i, k := range t.order {
		v := most
		if i >= r {
			v = bound.Upper().Add(rest[i-r], lost)
		}
		d[k] = bound.ScaledUp(v, -t.by.Rows[k])
	}
	return d
}

// Scales implements seed.Inverse: the powers of two that A's rows and columns are multiplied by.
func (z *Elimination) Scales() scale.Scaling { return z.by }

// MoreBits implements seed.Inverse.
func (z *Elimination) MoreBits() int {
	_, e := math.Frexp(call.LargestOf(z.H))
	return 2 * e
}

// Leading implements seed.Inverse.
func (z *Elimination) Leading() bool { return false }

// Words implements seed.Inverse.
func (z *Elimination) Words() float64 { return call.SquareWords(z.First.good) }

// Matrix implements seed.Inverse.
func (z *Elimination) Matrix() *fixed.Matrix { return nil }

// Correct implements seed.Inverse: it returns an approximate G^-1 r.
func (z *Elimination) Correct(r *seed.Residual) ([][]float64, error) {
	n := len(r.Lead)
	bits := uint(z.First.good + 16)
	v := num.NewMat(num.Precision(bits), n, 1)
	to := v
	if r.X == nil {
		for i, x := range r.Lead {
			v.SetFloat64(i, 0, x)
		}
	} else {
		x := make([]uint64, len(r.X[0]))
		for i := range n {
			copy(x, r.X[i])
			neg := int64(x[len(x)-1]) < 0
			if neg {
				num.Negate(x)
			}
			if fixed.BitLen(x) > 0 {
				to.Arr.Set(to.At(i, 0), num.Real{Class: num.Finite, Neg: neg, Mag: x, Exp: int64(r.Unit - r.Exp)})
			}
		}
	}
	y, err := z.First.solve(v)
	if err != nil {
		return nil, err
	}
	// The last block loses some 20 of its bits.
	pieces := make([][]float64, 1+max(z.First.lastGood()-20, 0)/scale.SeedBits)
	if r.X == nil {
		pieces = pieces[:1]
	}
	for p := range pieces {
		pieces[p] = make([]float64, n)
	}
	// Piece p is a multiple of 2^(top - 53 (p+1)).
	top := LargestTop(y)
	if top == scale.None || max(top, -top) > 900 {
		return pieces, nil
	}
	for i := range n {
		x := y.Big(i, 0)
		for p := range pieces {
			unit := top - int64(scale.SeedBits*(p+1))
			f, _ := x.Float64()
			f = math.RoundToEven(math.Ldexp(f, -int(unit)))
			pieces[p][i] = math.Ldexp(f, int(unit))
			x.Sub(x, big.NewFloat(pieces[p][i]))
		}
	}
	return pieces, nil
}

// solve returns an approximate G^-1 v.
func (t *block) solve(v num.Mat) (num.Mat, error) {
	n := v.Rows
	f := num.Precision(uint(t.good + 16))
	w := num.NewMat(f, n, 1)
	from, to := v, w
	for i := range n {
		k := i
		if t.order != nil {
			k = t.order[i]
		}
		shift(to, i, from, k, t.by.Rows[k])
	}
	y := num.NewMat(f, n, 1)
	if t.last != nil {
		if err := t.refine(w, y); err != nil {
			return num.Mat{}, err
		}
	} else {
		r := t.inverse.Rows
		z, err := t.times(0, w.Slice(0, r, 0, 1), num.Mat{})
		if err != nil {
			return num.Mat{}, err
		}
		below, err := t.times(1, z, w.Slice(r, n, 0, 1))
		if err != nil {
			return num.Mat{}, err
		}
		u, err := t.Rest.solve(below)
		if err != nil {
			return num.Mat{}, err
		}
		if z, err = t.times(2, u, z); err != nil {
			return num.Mat{}, err
		}
		to := y
		for i := range n {
			from, k := z, i
			if i >= r {
				from, k = u, i-r
			}
			to.Arr.Convert(to.At(i, 0), from.Arr, from.At(k, 0))
		}
	}
	z := num.NewMat(f, n, 1)
	from, to = y, z
	for i := range n {
		shift(to, i, from, i, t.by.Cols[i])
	}
	return z, nil
}

// times returns M v, or w - M v where w is not empty. M is V, S21, X or S for which = 0 to 3.
func (t *block) times(which int, v, w num.Mat) (num.Mat, error) {
	m := []num.Mat{t.inverse, t.left, t.right, t.all}[which]
	n := m.Cols
	want := t.good + 4 + mathbits.Len(uint(n))/2
	if t.fixed[which] == nil {
		top := LargestTop(m)
		if top == scale.None {
			top = 0
		}
		by := scale.Unscaled(m.Rows, n)
		for i := range by.Rows {
			by.Rows[i] = -top
		}
		f, err := fixed.New(&t.s.Call, m, by, (want+int(max(top, 0))+63)/64)
		if err != nil {
			return num.Mat{}, err
		}
		t.fixed[which] = &shiftedFixed{f, top}
	}
	f := t.fixed[which]
	x := v
	z := num.NewMat(num.Precision(uint(t.good+16)), m.Rows, 1)
	to := z
	top := LargestTop(x)
	if top != scale.None {
		all := want + int(max(f.exp, 0))
		vectors := make([]*fixed.Vector, (all+fixed.PieceBits-1)/fixed.PieceBits)
		words := make([][]uint64, n)
		for i := range words {
			words[i] = make([]uint64, (all+63)/64+1)
			if at := x.At(i, 0); x.Arr.Class(at) == num.Finite {
				l := x.Arr.Limbs()
				fixed.Magnitude(words[i], x.Arr.Sig[at*l:(at+1)*l], int64(x.Arr.Exp[at])-top-int64(64*l)+int64(all))
				if x.Arr.Cls[at].Neg() {
					num.Negate(words[i])
				}
			}
		}
		c := make([]int64, n)
		for p := range vectors {
			for i := range c {
				c[i] = fixed.Piece(words[i], all, p)
			}
			if slices.ContainsFunc(c, func(c int64) bool { return c != 0 }) {
				vectors[p] = fixed.NewVector(c)
			}
		}
		sums, unit, err := f.Times(&t.s.Call, vectors, func(p int) int { return max(1, (all-fixed.PieceBits*p+63)/64) })
		if err != nil {
			return num.Mat{}, err
		}
		for i, sum := range sums {
			neg := int64(sum[len(sum)-1]) >= 0 // sums hold the negated product
			if !neg {
				num.Negate(sum)
			}
			if fixed.BitLen(sum) > 0 {
				to.Arr.Set(to.At(i, 0), num.Real{Class: num.Finite, Neg: neg, Mag: sum, Exp: f.exp + top - int64(unit)})
			}
		}
	}
	if w.Arr == nil {
		return z, nil
	}
	prec := uint(t.good + 16)
	for i := range m.Rows {
		d := new(big.Float).SetPrec(prec)
		z.SetBig(i, 0, d.Sub(w.Big(i, 0), z.Big(i, 0)))
	}
	return z, nil
}

// shift stores 2^by x_k in z_i.
func shift(z num.Mat, i int, x num.Mat, k int, by int64) {
	var buf [num.MaxValueWords]uint64
	v := x.Arr.Value(x.At(k, 0), buf[:])
	v.Exp += by
	z.Arr.Set(z.At(i, 0), v)
}

// refine stores S^-1 w in y: it refines the float64 inverse of the last block.
func (t *block) refine(w, y num.Mat) error {
	n := w.Rows
	for known := 0.0; known < float64(t.good); known += t.last.Gain {
		m := w
		top := LargestTop(m)
		if top == scale.None {
			return nil
		}
		v := make([]float64, n)
		for j := range n {
			x, e := m.Arr.Leading(m.At(j, 0))
			dgemm.Axpy(scale.Ldexp(x, e-top), t.seed[j*n:(j+1)*n], v)
		}
		c := num.NewMat(num.Precision(scale.SeedBits), n, 1)
		to := c
		for i, x := range v {
			c.SetFloat64(i, 0, x)
			shift(to, i, to, i, top)
			y.SetBig(i, 0, new(big.Float).SetPrec(uint(y.Format().Bits())).Add(y.Big(i, 0), c.Big(i, 0)))
		}
		var err error
		if w, err = t.times(3, c, w); err != nil {
			return err
		}
	}
	return nil
}

// Radius implements seed.Inverse.
func (z *Elimination) Radius(r *seed.Residual, _ []float64) []float64 { return seed.RadiusBy(z.H, r) }
