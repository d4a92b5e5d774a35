package direct

import (
	"math"
	"math/bits"
	"unsafe"

	"github.com/halfulp/halfulp/internal/num"
)

// aligned returns n zero words at a multiple of 64 bytes.
func aligned(n int) []uint64 {
	w := make([]uint64, n+7)
	return w[-uintptr(unsafe.Pointer(&w[0]))%64/8:][:n]
}

// floatWord stores the significand of x, if that is finite and not 0, with its leading bit on top:
// |x| = w 2^(exp - 64).
func floatWord(w *uint64, x float64) (cls num.Cls, exp int32) {
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
	// A sign is no branch, which nobody foresees.
	return num.Cls(uint64(num.Finite)<<1 | m>>63), int32(e - 1022)
}

// noScale is the exponent given to a zero of x: it shifts all digits out.
const noScale = -1 << 40

// A packer puts digits together, the last first, in the zeros of mag.
type packer struct {
	mag []uint64
	pos int
}

// put appends a digit of so many bits.
func (p *packer) put(d uint64, bits int) {
	w, s := p.pos>>6, uint(p.pos&63)
	p.mag[w] |= d << s
	if s != 0 && int(s)+bits > 64 {
		p.mag[w+1] |= d >> (64 - s)
	}
	p.pos += bits
}

// finish returns the magnitude and the sign of the number with the digits put and top before them.
func (p *packer) finish(top int64) (m []uint64, neg bool) {
	w, s := p.pos>>6, uint(p.pos&63)
	p.mag[w] |= uint64(top) << s
	rest := w + 1
	if s != 0 {
		p.mag[rest] |= uint64(top >> (64 - s))
		rest++
	}
	for i := rest; i < len(p.mag); i++ {
		p.mag[i] = uint64(top >> 63)
	}
	if top < 0 {
		num.Negate(p.mag)
		return Trim(p.mag), true
	}
	return Trim(p.mag), false
}

func sign(neg bool) uint64 {
	if neg {
		return 1
	}
	return 0
}
