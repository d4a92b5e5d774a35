package seed

import (
	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/gpu/mem"
)

// beside is the number of rows or columns beside a step's that a block of triangularInverses
// stores.
const beside = threads / block

// Triangles computes approximate inverses of the triangular factors of P F = L U, where F is as in
// Inverse and the permutation P makes row order[j] of F row j of P F. It stores L^-1 in the n x n
// matrix z and U^-1 in u, both of Float64, which must be zero and share no entry. Their other
// triangles stay zero, and the diagonal of L^-1 is exactly 1. The error has no other known bound.
// The result is not ok, and z and u unspecified, in the cases in which the seed of Inverse is not
// ok.
func Triangles(s *cuda.Stream, a, z, u mem.Matrix) (rows, cols []int64, order []int32, ok bool, err error) {
	return triangles(s, a, z, u, searches, widthFor(a.Rows, panelsFrom))
}

func triangles(s *cuda.Stream, a, z, u mem.Matrix, ways []search, width int) (rows, cols []int64, order []int32, ok bool, err error) {
	for _, way := range ways {
		if rows, cols, order, ok, err = factor(s, a, z, u, way, width); ok || err != nil {
			break
		}
	}
	return rows, cols, order, ok, err
}

func factor(s *cuda.Stream, a, z, u mem.Matrix, way search, width int) (rows, cols []int64, order []int32, ok bool, err error) {
	m, n := a.Rows, a.Cols
	if n == 0 || m > MaxOrder || way == partial && !fitsPanel(s.Device(), paddedRows(a)) {
		return make([]int64, m), make([]int64, n), make([]int32, n), n == 0, nil
	}
	z.Changed()
	u.Changed()
	w, err := newWork(s, a, 0, n, way, width)
	if err != nil {
		return nil, nil, nil, false, err
	}
	defer w.free()
	if way == partial {
		if err := w.pivotPartially(); err != nil {
			return nil, nil, nil, false, err
		}
	}
	w.to = &abi.Triangles{N: int32(n), Rows: int32(m),
		Lower: first(z), LowerRS: int64(z.RS), LowerCS: int64(z.CS),
		Upper: first(u), UpperRS: int64(u.RS), UpperCS: int64(u.CS)}
	for _, stage := range []func() error{w.equilibrate, w.fill, w.eliminate} {
		if err := stage(); err != nil {
			return nil, nil, nil, false, err
		}
	}
	there, err := s.Fetch(w.g.Order, 4*n)
	if err != nil {
		return nil, nil, nil, false, err
	}
	defer there.Drop()
	if rows, cols, ok, err = w.report(); err != nil {
		return nil, nil, nil, false, err
	}
	order = make([]int32, n)
	return rows, cols, order, ok, cuda.Arrive(there, order)
}

// first returns the address of the first entry of a Float64 matrix.
func first(m mem.Matrix) cuda.Pointer { return m.Arr.Plane(0) + cuda.Pointer(8*m.Off) }

// triangles stores the part of the inverses that results from a panel, which ends before column
// end, if the inverses are wanted.
func (w *work) triangles(s *cuda.Stream, end int) error {
	if w.to == nil {
		return nil
	}
	return w.launch(s, "triangularInverses", cuda.Dim{X: end / beside, Y: 2, Z: (end - int(w.g.Panel)) / block}, 0, w.g, *w.to)
}

// updateTriangles updates columns by the factors of a step, which is a panel of its own, and stores
// the part of the inverses that results from the step.
func (w *work) updateTriangles(s *cuda.Stream, c stretch) error {
	f, err := w.kernels.Function(s, source(s, "seed/seed"), "stepTriangles")
	if err != nil {
		return err
	}
	blocks := w.tiles(c, block) + 2*(int(w.g.First)+block)/beside
	return f.Launch(s, cuda.Dim{X: blocks}, cuda.Dim{X: threads}, updateShared(block), w.g, int32(c.begin), int32(c.end), *w.to)
}
