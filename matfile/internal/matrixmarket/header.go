package matrixmarket

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/textio"
)

type symmetry uint8

const (
	general symmetry = iota
	symmetric
	skew
)

// header is the part of a file before the entries.
type header struct {
	coordinate bool
	pattern    bool
	integer    bool
	unsigned   bool // no number is negative
	rational   bool // numbers may be fractions
	symmetry   symmetry
	rows, cols int64
	entries    int64 // of a coordinate file

	sizeLine int             // line of the sizes
	format   *halfulp.Format // named by a comment, or nil
	body     []byte
	bodyLine int
}

// rationalField is the field of matrices of fractions, an extension of this package.
const rationalField = "rational"

// formatComment begins the text of the comment that names the format of the numbers.
const formatComment = "halfulp format "

// ErrRational is the error for a matrix of fractions where numbers of a format are wanted.
var ErrRational = errors.New("the matrix is rational, where numbers of a format are wanted")

// parseHeader reads banner, comments and sizes of a matrix of numbers of a format.
func parseHeader(name string, text []byte) (*header, error) {
	h, err := anyHeader(name, text)
	if err == nil && h.rational {
		err = &textio.Error{Name: name, Line: 1, Err: ErrRational}
	}
	return h, err
}

// anyHeader reads banner, comments and sizes.
func anyHeader(name string, text []byte) (*header, error) {
	h := &header{}
	line := 1
	fail := func(err error) (*header, error) { return nil, &textio.Error{Name: name, Line: line, Err: err} }
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, &textio.Error{Name: name, Err: errors.New("the file is empty")}
	}
	first, rest := cutLine(text)
	if err := h.banner(string(first)); err != nil {
		return fail(err)
	}
	for {
		line++
		if len(rest) == 0 {
			return fail(errors.New("the file ends before the sizes"))
		}
		var l []byte
		l, rest = cutLine(rest)
		l = bytes.TrimSpace(l)
		switch {
		case len(l) == 0:
			continue
		case l[0] == '%':
			c := strings.TrimSpace(strings.TrimLeft(string(l), "%"))
			if s, ok := strings.CutPrefix(c, formatComment); ok {
				f, err := halfulp.ParseFormat(strings.TrimSpace(s))
				if err != nil {
					return fail(err)
				}
				h.format = &f
			}
			continue
		}
		if err := h.sizes(string(l)); err != nil {
			return fail(err)
		}
		h.sizeLine, h.body, h.bodyLine = line, rest, line+1
		return h, nil
	}
}

// cutLine returns the first line without its end, and the rest.
func cutLine(text []byte) (line, rest []byte) {
	line, rest, _ = bytes.Cut(text, []byte{'\n'})
	return line, rest
}

func (h *header) banner(line string) error {
	const utf8BOM = "\ufeff"
	words := strings.Fields(strings.ToLower(strings.TrimPrefix(line, utf8BOM)))
	if len(words) == 0 || words[0] != strings.ToLower(Banner) {
		return fmt.Errorf("no Matrix Market file: the first line does not begin with %s", Banner)
	}
	if len(words) != 5 {
		return fmt.Errorf("the first line must read %q with a format, a field and a symmetry", Banner+" matrix ...")
	}
	object, format, field, sym := words[1], words[2], words[3], words[4]
	if object != "matrix" {
		return fmt.Errorf("object %q: only a matrix can be read", clip(object))
	}
	switch format {
	case "array":
	case "coordinate":
		h.coordinate = true
	default:
		return fmt.Errorf("unknown format %q (want array or coordinate)", clip(format))
	}
	switch field {
	case "real", "double":
	case rationalField:
		h.rational = true
	case "integer":
		h.integer = true
	case "unsigned-integer": // an extension of SciPy and fast_matrix_market, which write it
		h.integer, h.unsigned = true, true
	case "pattern":
		h.pattern = true
	case "complex":
		return errors.New("the matrix is complex: only real numbers can be read")
	default:
		return fmt.Errorf("unknown field %q (want real, integer, unsigned-integer or pattern)", clip(field))
	}
	switch sym {
	case "general":
	case "symmetric":
		h.symmetry = symmetric
	case "skew-symmetric":
		h.symmetry = skew
	case "hermitian":
		// NIST defines the word for complex matrices only, but other programs write it for real
		// matrices, and SciPy reads it. A Hermitian matrix of real numbers is symmetric.
		h.symmetry = symmetric
	default:
		return fmt.Errorf("unknown symmetry %q (want general, symmetric or skew-symmetric)", clip(sym))
	}
	if h.pattern && !h.coordinate {
		return errors.New("a pattern must be in coordinate format")
	}
	if h.pattern && h.symmetry == skew {
		return errors.New("a pattern cannot be skew-symmetric")
	}
	return nil
}

func clip(s string) string {
	if len(s) > 40 {
		return s[:40] + "..."
	}
	return s
}

// sizes reads the line of sizes.
func (h *header) sizes(line string) error {
	words := strings.Fields(line)
	want := []string{"rows", "columns"}
	if h.coordinate {
		want = append(want, "entries")
	}
	if len(words) != len(want) {
		return fmt.Errorf("the size line has %s, not %d: %s", textio.Count(len(words), "number"), len(want), strings.Join(want, ", "))
	}
	var n [3]int64
	for i, w := range words {
		x, err := strconv.ParseInt(w, 10, 64)
		if err != nil || x < 0 {
			if errors.Is(err, strconv.ErrRange) {
				return fmt.Errorf("the number of %s, %s, is too large", want[i], clip(w))
			}
			return fmt.Errorf("the number of %s, %q, is no size", want[i], clip(w))
		}
		n[i] = x
	}
	h.rows, h.cols, h.entries = n[0], n[1], n[2]
	if h.symmetry != general && h.rows != h.cols {
		return fmt.Errorf("a symmetric or skew-symmetric matrix must be square, not %d x %d", h.rows, h.cols)
	}
	return nil
}
