package decimal

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/big"
	"slices"
	"strconv"
	"unsafe"

	"github.com/halfulp/halfulp/internal/num"
)

// Parser reads numbers into arrays of one format. It keeps powers of ten and scratch, so each
// goroutine needs its own Parser.
type Parser struct {
	f     num.Format
	pow   powers
	digit []uint64   // significand
	prod  []uint64   // lower end of the enclosure
	high  []uint64   // upper end
	pair  *num.Array // both ends rounded
	bytes []byte
	text  []byte                        // digits of a number
	plain [maxPlainWords + 1][][]uint64 // tables of setPlain by their words
	sum   []uint64
}

// NewParser returns a parser for format f.
func NewParser(f num.Format) *Parser {
	// One word beyond the precision leaves at least 24 bits between the error of a power and the
	// bits that decide, for the exponents of MP, and 50 for ordinary ones. Expansions get one word
	// more than their terms fill.
	words := f.Limbs() + 1
	if f.Kind != num.MP {
		words = f.Bits()/64 + 2
	}
	return &Parser{f: f, pow: newPowers(words), pair: num.New(f, 2)}
}

// Loss is the loss of a number of a text by the range of a format.
type Loss uint8

// The losses.
const (
	Kept   Loss = iota // nothing
	ToInf              // a finite number became infinite
	ToZero             // a number other than 0 became 0
)

// Set stores the number tok, rounded once to nearest even, in number i of a,
// which has the format of p.
func (p *Parser) Set(a *num.Array, i int, tok []byte) (Loss, error) {
	if p.f.Kind == num.MP && len(tok) > minPlain && p.setPlain(a, i, tok) {
		return Kept, nil
	}
	t, err := scan(tok)
	if err != nil {
		return Kept, err
	}
	p.set(a, i, tok, &t)
	if t.class == num.Finite {
		switch a.Class(i) {
		case num.Inf:
			return ToInf, nil
		case num.Zero:
			return ToZero, nil
		}
	}
	return Kept, nil
}

func (p *Parser) set(a *num.Array, i int, tok []byte, t *text) {
	switch {
	case t.class != num.Finite:
		a.Set(i, num.Real{Class: t.class, Neg: t.neg})
	case t.hex:
		a.Set(i, p.hexReal(t))
	case p.setFar(a, i, t), p.setSmall(a, i, t), p.setFloat(a, i, tok, t), p.setEnclosed(a, i, t):
	default:
		a.Set(i, p.exact(t))
	}
}

// Largest and smallest binary exponents of the formats, with the margins that the tests for
// certainly too large and certainly too small numbers need.
const (
	mpTop    = 1<<31 + 2
	mpBottom = -(1<<31 + 4)
	f64Top   = 1026 // of all formats but MP
	f64Low   = -1078
)

var log2Ten = math.Log2(10)

// setFar handles numbers far beyond the exponents of the format, whose power of ten must not be
// computed.
func (p *Parser) setFar(a *num.Array, i int, t *text) bool {
	top, low := float64(f64Top), float64(f64Low)
	if p.f.Kind == num.MP {
		top, low = mpTop, mpBottom
	}
	m := float64(t.exp + int64(t.n)) // 10^(m-1) <= |x| < 10^m
	r := num.Real{Class: num.Finite, Neg: t.neg, Mag: []uint64{3}}
	switch {
	case (m-1)*log2Ten > top:
		r.Exp = maxExponent
	case m*log2Ten < low:
		r.Exp = -maxExponent
		if p.f.Kind != num.MP {
			a.Set(i, num.Real{Neg: t.neg})
			return true
		}
	default:
		return false
	}
	a.Set(i, r)
	return true
}

// setSmall handles D 10^q with D < 10^19 that is an integer below 10^19 or has a power of two as
// denominator.
func (p *Parser) setSmall(a *num.Array, i int, t *text) bool {
	if t.n > 19 || t.exp < -27 || int64(t.n)+t.exp > 19 {
		return false
	}
	d := smallInteger(t)
	var exp int64
	if t.exp >= 0 {
		d *= pow10[t.exp]
	} else {
		f := pow5[-t.exp]
		if d%f != 0 {
			return false
		}
		d /= f
		exp = t.exp
	}
	p.digit = append(p.digit[:0], d)
	a.Set(i, num.Real{Class: num.Finite, Neg: t.neg, Exp: exp, Mag: p.digit})
	return true
}

// pow10[k] = 10^k and pow5[k] = 5^k, as far as 64 bits go.
var pow10, pow5 = smallPowers(10, 20), smallPowers(5, 28)

func smallPowers(b uint64, n int) []uint64 {
	t := []uint64{1}
	for len(t) < n {
		t = append(t, t[len(t)-1]*b)
	}
	return t
}

// Limits within which strconv.ParseFloat is correctly rounded. It clamps written exponents at 10^4.
// Where a few words do not decide, it keeps 800 digits and whether more follow, which is enough.
// But with more than 800 digits before the point, counted from the first nonzero digit, it loses
// the position of the point.
const (
	maxFloatLen     = 2000
	maxFloatField   = 5000
	maxFloatInteger = 800
)

// setFloat leaves IEEE formats to strconv, which is correctly rounded.
func (p *Parser) setFloat(a *num.Array, i int, tok []byte, t *text) bool {
	size := 64
	switch p.f.Kind {
	case num.F64:
	case num.F32:
		size = 32
	default:
		return false
	}
	if len(tok) > maxFloatLen || t.field > maxFloatField || t.field < -maxFloatField {
		return false
	}
	// The part before the exponent is D 10^(exp-field).
	if int64(t.n)+t.exp-t.field > maxFloatInteger {
		return false
	}
	p.bytes = append(p.bytes[:0], tok...)
	if t.bare {
		p.bytes = slices.Insert(p.bytes, bytes.LastIndexAny(p.bytes, "+-"), 'e')
	}
	for k, c := range p.bytes {
		if c > '9' {
			p.bytes[k] = 'e'
		}
	}
	x, err := strconv.ParseFloat(unsafe.String(&p.bytes[0], len(p.bytes)), size)
	if err != nil && !math.IsInf(x, 0) {
		return false
	}
	if size == 32 {
		a.F32[i] = float32(x)
	} else {
		a.F64[0][i] = x
	}
	return true
}

const zeroDigits = "0000000000000000"

// withoutPoint returns the digits of t after zeros zeros. The result is valid until the next call.
func (p *Parser) withoutPoint(t *text, zeros int) []byte {
	p.text = append(p.text[:0], zeroDigits[:zeros]...)
	if k := bytes.IndexByte(t.sig, '.'); k >= 0 {
		p.text = append(append(p.text, t.sig[:k]...), t.sig[k+1:]...)
	} else {
		p.text = append(p.text, t.sig...)
	}
	return p.text
}

// hexReal returns the exact value of a hexadecimal number.
func (p *Parser) hexReal(t *text) num.Real {
	n := (t.n + 15) / 16
	digits := p.withoutPoint(t, 16*n-t.n)
	p.digit = p.digit[:0]
	for end := 16 * n; end > 0; end -= 16 {
		p.digit = append(p.digit, hexWord((*[16]byte)(digits[end-16:])))
	}
	if p.f.Kind != num.MP && t.exp+int64(4*t.n) < f64Low {
		return num.Real{Neg: t.neg} // expansions would shift by the exponent
	}
	return num.Real{Class: num.Finite, Neg: t.neg, Exp: t.exp, Mag: p.digit}
}

// significand sets p.digit to the integer of the first digits of t, at most about max of them. It
// returns the exponent of ten for it, and whether digits are left out.
func (p *Parser) significand(t *text, max int) (exp int64, more bool) {
	d := p.digit[:0]
	left := t.n
	exp = t.exp
	if left > max {
		exp += int64(left - max)
		left, more = max, true
	}
	rest := p.withoutPoint(t, 0)[:left]
	for ; len(rest) >= 19; rest = rest[19:] {
		chunk := eightDigits(binary.LittleEndian.Uint64(rest))*1e11 + eightDigits(binary.LittleEndian.Uint64(rest[8:]))*1000 +
			uint64(rest[16]-'0')*100 + uint64(rest[17]-'0')*10 + uint64(rest[18]-'0')
		if c := mulWord(d, pow10[19], chunk); c != 0 {
			d = append(d, c)
		}
	}
	if k := len(rest); k > 0 {
		var chunk uint64
		for _, c := range rest {
			chunk = chunk*10 + uint64(c-'0')
		}
		if c := mulWord(d, pow10[k], chunk); c != 0 {
			d = append(d, c)
		}
	}
	p.digit = d
	return exp, more
}

// setEnclosed multiplies the leading digits by the leading words of the power of ten, and stores
// the result if the enclosure decides it.
func (p *Parser) setEnclosed(a *num.Array, i int, t *text) bool {
	exp, more := p.significand(t, 20*p.pow.words)
	if exp > maxPower || exp < -maxPower {
		return false
	}
	errD := uint64(0)
	if more {
		errD = 1
	}
	return p.multiply(a, i, t.neg, p.digit, errD, p.pow.get(exp))
}

// multiply stores the number whose magnitude lies between d w and (d + errD) (w + its error), if
// all numbers between them round to the same number.
func (p *Parser) multiply(a *num.Array, i int, neg bool, d []uint64, errD uint64, w *power) bool {
	n := len(d) + len(w.sig)
	if cap(p.prod) < n+1 {
		p.prod, p.high = make([]uint64, n+8), make([]uint64, n+8)
	}
	lo, hi := p.prod[:n], p.high[:n+1]
	mul(lo, d, w.sig)
	r := num.Real{Class: num.Finite, Neg: neg, Exp: w.exp, Mag: lo}
	if errD == 0 && w.err == 0 {
		a.Set(i, r)
		return true
	}
	// (d + errD) err + errD sig, d + errD <= 2^BitLen(d), sig < 2^(64 words).
	copy(hi, lo)
	hi[n] = 0
	addShifted(hi, num.BitLen(d), w.err)
	addShifted(hi, 64*len(w.sig), errD)
	if p.f.Kind == num.MP {
		if !agree(lo, hi, int64(num.BitLen(lo))-int64(p.f.Prec)-1) {
			return false
		}
		a.Set(i, r)
		return true
	}
	p.pair.Set(0, r)
	r.Mag = hi
	p.pair.Set(1, r)
	if !p.pair.SameBits(0, p.pair, 1) {
		return false
	}
	a.CopyFrom(i, p.pair, 0)
	return true
}

// addShifted adds w 2^pos to x.
func addShifted(x []uint64, pos int, w uint64) {
	if w == 0 {
		return
	}
	s := uint(pos & 63)
	part := [2]uint64{w << s, w >> (64 - s)}
	num.AddShifted(x[pos>>6:], part[:])
}

// agree reports whether lo and hi have the same bits from position pos on and lo has a bit set
// below pos, the position of half an ulp. Then no number between them is a tie or a number of the
// format.
func agree(lo, hi []uint64, pos int64) bool {
	if pos <= 0 || hi[len(lo)] != 0 {
		return false
	}
	k, s := int(pos>>6), uint(pos&63)
	if (lo[k]^hi[k])>>s != 0 {
		return false
	}
	for j := k + 1; j < len(lo); j++ {
		if lo[j] != hi[j] {
			return false
		}
	}
	if lo[k]<<(64-s) != 0 {
		return true
	}
	return !num.IsZero(lo[:k])
}

// exact returns D 10^q exactly, or with all bits that can matter and whether others follow.
func (p *Parser) exact(t *text) num.Real {
	d := integer(t)
	r := num.Real{Class: num.Finite, Neg: t.neg}
	k := t.exp
	if k < 0 {
		k = -k
	}
	// Beyond limit D 10^q has an odd factor of more than p + 1 bits or a
	// denominator that is no power of two: it is never a tie, so the enclosure
	// decides at some length. IEEE formats and expansions stay within it.
	limit := max(4096, int64(p.f.Prec), 2*int64(t.n))
	if k > limit {
		return p.far(t, d)
	}
	five := new(big.Int).Exp(big.NewInt(5), big.NewInt(k), nil)
	if t.exp >= 0 {
		r.Mag, r.Exp = num.FromInt(nil, d.Mul(d, five)), t.exp
		return r
	}
	// The quotient gets p + 64 bits, and for expansions all bits to 2^-1300.
	s := int64(p.f.Bits()) + 64 + int64(five.BitLen()) - int64(d.BitLen())
	if p.f.Kind != num.MP {
		s = max(s, 1300-k)
	}
	s = max(s, 0)
	rest := new(big.Int)
	d.Lsh(d, uint(s))
	d.QuoRem(d, five, rest)
	r.Mag, r.Exp, r.Sticky = num.FromInt(nil, d), -s-k, rest.Sign() != 0
	return r
}

// far returns D 10^q for an MP format and a large |q| with the bits that decide
// the rounding.
func (p *Parser) far(t *text, d *big.Int) num.Real {
	dw := num.FromInt(nil, d)
	for words := 2 * p.pow.words; ; words *= 2 {
		w := newPower(t.exp, words)
		lo, hi := make([]uint64, len(dw)+words), make([]uint64, len(dw)+words+1)
		mul(lo, dw, w.sig)
		copy(hi, lo)
		addShifted(hi, 64*len(dw), w.err)
		if w.err == 0 || agree(lo, hi, int64(num.BitLen(lo))-int64(p.f.Prec)-1) {
			return num.Real{Class: num.Finite, Neg: t.neg, Exp: w.exp, Mag: lo}
		}
	}
}

// integer returns the integer of all digits of t.
func integer(t *text) *big.Int {
	return digitsToInt(withoutPoint(t))
}

// digitsToInt converts by halves, so that the cost is the cost of a few products.
func digitsToInt(s []byte) *big.Int {
	const leaf = 600
	if len(s) <= leaf {
		z, _ := new(big.Int).SetString(string(s), 10)
		return z
	}
	// low digits: leaf 2^j, the largest below len(s)
	low := leaf
	for low*2 < len(s) {
		low *= 2
	}
	return joinHalves(s, low, tenPowers(low, leaf))
}

// tenPowers returns 10^leaf, 10^(2 leaf), ..., 10^low.
func tenPowers(low, leaf int) []*big.Int {
	t := []*big.Int{new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(leaf)), nil)}
	for n := leaf; n < low; n *= 2 {
		p := t[len(t)-1]
		t = append(t, new(big.Int).Mul(p, p))
	}
	return t
}

// joinHalves converts s, of at most 2 low digits, with powers[len-1] = 10^low.
func joinHalves(s []byte, low int, powers []*big.Int) *big.Int {
	if len(powers) == 0 {
		z, _ := new(big.Int).SetString(string(s), 10)
		return z
	}
	n := len(powers) - 1
	if len(s) <= low {
		return joinHalves(s, low/2, powers[:n])
	}
	hi := joinHalves(s[:len(s)-low], low/2, powers[:n])
	lo := joinHalves(s[len(s)-low:], low/2, powers[:n])
	hi.Mul(hi, powers[n])
	return hi.Add(hi, lo)
}
