package det

import (
	"math/big"
	"math/bits"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/superacc"
)

// columnSum returns the sum of the finite numbers of a column on the host, in prec bits. Its
// relative error is at most 2^(1-prec).
func columnSum(m num.Mat, prec uint) *big.Float {
	var sum superacc.Acc
	sum.AddVec(num.Vec{Arr: m.Arr, Off: m.Off, Inc: m.RS, N: m.Rows})
	return float(sum.Leading(int64(prec)+64), prec)
}

// columnProduct returns the product of the finite numbers of a column in MP on the host, in prec
// bits. Its relative error is at most (n + 1) 2^-prec.
//
// The product of the first factors is kept as words words with a leading one, w 2^exp. It is cut
// off after each factor, by less than a unit of w: by less than 2^(1 - 64 words) times itself.
func columnProduct(m num.Mat, prec uint) *big.Float {
	words, limbs := int(prec)/64+2, m.Arr.Limbs()
	w, next := make([]uint64, words), make([]uint64, words+limbs)
	w[words-1] = 1 << 63
	product := num.Real{Class: num.Finite, Exp: int64(1 - 64*words)}
	for i := range m.Rows {
		x := m.Arr.Value(m.At(i, 0), nil)
		if x.Class == num.Zero {
			return new(big.Float).SetPrec(prec)
		}
		clear(next)
		for k, digit := range x.Mag {
			next[words+k] = superacc.AddMul(next[k:k+words], w, digit)
		}
		// Both factors have a leading one, so their product has one of its first two bits.
		shift := uint(bits.LeadingZeros64(next[words+limbs-1]))
		for k := range w {
			w[k] = next[limbs+k]<<shift | next[limbs+k-1]>>(64-shift)
		}
		product.Neg = product.Neg != x.Neg
		product.Exp += x.Exp + int64(64*limbs) - int64(shift)
	}
	product.Mag = w
	return float(product, prec)
}

// float returns x rounded to prec bits.
func float(x num.Real, prec uint) *big.Float {
	z := new(big.Float).SetPrec(prec)
	if len(x.Mag) == 0 {
		return z
	}
	z.SetInt(num.ToInt(x.Mag))
	if x.Neg {
		z.Neg(z)
	}
	return z.SetMantExp(z, int(x.Exp))
}
