package lanes

import (
	"math"
	"math/bits"
	"unsafe"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/superacc"
)

// Numbers a x_i + b y_i of MP vectors are computed several side by side from vertical digits, see
// Unit: P = |a x_i| and Q = |b y_i| in D digits of one power of two for each lane, P + Q or
// |P - Q|, and its rounding, all in lanes. In units of the last digit a product of numbers without
// a sign has an error of less than 3 D + 1, and a number that is only shifted of less than 1. A
// product is exact if no bit of x is cut and no pair of nonzero digits is left out: if a has k
// digits, and the digits of x fit in the first D - k.

// linearRoom is the number of bits by which numbers may be shifted without cutting bits, if the
// digits suffice for exact products. Then sums of numbers of similar size are exact, and ties are
// decided.
const linearRoom = 16

// linearBytes is the size of the digits that are computed at a time, for each of three operands: a
// part of the first-level cache.
const linearBytes = 8 << 10

// A Factor is the number (-1)^neg 0.A 2^exp, or, if it has no digits, (-1)^neg 2^exp.
type Factor struct {
	Odd    bool // the number is 0, infinite or NaN
	neg    bool
	exp    int64
	digits []uint64 // of A, as many as the plan has
	used   int      // number of digits up to the last nonzero one
}

// newFactor returns t as a factor. cut stores its digits.
func newFactor(u *Unit, t num.Real) Factor {
	if t.Class != num.Finite {
		return Factor{Odd: true}
	}
	n := num.BitLen(t.Mag)
	f := Factor{neg: t.Neg, exp: t.Exp + int64(n)}
	if length := n - num.TrailingZeros(t.Mag); length > 1 {
		f.used = u.digitsOf(length)
		return f
	}
	f.exp--
	return f
}

// cut stores the digits of the factor t.
func (f *Factor) cut(p Plan, t num.Real) {
	if f.used == 0 {
		return
	}
	f.digits = make([]uint64, p.Digits)
	n := int64(num.BitLen(t.Mag))
	for s := range f.digits {
		f.digits[s] = num.WordAt(t.Mag, n-int64(p.Unit.Bits*(s+1))) & (1<<p.Unit.Bits - 1)
		if p.Unit.Floats {
			f.digits[s] = floatDigit(f.digits[s], false)
		}
	}
}

// A Linear computes z_ij = a_j x_i + b y_ij, rounded, in lanes.
type Linear struct {
	Plan Plan
	A    []Factor // of column j
	b    Factor
	x    num.Vec
	y    num.Mat // no columns if there is no second term
	z    *num.Array
}

// NewLinear returns a Linear, or nil if lanes do not support the operands. If y has no columns, the
// second term is omitted.
func NewLinear(a []num.Real, x num.Vec, b num.Real, y num.Mat, z *num.Array) *Linear {
	u := unitOf()
	inLanes := func(f num.Format, step int) bool { return f.Kind == num.MP && step == 1 }
	if u == nil || z.Kind != num.MP || x.N < u.Lanes || !inLanes(x.Arr.Format, x.Inc) ||
		y.Cols > 0 && !inLanes(y.Arr.Format, y.RS) {
		return nil
	}
	g := &Linear{x: x, y: y, z: z, b: newFactor(u, b)}
	if y.Cols > 0 && g.b.Odd {
		return nil
	}
	most := 0
	for _, t := range a {
		g.A = append(g.A, newFactor(u, t))
		most = max(most, g.A[len(g.A)-1].used)
	}
	exact := u.digitsOf(int(x.Arr.Prec)+linearRoom) + most
	if y.Cols > 0 {
		exact = max(exact, u.digitsOf(int(y.Arr.Prec)+linearRoom)+g.b.used)
	}
	p := int(z.Prec)
	// The leading bit of a sum is at most two bits below its reference unless much cancels. With 12
	// more bits few roundings are undecided.
	d := 2
	for u.Bits*d < p+14+bits.Len64(linearBound(d)) {
		d++
	}
	if exact <= d+2 {
		d = max(d, exact)
	}
	if d > maxDigits {
		return nil
	}
	g.Plan = Plan{Unit: u, Digits: d, Words: (u.Bits*d + 63) / 64, Numbers: max(1, linearBytes/(8*u.Lanes*d)), Terms: 1}
	for j := range g.A {
		g.A[j].cut(g.Plan, a[j])
	}
	if y.Cols > 0 {
		g.b.cut(g.Plan, b)
	}
	return g
}

// digitsOf returns the number of digits for n bits.
func (u *Unit) digitsOf(n int) int { return (n + u.Bits - 1) / u.Bits }

// linearBound bounds the error of a sum of two products of d digits, in units of the last digit.
func linearBound(d int) uint64 { return uint64(2*(3*d+1) + 1) }

// roundJob lists the sums of vertical digits that a unit rounds; the assembly depends on its
// layout. Vectors of digits follow each other at pitches in bytes, vectors in arrays of numbers
// without a gap. The sum in a lane, in units of 2^ref, is (-1)^s P + (-1)^t Q, or (-1)^s P if there
// is no q. P and Q have the digits at p and q, which are integers or, if pCut or qCut is set,
// digits as the unit cuts them. s is the lowest bit of (class at xCls) xor negP, t the lowest bit
// of (class at yCls) xor negQ.
//
// The rounded sum is stored as an MP number of limbs limbs, of which the last spare bits are
// unused, and its bit of ok is set, unless
//
//   - a class is not the class of a finite number,
//   - the first digit of the sum is 0,
//   - the bit of exact is not set and an error of less than bound units of the last digit may
//     matter, or fewer than 13 bits lie between it and the last place (shift is the precision
//     plus the bits of one digit minus the bits of all digits),
//   - the exponent is outside the range of MP.
type roundJob struct {
	p          unsafe.Pointer
	pPitch     int
	q          unsafe.Pointer
	qPitch     int
	digits     int
	xCls, yCls unsafe.Pointer
	negP, negQ uint64
	ref        unsafe.Pointer // int64
	exact, ok  unsafe.Pointer // uint8, a bit for each lane
	sig        unsafe.Pointer
	limbs      int
	exp, cls   unsafe.Pointer
	n          int
	stage      unsafe.Pointer // room for the digits of a sum, zeros behind them, words before them
	words      int            // number of words that hold all digits, at least limbs + 1
	spare      int
	bound      uint64
	shift      int
	pCut, qCut bool
}

// roundVertical rounds the sums of a job, one after the other.
func (u *Unit) roundVertical(j *roundJob) {
	mag := make([]uint64, (u.Bits*(j.digits+1)+63)/64+j.limbs+2)
	for v := range j.n {
		mask := uint8(0)
		for l := range u.Lanes {
			if u.roundLane(j, mag, v, l) {
				mask |= 1 << l
			}
		}
		*(*uint8)(unsafe.Add(j.ok, v)) = mask
	}
}

// roundLane rounds the sum in lane l of vector v, or returns false. mag is memory for its
// magnitude, after as many zeros as the number has limbs.
func (u *Unit) roundLane(j *roundJob, mag []uint64, v, l int) bool {
	at := v*u.Lanes + l
	x, y := *(*num.Cls)(unsafe.Add(j.xCls, at)), *(*num.Cls)(unsafe.Add(j.yCls, at))
	if x.Class() != num.Finite || y.Class() != num.Finite {
		return false
	}
	digits := func(p unsafe.Pointer, pitch int) []uint64 {
		if p == nil {
			return nil
		}
		return unsafe.Slice((*uint64)(unsafe.Add(p, v*pitch+8*l)), (j.digits-1)*u.Lanes+1)
	}
	p, q := digits(j.p, j.pPitch), digits(j.q, j.qPitch)
	pCut, qCut := j.pCut && u.Floats, j.qCut && u.Floats
	digit := func(w uint64, cut bool) int64 {
		if cut {
			return int64(math.Float64frombits(w))
		}
		return int64(w)
	}
	neg, other := (uint64(x)^j.negP)&1, (uint64(y)^j.negQ)&1
	var minusP, minusQ int64 // all ones where digits are subtracted
	if q != nil && neg != other {
		if minusQ = -1; digit(p[0], pCut) < digit(q[0], qCut) {
			minusP, minusQ, neg = -1, 0, other
		}
	}
	// The magnitude, in units of the last digit.
	m := mag[j.limbs:]
	clear(m)
	var acc uint64
	b, lanes := uint(u.Bits)&63, u.Lanes
	mask := uint64(1)<<b - 1
	carry, have, k := int64(0), uint(0), 0
	for c := len(p) - 1; c >= 0; c -= lanes {
		r := (digit(p[c], pCut) ^ minusP) - minusP + carry
		if q != nil {
			r += (digit(q[c], qCut) ^ minusQ) - minusQ
		}
		d := uint64(r) & mask
		carry = r >> b
		acc |= d << (have & 63)
		if have += b; have >= 64 {
			m[k] = acc
			k++
			have -= 64
			acc = d >> ((b - have) & 63)
		}
	}
	m[k] = acc | uint64(carry)<<(have&63)
	n := int64(num.BitLen(m[:k+1]))
	first := n - int64(u.Bits*(j.digits-1)) // bits of the first digit and above it
	if carry < 0 || first <= 0 {
		return false
	}
	prec := int64(64*j.limbs - j.spare)
	tail := num.WordAt(m, n-prec-64)
	const half = 1 << 63
	if *(*uint8)(unsafe.Add(j.exact, v))>>l&1 == 0 {
		count := max(0, 64-first+int64(j.shift))
		if count >= 50 {
			return false
		}
		if e := j.bound << (count & 63); tail+e+1-half <= 2*e+1 {
			return false
		}
	}
	sig := unsafe.Slice((*uint64)(unsafe.Add(j.sig, 8*j.limbs*at)), j.limbs)
	from := mag[n>>6:][:len(sig)+1] // words of the number, from bit n & 63 on
	word, right, left := from[0], uint(n)&63, ^uint(n)&63
	for i, next := range from[1:] {
		sig[i] = word>>right | next<<1<<left
		word = next
	}
	unit := uint64(1) << (j.spare & 63)
	sig[0] &^= unit - 1
	up := uint64(0)
	if tail > half || tail == half && (sig[0]&unit != 0 || n-prec-64 > int64(num.TrailingZeros(m))) {
		up = unit
	}
	for i := 0; i < len(sig) && up != 0; i++ {
		sig[i], up = bits.Add64(sig[i], up, 0)
	}
	e := *(*int64)(unsafe.Add(j.ref, 8*at)) + first - int64(u.Bits)
	if up != 0 {
		sig[j.limbs-1] = half
		e++
	}
	*(*int32)(unsafe.Add(j.exp, 4*at)) = int32(e)
	*(*num.Cls)(unsafe.Add(j.cls, at)) = num.MakeCls(neg != 0, num.Finite)
	return e == int64(int32(e))
}

// scaleVertical is like mul, but each vector of digits has its own sums, at the same pitch, and all
// lanes and vectors are multiplied by one number.
func (u *Unit) scaleVertical(width int, acc *int64, a *uint64, pitch int, x *uint64, n, first, digits int) {
	for k := range n {
		at := (*int64)(unsafe.Add(unsafe.Pointer(acc), k*pitch))
		u.mul(true, width, at, (*uint64)(unsafe.Add(unsafe.Pointer(a), k*pitch)), 0, x, 0, 1, first, digits, fetch{})
	}
}

// LinearWorker holds the memory of one worker.
type LinearWorker struct {
	*Linear
	Acc        superacc.Acc
	x, y       *cutter
	p, q       []int64 // products
	ref        []int64
	refX, refY []int64
	zeros      []int64
	exact, ok  []uint8
	stage      []uint64
	job        roundJob
}

// NewWorker returns the memory of a worker.
func (g *Linear) NewWorker() *LinearWorker {
	t, u := g.Plan, g.Plan.Unit
	n := t.Numbers * u.Lanes
	w := &LinearWorker{Linear: g, x: newCutter(t, g.x.Arr.Format), exact: make([]uint8, t.Numbers), ok: make([]uint8, t.Numbers)}
	refs := make([]int64, 4*n)
	w.ref, w.refX, w.refY, w.zeros = refs[:n], refs[n:2*n], refs[2*n:3*n], refs[3*n:]
	sums := func() []int64 {
		a := superacc.Aligned(t.Numbers * t.pitch() / 8)
		return unsafe.Slice((*int64)(unsafe.Pointer(&a[0])), len(a))
	}
	w.p = sums()
	if g.y.Cols > 0 {
		w.y, w.q = newCutter(t, g.y.Arr.Format), sums()
	}
	limbs := g.z.Limbs()
	words := max(limbs+1, (u.Bits*(t.Digits-1)+127)/64)
	behind := max(t.Digits, 64*words/u.Bits+16) + 4 // digits that whole blocks of words read
	w.stage = superacc.Aligned(u.Lanes * (words + behind))
	w.job = roundJob{
		digits: t.Digits, pPitch: t.pitch(), qPitch: t.pitch(), limbs: limbs, words: words,
		spare: 64*limbs - int(g.z.Prec), bound: linearBound(t.Digits), shift: int(g.z.Prec) + u.Bits - u.Bits*t.Digits,
		ref: unsafe.Pointer(&w.ref[0]), exact: unsafe.Pointer(&w.exact[0]), ok: unsafe.Pointer(&w.ok[0]),
		stage: unsafe.Pointer(&w.stage[u.Lanes*words]),
	}
	return w
}

// exactShift returns the number of bits by which numbers of prec bits may be shifted so that their
// products with f are exact.
func (t Plan) exactShift(f *Factor, prec uint32) int64 {
	return int64(t.Unit.Bits*(t.Digits-f.used)) - int64(prec)
}

// Run computes entries lo <= i < lo+n of column j and stores them in z from number k on. n is a
// multiple of the lanes, and at most the plan's number of vectors. For each vector Run returns a
// mask of the entries that were computed.
func (w *LinearWorker) Run(j, lo, n, k int) (ok []uint8) {
	t, lanes := w.Plan, w.Plan.Unit.Lanes
	a, vectors := &w.A[j], n/lanes
	x, at := w.Linear.x.Arr, w.Linear.x.At(lo)
	xe := x.Exp[at : at+n]
	shiftX := t.exactShift(a, x.Prec)
	r := &w.job
	r.n, r.negP = vectors, superacc.Sign(a.neg)
	r.xCls, r.yCls = unsafe.Pointer(&x.Cls[at]), unsafe.Pointer(&x.Cls[at])
	r.sig, r.exp, r.cls = unsafe.Pointer(&w.z.Sig[k*w.z.Limbs()]), unsafe.Pointer(&w.z.Exp[k]), unsafe.Pointer(&w.z.Cls[k])
	if w.y == nil {
		all := uint8(0)
		if shiftX >= 0 {
			all = 1<<lanes - 1
		}
		for v := range vectors {
			w.exact[v] = all
		}
		for i, e := range xe {
			w.ref[i], w.refX[i] = int64(e)+a.exp, int64(e)
		}
	} else {
		y, yAt := w.Linear.y.Arr, w.Linear.y.At(lo, j)
		b := &w.b
		shiftY := t.exactShift(b, y.Prec)
		ye := y.Exp[yAt : yAt+n]
		ref, refX, refY := w.ref[:n], w.refX[:n], w.refY[:n]
		for v := range vectors {
			exact := uint8(0)
			for i := v * lanes; i < (v+1)*lanes; i++ {
				d, e := int64(xe[i])+a.exp, int64(ye[i])+b.exp
				top := max(d, e)
				ref[i], refX[i], refY[i] = top, top-a.exp, top-b.exp
				exact >>= 1
				if top-d <= shiftX && top-e <= shiftY {
					exact |= 1 << (lanes - 1)
				}
			}
			w.exact[v] = exact
		}
		r.yCls, r.negQ = unsafe.Pointer(&y.Cls[yAt]), superacc.Sign(b.neg)
		r.q, r.qCut = w.term(w.y, y, yAt, w.refY, b, w.q, vectors), b.used == 0
	}
	r.p, r.pCut = w.term(w.x, x, at, w.refX, a, w.p, vectors), a.used == 0
	t.Unit.round(r)
	return w.ok[:vectors]
}

// term returns the digits of the magnitudes of n vectors of numbers of v, from number at on, times
// a factor. Their units are powers of two, whose exponents are ref minus the exponent of the
// factor.
func (w *LinearWorker) term(c *cutter, v *num.Array, at int, ref []int64, f *Factor, sums []int64, n int) unsafe.Pointer {
	t, lanes := w.Plan, w.Plan.Unit.Lanes
	job := c.job(v, at, lanes, n)
	job.ref, job.refLane, job.refStep = unsafe.Pointer(&ref[0]), 1, lanes
	job.scale, job.sign, job.xLane, job.xStep = unsafe.Pointer(&w.zeros[0]), job.cls, 1, lanes
	t.Unit.cut(job)
	if f.used == 0 {
		return unsafe.Pointer(&c.digits[0])
	}
	clear(sums[:n*t.pitch()/8])
	for end, tiles := t.Digits, t.tiles(); tiles > 0; tiles-- {
		width := (end + tiles - 1) / tiles
		end -= width
		t.Unit.scale(width, &sums[0], &c.digits[0], t.pitch(), &f.digits[0], n, end, t.Digits)
	}
	return unsafe.Pointer(&sums[lanes])
}
