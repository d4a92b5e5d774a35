package superacc

import (
	"math"
	"math/bits"

	"github.com/halfulp/halfulp/internal/num"
)

// IsFloat reports whether the numbers of format f are single binary32 or binary64 numbers.
func IsFloat(f num.Format) bool { return f.Kind == num.F32 || f.Kind == num.F64 }

// FloatReal returns x exactly, its significand in buf.
func FloatReal(x float64, buf []uint64) num.Real {
	neg := math.Signbit(x)
	switch {
	case x != x:
		return num.Real{Class: num.NaN}
	case x-x != 0:
		return num.Real{Class: num.Inf, Neg: neg}
	case x == 0:
		return num.Real{Neg: neg}
	}
	m, e := num.Decompose(x)
	buf[0] = m
	return num.Real{Class: num.Finite, Neg: neg, Exp: e, Mag: buf[:1]}
}

// A wide holds a sum of binary64 numbers and products of two of them, in words of 32 bits
// with room for carries. Word k has the weight 2^(32 k - wideLow).
type wide [wideWords]int64

const (
	wideLow   = 2176 // products of subnormals reach down to 2^-2148
	wideWords = (wideLow+2048)/32 + 5
	wideLimit = 1 << 30 // additions until a word could overflow
)

// add adds (-1)^neg (hi 2^64 + lo) 2^exp, hi < 2^42.
func (a *wide) add(neg bool, hi, lo uint64, exp int64) {
	exp += wideLow
	s := uint(exp & 31)
	d := a[exp>>5:][:5]
	top := hi << s
	if s != 0 {
		top |= lo >> (64 - s)
	}
	lo <<= s
	over := hi >> 1 >> (63 - s)
	sign := int64(0) // -1 to subtract; signs are no branches, which nobody foresees
	if neg {
		sign = -1
	}
	d[0] += int64(lo&math.MaxUint32) ^ sign - sign
	d[1] += int64(lo>>32) ^ sign - sign
	d[2] += int64(top&math.MaxUint32) ^ sign - sign
	d[3] += int64(top>>32) ^ sign - sign
	d[4] += int64(over) ^ sign - sign
}

// addWide adds (-1)^neg 2^exp w.
func (a *Acc) addWide(neg bool, exp int64, w *wide) {
	for k, v := range w {
		if v != 0 {
			m := [1]uint64{uint64(max(v, -v))}
			a.AddMag((v < 0) != neg, int64(32*k)-wideLow+exp, m[:])
		}
	}
}

// addends selects the addends of a sum over one or two vectors.
type addends int

const (
	asNumbers    addends = iota // x_i
	asMagnitudes                // |x_i|
	asProducts                  // x_i y_i
)

// addFloats adds (-1)^neg 2^exp times the sum of r of two vectors of binary32 or binary64
// numbers.
func (a *Acc) addFloats(r addends, neg bool, exp int64, x, y num.Vec) {
	for lo := 0; lo < x.N; lo += wideLimit {
		hi := min(lo+wideLimit, x.N)
		var w wide
		finite := false
		for i := lo; i < hi; i++ {
			u := FloatAt(x.Arr, x.At(i))
			if r == asMagnitudes {
				u = math.Abs(u)
			}
			v := 1.0
			if r == asProducts {
				v = FloatAt(y.Arr, y.At(i))
			}
			if u-u != 0 || v-v != 0 || u == 0 || v == 0 {
				var b [2][1]uint64
				c, n := productClass(FloatReal(u, b[0][:]), FloatReal(v, b[1][:]))
				a.AddSpecial(c, n != neg)
				continue
			}
			finite = true
			m, e := num.Decompose(u)
			if r != asProducts {
				w.add(u < 0, 0, m, e)
				continue
			}
			n, f := num.Decompose(v)
			h, l := bits.Mul64(m, n)
			w.add((u < 0) != (v < 0), h, l, e+f)
		}
		if finite {
			a.seen |= seenFinite
			a.addWide(neg, exp, &w)
		}
	}
}

// addExpansions adds (-1)^neg 2^exp times the sum of r of two vectors, neither of format MP, term
// by term. It uses the exact value of a number with a term that is not finite, with 0 as the first
// term, or with a term larger than a quarter of the last nonzero term before it. All other numbers
// are not 0 and have the sign of their first term. Proof: with d = 2^-1074 a rounded quarter of t
// is at most |t| / 3, the worst case being t = 3 d, so the terms after the first sum to less than
// its magnitude (1/3 + 1/9 + 1/27).
func (a *Acc) addExpansions(r addends, neg bool, exp int64, x, y num.Vec) {
	const limit = wideLimit / 16 // products of terms in a product of two numbers
	for lo := 0; lo < x.N; lo += limit {
		var w wide
		finite := false
		for i := lo; i < min(lo+limit, x.N); i++ {
			ix, iy := x.At(i), y.At(i)
			var u, v [4]term
			m, ok := splitTerms(x.Arr, ix, &u)
			n := 0
			if r == asProducts && ok {
				n, ok = splitTerms(y.Arr, iy, &v)
			}
			if !ok {
				p := x.Arr.Value(ix, a.values[0][:])
				p.Neg = p.Neg != neg
				p.Exp += exp
				switch r {
				case asProducts:
					a.AddProduct(p, y.Arr.Value(iy, a.values[1][:]))
				case asMagnitudes:
					p.Neg = neg
					a.Add(p)
				default:
					a.Add(p)
				}
				continue
			}
			finite = true
			if r == asProducts {
				for _, s := range u[:m] {
					for _, t := range v[:n] {
						hi, lo := bits.Mul64(s.mag, t.mag)
						w.add(s.neg != t.neg, hi, lo, s.exp+t.exp)
					}
				}
				continue
			}
			flip := r == asMagnitudes && u[0].neg
			for _, s := range u[:m] {
				w.add(s.neg != flip, 0, s.mag, s.exp)
			}
		}
		if finite {
			a.seen |= seenFinite
			a.addWide(neg, exp, &w)
		}
	}
}

// term is (-1)^neg mag 2^exp.
type term struct {
	mag uint64
	exp int64
	neg bool
}

// splitTerms stores the n nonzero terms of number i of a. It returns false if addExpansions must
// use the exact value of the number.
func splitTerms(a *num.Array, i int, t *[4]term) (n int, ok bool) {
	h := FloatAt(a, i)
	if h-h != 0 || h == 0 {
		return 0, false
	}
	m, e := num.Decompose(h)
	t[0] = term{m, e, h < 0}
	n = 1
	for k := 1; k < a.Terms(); k++ {
		x := a.F64[k][i]
		if !(math.Abs(x) <= 0.25*math.Abs(h)) {
			return 0, false
		}
		if x == 0 {
			continue
		}
		m, e := num.Decompose(x)
		t[n] = term{m, e, x < 0}
		n++
		h = x
	}
	return n, true
}

// FloatAt returns number at of an array of binary32 or binary64 numbers.
func FloatAt(a *num.Array, at int) float64 {
	if a.Kind == num.F32 {
		return float64(a.F32[at])
	}
	return a.F64[0][at]
}
