package bound

import (
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/interval"
)

// Nearly is a matrix that is known up to an error: X + D, for matrices X and D in MP, is the
// solution of a scaled system F Y = G. Entries of column j are in error by at most 2^Err[j], and by
// at most 2^(Err[j]+1) including the cutting off of sums.
type Nearly struct {
	X, D  num.Mat
	Err   []int64
	Words int     // words of a sum of X and D
	Left  []int64 // exponents of rows, by which entries are scaled back
	Right []int64
}

// Set sets entry (i, j) of X to v.
func (y *Nearly) Set(i, j int, v EnclosedEntry) {
	z := y.X
	z.Arr.Set(z.At(i, j), num.Real{Class: num.Finite, Neg: v.Neg, Mag: v.Mag, Exp: v.Exp})
}

// Interval returns an enclosure of entry (i, j).
func (y *Nearly) Interval(i, j, bits int) interval.Interval {
	mid := interval.ExactAdd(y.X.Big(i, j), y.D.Big(i, j))
	rad := Exp2(int(y.Err[j]))
	p := interval.Prec(bits + 64)
	x := interval.Interval{Lo: p.Down().Sub(mid, rad), Hi: p.Up().Add(mid, rad)}
	shift := int(y.Left[i] + y.Right[j])
	return interval.Interval{Lo: x.Lo.SetMantExp(x.Lo, shift), Hi: x.Hi.SetMantExp(x.Hi, shift)}
}
