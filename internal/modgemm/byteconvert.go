package modgemm

import (
	"math"

	"github.com/halfulp/halfulp/internal/amx"
)

// Conversion of digits to bytes modulo plain moduli.
//
// A number of balanced 16-bit digits, pairs of them, is N - B with plain digits of N that exceed
// the balanced ones by 2^15, B = Σ_{s < 2 pairs} 2^15 2^(16 s). Its residue modulo m, times w, is
// that of
//
//	x = first + Σ_{s < 4 pairs} c_s u_s,  c_s = w 2^(8 s) mod m, |c_s| <= m/2,
//
// with the bytes u_s of N, first = -w B mod m, and 2^15 more if m = 256. At most 64 pairs make at
// most 256 255 127 + 127 = 8 290 687 < 2^23 in magnitude of x modulo an odd m <= 255; modulo 256,
// where w is odd and c_s = 0 for s > 0, 0 < 2^15 - 128 - 255 127 <= x < 2^17. So x is exact in
// float32, u = 2^-24.
//
// Then x - m q, q = fma(x, inv, c) - c, c = 1.5 2^23, is the representative that the byte holds:
// the fused multiply-add is near c, where float32 are the integers, so q is the integer nearest to
// x inv.
//   - For odd m, inv is the float32 next to 1/m, and x inv differs from x/m by at most
//     1.001 u |x|/m < 0.495/m. As x/m is at least 1/(2m) from every half of an odd integer, q is
//     the integer nearest to it, too.
//   - For m = 256, inv = (1 + 2 u)/256, and x inv exceeds x/256 by less than 2^17 2^-31: numbers
//     half way between integers are rounded up, to the byte -128, and all others, which are 1/256
//     away from these, as x/256.
//
// |q| <= 256 255/2 + 1 < 2^15, and below 2^9 + 1 for m = 256, so the lower half of the word of
// fma(x, inv, c) is q as an int16.

// maxBytePairs bounds the pairs of digits of a ByteConversion.
const maxBytePairs = 64

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

// Conversion of digits to the three planes of bytes modulo Karatsuba moduli, on tiles.
//
// With c_s = 128 d_s + e_s, |d_s|, |e_s| <= 64, the x of above is x0 + 128 x1, x0 = first + Σ e_s
// u_s and x1 = Σ d_s u_s. At most 248 pairs make at most 248 4 255 64 = 16 189 440 < 2^24 in
// magnitude of each sum. Folds x -= m q, q = fma(x, inv, c) - c, leave |x| <= m/2 + 1.001 of an |x|
// <= 2^24 (see bytes.go), of x1 at most 4090; so
//
//	|x0 + 128 x1| <= 16 189 440 + 4089 + 128 4090 = 16 717 049 < 2^24,
//
// a second fold leaves |x| <= m/2 + 1.001, and a third, of so small an x modulo an odd m, the one
// in (-m/2, m/2]. All q are at most 2^24/521 + 1/2 + 1 < 2^15 in magnitude, so that q is the lower
// half of the word of the fused multiply-add as an int16.

// maxKaratsubaPairs bounds the pairs of digits of a KaratsubaConversion.
const maxKaratsubaPairs = 248

// A KaratsubaConversion holds what ConvertKaratsuba needs of moduli. It is immutable.
type KaratsubaConversion struct {
	moduli []int
	w      []int64
	pairs  int
	steps  int // of 64 bytes of a number
	// For every 16 moduli the two rows of e_s and d_s of each, as a left operand of so many steps.
	table []int8
	tails []uint32 // first, inv, and -m as an int16 in the lower half of a word, for each modulus
}

// KaratsubaConvertible reports whether there is a KaratsubaConversion of so many pairs.
func KaratsubaConvertible(pairs int) bool { return pairs <= maxKaratsubaPairs }

// NewKaratsubaConversion prepares Karatsuba moduli m_t for numbers of so many pairs of digits,
// times w[t].
func NewKaratsubaConversion(moduli []int, w []int64, pairs int) *KaratsubaConversion {
	if pairs < 1 || !KaratsubaConvertible(pairs) {
		panic(badSize)
	}
	c := &KaratsubaConversion{moduli: moduli, w: w, pairs: pairs, steps: (4*pairs + StepNumbers - 1) / StepNumbers}
	rows := make([]int16, 2*len(moduli)*4*pairs)
	for t, m := range moduli {
		if m <= minKaratsuba || m > maxByteModulus || m%2 == 0 {
			panic(badModulus)
		}
		var b int64
		power := Balanced(w[t], int64(m))
		for s := range 4 * pairs {
			e, d := SplitByte(power)
			rows[2*t*4*pairs+s], rows[(2*t+1)*4*pairs+s] = int16(e), int16(d)
			if s%2 == 1 {
				b += power << 7 // of 2^15 2^(16 s)
			}
			power = Balanced(power<<8, int64(m))
		}
		first, inv := Balanced(-b, int64(m)), float32(1/float64(m))
		c.tails = append(c.tails, uint32(int32(first)), math.Float32bits(inv), uint32(uint16(int16(-m))))
	}
	size := BytePanels(2*len(moduli)) * PanelBytes(c.steps)
	c.table = AlignedBytes(make([]int8, size+63), size)
	PackBytes(c.table, rows, true, 2*len(moduli), 4*pairs, 4*pairs, 1)
	return c
}

// Bytes returns the size of the conversion.
func (c *KaratsubaConversion) Bytes() int64 { return int64(len(c.table)) + 4*int64(len(c.tails)) }

// KaratsubaDigits returns how many elements the digits of n numbers of so many pairs take for
// ConvertKaratsuba: tiles are loaded whole.
func KaratsubaDigits(pairs, n int) int { return 2*pairs*n + 2*PanelVectors*(RightGroup*4-1) }

// ConvertKaratsuba computes a = w_t Σ_s 2^(16 s) digits_se modulo m_t for all moduli of the
// conversion and n entries, a multiple of 64 and of panel, and writes a0, a1 and a0 + a1 at dst[p
// stride + e] for p = 3t, 3t + 1 and 3t + 2: digits is a right operand of Convert of panels of so
// many columns, in KaratsubaDigits elements, that has no meaning afterwards. With stream, results
// go past the caches where dst and stride are multiples of 64 bytes.
func ConvertKaratsuba(k *ByteKernel, dst []int8, stride int, c *KaratsubaConversion, digits []int16, panel, n int, stream bool) {
	checkSizes(panel, n, stride)
	if n%64 != 0 || panel == 0 || n%panel != 0 {
		panic(badSize)
	}
	if n == 0 || len(c.moduli) == 0 {
		return
	}
	checkRows(len(dst), karatsubaPlanes*len(c.moduli), n, stride)
	checkLen(len(digits), KaratsubaDigits(c.pairs, n))
	k.convertKaratsuba(dst, stride, c, digits, panel, n, stream)
}

// convertKaratsubaGeneric is the definition of convertKaratsuba.
func convertKaratsubaGeneric(dst []int8, stride int, c *KaratsubaConversion, digits []int16, panel, n int, _ bool) {
	for t, m := range c.moduli {
		powers := make([]int64, 2*c.pairs)
		for s := range powers {
			powers[s] = Balanced(c.w[t], int64(m))
			if s > 0 {
				powers[s] = Balanced(powers[s-1]<<16, int64(m))
			}
		}
		for e := range n {
			var x int64
			at := 2 * (e/panel*c.pairs*panel + e%panel)
			for s, power := range powers {
				x += power * int64(digits[at+s/2*2*panel+s%2])
			}
			a0, a1 := SplitByte(Balanced(x, int64(m)))
			out := dst[karatsubaPlanes*t*stride+e:]
			out[0], out[stride], out[2*stride] = int8(a0), int8(a1), int8(a0+a1)
		}
	}
}

// convertKaratsubaEmulated is convertKaratsubaGeneric by emulated tiles, as the assembly does it.
func convertKaratsubaEmulated(dst []int8, stride int, c *KaratsubaConversion, digits []int16, panel, n int, stream bool) {
	if panel != PanelVectors {
		convertKaratsubaGeneric(dst, stride, c, digits, panel, n, stream)
		return
	}
	for i := range 2 * c.pairs * n {
		digits[i] ^= math.MinInt16
	}
	var machine amx.Machine
	var block [amx.BlockBytes / 4]int32
	config := amx.Config()
	mem := &amx.Memory{
		At:     map[amx.Reg][]byte{amx.RegConfig: config[:], amx.RegC: bytesOf(block[:])},
		Stride: map[amx.Reg]int{amx.RegRow: amx.RowBytes, amx.RegBlockRow: 4 * amx.Block},
	}
	machine.Run(amx.Begin(), mem)
	for group := range BytePanels(2 * len(c.moduli)) {
		for p := range n / panel {
			machine.Run(amx.Clear(), mem)
			for s := range c.steps {
				mem.At[amx.RegA] = bytesOf(c.table[(group*c.steps+s)*amx.StepBytes:])
				mem.At[amx.RegB] = bytesOf(digits[p*2*c.pairs*panel+s*amx.StepBytes/2:])
				machine.Run(amx.MultiplyDigits(), mem)
			}
			machine.Run(amx.Write(0), mem)
			for t := 16 * group; t < min(16*(group+1), len(c.moduli)); t++ {
				m, first := int64(c.moduli[t]), int64(int32(c.tails[3*t]))
				for i := range panel {
					sum := func(row int) int64 { return int64(block[(t%16*2+row)*amx.Block+i]) }
					x := first + sum(0) + 128*Balanced(sum(1), m) // as a fold leaves it
					a0, a1 := SplitByte(Balanced(x, m))
					out := dst[karatsubaPlanes*t*stride+p*panel+i:]
					out[0], out[stride], out[2*stride] = int8(a0), int8(a1), int8(a0+a1)
				}
			}
		}
	}
	machine.Run(amx.End(), mem)
}
