package rns

import (
	"errors"
	"fmt"
	"slices"
)

// ErrCSR is wrapped by the errors of NewCSR.
var ErrCSR = errors.New("rns: invalid sparse matrix")

// CSR is a sparse matrix by compressed rows: row i has the entries
// RowPtr[i] ≤ k < RowPtr[i+1], Values.At(k) in column Cols[k].
type CSR struct {
	rows, cols int
	rowPtr     []int
	colIndex   []int32
	values     *Vector
}

// NewCSR returns the rows x cols matrix with the given row pointers, column indices and
// values. The values are its storage; the indices are copied. Columns of a row may be in any
// order; entries of one place add up. Errors wrap ErrCSR.
func NewCSR(rows, cols int, rowPtr []int, colIndex []int32, values *Vector) (*CSR, error) {
	if rows < 0 || cols < 0 || len(rowPtr) != rows+1 || rowPtr[0] != 0 {
		return nil, fmt.Errorf("%w: %d row pointers for %d rows", ErrCSR, len(rowPtr), rows)
	}
	for i := range rows {
		if rowPtr[i] > rowPtr[i+1] {
			return nil, fmt.Errorf("%w: row pointers decrease at row %d", ErrCSR, i)
		}
	}
	if n := rowPtr[rows]; n != len(colIndex) || n != values.n {
		return nil, fmt.Errorf("%w: %d entries, %d columns, %d values", ErrCSR, n, len(colIndex), values.n)
	}
	for k, j := range colIndex {
		if j < 0 || int(j) >= cols {
			return nil, fmt.Errorf("%w: column %d of entry %d", ErrCSR, j, k)
		}
	}
	return &CSR{rows, cols, slices.Clone(rowPtr), slices.Clone(colIndex), values}, nil
}

// Dims returns the numbers of rows and columns.
func (a *CSR) Dims() (rows, cols int) { return a.rows, a.cols }

// SpMV sets y_i = Σ fl(a_ij x_j), the entries of a row in their order summed recursively.
// y must not overlap A and x.
func SpMV(a *CSR, x, y *Vector, o *Options) {
	b := a.values.arr.b
	if !b.same(x.arr.b) || !b.same(y.arr.b) {
		panic(errBase)
	}
	if x.n != a.cols || y.n != a.rows {
		panic(errShape)
	}
	p := o.with()
	p.each(b, a.rows, func(lo, hi int, w *scratch) {
		t := val{x: w.s}
		for i := lo; i < hi; i++ {
			z := y.val(i)
			z.setZero()
			for k := a.rowPtr[i]; k < a.rowPtr[i+1]; k++ {
				u, v := a.values.val(k), x.val(int(a.colIndex[k]))
				b.mul(&t, &u, &v, w)
				b.addTo(&z, &t, w)
			}
			y.put(i, &z)
		}
	})
}
