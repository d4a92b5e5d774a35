package modgemm

import (
	"math"

	"github.com/halfulp/halfulp/internal/amx"
)

// Conversion of digits to bytes modulo the moduli of a [BytePool], on tiles.
//
// A number of balanced 16-bit digits, pairs of them, is N - B with plain digits of N that exceed
// the balanced ones by 2^15, B = Σ_{s < 2 pairs} 2^15 2^(16 s). The number times w has the same
// residue modulo m as
//
//	x = first + Σ_{s < 4 pairs} c_s u_s,  c_s = w 2^(8 s) mod m, |c_s| <= m/2,
//
// with the bytes u_s of N and first = -w B mod m. Folds x -= m q, q = fma(x, inv, c) - c, c = 1.5
// 2^23, subtract a multiple of m (see bytes.go): the fused multiply-add is near c, where the
// float32 numbers are the integers, so q is the integer nearest to x inv. u = 2^-24.
//
// # Plain moduli
//
// The c_s are bytes, and first is 2^15 more if m = 256. At most 64 pairs make at most 256 255 127 +
// 127 = 8 290 687 < 2^23 in magnitude of x modulo an odd m <= 255; modulo 256, where w is odd and
// c_s = 0 for s > 0, 0 < 2^15 - 128 - 255 127 <= x < 2^17. So x is exact in float32, and one fold
// leaves the representative that the byte holds:
//   - For odd m, inv is the float32 next to 1/m, and x inv differs from x/m by at most
//     1.001 u |x|/m < 0.495/m. As x/m is at least 1/(2m) from every half of an odd integer, q is
//     the integer nearest to it, too.
//   - For m = 256, inv = (1 + 2 u)/256, and x inv exceeds x/256 by less than 2^17 2^-31. Numbers
//     half way between integers are rounded up, to the byte -128. All others are at least 1/256
//     away from such numbers, and are rounded like x/256.
//
// |q| <= 256 255/2 + 1 < 2^15, and below 2^9 + 1 for m = 256, so the lower half of the word of
// fma(x, inv, c) is q as an int16.
//
// # Karatsuba moduli
//
// With c_s = 128 d_s + e_s, |d_s|, |e_s| <= 127 (see splitResidue), x is x0 + 128 x1, x0 = first +
// Σ e_s u_s and x1 = Σ d_s u_s. At most 480 pairs make at most 480 4 255 127 = 62 179 200 in
// magnitude of each sum. The folds of bytes.go leave |x| <= m/2 + 2.001 u |x|, of x1 at most m/2 +
// 7.5 < 16254; so
//
//	|x0 + 128 x1| <= 62 179 200 + 16246 + 128 16254 < 2^26,
//
// and a second fold leaves |x| <= m/2 + 8.01 < 16256. That need not be the representative in (-m/2,
// m/2], but it can be split. All q are below 2^12 + 2 in magnitude.
//
// # Few pairs
//
// A step of tiles computes 16 pairs, full or not, and stores its sums in memory. With 8 pairs or
// fewer the sums modulo plain moduli are computed by VPDPBUSD in registers. Times of the residues
// for products of order 1000, by VPDPBUSD and by tiles, on cores more and less busy: at 53 bits 12
// to 13 and 21 to 25 ms, at 106 bits 32 to 34 and 38 to 54 ms, at 212 bits 46 to 73 and 50 to 71
// ms, at 424 bits, with 14 pairs, 85 to 119 and 72 to 103 ms.

const (
	// maxVectorPairs is the largest number of pairs for which plain moduli use VPDPBUSD.
	maxVectorPairs = 8
	// maxPlainPairs and maxBytePairs bound the pairs of digits of a ByteConversion with plain
	// moduli and without.
	maxPlainPairs = 64
	maxBytePairs  = 480
)

// A ByteConversion holds the constants of ConvertBytes for some moduli, plain moduli before
// Karatsuba moduli. It is immutable.
type ByteConversion struct {
	moduli []int
	w      []int64
	plain  int
	pairs  int
	steps  int // of 64 bytes of a number
	// For few pairs: one row for each plain modulus. It has a word of four c_s, the lowest first,
	// for every pair, then the words that tails has for other moduli.
	words []uint32
	// Left operands of steps steps: the rows of c_s for every 32 other plain moduli, and the rows
	// of e_s and d_s for every 16 Karatsuba moduli.
	table []int8
	tails []uint32 // first, inv, and -m as an int16 in the lower half of a word, for each modulus
}

// onVectors returns the number of moduli, the first ones, that use VPDPBUSD.
func (c *ByteConversion) onVectors() int { return len(c.words) / (c.pairs + 3) }

// ByteConvertible reports whether a ByteConversion supports this number of pairs. plain means that
// it has plain moduli.
func ByteConvertible(pairs int, plain bool) bool {
	return pairs <= maxPlainPairs || pairs <= maxBytePairs && !plain
}

// NewByteConversion prepares moduli m_t, plain moduli first, and weights w[t], coprime to m_t, for
// numbers of pairs pairs of digits.
func NewByteConversion(moduli []int, w []int64, pairs int) *ByteConversion {
	c := &ByteConversion{moduli: moduli, w: w, pairs: pairs, steps: (4*pairs + StepNumbers - 1) / StepNumbers}
	for c.plain < len(moduli) && moduli[c.plain] <= 256 {
		c.plain++
	}
	if pairs < 1 || !ByteConvertible(pairs, c.plain > 0) {
		panic(badSize)
	}
	columns := 4 * pairs
	vectors := 0
	if pairs <= maxVectorPairs {
		vectors = c.plain
	}
	// The Karatsuba moduli's rows begin a panel.
	begin := BytePanels(c.plain-vectors) * PanelVectors
	n := begin + 2*(len(moduli)-c.plain)
	rows := make([]int16, n*columns)
	for t, m := range moduli {
		plain := t < c.plain
		if !isByteModulus(m) || m%2 == 0 && m != 256 {
			panic(badModulus)
		}
		at := t - vectors
		if !plain {
			at = begin + 2*(t-c.plain)
		}
		var b int64
		var word uint32
		power := Balanced(w[t], int64(m))
		for s := range columns {
			if t < vectors {
				if word |= uint32(uint8(power)) << (8 * (s % 4)); s%4 == 3 {
					c.words = append(c.words, word)
					word = 0
				}
			} else if plain {
				rows[at*columns+s] = int16(int8(power)) // 128 modulo 256 is -128
			} else {
				e, d := splitResidue(power)
				rows[at*columns+s], rows[(at+1)*columns+s] = int16(e), int16(d)
			}
			if s%2 == 1 {
				b += power << 7 // of 2^15 2^(16 s)
			}
			power = Balanced(power<<8, int64(m))
		}
		first, inv := Balanced(-b, int64(m)), float32(1/float64(m))
		if m == 256 {
			first += 1 << 15
			inv = math.Nextafter32(inv, 1)
		}
		to := &c.tails
		if t < vectors {
			to = &c.words
		}
		*to = append(*to, uint32(int32(first)), math.Float32bits(inv), uint32(uint16(int16(-m))))
	}
	size := BytePanels(n) * PanelBytes(c.steps)
	c.table = AlignedBytes(make([]int8, size+63), size)
	PackBytes(c.table, rows, true, n, columns, columns, 1)
	return c
}

// Bytes returns the size of the conversion.
func (c *ByteConversion) Bytes() int64 {
	return int64(len(c.table)) + 4*int64(len(c.words)+len(c.tails))
}

// planes returns the number of planes of bytes that the conversion writes.
func (c *ByteConversion) planes() int { return c.plain + karatsubaPlanes*(len(c.moduli)-c.plain) }

// ByteDigits returns the number of elements that digits of n numbers of pairs pairs must have for
// ConvertBytes, which loads whole tiles.
func ByteDigits(pairs, n int) int { return 2*pairs*n + 2*PanelVectors*(RightGroup*4-1) }

// ConvertBytes computes a = w_t Σ_s 2^(16 s) digits_se modulo m_t for all moduli of the conversion
// and n entries, a multiple of 64 and of panel. It writes planes of bytes, stride apart: for a
// plain modulus the plane of a, for a Karatsuba modulus the planes of a0, a1 and a0 + a1, |a| <=
// m/2 + 9. digits is a right operand of Convert with panels of panel columns, in ByteDigits
// elements; its contents are lost. With stream, results bypass the caches if dst and stride are
// multiples of 64 bytes.
func ConvertBytes(k *ByteKernel, dst []int8, stride int, c *ByteConversion, digits []int16, panel, n int, stream bool) {
	checkSizes(panel, n, stride)
	if n%64 != 0 || panel == 0 || n%panel != 0 {
		panic(badSize)
	}
	if n == 0 || len(c.moduli) == 0 {
		return
	}
	checkRows(len(dst), c.planes(), n, stride)
	checkLen(len(digits), ByteDigits(c.pairs, n))
	k.convert(dst, stride, c, digits, panel, n, stream)
}

// store writes the bytes of the residue a of an entry modulo modulus t, the first at dst. It
// returns the number of planes of the modulus.
func (c *ByteConversion) store(dst []int8, stride, t int, a int64) int {
	if t < c.plain {
		dst[0] = int8(a)
		return 1
	}
	a0, a1 := splitResidue(a)
	dst[0], dst[stride], dst[2*stride] = int8(a0), int8(a1), int8(a0+a1)
	return karatsubaPlanes
}

// convertBytesGeneric defines convert, except that other representatives modulo Karatsuba moduli
// are allowed.
func convertBytesGeneric(dst []int8, stride int, c *ByteConversion, digits []int16, panel, n int, _ bool) {
	c.convert(len(c.moduli), dst, stride, digits, panel, n)
}

// convert computes convertBytesGeneric for the first moduli.
func (c *ByteConversion) convert(moduli int, dst []int8, stride int, digits []int16, panel, n int) {
	plane := 0
	for t, m := range c.moduli[:moduli] {
		powers := make([]int64, 2*c.pairs)
		for s := range powers {
			powers[s] = Balanced(c.w[t], int64(m))
			if s > 0 {
				powers[s] = Balanced(powers[s-1]<<16, int64(m))
			}
		}
		planes := 0
		for e := range n {
			var x int64
			at := 2 * (e/panel*c.pairs*panel + e%panel)
			for s, power := range powers {
				x += power * int64(digits[at+s/2*2*panel+s%2])
			}
			planes = c.store(dst[plane*stride+e:], stride, t, Balanced(x, int64(m)))
		}
		plane += planes
	}
}

// convertBytesEmulated computes convertBytesGeneric by emulated tiles, like the assembly.
func convertBytesEmulated(dst []int8, stride int, c *ByteConversion, digits []int16, panel, n int, stream bool) {
	if panel != PanelVectors {
		convertBytesGeneric(dst, stride, c, digits, panel, n, stream)
		return
	}
	plane := c.onVectors()
	c.convert(plane, dst, stride, digits, panel, n)
	for i := range 2 * c.pairs * n {
		digits[i] ^= math.MinInt16
	}
	machine := newColumnsMachine()
	defer machine.end()
	table, tails := c.table, c.tails
	for t0 := plane; t0 < len(c.moduli); {
		rows, t1 := 1, min(t0+amx.Block, c.plain)
		if t0 >= c.plain {
			rows, t1 = 2, min(t0+amx.Block/2, len(c.moduli))
		}
		planes := 0
		for p := range n / panel {
			machine.block(table, digits[p*2*c.pairs*panel:], c.steps)
			planes = 0
			for t := t0; t < t1; t++ {
				m, first := int64(c.moduli[t]), int64(int32(tails[3*(t-t0)]))
				next := 0
				for i := range panel {
					x := first + machine.sum(rows*(t-t0), i)
					if rows > 1 {
						x += 128 * Balanced(machine.sum(rows*(t-t0)+1, i), m) // as a fold leaves it
					}
					a := Balanced(x, m)
					next = c.store(dst[(plane+planes)*stride+p*panel+i:], stride, t, a)
				}
				planes += next
			}
		}
		table, tails = table[PanelBytes(c.steps):], tails[3*(t1-t0):]
		plane, t0 = plane+planes, t1
	}
}

// A columnsMachine multiplies by columns of unsigned bytes on emulated tiles.
type columnsMachine struct {
	machine amx.Machine
	mem     amx.Memory
	sums    [amx.BlockBytes / 4]int32
}

func newColumnsMachine() *columnsMachine {
	m := new(columnsMachine)
	config := amx.Config()
	m.mem = amx.Memory{
		At:     map[amx.Reg][]byte{amx.RegConfig: config[:], amx.RegC: bytesOf(m.sums[:])},
		Stride: map[amx.Reg]int{amx.RegRow: amx.RowBytes, amx.RegBlockRow: 4 * amx.Block},
	}
	m.machine.Run(amx.Begin(), &m.mem)
	return m
}

// block computes the sums of products of a panel of a left operand of steps steps and a panel of
// columns.
func (m *columnsMachine) block(a []int8, columns []int16, steps int) {
	m.machine.Run(amx.Clear(), &m.mem)
	for s := range steps {
		m.mem.At[amx.RegA], m.mem.At[amx.RegB] = bytesOf(a[s*amx.StepBytes:]), bytesOf(columns[s*amx.StepBytes/2:])
		if s == 0 {
			m.machine.Run(amx.Columns.First(), &m.mem)
		}
		if s < steps-1 {
			m.machine.Run(amx.Columns.Next(), &m.mem)
		} else {
			m.machine.Run(amx.Columns.Last(), &m.mem)
		}
	}
	m.machine.Run(amx.Write(0), &m.mem)
}

// sum returns the sum of a row and a column.
func (m *columnsMachine) sum(row, column int) int64 { return int64(m.sums[row*amx.Block+column]) }

func (m *columnsMachine) end() { m.machine.Run(amx.End(), &m.mem) }
