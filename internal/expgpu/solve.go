package expgpu

import (
	"fmt"
	"math"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/launch"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/gpu/product"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
)

// An Elimination holds the options of Solve: see expansion.Solve.
type Elimination struct {
	ZeroRule bool // exchange rows only where the diagonal entry is zero
	// columns of a block of panels whose update is one exact product; 0 for native updates
	Block  int
	Method string // a block scheme; any other value means panels
	Shared int    // bytes of shared memory for the rows of a panel; 0 for all there is
	Config product.Config
}

// PanelWidth is the number of columns of a panel.
const PanelWidth = 32

// The structures of the same names in kernels/expansion/expansionsolve.cu.
type (
	panel struct {
		a                          entries
		candidates, diagonal, keys cuda.Pointer
		slabs, pivots, info        cuda.Pointer
		n, k0, width, rows, zero   int32
		_                          int32
	}
	exchange struct {
		a, rows           entries
		pivots, info      cuda.Pointer
		k0, width, cols   int32
		skipCol, skipCols int32
		clear             int32
	}
)

const panelThreads = 256

// sharedAside is the shared memory in bytes that expansionPanel takes beside the rows.
const sharedAside = 1 << 10

// elimination is an elimination in progress.
type elimination struct {
	Elimination
	s      *cuda.Stream
	w      mem.Matrix // [A B], row by row
	rows   mem.Matrix // the pivot rows, as they were before an update
	n      int
	memory []*cuda.Memory

	panel                     panel
	blocks, shared            int // of expansionPanel: blocks, bytes of shared memory
	eliminate, exchange, gemm *cuda.Function
}

// Solve computes the solution X of A X = B. X may overlap A and B. If a column has no pivot, Solve
// returns a place.Singular error and leaves X unchanged.
func Solve(s *cuda.Stream, o Elimination, a, b, x mem.Matrix) error {
	if a.Rows == 0 || b.Cols == 0 {
		return nil
	}
	e := &elimination{Elimination: o, s: s, n: a.Rows}
	defer e.free()
	if err := e.load(a, b); err != nil {
		return err
	}
	if err := e.run(); err != nil {
		return err
	}
	if err := e.singular(); err != nil {
		return err
	}
	return Copy(s, x, e.columns(e.n, e.w.Cols))
}

func (e *elimination) free() {
	for _, m := range e.memory {
		m.Free()
	}
	if e.w.Arr != nil {
		e.w.Arr.Free()
	}
	if e.rows.Arr != nil {
		e.rows.Arr.Free()
	}
}

// alloc returns size bytes of zeros, which free frees.
func (e *elimination) alloc(size int) (cuda.Pointer, error) {
	m, err := e.s.Alloc(int64(size))
	if err != nil {
		return 0, err
	}
	e.memory = append(e.memory, m)
	return m.Pointer(), e.s.Zero(m.Pointer(), int64(size))
}

// matrix returns a rows x cols matrix of zeros, stored row by row.
func (e *elimination) matrix(f num.Format, rows, cols int) (mem.Matrix, error) {
	if cols > math.MaxInt/rows {
		return mem.Matrix{}, fmt.Errorf("%v: %w: %d x %d numbers", e.s.Device(), cuda.ErrMemory, rows, cols)
	}
	a, err := mem.NewArray(e.s, f, rows*cols)
	return mem.Matrix{Arr: a, RS: cols, CS: 1, Rows: rows, Cols: cols}, err
}

// columns returns columns j0 to j1 - 1 of the working matrix.
func (e *elimination) columns(j0, j1 int) mem.Matrix { return cut(e.w, 0, e.n, j0, j1) }

// cut returns the rows i0 <= i < i1 and columns j0 <= j < j1 of m.
func cut(m mem.Matrix, i0, i1, j0, j1 int) mem.Matrix {
	m.Off += i0*m.RS + j0*m.CS
	m.Rows, m.Cols = i1-i0, j1-j0
	return m
}

// load copies [A B] to the working matrix.
func (e *elimination) load(a, b mem.Matrix) (err error) {
	if e.w, err = e.matrix(a.Arr.Format, e.n, e.n+b.Cols); err != nil {
		return err
	}
	if err := Copy(e.s, e.columns(0, e.n), a); err != nil {
		return err
	}
	return Copy(e.s, e.columns(e.n, e.w.Cols), b)
}

// prepare allocates the buffers of the panels and loads the kernels.
func (e *elimination) prepare() (err error) {
	f := e.w.Arr.Format
	if e.rows, err = e.matrix(f, min(max(e.Block, PanelWidth), e.n), e.w.Cols); err != nil {
		return err
	}
	if err := e.preparePanels(f.Terms()); err != nil {
		return err
	}
	name := suffix(e.w)
	for _, k := range []struct {
		to         **cuda.Function
		file, name string
	}{
		{&e.eliminate, "expansionsolve", "expansionPanel" + name},
		{&e.exchange, "expansionsolve", "expansionExchange"},
		{&e.gemm, "expansionblas", "expansionGemm" + name},
	} {
		if *k.to, err = launch.KernelsOf(e.s).Function(e.s, "expansion/"+k.file, k.name); err != nil {
			return err
		}
	}
	return nil
}

// leastRows is the fewest rows of a panel for which a block is launched.
const leastRows = 8

// preparePanels allocates the buffers of the panels, without the working matrix. All blocks must
// run at the same time: one on each multiprocessor. The rows of a block stay in shared memory if
// they fit.
func (e *elimination) preparePanels(words int) (err error) {
	dev := e.s.Device().Info()
	rows := max((e.n-1)/dev.Multiprocessors+1, leastRows)
	e.blocks = (e.n-1)/rows + 1
	row := 8 * words * PanelWidth
	e.shared = rows * row
	e.panel = panel{n: int32(e.n), rows: int32(rows), zero: flag(e.ZeroRule)}
	list := []struct {
		to   *cuda.Pointer
		size int
	}{
		{&e.panel.candidates, 2 * e.blocks * row}, {&e.panel.diagonal, 2 * row}, {&e.panel.keys, 2 * e.blocks * 16},
		{&e.panel.pivots, 4 * e.n}, {&e.panel.info, 4},
	}
	limit := dev.SharedPerBlock - sharedAside
	if e.Shared > 0 {
		limit = min(limit, e.Shared)
	}
	if e.shared > limit {
		list = append(list, struct {
			to   *cuda.Pointer
			size int
		}{&e.panel.slabs, e.blocks * rows * row})
		e.shared = 0
	}
	for _, l := range list {
		if *l.to, err = e.alloc(l.size); err != nil {
			return err
		}
	}
	return nil
}

// run eliminates all columns of A.
func (e *elimination) run() error {
	switch e.Method {
	case place.SquareBlocks, place.LinearBlocks:
		return e.byColumns(e.Method)
	}
	if err := e.prepare(); err != nil {
		return err
	}
	if e.Block == 0 {
		for k := 0; k < e.n; k += PanelWidth {
			if err := e.step(k, min(k+PanelWidth, e.n), e.w.Cols); err != nil {
				return err
			}
			if err := e.lookOut(k); err != nil {
				return err
			}
		}
		return nil
	}
	for k := 0; k < e.n; k += e.Block {
		if err := e.block(k, min(k+e.Block, e.n)); err != nil {
			return err
		}
	}
	return nil
}

// lookOut is called after the panel that begins at column k. If the caller wants progress or can
// cancel, it waits for the device, reports progress and returns the context's error.
func (e *elimination) lookOut(k int) error {
	ctx, progress := e.Config.Ctx, e.Config.Progress
	if progress == nil && (ctx == nil || ctx.Done() == nil) {
		return nil
	}
	if err := e.s.Synchronize(); err != nil {
		return err
	}
	if progress != nil {
		progress(float64(min(k+PanelWidth, e.n)) / float64(e.n))
	}
	if ctx != nil {
		return ctx.Err()
	}
	return nil
}

// step eliminates the panel that begins at column k, and updates the columns j0 to j1 - 1 outside
// the panel.
func (e *elimination) step(k, j0, j1 int) error {
	width := min(PanelWidth, e.n-k)
	p := e.panel
	p.a = entriesOf(e.columns(k, k+width))
	p.k0, p.width = int32(k), int32(width)
	if err := e.eliminate.Launch(e.s, cuda.Dim{X: e.blocks}, cuda.Dim{X: panelThreads}, e.shared, p); err != nil {
		return err
	}
	return e.update(k, width, j0, j1)
}

// update adds to columns j0 to j1 - 1, except the panel's own, the product of the eliminated panel
// and the pivot rows.
func (e *elimination) update(k, width, j0, j1 int) error {
	cols, skip, skipped := j1-j0, k-j0, width
	if skip < 0 {
		skip, skipped = cols, 0
	}
	cols -= skipped
	if cols == 0 {
		return nil
	}
	if err := e.exchangeRows(k, width, j0, cols, skip, skipped, false); err != nil {
		return err
	}
	c := e.columns(j0, j1)
	p := newProduct(One, e.columns(k, k+width), cut(e.rows, 0, width, j0, j1), One, c)
	p.n, p.skipCol, p.skipCols = int32(cols), int32(skip), int32(skipped)
	p.skipRow, p.skipRows = int32(k), int32(width)
	tile := tiles[c.Arr.Terms()]
	return e.gemm.Launch(e.s, cuda.Dim{X: (e.n-1)/tile + 1, Y: min((cols-1)/tile+1, maxGridY)}, cuda.Dim{X: 256}, 0, p)
}

// exchangeRows repeats the row exchanges of the panels from column k on in cols columns from j0 on,
// and copies the pivot rows. If clear, it then sets the pivot rows to zero.
func (e *elimination) exchangeRows(k, width, j0, cols, skip, skipped int, clear bool) error {
	x := exchange{
		a: entriesOf(e.columns(j0, e.w.Cols)), rows: entriesOf(cut(e.rows, 0, width, j0, e.w.Cols)),
		pivots: e.panel.pivots, info: e.panel.info, k0: int32(k), width: int32(width), cols: int32(cols),
		skipCol: int32(skip), skipCols: int32(skipped), clear: flag(clear),
	}
	return e.exchange.Launch(e.s, cuda.Dim{X: (cols-1)/eachThreads + 1, Y: e.w.Arr.Terms()}, cuda.Dim{X: eachThreads}, 0, x)
}

// block eliminates columns k0 to k1 - 1 by panels, and updates the columns to their right by one
// exact product.
func (e *elimination) block(k0, k1 int) error {
	for k := k0; k < k1; k += PanelWidth {
		if err := e.step(k, k0, k1); err != nil {
			return err
		}
		if err := e.lookOut(k); err != nil {
			return err
		}
	}
	cols := e.w.Cols - k1
	if cols == 0 {
		return nil
	}
	if err := e.exchangeRows(k0, k1-k0, k1, cols, cols, 0, true); err != nil {
		return err
	}
	// The host waits for the product anyway; an exact product of the data that a failed elimination
	// leaves may take long.
	if err := e.singular(); err != nil {
		return err
	}
	c := e.columns(k1, e.w.Cols).T()
	cfg := e.Config
	cfg.Progress = nil // it counts panels
	_, err := product.GemmOnDevice(e.s, cfg, one, cut(e.rows, 0, k1-k0, k1, e.w.Cols).T(), e.columns(k0, k1).T(), one, c, c)
	return err
}

var one = num.Real{Class: num.Finite, Mag: []uint64{1}}

// singular waits for the elimination so far, and returns place.Singular if a column had no pivot.
func (e *elimination) singular() error {
	var info [1]int32
	if err := cuda.Download(e.s, info[:], e.panel.info); err != nil {
		return err
	}
	if info[0] != 0 {
		return place.Singular{Column: int(info[0]) - 1}
	}
	return nil
}
