package sym

import (
	"math"
	"math/big"
	"math/bits"

	"github.com/halfulp/halfulp/internal/num"
)

// A pair is the number (hi + lo) 2^e, with |lo| ≤ 2^-52 |hi| and 1/2 ≤ |hi| ≤ 1, or 0. Operations
// have relative errors below 2^-99: double-double arithmetic (Joldes, Muller and Popescu, Tight and
// rigorous error bounds for basic building blocks of double-word arithmetic, 2017) with exponents
// of 64 bits.
type pair struct {
	hi, lo float64
	e      int64
}

// pairBits is the number of bits up to which corrections are computed with pairs. A sum of pairs
// that cancels has an error below 2^-99 of its terms, and a correction some such errors.
const pairBits = 90

// scaledPair returns (hi + lo) 2^e normalised.
func scaledPair(hi, lo float64, e int64) pair {
	s := hi + lo
	lo -= s - hi // |hi| ≥ |lo|
	if s == 0 {
		return pair{}
	}
	k := int64(math.Float64bits(s)>>52&0x7ff) - 1022
	f := math.Float64frombits(uint64(1023-k) << 52)
	return pair{float64(s * f), float64(lo * f), e + k}
}

// pairOf returns number at of a, cut to 106 bits or more precise than that.
func pairOf(a *num.Array, at int) pair {
	if a.Kind != num.MP {
		x, e := a.Leading(at)
		return scaledPair(x, 0, e)
	}
	c := a.Cls[at]
	if c.Class() != num.Finite {
		return pair{}
	}
	l := a.Limbs()
	w := a.Sig[at*l : at*l+l]
	top := w[l-1]
	// 53 bits, and the 11 bits below them with 42 more.
	hi := float64(float64(top>>11) * 0x1p-53)
	rest := top << 53
	if l > 1 {
		rest |= w[l-2] >> 11
	}
	lo := float64(float64(rest>>11) * 0x1p-106)
	if c.Neg() {
		hi, lo = -hi, -lo
	}
	return scaledPair(hi, lo, int64(a.Exp[at]))
}

// pairOfBig returns x, rounded.
func pairOfBig(x *big.Float) pair {
	if x.Sign() == 0 {
		return pair{}
	}
	m := new(big.Float)
	e := x.MantExp(m)
	hi, _ := m.Float64()
	lo, _ := new(big.Float).SetPrec(x.Prec()).Sub(m, new(big.Float).SetFloat64(hi)).Float64()
	return scaledPair(hi, lo, int64(e))
}

func (x pair) negated() pair { return pair{-x.hi, -x.lo, x.e} }

func (x pair) mul(y pair) pair {
	p := float64(x.hi * y.hi)
	q := math.FMA(x.hi, y.hi, -p)
	q += float64(x.hi*y.lo) + float64(x.lo*y.hi)
	return scaledPair(p, q, x.e+y.e)
}

func (x pair) add(y pair) pair {
	if x.hi == 0 {
		return y
	}
	if y.hi == 0 {
		return x
	}
	if x.e < y.e {
		x, y = y, x
	}
	d := x.e - y.e
	if d > 120 {
		return x
	}
	f := math.Float64frombits(uint64(1023-d) << 52)
	a, b := float64(y.hi*f), float64(y.lo*f)
	// The accurate sum: both sums of the parts exactly, then two renormalisations.
	s, t := twoSum(x.hi, a)
	u, v := twoSum(x.lo, b)
	t += u
	s, t = quickTwoSum(s, t)
	t += v
	return scaledPair(s, t, x.e)
}

func twoSum(a, b float64) (s, t float64) {
	s = a + b
	c := s - a
	return s, (a - (s - c)) + (b - c)
}

func quickTwoSum(a, b float64) (s, t float64) {
	s = a + b
	return s, b - (s - a)
}

// over returns x/y for y ≠ 0.
func (x pair) over(y pair) pair {
	if x.hi == 0 {
		return x
	}
	q := x.hi / y.hi
	r := math.FMA(-q, y.hi, x.hi) + (x.lo - float64(q*y.lo))
	return scaledPair(q, r/y.hi, x.e-y.e)
}

// store rounds x to number at of a, in MP.
func (x pair) store(a *num.Array, at int) {
	if x.hi == 0 {
		a.SetFloat64(at, 0)
		return
	}
	hi, lo := x.hi, x.lo
	neg := hi < 0
	if neg {
		hi, lo = -hi, -lo
	}
	// The magnitude is hi 2^116 + lo 2^116, with the integer hi 2^53 and |lo| ≤ 2^-53.
	top, l := uint64(hi*0x1p53), int64(float64(lo*0x1p116))
	low, carry := bits.Add64(top<<63, uint64(l), 0)
	top = top>>1 + carry + uint64(l>>63)
	mag := [2]uint64{low, top}
	storeAt(a, at, neg, mag[:], x.e-116)
}
