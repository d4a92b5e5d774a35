package superacc

import (
	"math"
	"math/bits"
	"unsafe"

	"github.com/halfulp/halfulp/internal/num"
)

// Aligned returns n zero words at a multiple of 64 bytes.
func Aligned(n int) []uint64 {
	w := make([]uint64, n+7)
	return w[-uintptr(unsafe.Pointer(&w[0]))%64/8:][:n]
}

// FloatWord stores the significand of x, if that is finite and not 0, with its leading bit on top:
// |x| = w 2^(exp - 64).
func FloatWord(w *uint64, x float64) (cls num.Cls, exp int32) {
	m := math.Float64bits(x)
	e := int(m>>52) & 0x7ff
	if e == 0 || e == 0x7ff {
		switch {
		case x != x:
			return num.MakeCls(false, num.NaN), 0
		case x-x != 0:
			return num.MakeCls(x < 0, num.Inf), 0
		case x == 0:
			return num.MakeCls(m != 0, num.Zero), 0
		}
		s := bits.LeadingZeros64(m << 12)
		m = m&(1<<63) | m<<(s+1)&^(1<<63)
		e = -s
	}
	*w = m<<11 | 1<<63
	// The sign is computed without a branch, which would be unpredictable.
	return num.Cls(uint64(num.Finite)<<1 | m>>63), int32(e - 1022)
}

// NoScale is the exponent assigned to zeros, which shifts out all digits.
const NoScale = -1 << 40

// A Packer joins digits to a number in mag, which must be zero, the last digit first.
type Packer struct {
	Mag []uint64
	Pos int
}

// Put adds the next higher digit, of bits bits.
func (p *Packer) Put(d uint64, bits int) {
	w, s := p.Pos>>6, uint(p.Pos&63)
	p.Mag[w] |= d << s
	if s != 0 && int(s)+bits > 64 {
		p.Mag[w+1] |= d >> (64 - s)
	}
	p.Pos += bits
}

// Finish returns the magnitude and the sign of the number that has the digits put so far, after
// top.
func (p *Packer) Finish(top int64) (m []uint64, neg bool) {
	w, s := p.Pos>>6, uint(p.Pos&63)
	p.Mag[w] |= uint64(top) << s
	rest := w + 1
	if s != 0 {
		p.Mag[rest] |= uint64(top >> (64 - s))
		rest++
	}
	for i := rest; i < len(p.Mag); i++ {
		p.Mag[i] = uint64(top >> 63)
	}
	if top < 0 {
		num.Negate(p.Mag)
		return Trim(p.Mag), true
	}
	return Trim(p.Mag), false
}

// Sign returns 1 if neg is set, else 0.
func Sign(neg bool) uint64 {
	if neg {
		return 1
	}
	return 0
}
