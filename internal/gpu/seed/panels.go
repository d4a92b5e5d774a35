package seed

import (
	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/abi"
)

// panelWidth is the number of columns of a panel. Inverses on an H100 (BenchmarkInverse), in steps
// of 64 columns without panels, and with panels of 128 and of 256 columns, took 3.11, 2.99 and 2.96
// ms for n = 2048; 11.8, 8.0 and 8.1 ms for 4096; 61.5, 48.3 and 41.6 ms for 8192.
const panelWidth = 256

// panelsFrom is the order from which on columns are eliminated in panels, each concurrently with
// the update before it. For smaller matrices an update takes no longer than the overhead of two
// streams.
const panelsFrom = 1536

// widthFor returns the width of panels for a matrix of the given rows, which is the width of a step
// for fewer than from rows, where there are no panels.
func widthFor(rows, from int) int {
	if rows < from {
		return block
	}
	return panelWidth
}

// spareFor returns the number of multiprocessors that updates leave to the other stream, whose work
// dominates for smaller matrices. With 8, 16 and 24 an inverse took 8.7, 8.5 and 8.1 ms for n =
// 4096, and 41.6, 44.5 and 47.7 ms for 8192. On two H100, each of which computes half of an update,
// an inverse of order 8192 took 23.6, 22.4, 22.0, 21.3 and 23.2 ms with 8, 16, 24, 32 and 48, and
// the inverse of a Cholesky factor 10.5, 10.0, 9.5, 9.4 and 9.7 ms (bench/records/h100-two.json.gz,
// "seeds").
func spareFor(rows, gpus int) int {
	switch {
	case gpus > 1 && rows >= 6144:
		return 32
	case rows < 6144:
		return 24
	}
	return 8
}

// Sizes of updates: the columns of a block of panelUpdate, and the columns and stages of the
// factors that it holds.
const (
	wide          = 128
	chunk, stages = 16, 3
)

// updateShared returns the shared memory in bytes of a block of an update that has across columns.
func updateShared(across int) int { return 8 * stages * chunk * (tall + across) }

// A stretch is the columns begin <= j < end without the skipped columns from skip on.
type stretch struct{ begin, end, skip, skipped int }

// columns returns the columns from begin to end - 1.
func columns(begin, end int) stretch { return stretch{begin, end, end, 0} }

// without returns c without the columns from begin to end - 1, some of which may not be in c.
func (c stretch) without(begin, end int) stretch {
	switch begin, end = max(begin, c.begin), min(end, c.end); {
	case begin >= end:
	case c.skipped == 0:
		c.skip, c.skipped = begin, end-begin
	default: // they follow the columns skipped already
		c.skipped += end - begin
	}
	return c
}

// count returns the number of columns.
func (c stretch) count() int { return c.end - c.begin - c.skipped }

// eliminate inverts F except for the order of its rows and columns: by steps, each of which updates
// all columns, or by panels.
func (w *work) eliminate() error {
	if w.width > block {
		return eliminateAlone(w)
	}
	all := columns(0, int(w.g.Columns))
	if w.g.Ahead != 0 {
		return w.eliminateAhead(all)
	}
	if w.way == partial && w.to != nil && w.g.N <= abi.SeedClusterRows && clusters(w.s) {
		return w.eliminateInCluster(all)
	}
	for first := 0; first < all.end; first += block {
		w.g.Panel = int32(first)
		if err := w.step(w.s, first, all); err != nil {
			return err
		}
	}
	return nil
}

// eliminateAhead eliminates by steps, each of which chooses its pivots while the step before
// updates the columns.
func (w *work) eliminateAhead(all stretch) error {
	if err := w.pivots(w.s); err != nil {
		return err
	}
	for first := block; first < all.end; first += block {
		if err := w.factors(w.s, all); err != nil {
			return err
		}
		w.g.First, w.g.Panel = int32(first), int32(first)
		if err := w.nextPivots(w.s, w.g, all); err != nil {
			return err
		}
	}
	w.g.Ahead = 0
	if err := w.factors(w.s, all); err != nil {
		return err
	}
	return w.updateStep(w.s, int(w.g.First), all)
}

// step eliminates the columns of a step within the columns of its panel.
func (w *work) step(s *cuda.Stream, first int, panel stretch) error {
	w.g.First = int32(first)
	if err := w.pivots(s); err != nil {
		return err
	}
	if err := w.factors(s, panel); err != nil {
		return err
	}
	return w.updateStep(s, first, panel)
}

// updateStep updates columns by the factors of a step.
func (w *work) updateStep(s *cuda.Stream, first int, c stretch) error {
	if w.width == block && w.to != nil {
		return w.updateTriangles(s, c)
	}
	return w.update(s, first, block, c, 0)
}

// nextPivots updates columns by the factors of the step before that of g, and chooses the pivot
// rows of that of g if there is a copy of candidates.
func (w *work) nextPivots(s *cuda.Stream, g abi.Elimination, c stretch) error {
	blocks := 1 + w.tiles(c, block)
	var to abi.Triangles
	if w.to != nil {
		to = *w.to
		blocks += 2 * int(g.First) / beside
	}
	return w.launch(s, "nextPivots", cuda.Dim{X: blocks}, abi.SeedAheadShared, g, int32(c.begin), int32(c.end), to)
}

// eliminatePanel computes the factors of a panel.
func (w *work) eliminatePanel(begin, end int) error {
	w.g.Panel = int32(begin)
	for first := begin; first < end; first += block {
		if err := w.step(w.sidestream, first, columns(begin, end)); err != nil {
			return err
		}
	}
	return nil
}

// made returns the memory of the corner and the left factor, and of the order and the slots. A GPU
// that finds the next pivots while others copy this memory changes no place in the order before
// them and no slot of other rows.
func (w *work) made(begin, end int) []memory {
	n, width := int(w.g.N), int(w.g.Width)
	return []memory{{w.g.Corner, 8 * (width*width + n*(end-begin))}, {w.g.Order, 2 * 4 * n}}
}

func (w *work) updateNext(p, next panel) error {
	w.g.Panel = int32(p.begin)
	return w.panelUpdate(w.sidestream, p.end, columns(next.begin, next.end), 0)
}

func (w *work) updateOthers(p, next panel, blocks int) error {
	w.g.Panel = int32(p.begin)
	others := columns(w.begin, w.end).without(p.begin, p.end).without(next.begin, next.end)
	if err := w.panelUpdate(w.s, p.end, others, blocks); err != nil {
		return err
	}
	return w.triangles(w.s, p.end)
}

func (w *work) swap() {
	w.g.Corner, w.other.Corner = w.other.Corner, w.g.Corner
	w.g.Left, w.other.Left = w.other.Left, w.g.Left
	w.g.Right, w.other.Right = w.other.Right, w.g.Right
}

// panelUpdate updates columns outside of the panel, which ends before column end, as update does.
func (w *work) panelUpdate(s *cuda.Stream, end int, c stretch, blocks int) error {
	if c.count() == 0 {
		return nil
	}
	steps := (end - int(w.g.Panel)) / block
	shared := 8 * block * (2*block + steps*strip)
	if err := w.launch(s, "rightFactor", cuda.Dim{X: c.count() / strip}, shared, w.g, int32(end), int32(c.begin), int32(c.skip), int32(c.skipped)); err != nil {
		return err
	}
	return w.update(s, int(w.g.Panel), end-int(w.g.Panel), c, blocks)
}

// pivots chooses the pivot rows of a step, in stream s.
func (w *work) pivots(s *cuda.Stream) error {
	switch w.way {
	case narrow:
		return w.launch(s, "narrowPivots", cuda.Dim{X: 1}, abi.SeedPickShared, w.g)
	case partial:
		return w.partialPivots(s)
	}
	return w.tournament(s, 0)
}

// tournament picks the pivot rows of a step. If given is not null, it makes the SeedBlock rows in
// that list the pivot rows, in their order.
func (w *work) tournament(s *cuda.Stream, given cuda.Pointer) error {
	nodes := (int(w.g.N-w.g.First) + node - 1) / node
	if given != 0 {
		nodes = 1
	}
	return w.launch(s, "pivots", cuda.Dim{X: nodes}, 0, w.g, w.lists, w.counts, given)
}

// factors computes the factors of a step for some columns, and copies what nextPivots needs.
func (w *work) factors(s *cuda.Stream, c stretch) error {
	parts := 2
	if w.g.Ahead != 0 {
		parts = 3
	}
	return w.launch(s, "stepFactors", cuda.Dim{X: int(w.g.N) / strip, Y: parts}, 8*block*(2*block+strip), w.g, int32(c.begin), int32(c.end))
}

// update updates columns by the factors of depth columns, from column from on. It launches at most
// the given number of blocks, one of which fills a multiprocessor, or, for 0, as many small blocks
// as needed.
func (w *work) update(s *cuda.Stream, from, depth int, c stretch, blocks int) error {
	kernel, across := "stepUpdate", block
	if blocks > 0 {
		kernel, across = "panelUpdate", wide
	}
	tiles := w.tiles(c, across)
	if blocks == 0 {
		blocks = tiles
	}
	f, err := w.kernels.Function(s, source(s, "seed/seed"), kernel)
	if err != nil {
		return err
	}
	return f.Launch(s, cuda.Dim{X: min(tiles, blocks)}, cuda.Dim{X: threads}, updateShared(across),
		w.g, int32(from), int32(depth), int32(c.begin), int32(c.end), int32(c.skip), int32(c.skipped))
}

// tiles returns the number of tiles of some columns, each across columns wide.
func (w *work) tiles(c stretch, across int) int {
	return (int(w.g.N) + tall - 1) / tall * ((c.count() + across - 1) / across)
}
