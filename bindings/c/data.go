package main

// #include "library.h"
import "C"

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/num"
)

// grid is a two-dimensional array in C memory: entry (i, j) is data[i rs + j cs]. Strides may have
// any sign.
type grid[T any] struct {
	data   *T
	rs, cs int
}

func (g grid[T]) at(i, j int) *T {
	return (*T)(unsafe.Add(unsafe.Pointer(g.data), (i*g.rs+j*g.cs)*int(unsafe.Sizeof(*g.data))))
}

// checkGrid panics for a negative dimension, and for a NULL array if there are entries.
func checkGrid[T any](g grid[T], rows, cols int) {
	checkShape(rows, cols)
	if g.data == nil && rows > 0 && cols > 0 {
		panic(misuse("argument data: the pointer is NULL; %d numbers are needed", rows*cols))
	}
}

func checkShape(rows, cols int) {
	if rows < 0 || cols < 0 {
		panic(misuse("%d x %d: rows and columns are at least 0", rows, cols))
	}
}

// checkMemory returns an error for a matrix that is larger than the machine's memory. Without this
// check Go would end the process.
func checkMemory(f halfulp.Format, rows, cols int) error {
	bytes := float64(rows) * float64(cols) * float64(f.Bits()+64) / 8
	if bytes > 2*float64(halfulp.DefaultMemoryLimit()) {
		return fmt.Errorf("%w: a matrix of %d x %d numbers in %v takes about %.3g bytes, more than the machine has", halfulp.ErrMemory, rows, cols, f, bytes)
	}
	return nil
}

// newMatrix returns a matrix of zeros on a device; an empty name is the host.
func newMatrix(f halfulp.Format, rows, cols int, device string) (*halfulp.Matrix, error) {
	checkShape(rows, cols)
	if device != "" && device != string(halfulp.CPU) {
		return halfulp.NewMatrixOn(halfulp.Device(device), f, rows, cols)
	}
	if err := checkMemory(f, rows, cols); err != nil {
		return nil, err
	}
	return halfulp.NewMatrix(f, rows, cols), nil
}

// filled returns a rows x cols matrix in format f. The callback put stores its entries in format
// own, and they are then rounded to f. The matrix is stored by rows if g is, otherwise by columns.
func filled[T any](g grid[T], own, f halfulp.Format, rows, cols int, put func(a *num.Array, at, i, j int)) (*halfulp.Matrix, error) {
	checkGrid(g, rows, cols)
	if err := checkMemory(own, rows, cols); err != nil {
		return nil, err
	}
	var m *halfulp.Matrix
	if magnitude(g.cs) < magnitude(g.rs) {
		m = halfulp.NewMatrix(own, cols, rows).T()
	} else {
		m = halfulp.NewMatrix(own, rows, cols)
	}
	each(m, put)
	return converted(m, f, nil)
}

func magnitude(x int) int { return max(x, -x) }

// converted returns m if it has format f, otherwise a copy in format f at the same place.
func converted(m *halfulp.Matrix, f halfulp.Format, opt *halfulp.Options) (*halfulp.Matrix, error) {
	if m.NumberFormat() == f {
		return m, nil
	}
	z, err := likeMatrix(m, f)
	if err != nil {
		return nil, err
	}
	return z, copyInto(m, z, opt)
}

// likeMatrix returns a matrix of zeros with the shape of m, in format f, at the place of m.
func likeMatrix(m *halfulp.Matrix, f halfulp.Format) (*halfulp.Matrix, error) {
	return newMatrix(f, m.Rows(), m.Cols(), string(m.Device()))
}

// copyInto copies a to z, which has the same shape, and rounds the entries to the format of z. The
// matrices may live at different places and may overlap.
func copyInto(a, z *halfulp.Matrix, opt *halfulp.Options) error {
	if a.Rows() != z.Rows() || a.Cols() != z.Cols() {
		return misuse("shapes differ: %d x %d and %d x %d", a.Rows(), a.Cols(), z.Rows(), z.Cols())
	}
	if a.Device() != z.Device() {
		b, err := a.On(z.Device())
		if err != nil {
			return err
		}
		defer b.Free()
		a = b
	}
	if a.NumberFormat() == z.NumberFormat() {
		return z.CopyFrom(a)
	}
	if a.View().Arr.Overlaps(z.View().Arr) {
		a = a.Clone()
	}
	return vectors(a, z, func(x, y *halfulp.Vector) error {
		return halfulp.Copy(x, y, opt)
	})
}

// vectors calls do with vectors of corresponding entries of a and z, which have the same shape:
// with all entries at once if they are consecutive in both matrices, otherwise with the rows or
// columns, whichever are contiguous in z.
func vectors(a, z *halfulp.Matrix, do func(x, y *halfulp.Vector) error) error {
	joined := func(m *halfulp.Matrix) bool {
		v := m.View()
		return v.Cols <= 1 || v.CS == v.RS*v.Rows
	}
	if v := z.View(); v.CS == 1 && v.RS != 1 {
		a, z = a.T(), z.T()
	}
	if joined(a) && joined(z) {
		return do(a.Vec(), z.Vec())
	}
	for j := range z.Cols() {
		if err := do(a.Col(j), z.Col(j)); err != nil {
			return err
		}
	}
	return nil
}

// laid returns a view m of rows x cols numbers with strides rs and cs. The view's array has n
// numbers; its first number has the index first, which may be negative, relative to entry (0, 0).
// together reports whether the strides allow a matrix without a copy: the entries of each column,
// or of each row, are contiguous and columns, or rows, do not overlap. A vector may have any stride
// except 0.
func laid(rows, cols, rs, cs int) (m num.Mat, first, n int, together bool) {
	together = true
	switch {
	case rows == 0 || cols == 0:
		rs, cs = 1, max(rows, 1)
	case cols == 1 && rows == 1:
		rs, cs = 1, 1
	case cols == 1 && rs != 0:
		cs = 1
	case rows == 1 && cs != 0:
		rs = 1
	case rs == 1 && cs >= rows, cs == 1 && rs >= cols:
	default:
		together = false
	}
	m = num.Mat{RS: rs, CS: cs, Rows: rows, Cols: cols}
	if rows == 0 || cols == 0 {
		return m, 0, 0, together
	}
	down, across := (rows-1)*rs, (cols-1)*cs
	first = min(down, 0) + min(across, 0)
	m.Off = -first
	return m, first, max(down, 0) + max(across, 0) - first + 1, together
}

// apart returns the error for strides that a matrix without a copy cannot have.
func apart(rows, cols, rs, cs int) error {
	return misuse("strides %d and %d of %d x %d numbers: a matrix without a copy has columns or rows whose numbers lie side by side, one after the other; make a copy", rs, cs, rows, cols)
}

// wrap returns a matrix that uses an array in C memory as its storage. The C code must keep the
// array until the matrix and its views are freed.
func wrap[T any](g grid[T], rows, cols int, array func(data []T) *num.Array) (*halfulp.Matrix, error) {
	checkGrid(g, rows, cols)
	m, first, n, together := laid(rows, cols, g.rs, g.cs)
	if !together {
		return nil, apart(rows, cols, g.rs, g.cs)
	}
	var data []T
	if n > 0 {
		data = unsafe.Slice(grid[T]{g.data, 1, 1}.at(first, 0), n)
	}
	m.Arr = array(data)
	return halfulp.MatrixOf(m), nil
}

func wrapF64(data *float64, rows, cols, rs, cs int) (*halfulp.Matrix, error) {
	return wrap(grid[float64]{data, rs, cs}, rows, cols, func(data []float64) *num.Array {
		return &num.Array{Format: num.Float64, F64: [4][]float64{data}}
	})
}

func wrapF32(data *float32, rows, cols, rs, cs int) (*halfulp.Matrix, error) {
	return wrap(grid[float32]{data, rs, cs}, rows, cols, func(data []float32) *num.Array {
		return &num.Array{Format: num.Float32, F32: data}
	})
}

func fromF64(data *float64, rows, cols, rs, cs int, f halfulp.Format) (*halfulp.Matrix, error) {
	g := grid[float64]{data, rs, cs}
	return filled(g, halfulp.Float64, f, rows, cols, func(a *num.Array, at, i, j int) { a.F64[0][at] = *g.at(i, j) })
}

func fromF32(data *float32, rows, cols, rs, cs int, f halfulp.Format) (*halfulp.Matrix, error) {
	g := grid[float32]{data, rs, cs}
	return filled(g, halfulp.Float32, f, rows, cols, func(a *num.Array, at, i, j int) { a.F32[at] = *g.at(i, j) })
}

// fromIntegers returns a matrix of integers in the format called name. If name is empty the format
// is float64 if it holds all integers exactly, otherwise MP(64). split returns whether an integer
// is negative, and its magnitude.
func fromIntegers[T any](g grid[T], rows, cols int, name string, split func(x T) (bool, uint64)) (*halfulp.Matrix, error) {
	checkGrid(g, rows, cols)
	var f halfulp.Format
	if name != "" {
		var err error
		if f, err = halfulp.ParseFormat(name); err != nil {
			return nil, misuse("argument format: %v", err)
		}
	}
	own := halfulp.Float64
	for j := range cols {
		for i := range rows {
			if _, x := split(*g.at(i, j)); uint64(float64(x)) != x || float64(x) == 1<<64 {
				own = halfulp.MP(64)
			}
		}
	}
	if name == "" {
		f = own
	}
	return filled(g, own, f, rows, cols, func(a *num.Array, at, i, j int) {
		neg, x := split(*g.at(i, j))
		r := num.Real{Class: num.Finite, Neg: neg, Mag: []uint64{x}}
		if x == 0 {
			r = num.Real{}
		}
		a.Set(at, r)
	})
}

func fromI64(data *int64, rows, cols, rs, cs int, format string) (*halfulp.Matrix, error) {
	return fromIntegers(grid[int64]{data, rs, cs}, rows, cols, format, func(x int64) (bool, uint64) {
		if x < 0 {
			return true, -uint64(x)
		}
		return false, uint64(x)
	})
}

func fromU64(data *uint64, rows, cols, rs, cs int, format string) (*halfulp.Matrix, error) {
	return fromIntegers(grid[uint64]{data, rs, cs}, rows, cols, format, func(x uint64) (bool, uint64) { return false, x })
}

// expansionOf returns the format of sums of 1 to 4 doubles. It panics for other numbers.
func expansionOf(terms int) halfulp.Format {
	switch terms {
	case 1:
		return halfulp.Float64
	case 2:
		return halfulp.DD
	case 3:
		return halfulp.TD
	case 4:
		return halfulp.QD
	}
	panic(misuse("argument terms: %d; 1 to 4 are needed", terms))
}

// fromTerms returns a matrix in format f of sums of doubles, each rounded once: term t of entry (i,
// j) is data[i rs + j cs + t ts]. The sums need not be normalised.
func fromTerms(data *float64, terms, rows, cols, rs, cs, ts int, f halfulp.Format) (*halfulp.Matrix, error) {
	own := expansionOf(terms)
	g := grid[float64]{data, rs, cs}
	checkGrid(g, rows, cols)
	if own == halfulp.Float64 {
		return fromF64(data, rows, cols, rs, cs, f)
	}
	var buf [num.MaxValueWords]uint64
	given := num.New(halfulp.NewMatrix(own, 0, 0).View().Arr.Format, 1)
	return filled(g, f, f, rows, cols, func(a *num.Array, at, i, j int) {
		p := grid[float64]{g.at(i, j), ts, 0}
		for t := range terms {
			given.F64[t][0] = *p.at(t, 0)
		}
		a.Set(at, given.Value(0, buf[:])) // the exact sum, rounded once
	})
}

// fromLimbs returns a matrix in format f of the numbers sign · S · 2^(exponent - 64 count), each
// rounded once, where S is the integer of count words, the least significant first. Entry (i, j) is
// element i rs + j cs of each array, an element of limbs being count words.
func fromLimbs(limbs *uint64, count int, exponents *int64, signs *int8, classes *uint8, rows, cols, rs, cs int, f halfulp.Format) (*halfulp.Matrix, error) {
	if count < 1 || count > halfulp.MaxPrec/64 {
		return nil, misuse("argument limbs: %d words a number; 1 to %d are needed", count, halfulp.MaxPrec/64)
	}
	words, e := grid[uint64]{limbs, rs * count, cs * count}, grid[int64]{exponents, rs, cs}
	s, c := grid[int8]{signs, rs, cs}, grid[uint8]{classes, rs, cs}
	checkGrid(words, rows, cols)
	checkGrid(e, rows, cols)
	checkGrid(s, rows, cols)
	checkGrid(c, rows, cols)
	for j := range cols {
		for i := range rows {
			if x := *c.at(i, j); x > 3 {
				return nil, misuse("entry (%d, %d): the class is %d; 0 zero, 1 finite, 2 infinite or 3 NaN is needed", i, j, x)
			}
			if x := *s.at(i, j); x != 1 && x != -1 {
				return nil, misuse("entry (%d, %d): the sign is %d; 1 or -1 is needed", i, j, x)
			}
		}
	}
	return filled(words, f, f, rows, cols, func(a *num.Array, at, i, j int) {
		r := num.Real{Class: num.Class(*c.at(i, j)), Neg: *s.at(i, j) < 0}
		if r.Class == num.Finite {
			r.Mag = unsafe.Slice(words.at(i, j), count)
			// Larger exponents are beyond the range of all formats, too.
			r.Exp = min(max(*e.at(i, j), -1<<40), 1<<40) - int64(64*count)
			if num.IsZero(r.Mag) {
				r = num.Real{Neg: r.Neg}
			}
		}
		a.Set(at, r)
	})
}

// fromTexts returns a matrix in format f of the numbers in an array of C strings.
func fromTexts(data **C.char, rows, cols, rs, cs int, f halfulp.Format) (*halfulp.Matrix, error) {
	g := grid[*C.char]{data, rs, cs}
	checkGrid(g, rows, cols)
	if err := checkMemory(f, rows, cols); err != nil {
		return nil, err
	}
	m := halfulp.NewMatrix(f, rows, cols)
	for j := range cols {
		for i := range rows {
			p := *g.at(i, j)
			if p == nil {
				return nil, misuse("entry (%d, %d): the pointer is NULL; a text is needed", i, j)
			}
			if err := m.SetString(i, j, C.GoString(p)); err != nil {
				return nil, misuse("entry (%d, %d): %v", i, j, err)
			}
		}
	}
	return m, nil
}

// onHost returns a matrix on the host in format f with the entries of m: m itself if it lives there
// and has this format.
func onHost(m *halfulp.Matrix, f halfulp.Format) (*halfulp.Matrix, error) {
	if m.Device() != halfulp.CPU {
		h, err := m.Host()
		if err != nil {
			return nil, err
		}
		m = h
	}
	return converted(m, f, nil)
}

// each calls visit for each entry (i, j) of a matrix on the host, which is number at of the array
// a, in the order of memory.
func each(m *halfulp.Matrix, visit func(a *num.Array, at, i, j int)) {
	v := m.View()
	if magnitude(v.CS) < magnitude(v.RS) {
		for i := range v.Rows {
			for j := range v.Cols {
				visit(v.Arr, v.At(i, j), i, j)
			}
		}
		return
	}
	for j := range v.Cols {
		for i := range v.Rows {
			visit(v.Arr, v.At(i, j), i, j)
		}
	}
}

func getF64(m *halfulp.Matrix, data *float64, rs, cs int) error {
	g := grid[float64]{data, rs, cs}
	checkGrid(g, m.Rows(), m.Cols())
	h, err := onHost(m, halfulp.Float64)
	if err == nil {
		each(h, func(a *num.Array, at, i, j int) { *g.at(i, j) = a.F64[0][at] })
	}
	return err
}

func getF32(m *halfulp.Matrix, data *float32, rs, cs int) error {
	g := grid[float32]{data, rs, cs}
	checkGrid(g, m.Rows(), m.Cols())
	h, err := onHost(m, halfulp.Float32)
	if err == nil {
		each(h, func(a *num.Array, at, i, j int) { *g.at(i, j) = a.F32[at] })
	}
	return err
}

func getTerms(m *halfulp.Matrix, data *float64, terms, rs, cs, ts int) error {
	f := expansionOf(terms)
	g := grid[float64]{data, rs, cs}
	checkGrid(g, m.Rows(), m.Cols())
	h, err := onHost(m, f)
	if err != nil {
		return err
	}
	each(h, func(a *num.Array, at, i, j int) {
		p := grid[float64]{g.at(i, j), ts, 0}
		for t := range terms {
			*p.at(t, 0) = a.F64[t][at]
		}
	})
	return nil
}

// limbsOf returns the number of 64-bit words in which getLimbs stores a significand of m.
func limbsOf(m *halfulp.Matrix) (int, error) {
	switch f := m.NumberFormat(); f {
	case halfulp.DD, halfulp.TD, halfulp.QD:
		return 0, misuse("the matrix is of format %v, whose numbers are sums of doubles: get its terms, or convert it to an mp format", f)
	default:
		return (f.Bits() + 63) / 64, nil
	}
}

func getLimbs(m *halfulp.Matrix, limbs *uint64, exponents *int64, signs *int8, classes *uint8, rs, cs int) error {
	count, err := limbsOf(m)
	if err != nil {
		return err
	}
	words, e := grid[uint64]{limbs, rs * count, cs * count}, grid[int64]{exponents, rs, cs}
	s, c := grid[int8]{signs, rs, cs}, grid[uint8]{classes, rs, cs}
	checkGrid(words, m.Rows(), m.Cols())
	checkGrid(e, m.Rows(), m.Cols())
	checkGrid(s, m.Rows(), m.Cols())
	checkGrid(c, m.Rows(), m.Cols())
	f := m.NumberFormat()
	if !f.IsMP() {
		f = halfulp.MP(64) // holds float32 and float64
	}
	h, err := onHost(m, f)
	if err != nil {
		return err
	}
	each(h, func(a *num.Array, at, i, j int) {
		class := a.Cls[at].Class()
		*c.at(i, j), *s.at(i, j), *e.at(i, j) = uint8(class), 1, 0
		if a.Cls[at].Neg() {
			*s.at(i, j) = -1
		}
		to := unsafe.Slice(words.at(i, j), count)
		if class != num.Finite {
			clear(to)
			return
		}
		copy(to, a.Sig[at*count:(at+1)*count])
		*e.at(i, j) = int64(a.Exp[at])
	})
	return nil
}

// Shape, entries and views.

func shape(m *halfulp.Matrix) (rows, cols int, err error) { return m.Rows(), m.Cols(), nil }

func sliceOf(v view, i0, i1, j0, j1 int) (view, error) {
	if i0 < 0 || i1 < i0 || i1 > v.Rows() || j0 < 0 || j1 < j0 || j1 > v.Cols() {
		return v, misuse("rows %d to %d and columns %d to %d: the matrix is %d x %d", i0, i1, j0, j1, v.Rows(), v.Cols())
	}
	return view{v.Slice(i0, i1, j0, j1), v.memory}, nil
}

// entriesOf returns the entries of a matrix as a vector, in the order of storage. If a matrix on a
// device has gaps between its columns, or rows, the vector is a copy.
func entriesOf(v view) (view, error) {
	m := v.Matrix
	if r := m.View(); magnitude(r.CS) < magnitude(r.RS) {
		m = m.T()
	}
	if r := m.View(); v.memory != nil && r.Rows > 1 && r.Cols > 1 && r.CS != r.RS*r.Rows {
		z, err := clone(m)
		if err != nil {
			return view{}, err
		}
		return view{z.Vec().Matrix(), newMemory(z)}, nil
	}
	return view{m.Vec().Matrix(), v.memory}, nil
}

// strideOf returns every step-th entry of a vector, as a vector of the same kind.
func strideOf(v view, step int) (view, error) {
	if step == 0 || step == math.MinInt {
		return v, misuse("argument step: %d; another number is needed", step)
	}
	switch {
	case v.Cols() == 1:
		return view{v.Col(0).Stride(step).Matrix(), v.memory}, nil
	case v.Rows() == 1:
		return view{v.Row(0).Stride(step).Matrix().T(), v.memory}, nil
	}
	return v, misuse("the matrix is %d x %d; a vector is n x 1 or 1 x n", v.Rows(), v.Cols())
}

// take returns a copy of the entries (i0 + r istep, j0 + c jstep).
func take(m *halfulp.Matrix, i0, istep, rows, j0, jstep, cols int) (*halfulp.Matrix, error) {
	checkShape(rows, cols)
	inside := func(first, step, n, length int) bool {
		if n == 0 {
			return true
		}
		limit := length
		if n > 1 {
			limit = length / (n - 1)
		}
		return first >= 0 && first < length && (n == 1 || step >= -limit && step <= limit && first+(n-1)*step >= 0 && first+(n-1)*step < length)
	}
	if !inside(i0, istep, rows, m.Rows()) || !inside(j0, jstep, cols, m.Cols()) {
		return nil, misuse("indices beyond the matrix, which is %d x %d", m.Rows(), m.Cols())
	}
	h, err := onHost(m, m.NumberFormat())
	if err != nil {
		return nil, err
	}
	if err := checkMemory(m.NumberFormat(), rows, cols); err != nil {
		return nil, err
	}
	z := halfulp.NewMatrix(m.NumberFormat(), rows, cols)
	from := h.View()
	each(z, func(a *num.Array, at, i, j int) { a.CopyFrom(at, from.Arr, from.At(i0+i*istep, j0+j*jstep)) })
	if m.Device() == halfulp.CPU {
		return z, nil
	}
	return z.On(m.Device())
}

func entry(m *halfulp.Matrix, i, j int) (halfulp.Scalar, error) {
	if i < 0 || i >= m.Rows() || j < 0 || j >= m.Cols() {
		return halfulp.Scalar{}, misuse("entry (%d, %d): the matrix is %d x %d", i, j, m.Rows(), m.Cols())
	}
	h, err := onHost(m.Slice(i, i+1, j, j+1), m.NumberFormat())
	if err != nil {
		return halfulp.Scalar{}, err
	}
	return h.At(0, 0), nil
}

func setEntry(m *halfulp.Matrix, i, j int, s halfulp.Scalar) error {
	if i < 0 || i >= m.Rows() || j < 0 || j >= m.Cols() {
		return misuse("entry (%d, %d): the matrix is %d x %d", i, j, m.Rows(), m.Cols())
	}
	return copyInto(scalarMatrix(s), m.Slice(i, i+1, j, j+1), nil)
}

func scalarMatrix(s halfulp.Scalar) *halfulp.Matrix {
	m := halfulp.NewMatrix(s.NumberFormat(), 1, 1)
	m.Set(0, 0, s)
	return m
}

func matrixScalar(m *halfulp.Matrix) (halfulp.Scalar, error) {
	if m.Rows() != 1 || m.Cols() != 1 {
		return halfulp.Scalar{}, misuse("the matrix is %d x %d; one of 1 x 1 is needed", m.Rows(), m.Cols())
	}
	return entry(m, 0, 0)
}

// onDevice returns a copy of m on a device.
func onDevice(m *halfulp.Matrix, device string) (*halfulp.Matrix, error) {
	if halfulp.Device(device) == halfulp.CPU {
		return m.Host()
	}
	return m.On(halfulp.Device(device))
}

func textOf(m *halfulp.Matrix, digits int) (string, error) {
	if err := checkDigits(digits); err != nil {
		return "", err
	}
	h, err := onHost(m, m.NumberFormat())
	if err != nil {
		return "", err
	}
	return h.Text(digits), nil
}

func checkDigits(digits int) error {
	if digits < 0 && digits != halfulp.Hex {
		return misuse("argument digits: %d; 0 for the shortest text, a number of digits, or %d for hexadecimal is needed", digits, halfulp.Hex)
	}
	return nil
}

func scalarText(s halfulp.Scalar, digits int) (string, error) {
	if err := checkDigits(digits); err != nil {
		return "", err
	}
	return s.Text(digits), nil
}

func parseScalar(text string, f halfulp.Format) (halfulp.Scalar, error) {
	s, err := halfulp.ParseScalar(f, text)
	if err != nil {
		return s, misuse("%v", err)
	}
	return s, nil
}

func bytesOf(m *halfulp.Matrix) ([]byte, error) {
	h, err := onHost(m, m.NumberFormat())
	if err != nil {
		return nil, err
	}
	return h.MarshalBinary()
}

func fromBytes(data *uint8, size int) (*halfulp.Matrix, error) {
	if data == nil || size < 0 {
		return nil, misuse("argument data: the pointer is NULL, or the size is negative")
	}
	m := new(halfulp.Matrix)
	if err := m.UnmarshalBinary(unsafe.Slice(data, size)); err != nil {
		return nil, misuse("%v", err)
	}
	return m, nil
}
