package direct

import (
	"math/bits"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/superacc"
)

// A plainSum rounds numbers a x_i + b y_j of MP to MP in plain Go. It uses the highest W words of
// each product, with W chosen so that at least 14 bits lie between the last place and the error of
// these words. Numbers whose rounding remains open and numbers that are not finite take the exact
// value.
//
// A product is exact if its factors have at most W words in all, zero words aside. Otherwise, in
// units of its last word, it is too small by less than 2 W, see topWords, and by less than 1 more
// for each number of more than W words. The bits shifted out of the smaller term cost 1 more.
type plainSum struct {
	words   int
	a, b    plainFactor
	x, y, z *num.Array // if y is nil, there is one term
}

// A plainFactor is the number (-1)^sign 0.words 2^exp.
type plainFactor struct {
	sign  uint64
	exp   int64
	words []uint64
	used  int    // number of words from the top down to the last one that is not 0
	power bool   // whether it is a power of two
	cut   uint64 // 1 if it has more bits, else 0
}

// mostPlain is the largest number of words of products by columns. Beyond it math/big is as fast.
const mostPlain = longTop

// newPlainSum returns nil if this method cannot be used.
func newPlainSum(a factor, x *num.Array, b factor, y, z *num.Array) *plainSum {
	if z.Kind != num.MP || x.Kind != num.MP || a.Class != num.Finite || y != nil && (y.Kind != num.MP || b.Class != num.Finite) {
		return nil
	}
	n := 1
	for 64*n < int(z.Prec)+14+bits.Len(uint(plainBound(n))) {
		n++
	}
	if n > mostPlain {
		return nil
	}
	s := &plainSum{words: n, a: newPlainFactor(a.Real, n), x: x, y: y, z: z}
	if y != nil {
		s.b = newPlainFactor(b.Real, n)
	}
	return s
}

// plainBound bounds the errors of sums of n words.
func plainBound(n int) int { return 2*(2*n+2) + 1 }

func newPlainFactor(r num.Real, n int) (f plainFactor) {
	length, low := int64(num.BitLen(r.Mag)), int64(num.TrailingZeros(r.Mag))
	f = plainFactor{sign: superacc.Sign(r.Neg), exp: r.Exp + length, words: make([]uint64, n), power: low == length-1}
	for k := range f.words {
		f.words[n-1-k] = num.WordAt(r.Mag, length-int64(64*(k+1)))
	}
	if length-low > int64(64*n) {
		f.cut = 1
	}
	f.used = usedWords(f.words)
	return f
}

// usedWords returns the number of words from the top down to the last one that is not 0.
func usedWords(x []uint64) int {
	for k, w := range x {
		if w != 0 {
			return len(x) - k
		}
	}
	return 0
}

// term computes words whose fraction times 2^exp approximates f times number i of v, with an error
// of at most err of their units. For a power of two the words lie in v. Otherwise they lie before a
// word 0 in room, which has space for 2 n + 1 words.
func (f *plainFactor) term(v *num.Array, i int, room []uint64) (p []uint64, exp int64, err uint64) {
	n, l := len(f.words), v.Limbs()
	x := v.Sig[i*l : (i+1)*l]
	exp = int64(v.Exp[i]) + f.exp
	err = f.cut
	switch {
	case l > n:
		if usedWords(x) > n {
			err++
		}
		x = x[l-n:]
	case l < n:
		wide := room[n+1:]
		clear(wide[:n-l])
		copy(wide[n-l:n], x)
		x = wide[:n]
	}
	if f.power {
		return x, exp - 1, err
	}
	p = room[:n+1]
	clear(p)
	if err == 0 && f.used < n {
		if k := usedWords(x); k+f.used <= n {
			z := p[n-k-f.used : n]
			for j, w := range f.words[n-f.used:] {
				z[j+k] = superacc.AddMul(z[j:j+k], x[n-k:], w)
			}
			return p[:n], exp, 0
		}
	}
	addTop(p, f.words, x)
	return p[:n], exp, err + uint64(2*n)
}

// set stores a x_i + b y_j, rounded, in number k, if it can decide the rounding. It uses the memory
// of acc.
func (s *plainSum) set(acc *superacc.Acc, k, i, j int) bool {
	if s == nil || s.x.Cls[i].Class() != num.Finite {
		return false
	}
	n := s.words
	if n == 2 && s.x.Limbs() <= 2 && (s.y == nil || s.y.Limbs() <= 2) {
		return s.setTwo(k, i, j)
	}
	// The sum lies between a word 0 and a word for its carry, in the place of the first term.
	room := acc.Scratch(4*n + 3)
	m := room[1 : n+2]
	p, ref, err := s.a.term(s.x, i, room[1:2*n+2])
	neg := s.a.sign ^ s.x.Cls[i].Sign()
	if s.y == nil || s.y.Cls[j].Class() == num.Zero {
		if s.a.power {
			copy(m, p)
			m[n] = 0
		}
		return s.round(room[:n+2], neg, ref, err, k)
	}
	if s.y.Cls[j].Class() != num.Finite {
		return false
	}
	q, exp, more := s.b.term(s.y, j, room[2*n+2:])
	other := s.b.sign ^ s.y.Cls[j].Sign()
	if exp > ref {
		p, q, ref, exp, neg, other = q, p, exp, ref, other, neg
	}
	err += more
	d := uint64(ref - exp)
	if d != 0 && (err != 0 || d >= uint64(64*n) || num.TrailingZeros(q) < int(d)) {
		err++
	}
	minus := neg ^ other
	if addShifted(m, p, q, d, minus) {
		num.Negate(m)
		neg ^= 1
	}
	return s.round(room[:n+2], neg, ref, err, k)
}

// addShifted sets m, which has one word more than p and q, to p + q 2^-d, cut off. For minus = 1 it
// subtracts instead, in two's complement. It reports whether the result is negative. The first
// words of m may be p or q.
func addShifted(m, p, q []uint64, d, minus uint64) (negative bool) {
	n := len(p)
	m, q = m[:n+1], q[min(d>>6, uint64(len(q))):]
	shift, flip, carry := d&63, -minus, minus
	k := 0
	if len(q) > 0 {
		word := q[0]
		for _, next := range q[1:] {
			m[k], carry = bits.Add64(p[k], (word>>shift|next<<1<<(63-shift))^flip, carry)
			word = next
			k++
		}
		m[k], carry = bits.Add64(p[k], word>>shift^flip, carry)
		k++
	}
	for ; k < n; k++ {
		m[k], carry = bits.Add64(p[k], flip, carry)
	}
	m[n] = flip + carry
	return minus != 0 && m[n] != 0
}

// round stores m, rounded, in number k, if an error of err units of the second word does not
// matter. The first word of m is 0 and its last at most 1. The words between are a fraction times
// 2^ref.
func (s *plainSum) round(m []uint64, neg uint64, ref int64, err uint64, k int) bool {
	z := s.z
	prec, l := int(z.Prec), z.Limbs()
	length := num.BitLen(m)
	drop := length - prec
	if drop < 64+2 {
		return false // too much cancels
	}
	tail := num.WordAt(m, int64(drop-64))
	const half = 1 << 63
	e := err
	switch {
	case err == 0: // ties to even, and bits further below, are left to others
	case drop >= 128:
		e = err>>min(drop-128, 63) + 2
	case err >= 1<<(drop-66): // below a power of two the last place is half as large
		return false
	default:
		e = err<<(128-drop) + 2
	}
	if distance(tail, half) <= e {
		return false
	}
	top := ref + int64(length-64*(s.words+1))
	if top != int64(int32(top)) || max(top, -top) > 1<<31-8 {
		return false
	}
	sig := z.Sig[k*l : (k+1)*l]
	first := length - 64*l // at least 2, because drop is
	from, shift := m[first>>6:], uint(first)&63
	word := from[0]
	for h, next := range from[1 : l+1] { // m has at least one word more
		sig[h] = word>>shift | next<<1<<(63-shift)
		word = next
	}
	unit := uint64(1) << uint(64*l-prec)
	up := tail >> 63 * unit
	sig[0], up = bits.Add64(sig[0]&-unit, up, 0)
	for h := 1; up != 0 && h < l; h++ {
		sig[h], up = bits.Add64(sig[h], 0, up)
	}
	if up != 0 {
		sig[l-1] = half
		top++
	}
	z.Exp[k], z.Cls[k] = int32(top), num.FiniteCls(neg)
	return true
}

// distance returns |x - y|, at most 2^63. It has no branch, because signs are random.
func distance(x, y uint64) uint64 {
	d := x - y
	sign := uint64(int64(d) >> 63)
	return (d ^ sign) - sign
}

// termTwo is term for factors of two words and numbers of at most two words. It returns the words.
func (f *plainFactor) termTwo(v *num.Array, i int) (hi, lo uint64, exp int64, err uint64) {
	if v.Limbs() == 2 {
		hi, lo = v.Sig[2*i+1], v.Sig[2*i]
	} else {
		hi = v.Sig[i]
	}
	exp = int64(v.Exp[i]) + f.exp
	if f.power {
		return hi, lo, exp - 1, 0
	}
	if err = f.cut; f.words[0]|lo != 0 {
		err += 4
	}
	h0, _ := bits.Mul64(f.words[0], hi)
	h1, _ := bits.Mul64(f.words[1], lo)
	hi, lo = bits.Mul64(f.words[1], hi)
	lo, c := bits.Add64(lo, h0, 0)
	hi, _ = bits.Add64(hi, 0, c)
	lo, c = bits.Add64(lo, h1, 0)
	return hi + c, lo, exp, err
}

// setTwo is set for two words, which fit in registers. It takes half the time.
func (s *plainSum) setTwo(k, i, j int) bool {
	hi, lo, ref, err := s.a.termTwo(s.x, i)
	neg := s.a.sign ^ s.x.Cls[i].Sign()
	if s.y != nil && s.y.Cls[j].Class() != num.Zero {
		if s.y.Cls[j].Class() != num.Finite {
			return false
		}
		qHi, qLo, exp, more := s.b.termTwo(s.y, j)
		other := s.b.sign ^ s.y.Cls[j].Sign()
		if exp > ref {
			hi, lo, qHi, qLo, ref, exp, neg, other = qHi, qLo, hi, lo, exp, ref, other, neg
		}
		err += more
		d := uint64(ref - exp)
		// Shifts by 64 or more leave 0.
		if qLo<<(64-d) != 0 || d >= 64 && qLo|qHi<<(128-d) != 0 || d > 128 {
			err++
		}
		qHi, qLo = qHi>>d, qLo>>d|qHi<<(64-d)|qHi>>(d-64)
		minus := neg ^ other
		var c uint64
		lo, c = bits.Add64(lo, qLo^-minus, minus)
		hi, c = bits.Add64(hi, qHi^-minus, c)
		switch {
		case minus == 0 && c != 0:
			if err|lo&1 != 0 {
				err = err>>1 + 1
			}
			hi, lo, ref = hi>>1|1<<63, lo>>1|hi<<63, ref+1
		case minus != 0 && c == 0:
			lo, c = bits.Sub64(0, lo, 0)
			hi, _ = bits.Sub64(0, hi, c)
			neg ^= 1
		}
	}
	zeros := uint(bits.LeadingZeros64(hi))
	if zeros > 16 {
		return false // too much cancels
	}
	hi, lo, err, ref = hi<<zeros|lo>>(64-zeros), lo<<zeros, err<<zeros, ref-int64(zeros)
	if max(ref, -ref) > 1<<31-8 {
		return false
	}
	// An error is at most a quarter of the last place. Below a power of two the last place is half
	// as large.
	z := s.z
	p, e := uint(z.Prec), uint64(0)
	tail := hi<<p | lo>>(64-p) | lo<<(p-64)
	if err != 0 {
		if err >= 1<<min(126-p, 63) {
			return false
		}
		e = err>>(64-p) + err<<(p-64) + 2
	}
	if distance(tail, 1<<63) <= e {
		return false
	}
	up := tail >> 63
	var c uint64
	at := k
	if p <= 64 {
		hi, c = bits.Add64(hi&^(1<<(64-p)-1), up<<(64-p), 0)
	} else {
		at = 2*k + 1
		z.Sig[at-1], c = bits.Add64(lo&^(1<<(128-p)-1), up<<(128-p), 0)
		hi, c = bits.Add64(hi, 0, c)
	}
	if c != 0 {
		hi, ref = 1<<63, ref+1
	}
	z.Sig[at], z.Exp[k], z.Cls[k] = hi, int32(ref), num.FiniteCls(neg)
	return true
}
