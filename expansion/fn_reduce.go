package expansion

import (
	"math"
	"math/bits"
)

// Exact reduction of one lane, after Payne and Hanek, Radian reduction for trigonometric functions,
// SIGNUM Newsletter 18 (1983): x 1024/π modulo 2^64 in fixed point, by integer products of each
// word of x with the bits of 1024/π that matter for it.

// fixedLimbs is the number of words of a fixed-point number, from the top: one for the integer
// part, the others for the fraction. An expansion of 4 words comes to within about 2^-260 of a
// multiple of π/2, which leaves more than 300 good bits of the distance.
const fixedLimbs = 10

type fixed [fixedLimbs]uint64

// addProduct adds x 1024/π to z modulo 2^64, with an error below 2^-570.
func (z *fixed) addProduct(x float64) {
	if x == 0 {
		return
	}
	b := math.Float64bits(x)
	m := b & (1<<52 - 1)
	shift := int(b>>52) & 0x7ff // x = ±m 2^shift
	if shift > 0 {
		m |= 1 << 52
		shift--
	}
	shift -= 1074
	// Limb j of 2^shift 1024/π, from the limb below z down.
	var t fixed
	var carry uint64
	for j := fixedLimbs; j >= 0; j-- {
		high, low := bits.Mul64(m, circleLimb(64*j+shift))
		low, c := bits.Add64(low, carry, 0)
		carry = high + c
		if j < fixedLimbs {
			t[j] = low
		}
	}
	var c uint64
	for j := fixedLimbs - 1; j >= 0; j-- {
		if b>>63 == 0 {
			z[j], c = bits.Add64(z[j], t[j], c)
		} else {
			z[j], c = bits.Sub64(z[j], t[j], c)
		}
	}
}

// circleLimb returns the 64 bits of circleBits from bit i on.
func circleLimb(i int) uint64 {
	j, s := i>>6, uint(i&63)
	word := func(j int) uint64 {
		if j < 0 || j >= len(circleBits) {
			return 0
		}
		return circleBits[j]
	}
	return word(j)<<s | word(j+1)>>(64-s)
}

// round returns the nearest integer modulo 2^32. It leaves in z the magnitude of the difference
// from it; negative reports its sign.
func (z *fixed) round() (k int32, negative bool) {
	k = int32(z[0])
	z[0] = 0
	if z[1]>>63 == 0 {
		return k, false
	}
	var c uint64
	for j := fixedLimbs - 1; j > 0; j-- {
		z[j], c = bits.Sub64(0, z[j], c)
	}
	return k + 1, true
}

// chunks splits z, below 1, into 5 floats of 53 bits each, from the first bit that is set.
func (z *fixed) chunks() (c [5]float64) {
	top := 1
	for top < fixedLimbs && z[top] == 0 {
		top++
	}
	if top == fixedLimbs {
		return c
	}
	first := 64*(top-1) + bits.LeadingZeros64(z[top])
	for j := range c {
		i := first + 53*j // the chunk's first bit, 0 for the first after the point
		c[j] = float64(z.bits53(i)) * powerOf2(int32(-53-i))
	}
	return c
}

// bits53 returns 53 bits of the fraction of z from bit i on.
func (z *fixed) bits53(i int) uint64 {
	word := func(j int) uint64 {
		if j >= fixedLimbs {
			return 0
		}
		return z[j]
	}
	j, s := 1+i>>6, uint(i&63)
	return (word(j)<<s | word(j+1)>>(64-s)) >> 11
}

// circleReduceExact sets lane i of r and k. An infinity or a NaN gives zeros.
func (e *evaluator) circleReduceExact(r *block, k *[lanes]int32, x *block, i int) {
	var z fixed
	if x0 := x[0][i]; x0-x0 == 0 {
		for j := range e.w {
			z.addProduct(x[j][i])
		}
	}
	n, negative := z.round()
	k[i] = n & 2047
	c := z.chunks()
	t := e.take(2)
	f, unit := &t[0], &t[1]
	lanes := e.n
	e.n = 1
	e.set(f, 0, 0)
	for j := len(c) - 1; j >= 0; j-- {
		e.addNumber(f, f, c[j])
	}
	e.constant(unit, &circleUnit)
	e.mul(f, f, unit)
	e.n = lanes
	for j := range e.w {
		r[j][i] = f[j][0]
		if negative {
			r[j][i] = -f[j][0]
		}
	}
	e.give(2)
}
