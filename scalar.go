package halfulp

import (
	"math/big"

	"github.com/halfulp/halfulp/internal/num"
)

// Scalar is one number in some format. The zero Scalar is the Float64 +0.
// Scalars are immutable and may be copied.
type Scalar struct{ n num.Scalar }

func (s Scalar) array() *num.Array { return s.n.Array() }

// Float returns x as a Float64 scalar.
func Float(x float64) Scalar {
	a := num.New(num.Float64, 1)
	a.F64[0][0] = x
	return Scalar{num.ScalarOf(a)}
}

// NewScalar returns x rounded to nearest even in format f.
func NewScalar(f Format, x *big.Float) Scalar { return Scalar{num.NewScalar(f.View(), x)} }

// NaN returns the NaN of format f.
func NaN(f Format) Scalar { return Scalar{num.NaNOf(f.View())} }

// NumberFormat returns the format of s.
func (s Scalar) NumberFormat() Format { return FormatOf(s.array().Format) }

// Convert returns s rounded to nearest even in format f.
func (s Scalar) Convert(f Format) Scalar {
	a := num.New(f.View(), 1)
	a.Convert(0, s.array(), 0)
	return Scalar{num.ScalarOf(a)}
}

// Float64 returns the binary64 nearest to s, ties to even.
func (s Scalar) Float64() float64 { return s.n.Float64() }

// Big returns s exactly. It panics with big.ErrNaN if s is NaN.
func (s Scalar) Big() *big.Float { return s.n.Big() }

// IsNaN reports whether s is NaN.
func (s Scalar) IsNaN() bool { return s.n.IsNaN() }

// IsInf reports whether s is an infinity: of either sign for sign = 0, otherwise with the sign of
// sign.
func (s Scalar) IsInf(sign int) bool { return s.n.IsInf(sign) }

func (s Scalar) isZero() bool { return s.n.IsZero() }

// Same reports whether s and t have the same format and the same bits.
func (s Scalar) Same(t Scalar) bool { return s.n.Same(t.n) }
