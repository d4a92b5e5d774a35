package sym

import (
	"math/bits"

	"github.com/halfulp/halfulp/internal/num"
)

// A sliced matrix is a symmetric n x n matrix M of integers, cut into matrices of digits that
// float64 arithmetic multiplies without errors:
//
//	M = Σ_k 2^(width (count-1-k)) M_k, with |entries of M_k| ≤ 2^(width-1).
//
// A vector of integers z, |z_i| ≤ 2^bits, has two digits: z = 2^half z_0 + z_1, |z_b| ≤ 2^(half-1).
// As n 2^(width-1) 2^(half-1) ≤ 2^53, every sum of a product M_k z_b is a float64 number, in any
// order of summation and with fused multiply-adds or without (Ozaki, Ogita, Oishi and Rump,
// Error-free transformations of matrix multiplication, 2012).
type sliced struct {
	n, count          int
	width, half, bits uint
	negative          []float64 // -M_0, -M_1, ... below each other, by columns
}

// fullBits are the bits of corrections that a float64 number fills.
const fullBits = 54

// slicedFor returns the sizes of slices for entries of M below 2^span, without digits.
func slicedFor(n int, span int64) sliced {
	sum := 55 - bits.Len(uint(n-1)) // width + half
	const least = 26                // so that corrections have 50 bits
	// The highest digit takes 2 bits more than its share: the sign, and what the others carry.
	count := (int(span) + 2 + sum - least - 1) / (sum - least)
	width := (int(span) + 2 + count - 1) / count
	half := min(sum-width, fullBits/2+1)
	return sliced{n: n, count: count, width: uint(width), half: uint(half), bits: uint(min(2*half-2, fullBits))}
}

// set sets entries (i, j) and (j, i) of M to x / 2^low, an integer. room has the words of the
// integer and two more bits at least.
func (m *sliced) set(i, j int, x num.Real, low int64, room []uint64) {
	clear(room)
	if x.Class == num.Finite {
		addReal(room, x, -low)
	}
	// With 2^(width-1) added to each digit, all digits but the highest are from 0 to 2^width - 1.
	half := uint64(1) << (m.width - 1)
	for k := range m.count - 1 {
		addShifted(room, []uint64{half}, uint(k)*m.width, false)
	}
	for k := range m.count {
		at := uint(k) * m.width
		v := room[at/64] >> (at % 64)
		if at%64 > 0 && int(at/64)+1 < len(room) {
			v |= room[at/64+1] << (64 - at%64)
		}
		digit := int64(v<<(64-m.width)) >> (64 - m.width)
		if k < m.count-1 {
			digit = int64(v&(2*half-1)) - int64(half)
		}
		row := (m.count - 1 - k) * m.n
		m.negative[row+i+j*m.count*m.n], m.negative[row+j+i*m.count*m.n] = -float64(digit), -float64(digit)
	}
}

// cut returns the two digits of a number of a correction.
func (m *sliced) cut(z int64) (high, low float64) {
	h := (z + 1<<(m.half-1)) >> m.half
	return float64(h), float64(z - h<<m.half)
}

// add adds 2^shift times entry i of M z to y, for the products of all M_k with z_0 and z_1.
func (m *sliced) add(y []uint64, i int, first, second []float64, shift uint) {
	for k := 0; k < m.count; {
		// A sum of up to four slices has less than 3 width + half + 56 bits.
		var sum [3]uint64
		last := min(k+4, m.count)
		for ; k < last; k++ {
			at := i + k*m.n
			h, l := int64(first[at]), int64(second[at])
			low, carry := bits.Add64(uint64(h)<<m.half, uint64(l), 0)
			high, _ := bits.Add64(uint64(h>>(64-m.half)), uint64(l>>63), carry)
			by := m.width
			s0, s1, s2 := sum[0]<<by, sum[1]<<by|sum[0]>>(64-by), sum[2]<<by|sum[1]>>(64-by)
			sum[0], carry = bits.Add64(s0, low, 0)
			sum[1], carry = bits.Add64(s1, high, carry)
			sum[2], _ = bits.Add64(s2, uint64(int64(high)>>63), carry)
		}
		addShifted(y, sum[:], shift+m.width*uint(m.count-last), true)
	}
}
