package halfulp

import (
	"errors"

	"github.com/halfulp/halfulp/internal/num"
)

// Format is a format of numbers: it determines how a number is stored, and so the result of
// rounding to it. Formats are comparable; the constants, MP and ParseFormat give all of them. The
// zero Format is Float64, the format of the zero Scalar, Vector and Matrix.
type Format struct {
	other num.Format // the zero num.Format for Float64
}

// The formats of fixed width.
var (
	// Float32 is IEEE 754 binary32, subnormals included.
	Float32 = FormatOf(num.Float32)
	// Float64 is IEEE 754 binary64, subnormals included.
	Float64 = Format{}
	// DD, TD and QD are unevaluated sums of 2, 3 and 4 binary64 numbers. A real x is stored as h =
	// RN(x), l = RN(x - h), and so on, in the canonical expansion of this sum, the one with h =
	// RN(h + l + ...) and so on. An ulp is an ulp of the last term. If h is Inf, NaN or 0 the other
	// terms are +0. Let MAX be the largest binary64. |x| >= MAX + 2^970 overflows: h is Inf. So
	// does a smaller |x| whose terms have the sum MAX + 2^970, as RN(MAX + 2^970) is Inf: for DD
	// from MAX + 2^970 - 2^916 on, for TD and QD from MAX + 2^970 - 2^-1075 on.
	DD = FormatOf(num.DDouble)
	TD = FormatOf(num.TDouble)
	QD = FormatOf(num.QDouble)
)

// ErrFormat is wrapped by errors about matrices of formats that a routine of another package of
// this module does not support. The routines of this package support all formats.
var ErrFormat = errors.New("format does not fit")

// MinPrec and MaxPrec bound the precision of MP, in bits.
const (
	MinPrec = num.MinPrec
	MaxPrec = num.MaxPrec
)

// MP returns the binary floating-point format with a p-bit significand and a 32-bit exponent, as in
// math/big. Finite numbers are (-1)^s 0.1... 2^e with -2^31 <= e < 2^31; there are signed zeros,
// infinities and one NaN. It panics unless MinPrec <= p <= MaxPrec.
func MP(p uint) Format { return FormatOf(num.Precision(p)) }

// ParseFormat reads a format's name: f32, f64, dd, td, qd or mp:P.
func ParseFormat(s string) (Format, error) {
	f, err := num.ParseFormat(s)
	if err != nil {
		return Format{}, err
	}
	return FormatOf(f), nil
}

// String returns the name that ParseFormat reads.
func (f Format) String() string { return f.View().String() }

// MarshalText returns the name that ParseFormat reads. The error is nil. In JSON the format is a
// string, and it may be a key of a map.
func (f Format) MarshalText() ([]byte, error) { return []byte(f.String()), nil }

// UnmarshalText replaces f by the format with the given name, as ParseFormat reads it.
func (f *Format) UnmarshalText(name []byte) error {
	g, err := ParseFormat(string(name))
	if err == nil {
		*f = g
	}
	return err
}

// MarshalBinary returns the name that ParseFormat reads, for encoding/gob. The error is nil.
func (f Format) MarshalBinary() ([]byte, error) { return f.MarshalText() }

// UnmarshalBinary replaces f by the format with the given name, as ParseFormat reads it.
func (f *Format) UnmarshalBinary(name []byte) error { return f.UnmarshalText(name) }

// Bits returns the number of significant bits of an ordinary number of the format: 24, 53, 106,
// 159, 212, or p for MP(p). Numbers of DD, TD and QD can have more bits if their terms leave gaps.
func (f Format) Bits() int { return f.View().Bits() }

// IsMP reports whether f is MP(p) for some p.
func (f Format) IsMP() bool { return f.View().IsMP() }

// View returns the format as the internal packages of this module represent it, like [Matrix.View].
func (f Format) View() num.Format {
	if f == (Format{}) {
		return num.Float64
	}
	return f.other
}

// FormatOf is the inverse of [Format.View].
func FormatOf(f num.Format) Format {
	if f == num.Float64 {
		return Format{}
	}
	return Format{f}
}
