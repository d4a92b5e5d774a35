package lanes

import (
	"math"
	"math/bits"
	"unsafe"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/superacc"
)

// A Unit multiplies vertical digits: the digits of several numbers lie side by side, digit s of
// each number in a lane of one vector, so that one instruction multiplies a pair of digits in every
// lane. Sums of products are computed as in package direct, in D digits of b bits, B = 2^b. Column
// c has the weight B^-(c+1). The product of digits s and t adds its high part to column s+t and its
// low part to column s+t+1, if the column is less than D. In units of B^-D times the largest
// product's power of two the error of a product is less than
//
//	1 + 1      (digits cut off both factors, times the other factor, less than 1)
//	D - 1      (pairs with s+t >= D, at most D-1-k with s+t = D+k, each less than B^(-D-k))
//	D          (low parts of the D pairs with s+t = D-1, each less than B^(-D))
//
// If the digits of a negative number are replaced by the complements (B-1) - a_s, and x_c is
// subtracted from column c, the error is larger by less than D, because the pairs kept sum to
//
//	sum_t x_t B^-(t+2) sum_(s<D-t) (B-1) B^-s = sum_t x_t B^-(t+1) - sum_t x_t B^-(D+1)
//
// minus the wanted sum, and the last sum is less than D units. In total the error is less than
// 3 D + 1.
type Unit struct {
	Lanes, Bits int
	width       int        // columns that one pass adds up
	costs       [3]float64 // of a product, in ns: constant, per digit, and per square of digits
	Few         int        // products of a matrix with a vector up to which others are faster
	Floats      bool       // digits are binary64 numbers with their sign, not complemented integers
	cut         func(*cutJob)
	round       func(*roundJob)
	scale       func(width int, acc *int64, a *uint64, pitch int, x *uint64, n, first, digits int)
	mul         func(broadcast bool, width int, acc *int64, a *uint64, aPitch int, x *uint64, xPitch int, n, first, digits int, soon fetch)
}

// unitOf returns the unit of the machine, or nil. Tests replace it.
var unitOf = machineUnit

// cutJob describes the digits that a unit cuts; the assembly depends on its layout. Fields named
// pitch (in bytes) and step (in elements) are distances between vectors of numbers, fields named
// lane between the numbers of a vector. The number in a lane is (-1)^s 0.S 2^exp, S its highest
// used words at sig, class and sign at cls. Its digits are the digits of 0.S 2^-d, d = ref - exp -
// scale, with the sign s xor the lowest bit at sign. They are zeros if the number is not finite or
// unless 0 <= d < limit. The digits of a vector of numbers are stored at dst. If digits are
// integers, a vector of signs follows, all ones for a minus.
type cutJob struct {
	dst      unsafe.Pointer
	dstPitch int
	sig      unsafe.Pointer
	sigLane  int // bytes
	sigPitch int
	exp      unsafe.Pointer // int32
	cls      unsafe.Pointer // uint8
	step     int            // of exp and cls
	ref      unsafe.Pointer // int64
	refLane  int            // 1, or 0 if all lanes have the same
	refStep  int
	scale    unsafe.Pointer // int64
	sign     unsafe.Pointer // uint8
	xLane    int            // of scale and sign, 1 or 0
	xStep    int            // of scale and sign
	n        int
	stage    unsafe.Pointer // room for words, zeros below and above them
	table    unsafe.Pointer // for every digit: word, right shift, 64 minus the right shift
	digits   int
	limit    int // bits of all digits
	words    int // words that hold all digits
	used     int // words of a number that are used
	soon     fetch
}

// skip removes the first k vectors of numbers from the job.
func (j *cutJob) skip(k int) {
	j.dst = unsafe.Add(j.dst, k*j.dstPitch)
	j.sig = unsafe.Add(j.sig, k*j.sigPitch)
	j.exp, j.cls = unsafe.Add(j.exp, 4*k*j.step), unsafe.Add(j.cls, k*j.step)
	j.ref = unsafe.Add(j.ref, 8*k*j.refStep)
	j.scale, j.sign = unsafe.Add(j.scale, 8*k*j.xStep), unsafe.Add(j.sign, k*j.xStep)
	j.soon.from += uintptr(k * j.soon.pitch)
	j.n -= k
}

// A fetch is memory to prefetch: for each vector of numbers lines lines of the cache, pitch bytes
// after the lines for the vector before. It may lie beyond the array, so it is not a pointer.
type fetch struct {
	from         uintptr
	pitch, lines int
}

// fetchNumbers returns the fetch of vectors of numbers of a. The first vector begins at number at;
// vectors are step numbers apart.
func (t Plan) fetchNumbers(a *num.Array, at, step int) fetch {
	l := a.Limbs()
	return fetch{uintptr(unsafe.Pointer(&a.Sig[0])) + uintptr(8*l*at), 8 * l * step, (8*l*t.Unit.Lanes + 63) / 64}
}

// cutVertical cuts the digits of a job, one number after the other.
func (u *Unit) cutVertical(j *cutJob) {
	mask := uint64(1)<<u.Bits - 1
	for k := range j.n {
		dst := unsafe.Slice((*uint64)(unsafe.Add(j.dst, k*j.dstPitch)), (j.digits+1)*u.Lanes)
		clear(dst)
		for l := range u.Lanes {
			i, x := k*j.step+l, k*j.xStep+l*j.xLane
			cls := *(*uint8)(unsafe.Add(j.cls, i))
			d := *(*int64)(unsafe.Add(j.ref, 8*(k*j.refStep+l*j.refLane))) - int64(*(*int32)(unsafe.Add(j.exp, 4*i))) -
				*(*int64)(unsafe.Add(j.scale, 8*x))
			if cls>>1 != 1 || uint64(d) >= uint64(j.limit) {
				continue
			}
			neg := (cls^*(*uint8)(unsafe.Add(j.sign, x)))&1 != 0
			sig := unsafe.Slice((*uint64)(unsafe.Add(j.sig, k*j.sigPitch+l*j.sigLane)), j.used)
			for s := range j.digits {
				v := num.WordAt(sig, int64(64*j.used)+d-int64(u.Bits*(s+1))) & mask
				switch {
				case u.Floats:
					v = floatDigit(v, neg)
				case neg:
					v = mask - v
				}
				dst[s*u.Lanes+l] = v
			}
			if neg && !u.Floats {
				dst[j.digits*u.Lanes+l] = 1<<64 - 1
			}
		}
	}
}

// multiply returns the high and the low part of a product of digits. Their sum, with the high part
// times B, is the product.
func (u *Unit) multiply(a, x uint64) (high, low int64) {
	if u.Floats {
		// Adding 1.5 2^103 rounds a number to a multiple of 2^51, and the low bits of the sum count
		// these multiples. Adding 1.5 2^52 rounds a number below 2^51 to an integer.
		const up, down = 3 << 102, 3 << 51
		h := math.FMA(math.Float64frombits(a), math.Float64frombits(x), up)
		l := math.FMA(math.Float64frombits(a), math.Float64frombits(x), up+down-h)
		return int64(math.Float64bits(h) - math.Float64bits(up)), int64(math.Float64bits(l) - math.Float64bits(down))
	}
	hi, lo := bits.Mul64(a, x)
	return int64(hi<<(64-u.Bits) | lo>>u.Bits), int64(lo & (1<<u.Bits - 1))
}

// floatDigit returns the bits of a digit as a binary64 number with a sign.
func floatDigit(d uint64, neg bool) uint64 {
	if neg {
		return math.Float64bits(0 - float64(d))
	}
	return math.Float64bits(float64(d))
}

// Plan describes how sums of products are computed from vertical digits.
type Plan struct {
	Unit    *Unit
	Digits  int
	Words   int // of so many digits
	Numbers int // vectors that are multiplied at a time
	Terms   int // of a number of the matrix, each with a product of its own
}

// verticalBytes is the approximate size of the digits that are multiplied at a time, a part of the
// first-level cache.
const verticalBytes = 14 << 10

// lateDigits is the number of digits from which the next numbers are prefetched during
// multiplication; with fewer digits they are prefetched while digits are cut.
const lateDigits = 8

// maxDigits bounds the number of digits, so that enough products fit between carries.
const maxDigits = 128

// PlanSum returns a plan for sums of n products that are rounded to p bits, with ten guard bits. It
// is not ok if the machine has no unit or there are too many digits.
//
// The sum of a column over k vectors of products is less than 2^63: it begins below 2^53, and a
// product adds at most c+1 high and c low parts below 2^52 and subtracts one digit.
func PlanSum(p, n int) (t Plan, ok bool) {
	u := unitOf()
	if u == nil || int64(n) >= 1<<40 {
		return t, false
	}
	need := p + bits.Len(uint(n))/2 + 10
	for d := 2; d <= maxDigits; d++ {
		if u.Bits*d >= need+bits.Len(uint(3*d+1)) {
			return Plan{
				Unit:    u,
				Digits:  d,
				Words:   (u.Bits*d + 63) / 64,
				Numbers: max(1, min(1000/d, verticalBytes/(8*u.Lanes*d), n)),
				Terms:   1,
			}, true
		}
	}
	return t, false
}

// ProductBound bounds the error of a product, in units of the last column.
func (t Plan) ProductBound() uint64 { return uint64(t.Terms) * uint64(3*t.Digits+1) }

// pitch returns the size, in bytes, of the digits of a vector of numbers and of their signs.
func (t Plan) pitch() int { return 8 * t.Unit.Lanes * (t.Digits + 1) }

// cutter holds the memory of jobs, besides numbers.
type cutter struct {
	plan   Plan
	stage  []uint64
	table  []uint64
	digits []uint64 // of plan.numbers vectors
	format num.Format
	pad    *num.Array // allocated by part
	next   cutJob     // the job that job returns
}

// newCutter returns a cutter for numbers of format f.
func newCutter(t Plan, f num.Format) *cutter {
	c := &cutter{plan: t, table: make([]uint64, 3*t.Digits)}
	c.stage = superacc.Aligned(t.Unit.Lanes * (4*t.Words + 12))
	c.digits = superacc.Aligned(t.Numbers * t.pitch() / 8)
	c.format = f
	for s := range t.Digits {
		pos := 64*t.Words - t.Unit.Bits*(s+1)
		c.table[3*s] = uint64(pos >> 6 * t.Unit.Lanes)
		c.table[3*s+1], c.table[3*s+2] = uint64(pos&63), uint64(64-pos&63)
	}
	return c
}

// job returns a job for n vectors of numbers of a. The first vector begins at number at; vectors
// are step numbers apart. The caller sets references, scales and signs. The job is valid until the
// next call.
func (c *cutter) job(a *num.Array, at, step, n int) *cutJob {
	t, l := c.plan, a.Limbs()
	used := min(l, t.Words)
	c.next = cutJob{
		dst: unsafe.Pointer(&c.digits[0]), dstPitch: t.pitch(),
		sig: unsafe.Pointer(&a.Sig[at*l+l-used]), sigLane: 8 * l, sigPitch: 8 * l * step,
		exp: unsafe.Pointer(&a.Exp[at]), cls: unsafe.Pointer(&a.Cls[at]), step: step,
		n:     n,
		stage: unsafe.Pointer(&c.stage[4*t.Unit.Lanes]),
		table: unsafe.Pointer(&c.table[0]), digits: t.Digits, limit: t.Unit.Bits * t.Digits,
		words: t.Words, used: used,
	}
	return &c.next
}

// part copies n runs of k numbers of a to vectors of their own, and returns these. The first run
// begins at number at; runs are step numbers apart.
func (c *cutter) part(a *num.Array, at, step, n, k int) *num.Array {
	lanes, l := c.plan.Unit.Lanes, a.Limbs()
	if c.pad == nil {
		c.pad = num.New(c.format, c.plan.Numbers*lanes)
	}
	clear(c.pad.Cls[:n*lanes])
	for i := range n {
		from, to := at+i*step, i*lanes
		copy(c.pad.Sig[l*to:], a.Sig[l*from:l*(from+k)])
		copy(c.pad.Exp[to:], a.Exp[from:from+k])
		copy(c.pad.Cls[to:], a.Cls[from:from+k])
	}
	return c.pad
}

// tiles returns the number of passes in which the columns are added up.
func (t Plan) tiles() int { return (t.Digits + t.Unit.width - 1) / t.Unit.width }

// add adds the products of n vectors of digits a with n vectors of digits x, xPitch bytes each, to
// the columns at acc. Every pass prefetches one element of soon, if any is left.
func (t Plan) add(broadcast bool, acc []int64, a, x []uint64, xPitch, n int, soon ...fetch) {
	for end, tiles := t.Digits, t.tiles(); tiles > 0; tiles-- {
		w := (end + tiles - 1) / tiles
		end -= w
		var next fetch
		if len(soon) > 0 {
			next, soon = soon[0], soon[1:]
		}
		t.Unit.mul(broadcast, w, &acc[0], &a[0], t.pitch(), &x[0], xPitch, n, end, t.Digits, next)
	}
}

// mulVertical adds, for every lane, the products of n vectors of digits at a with n vectors of
// digits at x to the columns first <= c < first+width at acc. Column c lies in vector c+1; the
// carry out of the first column is added to the vector before. If broadcast, x has one number for
// all lanes, otherwise digits in the layout of a. Pitches count bytes.
func (u *Unit) mulVertical(broadcast bool, width int, acc *int64, a *uint64, aPitch int, x *uint64, xPitch int, n, first, digits int, _ fetch) {
	sums := unsafe.Slice(acc, (digits+1)*u.Lanes)
	for l := range u.Lanes {
		col := make([]int64, width)
		for c := range col {
			col[c] = sums[(first+c+1)*u.Lanes+l]
		}
		for k := range n {
			av := unsafe.Slice((*uint64)(unsafe.Add(unsafe.Pointer(a), k*aPitch)), (digits+1)*u.Lanes)
			xv := unsafe.Slice((*uint64)(unsafe.Add(unsafe.Pointer(x), k*xPitch)), digits)
			step, at := 1, 0
			if !broadcast {
				xv = unsafe.Slice(&xv[0], digits*u.Lanes)
				step, at = u.Lanes, l
			}
			for c := range col {
				col[c] += u.column(av[l:], xv[at:], u.Lanes, step, first+c, digits)
			}
		}
		carry := int64(0)
		for c := width - 1; c >= 0; c-- {
			v := col[c] + carry
			sums[(first+c+1)*u.Lanes+l] = v & (1<<u.Bits - 1)
			carry = v >> u.Bits
		}
		sums[first*u.Lanes+l] += carry
	}
}

// column returns the amount that one product adds to column c.
func (u *Unit) column(a, x []uint64, aStep, xStep, c, digits int) (v int64) {
	for s := range c + 1 {
		h, _ := u.multiply(a[s*aStep], x[(c-s)*xStep])
		v += h
		if s < c {
			_, low := u.multiply(a[s*aStep], x[(c-1-s)*xStep])
			v += low
		}
	}
	if !u.Floats && a[digits*aStep] != 0 {
		v -= int64(x[c*xStep])
	}
	return v
}

// value returns the number that columns represent, column c at columns[c+1], in units of the last
// column. It uses the memory of mag.
func (t Plan) value(mag []uint64, columns []int64) (m []uint64, neg bool) {
	p := superacc.Packer{Mag: mag}
	clear(mag)
	carry, b := int64(0), t.Unit.Bits
	for c := t.Digits; c > 0; c-- {
		v := columns[c] + carry
		p.Put(uint64(v)&(1<<b-1), b)
		carry = v >> b
	}
	return p.Finish(columns[0] + carry)
}

// MagWords returns the number of words that value needs.
func (t Plan) MagWords() int { return (t.Unit.Bits*(t.Digits+1)+63)/64 + 2 }

// Vector is a vector in vertical digits, with signs stored separately.
type Vector struct {
	digits []uint64
	pitch  int     // bytes from a number to the next, or from a vector of numbers
	Scale  []int64 // exponents, superacc.NoScale for zeros, as many as lanes more
	signs  []num.Cls
}

// Vector returns x in digits, number after number. With byRows, for products with adjacent numbers
// of rows, it is vector of numbers after vector. ok is false if x has an infinity or NaN.
func (t Plan) Vector(x num.Vec, byRows bool) (v *Vector, ok bool) {
	u, d := t.Unit, t.Digits
	n := (x.N + u.Lanes - 1) / u.Lanes * u.Lanes
	v = &Vector{pitch: 8 * d, Scale: make([]int64, n), signs: make([]num.Cls, n)}
	if byRows {
		v.pitch *= u.Lanes
	}
	v.digits = superacc.Aligned(n * d)
	mask := uint64(1)<<u.Bits - 1
	buf := make([]uint64, num.MaxValueWords)
	for j := range v.Scale {
		v.Scale[j] = superacc.NoScale
		if j >= x.N {
			continue
		}
		r := x.Arr.Value(x.At(j), buf)
		if r.Class > num.Finite {
			return nil, false
		}
		v.signs[j] = num.MakeCls(r.Neg, r.Class)
		if r.Class == num.Zero {
			continue
		}
		top := int64(num.BitLen(r.Mag))
		v.Scale[j] = r.Exp + top
		at, step := j*d, 1
		if byRows {
			at, step = j/u.Lanes*u.Lanes*d+j%u.Lanes, u.Lanes
		}
		for s := range d {
			w := num.WordAt(r.Mag, top-int64(u.Bits*(s+1))) & mask
			if u.Floats {
				w = floatDigit(w, false)
			}
			v.digits[at+s*step] = w
		}
	}
	return v, true
}

// Rows computes sums of products of rows of a matrix with a vector, and holds their memory.
type Rows struct {
	*cutter
	byRows bool
	sums   []int64
	one    []int64
}

// NewRows returns a Rows for a block of rows of numbers of format f. With byRows a vector of digits
// holds numbers of one row.
func NewRows(t Plan, f num.Format, block int, byRows bool) *Rows {
	v := &Rows{cutter: newCutter(t, f), byRows: byRows, one: make([]int64, t.Digits+1)}
	vectors := (block + t.Unit.Lanes - 1) / t.Unit.Lanes
	if v.byRows {
		vectors = block
	}
	a := superacc.Aligned(vectors * t.pitch() / 8)
	v.sums = unsafe.Slice((*int64)(unsafe.Pointer(&a[0])), len(a))
	return v
}

// Reset sets the sums of rows rows to 0.
func (v *Rows) Reset(rows int) {
	t, lanes := v.plan, v.plan.Unit.Lanes
	size := lanes * (t.Digits + 1)
	if v.byRows {
		clear(v.sums[:size*rows])
	} else {
		clear(v.sums[:size*((rows+lanes-1)/lanes)])
	}
}

// Value returns the sum of row r, counted from the first row of the block, in units of the last
// digit. It uses the memory of mag.
func (v *Rows) Value(mag []uint64, r int) (m []uint64, neg bool) {
	t, lanes := v.plan, v.plan.Unit.Lanes
	size := lanes * (t.Digits + 1)
	for c := range v.one {
		if v.byRows {
			sum := int64(0)
			for _, x := range v.sums[size*r+lanes*c:][:lanes] {
				sum += x
			}
			v.one[c] = sum
		} else {
			v.one[c] = v.sums[size*(r/lanes)+lanes*c+r%lanes]
		}
	}
	return t.value(mag, v.one)
}

// AddBlock adds the products of rows rows with the numbers j <= h < j+n of x. ref has the reference
// exponents of the rows. The rows begin at number at of a, step numbers apart.
func (v *Rows) AddBlock(a *num.Array, at, step, rows int, ref []int64, x *Vector, j, n int) {
	t, lanes := v.plan, v.plan.Unit.Lanes
	size := lanes * (t.Digits + 1)
	for r := 0; r < rows; r += lanes {
		var job *cutJob
		var soon fetch
		if k := rows - r; k >= lanes {
			job = v.job(a, at+r, step, n)
			if k > lanes {
				soon = t.fetchNumbers(a, at+r+lanes, step)
			}
		} else {
			job = v.job(v.part(a, at+r, step, n, k), 0, lanes, n)
		}
		job.ref, job.refLane = unsafe.Pointer(&ref[r]), 1
		job.scale, job.sign, job.xStep = unsafe.Pointer(&x.Scale[j]), unsafe.Pointer(&x.signs[j]), 1
		if t.Digits < lateDigits {
			job.soon, soon = soon, fetch{}
		}
		t.Unit.cut(job)
		t.add(true, v.sums[size*(r/lanes):], v.digits, x.digits[j*t.Digits:], x.pitch, n, soon)
	}
}

// AddRows adds the products of the rows lo <= i < hi of m with x, a vector of columns at a time.
// ref has the reference exponents of the rows. It ends early once stopped returns true.
func (v *Rows) AddRows(m num.Mat, lo, hi int, ref []int64, x *Vector, stopped func() bool) {
	t, lanes := v.plan, v.plan.Unit.Lanes
	size := lanes * (t.Digits + 1)
	for j := 0; j < m.Cols && !stopped(); {
		n := min(t.Numbers, (m.Cols-j)/lanes)
		rest := 0
		if n == 0 {
			n, rest = 1, m.Cols-j
		}
		for r := range hi - lo {
			at := m.At(lo+r, j)
			var job *cutJob
			if rest == 0 {
				job = v.job(m.Arr, at, lanes, n)
			} else {
				job = v.job(v.part(m.Arr, at, lanes, 1, rest), 0, lanes, 1)
			}
			job.ref = unsafe.Pointer(&ref[r])
			soon := t.fetchNumbers(m.Arr, m.At(lo+r+1, j), lanes)
			if t.Digits < lateDigits {
				job.soon, soon = soon, fetch{}
			}
			job.scale, job.sign = unsafe.Pointer(&x.Scale[j]), unsafe.Pointer(&x.signs[j])
			job.xLane, job.xStep = 1, lanes
			t.Unit.cut(job)
			t.add(false, v.sums[size*r:], v.digits, x.digits[j*t.Digits:], x.pitch, n, soon)
		}
		j += n * lanes
	}
}

// Dot sums the products of two vectors.
type Dot struct {
	Plan Plan
	x, y *cutter
	sums []int64
	one  []int64
	mag  []uint64
	// zeros are exponents that are subtracted from the exponents of y.
	zeros []int64
}

// NewDot returns a Dot for plan t and for vectors of formats x and y.
func NewDot(t Plan, x, y num.Format) *Dot {
	v := &Dot{Plan: t, x: newCutter(t, x), y: newCutter(t, y), one: make([]int64, t.Digits+1), mag: make([]uint64, t.MagWords())}
	v.zeros = make([]int64, t.Numbers*t.Unit.Lanes)
	a := superacc.Aligned(t.pitch() / 8)
	v.sums = unsafe.Slice((*int64)(unsafe.Pointer(&a[0])), len(a))
	return v
}

// Sum returns the sum of the products lo <= i < hi in units of the last column, 2^(ref - b D).
// scale has the exponents of y, superacc.NoScale for products that are 0, and zeros after them.
func (v *Dot) Sum(x, y num.Vec, lo, hi int, ref int64, scale []int64) (m []uint64, neg bool) {
	t, lanes := v.Plan, v.Plan.Unit.Lanes
	clear(v.sums)
	for i := lo; i < hi; {
		n := min(t.Numbers, (hi-i)/lanes)
		a, b, at, bt := x.Arr, y.Arr, x.At(i), y.At(i)
		if n == 0 {
			n = 1
			a, b, at, bt = v.x.part(a, at, lanes, 1, hi-i), v.y.part(b, bt, lanes, 1, hi-i), 0, 0
		}
		job := v.x.job(a, at, lanes, n)
		soonX, soonY := t.fetchNumbers(x.Arr, x.At(i)+n*lanes, lanes), t.fetchNumbers(y.Arr, y.At(i)+n*lanes, lanes)
		if t.tiles() == 1 { // these of y come while x is cut
			job.soon = t.fetchNumbers(y.Arr, y.At(i), lanes)
		}
		job.ref = unsafe.Pointer(&ref)
		job.scale, job.sign = unsafe.Pointer(&scale[i-lo]), unsafe.Pointer(&b.Cls[bt])
		job.xLane, job.xStep = 1, lanes
		t.Unit.cut(job)
		job = v.y.job(b, bt, lanes, n)
		job.ref, job.refLane, job.refStep = unsafe.Pointer(&scale[i-lo]), 1, lanes
		job.scale, job.sign = unsafe.Pointer(&v.zeros[0]), job.cls
		job.xLane, job.xStep = 1, lanes
		t.Unit.cut(job)
		t.add(false, v.sums, v.x.digits, v.y.digits, t.pitch(), n, soonX, soonY)
		i += n * lanes
	}
	for c := range v.one {
		v.one[c] = 0
		for _, s := range v.sums[lanes*c:][:lanes] {
			v.one[c] += s
		}
	}
	return t.value(v.mag, v.one)
}

// Cost estimates the time of a product of two numbers, in ns.
func (t Plan) Cost() float64 {
	d, c := float64(t.Digits), t.Unit.costs
	return c[0] + c[1]*d + c[2]*d*d // may fuse: an estimate
}
