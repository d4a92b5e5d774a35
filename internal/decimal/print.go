package decimal

import (
	"math"
	"math/big"
	"math/bits"
	"strconv"

	"github.com/halfulp/halfulp/internal/num"
)

// Style sets how numbers are written: 0 is the shortest decimal that reads back to the same number,
// n > 0 is n significant digits, correctly rounded, and Hex is exact.
type Style int

// The styles that are not a number of digits.
const (
	Shortest Style = 0
	Hex      Style = -1
)

// Printer writes numbers of one format. It keeps powers of ten and scratch, so each goroutine needs
// its own Printer.
type Printer struct {
	f      num.Format
	pow    map[int]*powers // by length in words
	value  []uint64
	scaled [3][]uint64 // the number, and the ends of its rounding interval, times 10^k
	whole  []uint64
	digits []byte
	test   *num.Array
	reach  [plainHigh2 - plainLow2][2]uint64 // of intervalPlain
}

// NewPrinter returns a printer for format f.
func NewPrinter(f num.Format) *Printer {
	return &Printer{f: f, pow: map[int]*powers{}, value: make([]uint64, num.ValueWords(f)), test: num.New(f, 1)}
}

// power returns 10^k with the given length.
func (p *Printer) power(k int64, words int) *power {
	t := p.pow[words]
	if t == nil {
		if len(p.pow) > 64 {
			clear(p.pow)
		}
		n := newPowers(words)
		t = &n
		p.pow[words] = t
	}
	return t.get(k)
}

// Append appends number i of a, which has the format of p, to dst.
func (p *Printer) Append(dst []byte, a *num.Array, i int, style Style) []byte {
	r := a.Value(i, p.value)
	if r.Class == num.NaN {
		return append(dst, "nan"...)
	}
	if r.Neg {
		dst = append(dst, '-')
	}
	switch {
	case r.Class == num.Inf:
		return append(dst, "inf"...)
	case style == Hex:
		return appendHex(dst, r)
	case r.Class == num.Zero:
		return append(dst, '0')
	}
	point := p.decimal(a, i, r, style)
	return layout(dst, p.digits, point, style == Shortest && p.holds(point))
}

// holds reports whether the shortest decimal 0.digits 10^point, with zeros after its digits, is an
// integer of the format. If so, it equals the number, and reads back as that integer.
func (p *Printer) holds(point int64) bool {
	n := int64(len(p.digits))
	if point <= n || float64(point)*log2Ten <= float64(p.f.Bits()) {
		return true
	}
	if point > plainHigh {
		return false
	}
	_, width := integerBits(&text{class: num.Finite, sig: p.digits, n: len(p.digits), exp: point - n})
	return width <= p.f.Bits()
}

// decimal sets p.digits for number i of a, r finite. The number is 0.digits 10^point.
func (p *Printer) decimal(a *num.Array, i int, r num.Real, style Style) (point int64) {
	switch {
	case p.f.Kind == num.F32:
		return p.floatDigits(float64(a.F32[i]), 32, int(style))
	case p.f.Kind == num.F64:
		return p.floatDigits(a.F64[0][i], 64, int(style))
	case style == Shortest:
		return p.shortest(a, i, r)
	}
	return p.fixed(r, int(style))
}

// floatDigits sets p.digits by strconv.
func (p *Printer) floatDigits(x float64, size, n int) (point int64) {
	var buf [64]byte
	b := strconv.AppendFloat(buf[:0], math.Abs(x), 'e', n-1, size)
	d := p.digits[:0]
	for k, c := range b {
		if c == 'e' {
			e, _ := exponent(b[k+1:])
			point = e + 1
			break
		}
		if c != '.' {
			d = append(d, c)
		}
	}
	p.digits = d
	return point
}

// Decimals from 10^-6 up to below 10^21 are written without an exponent, as in ECMAScript.
// Exceptions are decimals that would show digits that were not requested, or zeros that the number
// does not have: an integer that is written in full is exact.
const (
	plainLow  = -5
	plainHigh = 21
)

// layout writes 0.digits 10^point. padded allows zeros between the digits and the point.
func layout(dst, digits []byte, point int64, padded bool) []byte {
	n := int64(len(digits))
	switch {
	case point < plainLow || point > plainHigh || !padded && point > n:
		dst = append(dst, digits[0])
		if n > 1 {
			dst = append(dst, '.')
			dst = append(dst, digits[1:]...)
		}
		dst = append(dst, 'e')
		if point > 0 {
			dst = append(dst, '+')
		}
		return strconv.AppendInt(dst, point-1, 10)
	case point <= 0:
		dst = append(dst, '0', '.')
		for range -point {
			dst = append(dst, '0')
		}
		return append(dst, digits...)
	case point >= n:
		dst = append(dst, digits...)
		for range point - n {
			dst = append(dst, '0')
		}
		return dst
	}
	dst = append(dst, digits[:point]...)
	dst = append(dst, '.')
	return append(dst, digits[point:]...)
}

// appendHex writes |r| exactly as 0x1.8p+3.
func appendHex(dst []byte, r num.Real) []byte {
	if r.Class == num.Zero {
		return append(dst, "0x0p+0"...)
	}
	n := int64(num.BitLen(r.Mag))
	low := int64(num.TrailingZeros(r.Mag))
	dst = append(dst, '0', 'x', '1')
	pos := n - 1
	if pos > low {
		dst = append(dst, '.')
	}
	for pos > low {
		pos -= 4
		dst = append(dst, "0123456789abcdef"[num.WordAt(r.Mag, pos)&15])
	}
	dst = append(dst, 'p')
	e := r.Exp + n - 1
	if e >= 0 {
		dst = append(dst, '+')
	}
	return strconv.AppendInt(dst, e, 10)
}

// interval holds a number X 2^exp and the interval of the numbers that round to it: from X - 2^low
// to X + 2^high, with or without the ends. The exponents are chosen such that low, high >= 0.
type interval struct {
	x                 []uint64
	exp               int64
	low, high         int64
	withLow, withHigh bool
}

// shortest sets p.digits to the shortest digits within the rounding interval of number i of a;
// among several, to the digits nearest to the number.
func (p *Printer) shortest(a *num.Array, i int, r num.Real) (point int64) {
	var v interval
	if p.f.Kind == num.MP {
		v = p.intervalMP(r)
	} else {
		v = p.intervalExpansion(a, i, r)
	}
	if point, ok := p.shortInteger(r, v); ok {
		return point
	}
	// The smallest k for which the interval times 10^k is wider than 10: it contains a multiple of
	// 10, and few multiples of 100.
	width := float64(v.exp) + float64(v.high) + 1
	if v.low != v.high {
		width = float64(v.exp) + math.Log2(math.Exp2(float64(v.low-v.high))+1) + float64(v.high)
	}
	k := int64(math.Floor(1-float64(width*log10Two))) + 1
	if p.f.Kind == num.MP {
		if s, ok := p.scalePlain(r, v, k); ok {
			return p.shorten(s) - k
		}
	}
	words := len(v.x) + 1
	for {
		var s scaled
		var ok bool
		if words <= 4*(len(v.x)+1) {
			s, ok = p.scale(v, p.power(k, words))
		} else if max(k, -k) <= max(4096, int64(64*len(v.x))) {
			s, ok = scaleExactly(v, k)
		} else {
			w := newPower(k, words)
			s, ok = p.scale(v, &w)
		}
		if ok {
			p.digits = appendInteger(p.digits[:0], s.floor)
			return p.shorten(s) - k
		}
		words *= 2
	}
}

const log10Two = math.Ln2 / math.Ln10

// shortInteger handles integers below 2^64 that are alone in an interval narrower than 1: it
// contains no shorter decimal.
func (p *Printer) shortInteger(r num.Real, v interval) (point int64, ok bool) {
	if v.exp+max(v.low, v.high) > -1 {
		return 0, false
	}
	top := r.Exp + int64(num.BitLen(r.Mag))
	if top > 64 || top < 1 || r.Exp+int64(num.TrailingZeros(r.Mag)) < 0 {
		return 0, false
	}
	d := strconv.AppendUint(p.digits[:0], num.WordAt(r.Mag, -r.Exp), 10)
	point = int64(len(d))
	p.digits = trimZeros(d)
	return point, true
}

func trimZeros(d []byte) []byte {
	for len(d) > 1 && d[len(d)-1] == '0' {
		d = d[:len(d)-1]
	}
	return d
}

// intervalMP returns the rounding interval of an MP number: half an ulp on each side, a quarter
// below powers of two. Its ends round to the number if its significand is even.
func (p *Printer) intervalMP(r num.Real) interval {
	spare := int64(64*p.f.Limbs()) - int64(p.f.Prec)
	v := interval{x: r.Mag, exp: r.Exp, low: spare - 1, high: spare - 1}
	if num.TrailingZeros(r.Mag) == 64*len(r.Mag)-1 {
		v.low--
	}
	even := num.WordAt(r.Mag, spare)&1 == 0
	v.withLow, v.withHigh = even, even
	if v.low < 0 {
		p.value = shiftLeft(p.value, r.Mag, 2)
		v.x, v.exp, v.low, v.high = p.value, v.exp-2, v.low+2, v.high+2
	}
	return v
}

// intervalExpansion returns the rounding interval of a DD, TD or QD number. Its ends lie half an
// ulp of the last term away, or a quarter where the spacing changes at the number; rounding decides
// which.
func (p *Printer) intervalExpansion(a *num.Array, i int, r num.Real) interval {
	last := a.F64[p.f.Terms()-1][i]
	half := int64(-1075)
	if _, e := num.Decompose(last); last != 0 {
		half = e - 1
	}
	// In units of 2^-3 of that half ulp there is room for points between.
	unit := min(half, r.Exp) - 3
	v := interval{exp: unit}
	v.x = shiftLeft(make([]uint64, 0, len(r.Mag)+36), r.Mag, uint(r.Exp-unit))
	v.x = trim(v.x)
	side := func(up bool) (width int64, with bool) {
		for width = half - unit; ; width-- {
			if width == 0 || p.roundsTo(a, i, r.Neg, v, width, up, true) {
				return width, p.roundsTo(a, i, r.Neg, v, width, up, false)
			}
		}
	}
	v.low, v.withLow = side(false)
	v.high, v.withHigh = side(true)
	return v
}

// roundsTo reports whether the number 2^width units above or below v, or a number just short of it,
// rounds to number i of a.
func (p *Printer) roundsTo(a *num.Array, i int, neg bool, v interval, width int64, up, short bool) bool {
	// In units of one half, so that there is a number just short.
	x := shiftLeft(nil, v.x, 1)
	x = append(x, 0)
	d := shiftLeft(nil, []uint64{1}, uint(width)+1)
	if short {
		num.SubShifted(d, []uint64{1})
	}
	if up {
		num.AddShifted(x, d)
	} else {
		num.SubShifted(x, d)
	}
	p.test.Set(0, num.Real{Class: num.Finite, Neg: neg, Exp: v.exp - 1, Mag: x})
	return p.test.SameBits(0, a, i)
}

// scaled is a number and its interval, times 10^k: the integer part of the number, whether a
// fraction follows, and the number of integers of the interval below and above that integer.
type scaled struct {
	floor       []uint64
	fraction    bool
	below       int64 // least integer of the interval = floor - below
	above       int64 // greatest integer of the interval = floor + above
	halfOrAbove bool  // fraction >= 1/2
	half        bool  // fraction = 1/2
}

// scale multiplies v by w. It fails if w's error leaves an integer part open.
func (p *Printer) scale(v interval, w *power) (s scaled, ok bool) {
	n := len(v.x) + len(w.sig)
	frac := -(v.exp + w.exp) // bits after the point
	if frac < 1 || frac > int64(64*n) {
		return s, false
	}
	mid, lo, hi := sized(&p.scaled[0], n+1), sized(&p.scaled[1], n+1), sized(&p.scaled[2], n+1)
	mul(mid[:n], v.x, w.sig)
	mid[n] = 0
	copy(lo, mid)
	copy(hi, mid)
	p.whole = shiftLeft(p.whole, w.sig, uint(v.low&63))
	num.SubShifted(lo[v.low>>6:], p.whole)
	p.whole = shiftLeft(p.whole, w.sig, uint(v.high&63))
	num.AddShifted(hi[v.high>>6:], p.whole)
	// The errors of all three are at most (X + 2^high) err upwards, 2^high <= X. For the number
	// itself the half decides, too.
	room := num.BitLen(v.x) + 1
	halves, ok := wholePart(mid, frac-1, w.err, room)
	if !ok {
		return s, false
	}
	wholeLow, ok := wholePart(lo, frac, w.err, room)
	if !ok {
		return s, false
	}
	wholeHigh, ok := wholePart(hi, frac, w.err, room)
	if !ok {
		return s, false
	}
	u := num.WordAt(mid, frac)
	s.below = int64(u - num.WordAt(lo, frac))
	if !wholeLow || !v.withLow {
		s.below-- // the floor of the lower end lies outside
	}
	s.above = int64(num.WordAt(hi, frac) - u)
	if wholeHigh && !v.withHigh {
		s.above--
	}
	s.halfOrAbove = num.WordAt(mid, frac-1)&1 != 0
	s.half = halves && s.halfOrAbove
	s.fraction = !halves || s.half
	s.floor = p.above(mid, frac)
	return s, true
}

// wholePart reports whether x, with frac bits after the point, is an integer. If err > 0, x stands
// for a number that is up to err 2^room larger. wholePart fails if this could change the integer
// part, or whether x is an integer.
func wholePart(x []uint64, frac int64, err uint64, room int) (whole, ok bool) {
	whole = int64(num.TrailingZeros(x)) >= frac
	if err == 0 {
		return whole, true
	}
	if whole {
		return false, false
	}
	// The bits between the error's top and the point must not be all ones.
	for pos := int64(room + bits.Len64(err)); pos < frac; pos += 64 {
		mask := uint64(math.MaxUint64)
		if frac-pos < 64 {
			mask = 1<<uint(frac-pos) - 1
		}
		if num.WordAt(x, pos)&mask != mask {
			return false, true
		}
	}
	return false, false
}

// scaleExactly is scale with rational arithmetic.
func scaleExactly(v interval, k int64) (scaled, bool) {
	x := num.ToInt(v.x)
	one := big.NewInt(1)
	lo := new(big.Int).Sub(x, new(big.Int).Lsh(one, uint(v.low)))
	hi := new(big.Int).Add(x, new(big.Int).Lsh(one, uint(v.high)))
	den := big.NewInt(1)
	five := new(big.Int).Exp(big.NewInt(5), big.NewInt(max(k, -k)), nil)
	if k >= 0 {
		for _, z := range []*big.Int{x, lo, hi} {
			z.Mul(z, five)
		}
	} else {
		den = five
	}
	if e := v.exp + k; e >= 0 {
		for _, z := range []*big.Int{x, lo, hi} {
			z.Lsh(z, uint(e))
		}
	} else {
		den.Lsh(den, uint(-e))
	}
	var rest [3]*big.Int
	for j, z := range []*big.Int{x, lo, hi} {
		rest[j] = new(big.Int)
		z.QuoRem(z, den, rest[j])
	}
	s := scaled{floor: num.FromInt(nil, x), fraction: rest[0].Sign() != 0}
	s.below = new(big.Int).Sub(x, lo).Int64()
	if rest[1].Sign() != 0 || !v.withLow {
		s.below--
	}
	s.above = hi.Sub(hi, x).Int64()
	if rest[2].Sign() == 0 && !v.withHigh {
		s.above--
	}
	c := rest[0].Lsh(rest[0], 1).Cmp(den)
	s.halfOrAbove, s.half = c >= 0, c == 0
	return s, true
}

// shorten changes p.digits, the integer part of s, to the nearest multiple of the highest power of
// ten with a multiple in the interval. It drops its zeros, and returns the place of the point after
// the integer.
func (p *Printer) shorten(s scaled) (point int64) {
	n := len(p.digits)
	var last int64 // the two last digits
	for _, c := range p.digits[max(0, n-2):] {
		last = last*10 + int64(c-'0')
	}
	for _, unit := range []int64{100, 10, 1} {
		r := last % unit
		down, up := r, unit-r
		downIn, upIn := down <= s.below, up <= s.above
		if r == 0 && !s.fraction {
			upIn = false
		}
		if unit == 1 && !downIn && !upIn {
			downIn = true
		}
		switch {
		case downIn && upIn:
			// Nearest: down + fraction against up - fraction; ties to even.
			twice := 2*r - unit
			nearerUp := twice > 0 || twice == 0 && s.fraction || unit == 1 && s.halfOrAbove
			if tie := unit == 1 && s.half || unit > 1 && twice == 0 && !s.fraction; tie {
				nearerUp = last/unit%2 != 0
			}
			if nearerUp {
				return p.add(up)
			}
			return p.add(-down)
		case downIn:
			return p.add(-down)
		case upIn:
			return p.add(up)
		}
	}
	return int64(n)
}

// add adds d, |d| <= 100, to the integer in p.digits. It must not need to borrow beyond the two
// last digits. It drops trailing zeros, and returns the number of digits of the integer.
func (p *Printer) add(d int64) (point int64) {
	for i := len(p.digits) - 1; d != 0; i-- {
		if i < 0 {
			p.digits = append(p.digits, 0)
			copy(p.digits[1:], p.digits)
			p.digits[0] = '0'
			i = 0
		}
		t := int64(p.digits[i]-'0') + d%10
		d /= 10
		switch {
		case t < 0:
			t += 10
			d--
		case t > 9:
			t -= 10
			d++
		}
		p.digits[i] = byte('0' + t)
	}
	point = int64(len(p.digits))
	p.digits = trimZeros(p.digits)
	return point
}

// fixed sets p.digits to n significant digits of r, correctly rounded.
func (p *Printer) fixed(r num.Real, n int) (point int64) {
	x := trim(r.Mag)
	top := num.WordAt(x, int64(num.BitLen(x)-64))
	log := (float64(r.Exp+int64(num.BitLen(x))-64) + math.Log2(float64(top))) * log10Two
	k := int64(n) - 1 - int64(math.Floor(log))
	first := int(float64(n)*log2Ten/64) + 2
	for words := first; ; {
		var s scaled
		var ok bool
		if words > 4*first && max(k, -k) <= max(4096, int64(64*len(x))) {
			s, ok = scaleExactly(interval{x: x, exp: r.Exp}, k)
		} else {
			s, ok = p.scaleNumber(x, r.Exp, p.power(k, words))
		}
		if !ok {
			words *= 2
			continue
		}
		p.digits = appendInteger(p.digits[:0], s.floor)
		if extra := len(p.digits) - n; extra != 0 {
			k -= int64(extra) // the logarithm was off
			continue
		}
		if s.halfOrAbove && !(s.half && (p.digits[n-1]-'0')%2 == 0) {
			n0 := p.add(1)
			for len(p.digits) < n {
				p.digits = append(p.digits, '0') // which add dropped
			}
			return n0 - k
		}
		return int64(n) - k
	}
}

// scaleNumber multiplies x 2^exp by w. It finds the integer part, and on which side of one half the
// fraction lies. It fails if w's error leaves that open.
func (p *Printer) scaleNumber(x []uint64, exp int64, w *power) (s scaled, ok bool) {
	n := len(x) + len(w.sig)
	frac := -(exp + w.exp) // bits after the point
	if frac < 2 || frac > int64(64*n) {
		return s, false
	}
	v := sized(&p.scaled[0], n)
	mul(v, x, w.sig)
	whole, ok := wholePart(v, frac-1, w.err, num.BitLen(x))
	if !ok {
		return s, false
	}
	s.halfOrAbove = num.WordAt(v, frac-1)&1 != 0
	s.half = s.halfOrAbove && whole
	s.floor = p.above(v, frac)
	return s, true
}

// sized returns *x with n words.
func sized(x *[]uint64, n int) []uint64 {
	if cap(*x) < n {
		*x = make([]uint64, n+8)
	}
	*x = (*x)[:n]
	return *x
}

// above returns the bits of x from position pos on, in p.whole.
func (p *Printer) above(x []uint64, pos int64) []uint64 {
	p.whole = p.whole[:0]
	for ; pos < int64(64*len(x)); pos += 64 {
		p.whole = append(p.whole, num.WordAt(x, pos))
	}
	return trim(p.whole)
}

// appendInteger appends x in decimal to the empty dst, nothing for 0. It
// destroys x.
func appendInteger(dst []byte, x []uint64) []byte {
	x = trim(x)
	if len(x) > maxSchoolbook {
		return num.ToInt(x).Append(dst, 10)
	}
	var chunks [maxSchoolbook*64/63 + 2]uint64
	n := 0
	for len(x) > 0 {
		chunks[n] = divWord(x, pow10[19])
		n++
		x = trim(x)
	}
	for n--; n >= 0; n-- {
		var buf [20]byte
		d := strconv.AppendUint(buf[:0], chunks[n], 10)
		if len(dst) > 0 { // all chunks but the first have 19 digits
			for range 19 - len(d) {
				dst = append(dst, '0')
			}
		}
		dst = append(dst, d...)
	}
	return dst
}
