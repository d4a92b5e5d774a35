package expgpu

import (
	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/launch"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/place"
)

// This file runs the block schemes of expansion.SquareBlocks and expansion.LinearBlocks, by the
// kernels of kernels/expansion/expansionblocks.cu, which support Float64 too.

const blocksFile = "expansion/expansionblocks"

// The side of square blocks and the length of linear blocks, in entries and in threads.
const (
	squareSide = 8
	lineLength = 128
)

// GemmSquare computes Gemm by blocks of 8 x 8 threads.
func GemmSquare(s *cuda.Stream, alpha Factor, a, b mem.Matrix, beta Factor, c mem.Matrix) error {
	c.Changed()
	if c.Rows == 0 || c.Cols == 0 {
		return nil
	}
	f, err := launch.KernelsOf(s).Function(s, blocksFile, "expansionSquareGemm"+suffix(c))
	if err != nil {
		return err
	}
	p := newProduct(alpha, a, b, beta, c)
	p.vertical = flag(size(c.RS) <= size(c.CS))
	return f.Launch(s, tilesOf(c.Rows, squareSide, c.Cols, squareSide), cuda.Dim{X: squareSide * squareSide}, 0, p)
}

// tilesOf returns the grid that covers nx x ny entries by tiles of x by y entries.
func tilesOf(nx, x, ny, y int) cuda.Dim {
	return cuda.Dim{X: (nx-1)/x + 1, Y: min((ny-1)/y+1, maxGridY)}
}

// columnStep is the structure of the same name in expansionblocks.cu.
type columnStep struct {
	a                              entries
	diagonal, pivot, info          cuda.Pointer
	n, cols, k, words, zero, final int32
}

// byColumns eliminates one column after the other, by the blocks of threads of the given method.
func (e *elimination) byColumns(method string) error {
	find, divide, remove, err := e.columnKernels(method)
	if err != nil {
		return err
	}
	words := e.w.Arr.Terms()
	p := columnStep{
		a: entriesOf(e.w), n: int32(e.n), cols: int32(e.w.Cols), words: int32(words), zero: flag(e.ZeroRule),
	}
	for _, l := range []struct {
		to   *cuda.Pointer
		size int
	}{{&p.diagonal, 8 * words}, {&p.pivot, 4}, {&p.info, 4}} {
		if *l.to, err = e.alloc(l.size); err != nil {
			return err
		}
	}
	e.panel.info = p.info
	threads, rows, cols := squareSide*squareSide, squareSide, squareSide
	if method == place.LinearBlocks {
		threads, rows, cols = lineLength, 1, lineLength
	}
	for k := range e.n {
		p.k, p.final = int32(k), flag(k == e.n-1)
		if err := find.Launch(e.s, cuda.Dim{X: 1}, cuda.Dim{X: 256}, 0, p); err != nil {
			return err
		}
		right := e.w.Cols - k - 1
		if err := divide.Launch(e.s, cuda.Dim{X: (right-1)/lineLength + 1}, cuda.Dim{X: lineLength}, 0, p); err != nil {
			return err
		}
		if err := remove.Launch(e.s, tilesOf(right, cols, e.n, rows), cuda.Dim{X: threads}, 0, p); err != nil {
			return err
		}
		if (k+1)%PanelWidth == 0 || k == e.n-1 {
			if err := e.lookOut(k / PanelWidth * PanelWidth); err != nil {
				return err
			}
		}
	}
	return nil
}

// columnKernels returns the kernels of a step: one finds the pivot, one divides its row, one
// removes the column from the other rows.
func (e *elimination) columnKernels(method string) (find, divide, remove *cuda.Function, err error) {
	scheme := "Square"
	if method == place.LinearBlocks {
		scheme = "Linear"
	}
	name := suffix(e.w)
	for _, k := range []struct {
		to   **cuda.Function
		name string
	}{
		{&find, "expansionColumnPivot"},
		{&divide, "expansionColumnDivide" + name},
		{&remove, "expansion" + scheme + "Clear" + name},
	} {
		if *k.to, err = launch.KernelsOf(e.s).Function(e.s, blocksFile, k.name); err != nil {
			break
		}
	}
	return find, divide, remove, err
}
