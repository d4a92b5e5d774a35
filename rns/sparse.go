package rns

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/place"
)

// ErrSparse is wrapped by errors about indices that describe no sparse matrix, and about matrices
// that a format cannot store.
var ErrSparse = errors.New("rns: invalid sparse matrix")

// SparseFormat is a storage format of MPRES-BLAS's SpMV routines.
type SparseFormat int

// The formats. A row keeps its entries in an order, 0, 1, 2, …; conversions preserve it, except to
// DIA.
const (
	// CSR stores compressed rows: the entries of row 0, then the entries of row 1, ….
	CSR SparseFormat = iota
	// JAD (or JDS) stores jagged diagonals: rows sorted by their numbers of entries, the longest
	// first, equal ones in their order, then entry 0 of every row, then entry 1 of every row that
	// has one, ….
	JAD
	// ELL (ELLPACK) stores as many places for every row as the longest has entries, column by
	// column: place 0 of every row, then place 1, …. Places that are not used name no column.
	ELL
	// DIA stores the diagonals that have an entry other than 0, from the lowest to the highest,
	// each with a place for every row. Zeros are not entries, and a place holds at most one entry.
	DIA
)

// String returns the format's name in lower case.
func (f SparseFormat) String() string {
	if f < CSR || f > DIA {
		return fmt.Sprintf("SparseFormat(%d)", int(f))
	}
	return [...]string{"csr", "jad", "ell", "dia"}[f]
}

// Sparse is a sparse matrix. Its entries are numbers of a base, or float64 numbers, which take 8
// bytes each and which products convert when they use them: the matrices of MPRES-BLAS in multiple
// and in double precision. It lives where its values do.
type Sparse struct {
	format     SparseFormat
	rows, cols int
	entries    int
	width      int     // of the longest row; DIA: diagonals
	pointers   []int64 // CSR: rows + 1, JAD: width + 1 places where rows or diagonals begin
	columns    []int32 // of every place; -1: of none; DIA: column - row of every diagonal
	order      []int32 // JAD: the row that stored row i is; nil: i
	doubles    []float64
	values     *Vector // none, but where the matrix lives, for doubles
	away       place.RNSSparse
}

// NewCSR returns the rows x cols matrix with the given row pointers, column indices and values: row
// i has the entries rowPtr[i] ≤ k < rowPtr[i+1], values.At(k) in column colIndex[k]. The matrix
// uses values as its storage; the indices are copied. Columns of a row may be in any order. In
// products, several entries with the same row and column add up. Errors wrap ErrSparse; for values
// on a device, the errors of [Base.NewArrayOn] are possible as well.
func NewCSR(rows, cols int, rowPtr []int, colIndex []int32, values *Vector) (*Sparse, error) {
	a, err := newCSR(rows, cols, rowPtr, colIndex, values.n)
	if err != nil {
		return nil, err
	}
	a.values = values
	return a, a.load()
}

// CSRFloat64 is [NewCSR] for float64 numbers, which are copied. Each is converted as by
// Number.SetFloat64 whenever it is used. The matrix lives on the host.
func (b *Base) CSRFloat64(rows, cols int, rowPtr []int, colIndex []int32, values []float64) (*Sparse, error) {
	a, err := newCSR(rows, cols, rowPtr, colIndex, len(values))
	if err != nil {
		return nil, err
	}
	a.doubles, a.values = append(make([]float64, 0, len(values)), values...), b.NewVector(0)
	return a, nil
}

// newCSR checks indices, and returns the matrix without values.
func newCSR(rows, cols int, rowPtr []int, colIndex []int32, values int) (*Sparse, error) {
	if err := checkDims(rows, cols); err != nil {
		return nil, err
	}
	if len(rowPtr) != rows+1 {
		return nil, fmt.Errorf("%w: %d row pointers for %d rows, want %d", ErrSparse, len(rowPtr), rows, rows+1)
	}
	if rowPtr[0] != 0 {
		return nil, fmt.Errorf("%w: the first row pointer is %d, not 0", ErrSparse, rowPtr[0])
	}
	a := &Sparse{format: CSR, rows: rows, cols: cols, pointers: make([]int64, rows+1), columns: slices.Clone(colIndex)}
	for i := range rows {
		n := rowPtr[i+1] - rowPtr[i]
		if n < 0 {
			return nil, fmt.Errorf("%w: row pointers decrease at row %d, from %d to %d", ErrSparse, i, rowPtr[i], rowPtr[i+1])
		}
		a.pointers[i+1], a.width = int64(rowPtr[i+1]), max(a.width, n)
	}
	if a.entries = rowPtr[rows]; a.entries != len(colIndex) || a.entries != values {
		return nil, fmt.Errorf("%w: %d entries by the row pointers, %d columns, %d values", ErrSparse, a.entries, len(colIndex), values)
	}
	for k, j := range colIndex {
		if j < 0 || int(j) >= cols {
			return nil, fmt.Errorf("%w: column %d of entry %d is not in [0, %d)", ErrSparse, j, k, cols)
		}
	}
	return a, nil
}

// checkDims returns an error unless the dimensions are valid.
func checkDims(rows, cols int) error {
	if rows < 0 || cols < 0 || rows > math.MaxInt32 || cols > math.MaxInt32 {
		return fmt.Errorf("%w: %d x %d", ErrSparse, rows, cols)
	}
	return nil
}

// SparseOf returns a rows x cols matrix in CSR. Entry k is values.At(k), in row rowIndex[k] and
// column colIndex[k], counted from 0; entries may be in any order. Rows are sorted by columns.
// Several entries with the same row and column keep their order, and add up in products. Values of
// format Float64 stay float64 numbers; other values become numbers as by Number.SetScalar. Errors
// wrap ErrSparse.
func (b *Base) SparseOf(rows, cols int, rowIndex, colIndex []int32, values *halfulp.Vector) (*Sparse, error) {
	if err := checkDims(rows, cols); err != nil {
		return nil, err
	}
	n := values.Len()
	if len(rowIndex) != n || len(colIndex) != n {
		return nil, fmt.Errorf("%w: %d rows and %d columns for %d values", ErrSparse, len(rowIndex), len(colIndex), n)
	}
	order := make([]int, n)
	for k := range order {
		if i := rowIndex[k]; i < 0 || int(i) >= rows {
			return nil, fmt.Errorf("%w: row %d of entry %d is not in [0, %d)", ErrSparse, i, k, rows)
		}
		order[k] = k
	}
	slices.SortStableFunc(order, func(k, l int) int {
		if d := int(rowIndex[k]) - int(rowIndex[l]); d != 0 {
			return d
		}
		return int(colIndex[k]) - int(colIndex[l])
	})
	pointers, columns := make([]int, rows+1), make([]int32, n)
	for k, from := range order {
		pointers[rowIndex[from]+1]++
		columns[k] = colIndex[from]
	}
	for i := range rows {
		pointers[i+1] += pointers[i]
	}
	if values.NumberFormat() == halfulp.Float64 {
		sorted := make([]float64, n)
		for k, from := range order {
			sorted[k] = values.Float64(from)
		}
		return b.CSRFloat64(rows, cols, pointers, columns, sorted)
	}
	sorted := halfulp.NewVector(values.NumberFormat(), n)
	for k, from := range order {
		sorted.Set(k, values.At(from))
	}
	return NewCSR(rows, cols, pointers, columns, b.VectorOf(sorted))
}

// Format returns the storage format of a.
func (a *Sparse) Format() SparseFormat { return a.format }

// Dims returns the numbers of rows and columns.
func (a *Sparse) Dims() (rows, cols int) { return a.rows, a.cols }

// Entries returns the number of entries. Unused places do not count, nor do zeros in DIA.
func (a *Sparse) Entries() int { return a.entries }

// Float64 reports whether the entries are float64 numbers.
func (a *Sparse) Float64() bool { return a.doubles != nil }

// Base returns the base of the entries.
func (a *Sparse) Base() *Base { return a.values.arr.b }

// Device returns where a lives: "cpu" or "cuda:N".
func (a *Sparse) Device() halfulp.Device { return a.values.Device() }

// On returns a copy of a that lives on a device, like [Array.On].
func (a *Sparse) On(d halfulp.Device) (*Sparse, error) {
	values, err := a.values.On(d)
	if err != nil {
		return nil, err
	}
	z := *a // nothing changes indices and doubles
	z.values, z.away = values, nil
	if err := z.load(); err != nil {
		values.Free()
		return nil, err
	}
	return &z, nil
}

// Host returns a copy of a that lives on the host.
func (a *Sparse) Host() (*Sparse, error) { return a.On(halfulp.CPU) }

// Free releases the memory of a and of its values, like [Array.Free].
func (a *Sparse) Free() {
	if a.away != nil {
		a.away.Free()
	}
	a.values.Free()
}

// load copies the indices and float64 values to the place where the values live.
func (a *Sparse) load() error {
	p := a.values.arr.where()
	if p == nil {
		return nil
	}
	c, err := a.Base().on(context.Background(), p)
	if err != nil {
		return err
	}
	return c.Run(context.Background(), 0, func(q place.RNSQueue) (err error) {
		a.away, err = q.Sparse(a.layout())
		return err
	})
}

// layout returns the parts of a on a device beside the values.
func (a *Sparse) layout() place.RNSLayout {
	return place.RNSLayout{
		Format: [...]place.RNSFormat{place.RNSCSR, place.RNSJAD, place.RNSELL, place.RNSDIA}[a.format],
		Rows:   a.rows, Cols: a.cols, Width: a.width,
		Pointers: a.pointers, Columns: a.columns, Order: a.order, Float64: a.Float64(), Doubles: a.doubles,
	}
}

// row returns the index in the matrix of stored row i.
func (a *Sparse) row(i int) int {
	if a.order == nil {
		return i
	}
	return int(a.order[i])
}

// length returns the number of places of stored row i.
func (a *Sparse) length(i int) int {
	switch a.format {
	case CSR:
		return int(a.pointers[i+1] - a.pointers[i])
	case JAD:
		return sort.Search(a.width, func(e int) bool { return a.pointers[e]+int64(i) >= a.pointers[e+1] })
	}
	return a.width
}

// at returns place e of stored row i, and its column, which is outside the matrix where the place
// has no entry.
func (a *Sparse) at(i, e int) (k, column int) {
	switch a.format {
	case CSR:
		k = int(a.pointers[i]) + e
	case JAD:
		k = int(a.pointers[e]) + i
	case DIA:
		return e*a.rows + i, i + int(a.columns[e])
	default:
		k = e*a.rows + i
	}
	return k, int(a.columns[k])
}

// get returns the value in place k of a matrix of the host. A float64 value is converted into
// buffer.
func (a *Sparse) get(k int, buffer []uint32) val {
	if a.doubles == nil {
		return a.values.val(k)
	}
	v := val{x: buffer}
	a.Base().setFloat64(&v, a.doubles[k])
	return v
}

// entry is an entry of stored row i, in place k.
type entry struct{ k, column int }

// appendRow appends the entries of stored row i of a matrix of the host.
func (a *Sparse) appendRow(list []entry, i int, buffer []uint32) []entry {
	for e := range a.length(i) {
		k, column := a.at(i, e)
		if column < 0 || column >= a.cols {
			continue
		}
		if a.format == DIA {
			if v := a.get(k, buffer); v.isZero() {
				continue
			}
		}
		list = append(list, entry{k, column})
	}
	return list
}

// To returns a copy of a matrix of the host in another format. Entries of each row keep their
// order, except in DIA, where they are in the order of columns. The error wraps ErrSparse if the
// format is DIA and two entries other than 0 have the same row and column. It wraps
// [halfulp.ErrMemory] if unused places would take too much memory: ELL has as many places in each
// row as the longest row has entries, DIA a place in each row for each diagonal.
func (a *Sparse) To(f SparseFormat) (*Sparse, error) {
	a.values.arr.needHost()
	rows := make([][]entry, a.rows)
	all := make([]entry, 0, a.entries)
	buffer := make([]uint32, a.Base().n)
	for i := range a.rows {
		n := len(all)
		all = a.appendRow(all, i, buffer)
		rows[a.row(i)] = all[n:len(all):len(all)]
	}
	z := &Sparse{format: f, rows: a.rows, cols: a.cols, entries: len(all)}
	for _, row := range rows {
		z.width = max(z.width, len(row))
	}
	var from []int // the place in a of each place of z; -1 for an unused place
	var err error
	switch f {
	case CSR:
		from = z.setRows(rows)
	case JAD:
		from = z.setJagged(rows)
	case ELL:
		from, err = z.setPadded(a, rows)
	case DIA:
		from, err = z.setDiagonals(a, rows)
	default:
		return nil, fmt.Errorf("%w: %v is no format", ErrSparse, f)
	}
	if err != nil {
		return nil, err
	}
	z.take(a, from)
	return z, nil
}

// setRows sets the indices of CSR.
func (a *Sparse) setRows(rows [][]entry) (from []int) {
	a.pointers = make([]int64, 1, a.rows+1)
	for _, row := range rows {
		for _, e := range row {
			a.columns, from = append(a.columns, int32(e.column)), append(from, e.k)
		}
		a.pointers = append(a.pointers, int64(len(from)))
	}
	return from
}

// setJagged sets the indices of JAD.
func (a *Sparse) setJagged(rows [][]entry) (from []int) {
	a.order = make([]int32, a.rows)
	for i := range a.order {
		a.order[i] = int32(i)
	}
	slices.SortStableFunc(a.order, func(i, j int32) int { return len(rows[j]) - len(rows[i]) })
	a.pointers = make([]int64, 1, a.width+1)
	for e := range a.width {
		for _, i := range a.order {
			if e >= len(rows[i]) {
				break
			}
			a.columns, from = append(a.columns, int32(rows[i][e].column)), append(from, rows[i][e].k)
		}
		a.pointers = append(a.pointers, int64(len(from)))
	}
	return from
}

// setPadded sets the indices of ELL.
func (a *Sparse) setPadded(old *Sparse, rows [][]entry) ([]int, error) {
	from, err := a.places(old)
	if err != nil {
		return nil, err
	}
	a.columns = make([]int32, len(from))
	for k := range a.columns {
		a.columns[k] = -1
	}
	for i, row := range rows {
		for e, x := range row {
			k := e*a.rows + i
			a.columns[k], from[k] = int32(x.column), x.k
		}
	}
	return from, nil
}

// setDiagonals sets the indices of DIA.
func (a *Sparse) setDiagonals(old *Sparse, rows [][]entry) ([]int, error) {
	buffer := make([]uint32, old.Base().n)
	number := map[int32]int{} // of each diagonal
	for i, row := range rows {
		kept := row[:0]
		for _, e := range row {
			if v := old.get(e.k, buffer); v.isZero() {
				a.entries--
				continue
			}
			kept = append(kept, e)
			if d := int32(e.column - i); number[d] == 0 {
				number[d] = 1
				a.columns = append(a.columns, d)
			}
		}
		rows[i] = kept
	}
	slices.Sort(a.columns)
	for e, d := range a.columns {
		number[d] = e
	}
	a.width = len(a.columns)
	from, err := a.places(old)
	if err != nil {
		return nil, err
	}
	for i, row := range rows {
		for _, e := range row {
			k := number[int32(e.column-i)]*a.rows + i
			if from[k] >= 0 {
				return nil, fmt.Errorf("%w: two entries in row %d, column %d, of which DIA stores one", ErrSparse, i, e.column)
			}
			from[k] = e.k
		}
	}
	return from, nil
}

// places returns unused places: for each row as many as the matrix is wide.
func (a *Sparse) places(old *Sparse) ([]int, error) {
	each := float64(4*old.Base().n + headBytes)
	if old.Float64() {
		each = 8
	}
	n := float64(a.rows) * float64(a.width)
	if need := n * (each + 4 + 8); need > float64(halfulp.DefaultMemoryLimit()) {
		return nil, fmt.Errorf("rns: %w: %v has %d rows of %d places, of which %d are entries: %.3g bytes",
			halfulp.ErrMemory, a.format, a.rows, a.width, a.entries, need)
	}
	from := make([]int, a.rows*a.width)
	for k := range from {
		from[k] = -1
	}
	return from, nil
}

// take copies the values from the places from of a matrix, and 0 for place -1.
func (a *Sparse) take(old *Sparse, from []int) {
	b := old.Base()
	if old.Float64() {
		a.doubles, a.values = make([]float64, len(from)), b.NewVector(0)
		for k, l := range from {
			if l >= 0 {
				a.doubles[k] = old.doubles[l]
			}
		}
		return
	}
	a.values = b.NewVector(len(from))
	for k, l := range from {
		if l >= 0 {
			z, v := a.values.val(k), old.values.val(l)
			z.set(&v)
			a.values.put(k, &z)
		}
	}
}

// Diagonal returns the entries (i, i), i < min(rows, cols), on the host; 0 where there is no entry.
// Several entries (i, i) add up in their order, each sum rounded.
func (a *Sparse) Diagonal() (*Vector, error) {
	a, err := a.onHost()
	if err != nil {
		return nil, err
	}
	b := a.Base()
	d, w := b.NewVector(min(a.rows, a.cols)), b.getScratch()
	defer b.putScratch(w)
	var row []entry
	for i := range a.rows {
		at := a.row(i)
		row = a.appendRow(row[:0], i, w.s)
		for _, e := range row {
			if e.column != at {
				continue
			}
			z, v := d.val(at), a.get(e.k, w.s)
			b.addTo(&z, &v, w)
			d.put(at, &z)
		}
	}
	return d, nil
}

// onHost returns a matrix of the host with the entries of a, a itself if it lives there.
func (a *Sparse) onHost() (*Sparse, error) {
	if a.values.arr.where() == nil {
		return a, nil
	}
	return a.Host()
}
