package halfulp

import (
	"bytes"
	"fmt"

	"github.com/halfulp/halfulp/internal/decimal"
	"github.com/halfulp/halfulp/internal/num"
)

// Formatted returns x for printing with the verbs of package fmt, as mat.Formatted of gonum does: v
// and s as String, and e, E, f, F, g, G, x, X and b as for a float64, with all flags, widths and
// precisions, but with the digits of the exact number, rounded to nearest even. So %.50f shows 50
// decimals, %g the shortest text that reads back to the number in its format, %x the number
// exactly, and %.20v is %.20g. Infinities and NaN are inf and nan, as in String. The integer of %b
// has as many bits as the format's numbers, fewer for subnormal ones, and is odd for DD, TD and QD.
//
// A verb applies to each entry of a vector, one a line, and of a matrix, a row a line, the columns
// aligned on the right, for the flag - on the left. Scalars, vectors and matrices themselves print
// by String, for the verbs v and s: their method Format is another one than that of fmt.Formatter.
func Formatted[T interface{ Scalar | *Vector | *Matrix }](x T) fmt.Formatter {
	switch x := any(x).(type) {
	case Scalar:
		return formatted{"halfulp.Scalar", num.Mat{Arr: x.array(), Rows: 1, Cols: 1}, ""}
	case *Vector:
		needHost(x.vec().Arr)
		return formatted{"*halfulp.Vector", x.vec().Mat(), "\n"}
	}
	m := any(x).(*Matrix)
	needHost(m.mat().Arr)
	return formatted{"*halfulp.Matrix", m.mat(), "\n"}
}

// formatted is numbers with the name of their type and what ends a row of them.
type formatted struct {
	name string
	m    num.Mat
	end  string
}

// Format implements fmt.Formatter.
func (f formatted) Format(state fmt.State, verb rune) {
	c := decimal.Borrow(f.m.Arr.Format)
	defer c.Return()
	cells := make([][]byte, f.m.Rows*f.m.Cols)
	width := make([]int, f.m.Cols)
	for i := range f.m.Rows {
		for j := range f.m.Cols {
			cell, ok := verbText(c, state, verb, f.m.Arr, f.m.At(i, j))
			if !ok {
				fmt.Fprintf(state, "%%!%c(%s)", verb, f.name)
				return
			}
			cells[i*f.m.Cols+j] = cell
			width[j] = max(width[j], len(cell))
		}
	}
	if f.m.Cols == 1 { // a vector is not aligned, as in its Text
		width[0] = 0
	}
	var b []byte
	for i := range f.m.Rows {
		for j := range f.m.Cols {
			if j > 0 {
				b = append(b, ' ')
			}
			b = append(b, padded(cells[i*f.m.Cols+j], width[j], state.Flag('-'))...)
		}
		b = append(b, f.end...)
	}
	_, _ = state.Write(b) // fmt.State keeps errors to itself
}

// padded returns text with blanks before it, or after it, up to the width.
func padded(text []byte, width int, left bool) []byte {
	blanks := bytes.Repeat([]byte{' '}, max(0, width-len(text)))
	if left {
		return append(text, blanks...)
	}
	return append(blanks, text...)
}

// verbText returns number i of a as state and verb ask for it, padded to the width they ask for. ok
// is false for a verb that numbers do not have.
func verbText(c *decimal.Codec, state fmt.State, verb rune, a *num.Array, i int) (text []byte, ok bool) {
	prec, ok := state.Precision()
	if !ok {
		prec = -1
	}
	r := a.Value(i, make([]uint64, num.ValueWords(a.Format)))
	switch {
	case verb != 'v' && verb != 's':
		if !bytes.ContainsRune([]byte("eEfFgGxXb"), verb) {
			return nil, false
		}
		text = c.AppendVerb(nil, a, i, byte(verb), prec, state.Flag('#'))
	case prec >= 0:
		text = c.AppendVerb(nil, a, i, 'g', prec, false)
	default:
		text = bytes.TrimPrefix(c.Append(nil, a, i, 0), []byte("-"))
	}
	sign := ""
	switch {
	case r.Neg:
		sign = "-"
	case r.Class == num.NaN:
	case state.Flag('+'):
		sign = "+"
	case state.Flag(' '):
		sign = " "
	}
	width, _ := state.Width()
	if state.Flag('0') && !state.Flag('-') && r.Class < num.Inf {
		text = append(bytes.Repeat([]byte{'0'}, max(0, width-len(sign)-len(text))), text...)
	}
	return padded(append([]byte(sign), text...), width, state.Flag('-')), true
}
