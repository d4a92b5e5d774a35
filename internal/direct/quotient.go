package direct

import (
	"math"
	"math/big"

	"github.com/halfulp/halfulp/internal/num"
)

// SetQuotient stores the sum divided by d, rounded, in number i of z, with the special values of IEEE 754.
func (a *Acc) SetQuotient(z *num.Array, i int, d num.Real) num.Flags {
	return z.Set(i, a.quotient(z.Format, d))
}

// quotient returns the sum divided by d for rounding to f.
func (a *Acc) quotient(f num.Format, d num.Real) num.Real {
	v := a.Leading(quotientBits(f, d))
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
	return Quotient(f, v, ToInt(d.Mag))
}

// quotientBits returns how many leading bits of a number Quotient needs to round the number
// divided by d to f: cut leaves out what lies 64 bits below the precision, for expansions what lies
// below 2^-floorBits, and they reach up to 2^1024.
func quotientBits(f num.Format, d num.Real) int64 {
	n := int64(num.BitLen(d.Mag)) + 192
	if f.Terms() > 1 {
		return n + floorBits + 1100
	}
	return n + int64(f.Prec)
}

// TryQuotient is SetQuotient for a sum known up to 2^bound, if all numbers within round alike. d is finite
// and not 0. ends are two numbers of z's format for it to use.
func (a *Acc) TryQuotient(z *num.Array, i int, d num.Real, bound int64, ends *num.Array) (num.Flags, bool) {
	q := a.quotient(z.Format, d)
	if q.Class != num.Finite {
		return 0, false
	}
	// The quotient lies within 1 + 2^bound / |d| units of Mag, |d| >= 2^(top-1).
	units := bound - (d.Exp + int64(num.BitLen(d.Mag)) - 1) - q.Exp
	n := int64(num.BitLen(q.Mag))
	if units > n-2 || units >= math.MaxInt32 {
		return 0, false
	}
	e := big.NewInt(2)
	if units > 0 {
		e.Lsh(e, uint(units))
	}
	mag := ToInt(q.Mag)
	var flags [2]num.Flags
	for k := range flags {
		end := new(big.Int).Sub(mag, e)
		if k == 1 {
			end.Add(mag, e)
		}
		if end.Sign() <= 0 {
			return 0, false
		}
		flags[k] = ends.Set(k, num.Real{Class: num.Finite, Neg: q.Neg, Exp: q.Exp, Mag: FromInt(nil, end)})
	}
	if flags[0] != flags[1] || flags[0]&num.Underflow != 0 || !ends.SameBits(0, ends, 1) {
		return 0, false
	}
	z.CopyFrom(i, ends, 0)
	return flags[0], true
}
