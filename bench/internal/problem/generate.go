package problem

import "math/bits"

// Operand names a factor.
type Operand uint64

// The factors of C = A B.
const (
	A Operand = 1
	B Operand = 2
)

// Entry sets x to entry (i, j) of the operand. The significand has exactly p.Bits bits: the first
// one is set, the others are random. The value depends on the problem and the place alone.
func (p Problem) Entry(operand Operand, i, j int, x *Number) {
	_, k, n := p.Shape()
	width := k
	if operand == B {
		width = n
	}
	g := splitMix64{mix64(mix64(p.Seed+uint64(operand)) + uint64(i)*uint64(width) + uint64(j))}

	first := g.next()
	x.Negative = first&1 != 0
	// 2^leading ≤ |x| < 2^(leading+1), as for |x| uniform in (0, 1)
	leading := -1 - bits.LeadingZeros64(g.next())
	if p.Spread > 0 {
		leading = int(g.next()%uint64(2*p.Spread+1)) - p.Spread
	}
	x.Exponent = leading + 1 - int(p.Bits)

	words := int(p.Bits+63) / 64
	if cap(x.Words) < words {
		x.Words = make([]uint64, words)
	}
	x.Words = x.Words[:words]
	for s := range x.Words {
		x.Words[s] = g.next()
	}
	top := (p.Bits - 1) % 64
	x.Words[words-1] = x.Words[words-1]&(1<<top-1) | 1<<top
}

// splitMix64 is Steele, Lea and Flood's generator (OOPSLA 2014).
type splitMix64 struct{ state uint64 }

func (g *splitMix64) next() uint64 {
	g.state += 0x9e3779b97f4a7c15
	return mix64(g.state)
}

func mix64(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
