package num

import "math/big"

// Scalar is one number in some format. The zero Scalar is the Float64 +0. Scalars are immutable.
type Scalar struct{ a *Array }

// ScalarOf returns number 0 of a as a Scalar. The array must not change afterwards.
func ScalarOf(a *Array) Scalar { return Scalar{a} }

// Scalar returns a copy of number i.
func (a *Array) Scalar(i int) Scalar {
	s := New(a.Format, 1)
	s.CopyFrom(0, a, i)
	return Scalar{s}
}

// NewScalar returns x rounded to nearest even in format f.
func NewScalar(f Format, x *big.Float) Scalar {
	a := New(f, 1)
	a.Set(0, RealOf(x))
	return Scalar{a}
}

// NaNOf returns the NaN of format f.
func NaNOf(f Format) Scalar {
	a := New(f, 1)
	a.Set(0, Real{Class: NaN})
	return Scalar{a}
}

// Array returns the array whose number 0 is s.
func (s Scalar) Array() *Array {
	if s.a == nil {
		return New(Float64, 1)
	}
	return s.a
}

// Format returns the format of s.
func (s Scalar) Format() Format { return s.Array().Format }

// Float64 returns the binary64 nearest to s, ties to even.
func (s Scalar) Float64() float64 { return s.Array().Float64(0) }

// Big returns s exactly. It panics with big.ErrNaN if s is NaN.
func (s Scalar) Big() *big.Float { return s.Array().Big(0) }

// Real returns the exact value of s.
func (s Scalar) Real() Real {
	a := s.Array()
	return a.Value(0, make([]uint64, ValueWords(a.Format)))
}

// IsNaN reports whether s is NaN.
func (s Scalar) IsNaN() bool { return s.Array().Class(0) == NaN }

// IsZero reports whether s is a zero.
func (s Scalar) IsZero() bool { return s.Array().Class(0) == Zero }

// IsInf reports whether s is an infinity. For sign = 0 the infinity may have either sign, otherwise
// it must have the sign of sign.
func (s Scalar) IsInf(sign int) bool {
	return s.Array().Class(0) == Inf && (sign == 0 || s.Real().Neg == (sign < 0))
}

// Same reports whether s and t have the same format and the same bits.
func (s Scalar) Same(t Scalar) bool {
	return s.Format() == t.Format() && s.Array().SameBits(0, t.Array(), 0)
}

// Float returns x as a Float64 scalar.
func Float(x float64) Scalar { return Scalar{&Array{Format: Float64, F64: [4][]float64{{x}}}} }
