// Package num defines how numbers are stored: the formats, arrays of numbers in one format
// (structure of arrays) and their exact values. It also holds the one rounding to nearest even that
// every result of the module goes through.
package num

import (
	"fmt"
	"strconv"
	"strings"
)

// Kind names a family of formats.
type Kind uint8

// The families of formats.
const (
	F32 Kind = iota // IEEE 754 binary32
	F64             // IEEE 754 binary64
	DD              // unevaluated sum of 2 binary64
	TD              // unevaluated sum of 3 binary64
	QD              // unevaluated sum of 4 binary64
	MP              // binary floating point with a p-bit significand
)

// Precision limits of MP.
const (
	MinPrec = 2
	MaxPrec = 1 << 20
)

// Format is a format of numbers: how a number is stored, and hence how values are rounded to it.
type Format struct {
	Kind Kind
	Prec uint32 // significand bits of MP; 24 for F32, 53 for the others
}

// The fixed formats.
var (
	Float32 = Format{F32, 24}
	Float64 = Format{F64, 53}
	DDouble = Format{DD, 53}
	TDouble = Format{TD, 53}
	QDouble = Format{QD, 53}
)

// Precision returns the format MP of p bits. It panics unless MinPrec <= p <= MaxPrec.
func Precision(p uint) Format {
	if p < MinPrec || p > MaxPrec {
		panic(fmt.Sprintf("halfulp: precision %d of MP out of range [%d, %d]", p, MinPrec, MaxPrec))
	}
	return Format{Kind: MP, Prec: uint32(p)}
}

// IsMP reports whether f is MP, of any precision.
func (f Format) IsMP() bool { return f.Kind == MP }

// Terms returns the number of binary64 planes of the format, 0 for F32 and MP.
func (f Format) Terms() int {
	switch f.Kind {
	case F64:
		return 1
	case DD:
		return 2
	case TD:
		return 3
	case QD:
		return 4
	}
	return 0
}

// Limbs returns the number of 64-bit words of one MP significand, 0 for the
// other formats.
func (f Format) Limbs() int {
	if f.Kind != MP {
		return 0
	}
	return int(f.Prec+63) / 64
}

// Bits returns the number of significant bits of an ordinary number of the format: 24, 53, 106,
// 159, 212 or p.
func (f Format) Bits() int {
	if n := f.Terms(); n > 1 {
		return 53 * n
	}
	return int(f.Prec)
}

// String returns the name of f as the command line spells it: f32, f64, dd, td, qd, mp:P.
func (f Format) String() string {
	switch f.Kind {
	case F32:
		return "f32"
	case F64:
		return "f64"
	case DD:
		return "dd"
	case TD:
		return "td"
	case QD:
		return "qd"
	}
	return "mp:" + strconv.Itoa(int(f.Prec))
}

// ParseFormat reads the names that String writes.
func ParseFormat(s string) (Format, error) {
	switch strings.ToLower(s) {
	case "f32":
		return Float32, nil
	case "f64":
		return Float64, nil
	case "dd":
		return DDouble, nil
	case "td":
		return TDouble, nil
	case "qd":
		return QDouble, nil
	}
	if p, ok := strings.CutPrefix(strings.ToLower(s), "mp:"); ok {
		n, err := strconv.Atoi(p)
		if err == nil && n >= MinPrec && n <= MaxPrec {
			return Format{MP, uint32(n)}, nil
		}
		if err == nil {
			return Format{}, fmt.Errorf("format %q: precision must lie between %d and %d bits", s, MinPrec, MaxPrec)
		}
	}
	return Format{}, fmt.Errorf("unknown format %q (want f32, f64, dd, td, qd or mp:P with P in bits)", s)
}
