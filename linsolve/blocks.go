package linsolve

import (
	"errors"
	"math"
	"math/big"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/raw"
)

// blocks is an approximate inverse of an ill-conditioned F, by block elimination in some bits: the
// cubic work is about that of a product of half of them, whatever the condition.
//
// At each block S, F at first, float64 factors of S, scaled and equilibrated, choose the pivots: as
// many as float64 arithmetic tells from noise. With those rows in front,
//
//	P S = [B S12; S21 S22],  X ≈ B^-1 S12,  S' ≈ S22 - S21 X,
//
// where Newton's method gives V ≈ B^-1 with ‖I - V B‖∞ ≤ ε proved, and X and S' are exact products
// with V and X rounded once. What is left, S', is smaller than S by what the pivots resolved, and
// is rounded to so many bits less. The last block is one that triangles invert.
//
// As for the proof, G is the matrix of which the elimination is exact:
//
//	P G = [B 0; S21 I] [I X; 0 G'],  G = S in the last block,
//	P (S - G) = [0 S12 - B X; 0 (S22 - S21 X - S') + (S' - G')],
//	|G^-1| v ≤ (|B^-1| v1 + |X| y, y) with y = |G'^-1| (v2 + |S21 B^-1| v1), v = (v1, v2) ≥ 0.
//
// With e = (1, ..., 1) and h ≥ |G^-1| e, ‖(F - G) G^-1‖∞ ≤ max |F - G| h = rho, and
// F^-1 = G^-1 (I + (F - G) G^-1)^-1 where rho < 1, so that
//
//	|F^-1 r| ≤ h ‖r‖∞ / (1 - rho).
//
// G^-1 r is computed without any claim.
type blocks struct {
	s       *solver
	by      scaling // of F
	first   *block
	h       []float64 // bounds of |F^-1| e
	rho     float64
	bits    int // that G^-1 r has, about
	rounded *big.Float
}

// block is one of the elimination. Its vectors are those of the scaled S.
type block struct {
	s     *solver
	by    scaling // of S
	order []int   // row order[i] of S is row i of P S
	good  int     // bits of S that are right, about

	inverse *halfulp.Matrix // V
	rho     *big.Float      // ε
	left    *halfulp.Matrix // S21
	right   *halfulp.Matrix // X
	under   *halfulp.Matrix // S21 V in 53 bits
	unit    *big.Float      // |X - V S12| ≤ unit |X|
	lost    *big.Float      // |S' - (S22 - S21 X)| ≤ lost
	top     [2]int64        // |S| ≤ 2^top[0] before rounding, |S'| ≤ 2^top[1]
	rest    *block

	last *triangles      // of the last block
	all  *halfulp.Matrix // S
}

// errNoise says that what is left of a matrix is not known to any bits.
var errNoise = errors.New("more bits are needed")

const (
	// spareBits are those that G^-1 r has, and that the proof may take: about 2 log2 n a block.
	spareBits = 170
	// leastGood are the bits that a block must have.
	leastGood = 64
	// pivotRange is how much smaller than the largest entry pivots of a block may be.
	pivotRange = 0x1p-30
	// mostBlockBits bounds the numbers of an elimination.
	mostBlockBits = 1 << 14
)

// invertBlocks returns an inverse by block elimination, nil if none is proved. The factors are
// those of a.
func (s *solver) invertBlocks(a *halfulp.Matrix, f *factors) (*blocks, error) {
	bits := spareBits + f.conditionBits()
	for try := 0; bits <= mostBlockBits; try++ {
		b, done, err := s.blocksOf(a, f, bits)
		if err == nil {
			return b, nil
		}
		if !errors.Is(err, errNoise) {
			if errors.Is(err, ErrRange) {
				return nil, nil
			}
			return nil, err
		}
		if try == 0 {
			if err := s.regular(a); err != nil {
				return nil, err
			}
		}
		// As many bits again for each pivot, or twice as many.
		next := 2 * bits
		if done > 0 {
			next = min(next, int(float64(bits)*float64(f.n)/float64(done)*1.05)+leastGood)
		}
		bits = max(next, bits+bits/4)
	}
	return nil, nil
}

// conditionBits returns a guess of log2 of the condition number, by the pivots that are no noise.
func (f *factors) conditionBits() int {
	const range_ = 40
	for k := range f.n {
		if !(math.Abs(f.lu[k+k*f.n]) > math.Ldexp(1, -range_)) {
			return min(range_*f.n/(k+1)+8, mostBlockBits)
		}
	}
	return range_ + 8
}

// blocksOf is invertBlocks with numbers of some bits; errNoise, with the number of pivots found, if
// these do not do.
func (s *solver) blocksOf(a *halfulp.Matrix, f *factors, bits int) (z *blocks, done int, err error) {
	n := f.n
	near, exact := narrow(a, uint(bits))
	m := scaled(near, f.scaling, math.MaxInt32)
	if m == nil {
		return nil, 0, ErrRange
	}
	z = &blocks{s: s, by: f.scaling}
	if z.first, done, err = s.newBlock(m, bits, f, max(n/4, 32)); err != nil {
		return nil, done, err
	}
	ones := make([]*big.Float, n)
	for i := range ones {
		ones[i] = upper().SetInt64(1)
	}
	h := z.first.bound(ones)
	defect := z.first.defect(h)
	if !exact { // |f| ≤ 2^top, and 2^-bits of that is rounded off
		more := upper().Mul(sumOf(h), exp2(int(z.first.top[0])-bits+1))
		for i, d := range defect {
			defect[i] = upper().Add(d, more)
		}
	}
	if z.rho, _ = largest(defect).Float64(); !(z.rho <= mostRho) {
		return nil, n, errNoise
	}
	z.h = make([]float64, n)
	for i, v := range h {
		x, _ := v.Float64()
		z.h[i] = float64(x * (1 + 0x1p-50) / (1 - z.rho) * (1 + 0x1p-50))
		if z.h[i] = z.h[i] + 0x1p-1000; !(z.h[i] < 0x1p900) {
			return nil, n, ErrRange
		}
	}
	z.bits = z.first.lastGood() - pivotBits
	return z, n, nil
}

const pivotBits = 40

// lastGood returns the bits of the last block.
func (t *block) lastGood() int {
	for t.rest != nil {
		t = t.rest
	}
	return t.good
}

// newBlock eliminates m, of which good bits are right; with factors f of m as it is, or nil. Blocks
// have up to most pivots.
func (s *solver) newBlock(m *halfulp.Matrix, good int, f *factors, most int) (t *block, done int, err error) {
	n := m.Rows()
	t = &block{s: s, by: unscaled(n, n), good: good}
	first := f != nil
	if !first {
		t.by = scale(raw.Matrix(m))
		if m = scaled(m, t.by, math.MaxInt32); m == nil {
			return nil, 0, ErrRange
		}
		if f, err = s.factor(raw.Matrix(m), unscaled(n, n)); err != nil {
			return nil, 0, err
		}
		s.stats.Rounds++
	}
	t.top[0] = largestTop(raw.Matrix(m)); println("block", n, good, t.top[0])
	r, large := 0, n
	for k := range n {
		switch p := math.Abs(f.lu[k+k*n]); {
		case r == k && p > pivotRange:
			r++
		case !(p > 0x1p-44):
			large = min(large, k)
		}
	}
	if !first && large == n {
		if t.last, err = s.invertTriangles(f); err != nil {
			return nil, 0, err
		}
		if t.last != nil {
			t.all = m
			return t, n, nil
		}
	}
	if r = min(r, most, n-1); r == 0 {
		return nil, 0, errNoise
	}
	t.order, _ = f.order()
	m = permuted(m, t.order)
	var v *newton
	for ; ; r /= 2 {
		if r == 0 {
			return nil, 0, errNoise
		}
		if v, err = s.newtonOf(m.Slice(0, r, 0, r)); err != nil {
			return nil, 0, err
		}
		if v != nil {
			break
		}
	}
	if err := v.refine(good + 8); err != nil {
		return nil, 0, err
	}
println("r", r, good); 	t.inverse, t.rho, t.left = v.x, v.rho, m.Slice(r, n, 0, r)
	t.right = halfulp.NewMatrix(halfulp.MP(uint(good+8)), r, n-r)
	t.unit = exp2(-good - 8)
	if err := s.gemm(1, t.inverse, m.Slice(0, r, r, n), 0, nil, t.right); err != nil {
		return nil, 0, err
	}
	t.under = halfulp.NewMatrix(halfulp.MP(seedBits), n-r, r)
	if err := s.gemm(1, t.left, t.inverse, 0, nil, t.under); err != nil {
		return nil, 0, err
	}
	// Row r of U is one of S', about.
	row := 0.0
	for j := r; j < n; j++ {
		row = max(row, math.Abs(f.lu[r+j*n]))
	}
	smaller := min(max(-int(log2(row+0x1p-60))-4, 0), good-leastGood)
	places := good - smaller + 4
	next := halfulp.NewMatrix(halfulp.MP(uint(places)), n-r, n-r)
	// Its own rounding, since a product that is cancelled takes more than it is planned for.
	minus := halfulp.NewMatrix(halfulp.MP(uint(good+4)), n-r, n-r)
	if err := s.gemm(-1, t.left, t.right, 0, nil, minus); err != nil {
		return nil, 0, err
	}
	if err := s.sum(m.Slice(r, n, r, n), minus, next); err != nil {
		return nil, 0, err
	}
	t.top[1] = largestTop(raw.Matrix(next))
	most2 := max(t.top[0], largestTop(raw.Matrix(minus)))
	t.lost = upper().Add(exp2(int(most2)-good-4), exp2(int(most2)-places-28))
	t.lost.Add(t.lost, exp2(int(max(t.top[1], most2-1024))-places))
	left := good + int(min(t.top[1]-t.top[0], 0))
	if t.top[1] == none || left < leastGood {
		return nil, r, errNoise
	}
	t.rest, done, err = s.newBlock(next, min(left, places), nil, most)
	return t, r + done, err
}

// newtonOf returns X ≈ B^-1 of float64, nil if nothing is proved of it.
func (s *solver) newtonOf(b *halfulp.Matrix) (*newton, error) {
	n := b.Rows()
	f, err := s.factor(raw.Matrix(b), unscaled(n, n))
	if err != nil {
		return nil, err
	}
	p, err := s.first(raw.Matrix(b), f)
	if err != nil || p.rho == nil {
		return nil, err
	}
	return s.newNewton(b, p, math.MaxInt32), nil
}

// permuted returns a matrix in MP with row order[i] as row i.
func permuted(m *halfulp.Matrix, order []int) *halfulp.Matrix {
	z := halfulp.NewMatrix(m.Format(), m.Rows(), m.Cols())
	from, to := raw.Matrix(m), raw.Matrix(z)
	for j := range to.Cols {
		for i, k := range order {
			to.Arr.CopyFrom(to.At(i, j), from.Arr, from.At(k, j))
		}
	}
	return z
}

// largestTop returns the exponent of the largest entry of a matrix in MP, none for zeros.
func largestTop(m num.Mat) int64 {
	most := int64(none)
	for j := range m.Cols {
		for i := range m.Rows {
			most = max(most, exponent(m.Arr, m.At(i, j)))
		}
	}
	return most
}

// sumOf returns a bound of the sum of numbers that are not negative.
func sumOf(x []*big.Float) *big.Float {
	z := upper()
	for _, v := range x {
		z.Add(z, v)
	}
	return z
}

// rawBounds returns bounds of a matrix in MP.
func rawBounds(m *halfulp.Matrix) bounds {
	return boundsOf(raw.Matrix(m), make([]int64, m.Rows()), make([]int64, m.Cols()))
}

// enter returns P diag(2^rows) v.
func (t *block) enter(v []*big.Float) []*big.Float {
	z := make([]*big.Float, len(v))
	for i := range z {
		k := i
		if t.order != nil {
			k = t.order[i]
		}
		z[i] = scaledUp(v[k], t.by.rows[k])
	}
	return z
}

// bound returns bounds of |G^-1| v for v ≥ 0.
func (t *block) bound(v []*big.Float) []*big.Float {
	v = t.enter(v)
	var y []*big.Float
	if t.last != nil {
		y = t.last.bound(v)
	} else {
		// B^-1 = V + (I - V B) B^-1, where no entry of a column of B^-1 exceeds 1/(1 - ε) ≤ 2 times
		// the largest one of V, so that |(I - V B) B^-1| v1 ≤ 2 ε r max |V| v1.
		r := t.inverse.Rows()
		u := rawBounds(t.inverse).apply(v[:r])
		lost := upper().Mul(t.rho, upper().Mul(largest(u), upper().SetInt64(int64(2*r))))
		for i := range u {
			u[i] = upper().Add(u[i], lost)
		}
		// The same error times S21, whose rows have sums of up to r 2^top.
		lost.Mul(lost, upper().Mul(exp2(int(t.top[0])), upper().SetInt64(int64(r))))
		w := rawBounds(t.under).apply(v[:r])
		for i := range w {
			w[i] = upper().Add(upper().Add(upper().Mul(w[i], big.NewFloat(1+0x1p-50)), lost), v[r+i])
		}
		w = t.rest.bound(w)
		x := rawBounds(t.right).apply(w)
		for i := range u {
			u[i] = upper().Add(u[i], x[i])
		}
		y = append(u, w...)
	}
	for i, x := range y {
		y[i] = scaledUp(x, t.by.cols[i])
	}
	return y
}

// bound returns bounds of |F^-1| v, F^-1 = R (F R)^-1.
func (t *triangles) bound(v []*big.Float) []*big.Float {
	most := largest(v)
	e := most.MantExp(nil)
	x := make([]float64, t.n)
	for i, k := range t.perm {
		f, _ := scaledUp(v[k], int64(-e)).Float64()
		// ‖v‖∞ rho / (1 - rho) ≤ 2 rho
		x[i] = float64((f+2*t.rho)*(1+0x1p-40)) + 0x1p-1000
	}
	z := make([]*big.Float, t.n)
	for i, f := range absUpper(t.n, t.y, absLower(t.n, t.x, x)) {
		z[i] = scaledUp(upper().SetFloat64(f), int64(e))
	}
	return z
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
			d[i] = upper()
		}
		return d
	}
	r := t.inverse.Rows()
	below := make([]*big.Float, len(h)-r)
	for i := range below {
		below[i] = scaledUp(h[r+i], -t.by.cols[r+i])
	}
	most := largest(rawBounds(t.right).apply(below))
	most.Mul(most, upper().Add(upper().Mul(t.rho, big.NewFloat(3)), t.unit))
	most.Mul(most, upper().Mul(exp2(int(t.top[0])), upper().SetInt64(int64(r))))
	lost := upper().Mul(sumOf(below), t.lost)
	rest := t.rest.defect(below)
	for i, k := range t.order {
		v := most
		if i >= r {
			v = upper().Add(rest[i-r], lost)
		}
		d[k] = scaledUp(v, -t.by.rows[k])
	}
	return d
}

func (z *blocks) scales() scaling { return z.by }

func (z *blocks) size() int {
	_, e := math.Frexp(largestOf(z.h))
	return e
}

func (z *blocks) correct(r *residual) ([][]float64, error) {
	n := len(r.lead)
	bits := uint(z.first.good + 32)
	v := halfulp.NewMatrix(halfulp.MP(bits), n, 1)
	to := raw.Matrix(v)
	if r.x == nil {
		for i, x := range r.lead {
			v.SetFloat64(i, 0, x)
		}
	} else {
		x := make([]uint64, len(r.x[0]))
		for i := range n {
			copy(x, r.x[i])
			neg := int64(x[len(x)-1]) < 0
			if neg {
				num.Negate(x)
			}
			if bitLen(x) > 0 {
				to.Arr.Set(to.At(i, 0), num.Real{Class: num.Finite, Neg: neg, Mag: x, Exp: int64(r.unit - r.exp)})
			}
		}
	}
	y, err := z.first.solve(v)
	if err != nil {
		return nil, err
	}
	pieces := make([][]float64, 1+max(z.bits-pieceBits/2, 0)/seedBits)
	if r.x == nil {
		pieces = pieces[:1]
	}
	for p := range pieces {
		pieces[p] = make([]float64, n)
	}
	// Piece p is a multiple of 2^(top - 53 (p+1)).
	top := largestTop(raw.Matrix(y))
	if top == none || max(top, -top) > 900 {
		return pieces, nil
	}
	for i := range n {
		x := y.Big(i, 0)
		for p := range pieces {
			unit := top - int64(seedBits*(p+1))
			f, _ := x.Float64()
			f = math.RoundToEven(math.Ldexp(f, -int(unit)))
			pieces[p][i] = math.Ldexp(f, int(unit))
			x.Sub(x, big.NewFloat(pieces[p][i]))
		}
	}
	return pieces, nil
}

// solve returns G^-1 v, about.
func (t *block) solve(v *halfulp.Matrix) (*halfulp.Matrix, error) {
	n := v.Rows()
	f := halfulp.MP(uint(t.good + 32))
	w := halfulp.NewMatrix(f, n, 1)
	from, to := raw.Matrix(v), raw.Matrix(w)
	for i := range n {
		k := i
		if t.order != nil {
			k = t.order[i]
		}
		shift(to, i, from, k, t.by.rows[k])
	}
	y := halfulp.NewMatrix(f, n, 1)
	if t.last != nil {
		if err := t.refine(w, y); err != nil {
			return nil, err
		}
	} else {
		r := t.inverse.Rows()
		z := halfulp.NewMatrix(f, r, 1)
		if err := t.s.gemm(1, t.inverse, w.Slice(0, r, 0, 1), 0, nil, z); err != nil {
			return nil, err
		}
		below := w.Slice(r, n, 0, 1)
		if err := t.s.gemm(-1, t.left, z, 1, below, below); err != nil {
			return nil, err
		}
		u, err := t.rest.solve(below)
		if err != nil {
			return nil, err
		}
		if err := t.s.gemm(-1, t.right, u, 1, z, y.Slice(0, r, 0, 1)); err != nil {
			return nil, err
		}
		from, to := raw.Matrix(u), raw.Matrix(y)
		for i := range n - r {
			to.Arr.Convert(to.At(r+i, 0), from.Arr, from.At(i, 0))
		}
	}
	z := halfulp.NewMatrix(f, n, 1)
	from, to = raw.Matrix(y), raw.Matrix(z)
	for i := range n {
		shift(to, i, from, i, t.by.cols[i])
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

// refine stores S^-1 w in y by the triangles of the last block. It overwrites w.
func (t *block) refine(w, y *halfulp.Matrix) error {
	n := w.Rows()
	m := raw.Matrix(w)
	c := halfulp.NewMatrix(halfulp.Float64, n, 1)
	for known := 0; known < t.good; known += 40 {
		top := largestTop(m)
		if top == none {
			return nil
		}
		r := &residual{lead: make([]float64, n)}
		for i := range n {
			x, e := m.Arr.Leading(m.At(i, 0))
			r.lead[i] = ldexp(x, e-top)
		}
		v, err := t.last.correct(r)
		if err != nil {
			return err
		}
		if top < -900 || top > 900 {
			return nil
		}
		for i, x := range v[0] {
			c.SetFloat64(i, 0, math.Ldexp(x, int(top)))
			y.SetBig(i, 0, new(big.Float).SetPrec(uint(y.Format().Bits())).Add(y.Big(i, 0), c.Big(i, 0)))
		}
		if err := t.s.gemm(-1, t.all, c, 1, w, w); err != nil {
			return err
		}
	}
	return nil
}

func (z *blocks) radius(r *residual, _ []float64) []float64 {
	most := float64((largestOf(r.lead) + r.slop) * (1 + 0x1p-50))
	v := make([]float64, len(z.h))
	for i, h := range z.h {
		v[i] = float64(h*most*(1+0x1p-50)) + 0x1p-1000
	}
	return v
}
