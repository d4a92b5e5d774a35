package rows

import (
	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/direct"
	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/gpu/launch"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/num"
)

// Band, symmetric and triangular matrices in device memory; kernels/rows/structured.cu implements
// the arithmetic.

const (
	fillThreads = 256 // of a block
	fillColumns = 1<<16 - 1
)

// fillGrid returns the grid of kernels whose threads process one row each, in the columns of their
// block.
func fillGrid(rows, cols int) cuda.Dim {
	return cuda.Dim{X: (rows + fillThreads - 1) / fillThreads, Y: min(cols, fillColumns)}
}

func runStructured(s *cuda.Stream, kernel string, rows, cols int, args any) error {
	if rows == 0 || cols == 0 {
		return nil
	}
	f, err := launch.KernelsOf(s).Function(s, "rows/structured", kernel)
	if err != nil {
		return err
	}
	return f.Launch(s, fillGrid(rows, cols), cuda.Dim{X: fillThreads}, 0, args)
}

// Fill sets z to the entries from (i0, j0) on of the structured matrix that view stores with layout
// l, and to zero outside of its stored structure.
func Fill(s *cuda.Stream, l direct.Layout, view mem.Matrix, i0, j0 int, z mem.Matrix) error {
	z.Changed()
	f := abi.Filling{X: abi.RowsOf(view), Z: abi.TargetOf(z), I0: int64(i0), J0: int64(j0),
		Below: int32(l.Below), Above: int32(l.Above), Unit: abi.Flag(l.Unit)}
	f.X.N, f.X.K = int32(z.Rows), int32(z.Cols)
	switch {
	case l.Packed && l.Upper:
		f.Layout = abi.LayoutPackedUpper
	case l.Packed:
		f.Layout, f.Order = abi.LayoutPackedLower, int64(l.Below)
	case l.Symmetric:
		f.Layout = abi.LayoutSymmetric
	}
	return runStructured(s, "fill", z.Rows, z.Cols, f)
}

// Widen sets z = x. The format of z must hold all numbers of the format of x: see [Widens].
func Widen(s *cuda.Stream, x, z mem.Matrix) error {
	return Fill(s, direct.Layout{Below: x.Rows, Above: x.Cols}, x, 0, 0, z)
}

// Copy sets z = x for views of the same shape and format, which may overlap.
func Copy(s *cuda.Stream, x, z mem.Matrix) error {
	if done, err := z.Copy(s, x); done {
		return err
	}
	if !z.Overlaps(x) {
		return Widen(s, x, z)
	}
	a, err := mem.NewArray(s, x.Arr.Format, x.Rows*x.Cols)
	if err != nil {
		return err
	}
	defer a.Free()
	m := mem.Matrix{Arr: a, RS: 1, CS: x.Rows, Rows: x.Rows, Cols: x.Cols}
	if err := Widen(s, x, m); err != nil {
		return err
	}
	return Widen(s, m, z)
}

// Widens reports whether Widen can convert numbers of format f to format g.
func Widens(f, g num.Format) bool {
	switch {
	case f == g:
		return true
	case f.Terms() > 1 && g.Kind == num.MP:
		return false
	}
	return f.Kind <= g.Kind && (g.Kind != num.MP || f.Prec <= g.Prec)
}

// Plain reports whether x has no infinity, no NaN and no number whose terms overlap.
func Plain(s *cuda.Stream, x mem.Matrix) (bool, error) {
	if x.Rows == 0 || x.Cols == 0 {
		return true, nil
	}
	count, err := s.Alloc(4)
	if err != nil {
		return false, err
	}
	defer count.Free()
	if err := s.Zero(count.Pointer(), 4); err != nil {
		return false, err
	}
	if err := runStructured(s, "odd", x.Rows, x.Cols, abi.Looking{X: abi.RowsOf(x), Count: count.Pointer()}); err != nil {
		return false, err
	}
	var n [1]uint32
	err = cuda.Download(s, n[:], count.Pointer())
	return n[0] == 0, err
}

// MendZeros applies direct.Structured.MendZero to all entries of c = alpha m b + beta old. m has
// the entries from (i0, j0) on of a matrix with layout l. If beta = 0, old is not read. m, b and
// old must be plain: see [Plain].
func MendZeros(s *cuda.Stream, l direct.Layout, alpha num.Real, m mem.Matrix, i0, j0 int, b mem.Matrix, beta num.Real, old, c mem.Matrix) error {
	k := abi.Mending{S: abi.RowsOf(m), B: abi.RowsOf(b.T()), C: abi.TargetOf(c), I0: int64(i0), J0: int64(j0),
		Below: int32(l.Below), Above: int32(l.Above), Neg: abi.Flag(alpha.Neg), NegBeta: abi.Flag(beta.Neg)}
	if beta.Class != num.Zero {
		k.Adds, k.Old = 1, abi.RowsOf(old)
	}
	return runStructured(s, "mend", c.Rows, c.Cols, k)
}
