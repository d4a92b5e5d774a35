package residue

import (
	"math"
	"math/bits"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/superacc"
)

// A scaling is the factor alpha or beta of an expression.
type scaling struct {
	zero bool
	real num.Real
	// pow is set if the number is (-1)^neg 2^exp.
	pow bool
	neg bool
	exp int64
	mag []uint64 // otherwise |number| = mag 2^exp with the top bit of mag set
}

func newScaling(r num.Real) scaling {
	s := scaling{real: r, zero: r.Class == num.Zero, neg: r.Neg}
	if r.Class != num.Finite {
		return s
	}
	n, tz := num.BitLen(r.Mag), num.TrailingZeros(r.Mag)
	if s.pow = n == tz+1; s.pow {
		s.exp = r.Exp + int64(tz)
		return s
	}
	// Normalise to whole words with the top bit set.
	words := (n - tz + 63) / 64
	for i := range words {
		s.mag = append(s.mag, num.WordAt(r.Mag, int64(n-64*(words-i))))
	}
	s.exp = r.Exp + int64(n-64*words)
	return s
}

// A value is an enclosure: the exact number lies within err of (-1)^neg mag, in units of 2^exp. mag
// has no leading zero words.
type value struct {
	neg bool
	mag []uint64
	err uint64
	exp int64
}

// A finisher rounds the sums of the reconstruction to entries. Each worker has its own.
type finisher struct {
	p      *product
	old, c num.Mat
	w      *weights
	left   *operand
	right  *operand
	i0, j0 int       // position of c in the output
	errL   []float64 // error of each row, in units of 2^cut of the integer product
	errR   []float64 // error of each column, likewise
	errAll float64   // error of every entry
	mag    []uint64
	scaled []uint64 // the product multiplied by alpha

	// Scratch of addOld: an entry c, beta c, its alignment, the product in a finer unit, the sum.
	oldWords                      [num.MaxValueWords]uint64
	scaledOld, aligned, fine, sum []uint64
	tmp                           []uint64
	ends                          *num.Array // two numbers of the output's format

	residues []int16 // modulo the redundant modulus, of the entries of words
	compared int64
	fault    *HardwareError // the first fault

	failed    [][2]int32
	overflow  int64
	underflow int64
}

// integer sets v to the integer product from the words of entry e: words[s stride + e], where word
// 0 is the quotient's.
func (f *finisher) integer(v *value, words []int64, stride, e int) {
	const mask = 1<<wordBits - 1
	q := (words[e] + 1<<(wordBits-1)) >> wordBits
	m := f.w.m
	mag := f.mag[:(wordBits*(len(m)-1)+64+127)/64]
	var carry int64
	var acc uint64
	var have uint
	at, last := 0, len(m)-1
	for _, w := range m[:last] {
		e += stride
		x := words[e] - q*w + carry
		d := uint64(x & mask)
		carry = x >> wordBits
		acc |= d << (have & 63)
		if have += wordBits; have >= 64 {
			mag[at] = acc
			at++
			have -= 64
			acc = d >> ((wordBits - have) & 63)
		}
	}
	x := words[e+stride] - q*m[last] + carry
	mag[at] = acc | uint64(x)<<(have&63)
	// The sign fills the remaining bits.
	sign := uint64(x >> 63)
	at++
	if at < len(mag) {
		mag[at] = uint64(x >> 1 >> ((63 - have) & 63))
		at++
	}
	mag = mag[:at]
	if v.neg = sign != 0; v.neg {
		c := uint64(1)
		for k, w := range mag {
			mag[k], c = bits.Add64(^w, 0, c)
		}
	}
	v.mag = superacc.Trim(mag)
}

// entry finishes entry (i, j) of the output: row i of the left operand times column j of the right
// operand.
func (f *finisher) entry(i, j int, words []int64, stride, e int) {
	if f.left.special[i] || f.right.special[j] {
		f.fail(i, j)
		return
	}
	var v value
	f.integer(&v, words, stride, e)
	if f.w.check != nil && !f.agrees(i, j, &v, words, stride, e) {
		return
	}
	bound := f.errL[i] + f.errR[j] + f.errAll
	if bound >= 1<<60 {
		f.fail(i, j)
		return
	}
	v.err = uint64(bound)
	v.exp = f.p.unit + f.left.exp[i] + f.right.exp[j]
	if f.p.near {
		f.settleNear(i, j, &v)
	} else {
		f.settle(i, j, &v)
	}
}

// settleNear rounds alpha v + beta c to entry (i, j) as if v were exact, for alpha a power of two.
// Zeros become +0.
func (f *finisher) settleNear(i, j int, v *value) {
	v.neg = v.neg != f.p.alpha.neg
	v.exp += f.p.alpha.exp
	if at := f.old.At(i, j); !f.p.beta.zero && f.p.within == nil && f.old.Arr.Class(at) != num.Zero {
		if v.err = 1; !f.addOld(v, at) { // truncated to v's unit
			f.fail(i, j)
			return
		}
	}
	z := num.Real{Class: num.Zero}
	if len(v.mag) > 0 {
		z = num.Real{Class: num.Finite, Neg: v.neg, Mag: v.mag, Exp: v.exp}
	}
	f.count(f.c.Arr.Set(f.c.At(i, j), z))
}

// settle rounds alpha v + beta c to entry (i, j), or leaves the entry to the exact pass.
func (f *finisher) settle(i, j int, v *value) {
	if len(v.mag) == 0 && v.err != 0 {
		f.fail(i, j)
		return
	}
	at := f.c.At(i, j)
	if !f.p.alpha.pow {
		f.scale(v)
	}
	v.neg = v.neg != f.p.alpha.neg
	v.exp += f.p.alpha.exp
	if !f.p.beta.zero && f.p.within == nil && !f.addOld(v, f.old.At(i, j)) {
		f.fail(i, j)
		return
	}
	if len(v.mag) == 0 {
		sum := !f.p.beta.zero && (f.p.within == nil || f.oldNegativeZero(i, j))
		if v.err != 0 || sum || f.p.beta.zero && f.p.negativeZero(f.i0+i, f.j0+j) {
			f.fail(i, j)
			return
		}
		f.c.Arr.Set(at, num.Real{Class: num.Zero})
		return
	}
	if v.err != 0 && f.c.Arr.Terms() > 1 {
		if !f.setBetween(v, at) {
			f.fail(i, j)
		}
		return
	}
	if !f.safe(v) {
		f.fail(i, j)
		return
	}
	f.count(f.c.Arr.Set(at, num.Real{Class: num.Finite, Neg: v.neg, Mag: v.mag, Exp: v.exp}))
}

func (f *finisher) fail(i, j int) {
	f.failed = append(f.failed, [2]int32{int32(f.i0 + i), int32(f.j0 + j)})
}

func (f *finisher) count(fl num.Flags) {
	if fl&num.Overflow != 0 {
		f.overflow++
	}
	if fl&num.Underflow != 0 {
		f.underflow++
	}
}

// safe is Ziv's test for MP, Float64 and Float32: it reports whether all numbers of the enclosure
// round to the same bits as v.mag.
func (f *finisher) safe(v *value) bool {
	if v.err == 0 {
		return true
	}
	a := f.c.Arr
	n := int64(64*len(v.mag)) - int64(bits.LeadingZeros64(v.mag[len(v.mag)-1]))
	top := v.exp + n
	var drop int64 // bits that rounding drops
	switch a.Kind {
	case num.MP:
		if top > math.MaxInt32-2 || top < math.MinInt32+2 {
			return false
		}
		drop = n - int64(a.Prec)
	case num.F64:
		if top < -1021 { // the exact pass decides whether bits are lost below 2^-1074
			return false
		}
		drop = n - 53
	case num.F32:
		if top < -125 {
			return false
		}
		drop = n - 24
	}
	// The error stays below a quarter of the last place kept, so that no power of two can be
	// crossed by more than half of the finer place below it.
	if drop < 2 || drop < 64 && v.err >= 1<<(drop-2) {
		return false
	}
	// The dropped bits, scaled to 64, must stay away from the tie.
	tail := num.WordAt(v.mag, drop-64)
	e := v.err
	if drop < 64 {
		e <<= 64 - drop
	} else {
		e >>= min(drop-64, 63)
	}
	e += 2
	if e < 2 {
		return false
	}
	d := tail - 1<<63
	if int64(d) < 0 {
		d = -d
	}
	return d > e
}

// setBetween is Ziv's test for expansions: it stores the rounded enclosure at position at if both
// ends round to the same bits, and returns false otherwise. The exact pass decides whether bits are
// lost to underflow.
func (f *finisher) setBetween(v *value, at int) bool {
	if len(v.mag) == 1 && v.mag[0] <= v.err {
		return false
	}
	end := append(f.tmp[:0], v.mag...)
	num.SubShifted(end, []uint64{v.err})
	f.tmp = end
	flags := f.ends.Set(0, num.Real{Class: num.Finite, Neg: v.neg, Mag: end, Exp: v.exp})
	end = append(append(f.tmp[:0], v.mag...), 0)
	num.AddShifted(end, []uint64{v.err})
	f.tmp = end
	other := f.ends.Set(1, num.Real{Class: num.Finite, Neg: v.neg, Mag: end, Exp: v.exp})
	if flags != other || flags&num.Underflow != 0 || !f.ends.SameBits(0, f.ends, 1) {
		return false
	}
	f.count(flags)
	f.c.Arr.CopyFrom(at, f.ends, 1)
	return true
}

// scale multiplies v by the significand of alpha; the caller applies its sign and exponent. Inexact
// values drop the low words that their error covers.
func (f *finisher) scale(v *value) {
	if len(v.mag) == 0 {
		return
	}
	alpha := f.p.alpha.mag
	z := superacc.Multiply(f.scaled[:0], v.mag, alpha)
	f.scaled = z
	if v.err != 0 {
		// err alpha < err 2^(64 words). In units of 2^(64 words) that is at most err + 1, and
		// truncation adds one.
		z = z[len(alpha):]
		v.exp += int64(64 * len(alpha))
		v.err += 2
	}
	v.mag = superacc.Trim(z)
}

// maxGap bounds the gap in bits between the old entry and the product that addOld can bridge.
const maxGap = 4096

// addOld adds beta c to v. It returns false if the exponents are too far apart, or if the exact
// pass must decide.
func (f *finisher) addOld(v *value, at int) bool {
	c := f.old.Arr.Value(at, f.oldWords[:])
	switch c.Class {
	case num.Zero:
		return len(v.mag) != 0 // the exact pass determines the sign of a zero sum
	case num.Inf, num.NaN:
		return false
	}
	beta := &f.p.beta
	mag, exp := c.Mag, c.Exp+beta.exp
	if !beta.pow {
		f.scaledOld = superacc.Multiply(f.scaledOld, c.Mag, beta.mag)
		mag = f.scaledOld
	}
	neg := c.Neg != beta.neg
	shift := exp - v.exp
	if shift > maxGap || shift < -maxGap && v.err == 0 {
		return false
	}
	if shift < 0 && int64(num.TrailingZeros(mag)) < -shift {
		if v.err == 0 { // both exact: use the finer unit
			f.fine = shiftWords(f.fine, v.mag, -shift)
			v.mag = f.fine
			v.exp, shift = exp, 0
		} else { // for the bits that shiftWords drops
			v.err++
		}
	}
	x := shiftWords(f.aligned, mag, shift)
	f.aligned = x
	n := max(len(x), len(v.mag)) + 1
	if cap(f.sum) < n {
		f.sum = make([]uint64, 2*n)
	}
	sum := f.sum[:n]
	clear(sum[copy(sum, v.mag):])
	if neg == v.neg {
		num.AddShifted(sum, x)
	} else {
		num.SubShifted(sum, x)
		if int64(sum[n-1]) < 0 {
			num.Negate(sum)
			v.neg = !v.neg
		}
	}
	v.mag = superacc.Trim(sum)
	return true
}

// shiftWords computes floor(x 2^s) in z and returns it.
func shiftWords(z, x []uint64, s int64) []uint64 {
	z = z[:0]
	if len(x) == 0 {
		return z
	}
	n := max(0, (int64(64*len(x))+s+63)/64)
	for i := range n {
		z = append(z, num.WordAt(x, 64*i-s))
	}
	return z
}
