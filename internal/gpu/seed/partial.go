package seed

import (
	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/gpu/mem"
)

// PivotedTriangles is Triangles with partial pivoting for an m x n matrix A, m ≥ n, whose rows are
// not scaled: the pivot of a column is its largest entry, within float64 accuracy. The triangles
// are the factors of the n pivot rows, which are the entries of the order. There is one attempt.
// The factors are nil for a matrix of more rows than the GPU's multiprocessors can hold at a time,
// 256 each.
func PivotedTriangles(s *cuda.Stream, a, z, u mem.Matrix) (rows, cols []int64, begun *Factors, err error) {
	return factor(s, a, z, u, partial, widthFor(a.Rows, panelsFrom))
}

// panelBlocks returns the number of blocks for the given rows of a panel.
func panelBlocks(rows int) int { return (rows + node - 1) / node }

// fitsPanel reports whether a panel of the given rows fits on the multiprocessors of a device whose
// blocks can wait for each other.
func fitsPanel(d *cuda.Device, rows int) bool {
	info := d.Info()
	return info.Cooperative == 1 && panelBlocks(rows) <= min(info.Multiprocessors, node)
}

// pivotPartially allocates the memory of partial pivoting.
func (w *work) pivotPartially() error {
	blocks := panelBlocks(int(w.g.N))
	p := &w.partial
	*p = abi.Pivoting{Tops: w.q.Rows, N: w.q.A.N}
	for _, m := range []struct {
		to    *cuda.Pointer
		bytes int
	}{
		{&p.Keys, 2 * 8 * blocks},
		{&p.Rows, max(2*8*block*blocks, 8*block*fewRows)},
		{&p.Chosen, 4 * block},
	} {
		var err error
		if *m.to, err = w.alloc(m.bytes); err != nil {
			return err
		}
	}
	return nil
}

// partialPivots chooses the pivot rows of a step by partial pivoting, in stream s.
func (w *work) partialPivots(s *cuda.Stream) error {
	rows := int(w.g.N - w.g.First)
	if rows <= fewRows {
		return w.shortPivots(s, rows)
	}
	if panelBlocks(rows) <= abi.SeedCluster && clusters(s) {
		return w.clusterPivots(s)
	}
	f, err := w.kernels.Function(s, "seed/partial", "pivotPanel")
	if err != nil {
		return err
	}
	blocks := panelBlocks(rows)
	if err := s.Zero(w.partial.Keys, int64(2*8*blocks)); err != nil {
		return err
	}
	if err := f.LaunchTogether(s, cuda.Dim{X: blocks}, cuda.Dim{X: node}, 0, w.g, w.partial); err != nil {
		return err
	}
	return w.tournament(s, w.partial.Chosen)
}

// fewRows is the most rows whose pivots one block finds. Tests set it to 0.
var fewRows = abi.SeedShortRows

// shortPivots is partialPivots for at most fewRows rows.
func (w *work) shortPivots(s *cuda.Stream, rows int) error {
	f, err := w.kernels.Function(s, "seed/partial", "shortPivots")
	if err != nil {
		return err
	}
	const warp = 32
	size := (rows + warp*abi.SeedShortShare - 1) / (warp * abi.SeedShortShare) * warp
	return f.Launch(s, cuda.Dim{X: 1}, cuda.Dim{X: max(size, threads)}, abi.SeedShortShared, w.g, w.partial)
}

// clusters reports whether the device has clusters of blocks, and a driver that knows the
// instructions of partial_sm90a.cu.
func clusters(s *cuda.Stream) bool {
	driver := s.Device().Info().Driver
	return source(s, "") != "" && (driver.Major > 12 || driver.Major == 12 && driver.Minor >= 1)
}

// clusterPivots is partialPivots for rows that the blocks of one cluster have.
func (w *work) clusterPivots(s *cuda.Stream) error {
	f, err := w.kernels.Function(s, source(s, "seed/partial"), "pivotCluster")
	if err != nil {
		return err
	}
	if err := f.Launch(s, cuda.Dim{X: abi.SeedCluster}, cuda.Dim{X: node}, 0, w.g, w.partial); err != nil {
		return err
	}
	return w.tournament(s, w.partial.Chosen)
}

// eliminateInCluster eliminates a matrix of few rows by steps, in each of which one cluster finds
// the pivots while other blocks update the columns by the step before.
func (w *work) eliminateInCluster(all stretch) error {
	f, err := w.kernels.Function(w.s, source(w.s, "seed/partial"), "panelPivots")
	if err != nil {
		return err
	}
	var before abi.Triangles // none
	blocks := abi.SeedCluster
	for first := 0; first < all.end; first += block {
		w.g.First, w.g.Panel = int32(first), int32(first)
		if first > 0 {
			before = *w.to
			blocks = abi.SeedCluster + w.tiles(all.without(first, first+block), block) + 2*first/beside
			blocks = (blocks + abi.SeedCluster - 1) / abi.SeedCluster * abi.SeedCluster
		}
		if err := f.Launch(w.s, cuda.Dim{X: blocks}, cuda.Dim{X: threads}, abi.SeedClusterShared, w.g, w.partial, before); err != nil {
			return err
		}
		if err := w.factors(w.s, all); err != nil {
			return err
		}
	}
	return w.updateTriangles(w.s, all)
}
