package halfulp

import (
	"fmt"
	"strings"

	"github.com/halfulp/halfulp/internal/decimal"
	"github.com/halfulp/halfulp/internal/memlimit"
	"github.com/halfulp/halfulp/internal/num"
)

// Hex, as a number of digits, requests exact hexadecimal text such as 0x1.8p+3.
const Hex = int(decimal.Hex)

// maxDigits bounds the significant digits that text is written with.
const maxDigits = 1 << 24

const errDigits = "halfulp: number of digits out of range"

// setText reads the number text, rounds it once, and stores it in number i of a. It returns the
// loss by the range of the format.
func setText(a *num.Array, i int, text []byte) (decimal.Loss, error) {
	c := decimal.Borrow(a.Format)
	defer c.Return()
	return c.Set(a, i, text)
}

// appendText appends the text of number i of a to dst. It panics for digits out of range.
func appendText(dst []byte, a *num.Array, i, digits int) []byte {
	if digits < Hex || digits > maxDigits {
		panic(errDigits)
	}
	c := decimal.Borrow(a.Format)
	defer c.Return()
	return c.Append(dst, a, i, decimal.Style(digits))
}

// ParseScalar reads a number and rounds it once, to nearest even, to format f. A number is, with an
// optional sign, a decimal with any number of digits, a hexadecimal number such as 0x1.8p+3, or
// inf, infinity or nan. The exponent letter of a decimal is e, d or q of either case, or is missing
// as where Fortran writes none (5.6-304). A number beyond the range of f becomes infinite, and a
// number too small for f becomes a zero or a subnormal number, whatever its exponent.
func ParseScalar(f Format, s string) (Scalar, error) {
	a := num.New(f.View(), 1)
	if _, err := setText(a, 0, []byte(s)); err != nil {
		return Scalar{}, err
	}
	return Scalar{num.ScalarOf(a)}, nil
}

// Text returns s in decimal. digits = 0 gives the shortest text that ParseScalar reads back to the
// same number in the format of s, digits > 0 gives that many significant digits, correctly rounded,
// and digits = Hex gives s.Hex(). It panics for other digits. Numbers from 10⁻⁶ to below 10²¹ have
// no exponent, unless that requires more digits than requested, or zeros in place of other digits
// of an integer: 2⁶⁰ is 1.152921504606847e+18 in Float64.
func (s Scalar) Text(digits int) string { return string(s.Append(nil, digits)) }

// Append appends Text(digits) to dst.
func (s Scalar) Append(dst []byte, digits int) []byte { return appendText(dst, s.array(), 0, digits) }

// Hex returns s exactly in hexadecimal, such as 0x1.8p+3.
func (s Scalar) Hex() string { return s.Text(Hex) }

// String returns the shortest decimal that reads back to s.
func (s Scalar) String() string { return s.Text(0) }

// SetString reads the number s, as ParseScalar does, rounds it once to the format of m, and stores
// it in entry (i, j).
func (m *Matrix) SetString(i, j int, s string) error { return m.SetText(i, j, []byte(s)) }

// SetText is SetString for bytes. Distinct entries may be set at the same time.
func (m *Matrix) SetText(i, j int, text []byte) error {
	k := m.at(i, j)
	_, err := setText(m.m.Arr, k, text)
	return err
}

// AppendText appends entry (i, j) to dst, as Scalar.Text writes it.
func (m *Matrix) AppendText(dst []byte, i, j, digits int) []byte {
	k := m.at(i, j)
	return appendText(dst, m.m.Arr, k, digits)
}

// SetString reads the number s, as ParseScalar does, rounds it once to the format of x, and stores
// it in entry i.
func (x *Vector) SetString(i int, s string) error {
	k := x.at(i)
	_, err := setText(x.v.Arr, k, []byte(s))
	return err
}

// AppendText appends entry i to dst, as Scalar.Text writes it.
func (x *Vector) AppendText(dst []byte, i, digits int) []byte {
	k := x.at(i)
	return appendText(dst, x.v.Arr, k, digits)
}

// Text returns the entries as Scalar.Text writes them, one row a line. Columns are aligned on the
// right.
func (m *Matrix) Text(digits int) string {
	rows, cols := m.Dims()
	cells := make([]string, rows*cols)
	width := make([]int, cols)
	for i := range rows {
		for j := range cols {
			s := string(m.AppendText(nil, i, j, digits))
			cells[i*cols+j] = s
			width[j] = max(width[j], len(s))
		}
	}
	var b strings.Builder
	for i := range rows {
		for j := range cols {
			if j > 0 {
				b.WriteByte(' ')
			}
			fmt.Fprintf(&b, "%*s", width[j], cells[i*cols+j])
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// String returns the text that fmt prints for m with %v: Text(0) without the last line feed, or a
// description in brackets if m has no entries or lives on a device, see [Matrix.Format]. It returns
// "<nil>" for nil.
func (m *Matrix) String() string { return fmt.Sprint(m) }

// Text returns the entries as Scalar.Text writes them, one a line.
func (x *Vector) Text(digits int) string {
	var b []byte
	for i := range x.Len() {
		b = append(x.AppendText(b, i, digits), '\n')
	}
	return string(b)
}

// String returns the text that fmt prints for x with %v: Text(0) without the last line feed, or a
// description in brackets if x has no entries or lives on a device, see [Vector.Format]. It returns
// "<nil>" for nil.
func (x *Vector) String() string { return fmt.Sprint(x) }

// InputFormat selects the format in which the numbers of a file are stored. The zero InputFormat is
// AtLeast(Float64).
type InputFormat struct {
	f    Format
	mode uint8
}

const (
	inputDefault = iota
	inputExactly
	inputAtLeast
	inputOwnOr
)

// Exactly stores the numbers of a file in format f, each rounded once.
func Exactly(f Format) InputFormat { return InputFormat{f, inputExactly} }

// AtLeast stores the numbers of a file without loss. The format is the one that the file names, if
// this module wrote the file; the format of the file's own number type, if the file is binary; f,
// if f holds all numbers of a text; otherwise the MP format that does. For NumPy types, float16 is
// stored as Float32, and the long double of x86 as MP(64); integers and booleans are stored as
// Float64 if it holds all numbers of the file, otherwise as MP(64). NumPy uses one name for the
// long double of x86 and for IEEE binary128. If the numbers do not show which of the two they are,
// reading returns an error; Exactly(MP(64)) and Exactly(MP(113)) choose.
//
// f holds an integer or a hexadecimal number of up to b bits, b = f.Bits(), and any other decimal
// of up to ⌈b log₁₀ 2⌉ + 1 significant digits (17 for Float64: the most that a shortest decimal of
// f has). It does not hold a number that its range changes: a number that becomes infinite, a
// hexadecimal number that loses bits below the least number, or a decimal so small that f has less
// than b bits for it and rounds it by more than half a unit of its last digit. So f holds the
// decimals that stand for subnormal numbers, such as 4.9406564584124654e-324 and 5e-324 in Float64,
// but not 3e-324.
//
// An integer is a decimal whose last digit other than 0 stands for units, or is followed by zeros
// alone without an exponent: 9007199254740993, 9007199254740993.0 and 9.007199254740993e15, but not
// 1.152921504606847e18, which stands for the nearest number of Float64.
//
// The MP format has max(n, b) bits if the longest integer or hexadecimal number has n bits. If
// there are other decimals, of up to d digits, it has max(⌈d log₂ 10⌉ + 1, n, b) + 64 bits, but at
// most MaxPrec; more than MaxPrec bits without the 64 are an error. A decimal that is no binary
// number is rounded to the MP format, by at most 2⁻⁶⁴ of half an ulp of f. A result that is then
// rounded to f equals the result for the decimals themselves, unless operand errors of that size
// carry the exact result across a tie of f. Exactly(f) and OwnOr(f) round a decimal once.
func AtLeast(f Format) InputFormat { return InputFormat{f, inputAtLeast} }

// OwnOr stores the numbers of a file in the format that the file names, if this module wrote it; in
// the format of the file's own number type, if the file is binary; otherwise in format f, each
// rounded once.
func OwnOr(f Format) InputFormat { return InputFormat{f, inputOwnOr} }

// Exact reports whether in was made by Exactly.
func (in InputFormat) Exact() bool { return in.mode == inputExactly }

// Rounds reports whether in was made by Exactly or OwnOr: then decimals of no known format are
// rounded to in.Format().
func (in InputFormat) Rounds() bool { return in.mode == inputExactly || in.mode == inputOwnOr }

// Format returns the f of Exactly(f), AtLeast(f) or OwnOr(f).
func (in InputFormat) Format() Format {
	if in.mode == inputDefault {
		return Float64
	}
	return in.f
}

// InputStats reports the numbers of a file that the range of the format turned into infinities or
// zeros, the lengths of the numbers, and whether the last number may be cut off.
type InputStats struct {
	ToInf Losses // finite numbers beyond the largest of the format, which became infinite
	// numbers other than 0 that became 0, being nearer to 0 than to the least number of the format
	ToZero Losses
	// Digits is the largest number of significant digits of a decimal that is no integer, without
	// zeros at either end, if AtLeast chose the format by it; 1 if all decimals are integers; 0 if
	// the file names a format, is binary or has no decimals.
	Digits int
	// Bits is the largest number of significant bits of an integer or a hexadecimal number of a
	// text, if OwnOr rounded it to its format; else 0.
	Bits int
	// Unended is the number of the last line of a text if no line feed ends it; else 0. The file
	// may have been cut off, perhaps within its last number.
	Unended int
}

// Losses counts numbers of a file.
type Losses struct {
	Count int64
	Line  int // line of the first of them, from 1; 0 if there is none and in binary files
}

// DefaultMemoryLimit returns the memory in bytes that routines and readers keep to by default: half
// of the machine's memory, or half of the memory that a limit of the system leaves this process
// (the limit of a control group, as containers have, or of ulimit -v and -d).
func DefaultMemoryLimit() int64 { return memlimit.Default() }
