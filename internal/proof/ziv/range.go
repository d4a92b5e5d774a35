package ziv

import (
	"math/big"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/interval"
)

// LeavesRange counts an overflow if z is infinite and the finite number in [x, y] that was rounded
// to z is not, and an underflow if this number loses bits below the smallest normal number of z's
// format. If z itself lies in [x, y], it is taken for the number. LeavesRange counts for all
// results that are single numbers.
func LeavesRange(s *call.Run, z num.Scalar, x, y *big.Float) {
	if z.IsInf(0) && !x.IsInf() && !y.IsInf() {
		s.Stats.Overflow++
	}
	if underflows(z, x, y) {
		s.Stats.Underflow++
	}
}

// underflows reports whether all numbers in [x, y], which round to z, lose bits below the smallest
// normal number of z's format. If z itself lies in [x, y], it is taken for the number.
func underflows(z num.Scalar, x, y *big.Float) bool {
	if z.Format().IsMP() || z.IsInf(0) || z.IsNaN() {
		return false
	}
	loses := func(x *big.Float) bool {
		const prec = 4096 // if one of these bits is lost, all further bits are
		m := num.NewScalar(num.Precision(prec), new(big.Float).SetPrec(prec).SetMode(big.ToZero).Set(x))
		return num.New(z.Format(), 1).Convert(0, m.Array(), 0)&num.Underflow != 0
	}
	least := -1074
	if z.Format() == num.Float32 {
		least = -149
	}
	b := z.Big()
	// The usual case. The last term of an expansion may lie anywhere below the first.
	if f := z.Format(); f.Bits() <= 53 && b.Sign() != 0 && b.MantExp(nil) > least+f.Bits()+64 {
		return false
	}
	return (b.Cmp(x) < 0 || b.Cmp(y) > 0) && loses(x) && loses(y)
}

// Lose records that entry (i, j) of z underflows, if all numbers in [x, y], which round to it, do.
func Lose(s *call.Run, z num.Mat, i, j int, x, y *big.Float) {
	if !z.Format().IsMP() && underflows(z.Entry(i, j), x, y) {
		s.Lost.Note(call.Entry{Z: z, I: i, J: j})
	}
}

// Pivots encloses the product of the first n pivots, divided by 2^shift.
func (e *Enclosure) Pivots(n int) (x interval.Interval, shift int64) {
	p := e.Arithmetic()
	x = interval.Interval{Lo: p.Down().SetInt64(1), Hi: p.Up().SetInt64(1)}
	for j := range n {
		y := e.Upper(j, j)
		by := -max(y.Lo.MantExp(nil), y.Hi.MantExp(nil))
		x = p.Mul(x, interval.Interval{Lo: y.Lo.SetMantExp(y.Lo, by), Hi: y.Hi.SetMantExp(y.Hi, by)})
		shift -= int64(by)
	}
	return x, shift
}

// MaxDeterminant bounds the bits of determinants of integers. The time grows with the square of the
// bits.
const MaxDeterminant = 1 << 26

// ExactInt converts an integer without rounding.
func ExactInt(x *big.Int) *big.Float {
	return new(big.Float).SetPrec(uint(max(x.BitLen(), 1))).SetInt(x)
}

// ScaleExactly multiplies x by 2^e, where e may exceed a 32-bit int.
func ScaleExactly(x *big.Float, e int64) {
	for e != 0 && x.Sign() != 0 && !x.IsInf() {
		part := max(-1<<30, min(e, 1<<30))
		x.SetMantExp(x, int(part))
		e -= part
	}
}
