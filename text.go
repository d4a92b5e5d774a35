package halfulp

import (
	"fmt"
	"strings"

	"github.com/halfulp/halfulp/internal/decimal"
	"github.com/halfulp/halfulp/internal/memlimit"
	"github.com/halfulp/halfulp/internal/num"
)

// Hex, given where a number of digits is asked for, asks for exact hexadecimal
// text, 0x1.8p+3.
const Hex = int(decimal.Hex)

// maxDigits bounds the significant digits that text is written with.
const maxDigits = 1 << 24

const errDigits = "halfulp: number of digits out of range"

// setText stores the number text, rounded once, in number i of a, and says what the
// range of its format took from it.
func setText(a *num.Array, i int, text []byte) (decimal.Loss, error) {
	c := decimal.Borrow(a.Format)
	defer c.Return()
	return c.Set(a, i, text)
}

// appendText appends number i of a.
func appendText(dst []byte, a *num.Array, i, digits int) []byte {
	if digits < Hex || digits > maxDigits {
		panic(errDigits)
	}
	c := decimal.Borrow(a.Format)
	defer c.Return()
	return c.Append(dst, a, i, decimal.Style(digits))
}

// ParseScalar reads a number and rounds it once, to nearest even, to format f. It takes decimal
// numbers with any number of digits and the exponent letters e, d and q of either case, or none
// where Fortran writes none (5.6-304), hexadecimal numbers such as 0x1.8p+3, and inf, infinity and
// nan, all with an optional sign. A number beyond the range of f becomes infinite, one too small
// for it a zero or subnormal, whatever its exponent.
func ParseScalar(f Format, s string) (Scalar, error) {
	a := num.New(f.View(), 1)
	if _, err := setText(a, 0, []byte(s)); err != nil {
		return Scalar{}, err
	}
	return Scalar{num.ScalarOf(a)}, nil
}

// Text returns s in decimal: with digits = 0 the shortest text that ParseScalar
// reads back to the same number in the format of s, with digits > 0 that many
// significant digits, correctly rounded, and with digits = Hex the same as
// s.Hex(). It panics for other digits. Numbers from 10⁻⁶ to below 10²¹ have no
// exponent, unless that takes digits that were not asked for, or zeros in place of
// other digits of an integer: 2⁶⁰ is 1.152921504606847e+18 in Float64.
func (s Scalar) Text(digits int) string { return string(s.Append(nil, digits)) }

// Append appends Text(digits) to dst.
func (s Scalar) Append(dst []byte, digits int) []byte { return appendText(dst, s.array(), 0, digits) }

// Hex returns s exactly in hexadecimal, as 0x1.8p+3.
func (s Scalar) Hex() string { return s.Text(Hex) }

// String returns the shortest decimal that reads back to s.
func (s Scalar) String() string { return s.Text(0) }

// SetString stores the number s, as ParseScalar reads it, in entry (i, j).
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

// SetString stores the number s, as ParseScalar reads it, in entry i.
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

// Text returns the entries as Scalar.Text writes them, a row a line, the columns
// aligned on the right.
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

// String returns what fmt prints for m with %v: Text(0) without the last line feed, or a text in
// brackets if m has no entries or lives on a device: see [Matrix.Format]. It returns "<nil>" for
// nil.
func (m *Matrix) String() string { return fmt.Sprint(m) }

// Text returns the entries as Scalar.Text writes them, one a line.
func (x *Vector) Text(digits int) string {
	var b []byte
	for i := range x.Len() {
		b = append(x.AppendText(b, i, digits), '\n')
	}
	return string(b)
}

// String returns what fmt prints for x with %v: Text(0) without the last line feed, or a text in
// brackets if x has no entries or lives on a device: see [Vector.Format]. It returns "<nil>" for
// nil.
func (x *Vector) String() string { return fmt.Sprint(x) }

// InputFormat says how the numbers of a file are stored. The zero InputFormat is
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

// AtLeast stores the numbers of a file without loss: in the format that the file
// names if it was written by this module; in their own if it is binary; in f if
// f holds them; else in the MP format that does. Of NumPy's types float16 is Float32,
// integers and booleans are Float64 if that holds all that the file has, else MP(64), and the long
// double of x86 is MP(64). NumPy gives IEEE binary128 the same name: numbers that do not tell which
// they are make an error, unless Exactly(MP(64)) or Exactly(MP(113)) says it.
//
// f holds an integer or a hexadecimal number of up to b bits, b = f.Bits(), and another decimal of
// up to ⌈b log₁₀ 2⌉ + 1 significant digits (17 for Float64: as many as a shortest decimal of f has
// at most), unless the range of f takes it away: if it becomes infinite, if a hexadecimal number
// loses bits below the least number, or if a decimal is so small that f has less than b bits for
// it and rounds it by more than half a unit of its last digit. So f holds the decimals that stand
// for subnormal numbers, such as 4.9406564584124654e-324 and 5e-324 in Float64, but not 3e-324.
//
// An integer is a decimal whose last digit other than 0 stands for units, or is followed by zeros
// alone without an exponent: 9007199254740993, 9007199254740993.0 and 9.007199254740993e15, but not
// 1.152921504606847e18, which stands for the nearest number of Float64.
//
// The MP format has max(⌈d log₂ 10⌉ + 1, b) bits for decimals of up to d digits and 64
// more, or as many as the longest integer or hexadecimal number. A decimal that no binary number
// equals is rounded even so, by at most 2⁻⁶⁴ of half an ulp of f. A result that is then
// rounded to f is that of the decimals themselves unless errors of that size in the
// operands carry the exact one across a tie of f. Exactly(f) and OwnOr(f) round a
// decimal once.
func AtLeast(f Format) InputFormat { return InputFormat{f, inputAtLeast} }

// OwnOr stores the numbers of a file in the format that the file names if it was written by this
// module, in their own if it is binary, else in format f, each rounded once.
func OwnOr(f Format) InputFormat { return InputFormat{f, inputOwnOr} }

// Exact reports whether in was made by Exactly.
func (in InputFormat) Exact() bool { return in.mode == inputExactly }

// Rounds reports whether in was made by Exactly or OwnOr: decimals of no known format are rounded
// to Format.
func (in InputFormat) Rounds() bool { return in.mode == inputExactly || in.mode == inputOwnOr }

// Format returns the f of Exactly(f), AtLeast(f) or OwnOr(f).
func (in InputFormat) Format() Format {
	if in.mode == inputDefault {
		return Float64
	}
	return in.f
}

// InputStats says what the range of a format took from the numbers of a file that were
// rounded to it, how long they are, and whether the last one may be cut off.
type InputStats struct {
	ToInf Losses // finite numbers beyond the largest of the format, which became infinite
	// numbers other than 0 nearer to 0 than to the least of the format, which became 0
	ToZero Losses
	// Digits are the most significant digits of a decimal that is no integer, zeros at either end
	// left out, if AtLeast chose the format by them, and 1 if all decimals are integers; 0 if the
	// file names a format or is binary, or has no decimals.
	Digits int
	// Bits are the most significant bits of an integer or a hexadecimal number of a text, if OwnOr
	// rounded them to its format; else 0.
	Bits int
	// Unended is the number of the last line of a text if no line feed ends it, as where a file
	// was cut off, perhaps within its last number; else 0.
	Unended int
}

// Losses counts numbers of a file.
type Losses struct {
	Count int64
	Line  int // of the first of them, from 1; 0 if there is none and in binary files
}

// DefaultMemoryLimit returns the memory in bytes that routines and readers keep
// to unless told otherwise: half of the machine's, or of what a limit of the system leaves this
// process (a control group's, as containers have, or those of ulimit -v and -d).
func DefaultMemoryLimit() int64 { return memlimit.Default() }
