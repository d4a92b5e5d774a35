package conformance

import (
	"fmt"
	"math"
	"math/big"
	"sort"
)

// class of a number, in the order in which classes dominate a sum.
type class uint8

const (
	zero class = iota
	finite
	infinite
	notANumber
)

// real is an exact number: n 2^e if it is finite, where n is not 0 and has the number's sign. neg
// is the sign of a zero or an infinity.
type real struct {
	class class
	neg   bool
	n     *big.Int
	e     int64
}

func fin(n *big.Int, e int64) real {
	if n.Sign() == 0 {
		return real{}
	}
	return real{class: finite, n: n, e: e}
}

// pow2 returns s 2^e for a small integer s.
func pow2(s, e int64) real { return fin(big.NewInt(s), e) }

var (
	nan   = real{class: notANumber}
	one   = pow2(1, 0)
	minus = real{neg: true}
)

func inf(neg bool) real { return real{class: infinite, neg: neg} }

// ofFloat returns the exact value of x.
func ofFloat(x float64) real {
	switch {
	case x != x:
		return nan
	case math.IsInf(x, 0):
		return inf(x < 0)
	case x == 0:
		return real{neg: math.Signbit(x)}
	}
	f, e := math.Frexp(x)
	return fin(big.NewInt(int64(math.Ldexp(f, 53))), int64(e)-53)
}

func (x real) negative() bool {
	if x.class == finite {
		return x.n.Sign() < 0
	}
	return x.neg
}

func (x real) negated() real {
	switch x.class {
	case finite:
		return fin(new(big.Int).Neg(x.n), x.e)
	case notANumber:
		return x
	}
	x.neg = !x.neg
	return x
}

func (x real) abs() real {
	if x.negative() {
		return x.negated()
	}
	return x
}

// top returns t with 2^(t-1) <= |x| < 2^t.
func (x real) top() int64 { return x.e + int64(x.n.BitLen()) }

// scaled returns x 2^e.
func (x real) scaled(e int64) real {
	x.e += e
	return x
}

func (x real) times(y real) real {
	lo, hi := min(x.class, y.class), max(x.class, y.class)
	neg := x.negative() != y.negative()
	switch {
	case hi == notANumber, hi == infinite && lo == zero:
		return nan
	case hi == infinite:
		return inf(neg)
	case lo == zero:
		return real{neg: neg}
	}
	return fin(new(big.Int).Mul(x.n, y.n), x.e+y.e)
}

// clusterGap is the gap, in bits, from which sum adds clusters of addends separately. It exceeds
// twice the precision of every tested format and the whole range of binary64.
const clusterGap = 40000

// sum returns the exact sum with the special values of IEEE 754: the sum is -0 only if all addends
// are -0, and there is at least one. Where parts of the sum lie more than clusterGap bits below the
// rest, a power of two of their sign stands for them.
func sum(terms []real) real {
	var pos, neg, isNaN bool
	allMinus := len(terms) > 0
	var ts []real
	for _, t := range terms {
		switch t.class {
		case notANumber:
			isNaN = true
		case infinite:
			pos, neg = pos || !t.neg, neg || t.neg
		case finite:
			ts = append(ts, t)
		}
		allMinus = allMinus && t.class == zero && t.neg
	}
	switch {
	case isNaN, pos && neg:
		return nan
	case pos, neg:
		return inf(neg)
	case len(ts) == 0:
		return real{neg: allMinus}
	}
	low, high := int64(math.MaxInt64), int64(math.MinInt64)
	for _, t := range ts {
		low, high = min(low, t.e), max(high, t.top())
	}
	if high-low < 8*clusterGap {
		return addAll(ts, low)
	}
	sort.Slice(ts, func(i, j int) bool { return ts[i].top() > ts[j].top() })
	var s real
	var unit int64
	for len(ts) > 0 {
		n, low := 1, ts[0].e
		for n < len(ts) && ts[n].top() > low-clusterGap {
			low = min(low, ts[n].e)
			n++
		}
		part := addAll(ts[:n], low)
		ts = ts[n:]
		switch {
		case part.class == zero:
		case s.class == zero:
			s, unit = part, low
		default:
			tail := pow2(int64(part.n.Sign()), unit-clusterGap/2)
			return addAll([]real{s, tail}, tail.e)
		}
	}
	return s
}

// addAll adds finite numbers that are multiples of 2^low.
func addAll(ts []real, low int64) real {
	s, t := new(big.Int), new(big.Int)
	for _, x := range ts {
		if x.e == low {
			s.Add(s, x.n)
			continue
		}
		s.Add(s, t.Lsh(x.n, uint(x.e-low)))
	}
	return fin(s, low)
}

// cmpAbs compares |x| and |y|, NaN being the largest.
func cmpAbs(x, y real) int {
	if x.class != y.class {
		return int(x.class) - int(y.class)
	}
	if x.class != finite {
		return 0
	}
	if d := x.top() - y.top(); d != 0 {
		if d < 0 {
			return -1
		}
		return 1
	}
	e := min(x.e, y.e)
	return new(big.Int).Lsh(x.n, uint(x.e-e)).CmpAbs(new(big.Int).Lsh(y.n, uint(y.e-e)))
}

// same reports whether x and y are the same number, signs of zeros included.
func (x real) same(y real) bool {
	if x.class != y.class {
		return false
	}
	switch x.class {
	case notANumber:
		return true
	case finite:
		return x.negative() == y.negative() && cmpAbs(x, y) == 0
	}
	return x.neg == y.neg
}

// ratio returns x / d for rounding: exact if it is a multiple of 2^unit, else truncated, with a bit
// set below 2^unit that only says that more follows.
func (x real) ratio(d *big.Int, unit int64) real {
	if x.class != finite {
		return x
	}
	q, r := new(big.Int), new(big.Int)
	if s := x.e - unit; s >= 0 {
		q.QuoRem(q.Lsh(x.n, uint(s)), d, r)
	} else {
		q.QuoRem(x.n, new(big.Int).Lsh(d, uint(-s)), r)
	}
	return withTail(q, r.Sign(), unit)
}

// root returns sqrt(x / d) for rounding, like ratio.
func (x real) root(d *big.Int, unit int64) real {
	if x.class != finite {
		return x
	}
	y := x.ratio(d, 2*unit)
	n := new(big.Int).Rsh(y.n, uint(2*unit-y.e)) // floor(x/d 2^(-2 unit))
	s := new(big.Int).Sqrt(n)
	tail := new(big.Int).Mul(s, s).Cmp(n) != 0 || y.e != 2*unit && y.n.Bit(0) != 0
	if tail {
		return withTail(s, 1, unit)
	}
	return withTail(s, 0, unit)
}

// withTail returns (2 q + sign) 2^(unit-1).
func withTail(q *big.Int, sign int, unit int64) real {
	q = new(big.Int).Lsh(q, 1)
	return fin(q.Add(q, big.NewInt(int64(sign))), unit-1)
}

// String writes x exactly, in hexadecimal.
func (x real) String() string {
	sign := "+"
	if x.negative() {
		sign = "-"
	}
	switch x.class {
	case notANumber:
		return "NaN"
	case infinite:
		return sign + "Inf"
	case zero:
		return sign + "0"
	}
	tz := x.n.TrailingZeroBits()
	n := new(big.Int).Abs(x.n)
	n.Rsh(n, tz)
	s := n.Text(16)
	if len(s) > 900 {
		s = fmt.Sprintf("%s...(%d digits)...%s", s[:400], len(s), s[len(s)-400:])
	}
	return fmt.Sprintf("%s0x%sp%+d", sign, s, x.e+int64(tz))
}
