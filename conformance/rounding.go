package conformance

import (
	"math"
	"math/big"

	"github.com/halfulp/halfulp"
)

// rounded is a number of some format, with the exceptions of its rounding.
type rounded struct {
	real
	terms    []float64 // the terms, for DD, TD and QD
	overflow bool      // a finite number became infinite
	// a nonzero number, or the remainder for a term, was changed below the smallest normal number
	underflow bool
}

// terms returns how many binary64 numbers a number of format f consists of, 0 for MP and Float32.
func terms(f halfulp.Format) int {
	switch f {
	case halfulp.Float64:
		return 1
	case halfulp.DD:
		return 2
	case halfulp.TD:
		return 3
	case halfulp.QD:
		return 4
	}
	return 0
}

// round rounds x to nearest even in format f.
func round(x real, f halfulp.Format) rounded {
	n := terms(f)
	switch {
	case f.IsMP():
		return roundMP(x, int64(f.Bits()))
	case f == halfulp.Float32:
		return roundIEEE(x, 24, -149, 128)
	case n == 1:
		return roundIEEE(x, 53, -1074, 1024)
	}
	// The greedy terms give the value; its own greedy terms are canonical.
	first := expand(x, n)
	z := expand(first.real, n)
	z.overflow = z.overflow || first.overflow
	z.underflow = first.underflow && !z.overflow
	return z
}

// toMultiple rounds the finite x to a multiple of 2^unit, ties to even multiples.
func toMultiple(x real, unit int64) *big.Int {
	d := unit - x.e
	if d <= 0 {
		return new(big.Int).Lsh(x.n, uint(-d))
	}
	if d > int64(x.n.BitLen())+1 {
		return new(big.Int)
	}
	// floor((2 |x| + 2^d) / 2^(d+1)) is |x| 2^-d rounded with ties upwards.
	m := new(big.Int).Abs(x.n)
	half := new(big.Int).Lsh(big.NewInt(1), uint(d-1))
	m.Add(m, half)
	q, r := new(big.Int).QuoRem(m, half.Lsh(half, 1), new(big.Int))
	if r.Sign() == 0 && q.Bit(0) != 0 {
		q.Sub(q, big.NewInt(1))
	}
	if x.n.Sign() < 0 {
		q.Neg(q)
	}
	return q
}

// roundIEEE rounds to p bits, to multiples of 2^lowest, below 2^highest.
func roundIEEE(x real, p, lowest, highest int64) rounded {
	if x.class != finite {
		return rounded{real: x}
	}
	unit := max(x.top()-p, lowest)
	y := fin(toMultiple(x, unit), unit)
	if y.class == zero {
		y.neg = x.negative()
	}
	switch {
	case y.class == finite && y.top() > highest:
		return rounded{real: inf(x.negative()), overflow: true}
	case x.top()-p < lowest && !y.same(x):
		return rounded{real: y, underflow: true}
	}
	return rounded{real: y}
}

// roundMP rounds to p bits. The exponents t with 2^(t-1) <= |x| < 2^t have to fit in an int32.
// Between 0 and the smallest number there is no number: the nearer of the two is the result, and 0
// in the middle.
func roundMP(x real, p int64) rounded {
	if x.class != finite {
		return rounded{real: x}
	}
	unit := x.top() - p
	y := fin(toMultiple(x, unit), unit)
	switch {
	case y.top() > math.MaxInt32:
		return rounded{real: inf(x.negative()), overflow: true}
	case y.top() >= math.MinInt32:
		return rounded{real: y}
	}
	least := pow2(1, math.MinInt32-1)
	if cmpAbs(x, least.scaled(-1)) <= 0 {
		return rounded{real: real{neg: x.negative()}, underflow: true}
	}
	if x.negative() {
		least = least.negated()
	}
	return rounded{real: least, underflow: true}
}

// expand computes n greedy terms, h = RN(x), l = RN(x - h), ...
func expand(x real, n int) rounded {
	h := roundIEEE(x, 53, -1074, 1024)
	z := rounded{real: h.real, terms: make([]float64, n), overflow: h.overflow, underflow: h.underflow}
	z.terms[0] = h.float()
	if h.class != finite {
		return z
	}
	rest := sum([]real{x, h.negated()})
	all := []real{h.real}
	for k := 1; k < n && rest.class == finite; k++ {
		r := roundIEEE(rest, 53, -1074, 1024)
		z.underflow = z.underflow || r.underflow
		t := r.real
		if t.class != finite {
			break
		}
		z.terms[k] = t.float()
		all = append(all, t)
		rest = sum([]real{rest, t.negated()})
	}
	z.real = sum(all)
	return z
}

// float returns a number of binary64 as a float64.
func (x real) float() float64 {
	switch x.class {
	case notANumber:
		return math.NaN()
	case infinite:
		if x.neg {
			return math.Inf(-1)
		}
		return math.Inf(1)
	case zero:
		if x.neg {
			return math.Copysign(0, -1)
		}
		return 0
	}
	tz := x.n.TrailingZeroBits()
	n := new(big.Int).Rsh(x.n, tz)
	if n.BitLen() > 53 {
		panic("conformance: not a binary64 number")
	}
	return math.Ldexp(float64(n.Int64()), int(x.e)+int(tz))
}

// fine returns the exponent of a unit that divides every number and every midpoint of neighbours of
// format f near 2^top, with room to spare.
func fine(f halfulp.Format, top int64) int64 {
	u := top - int64(f.Bits()) - 64
	if !f.IsMP() && top < 2048 {
		u = min(u, -1300)
	}
	return u
}
