// Package npy reads and writes NumPy's .npy files of float32 and float64 arrays
// of one or two dimensions, in both orders and, to read, both byte orders.
//
// Format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html,
// versions 1 to 3. The header is not trusted: memory grows with the data that
// came in.
package npy

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/lines"
	"github.com/halfulp/halfulp/internal/num"
)

// Magic begins every .npy file.
const Magic = "\x93NUMPY"

type header struct {
	order   binary.ByteOrder
	size    int // bytes a number
	fortran bool
	rows    int
	cols    int
	data    []byte
}

// Parse reads an array: one of one dimension as a column. Numbers keep their
// format, unless in names one. limit bounds the memory of the matrix in bytes. stats, if
// not nil, is set to what the range of that format took.
func Parse(file []byte, name string, in halfulp.InputFormat, limit int64, stats *halfulp.InputStats) (*halfulp.Matrix, error) {
	h, err := parse(file)
	if err != nil {
		return nil, &lines.Error{Name: name, Err: err}
	}
	f := halfulp.Float64
	if h.size == 4 {
		f = halfulp.Float32
	}
	if in.Exact() {
		f = in.Format()
	}
	if g, err := num.ParseFormat(f.String()); err != nil {
		return nil, err
	} else if need := float64(num.SizeOf(g)) * float64(h.rows) * float64(h.cols); need > float64(limit) {
		return nil, &lines.Error{Name: name, Err: fmt.Errorf("a %d x %d matrix of format %v needs %s, more than the memory limit of %s",
			h.rows, h.cols, f, lines.Bytes(need), lines.Bytes(float64(limit)))}
	}
	m := halfulp.NewMatrix(f, h.rows, h.cols)
	var lost halfulp.InputStats
	for j := range h.cols {
		for i := range h.rows {
			k := i*h.cols + j
			if h.fortran {
				k = j*h.rows + i
			}
			var x float64
			if h.size == 4 {
				x = float64(math.Float32frombits(h.order.Uint32(h.data[4*k:])))
			} else {
				x = math.Float64frombits(h.order.Uint64(h.data[8*k:]))
			}
			m.SetFloat64(i, j, x)
			if f != halfulp.Float32 || x == 0 || math.IsInf(x, 0) {
				continue // every other format has the range of float64
			}
			switch y := m.Float64(i, j); {
			case y == 0:
				lost.ToZero.Count++
			case math.IsInf(y, 0):
				lost.ToInf.Count++
			}
		}
	}
	if stats != nil {
		*stats = lost
	}
	return m, nil
}

var (
	errMagic  = errors.New("no .npy file")
	errHeader = errors.New("the .npy header is damaged")
)

// parse reads the header and checks that the data has the length it says.
func parse(file []byte) (*header, error) {
	if len(file) < 10 || string(file[:6]) != Magic {
		return nil, errMagic
	}
	var n int64
	var start int
	switch file[6] {
	case 1:
		n, start = int64(binary.LittleEndian.Uint16(file[8:])), 10
	case 2, 3:
		if len(file) < 12 {
			return nil, errHeader
		}
		n, start = int64(binary.LittleEndian.Uint32(file[8:])), 12
	default:
		return nil, fmt.Errorf(".npy version %d.%d is not supported", file[6], file[7])
	}
	if n > int64(len(file)-start) {
		return nil, errors.New("the file ends within the .npy header")
	}
	h := &header{data: file[start+int(n):]}
	fields, err := parseDict(string(file[start : start+int(n)]))
	if err != nil {
		return nil, err
	}
	if err := h.dtype(fields["descr"]); err != nil {
		return nil, err
	}
	switch fields["fortran_order"] {
	case "True":
		h.fortran = true
	case "False":
	default:
		return nil, errHeader
	}
	if err := h.shape(fields["shape"]); err != nil {
		return nil, err
	}
	return h, nil
}

// parseDict splits {'key': value, ...} into its values as text; a value is a
// word, a string or a tuple.
func parseDict(s string) (map[string]string, error) {
	s = strings.TrimSpace(s)
	if len(s) < 2 || s[0] != '{' || s[len(s)-1] != '}' {
		return nil, errHeader
	}
	s = s[1 : len(s)-1]
	fields := map[string]string{}
	for {
		s = strings.TrimLeft(s, " ,\n\t")
		if s == "" {
			break
		}
		key, rest, ok := strings.Cut(s, ":")
		if !ok {
			return nil, errHeader
		}
		key = strings.Trim(strings.TrimSpace(key), `'"`)
		rest = strings.TrimLeft(rest, " ")
		end := strings.IndexByte(rest, ',')
		switch {
		case strings.HasPrefix(rest, "("):
			end = strings.IndexByte(rest, ')') + 1
		case strings.HasPrefix(rest, "["): // a structured type
			end = strings.LastIndexByte(rest, ']') + 1
		case end < 0:
			end = len(rest)
		}
		if end == 0 {
			return nil, errHeader
		}
		fields[key] = strings.TrimSpace(rest[:end])
		s = rest[end:]
	}
	for _, k := range []string{"descr", "fortran_order", "shape"} {
		if _, ok := fields[k]; !ok {
			return nil, errHeader
		}
	}
	return fields, nil
}

func (h *header) dtype(descr string) error {
	d := strings.Trim(descr, `'"`)
	switch d {
	case "<f4", "<f8":
		h.order = binary.LittleEndian
	case ">f4", ">f8":
		h.order = binary.BigEndian
	default:
		what := ""
		switch kind := strings.TrimLeft(d, "<>|="); {
		case strings.HasPrefix(kind, "c"):
			what = ", which is complex"
		case strings.HasPrefix(kind, "i"), strings.HasPrefix(kind, "u"):
			what = ", which holds integers"
		}
		return fmt.Errorf("the array has NumPy type %.40q%s: only float32 and float64 arrays can be read", d, what)
	}
	h.size = int(d[2] - '0')
	return nil
}

func (h *header) shape(s string) error {
	if len(s) < 2 || s[0] != '(' || s[len(s)-1] != ')' {
		return errHeader
	}
	var dims []int64
	for _, w := range strings.Split(s[1:len(s)-1], ",") {
		w = strings.TrimSuffix(strings.TrimSpace(w), "L") // Python 2
		if w == "" {
			continue
		}
		n, err := strconv.ParseInt(w, 10, 64)
		if err != nil || n < 0 {
			return errHeader
		}
		dims = append(dims, n)
	}
	switch len(dims) {
	case 1:
		dims = append(dims, 1)
	case 2:
	default:
		return fmt.Errorf("the array has %d dimensions: only vectors and matrices can be read", len(dims))
	}
	const maxSide = math.MaxInt32
	need := float64(dims[0]) * float64(dims[1]) * float64(h.size)
	if have := float64(len(h.data)); need != have {
		what := "ends early"
		if need < have {
			what = "goes on after the array"
		}
		return fmt.Errorf("the file %s: a %d x %d array takes %s, the file has %s", what, dims[0], dims[1], lines.Bytes(need), lines.Bytes(have))
	}
	if dims[0] > maxSide || dims[1] > maxSide { // of an empty array
		return fmt.Errorf("a %d x %d array is too large", dims[0], dims[1])
	}
	h.rows, h.cols = int(dims[0]), int(dims[1])
	return nil
}

// Header returns the header of a little-endian file in Fortran order for m, which
// has format Float32 or Float64. A matrix of one column is written with two
// dimensions.
func Header(m *halfulp.Matrix) ([]byte, error) {
	descr := "<f8"
	switch m.Format() {
	case halfulp.Float64:
	case halfulp.Float32:
		descr = "<f4"
	default:
		return nil, fmt.Errorf("a .npy file holds formats f32 and f64 only, not %v", m.Format())
	}
	rows, cols := m.Dims()
	s := fmt.Sprintf("{'descr': '%s', 'fortran_order': True, 'shape': (%d, %d), }", descr, rows, cols)
	n := (10 + len(s) + 1 + 63) / 64 * 64 // NumPy aligns the data to 64 bytes
	b := append([]byte(Magic), 1, 0)
	b = binary.LittleEndian.AppendUint16(b, uint16(n-10))
	b = append(b, s...)
	for len(b) < n-1 {
		b = append(b, ' ')
	}
	return append(b, '\n'), nil
}

// AppendColumn appends the data of column j of m.
func AppendColumn(dst []byte, m *halfulp.Matrix, j int) []byte {
	single := m.Format() == halfulp.Float32
	for i := range m.Rows() {
		x := m.Float64(i, j)
		if single {
			dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(float32(x)))
		} else {
			dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(x))
		}
	}
	return dst
}
