package superacc

import (
	"math/big"

	"github.com/halfulp/halfulp/internal/num"
)

// RoundEnclosure stores the sum a, known up to |bound| > 0, rounded in number 0 of z. It
// returns whether all numbers within the bound round to the same number. An enclosure does
// not determine whether a number that lost bits to underflow is exact, and hence whether
// it counts as an underflow. a changes by bound.
func (a *Acc) RoundEnclosure(z *num.Array, bound num.Real) (num.Flags, bool) {
	a.Add(bound)
	f := z.Set(0, a.Value(z.Format))
	bound.Neg = !bound.Neg
	bound.Exp++
	a.Add(bound)
	other := num.New(z.Format, 1)
	g := other.Set(0, a.Value(z.Format))
	return f, f == g && f&num.Underflow == 0 && z.SameBits(0, other, 0)
}

// RoundNorm is like RoundEnclosure for the square root of the sum.
func (a *Acc) RoundNorm(z *num.Array, bound num.Real) (num.Flags, bool) {
	a.Add(bound)
	f := z.Set(0, a.Norm(z.Format))
	bound.Neg = true
	bound.Exp++
	a.Add(bound)
	v := a.RootValue(z.Format)
	if v.Class != num.Finite || v.Neg {
		return 0, false
	}
	other := num.New(z.Format, 1)
	g := other.Set(0, Root(z.Format, v, big.NewInt(1)))
	return f, f == g && f&num.Underflow == 0 && z.SameBits(0, other, 0)
}

// Norm returns the square root of a sum of squares for rounding to f.
func (a *Acc) Norm(f num.Format) num.Real {
	v := a.RootValue(f)
	if v.Class != num.Finite {
		v.Neg = false
		return v
	}
	return Root(f, v, big.NewInt(1))
}
