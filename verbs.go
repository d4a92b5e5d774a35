package halfulp

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/halfulp/halfulp/internal/decimal"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
)

// Format prints s with a verb of package fmt, as fmt prints a float64 and math/big a Float. The
// verbs v and s print as [Scalar.String]. The verbs e, E, f, F, g, G, x, X and b, with all flags,
// widths and precisions, print the digits of the exact number, rounded to nearest even. So %.50f
// shows 50 decimals, %g the shortest text that reads back to the number in its format, %x the
// number exactly, and %.20v is %.20g. Infinities and NaN are inf and nan, as in String. The integer
// of %b has as many bits as the numbers of the format, fewer for subnormal numbers, and is odd for
// DD, TD and QD. As for a float64, %+v prints no plus sign, but %+g does.
func (s Scalar) Format(state fmt.State, verb rune) {
	if !format(state, verb, s.mat()) {
		fmt.Fprintf(state, "%%!%c(halfulp.Scalar=%v)", verb, s)
	}
}

// Format prints the entries of x, one a line, each with a verb of package fmt as [Scalar.Format]
// prints a number. No line feed follows the last entry. For a vector of no entries, or on a device,
// it prints a description in brackets.
func (x Vector) Format(state fmt.State, verb rune) {
	v := x.vec()
	if text := undisplayed(v.Arr, v.N, "vector of length", strconv.Itoa(v.N)); text != "" {
		_, _ = state.Write([]byte(text)) // fmt.State keeps errors to itself
	} else if !format(state, verb, v.Mat()) {
		fmt.Fprintf(state, "%%!%c(halfulp.Vector=%v)", verb, x)
	}
}

// Format prints the entries of m, one row a line, each with a verb of package fmt as
// [Scalar.Format] prints a number. The columns are aligned on the right, with the flag - on the
// left. No line feed follows the last row. For a matrix of no entries, or on a device, it prints a
// description in brackets.
func (m Matrix) Format(state fmt.State, verb rune) {
	v := m.mat()
	if text := undisplayed(v.Arr, v.Rows*v.Cols, "matrix of shape", fmt.Sprintf("%d x %d", v.Rows, v.Cols)); text != "" {
		_, _ = state.Write([]byte(text)) // fmt.State keeps errors to itself
	} else if !format(state, verb, v) {
		fmt.Fprintf(state, "%%!%c(halfulp.Matrix=%v)", verb, m)
	}
}

// undisplayed returns a description of a vector or a matrix of n entries if n is 0 or the entries
// live on a device, otherwise the empty text.
func undisplayed(a *num.Array, n int, what, shape string) string {
	switch {
	case a.Away != nil:
		return fmt.Sprintf("[%s %s, format %v, on %s]", what, shape, a.Format, placeName(place.Of(a)))
	case n == 0:
		return fmt.Sprintf("[%s %s, format %v]", what, shape, a.Format)
	}
	return ""
}

// format prints the entries of m, which live on the host. If numbers do not support the verb it
// prints nothing and ok is false.
func format(state fmt.State, verb rune, m num.Mat) (ok bool) {
	c := decimal.Borrow(m.Arr.Format)
	defer c.Return()
	cells := make([][]byte, m.Rows*m.Cols)
	width := make([]int, m.Cols)
	for i := range m.Rows {
		for j := range m.Cols {
			cell, ok := verbText(c, state, verb, m.Arr, m.At(i, j))
			if !ok {
				return false
			}
			cells[i*m.Cols+j] = cell
			width[j] = max(width[j], len(cell))
		}
	}
	if m.Cols == 1 { // a vector is not aligned, as in its Text
		width[0] = 0
	}
	var b []byte
	for i := range m.Rows {
		if i > 0 {
			b = append(b, '\n')
		}
		for j := range m.Cols {
			if j > 0 {
				b = append(b, ' ')
			}
			b = append(b, padded(cells[i*m.Cols+j], width[j], state.Flag('-'))...)
		}
	}
	_, _ = state.Write(b) // fmt.State keeps errors to itself
	return true
}

// padded returns text padded with blanks to the width, after the text if left, otherwise before it.
func padded(text []byte, width int, left bool) []byte {
	blanks := bytes.Repeat([]byte{' '}, max(0, width-len(text)))
	if left {
		return append(text, blanks...)
	}
	return append(blanks, text...)
}

// verbText returns number i of a, formatted and padded as state and verb request. ok is false if
// numbers do not support the verb.
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
	case state.Flag('+') && verb != 'v' && verb != 's':
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
