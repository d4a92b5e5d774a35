package halfulp

import (
	"math/big"

	"github.com/halfulp/halfulp/internal/num"
)

// Scalar is one number in some format. The zero Scalar is the Float64 +0.
// Scalars are immutable and may be copied.
type Scalar struct{ a *num.Array }

func (s Scalar) array() *num.Array {
	if s.a == nil {
		return num.New(num.Float64, 1)
	}
	return s.a
}

// Float returns x as a Float64 scalar.
func Float(x float64) Scalar {
	a := num.New(num.Float64, 1)
	a.F64[0][0] = x
	return Scalar{a}
}

// NewScalar returns x rounded to nearest even in format f.
func NewScalar(f Format, x *big.Float) Scalar {
	a := num.New(f.f, 1)
	a.Set(0, bigReal(x))
	return Scalar{a}
}

// NaN returns the NaN of format f.
func NaN(f Format) Scalar {
	a := num.New(f.f, 1)
	a.Set(0, num.Real{Class: num.NaN})
	return Scalar{a}
}

// Format returns the format of s.
func (s Scalar) Format() Format { return Format{s.array().Format} }

// Convert returns s rounded to nearest even in format f.
func (s Scalar) Convert(f Format) Scalar {
	a := num.New(f.f, 1)
	a.Convert(0, s.array(), 0)
	return Scalar{a}
}

// Float64 returns the binary64 nearest to s, ties to even.
func (s Scalar) Float64() float64 { return float64At(s.array(), 0) }

// Big returns s exactly. It panics with big.ErrNaN if s is NaN.
func (s Scalar) Big() *big.Float { return bigAt(s.array(), 0) }

// IsNaN reports whether s is NaN.
func (s Scalar) IsNaN() bool { return classAt(s.array(), 0) == num.NaN }

// IsInf reports whether s is an infinity: of either sign for sign = 0, else of
// the sign of sign.
func (s Scalar) IsInf(sign int) bool {
	var buf [num.MaxValueWords]uint64
	r := s.array().Value(0, buf[:])
	return r.Class == num.Inf && (sign == 0 || r.Neg == (sign < 0))
}

func (s Scalar) isZero() bool { return classAt(s.array(), 0) == num.Zero }

// Same reports whether s and t have the same format and the same bits.
func (s Scalar) Same(t Scalar) bool {
	return s.Format() == t.Format() && s.array().SameBits(0, t.array(), 0)
}

func classAt(a *num.Array, i int) num.Class {
	var buf [num.MaxValueWords]uint64
	return a.Value(i, buf[:]).Class
}

func float64At(a *num.Array, i int) float64 {
	switch a.Kind {
	case num.F64:
		return a.F64[0][i]
	case num.F32:
		return float64(a.F32[i])
	}
	var buf [num.MaxValueWords]uint64
	x, _ := num.RoundFloat64(a.Value(i, buf[:]))
	return x
}

// bigAt returns number i exactly, with the precision of MP, 53 or 24 bits for
// IEEE formats, and as many as the value needs for DD, TD and QD.
func bigAt(a *num.Array, i int) *big.Float {
	var buf [num.MaxValueWords]uint64
	r := a.Value(i, buf[:])
	prec := uint(a.Prec)
	switch a.Kind {
	case num.DD, num.TD, num.QD:
		prec = max(uint(a.Bits()), uint(num.BitLen(r.Mag)-num.TrailingZeros(r.Mag)))
	}
	z := new(big.Float).SetPrec(prec).SetMode(big.ToNearestEven)
	switch r.Class {
	case num.NaN:
		panic(big.ErrNaN{})
	case num.Inf:
		return z.SetInf(r.Neg)
	case num.Zero:
		if r.Neg {
			return z.Neg(z)
		}
		return z
	}
	z.SetInt(new(big.Int).SetBits(bigWords(r.Mag)))
	if r.Neg {
		z.Neg(z)
	}
	half := r.Exp / 2 // the exponents of integers reach below an int of 32 bits
	return z.SetMantExp(z.SetMantExp(z, int(half)), int(r.Exp-half))
}

// bigReal returns the exact value of x.
func bigReal(x *big.Float) num.Real {
	r := num.Real{Neg: x.Signbit()}
	switch {
	case x.IsInf():
		r.Class = num.Inf
		return r
	case x.Sign() == 0:
		return r
	}
	r.Class = num.Finite
	m := new(big.Float)
	e := x.MantExp(m)
	p := int(x.MinPrec())
	m.SetMantExp(m, p)
	n, _ := m.Int(nil)
	r.Mag = joinWords(n.Bits(), r.Mag[:0])
	r.Exp = int64(e) - int64(p)
	return r
}

const wordBits = 32 << (^big.Word(0) >> 63)

// joinWords appends the words of a big.Int to dst as 64-bit words.
func joinWords(w []big.Word, dst []uint64) []uint64 {
	if wordBits == 64 {
		for _, x := range w {
			dst = append(dst, uint64(x))
		}
		return dst
	}
	for i := 0; i < len(w); i += 2 {
		x := uint64(w[i])
		if i+1 < len(w) {
			x |= uint64(w[i+1]) << 32
		}
		dst = append(dst, x)
	}
	return dst
}

// bigWords is the converse of joinWords.
func bigWords(x []uint64) []big.Word {
	var w []big.Word
	for _, v := range x {
		w = append(w, big.Word(v))
		if wordBits == 32 {
			w = append(w, big.Word(v>>32))
		}
	}
	return w
}
