package ozaki

import (
	"unsafe"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/raw"
)

// Constant messages of panics.
const (
	errShape     = "ozaki: shapes do not fit"
	errTranspose = "ozaki: bad Transpose"
	errFormat    = "ozaki: matrices of Float64, or operands of Float32, are wanted"
	errSlices    = "ozaki: slices out of range"
	errBlock     = "ozaki: block out of range"
	errTolerance = "ozaki: tolerance is not a positive number"
	errAlias     = "ozaki: the bounds share storage with an operand"
	errOverlap   = "ozaki: the output overlaps an operand in the memory of a GPU"
	errDevices   = "ozaki: operands on several GPUs"
)

// array is a matrix of float64 numbers: entry (i, j) is data[off + i rs + j cs]. An empty one may begin
// beyond the storage.
type array struct {
	data       []float64
	off        int
	rs, cs     int
	rows, cols int
}

// view returns the storage of m, or of a copy for Float32.
func view(m *halfulp.Matrix) array {
	switch m.Format() {
	case halfulp.Float32:
		m = m.Convert(halfulp.Float64)
	case halfulp.Float64:
	default:
		panic(errFormat)
	}
	x := raw.Matrix(m)
	return array{x.Arr.F64[0], x.Off, x.RS, x.CS, x.Rows, x.Cols}
}

// op returns op(m).
func op(t halfulp.Transpose, m *halfulp.Matrix) array {
	x := view(m)
	switch t {
	case halfulp.NoTrans:
		return x
	case halfulp.Trans, halfulp.ConjTrans:
		return array{x.data, x.off, x.cs, x.rs, x.cols, x.rows}
	}
	panic(errTranspose)
}

func (x array) left() vectors {
	return vectors{data: x.data, off: x.off, vs: x.rs, hs: x.cs, n: x.rows, len: x.cols}
}
func (x array) right() vectors {
	return vectors{data: x.data, off: x.off, vs: x.cs, hs: x.rs, n: x.cols, len: x.rows}
}

// at is the index of entry (i, j).
func (x array) at(i, j int) int { return x.off + i*x.rs + j*x.cs }

// extent is the storage that the entries of x lie in.
func (x array) extent() []float64 {
	if x.rows == 0 || x.cols == 0 {
		return nil
	}
	down, right := (x.rows-1)*x.rs, (x.cols-1)*x.cs
	return x.data[x.off+min(0, down)+min(0, right) : x.off+max(0, down)+max(0, right)+1]
}

// overlap reports whether the entries of x and y may share storage.
func overlap(x, y array) bool {
	a, b := x.extent(), y.extent()
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	address := func(p *float64) uintptr { return uintptr(unsafe.Pointer(p)) }
	return address(&a[0]) <= address(&b[len(b)-1]) && address(&b[0]) <= address(&a[len(a)-1])
}

// clone returns a copy of x.
func (x array) clone() array {
	y := array{make([]float64, x.rows*x.cols), 0, 1, x.rows, x.rows, x.cols}
	for j := range x.cols {
		for i := range x.rows {
			y.data[y.at(i, j)] = x.data[x.at(i, j)]
		}
	}
	return y
}
