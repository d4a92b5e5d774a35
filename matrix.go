package halfulp

import (
	"math"
	"math/big"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
	"gonum.org/v1/gonum/mat"
)

// Constant messages of shape panics, as in gonum.
const (
	errNegativeDim = "halfulp: negative dimension"
	errLD          = "halfulp: leading dimension smaller than the number of rows"
	errStride      = "halfulp: stride smaller than the number of columns"
	errRagged      = "halfulp: rows of different lengths"
	errShort       = "halfulp: slice too short for the shape"
	errIndex       = "halfulp: index out of range"
	errInc         = "halfulp: zero stride"
	errFormat      = "halfulp: formats differ"
	errTooMany     = num.TooMany
	errNoC         = "halfulp: no C for a beta that is not zero"
	errShape       = "halfulp: shapes do not fit"
	errTranspose   = "halfulp: bad Transpose"
	errUplo        = "halfulp: bad Uplo"
	errSide        = "halfulp: bad Side"
	errDiag        = "halfulp: bad Diag"
	errBand        = "halfulp: the rows of a band's matrix are not its diagonals"
	errRotmFlag    = "halfulp: bad RotmFlag"
	errHost        = "halfulp: entries of a matrix or vector that lives on a device: Host copies it"
	errFreed       = place.Freed
	errGaps        = "halfulp: entries do not lie at equal distances"
	errNilMatrix   = "halfulp: nil Matrix"
	errNilVector   = "halfulp: nil Vector"
	errNilGonum    = "halfulp: nil matrix of gonum"
)

// Matrix is a rows x cols matrix of numbers in one format, or a view of one. It is stored column by
// column as a structure of arrays with a leading dimension (the distance of columns). T, Slice,
// Row, Col and Vec return views, which share storage with their matrix. A matrix lives on the host
// or on a device: see On, Host and Device. The zero Matrix is a Float64 matrix of no rows and no
// columns.
type Matrix struct {
	m        num.Mat
	prepared *place.Kept // of Prepare, else nil
}

// none is the storage of zero matrices and vectors.
var none = num.New(num.Float64, 0)

// mat returns the storage and shape of m. It panics for nil: every routine calls mat or
// [Matrix.View] for each of its matrices.
func (m *Matrix) mat() num.Mat {
	if m == nil {
		panic(errNilMatrix)
	}
	if m.m.Arr == nil {
		return num.Mat{Arr: none, RS: 1, CS: 1}
	}
	return m.m
}

// NewMatrix returns a rows x cols matrix of +0 with leading dimension rows. It panics if rows or
// cols is negative, or if the number of entries does not fit an int.
func NewMatrix(f Format, rows, cols int) *Matrix {
	return NewMatrixLD(f, rows, cols, max(rows, 1))
}

// Identity returns the n x n identity matrix.
func Identity(f Format, n int) *Matrix {
	m := NewMatrix(f, n, n)
	for i := range n {
		m.SetFloat64(i, i, 1)
	}
	return m
}

// NewMatrixLD returns a rows x cols matrix of +0 with leading dimension ld. It panics if rows or
// cols is negative, if ld < max(rows, 1), or if the number of entries, gaps included, does not fit
// an int.
func NewMatrixLD(f Format, rows, cols, ld int) *Matrix {
	if rows < 0 || cols < 0 {
		panic(errNegativeDim)
	}
	if ld < max(rows, 1) {
		panic(errLD)
	}
	n, ok := extent(rows, cols, ld)
	if !ok {
		panic(errTooMany)
	}
	return &Matrix{m: num.Mat{Arr: num.New(f.View(), n), RS: 1, CS: ld, Rows: rows, Cols: cols}}
}

// extent returns the number of storage locations that a rows x cols matrix with leading dimension
// ld >= rows extends over, gaps included: ld (cols - 1) + rows, or 0 for an empty matrix. ok is
// false if this number does not fit an int.
func extent(rows, cols, ld int) (n int, ok bool) {
	if rows == 0 || cols == 0 {
		return 0, true
	}
	if cols-1 > (math.MaxInt-rows)/ld {
		return 0, false
	}
	return ld*(cols-1) + rows, true
}

// NewMatrixFloat64 returns a Float64 matrix that uses data as its storage, column by column: entry
// (i, j) is data[i + j ld]. It panics if rows or cols is negative, if ld < max(rows, 1), or if data
// is too short. For data stored row by row use [NewMatrixFloat64RowMajor].
func NewMatrixFloat64(rows, cols, ld int, data []float64) *Matrix {
	if rows < 0 || cols < 0 {
		panic(errNegativeDim)
	}
	if ld < max(rows, 1) {
		panic(errLD)
	}
	if n, ok := extent(rows, cols, ld); !ok || len(data) < n {
		panic(errShort)
	}
	a := &num.Array{Format: num.Float64, F64: [4][]float64{data}}
	return &Matrix{m: num.Mat{Arr: a, RS: 1, CS: ld, Rows: rows, Cols: cols}}
}

// NewMatrixFloat64RowMajor returns a Float64 matrix that uses data as its storage, row by row:
// entry (i, j) is data[i stride + j], as in C, in NumPy and in the RawMatrix of gonum's mat.Dense.
// Routines accept it like any other matrix. It equals NewMatrixFloat64(cols, rows, stride,
// data).T(). It panics unless stride >= max(cols, 1) and data reaches to the last entry.
func NewMatrixFloat64RowMajor(rows, cols, stride int, data []float64) *Matrix {
	if stride < max(cols, 1) {
		panic(errStride)
	}
	return NewMatrixFloat64(cols, rows, stride, data).T()
}

// FromRows returns the matrix with the given rows, each number rounded to format f. No rows give a
// 0 x 0 matrix. It panics if the rows differ in length.
func FromRows(f Format, rows [][]float64) *Matrix {
	cols := 0
	if len(rows) > 0 {
		cols = len(rows[0])
	}
	m := NewMatrix(f, len(rows), cols)
	for i, row := range rows {
		if len(row) != cols {
			panic(errRagged)
		}
		for j, x := range row {
			m.SetFloat64(i, j, x)
		}
	}
	return m
}

// NewMatrixBig returns the rows x cols matrix whose entry (i, j) is data[i + j rows] rounded to
// format f. It panics if data is too short. For data stored row by row use NewMatrixBig(f, cols,
// rows, data).T().
func NewMatrixBig(f Format, rows, cols int, data []*big.Float) *Matrix {
	m := NewMatrix(f, rows, cols)
	if len(data) < rows*cols {
		panic(errShort)
	}
	for j := range cols {
		for i := range rows {
			m.SetBig(i, j, data[i+j*rows])
		}
	}
	return m
}

// FromGonum returns a copy of a in format f. Entries are rounded if f is Float32 or an MP of fewer
// than 53 bits. It panics for nil.
func FromGonum(f Format, a mat.Matrix) *Matrix {
	if a == nil {
		panic(errNilGonum)
	}
	r, c := a.Dims()
	m := NewMatrix(f, r, c)
	for j := range c {
		for i := range r {
			m.SetFloat64(i, j, a.At(i, j))
		}
	}
	return m
}

// Gonum returns a copy of m as a gonum matrix, each entry rounded to the nearest
// binary64. It panics for an empty matrix, which gonum cannot hold.
func (m *Matrix) Gonum() *mat.Dense {
	d := mat.NewDense(m.mat().Rows, m.mat().Cols, nil)
	for i := range m.mat().Rows {
		for j := range m.mat().Cols {
			d.Set(i, j, m.Float64(i, j))
		}
	}
	return d
}

// GonumView returns m for gonum's functions, without a copy: an entry is read from m at every
// access and rounded to the nearest binary64. See [Matrix.RawFloat64] for the storage.
func (m *Matrix) GonumView() mat.Matrix { return gonumView{m} }

type gonumView struct{ m *Matrix }

func (v gonumView) Dims() (rows, cols int) { return v.m.Dims() }
func (v gonumView) At(i, j int) float64    { return v.m.Float64(i, j) }
func (v gonumView) T() mat.Matrix          { return gonumView{v.m.T()} }

// Dims returns the numbers of rows and columns.
func (m *Matrix) Dims() (rows, cols int) { return m.mat().Rows, m.mat().Cols }

// Rows returns the number of rows.
func (m *Matrix) Rows() int { return m.mat().Rows }

// Cols returns the number of columns.
func (m *Matrix) Cols() int { return m.mat().Cols }

// NumberFormat returns the format of the entries.
func (m *Matrix) NumberFormat() Format { return FormatOf(m.mat().Arr.Format) }

// T returns the transpose as a view.
func (m *Matrix) T() *Matrix { return &Matrix{m: m.mat().T()} }

// Slice returns the view of rows i0 <= i < i1 and columns j0 <= j < j1.
func (m *Matrix) Slice(i0, i1, j0, j1 int) *Matrix {
	if i0 < 0 || i1 < i0 || i1 > m.mat().Rows || j0 < 0 || j1 < j0 || j1 > m.mat().Cols {
		panic(errIndex)
	}
	v := m.mat()
	v.Off, v.Rows, v.Cols = v.At(i0, j0), i1-i0, j1-j0
	return &Matrix{m: v}
}

// Row returns row i as a view.
func (m *Matrix) Row(i int) *Vector {
	if i < 0 || i >= m.mat().Rows {
		panic(errIndex)
	}
	return &Vector{m.mat().Row(i)}
}

// Col returns column j as a view.
func (m *Matrix) Col(j int) *Vector {
	if j < 0 || j >= m.mat().Cols {
		panic(errIndex)
	}
	return &Vector{m.mat().Col(j)}
}

// Vec returns vec(m), the entries of m column by column. The result is a view if the entries lie at
// equal distances, otherwise a copy. On a device Vec returns views only, and panics if the entries
// do not lie at equal distances.
func (m *Matrix) Vec() *Vector {
	v := num.Vec{Arr: m.mat().Arr, Off: m.mat().Off, Inc: m.mat().RS, N: m.mat().Rows * m.mat().Cols}
	switch {
	case v.N == 0, m.mat().Cols <= 1, m.mat().CS == m.mat().RS*m.mat().Rows:
		return &Vector{v}
	case m.mat().Rows == 1:
		v.Inc = m.mat().CS
		return &Vector{v}
	case m.mat().Arr.Away != nil:
		panic(errGaps)
	}
	v = num.Vec{Arr: m.mat().Copy().Arr, Inc: 1, N: v.N}
	return &Vector{v}
}

// at returns the index of entry (i, j) in the storage.
func (m *Matrix) at(i, j int) int {
	if m == nil {
		panic(errNilMatrix)
	}
	if i < 0 || i >= m.m.Rows || j < 0 || j >= m.m.Cols {
		panic(errIndex)
	}
	needHost(m.m.Arr)
	return m.m.At(i, j)
}

// At returns entry (i, j).
func (m *Matrix) At(i, j int) Scalar {
	k := m.at(i, j)
	return Scalar{m.m.Arr.Scalar(k)}
}

// Set rounds x to the format of m and stores it in entry (i, j).
func (m *Matrix) Set(i, j int, x Scalar) {
	k := m.at(i, j)
	m.m.Arr.Convert(k, x.array(), 0)
}

// Float64 returns the binary64 nearest to entry (i, j).
func (m *Matrix) Float64(i, j int) float64 {
	k := m.at(i, j)
	return m.m.Arr.Float64(k)
}

// SetFloat64 rounds x to the format of m and stores it in entry (i, j).
func (m *Matrix) SetFloat64(i, j int, x float64) {
	k := m.at(i, j)
	m.m.Arr.SetFloat64(k, x)
}

// Big returns entry (i, j) exactly. It panics with big.ErrNaN for NaN.
func (m *Matrix) Big(i, j int) *big.Float {
	k := m.at(i, j)
	return m.m.Arr.Big(k)
}

// SetBig rounds x to the format of m and stores it in entry (i, j).
func (m *Matrix) SetBig(i, j int, x *big.Float) {
	k := m.at(i, j)
	m.m.Arr.Set(k, num.RealOf(x))
}

// Convert returns a copy of m in format f, each entry rounded to nearest even. To convert on all
// threads, or with a context, use [Copy] on m.Vec().
func (m *Matrix) Convert(f Format) *Matrix {
	needHost(m.mat().Arr)
	z := NewMatrix(f, m.mat().Rows, m.mat().Cols)
	for j := range m.mat().Cols {
		for i := range m.mat().Rows {
			z.mat().Arr.Convert(z.mat().At(i, j), m.mat().Arr, m.mat().At(i, j))
		}
	}
	return z
}

// Clone returns a copy of m with its own storage and leading dimension rows.
func (m *Matrix) Clone() *Matrix { return m.Convert(m.NumberFormat()) }

// Same reports whether a and b have the same shape, format and bits.
func (m *Matrix) Same(b *Matrix) bool {
	needHost(m.mat().Arr)
	needHost(b.mat().Arr)
	if m.mat().Rows != b.mat().Rows || m.mat().Cols != b.mat().Cols || m.NumberFormat() != b.NumberFormat() {
		return false
	}
	for j := range m.mat().Cols {
		for i := range m.mat().Rows {
			if !m.mat().Arr.SameBits(m.mat().At(i, j), b.mat().Arr, b.mat().At(i, j)) {
				return false
			}
		}
	}
	return true
}

// RawFloat64 returns the storage of a Float64 matrix of the host whose columns are contiguous:
// entry (i, j) is data[i + j ld]. ok is false for other matrices. For a matrix in row-major order
// use m.T().RawFloat64().
func (m *Matrix) RawFloat64() (data []float64, ld int, ok bool) {
	if m.mat().Arr.Kind != num.F64 || m.mat().RS != 1 || m.mat().Arr.Away != nil {
		return nil, 0, false
	}
	if m.mat().Rows == 0 || m.mat().Cols == 0 { // may begin beyond the storage
		return nil, m.mat().CS, true
	}
	return m.mat().Arr.F64[0][m.mat().Off:], m.mat().CS, true
}

// needHost panics unless the numbers live on the host.
func needHost(a *num.Array) {
	if a.Away != nil {
		panic(errHost)
	}
}
