package seed

import (
	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/gpu/mem"
)

// PivotedTriangles is Triangles with partial pivoting for an m x n matrix A, m ≥ n, whose rows are
// not scaled: the pivot of a column is its largest entry, as far as float64 arithmetic tells. The
// triangles are those of the n rows of pivots, which are what the order has. It is not ok for
// matrices of more rows than the GPU's multiprocessors take at a time, 256 each.
func PivotedTriangles(s *cuda.Stream, a, z, u mem.Matrix) (rows, cols []int64, order []int32, ok bool, err error) {
	return factor(s, a, z, u, partial, widthFor(a.Rows, panelsFrom))
}

// panelBlocks returns how many blocks have that many rows of a panel.
func panelBlocks(rows int) int { return (rows + node - 1) / node }

// fitsPanel reports whether a panel of that many rows fits the multiprocessors of a device, whose
// blocks may wait for each other.
func fitsPanel(d *cuda.Device, rows int) bool {
	info := d.Info()
	return info.Cooperative == 1 && panelBlocks(rows) <= min(info.Multiprocessors, node)
}

// pivotPartially makes partial pivoting the way to choose pivot rows.
func (w *work) pivotPartially() error {
	blocks := panelBlocks(int(w.g.N))
	p := &w.partial
	*p = abi.Pivoting{Tops: w.q.Rows, N: w.q.A.N}
	for _, m := range []struct {
		to    *cuda.Pointer
		bytes int
	}{
		{&p.Keys, 2 * 8 * blocks},
		{&p.Rows, 2 * 8 * block * blocks},
		{&p.Chosen, 4 * block},
	} {
		var err error
		if *m.to, err = w.alloc(m.bytes); err != nil {
			return err
		}
	}
	return nil
}

// partialPivots chooses the pivot rows of a step in stream s.
func (w *work) partialPivots(s *cuda.Stream) error {
	f, err := w.kernels.Function(s, "seed/partial", "pivotPanel")
	if err != nil {
		return err
	}
	blocks := panelBlocks(int(w.g.N - w.g.First))
	if err := s.Zero(w.partial.Keys, int64(2*8*blocks)); err != nil {
		return err
	}
	if err := f.LaunchTogether(s, cuda.Dim{X: blocks}, cuda.Dim{X: node}, 0, w.g, w.partial); err != nil {
		return err
	}
	return w.tournament(s, w.partial.Chosen)
}
