package num

import "math/big"

// NewMat returns a rows x cols matrix of +0 on the host.
func NewMat(f Format, rows, cols int) Mat {
	return Mat{Arr: New(f, rows*cols), RS: 1, CS: max(rows, 1), Rows: rows, Cols: cols}
}

// Identity returns the n x n unit matrix.
func Identity(f Format, n int) Mat {
	m := NewMat(f, n, n)
	for i := range n {
		m.SetFloat64(i, i, 1)
	}
	return m
}

// Format returns the format of the entries.
func (m Mat) Format() Format { return m.Arr.Format }

// Dims returns the numbers of rows and columns.
func (m Mat) Dims() (rows, cols int) { return m.Rows, m.Cols }

// Slice returns the view of rows i0 <= i < i1 and columns j0 <= j < j1. It panics if m does not
// have all of them.
func (m Mat) Slice(i0, i1, j0, j1 int) Mat {
	if i0 < 0 || i1 < i0 || i1 > m.Rows || j0 < 0 || j1 < j0 || j1 > m.Cols {
		panic("halfulp: index out of range")
	}
	m.Off, m.Rows, m.Cols = m.At(i0, j0), i1-i0, j1-j0
	return m
}

// Float64 returns the binary64 nearest to entry (i, j), ties to even.
func (m Mat) Float64(i, j int) float64 { return m.Arr.Float64(m.At(i, j)) }

// SetFloat64 rounds x to the format of m and stores it in entry (i, j).
func (m Mat) SetFloat64(i, j int, x float64) { m.Arr.SetFloat64(m.At(i, j), x) }

// Big returns entry (i, j) exactly. It panics with big.ErrNaN for NaN.
func (m Mat) Big(i, j int) *big.Float { return m.Arr.Big(m.At(i, j)) }

// SetBig rounds x to the format of m and stores it in entry (i, j).
func (m Mat) SetBig(i, j int, x *big.Float) { m.Arr.Set(m.At(i, j), RealOf(x)) }

// Entry returns entry (i, j).
func (m Mat) Entry(i, j int) Scalar { return m.Arr.Scalar(m.At(i, j)) }

// SetEntry rounds x to the format of m and stores it in entry (i, j).
func (m Mat) SetEntry(i, j int, x Scalar) { m.Arr.Convert(m.At(i, j), x.Array(), 0) }

// Convert returns a compact copy of m, each entry rounded to nearest even in format f.
func (m Mat) Convert(f Format) Mat {
	z := NewMat(f, m.Rows, m.Cols)
	for j := range m.Cols {
		for i := range m.Rows {
			z.Arr.Convert(z.At(i, j), m.Arr, m.At(i, j))
		}
	}
	return z
}

// Free gives back the memory of a matrix that lives outside the host's memory. All views of the
// matrix lose their numbers with it.
func (m Mat) Free() {
	if m.Arr.Away != nil {
		m.Arr.Away.Free()
	}
}

// OnHost reports whether m lives on the host.
func (m Mat) OnHost() bool { return m.Arr.Away == nil }

// Float64s returns the rows x cols matrix whose storage is data, column by column.
func Float64s(rows, cols int, data []float64) Mat {
	return Mat{Arr: &Array{Format: Float64, F64: [4][]float64{data}}, RS: 1, CS: max(rows, 1), Rows: rows, Cols: cols}
}

// Bigs returns the rows x cols matrix of the numbers in data, column by column, rounded to f.
func Bigs(f Format, rows, cols int, data []*big.Float) Mat {
	m := NewMat(f, rows, cols)
	for i, x := range data {
		m.Arr.Set(i, RealOf(x))
	}
	return m
}
