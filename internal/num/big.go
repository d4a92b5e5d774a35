package num

import (
	"math/big"
	"slices"
)

// Float64 returns the binary64 nearest to number i, ties to even.
func (a *Array) Float64(i int) float64 {
	switch a.Kind {
	case F64:
		return a.F64[0][i]
	case F32:
		return float64(a.F32[i])
	}
	var buf [MaxValueWords]uint64
	x, _ := RoundFloat64(a.Value(i, buf[:]))
	return x
}

// SetFloat64 rounds x to the format of a and stores it as number i.
func (a *Array) SetFloat64(i int, x float64) {
	if a.Kind == F64 && x == x {
		a.F64[0][i] = x
		return
	}
	t := Array{Format: Float64, F64: [4][]float64{{x}}}
	a.Convert(i, &t, 0)
}

// Big returns number i exactly. Its precision is the precision of MP, 53 or 24 bits for IEEE
// formats, and as many bits as the value needs for DD, TD and QD.
func (a *Array) Big(i int) *big.Float {
	var buf [MaxValueWords]uint64
	r := a.Value(i, buf[:])
	prec := uint(a.Prec)
	switch a.Kind {
	case DD, TD, QD:
		prec = max(uint(a.Bits()), uint(BitLen(r.Mag)-TrailingZeros(r.Mag)))
	}
	z := new(big.Float).SetPrec(prec).SetMode(big.ToNearestEven)
	switch r.Class {
	case NaN:
		panic(big.ErrNaN{})
	case Inf:
		return z.SetInf(r.Neg)
	case Zero:
		if r.Neg {
			return z.Neg(z)
		}
		return z
	}
	z.SetInt(ToInt(r.Mag))
	if r.Neg {
		z.Neg(z)
	}
	half := r.Exp / 2 // exponents of integers may not fit an int of 32 bits
	return z.SetMantExp(z.SetMantExp(z, int(half)), int(r.Exp-half))
}

// nilFloat is the panic value of RealOf.
const nilFloat = "halfulp: nil big.Float"

// RealOf returns the exact value of x. It panics for nil.
func RealOf(x *big.Float) Real {
	if x == nil {
		panic(nilFloat)
	}
	r := Real{Neg: x.Signbit()}
	switch {
	case x.IsInf():
		r.Class = Inf
		return r
	case x.Sign() == 0:
		return r
	}
	r.Class = Finite
	m := new(big.Float)
	e := x.MantExp(m)
	p := int(x.MinPrec())
	m.SetMantExp(m, p)
	n, _ := m.Int(nil)
	r.Mag = FromInt(nil, n)
	r.Exp = int64(e) - int64(p)
	return r
}

// wordBits is the size of a big.Word.
const wordBits = 32 << (^big.Word(0) >> 63)

// ToInt returns x as a big.Int.
func ToInt(x []uint64) *big.Int {
	w := make([]big.Word, 0, len(x)*64/wordBits)
	for _, v := range x {
		w = append(w, big.Word(v))
		if wordBits == 32 {
			w = append(w, big.Word(v>>32))
		}
	}
	return new(big.Int).SetBits(w)
}

// FromInt appends the words of |x| to dst. The last word appended is not 0.
func FromInt(dst []uint64, x *big.Int) []uint64 {
	w := x.Bits()
	dst = slices.Grow(dst, (len(w)*wordBits+63)/64)
	for i := 0; i < len(w); i += 64 / wordBits {
		v := uint64(w[i])
		if wordBits == 32 && i+1 < len(w) {
			v |= uint64(w[i+1]) << 32
		}
		dst = append(dst, v)
	}
	return dst
}
