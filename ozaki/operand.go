package ozaki

import (
	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
)

// Constant messages of panics.
const (
	errShape     = "ozaki: shapes do not fit"
	errTranspose = "ozaki: bad Transpose"
	errAlias     = "ozaki: the bounds share storage with an operand"
)

// op returns op(m).
func op(t halfulp.Transpose, m *halfulp.Matrix) num.Mat {
	switch t {
	case halfulp.NoTrans:
		return m.View()
	case halfulp.Trans, halfulp.ConjTrans:
		return m.View().T()
	}
	panic(errTranspose)
}

// part returns the rows i to i1 of the columns j to j1 of m.
func part(m num.Mat, i, i1, j, j1 int) num.Mat {
	m.Off, m.Rows, m.Cols = m.At(i, j), i1-i, j1-j
	return m
}

// extent is the part of the storage that contains the entries of m; m lives on the host.
func extent(m num.Mat) *num.Array {
	if m.Rows == 0 || m.Cols == 0 {
		return m.Arr.Slice(0, 0)
	}
	down, right := (m.Rows-1)*m.RS, (m.Cols-1)*m.CS
	return m.Arr.Slice(m.Off+min(0, down)+min(0, right), m.Off+max(0, down)+max(0, right)+1)
}

// overlap reports whether x and y share entries; on the host, whether they may.
func overlap(x, y num.Mat) bool {
	switch p := place.Of(x.Arr); {
	case p != place.Of(y.Arr):
		return false
	case p != nil:
		return p.Overlap(x, y)
	}
	return extent(x).Overlaps(extent(y))
}

// apart replaces factors that overlap C by copies; free releases them.
func (r *run) apart() (free func(), err error) {
	same, transposed := r.right == r.left, r.right == r.left.T()
	factors := []*num.Mat{&r.left}
	if !same && !transposed {
		factors = append(factors, &r.right)
	}
	free = func() {}
	if r.out.Arr.Away != nil {
		free, err = place.Apart(r.ctx, r.at, r.out, factors...)
	} else {
		for _, m := range factors {
			if overlap(r.out, *m) {
				*m = clone(*m)
			}
		}
	}
	switch {
	case same:
		r.right = r.left
	case transposed:
		r.right = r.left.T()
	}
	return free, err
}

// clone returns a copy of m, a matrix of Float64 that lives on the host.
func clone(m num.Mat) num.Mat {
	z := num.Mat{Arr: num.New(m.Arr.Format, m.Rows*m.Cols), RS: 1, CS: m.Rows, Rows: m.Rows, Cols: m.Cols}
	for j := range m.Cols {
		for i := range m.Rows {
			z.Arr.F64[0][z.At(i, j)] = m.Arr.F64[0][m.At(i, j)]
		}
	}
	return z
}

// array is a matrix of float64 numbers of the host: entry (i, j) is data[off + i rs + j cs]. An
// empty array may begin beyond the storage.
type array struct {
	data       []float64
	off        int
	rs, cs     int
	rows, cols int
}

// view returns m as an array, for m on the host; a Float32 matrix is copied.
func view(m num.Mat) array {
	if m.Arr.Kind == num.F64 {
		return array{m.Arr.F64[0], m.Off, m.RS, m.CS, m.Rows, m.Cols}
	}
	x := num.New(num.Float64, m.Rows*m.Cols)
	for j := range m.Cols {
		for i := range m.Rows {
			x.Convert(i+j*m.Rows, m.Arr, m.At(i, j))
		}
	}
	return array{x.F64[0], 0, 1, m.Rows, m.Rows, m.Cols}
}

func (x array) left() vectors {
	return vectors{data: x.data, off: x.off, vs: x.rs, hs: x.cs, n: x.rows, len: x.cols}
}
func (x array) right() vectors {
	return vectors{data: x.data, off: x.off, vs: x.cs, hs: x.rs, n: x.cols, len: x.rows}
}

// at is the index of entry (i, j).
func (x array) at(i, j int) int { return x.off + i*x.rs + j*x.cs }
