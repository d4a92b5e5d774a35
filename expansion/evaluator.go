package expansion

import (
	"math"
	"math/bits"
	"sync"
)

// An evaluator computes functions of blocks in one format. Its methods define every function; a
// scalar function is one lane of it. Results must not be operands.
type evaluator struct {
	a *arithmetic
	w int // words
	n int // lanes

	blocks [24]block // scratch
	used   int
}

var evaluators = sync.Pool{New: func() any { return new(evaluator) }}

// take returns k blocks of scratch with arbitrary contents; give(k) returns them.
func (e *evaluator) take(k int) []block {
	e.used += k
	return e.blocks[e.used-k : e.used]
}

func (e *evaluator) give(k int) { e.used -= k }

func (e *evaluator) add(z, x, y *block)                   { e.a[e.w].add(z, x, y, e.n) }
func (e *evaluator) sub(z, x, y *block)                   { e.a[e.w].sub(z, x, y, e.n) }
func (e *evaluator) mul(z, x, y *block)                   { e.a[e.w].mul(z, x, y, e.n) }
func (e *evaluator) div(z, x, y *block)                   { e.a[e.w].div(z, x, y, e.n) }
func (e *evaluator) sqrt(z, x *block)                     { e.a[e.w].sqrt(z, x, e.n) }
func (e *evaluator) addFloat(z, x *block, y *row)         { e.a[e.w].addFloat(z, x, y, e.n) }
func (e *evaluator) mulFloat(z, x *block, y *row)         { e.a[e.w].mulFloat(z, x, y, e.n) }
func (e *evaluator) series(z, x *block, p *[5]polynomial) { e.a.evaluate(z, x, &p[e.w], e.w, e.n) }

// constant sets z to x in every lane.
func (e *evaluator) constant(z *block, x *QD) { z.fill(x, e.w, e.n) }

func (e *evaluator) gather(z *block, table []QD, index *[lanes]int32) {
	z.gather(table, index, e.w, e.n)
}

// copy sets z = x.
func (e *evaluator) copy(z, x *block) {
	for k := range e.w {
		copy(z[k][:e.n], x[k][:e.n])
	}
}

// addNumber sets z = x + y, for one number y.
func (e *evaluator) addNumber(z, x *block, y float64) {
	t := e.take(1)
	t[0][0].fill(y, e.n)
	e.addFloat(z, x, &t[0][0])
	e.give(1)
}

// magnitude sets z = |x|.
func (e *evaluator) magnitude(z, x *block) {
	e.copy(z, x)
	e.negateWhere(z, &x[0])
}

// negateWhere changes the sign of z where y is negative, except for NaN.
func (e *evaluator) negateWhere(z *block, y *row) {
	for i, y := range y[:e.n] {
		if math.Signbit(y) && z[0][i] == z[0][i] {
			for k := range e.w {
				z[k][i] = -z[k][i]
			}
		}
	}
}

// root sets z = √x, with zeros and NaN as in math.Sqrt; it overwrites x.
func (e *evaluator) root(z, x *block) {
	t := e.take(1)
	special := &t[0][0]
	for i, y := range x[0][:e.n] {
		special[i] = 1
		if !(y > 0) {
			special[i] = math.Sqrt(y)
			e.set(x, i, 1)
		}
	}
	e.sqrt(z, x)
	for i, y := range special[:e.n] {
		if y != 1 {
			e.set(z, i, y)
		}
	}
	e.give(1)
}

// rest sets z to the words of x after the leading one; z may be x.
func (e *evaluator) rest(z, x *block) {
	for k := 1; k < e.w; k++ {
		copy(z[k-1][:e.n], x[k][:e.n])
	}
	clear(z[e.w-1][:e.n])
}

// lead sets high to the leading word of high + low, to within a rounding, and low to the rest:
// together they hold one word more than a block. Lanes of high and low are numbers whose sum does
// not lose words by cancellation beyond the first two.
func (e *evaluator) lead(high *row, low *block) {
	t := e.take(1)
	err := &t[0][0]
	for i := range high[:e.n] {
		high[i], err[i] = twoSum(high[i], low[0][i])
	}
	e.rest(low, low)
	e.addFloat(low, low, err)
	e.give(1)
}

// scale multiplies lane i of z by 2^k[i], |k| <= 2000, for z[0] = 0 or between 2^-400 and 2^400. It
// uses one factor if 2^k is a normal number, else two.
func (e *evaluator) scale(z *block, k *[lanes]int32) {
	for i, k := range k[:e.n] {
		if -500 <= k && k <= 1000 {
			f := powerOf2(k)
			for j := range e.w {
				z[j][i] *= f
			}
			continue
		}
		f, g := powersOf2(k)
		for j := range e.w {
			z[j][i] = float64(z[j][i]*f) * g
		}
		if k < 0 {
			e.normalise(z, i)
		}
	}
}

// normalise restores the order of words that were rounded to subnormal numbers, by additions
// that are exact there.
func (e *evaluator) normalise(z *block, i int) {
	for range e.w - 1 {
		for j := e.w - 2; j >= 0; j-- {
			z[j][i], z[j+1][i] = twoSum(z[j][i], z[j+1][i])
		}
	}
}

// set makes lane i of z the float64 x.
func (e *evaluator) set(z *block, i int, x float64) {
	z[0][i] = x
	for k := 1; k < e.w; k++ {
		z[k][i] = 0
	}
}

// negate changes the sign of z.
func (e *evaluator) negate(z *block) {
	for k := range e.w {
		for i, x := range z[k][:e.n] {
			z[k][i] = -x
		}
	}
}

// finish puts zeros, infinities and NaN into their one form.
func (e *evaluator) finish(z *block) {
	for i := range z[0][:e.n] {
		e.finishLane(z, i)
	}
}

func (e *evaluator) finishLane(z *block, i int) {
	if x := z[0][i]; x == 0 || x-x != 0 {
		if x != x {
			x = math.NaN()
		}
		e.set(z, i, x)
	}
}

// powerOf2 is 2^k, for -1022 <= k <= 1023.
func powerOf2(k int32) float64 { return math.Float64frombits(uint64(1023+k) << 52) }

// powersOf2 are two factors of 2^k, for |k| <= 2044.
func powersOf2(k int32) (f, g float64) {
	half := k >> 1
	return powerOf2(half), powerOf2(k - half)
}

// exponent is the e with 2^e <= |x| < 2^(e+1), for x that is not zero, infinite or NaN.
func exponent(x float64) int32 {
	b := math.Float64bits(x) &^ (1 << 63)
	if e := int32(b >> 52); e > 0 {
		return e - 1023
	}
	return int32(bits.Len64(b)) - 1075
}

// shifter rounds to integers: x + shifter is 1.5 2^52 plus the nearest integer to x, for
// |x| < 2^51.
const shifter = 0x1.8p52

// nearest is x rounded to an integer, for |x| < 2^31, as a float64 and as an integer.
func nearest(x float64) (float64, int32) {
	t := x + shifter
	return t - shifter, int32(math.Float64bits(t))
}
