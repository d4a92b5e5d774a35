package rns

import (
	"context"
	"math"
	"runtime"
	"slices"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/place"
)

// Array stores numbers of one base as a structure of arrays, the mp_array_t of the papers (001,
// table 2). The fields hold L numbers with n moduli on the host:
type Array struct {
	Digits []uint32 // n L residues, of number i at [n i, n (i + 1))
	Sign   []int32  // L signs, 0 or 1
	Exp    []int32  // L exponents
	Eval   []XFloat // L lower bounds of the interval evaluations, then L upper bounds

	b    *Base
	away num.Storage // the numbers of an array on a device; then the slices above are nil
	at   place.Place
}

// Constant messages of shape panics.
const (
	errNegativeDim = "rns: negative dimension"
	errInc         = "rns: zero stride"
	errLD          = "rns: leading dimension smaller than the number of rows"
	errShort       = "rns: array too short for the shape"
	errIndex       = "rns: index out of range"
	errShape       = "rns: shapes do not fit"
	errTranspose   = "rns: bad Transpose"
	errNorm        = "rns: bad Norm"
	errSide        = "rns: bad Side"
	errUplo        = "rns: bad Uplo"
)

// NewArray returns an array of n zeros.
func (b *Base) NewArray(n int) *Array {
	if n < 0 {
		panic(errNegativeDim)
	}
	return &Array{
		Digits: make([]uint32, n*b.n), Sign: make([]int32, n), Exp: make([]int32, n),
		Eval: make([]XFloat, 2*n), b: b,
	}
}

// Base returns the base of the numbers.
func (a *Array) Base() *Base { return a.b }

// Len returns the number of numbers.
func (a *Array) Len() int {
	if a.away != nil {
		return a.away.Len()
	}
	return len(a.Exp)
}

// val returns number i, which shares its residues with the array.
func (a *Array) val(i int) val {
	n := a.b.n
	return val{
		x:  a.Digits[i*n : (i+1)*n : (i+1)*n],
		ev: Interval{a.Eval[i], a.Eval[len(a.Exp)+i]}, exp: a.Exp[i], neg: a.Sign[i] != 0,
	}
}

// put stores all of v but the residues, which it shares with number i.
func (a *Array) put(i int, v *val) {
	a.Sign[i] = 0
	if v.neg {
		a.Sign[i] = 1
	}
	a.Exp[i], a.Eval[i], a.Eval[len(a.Exp)+i] = v.exp, v.ev.Lo, v.ev.Up
}

// Vector is a view of n numbers of an array with a stride.
type Vector struct {
	arr         *Array
	off, inc, n int
}

// NewVector returns a vector of n zeros.
func (b *Base) NewVector(n int) *Vector { return &Vector{b.NewArray(n), 0, 1, n} }

// Vector returns the vector of n numbers of the array that starts at offset, entry i at
// offset + i inc, or offset + (n-1-i) |inc| for inc < 0, as in BLAS.
func (a *Array) Vector(offset, n, inc int) *Vector {
	return &Vector{a, vectorOffset(a.Len(), offset, n, inc), inc, n}
}

// vectorOffset returns where entry 0 of a vector is in an array of length numbers.
func vectorOffset(length, offset, n, inc int) int {
	switch {
	case n < 0 || offset < 0:
		panic(errNegativeDim)
	case inc == 0:
		panic(errInc)
	case n > 0 && length-offset < 1:
		panic(errShort)
	case n > 1 && (inc > (length-offset-1)/(n-1) || inc < -((length-offset-1)/(n-1))):
		panic(errShort)
	}
	if inc < 0 && n > 0 {
		offset += (1 - n) * inc
	}
	return offset
}

// Len returns the number of entries.
func (x *Vector) Len() int { return x.n }

// Base returns the base of the entries.
func (x *Vector) Base() *Base { return x.arr.b }

// Array returns the storage, and where in it the entries are: number offset + i inc.
func (x *Vector) Array() (a *Array, offset, inc int) { return x.arr, x.off, x.inc }

// Slice returns the view of the entries i0 ≤ i < i1.
func (x *Vector) Slice(i0, i1 int) *Vector {
	if i0 < 0 || i1 < i0 || i1 > x.n {
		panic(errIndex)
	}
	return &Vector{x.arr, x.off + i0*x.inc, x.inc, i1 - i0}
}

func (x *Vector) val(i int) val     { return x.arr.val(x.off + i*x.inc) }
func (x *Vector) put(i int, v *val) { x.arr.put(x.off+i*x.inc, v) }

func (x *Vector) index(i int) int {
	if i < 0 || i >= x.n {
		panic(errIndex)
	}
	return i
}

// At returns entry i of a vector of the host.
func (x *Vector) At(i int) *Number {
	x.arr.needHost()
	v := x.val(x.index(i))
	return numberOf(x.arr.b, &v)
}

func numberOf(b *Base, v *val) *Number {
	z := b.NewNumber()
	z.v.set(v)
	return z
}

// Set stores s in entry i of a vector of the host.
func (x *Vector) Set(i int, s *Number) {
	x.arr.needHost()
	if !x.arr.b.same(s.b) {
		panic(errBase)
	}
	v := x.val(x.index(i))
	v.set(&s.v)
	x.put(i, &v)
}

// Clone returns a copy of a vector of the host with its own storage and stride 1.
func (x *Vector) Clone() *Vector {
	x.arr.needHost()
	z := x.arr.b.NewVector(x.n)
	z.view().copyFrom(x.view())
	return z
}

// Same reports whether two vectors of the host have the same length, base and bits: residues,
// signs, exponents and evaluations.
func (x *Vector) Same(y *Vector) bool {
	x.arr.needHost()
	y.arr.needHost()
	if x.n != y.n || !x.arr.b.same(y.arr.b) {
		return false
	}
	for i := range x.n {
		u, v := x.val(i), y.val(i)
		if u.ev != v.ev || u.exp != v.exp || u.neg != v.neg || !slices.Equal(u.x, v.x) {
			return false
		}
	}
	return true
}

// VectorFloat64 returns the vector of the numbers of data, each as Number.SetFloat64
// converts it.
func (b *Base) VectorFloat64(data []float64) *Vector {
	z := b.NewVector(len(data))
	for i, d := range data {
		v := z.val(i)
		b.setFloat64(&v, d)
		z.put(i, &v)
	}
	return z
}

// VectorOf returns the numbers of x, which lives on the host, each as Number.SetScalar converts it.
func (b *Base) VectorOf(x *halfulp.Vector) *Vector {
	z := b.NewVector(x.Len())
	z.setScalars(x)
	return z
}

// setScalars converts all entries on all processors.
func (x *Vector) setScalars(from *halfulp.Vector) {
	parts := (x.n + grain - 1) / grain
	// The context is never cancelled: there is no error.
	_ = par.For(context.Background(), runtime.GOMAXPROCS(0), parts, func(_, k int) {
		s := x.arr.b.NewNumber()
		for i := k * grain; i < min((k+1)*grain, x.n); i++ {
			if from.NumberFormat() == halfulp.Float64 {
				x.Set(i, s.SetFloat64(from.Float64(i)))
			} else {
				x.Set(i, s.SetScalar(from.At(i)))
			}
		}
	})
}

// In returns the entries of a vector of the host rounded to nearest even in format f.
func (x *Vector) In(f halfulp.Format) *halfulp.Vector {
	z := halfulp.NewVector(f, x.n)
	for i := range x.n {
		z.Set(i, x.At(i).Scalar(f))
	}
	return z
}

// Matrix is a view of numbers of an array as a matrix stored column by column, entry
// (i, j) at offset + i + j ld.
type Matrix struct {
	arr             *Array
	off, rows, cols int
	ld              int
}

// NewMatrix returns a rows x cols matrix of zeros with leading dimension rows.
func (b *Base) NewMatrix(rows, cols int) *Matrix { return b.NewMatrixLD(rows, cols, max(rows, 1)) }

// NewMatrixLD returns a rows x cols matrix of zeros with leading dimension ld. It panics
// if ld < max(rows, 1).
func (b *Base) NewMatrixLD(rows, cols, ld int) *Matrix {
	if rows < 0 || cols < 0 {
		panic(errNegativeDim)
	}
	if cols > 0 && ld > math.MaxInt/cols {
		panic(errLD)
	}
	return b.NewArray(ld*cols).Matrix(0, rows, cols, ld)
}

// Matrix returns the rows x cols matrix whose entry (i, j) is number offset + i + j ld.
func (a *Array) Matrix(offset, rows, cols, ld int) *Matrix {
	checkMatrix(a.Len(), offset, rows, cols, ld)
	return &Matrix{a, offset, rows, cols, ld}
}

// checkMatrix panics unless the matrix fits an array of length numbers.
func checkMatrix(length, offset, rows, cols, ld int) {
	switch {
	case rows < 0 || cols < 0 || offset < 0:
		panic(errNegativeDim)
	case ld < max(rows, 1):
		panic(errLD)
	case rows > 0 && cols > 0 && (length-offset < rows || cols > 1 && (length-offset-rows)/(cols-1) < ld):
		panic(errShort)
	}
}

// Dims returns the numbers of rows and columns.
func (m *Matrix) Dims() (rows, cols int) { return m.rows, m.cols }

// Base returns the base of the entries.
func (m *Matrix) Base() *Base { return m.arr.b }

// Array returns the storage, and where in it the entries are: offset + i + j ld.
func (m *Matrix) Array() (a *Array, offset, ld int) { return m.arr, m.off, m.ld }

// Row returns row i as a view.
func (m *Matrix) Row(i int) *Vector {
	if i < 0 || i >= m.rows {
		panic(errIndex)
	}
	return &Vector{m.arr, m.off + i, m.ld, m.cols}
}

// Col returns column j as a view.
func (m *Matrix) Col(j int) *Vector {
	if j < 0 || j >= m.cols {
		panic(errIndex)
	}
	return &Vector{m.arr, m.off + j*m.ld, 1, m.rows}
}

func (m *Matrix) val(i, j int) val     { return m.arr.val(m.off + i + j*m.ld) }
func (m *Matrix) put(i, j int, v *val) { m.arr.put(m.off+i+j*m.ld, v) }

// At returns entry (i, j) of a matrix of the host.
func (m *Matrix) At(i, j int) *Number { return m.Row(i).At(j) }

// Set stores s in entry (i, j) of a matrix of the host.
func (m *Matrix) Set(i, j int, s *Number) { m.Row(i).Set(j, s) }

// Same reports whether two matrices of the host have the same shape, base and bits.
func (m *Matrix) Same(b *Matrix) bool {
	if m.rows != b.rows || m.cols != b.cols {
		return false
	}
	for j := range m.cols {
		if !m.Col(j).Same(b.Col(j)) {
			return false
		}
	}
	return true
}

// MatrixOf returns the numbers of a, which lives on the host, each as Number.SetScalar converts it.
func (b *Base) MatrixOf(a *halfulp.Matrix) *Matrix {
	rows, cols := a.Dims()
	m := b.NewMatrix(rows, cols)
	for j := range cols {
		m.Col(j).setScalars(a.Col(j))
	}
	return m
}

// In returns the entries of a matrix of the host rounded to nearest even in format f.
func (m *Matrix) In(f halfulp.Format) *halfulp.Matrix {
	z := halfulp.NewMatrix(f, m.rows, m.cols)
	for j := range m.cols {
		for i := range m.rows {
			z.Set(i, j, m.At(i, j).Scalar(f))
		}
	}
	return z
}
