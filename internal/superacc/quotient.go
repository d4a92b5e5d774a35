package superacc

import (
	"math/big"

	"github.com/halfulp/halfulp/internal/num"
)

// SetQuotient stores the sum divided by d, rounded, in number i of z, with the special values of
// IEEE 754.
func (a *Acc) SetQuotient(z *num.Array, i int, d num.Real) num.Flags {
	return z.Set(i, a.quotient(z.Format, d))
}

// quotient returns the sum divided by d for rounding to f.
func (a *Acc) quotient(f num.Format, d num.Real) num.Real {
	return Divide(f, a.Leading(quotientBits(f, d)), d)
}

// Divide returns v / d for rounding to f, with the special values of IEEE 754. If v is sticky it
// must have the number of leading bits that quotientBits returns.
func Divide(f num.Format, v, d num.Real) num.Real {
	neg := v.Neg != d.Neg
	switch {
	case v.Class == num.NaN, d.Class == num.NaN, v.Class == d.Class && v.Class != num.Finite:
		return num.Real{Class: num.NaN}
	case v.Class == num.Inf, d.Class == num.Zero:
		return num.Real{Class: num.Inf, Neg: neg}
	case v.Class == num.Zero, d.Class == num.Inf:
		return num.Real{Neg: neg}
	}
	v.Neg = neg
	v.Exp -= d.Exp
	return Quotient(f, v, num.ToInt(d.Mag))
}

// quotientBits returns the number of leading bits that Quotient needs to round a number divided by
// d to f. cut drops bits more than 64 below the precision, and for expansions, which reach up to
// 2^1024, bits below 2^-floorBits.
func quotientBits(f num.Format, d num.Real) int64 {
	n := int64(num.BitLen(d.Mag)) + 192
	if f.Terms() > 1 {
		return n + floorBits + 1100
	}
	return n + int64(f.Prec)
}

// A Divisor is a number by which many numbers are divided.
type Divisor struct {
	num.Real
	words int
	bits  int      // of Mag
	recip []uint64 // floor(2^(64 words + bits - 1) / Mag), or 2^(64 words) - 1 if that is less
}

// NewDivisor prepares divisions by d for quotients of slightly more than leading leading bits.
func NewDivisor(d num.Real, leading int) Divisor {
	z := Divisor{Real: d, words: (leading + 8 + 63) / 64}
	if d.Class != num.Finite {
		return z
	}
	z.bits = num.BitLen(d.Mag)
	r := new(big.Int).Lsh(big.NewInt(1), uint(64*z.words+z.bits-1))
	r.Quo(r, num.ToInt(d.Mag))
	if r.BitLen() > 64*z.words { // a power of two
		r.Sub(r, big.NewInt(1))
	}
	z.recip = num.FromInt(nil, r)
	return z
}

// A Quotients is the memory of a worker that divides.
type Quotients struct {
	num, product []uint64
	ends         [2][]uint64
	rounded      *num.Array
}

// NewQuotients returns the memory for numbers of format f.
func NewQuotients(f num.Format) *Quotients { return &Quotients{rounded: num.New(f, 2)} }

// TryQuotient is like SetQuotient for a sum that is known up to 2^bound. It returns false unless
// all numbers within the bound round to the same result.
//
// With W words the sum is (n + θ) 2^e, n of W words with the top bit set, 0 <= θ < 1, and 1/|d| is
// (r + θ) 2^f, r = recip of W words likewise, 0 <= θ <= 1. So the quotient exceeds n r 2^(e+f) by
// less than n + r + 1 < 2^(64 W + 1) units. With the truncation of n r to its upper W words the
// error is less than 3 units of these words. The bound adds 2^bound / |d| < 2^(bound - e) such
// units.
func (a *Acc) TryQuotient(z *num.Array, i int, d *Divisor, bound int64, q *Quotients) (num.Flags, bool) {
	w := d.words
	v := a.Leading(int64(64*w) + 8)
	if v.Class != num.Finite || d.Class != num.Finite {
		return 0, false
	}
	n := int64(num.BitLen(v.Mag))
	e := v.Exp + n - int64(64*w)
	if bound-e > int64(64*w-3) {
		return 0, false
	}
	if len(q.num) != w {
		q.num, q.ends[0], q.ends[1] = make([]uint64, w), make([]uint64, w+1), make([]uint64, w+1)
	}
	for k := range w {
		q.num[k] = num.WordAt(v.Mag, n-int64(64*(w-k)))
	}
	q.product = Multiply(q.product, q.num, d.recip)
	units := uint(max(0, bound-e))
	unit := [1]uint64{1 << (units & 63)}
	three := [1]uint64{3}
	for k, end := range q.ends {
		copy(end, q.product[w:])
		end[w] = 0
		if k == 0 {
			num.SubShifted(end[units>>6:], unit[:])
			continue
		}
		num.AddShifted(end[units>>6:], unit[:])
		num.AddShifted(end, three[:])
	}
	var flags [2]num.Flags
	for k, end := range q.ends {
		flags[k] = q.rounded.Set(k, num.Real{Class: num.Finite, Neg: v.Neg != d.Neg, Exp: e - int64(d.bits) + 1 - d.Exp, Mag: end})
	}
	if flags[0] != flags[1] || flags[0]&num.Underflow != 0 || !q.rounded.SameBits(0, q.rounded, 1) {
		return 0, false
	}
	z.CopyFrom(i, q.rounded, 0)
	return flags[0], true
}
