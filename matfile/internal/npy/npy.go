// Package npy reads and writes NumPy's files: .npy files, which hold one array, and .npz files,
// which hold several in a zip archive. It reads arrays of up to two dimensions, in both orders and
// both byte orders, of integers, booleans and floating-point numbers of 2, 4, 8, 10 (long double of
// x86) and 16 bytes (IEEE binary128). It also reads sums of two to four doubles along a third
// dimension, and sparse matrices of SciPy.
//
// Formats: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html, versions 1 to 3.
// Lengths in headers are not trusted: memory grows with the data that is read.
package npy

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unsafe"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/textio"
)

// Magic begins every .npy file.
const Magic = "\x93NUMPY"

// header is the header of a .npy file with the data after it.
type header struct {
	descr   string // the type, as NumPy names it
	fortran bool   // the first index varies fastest
	dims    []int64
	data    []byte
	length  int64 // bytes of the whole data; data may be a part of it
}

// array is an array of numbers of up to two dimensions. An array of no dimension is stored as 1 x
// 1, an array of one dimension as a column. With terms > 1 it is an array of sums of terms, which
// lie along one further dimension, the last.
type array struct {
	dtype
	fortran    bool
	flat       bool // of one dimension
	rows, cols int
	terms      int // 1 for plain numbers
	data       []byte
	at         int64 // offset of data in the file; 0 if data is no part of the file
	part       *part // nil for a whole array
}

// Options are the options of readers.
type Options struct {
	In      halfulp.InputFormat // how numbers are stored
	Stats   *halfulp.InputStats // if not nil, set to losses by the range of a named format
	Threads int
	// bound of the matrix, and of each unpacked array of a .npz file, in bytes
	MemoryLimit int64
	Context     context.Context
	Member      string // name of the matrix in a .npz file of several
	Densified   *bool  // if not nil, set to true if a sparse matrix is read as a dense one
	Flat        *bool  // if not nil, set to true for an array of one dimension
	// if not nil, set to the meaning assumed for an array of three dimensions, if it is not certain
	Note *string
	// File, if not nil, is the file that the bytes are mapped from. Reading from it takes less time
	// than the page faults of memory that is accessed only once.
	File io.ReaderAt
}

// Parse reads the array of a .npy file. An array of one dimension is read as a column. Numbers keep
// their format, unless opt.In names one: float16 is read as Float32, integers and booleans as
// Float64 if it holds them all, otherwise as MP(64), and long double of x86 as MP(64). IEEE
// binary128, which has the same NumPy name as long double of x86, is read as MP(113) if opt.In is
// MP(113). float64 with a third dimension of 2, 3 or 4 is read as DD, TD or QD, if the array stores
// numbers of that format.
func Parse(file []byte, name string, opt Options) (*halfulp.Matrix, error) {
	return named(&opt, name, func() (*halfulp.Matrix, error) {
		a, err := parse(file)
		if err != nil {
			return nil, err
		}
		a.at = int64(len(file) - len(a.data))
		return a.unnamed(opt)
	})
}

// unnamed is matrix for an array whose format no file names: an array of three dimensions may hold
// sums of doubles or be a stack of matrices.
func (a *array) unnamed(opt Options) (*halfulp.Matrix, error) {
	m, err := a.matrix(opt)
	switch {
	case errors.Is(err, errNoSums):
		err = fmt.Errorf("%w, and %w", stack([]int64{int64(a.rows), int64(a.cols), int64(a.terms)}), err)
	case err == nil:
		a.noteStack(&opt)
	}
	return m, err
}

// named returns the result of f. It adds the name of the file to the error, except for errors of
// the context.
func named[T any](opt *Options, name string, f func() (*T, error)) (m *T, err error) {
	err = guarded(func() (err error) {
		m, err = f()
		return err
	})
	switch {
	case err == nil:
		return m, nil
	case opt.Context.Err() != nil:
		return nil, err
	}
	return nil, &textio.Error{Name: name, Err: err}
}

var (
	errMagic  = errors.New("no .npy file")
	errHeader = errors.New("the .npy header is damaged")
)

// parse reads a .npy file as an array of numbers.
func parse(file []byte) (*array, error) {
	h, err := parseHeader(file)
	if err != nil {
		return nil, err
	}
	return h.array()
}

// parseHeader reads the header.
func parseHeader(file []byte) (*header, error) {
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
	fields, err := parseDict(string(file[start : start+int(n)]))
	if err != nil {
		return nil, err
	}
	h := &header{descr: fields["descr"], data: file[start+int(n):]}
	h.length = int64(len(h.data))
	switch fields["fortran_order"] {
	case "True":
		h.fortran = true
	case "False":
	default:
		return nil, errHeader
	}
	h.dims, err = parseShape(fields["shape"])
	return h, err
}

// parseDict splits {'key': value, ...} into its values as text. A value is a word, a string, a
// tuple or a list.
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

// parseShape reads a tuple of lengths.
func parseShape(s string) ([]int64, error) {
	if len(s) < 2 || s[0] != '(' || s[len(s)-1] != ')' {
		return nil, errHeader
	}
	var dims []int64
	for _, w := range strings.Split(s[1:len(s)-1], ",") {
		w = strings.TrimSuffix(strings.TrimSpace(w), "L") // Python 2
		if w == "" {
			continue
		}
		n, err := strconv.ParseInt(w, 10, 64)
		if err != nil || n < 0 {
			return nil, errHeader
		}
		dims = append(dims, n)
	}
	return dims, nil
}

// array returns an array of plain numbers, or of sums of doubles along a third dimension.
func (h *header) array() (*array, error) {
	sums := len(h.dims) == 3
	if sums {
		d, err := parseDtype(h.descr)
		if err != nil {
			return nil, err
		}
		if t := h.dims[2]; t < 2 || t > 4 || d.kind != 'f' || d.size != 8 {
			return nil, stack(h.dims)
		}
	}
	return h.numbers(sums)
}

// stack returns the error for an array of three dimensions or more that is not an array of sums of
// doubles.
func stack(dims []int64) error {
	var shape []string
	for _, n := range dims {
		shape = append(shape, strconv.FormatInt(n, 10))
	}
	first := strings.TrimSuffix(strings.Repeat("0, ", len(dims)-2), ", ")
	return fmt.Errorf("the array has %d dimensions, %s: of a stack of matrices save one, as numpy.save('one.npy', a[%s]) does",
		len(dims), strings.Join(shape, " x "), first)
}

// noteStack sets opt.Note if an array of three dimensions was read as sums of doubles whose terms
// after the first are all 0: the array may be a stack of matrices.
func (a *array) noteStack(opt *Options) {
	if opt.Note == nil || a.terms < 2 || a.rows == 0 || a.cols == 0 {
		return
	}
	for i := range a.rows {
		for j := range a.cols {
			for t := 1; t < a.terms; t++ {
				if a.order.Uint64(a.data[8*a.index(i, j, t):])<<1 != 0 {
					return
				}
			}
		}
	}
	*opt.Note = fmt.Sprintf("the array, %d x %d x %d, is taken for %d x %d numbers of format %v, whose terms after the first are all 0: if it is a stack of matrices, save one of them",
		a.rows, a.cols, a.terms, a.rows, a.cols, []num.Format{num.DDouble, num.TDouble, num.QDouble}[a.terms-2])
}

// numbers returns an array, with terms along the last dimension if sums is true. It returns an
// error unless the data has the length that type and shape require.
func (h *header) numbers(sums bool) (*array, error) {
	d, err := parseDtype(h.descr)
	if err != nil {
		return nil, err
	}
	a := &array{dtype: d, fortran: h.fortran, terms: 1, data: h.data}
	dims := h.dims
	if sums {
		n := len(dims) - 1
		if n < 0 || dims[n] < 1 || dims[n] > num.MaxPrec {
			return nil, fmt.Errorf("the array has the shape %d", dims)
		}
		a.terms, dims = int(dims[n]), dims[:n]
	}
	switch len(dims) {
	case 0:
		dims = []int64{1, 1}
	case 1:
		dims, a.flat = []int64{dims[0], 1}, true
	case 2:
	default:
		return nil, stack(h.dims)
	}
	need := float64(dims[0]) * float64(dims[1]) * float64(a.terms*d.size)
	if have := float64(h.length); need != have {
		what := "ends early"
		if need < have {
			what = "goes on after the array"
		}
		takes, has := textio.Bytes(need), textio.Bytes(have)
		if takes == has { // rounded
			takes, has = fmt.Sprintf("%.0f bytes", need), fmt.Sprintf("%.0f", have)
		}
		return nil, fmt.Errorf("the file %s: a %d x %d array takes %s, the file has %s", what, dims[0], dims[1], takes, has)
	}
	const maxSide = math.MaxInt32
	if dims[0] > maxSide || dims[1] > maxSide { // an empty array
		return nil, fmt.Errorf("a %d x %d array is too large", dims[0], dims[1])
	}
	a.rows, a.cols = int(dims[0]), int(dims[1])
	return a, nil
}

// index returns the position of term t of entry (i, j) among the numbers of the file.
func (a *array) index(i, j, t int) int {
	if a.fortran {
		return (t*a.cols+j)*a.rows + i
	}
	return (i*a.cols+j)*a.terms + t
}

// newMatrix returns a matrix in the shape of a, and its storage. Its format is the one that opt.In
// names, or own if it names none. The error means that the matrix exceeds the memory limit.
// newMatrix also sets opt.Flat.
func (opt *Options) newMatrix(own num.Format, a *array) (*halfulp.Matrix, *num.Array, error) {
	f, rows, cols := own, a.rows, a.cols
	if opt.Flat != nil && a.flat {
		*opt.Flat = true
	}
	if opt.In.Exact() {
		var err error
		if f, err = num.ParseFormat(opt.In.Format().String()); err != nil {
			return nil, nil, err
		}
	}
	if need := float64(num.SizeOf(f)) * float64(rows) * float64(cols); need > float64(opt.MemoryLimit) {
		return nil, nil, fmt.Errorf("a %d x %d matrix of format %v needs %s, more than the memory limit of %s",
			rows, cols, f, textio.Bytes(need), textio.Bytes(float64(opt.MemoryLimit)))
	}
	m := halfulp.MatrixOf(num.Mat{Arr: num.New(f, rows*cols), RS: 1, CS: max(rows, 1), Rows: rows, Cols: cols})
	return m, m.View().Arr, nil
}

// matrix returns the numbers as a matrix, as Parse does.
func (a *array) matrix(opt Options) (*halfulp.Matrix, error) {
	own, err := a.own(opt.In)
	if err != nil {
		return nil, err
	}
	m, z, err := opt.newMatrix(own, a)
	if err != nil {
		return nil, err
	}
	return m, a.fill(&opt, z, own)
}

// fill stores the numbers, which have format own, in z, column by column.
func (a *array) fill(opt *Options, z *num.Array, own num.Format) error {
	switch {
	case a.terms > 1:
		return a.fillSums(opt, z, own)
	case a.kind == 'f' && a.size == 8 && z.Kind == num.F64:
		return a.fillDoubles(opt, z.F64[0])
	}
	return a.each(opt, func(w *worker, at, i, j int) error {
		r, err := a.value(a.data, a.index(i, j, 0), w.buf[:])
		w.store(z, at, r)
		return err
	})
}

// own returns the format that the numbers of a keep. in may determine the type of long doubles.
func (a *array) own(in halfulp.InputFormat) (_ num.Format, err error) {
	switch {
	case a.terms > 1:
		return [...]num.Format{num.DDouble, num.TDouble, num.QDouble}[a.terms-2], nil
	case a.kind == 'f' && a.size <= 4:
		return num.Float32, nil
	case a.kind == 'f' && a.size == 16:
		if a.quad, err = a.isQuad(in); a.quad {
			return num.Format{Kind: num.MP, Prec: quadBits}, err
		}
		return num.Format{Kind: num.MP, Prec: x86Bits}, err
	case a.kind == 'f' && a.size > 8:
		return num.Format{Kind: num.MP, Prec: x86Bits}, nil
	case a.kind != 'f' && a.size == 8:
		var buf [1]uint64
		for k := range a.rows * a.cols {
			r, err := a.value(a.data, k, buf[:])
			if err != nil {
				return num.Format{}, err
			}
			if num.BitLen(r.Mag)-num.TrailingZeros(r.Mag) > 53 {
				return num.Format{Kind: num.MP, Prec: 64}, nil
			}
		}
	}
	return num.Float64, nil
}

// worker is the memory and the counts of one goroutine of each.
type worker struct {
	buf           [num.MaxValueWords]uint64
	x, y          *num.Array
	toInf, toZero int64
}

// store rounds r to number i of z, and counts losses by the range of its format.
func (w *worker) store(z *num.Array, i int, r num.Real) {
	z.Set(i, r)
	if r.Class != num.Finite || num.IsZero(r.Mag) {
		return
	}
	switch z.Class(i) {
	case num.Zero:
		w.toZero++
	case num.Inf:
		w.toInf++
	}
}

// tile is the side of the squares in which row order is exchanged for column order. strip is about
// the number of entries that a goroutine processes at a time.
const (
	tile  = 32
	strip = 1 << 15
)

// each calls f, on several goroutines, for all entries (i, j), with their index at in a matrix
// stored by columns. It sets opt.Stats. After an error, f may not have been called for all entries.
func (a *array) each(opt *Options, f func(w *worker, at, i, j int) error) error {
	workers := make([]worker, max(opt.Threads, 1))
	rows := max(strip/max(a.cols, 1)/tile, 1) * tile
	strips := a.rows / rows
	if a.rows%rows > 0 {
		strips++
	}
	err := opt.strips(strips, func(k, s int) error {
		end := min((s+1)*rows, a.rows)
		for i0 := s * rows; i0 < end; i0 += tile {
			for j := range a.cols {
				for i := i0; i < min(i0+tile, end); i++ {
					if err := f(&workers[k], j*a.rows+i, i, j); err != nil {
						return err
					}
				}
			}
		}
		return nil
	})
	if opt.Stats != nil && err == nil {
		*opt.Stats = halfulp.InputStats{}
		for k := range workers {
			opt.Stats.ToInf.Count += workers[k].toInf
			opt.Stats.ToZero.Count += workers[k].toZero
		}
	}
	return err
}

// strips calls f for n strips on several goroutines, and returns the error of the first strip that
// has one.
func (opt *Options) strips(n int, f func(worker, s int) error) error {
	errs := make([]error, n)
	err := par.For(opt.Context, opt.Threads, n, func(k, s int) {
		errs[s] = guarded(func() error { return f(k, s) })
	})
	for _, e := range errs {
		if err == nil {
			err = e
		}
	}
	return err
}

// fillDoubles stores binary64 numbers. Every NaN becomes the one NaN of Float64.
func (a *array) fillDoubles(opt *Options, z []float64) error {
	if a.order != littleEndian || !a.fortran && a.rows > 1 && a.cols > 1 {
		return a.each(opt, func(_ *worker, at, i, j int) error {
			z[at] = oneNaN(math.Float64frombits(a.order.Uint64(a.data[8*a.index(i, j, 0):])))
			return nil
		})
	}
	if opt.Stats != nil {
		*opt.Stats = halfulp.InputStats{}
	}
	return opt.strips((len(z)+strip-1)/strip, func(_, s int) error {
		z := z[s*strip : min((s+1)*strip, len(z))]
		if opt.File != nil && a.at > 0 && nativeLittle {
			err := ReadDoubles(opt.File, z, a.at+8*int64(s)*strip)
			for k, x := range z {
				z[k] = oneNaN(x)
			}
			return err
		}
		data := a.data[8*s*strip:]
		for k := range z {
			z[k] = oneNaN(math.Float64frombits(binary.LittleEndian.Uint64(data[8*k:])))
		}
		return nil
	})
}

// Doubles returns the offset in a .npy file of its numbers, and how many there are. ok is false
// unless the numbers are doubles in the byte order of this machine.
func Doubles(file []byte) (at int64, n int, ok bool) {
	err := guarded(func() error {
		a, err := parse(file)
		if err != nil || a.kind != 'f' || a.size != 8 || a.terms > 1 || a.order != littleEndian || !nativeLittle {
			return err
		}
		at, n, ok = int64(len(file)-len(a.data)), len(a.data)/8, true
		return nil
	})
	return at, n, ok && err == nil
}

// ReadDoubles reads len(z) numbers from byte at of a .npy file on. It does not change the bits of
// NaN.
func ReadDoubles(f io.ReaderAt, z []float64, at int64) error {
	b := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(z))), 8*len(z))
	if n, err := f.ReadAt(b, at); n < len(b) {
		if errors.Is(err, io.EOF) {
			err = errFault
		}
		return err
	}
	return nil
}

// nativeLittle says that this machine is little-endian, like the files that this package writes.
var nativeLittle = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

func oneNaN(x float64) float64 {
	if x != x {
		return math.NaN()
	}
	return x
}

var errNoSums = errors.New("its doubles are not the terms of double-double, triple-double or quad-double numbers")

// fillSums rounds the sums of terms, which are numbers of format own, to the format of z. The error
// is errNoSums if the terms are not canonical.
func (a *array) fillSums(opt *Options, z *num.Array, own num.Format) error {
	return a.each(opt, func(w *worker, at, i, j int) error {
		if w.x == nil {
			w.x, w.y = num.New(own, 1), num.New(own, 1)
		}
		for t := range a.terms {
			w.x.F64[t][0] = math.Float64frombits(a.order.Uint64(a.data[8*a.index(i, j, t):]))
		}
		r := w.x.Value(0, w.buf[:])
		w.y.Set(0, r)
		if r.Class != num.NaN && !w.x.SameBits(0, w.y, 0) {
			return errNoSums
		}
		w.store(z, at, w.y.Value(0, w.buf[:]))
		return nil
	})
}
