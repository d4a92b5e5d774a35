package sym

import (
	"math"
	"math/big"

	"github.com/halfulp/halfulp/internal/bufpool"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/bound"
)

// floatRoom keeps the memory of matrices of float64 numbers between calls.
var floatRoom bufpool.Shelf[[]float64]

// scratch has numbers that one worker uses again for each entry of a matrix. It takes no memory
// after the first entries.
type scratch struct {
	x, y, z, gap big.Float
	integer      big.Int
	words        []big.Word
	mag          []uint64
}

// cleared returns z, set to 0 with the given precision.
func cleared(z *big.Float, prec uint) *big.Float { return z.SetPrec(0).SetPrec(prec) }

// read sets z to entry (i, j) of m, exactly, with the precision of its format, and returns z. m is
// in MP.
func (b *scratch) read(z *big.Float, m num.Mat, i, j int) *big.Float {
	a, at := m.Arr, m.At(i, j)
	cleared(z, uint(a.Prec))
	c := a.Cls[at]
	if c.Class() != num.Finite {
		return z
	}
	const wordBits = 32 << (^big.Word(0) >> 63)
	l := a.Limbs()
	b.words = b.words[:0]
	for _, v := range a.Sig[at*l : at*l+l] {
		b.words = append(b.words, big.Word(v))
		if wordBits == 32 {
			b.words = append(b.words, big.Word(v>>32))
		}
	}
	z.SetInt(b.integer.SetBits(b.words))
	if c.Neg() {
		z.Neg(z)
	}
	return z.SetMantExp(z, int(a.Exp[at])-64*l)
}

// write rounds x to entry (i, j) of m, which is in MP. It destroys x.
func (b *scratch) write(m num.Mat, i, j int, x *big.Float) {
	if x.Sign() == 0 {
		m.SetFloat64(i, j, 0)
		return
	}
	neg, e, p := x.Signbit(), x.MantExp(nil), int(x.MinPrec())
	x.SetMantExp(x, p-e)
	x.Int(&b.integer)
	b.mag = num.FromInt(b.mag[:0], &b.integer)
	storeAt(m.Arr, m.At(i, j), neg, b.mag, int64(e)-int64(p))
}

// storeAt rounds mag 2^exp, negative if neg, to number at of a, in MP. The last word of mag is not
// 0.
func storeAt(a *num.Array, at int, neg bool, mag []uint64, exp int64) {
	if max(exp, -exp) < math.MaxInt32/2 {
		bound.StoreLeading(a, at, neg, mag, exp)
		return
	}
	a.Set(at, num.Real{Class: num.Finite, Neg: neg, Mag: append([]uint64(nil), mag...), Exp: exp})
}
