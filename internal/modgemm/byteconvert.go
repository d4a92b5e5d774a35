package modgemm

import "math"

// Conversion of digits to bytes modulo plain moduli.
//
// A number of balanced 16-bit digits, pairs of them, is N - B with plain digits of N that exceed
// the balanced ones by 2^15, B = Σ_{s < 2 pairs} 2^15 2^(16 s). Its residue modulo m, times w, is
// that of
//
//	x = first + Σ_{s < 4 pairs} c_s u_s,  c_s = w 2^(8 s) mod m, |c_s| <= m/2,
//
// with the bytes u_s of N, first = -w B mod m, and 2^15 more if m = 256. At most 32 pairs make at
// most 128 255 127 + 127 < 2^22 in magnitude of x modulo an odd m <= 255; modulo 256, where w is
// odd and c_s = 0 for s > 0, 0 < 2^15 - 128 - 255 127 <= x < 2^17. So x is exact in float32, u =
// 2^-24.
//
// Then x - m q, q = fma(x, inv, c) - c, c = 1.5 2^23, is the representative that the byte holds:
// the fused multiply-add is near c, where float32 are the integers, so q is the integer nearest to
// x inv.
//   - For odd m, inv is the float32 next to 1/m, and x inv differs from x/m by at most
//     1.001 u |x|/m < 1/(3.9 m). As x/m is at least 1/(2m) from every half of an odd integer, q is
//     the integer nearest to it, too.
//   - For m = 256, inv = (1 + 2 u)/256, and x inv exceeds x/256 by less than 2^17 2^-31: numbers
//     half way between integers are rounded up, to the byte -128, and all others, which are 1/256
//     away from these, as x/256.
//
// |q| <= 128 255/2 + 129 < 2^15, so the lower half of the word of fma(x, inv, c) is q as an int16.

// maxBytePairs bounds the pairs of digits of a ByteConversion.
const maxBytePairs = 32

// A ByteConversion holds what ConvertBytes needs of plain moduli. It is immutable.
type ByteConversion struct {
	moduli, pairs int
	// A row a modulus: a word of four c_s, the lowest first, for every pair, then first, inv, and
	// -m as an int16 in the lower half of a word.
	table []uint32
}

// ByteConvertible reports whether there is a ByteConversion of so many pairs.
func ByteConvertible(pairs int) bool { return pairs <= maxBytePairs }

// NewByteConversion prepares plain moduli m_t for numbers of so many pairs of digits, times w[t],
// coprime to m_t.
func NewByteConversion(moduli []int, w []int64, pairs int) *ByteConversion {
	if pairs < 1 || !ByteConvertible(pairs) {
		panic(badSize)
	}
	c := &ByteConversion{moduli: len(moduli), pairs: pairs}
	for t, m := range moduli {
		if m < minPlain || m > 256 || m%2 == 0 && m != 256 {
			panic(badModulus)
		}
		var b int64
		power := Balanced(w[t], int64(m))
		for range pairs {
			var word uint32
			for i := range 4 {
				word |= uint32(uint8(power)) << (8 * i)
				if i%2 == 1 {
					b += power << 7
				}
				power = Balanced(power<<8, int64(m))
			}
			c.table = append(c.table, word)
		}
		first, inv := Balanced(-b, int64(m)), float32(1/float64(m))
		if m == 256 {
			first += 1 << 15
			inv = math.Nextafter32(inv, 1)
		}
		c.table = append(c.table, uint32(int32(first)), math.Float32bits(inv), uint32(uint16(int16(-m))))
	}
	return c
}

// Bytes returns the size of the conversion.
func (c *ByteConversion) Bytes() int64 { return 4 * int64(len(c.table)) }

// ConvertBytes computes dst[t stride + e] = w_t Σ_s 2^(16 s) digits_se modulo m_t as bytes, for all
// moduli of the conversion and n entries, a multiple of 64 and of panel: digits is a right operand
// of Convert of panels of so many columns.
func ConvertBytes(k *ByteKernel, dst []int8, stride int, c *ByteConversion, digits []int16, panel, n int) {
	checkSizes(panel, n, stride)
	if n%64 != 0 || panel == 0 || n%panel != 0 {
		panic(badSize)
	}
	if n == 0 || c.moduli == 0 {
		return
	}
	checkRows(len(dst), c.moduli, n, stride)
	checkLen(len(digits), 2*c.pairs*n)
	k.convert(dst, stride, c, digits, panel, n)
}

// convertBytesGeneric is the definition of convert.
func convertBytesGeneric(dst []int8, stride int, c *ByteConversion, digits []int16, panel, n int) {
	row := c.pairs + 3
	for t := range c.moduli {
		words := c.table[t*row:][:row]
		m := -int64(int16(words[row-1]))
		for e := range n {
			x := int64(int32(words[c.pairs]))
			at := 2 * (e/panel*c.pairs*panel + e%panel)
			for _, w := range words[:c.pairs] {
				u := (uint32(uint16(digits[at])) | uint32(uint16(digits[at+1]))<<16) ^ 0x8000_8000
				for i := range 4 {
					x += int64(int8(w>>(8*i))) * int64(uint8(u>>(8*i)))
				}
				at += 2 * panel
			}
			dst[t*stride+e] = int8(Balanced(x, m))
		}
	}
}
