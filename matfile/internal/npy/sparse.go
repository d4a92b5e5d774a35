package npy

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/textio"
	"github.com/halfulp/halfulp/matfile/internal/matrixmarket"
)

// Sparse matrices that SciPy's save_npz wrote are .npz files with the arrays format, shape and
// data, and further arrays that give the positions of the numbers in data.
//
// https://docs.scipy.org/doc/scipy/reference/generated/scipy.sparse.save_npz.html

// sparseFormats maps SciPy's names of the formats to the functions that read the positions.
var sparseFormats = map[string]func(*sparse) error{
	"csr": (*sparse).compressed, "csc": (*sparse).compressed, "bsr": (*sparse).blocks, "coo": (*sparse).coordinates, "dia": (*sparse).diagonals,
}

// sparse is a sparse matrix.
type sparse struct {
	opt        *Options
	format     string
	rows, cols int64
	flat       bool // one dimension; read as a column
	data       *array
	entries    []sparseEntry // by rows and within them by columns, with repetitions

	has  func(name string) bool             // reports whether there is an array
	part func(name string) (*header, error) // reads an array's header and data
}

// sparseEntry is a stored number. place is its row times columns plus its column, index its
// position in data.
type sparseEntry struct{ place, index int64 }

// ParseSparse reads a .npz file as [ParseZip] does, but returns a sparse matrix of SciPy without
// making it dense. Numbers stored for the same place are added exactly, and their sum is rounded
// once. The sum of booleans is true if one of them is true. All stored numbers are entries,
// including zeros.
func ParseSparse(file []byte, name string, opt Options) (*matrixmarket.Sparse, error) {
	return named(&opt, name, func() (*matrixmarket.Sparse, error) {
		m, s, err := parseZip(file, opt, true)
		if err == nil && s == nil {
			s = matrixmarket.SparseOf(m)
		}
		return s, err
	})
}

// newSparse reads the positions of the entries of a matrix in one of SciPy's formats.
func newSparse(format string, opt *Options, has func(name string) bool, part func(name string) ([]byte, error)) (*sparse, error) {
	s := &sparse{opt: opt, format: format, has: has}
	s.part = func(name string) (*header, error) {
		b, err := part(name)
		if err != nil {
			return nil, err
		}
		h, err := parseHeader(b)
		if err != nil {
			err = fmt.Errorf("array %q: %w", name, err)
		}
		return h, err
	}
	shape, err := s.integers("shape")
	if err != nil {
		return nil, err
	}
	switch n := shape.rows; {
	case n == 1 && (format == "coo" || format == "csr"):
		s.rows, s.cols, s.flat = 1, shape.integer(0), true
	case n == 2:
		s.rows, s.cols = shape.integer(0), shape.integer(1)
	default:
		return nil, fmt.Errorf("the sparse array has %s: only vectors and matrices can be read", textio.Count(n, "dimension"))
	}
	const maxSide = math.MaxInt32
	if s.rows < 0 || s.cols < 0 || s.rows > maxSide || s.cols > maxSide {
		return nil, fmt.Errorf("a sparse %d x %d matrix is too large, or none", s.rows, s.cols)
	}
	if err := sparseFormats[format](s); err != nil {
		return nil, err
	}
	if s.flat { // places stay
		s.rows, s.cols = s.cols, 1
	}
	byPlace := func(a, b sparseEntry) int {
		return cmp.Or(cmp.Compare(a.place, b.place), cmp.Compare(a.index, b.index))
	}
	if !slices.IsSortedFunc(s.entries, byPlace) {
		slices.SortFunc(s.entries, byPlace)
	}
	return s, nil
}

// vector reads an array of one dimension.
func (s *sparse) vector(name string) (*array, error) {
	h, err := s.part(name)
	if err != nil {
		return nil, err
	}
	a, err := h.numbers(false)
	if err == nil && !a.flat {
		err = errors.New("it has not one dimension")
	}
	if err != nil {
		return nil, fmt.Errorf("array %q: %w", name, err)
	}
	return a, nil
}

// integers reads an array of integers of one dimension.
func (s *sparse) integers(name string) (*array, error) {
	a, err := s.vector(name)
	if err == nil && a.kind != 'i' && a.kind != 'u' {
		err = fmt.Errorf("array %q: it does not hold integers", name)
	}
	return a, err
}

// integer returns number k of an array of integers. An integer beyond an int64 is no valid index,
// and neither is the number returned for it.
func (a *array) integer(k int) int64 {
	var buf [1]uint64
	r, err := a.value(a.data, k, buf[:])
	switch {
	case err != nil || r.Class != num.Finite:
		return -1
	case r.Neg:
		return -int64(r.Mag[0])
	}
	return int64(min(r.Mag[0], math.MaxInt64))
}

// within returns an error unless index, number k of the array called name, is from 0 to n - 1.
func within(name string, k int, index, n int64) error {
	if index < 0 || index >= n {
		return fmt.Errorf("array %q: index %d, at place %d, is not from 0 to %d", name, index, k, n-1)
	}
	return nil
}

// expect allocates memory for n entries, unless they exceed the memory limit.
func (s *sparse) expect(n float64) error {
	const size = 16 + 8 // bytes of a sparseEntry, and of a row and a column
	if need := n * size; need > float64(s.opt.MemoryLimit) {
		return fmt.Errorf("%.0f entries of a sparse matrix need %s, more than the memory limit of %s",
			n, textio.Bytes(need), textio.Bytes(float64(s.opt.MemoryLimit)))
	}
	s.entries = make([]sparseEntry, 0, int(n))
	return nil
}

func (s *sparse) add(i, j, index int64) {
	s.entries = append(s.entries, sparseEntry{i*s.cols + j, index})
}

// compressedRows are the positions of numbers that are stored row by row, or column by column.
type compressedRows struct{ pointers, indices *array }

// rowPointers reads the beginnings of rows rows, and returns the number n of their indices.
func (s *sparse) rowPointers(rows int64) (c compressedRows, n int64, err error) {
	if c.pointers, err = s.integers("indptr"); err != nil {
		return c, 0, err
	}
	if c.indices, err = s.integers("indices"); err != nil {
		return c, 0, err
	}
	if int64(c.pointers.rows) != rows+1 {
		return c, 0, fmt.Errorf("array \"indptr\": its length is %d, not %d", c.pointers.rows, rows+1)
	}
	for k := range c.pointers.rows {
		p := c.pointers.integer(k)
		if p < n || p > int64(c.indices.rows) || k == 0 && p != 0 {
			return c, 0, fmt.Errorf("array \"indptr\": number %d, at place %d, does not rise from 0 to at most the %d of \"indices\"", p, k, c.indices.rows)
		}
		n = p
	}
	return c, n, nil
}

// each calls f for all indices, with their row and their position k. It returns an error for an
// index that is not below limit.
func (c compressedRows) each(limit int64, f func(row, index, k int64)) error {
	for row := range int64(c.pointers.rows) - 1 {
		for k := c.pointers.integer(int(row)); k < c.pointers.integer(int(row)+1); k++ {
			index := c.indices.integer(int(k))
			if err := within("indices", int(k), index, limit); err != nil {
				return err
			}
			f(row, index, k)
		}
	}
	return nil
}

// compressed reads compressed rows, or columns.
func (s *sparse) compressed() (err error) {
	if s.data, err = s.vector("data"); err != nil {
		return err
	}
	major, minor := s.rows, s.cols
	if s.format == "csc" {
		major, minor = minor, major
	}
	c, n, err := s.rowPointers(major)
	if err != nil {
		return err
	}
	if n > int64(s.data.rows) {
		return fmt.Errorf("array \"data\": its length is %d, there are %d indices", s.data.rows, n)
	}
	if err := s.expect(float64(n)); err != nil {
		return err
	}
	return c.each(minor, func(i, j, k int64) {
		if s.format == "csc" {
			i, j = j, i
		}
		s.add(i, j, k)
	})
}

// blocks reads compressed rows of blocks.
func (s *sparse) blocks() error {
	h, err := s.part("data")
	if err != nil {
		return err
	}
	if len(h.dims) != 3 || h.dims[1] < 1 || h.dims[2] < 1 {
		return fmt.Errorf("array \"data\": the shape %d is none of blocks", h.dims)
	}
	count, r, c := h.dims[0], h.dims[1], h.dims[2]
	if s.rows%r != 0 || s.cols%c != 0 {
		return fmt.Errorf("array \"data\": blocks of %d x %d do not make a %d x %d matrix", r, c, s.rows, s.cols)
	}
	// No product overflows: the sides of blocks are at most the sides of the matrix.
	if float64(count)*float64(r)*float64(c) > float64(h.length) {
		return fmt.Errorf("array \"data\": the file ends early")
	}
	flat := *h
	flat.dims = []int64{count * r * c}
	if s.data, err = flat.numbers(false); err != nil {
		return fmt.Errorf("array \"data\": %w", err)
	}
	rows, n, err := s.rowPointers(s.rows / r)
	if err != nil {
		return err
	}
	if n > count {
		return fmt.Errorf("array \"data\": it has %d blocks, there are %d indices", count, n)
	}
	if err := s.expect(float64(n * r * c)); err != nil {
		return err
	}
	return rows.each(s.cols/c, func(i, j, k int64) {
		for p := range r {
			for q := range c {
				at := (k*r+p)*c + q
				if h.fortran {
					at = k + count*(p+r*q)
				}
				s.add(i*r+p, j*c+q, at)
			}
		}
	})
}

// coordinates reads a row and a column for each number.
func (s *sparse) coordinates() (err error) {
	if s.data, err = s.vector("data"); err != nil {
		return err
	}
	n := s.data.rows
	var row, col func(k int) int64
	if s.has("coords") { // as for arrays of one dimension
		h, err := s.part("coords")
		if err != nil {
			return err
		}
		a, err := h.numbers(false)
		sides := 2
		if s.flat {
			sides = 1
		}
		if err != nil || a.kind != 'i' && a.kind != 'u' || a.rows != sides || a.cols != n || a.flat {
			return errors.New("array \"coords\": it does not hold as many integers as the data, for each dimension")
		}
		col = func(k int) int64 { return a.integer(a.index(sides-1, k, 0)) }
		row = func(k int) int64 {
			if s.flat {
				return 0
			}
			return a.integer(a.index(0, k, 0))
		}
	} else {
		for _, c := range []struct {
			name string
			to   *func(int) int64
		}{{"row", &row}, {"col", &col}} {
			a, err := s.integers(c.name)
			if err != nil {
				return err
			}
			if a.rows != n {
				return fmt.Errorf("array %q: its length is %d, that of the data %d", c.name, a.rows, n)
			}
			*c.to = a.integer
		}
	}
	if err := s.expect(float64(n)); err != nil {
		return err
	}
	for k := range n {
		i, j := row(k), col(k)
		if err := within("row", k, i, s.rows); err != nil {
			return err
		}
		if err := within("col", k, j, s.cols); err != nil {
			return err
		}
		s.add(i, j, int64(k))
	}
	return nil
}

// diagonals reads diagonals: number j of a diagonal belongs to column j. Numbers outside the matrix
// are ignored.
func (s *sparse) diagonals() error {
	h, err := s.part("data")
	if err != nil {
		return err
	}
	if s.data, err = h.numbers(false); err == nil && s.data.flat {
		err = errors.New("it has not two dimensions")
	}
	if err != nil {
		return fmt.Errorf("array \"data\": %w", err)
	}
	offsets, err := s.integers("offsets")
	if err != nil {
		return err
	}
	if offsets.rows != s.data.rows {
		return fmt.Errorf("array \"offsets\": its length is %d, there are %d diagonals", offsets.rows, s.data.rows)
	}
	if err := s.expect(float64(s.data.rows) * float64(s.data.cols)); err != nil {
		return err
	}
	seen := map[int64]bool{}
	for k := range offsets.rows {
		offset := offsets.integer(k)
		if seen[offset] {
			return fmt.Errorf("array \"offsets\": diagonal %d occurs twice", offset)
		}
		seen[offset] = true
		if offset <= -s.rows || offset >= s.cols {
			continue
		}
		for j := max(offset, 0); j < min(int64(s.data.cols), s.cols, s.rows+offset); j++ {
			s.add(j-offset, j, int64(s.data.index(k, int(j), 0)))
		}
	}
	return nil
}

// groups returns the indices at which the entries of each place begin, and then the number of
// entries.
func (s *sparse) groups() []int {
	var begins []int
	for k, e := range s.entries {
		if k == 0 || e.place != s.entries[k-1].place {
			begins = append(begins, k)
		}
	}
	return append(begins, len(s.entries))
}

// values calls f, on several goroutines, for the places k = 0, 1, ... with the exact value: of a
// single entry, or of the sum of several.
func (s *sparse) values(groups []int, f func(w *worker, k int, place int64, r num.Real) error) error {
	workers := make([]worker, max(s.opt.Threads, 1))
	n := len(groups) - 1
	err := s.opt.strips((n+strip-1)/strip, func(worker, t int) error {
		w := &workers[worker]
		for k := t * strip; k < min((t+1)*strip, n); k++ {
			r, err := s.sum(w, s.entries[groups[k]:groups[k+1]])
			if err == nil {
				err = f(w, k, s.entries[groups[k]].place, r)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if s.opt.Stats != nil && err == nil {
		*s.opt.Stats = halfulp.InputStats{}
		for k := range workers {
			s.opt.Stats.ToInf.Count += workers[k].toInf
			s.opt.Stats.ToZero.Count += workers[k].toZero
		}
	}
	return err
}

// sum returns the exact sum of entries.
func (s *sparse) sum(w *worker, entries []sparseEntry) (num.Real, error) {
	if len(entries) == 1 {
		return s.data.value(s.data.data, int(entries[0].index), w.buf[:])
	}
	var z *big.Float
	var positive, negative, nan bool
	for _, e := range entries {
		r, err := s.data.value(s.data.data, int(e.index), w.buf[:])
		switch {
		case err != nil:
			return r, err
		case r.Class == num.NaN:
			nan = true
			continue
		case r.Class == num.Inf:
			positive, negative = positive || !r.Neg, negative || r.Neg
			continue
		}
		x := bigOf(r)
		switch {
		case z == nil:
			z = x
		case s.data.kind == 'b':
			if x.Sign() != 0 {
				z = x
			}
		default:
			z = addExactly(z, x)
		}
	}
	switch {
	case nan, positive && negative:
		return num.Real{Class: num.NaN}, nil
	case positive || negative:
		return num.Real{Class: num.Inf, Neg: negative}, nil
	}
	return realOf(z), nil
}

// bigOf returns a finite number.
func bigOf(r num.Real) *big.Float {
	z := new(big.Float)
	if r.Class == num.Finite {
		b := make([]byte, 8*len(r.Mag))
		for k, w := range r.Mag {
			bigEndian.PutUint64(b[len(b)-8*k-8:], w)
		}
		m := new(big.Int).SetBytes(b)
		z.SetPrec(uint(max(m.BitLen(), 1))).SetInt(m)
		z.SetMantExp(z, int(r.Exp))
	}
	if r.Neg {
		z.Neg(z)
	}
	return z
}

// addExactly returns x + y exactly.
func addExactly(x, y *big.Float) *big.Float {
	switch {
	case x.Sign() == 0 && y.Sign() == 0:
		return new(big.Float).SetPrec(1).Add(x, y) // with a sign
	case x.Sign() == 0:
		return y
	case y.Sign() == 0:
		return x
	}
	top := max(x.MantExp(nil), y.MantExp(nil))
	low := min(x.MantExp(nil)-int(x.MinPrec()), y.MantExp(nil)-int(y.MinPrec()))
	return new(big.Float).SetPrec(uint(top-low)+1).Add(x, y)
}

// realOf returns the value of a finite number.
func realOf(x *big.Float) num.Real {
	r := num.Real{Neg: x.Signbit()}
	if x.Sign() == 0 {
		return r
	}
	p := int(x.MinPrec())
	m := new(big.Float)
	r.Class, r.Exp = num.Finite, int64(x.MantExp(m)-p)
	n, _ := m.SetMantExp(m, p).Int(nil)
	b := n.Abs(n).FillBytes(make([]byte, (p+63)/64*8))
	for k := len(b); k > 0; k -= 8 {
		r.Mag = append(r.Mag, bigEndian.Uint64(b[k-8:]))
	}
	return r
}

// own returns the format that the numbers keep, as for an array. It also holds sums of integers.
func (s *sparse) own(groups []int) (num.Format, error) {
	f, err := s.data.own(s.opt.In)
	if err != nil || s.data.kind == 'f' || s.data.kind == 'b' {
		return f, err
	}
	bits := 0
	var w worker
	for k := range len(groups) - 1 {
		entries := s.entries[groups[k]:groups[k+1]]
		if len(entries) == 1 {
			continue
		}
		r, err := s.sum(&w, entries)
		if err != nil {
			return f, err
		}
		if r.Class == num.Finite {
			bits = max(bits, num.BitLen(r.Mag)-num.TrailingZeros(r.Mag))
		}
	}
	if bits > f.Bits() {
		f = num.Format{Kind: num.MP, Prec: uint32(max(bits, 64))}
	}
	return f, nil
}

// matrix returns the dense matrix.
func (s *sparse) matrix() (*halfulp.Matrix, error) {
	groups := s.groups()
	own, err := s.own(groups)
	if err != nil {
		return nil, err
	}
	m, z, err := s.opt.newMatrix(own, &array{rows: int(s.rows), cols: int(s.cols), flat: s.flat})
	if err != nil {
		return nil, fmt.Errorf("the sparse matrix becomes dense: %w", err)
	}
	if s.opt.Densified != nil {
		*s.opt.Densified = true
	}
	return m, s.values(groups, func(w *worker, _ int, place int64, r num.Real) error {
		w.store(z, int(place%s.cols*s.rows+place/s.cols), r)
		return nil
	})
}

// coordinate returns the sparse matrix of the entries.
func (s *sparse) coordinate() (*matrixmarket.Sparse, error) {
	groups := s.groups()
	own, err := s.own(groups)
	if err != nil {
		return nil, err
	}
	n := len(groups) - 1
	m, z, err := s.opt.newMatrix(own, &array{rows: n, cols: 1, flat: s.flat})
	if err != nil {
		return nil, err
	}
	a := &matrixmarket.Sparse{Rows: int(s.rows), Cols: int(s.cols), Row: make([]int32, n), Col: make([]int32, n), Values: m.Col(0)}
	return a, s.values(groups, func(w *worker, k int, place int64, r num.Real) error {
		a.Row[k], a.Col[k] = int32(place/s.cols), int32(place%s.cols)
		w.store(z, k, r)
		return nil
	})
}

// parseText reads an array that holds one word, in 4-byte characters or in bytes.
func parseText(h *header) (string, bool) {
	descr := strings.Trim(h.descr, `'"`)
	const longest = 20
	if len(h.dims) != 0 || len(descr) < 2 || len(h.data) > 4*longest {
		return "", false
	}
	size, order := 1, littleEndian
	switch descr[:2] {
	case "|S":
	case ">U":
		order = bigEndian
		fallthrough
	case "<U":
		size = 4
	default:
		return "", false
	}
	if len(h.data)%size != 0 {
		return "", false
	}
	var s []byte
	for k := 0; k < len(h.data); k += size {
		c := uint32(h.data[k])
		if size == 4 {
			c = order.Uint32(h.data[k:])
		}
		if c >= 0x80 {
			return "", false
		}
		s = append(s, byte(c))
	}
	return strings.TrimRight(string(s), "\x00"), true
}
