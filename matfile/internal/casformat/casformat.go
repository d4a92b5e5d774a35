// Package casformat writes matrices in the notations of other programs for multiple-precision
// arithmetic.
package casformat

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"strconv"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/textio"
)

// Kind is the notation of a program for a matrix.
type Kind struct {
	Name   string
	head   func(m *halfulp.Matrix) string
	row    string // before a row
	sep    string // between the numbers of a row
	next   string // between rows
	tail   string
	number func(dst []byte, m *halfulp.Matrix, i, j, digits int) ([]byte, error)
}

// Kinds are all supported notations.
var Kinds = []*Kind{
	// Lines that arb_load_str of FLINT reads, entry by entry and row by row: significand and
	// exponent of the midpoint and of the radius, which is 0, in hexadecimal.
	{Name: "flint", head: func(m *halfulp.Matrix) string { return fmt.Sprintf("%d %d\n", m.Rows(), m.Cols()) },
		sep: "\n", next: "\n", tail: "\n", number: flint},
	// A matrix of PARI/GP, which reads a decimal with the precision of its digits.
	{Name: "pari", head: constant("["), sep: ", ", next: "; ", tail: "]\n", number: pari},
	// The repr of a matrix of mpmath, for a precision of mp.prec bits.
	{Name: "mpmath", head: func(m *halfulp.Matrix) string {
		return fmt.Sprintf("# mp.prec = %d\nmatrix(\n[", m.NumberFormat().Bits())
	}, row: "[", sep: ", ", next: "],\n ", tail: "]])\n", number: mpmath},
	// Lists of Mathematica, numbers beyond machine precision with their decimal digits behind a
	// backtick.
	{Name: "mathematica", head: constant("{"), row: "{", sep: ", ", next: "},\n ", tail: "}}\n", number: mathematica},
}

func constant(s string) func(*halfulp.Matrix) string {
	return func(*halfulp.Matrix) string { return s }
}

// Options are options for writing; all fields except Digits and Progress must be set.
type Options struct {
	Digits   int // as in Matrix.AppendText
	Threads  int
	Context  context.Context
	Progress func(done float64)
}

// ErrEmpty is wrapped by the error of Write for a matrix without rows or columns.
var ErrEmpty = errors.New("a list has no place for a matrix without numbers")

// Write writes m.
func (k *Kind) Write(w io.Writer, m *halfulp.Matrix, o Options) error {
	rows, cols := m.Dims()
	if rows == 0 || cols == 0 {
		return fmt.Errorf("a %d x %d matrix: %w (.mtx and .npy hold it)", rows, cols, ErrEmpty)
	}
	if o.Digits == halfulp.Hex && k.Name != "flint" {
		return fmt.Errorf("%s reads no hexadecimal numbers with a point: --digits hex is for other kinds of files", k.Name)
	}
	if _, err := io.WriteString(w, k.head(m)); err != nil {
		return err
	}
	// Blocks of about 64 KiB of text.
	size := max(1, 1<<18/max(64, m.NumberFormat().Bits()*cols))
	blocks := (rows + size - 1) / size
	errs := make([]error, blocks)
	err := textio.Write(o.Context, w, o.Threads, blocks, func(dst []byte, block int) []byte {
		for i := block * size; i < min(rows, (block+1)*size); i++ {
			dst = append(dst, k.row...)
			for j := range cols {
				if j > 0 {
					dst = append(dst, k.sep...)
				}
				var err error
				if dst, err = k.number(dst, m, i, j, o.Digits); err != nil && errs[block] == nil {
					errs[block] = fmt.Errorf("the number in row %d, column %d is %v: %w", i+1, j+1, m.At(i, j), err)
				}
			}
			if i+1 < rows {
				dst = append(dst, k.next...)
			}
		}
		return dst
	}, o.Progress)
	if err = errors.Join(append([]error{err}, errs...)...); err != nil {
		return err
	}
	_, err = io.WriteString(w, k.tail)
	return err
}

func flint(dst []byte, m *halfulp.Matrix, i, j, _ int) ([]byte, error) {
	x := m.At(i, j)
	switch {
	case x.IsNaN():
		return append(dst, "0 -3 0 0"...), nil // as arf_dump_str writes them
	case x.IsInf(1):
		return append(dst, "0 -1 0 0"...), nil
	case x.IsInf(-1):
		return append(dst, "0 -2 0 0"...), nil
	}
	b := x.Big()
	if b.Sign() == 0 {
		return append(dst, "0 0 0 0"...), nil
	}
	prec := b.MinPrec()
	mantissa := new(big.Float)
	exp := int64(b.MantExp(mantissa)) - int64(prec)
	n, _ := mantissa.SetMantExp(mantissa, int(prec)).Int(nil)
	dst = n.Append(dst, 16)
	dst = append(dst, ' ')
	dst = strconv.AppendInt(dst, exp, 16)
	return append(dst, " 0 0"...), nil
}

var errNaN = errors.New("PARI/GP has no NaN")

func pari(dst []byte, m *halfulp.Matrix, i, j, digits int) ([]byte, error) {
	x := m.At(i, j)
	switch {
	case x.IsNaN():
		return dst, errNaN
	case x.IsInf(1):
		return append(dst, "+oo"...), nil
	case x.IsInf(-1):
		return append(dst, "-oo"...), nil
	}
	return pointed(dst, m, i, j, digits), nil
}

// pointed appends a number with a decimal point. Without a point it would be an exact integer, of
// another type.
func pointed(dst []byte, m *halfulp.Matrix, i, j, digits int) []byte {
	start := len(dst)
	dst = m.AppendText(dst, i, j, digits)
	s := dst[start:]
	if bytes.IndexByte(s, '.') >= 0 {
		return dst
	}
	if k := bytes.IndexByte(s, 'e'); k >= 0 {
		e := string(s[k:])
		return append(append(dst[:start+k], ".0"...), e...)
	}
	return append(dst, ".0"...)
}

func mpmath(dst []byte, m *halfulp.Matrix, i, j, digits int) ([]byte, error) {
	x := m.At(i, j)
	dst = append(dst, '\'')
	switch {
	case x.IsNaN():
		dst = append(dst, "nan"...)
	case x.IsInf(1):
		dst = append(dst, "+inf"...)
	case x.IsInf(-1):
		dst = append(dst, "-inf"...)
	default:
		dst = pointed(dst, m, i, j, digits)
	}
	return append(dst, '\''), nil
}

func mathematica(dst []byte, m *halfulp.Matrix, i, j, digits int) ([]byte, error) {
	x := m.At(i, j)
	switch {
	case x.IsNaN():
		return append(dst, "Indeterminate"...), nil
	case x.IsInf(1):
		return append(dst, "Infinity"...), nil
	case x.IsInf(-1):
		return append(dst, "-Infinity"...), nil
	}
	start := len(dst)
	dst = pointed(dst, m, i, j, digits)
	exponent := ""
	if k := bytes.IndexByte(dst[start:], 'e'); k >= 0 {
		exponent = string(bytes.TrimPrefix(dst[start+k+1:], []byte{'+'}))
		dst = dst[:start+k]
	}
	if bits := m.NumberFormat().Bits(); bits > 53 && x.Sign() != 0 {
		dst = append(dst, '`')
		dst = strconv.AppendFloat(dst, float64(bits)*math.Log10(2), 'f', 2, 64)
	}
	if exponent != "" {
		dst = append(append(dst, "*^"...), exponent...)
	}
	return dst, nil
}
