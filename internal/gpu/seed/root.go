package seed

import (
	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/gpu/launch"
	"github.com/halfulp/halfulp/internal/gpu/mem"
)

// rootPanelsFrom is the order from which columns are eliminated in panels. On an H100 steps of 64
// columns and panels of 256 took 1.27 and 1.36 ms for n = 2048, 4.50 and 3.39 ms for 4096, 22.2 and
// 14.3 ms for 8192.
const rootPanelsFrom = 3072

// InverseRoot stores about the inverse of the Cholesky factor of F = diag(2^exps) A diag(2^exps) in
// the n x n matrix x of Float64, lower triangular, whose entries share none with A, and returns the
// exponents, which bring the diagonal of F near 1. The lower triangle of A is all that it reads.
// Nothing is known of the error. It is not ok, and x unspecified, if a pivot is not positive, or
// numbers are not finite or F's beyond float64's.
func InverseRoot(s *cuda.Stream, a, x mem.Matrix) (exps []int64, ok bool, err error) {
	return inverseRoot(s, a, x, widthFor(a.Rows, rootPanelsFrom))
}

// A rootWork is the inversion of a Cholesky factor under way.
type rootWork struct {
	s       *cuda.Stream
	kernels *launch.Kernels
	memory  []*cuda.Memory
	g       abi.Root
	other   abi.Root // has P and the inverses of every other panel
	events
}

func inverseRoot(s *cuda.Stream, a, x mem.Matrix, width int) (exps []int64, ok bool, err error) {
	n := a.Rows
	if n == 0 || n > MaxOrder {
		return make([]int64, n), n == 0, nil
	}
	x.Changed()
	padded := (n + block - 1) / block * block
	w := &rootWork{s: s, kernels: launch.KernelsOf(s), g: abi.Root{A: abi.RowsOf(a), N: int32(padded)}}
	defer func() {
		for _, m := range w.memory {
			m.Free()
		}
	}()
	for _, m := range []struct {
		to    *cuda.Pointer
		bytes int
	}{
		{&w.g.Status, 8 * (1 + n)}, // and exponents
		{&w.g.F, 8 * padded * padded},
		{&w.g.Inverse, 8 * block * width},
		{&w.g.P, 8 * width * padded},
		{&w.other.Inverse, 8 * block * width},
		{&w.other.P, 8 * width * padded},
	} {
		memory, err := s.Alloc(int64(m.bytes))
		if err != nil {
			return nil, false, err
		}
		w.memory = append(w.memory, memory)
		*m.to = memory.Pointer()
	}
	w.g.Exps = w.g.Status + 8
	if err := s.Zero(w.g.Status, 8); err != nil {
		return nil, false, err
	}
	if err := w.run(s, "rootExponents", cuda.Dim{X: (n + threads - 1) / threads}, 0, w.g); err != nil {
		return nil, false, err
	}
	if err := w.run(s, "rootMatrix", cuda.Dim{X: (padded + threads - 1) / threads, Y: padded}, 0, w.g); err != nil {
		return nil, false, err
	}
	if width == block {
		err = w.eliminate()
	} else if err = w.start(s); err == nil {
		err = w.eliminatePanels(width)
	}
	if e := w.stop(); err == nil {
		err = e
	}
	if err != nil {
		return nil, false, err
	}
	if err := w.run(s, "rootInverse", cuda.Dim{X: (n + threads - 1) / threads, Y: n}, 0, w.g, first(x), int64(x.RS), int64(x.CS)); err != nil {
		return nil, false, err
	}
	told := make([]int64, 1+n)
	if err := cuda.Download(s, told, w.g.Status); err != nil {
		return nil, false, err
	}
	return told[1:], told[0] == 0, nil
}

// run runs a kernel in stream s.
func (w *rootWork) run(s *cuda.Stream, kernel string, grid cuda.Dim, shared int, args ...any) error {
	f, err := w.kernels.Function(s, source(s, "seed/root"), kernel)
	if err != nil {
		return err
	}
	return f.Launch(s, grid, cuda.Dim{X: threads}, shared, args...)
}

// eliminate eliminates step by step, each of which updates all columns.
func (w *rootWork) eliminate() error {
	n := int(w.g.N)
	for first := 0; first < n; first += block {
		w.g.Panel = int32(first)
		if err := w.step(w.s, first, 0); err != nil {
			return err
		}
		end := first + block
		if err := w.update(w.s, first, block, rootTiles{end, 0, end, end}, 0); err != nil {
			return err
		}
	}
	return nil
}

// step makes P of a step, of columns from begin on.
func (w *rootWork) step(s *cuda.Stream, first, begin int) error {
	w.g.First = int32(first)
	if err := w.run(s, "rootBlock", cuda.Dim{X: 1}, 0, w.g); err != nil {
		return err
	}
	return w.run(s, "rootPanel", cuda.Dim{X: (int(w.g.N) - begin) / strip}, 8*block*(block+strip), w.g, int32(begin))
}

// eliminatePanels eliminates a panel as soon as its columns are there, in the stream beside that of
// all other updates.
func (w *rootWork) eliminatePanels(width int) error {
	n := int(w.g.N)
	for begin := 0; begin < n; begin += width {
		end := min(begin+width, n)
		next := min(end+width, n)
		w.g.Panel = int32(begin)
		for first := begin; first < end; first += block {
			if err := w.step(w.beside, first, begin); err != nil {
				return err
			}
			if err := w.update(w.beside, first, block, rootTiles{first + block, begin, end, n}, 0); err != nil {
				return err
			}
		}
		if err := w.beside.Record(w.eliminated); err != nil {
			return err
		}
		if err := w.s.Wait(w.eliminated); err != nil {
			return err
		}
		// What the panel before has updated, and which has used what the next one is to use.
		if err := w.beside.Wait(w.updated[0]); err != nil {
			return err
		}
		if err := w.update(w.beside, begin, end-begin, rootTiles{end, end, next, n}, 0); err != nil {
			return err
		}
		if begin > 0 {
			if err := w.run(w.s, "rootRows", cuda.Dim{X: begin / strip}, 8*block*2*block+8*(end-begin)*strip, w.g, int32(end-begin)); err != nil {
				return err
			}
		}
		if err := w.update(w.s, begin, end-begin, rootTiles{end, 0, begin, next}, max(1, w.s.Device().Info().Multiprocessors-spareFor(n))); err != nil {
			return err
		}
		if err := w.s.Record(w.updated[0]); err != nil {
			return err
		}
		w.g.Inverse, w.other.Inverse = w.other.Inverse, w.g.Inverse
		w.g.P, w.other.P = w.other.P, w.g.P
	}
	return nil
}

// rootTiles are the tiles of rows from row on in columns begin <= j < end, and those of the lower
// triangle behind.
type rootTiles struct{ row, begin, end, triangle int }

// update updates tiles by P of depth columns from column from on, as work's does.
func (w *rootWork) update(s *cuda.Stream, from, depth int, t rootTiles, blocks int) error {
	kernel, across := "rootStep", block
	if blocks > 0 {
		kernel, across = "rootUpdate", wide
	}
	n := int(w.g.N)
	down := func(from int) int { return (n - from + tall - 1) / tall }
	tiles := down(t.row)*((t.end-t.begin+across-1)/across) + down(t.triangle)*(down(t.triangle)+1)/2*(tall/across)
	if tiles == 0 {
		return nil
	}
	if blocks == 0 {
		blocks = tiles
	}
	return w.run(s, kernel, cuda.Dim{X: min(tiles, blocks)}, updateShared(across),
		w.g, int32(from), int32(depth), int32(t.row), int32(t.begin), int32(t.end), int32(t.triangle))
}
