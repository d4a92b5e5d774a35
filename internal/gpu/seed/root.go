package seed

import (
	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/gpu/mem"
)

// rootPanelsFrom is the order from which on columns are eliminated in panels. On an H100 steps of
// 64 columns and panels of 256 took 1.27 and 1.36 ms for n = 2048, 4.50 and 3.39 ms for 4096, 22.2
// and 14.3 ms for 8192.
const rootPanelsFrom = 3072

// InverseRoot starts to compute an approximate inverse of the Cholesky factor of F = diag(2^exps) A
// diag(2^exps), lower triangular, in the n x n Float64 matrix x, which must not share entries with
// A. It returns the exponents, which bring the diagonal of F near 1. It reads only the lower
// triangle of A. The error has no known bound. The seed is not ok, and x unspecified, if a pivot is
// not positive, if numbers are not finite, or if F exceeds the range of float64. InverseRoot waits
// as Inverse does. It returns a nil seed if n is above MaxOrder.
func InverseRoot(s *cuda.Stream, a, x mem.Matrix) (exps []int64, begun *Seed, err error) {
	return inverseRoot(s, a, x, widthFor(a.Rows, rootPanelsFrom))
}

func inverseRoot(s *cuda.Stream, a, x mem.Matrix, width int) (exps []int64, begun *Seed, err error) {
	n := a.Rows
	exps = make([]int64, n)
	if n == 0 || n > MaxOrder {
		return exps, trivial(n), nil
	}
	x.Changed()
	w, err := newRootWork(s, n, 0, n, width)
	if err != nil {
		return nil, nil, err
	}
	defer w.free()
	all := []placed{{Share{A: a, X: x}, 0}}
	if err := w.exponents(all[0]); err != nil {
		return nil, nil, err
	}
	begun, err = begin(s, w.g.Exps, exps, w.g.Status, ^0,
		func() error { return w.fill(all) }, w.eliminate, func() error { return w.store(all) })
	return exps, begun, err
}

// A rootWork is an inversion of a Cholesky factor in progress, or a GPU's part of one.
type rootWork struct {
	queue
	columns int // number of the columns of the matrix from begin on
	g       abi.Root
	other   abi.Root // holds P and the inverses of every other panel
	ahead   bool     // the inverse of the first step of the next panel is computed
}

// placed are the columns from begin on of a matrix of order n and of its inverse, as a GPU stores
// them.
type placed struct {
	Share
	begin int
}

// newRootWork returns the work on the given number of columns, from column before on, of a matrix
// of order n.
func newRootWork(s *cuda.Stream, n, before, columns, width int) (*rootWork, error) {
	padded := (n + block - 1) / block * block
	w := &rootWork{queue: newQueue(s, before, before+(columns+block-1)/block*block, width), columns: columns, g: abi.Root{N: int32(padded)}}
	w.g.A.N = int32(n)
	if err := w.allocAll([]room{
		{&w.g.Status, 8 * (1 + n)}, // and exponents
		{&w.g.F, 8 * padded * (w.end - w.begin)},
		{&w.g.Inverse, 8 * block * width},
		{&w.g.P, 8 * width * padded},
		{&w.other.Inverse, 8 * block * width},
		{&w.other.P, 8 * width * padded},
	}); err != nil {
		return nil, err
	}
	w.g.F -= cuda.Pointer(8 * padded * before)
	w.g.Exps = w.g.Status + 8
	return w, nil
}

// exponents computes the exponents of columns that the GPU stores.
func (w *rootWork) exponents(of placed) error {
	if err := w.s.Zero(w.g.Status, 8); err != nil {
		return err
	}
	g := w.g
	g.A = abi.RowsOf(of.A)
	return w.run(w.s, "rootExponents", cuda.Dim{X: (of.A.Cols + threads - 1) / threads}, 0, g, int32(of.begin), int32(of.begin+of.A.Cols))
}

// each runs f for each of the placed columns that the work covers, with the common columns begin <=
// j < end.
func (w *rootWork) each(all []placed, f func(of placed, begin, end int) error) error {
	for _, of := range all {
		begin, end := max(w.begin, of.begin), min(w.begin+w.columns, of.begin+of.A.Cols)
		if begin >= end {
			continue
		}
		if err := f(of, begin, end); err != nil {
			return err
		}
	}
	return nil
}

// fill computes F from the placed columns.
func (w *rootWork) fill(all []placed) error {
	return w.each(all, func(of placed, begin, end int) error {
		g, a := w.g, of.A
		a.Off += (begin - of.begin) * a.CS
		a.Cols = end - begin
		g.A = abi.RowsOf(a)
		if end == w.begin+w.columns {
			end = w.end // with padding
		}
		return w.run(w.s, "rootMatrix", cuda.Dim{X: (int(w.g.N) + threads - 1) / threads, Y: end - begin}, 0, g, int32(begin))
	})
}

// store stores the inverse in the placed columns.
func (w *rootWork) store(all []placed) error {
	return w.each(all, func(of placed, begin, end int) error {
		x := of.X
		x.Off += (begin - of.begin) * x.CS
		return w.run(w.s, "rootInverse", cuda.Dim{X: (x.Rows + threads - 1) / threads, Y: end - begin}, 0,
			w.g, int32(begin), first(x), int64(x.RS), int64(x.CS))
	})
}

// report returns the exponents, and whether the elimination succeeded.
func (w *rootWork) report() (exps []int64, ok bool, err error) {
	told := make([]int64, 1+w.g.A.N)
	if err := cuda.Download(w.s, told, w.g.Status); err != nil {
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

// eliminate eliminates by steps, each of which updates all columns, or by panels.
func (w *rootWork) eliminate() error {
	if w.width > block {
		return eliminateAlone(w)
	}
	n := int(w.g.N)
	if err := w.block(w.s, 0); err != nil {
		return err
	}
	for first := 0; first < n; first += block {
		w.g.Panel = int32(first)
		if err := w.step(w.s, first, 0); err != nil {
			return err
		}
		end := first + block
		if err := w.update(w.s, first, block, rows(end, 0, end, end, n), 0, w.g.Inverse); err != nil {
			return err
		}
	}
	return nil
}

// block computes the inverse of the first step of a panel. An update computes the inverse of a
// later step, and of the next panel's first one, while it updates other columns.
func (w *rootWork) block(s *cuda.Stream, panel int) error {
	w.g.Panel, w.g.First = int32(panel), int32(panel)
	return w.run(s, "rootBlock", cuda.Dim{X: 1}, 0, w.g)
}

// step computes P of a step, for the columns from begin on, from the step's inverse.
func (w *rootWork) step(s *cuda.Stream, first, begin int) error {
	w.g.First = int32(first)
	return w.run(s, "rootPanel", cuda.Dim{X: (int(w.g.N) - begin) / strip}, 8*block*(block+strip), w.g, int32(begin))
}

// eliminatePanel computes P of a panel, for its columns and the columns behind.
func (w *rootWork) eliminatePanel(begin, end int) error {
	if !w.ahead {
		if err := w.block(w.sidestream, begin); err != nil {
			return err
		}
	}
	w.g.Panel, w.ahead = int32(begin), false
	for first := begin; first < end; first += block {
		if err := w.step(w.sidestream, first, begin); err != nil {
			return err
		}
		next := cuda.Pointer(0)
		if first+block < end {
			next = w.g.Inverse + cuda.Pointer(8*block*(first+block-begin))
		}
		if err := w.update(w.sidestream, first, block, rows(first+block, begin, end, end, end), 0, next); err != nil {
			return err
		}
	}
	return nil
}

// made returns the memory of P, of which other GPUs do not use the part that they compute
// themselves, and of the inverses of the factors of the steps.
func (w *rootWork) made(begin, end int) []memory {
	return []memory{{w.g.Inverse, 8 * block * (end - begin)}, {w.g.P, 8 * int(w.g.N) * (end - begin)}}
}

func (w *rootWork) updateNext(p, next panel) error {
	w.g.Panel = int32(p.begin)
	w.ahead = true // nobody reads the inverses of the panel before any more
	return w.update(w.sidestream, p.begin, p.end-p.begin, rows(p.end, next.begin, next.end, next.end, next.end), 0, w.other.Inverse)
}

func (w *rootWork) updateOthers(p, next panel, blocks int) error {
	w.g.Panel = int32(p.begin)
	before := max(w.begin, min(w.end, p.begin)) // end of the columns before the panel
	if count := before - w.begin; count > 0 {
		width := p.end - p.begin
		if err := w.run(w.s, "rootRows", cuda.Dim{X: count / strip}, 8*(2*block*block+width*strip), w.g, int32(w.begin), int32(width)); err != nil {
			return err
		}
	}
	behind := min(w.end, max(w.begin, next.end)) // begin of the columns behind both panels
	return w.update(w.s, p.begin, p.end-p.begin, rows(p.end, w.begin, before, behind, w.end), blocks, 0)
}

func (w *rootWork) swap() {
	w.g.Inverse, w.other.Inverse = w.other.Inverse, w.g.Inverse
	w.g.P, w.other.P = w.other.P, w.g.P
}

// rows returns RootTiles: the tiles that an update covers.
func rows(row, begin, end, triangle, until int) abi.RootTiles {
	return abi.RootTiles{Row: int32(row), Begin: int32(begin), End: int32(end), Triangle: int32(triangle), Until: int32(until)}
}

// update updates tiles by P of depth columns from column from on, as the method of work does. If
// inverse is not null, which is for blocks = 0 only, it also computes the inverse of the step
// behind these columns, and stores it there.
func (w *rootWork) update(s *cuda.Stream, from, depth int, t abi.RootTiles, blocks int, inverse cuda.Pointer) error {
	kernel, across := "rootStep", block
	if blocks > 0 {
		kernel, across = "rootUpdate", wide
	}
	down := func(from, to int32) int { return (int(to-from) + tall - 1) / tall }
	side := down(t.Triangle, t.Until)
	tiles := down(t.Row, w.g.N)*((int(t.End-t.Begin)+across-1)/across) + side*(side+1)/2*(tall/across) +
		down(t.Until, w.g.N)*(int(t.Until-t.Triangle)/across)
	if tiles == 0 {
		return nil
	}
	args := []any{w.g, int32(from), int32(depth), t}
	if blocks == 0 {
		args = append(args, inverse)
		if blocks = tiles; inverse != 0 {
			tiles++
			blocks++
		}
	}
	return w.run(s, kernel, cuda.Dim{X: min(tiles, blocks)}, updateShared(across), args...)
}
