package decimal

import (
	"encoding/binary"
	"math/big"
	"math/bits"
	"strconv"

	"github.com/halfulp/halfulp/internal/num"
)

// plainLow2 < e <= plainHigh2 are the exponents of the numbers that scalePlain supports: numbers
// below 2^e, and not below 2^(e-1).
const (
	plainLow2  = -64
	plainHigh2 = 64
)

// scalePlain is scale for the MP number r of magnitude x, 2^-65 < x < 2^64, whose interval v has
// half ulps on both sides, and k > 0. It sets p.digits to the digits of ⌊x 10^k⌋ itself, and leaves
// s.floor unset. It fails for other numbers, and where it leaves the interval open.
//
// The integer part of x is a word, its fraction φ a multiple of a power of two. Products of the
// rest of φ with 10^19 are exact, and their integer parts are the digits, 19 by 19. No power of ten
// of many words is needed, and the rest of φ becomes shorter.
func (p *Printer) scalePlain(r num.Real, v interval, k int64) (s scaled, ok bool) {
	l := len(r.Mag)
	e := r.Exp + int64(64*l)
	if e <= plainLow2 || e > plainHigh2 || r.Exp >= 0 || k <= 0 || v.low != v.high {
		return s, false
	}
	p.scaled[0] = shiftLeft(p.scaled[0], r.Mag, uint(e&63))
	if e&63 == 0 {
		p.scaled[0] = append(p.scaled[0], 0)
	}
	x, n := p.scaled[0], l-int(e>>6)
	f, d := x[:n], p.digits[:0]
	if n <= l && x[n] > 0 {
		d = strconv.AppendUint(d, x[n], 10)
	}
	for left := k; left > 0; left -= 19 {
		for len(f) > 1 && f[0] == 0 {
			f = f[1:]
		}
		m := min(left, 19)
		c := chunkDigits(mulWord(f, pow10[m], 0))
		if len(d) == 0 { // zeros before the first digit
			j := 19 - m
			for j < 19 && c[j] == '0' {
				j++
			}
			d = append(d, c[j:]...)
		} else {
			d = append(d, c[19-m:]...)
		}
	}
	p.digits = d
	return p.intervalPlain(f, e-plainLow2-1, v.exp+v.high, k)
}

// intervalPlain returns how far the interval reaches around N + φ, N an integer. Its ends are at a
// distance of h = 10^k 2^half, which p.reach[at] holds. φ is exact.
//
// Let u = 2^-64, and φ' and h' be φ and h truncated to multiples of u. Then φ - h lies between
// φ' - h' - u and φ' - h' + u, and φ + h between φ' + h' and φ' + h' + 2 u. If no integer lies
// there, ends included, the integers of the interval are known. h < 64, since k is the least number
// that makes 2 h more than 10.
func (p *Printer) intervalPlain(f []uint64, at, half, k int64) (s scaled, ok bool) {
	h := &p.reach[at]
	if *h == [2]uint64{} {
		x := new(big.Int).Exp(big.NewInt(10), big.NewInt(k), nil)
		x.Lsh(x, uint(max(half+64, 0)))
		x.Rsh(x, uint(max(-half-64, 0)))
		fromBig(h[:], x)
	}
	top := len(f) - 1
	phi := f[top]
	low, borrow := bits.Sub64(phi, h[0], 0)
	high, carry := bits.Add64(phi, h[0], 0)
	if low-1 >= 1<<64-2 || high-1 >= 1<<64-4 {
		return s, false
	}
	s.below = int64(h[1]+borrow) - 1 // the floor of the lower end lies outside
	s.above = int64(h[1] + carry)
	rest := phi<<1 != 0 || !num.IsZero(f[:top])
	s.halfOrAbove = phi>>63 != 0
	s.half = s.halfOrAbove && !rest
	s.fraction = s.halfOrAbove || rest
	return s, true
}

// chunkDigits returns the 19 digits of c < 10^19.
func chunkDigits(c uint64) (b [19]byte) {
	high, rest := c/1e11, c%1e11
	middle, low := rest/1000, rest%1000
	binary.LittleEndian.PutUint64(b[:], digitsOf(high))
	binary.LittleEndian.PutUint64(b[8:], digitsOf(middle))
	b[16], b[17], b[18] = byte('0'+low/100), byte('0'+low/10%10), byte('0'+low%10)
	return b
}

// digitsOf returns the eight digits of x < 10^8, the first in the lowest byte: it computes halves,
// then pairs, then digits in parallel. 10486/2^20 and 103/2^10 replace 1/100 and 1/10 below 10^4
// and 100.
func digitsOf(x uint64) uint64 {
	x = x/10000 | x%10000<<32
	q := x * 10486 >> 20 & 0x0000007f0000007f
	x = q | (x-100*q)<<16
	q = x * 103 >> 10 & 0x000f000f000f000f
	return (q | (x-10*q)<<8) + 0x3030303030303030
}
