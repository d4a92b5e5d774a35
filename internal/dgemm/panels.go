package dgemm

import (
	"sync"
	"sync/atomic"

	"github.com/halfulp/halfulp/internal/par"
)

// wideOrder is the largest order of matrices with panels of whole columns.
const wideOrder = 2000

// panelWidth returns the number of columns of the panels in which matrices of order n are factored
// and triangles of order n are solved. It does not depend on threads, because sums are as long as
// panels are wide.
func panelWidth(n int) int {
	if n > wideOrder {
		return 2 * whole
	}
	return whole
}

// helpers returns workers of one thread each for the threads of w. The caller releases them by
// release.
func (w *worker) helpers() []*worker {
	all := make([]*worker, max(w.threads, 1))
	for i := range all {
		all[i] = workerOf(w.ctx, 1, &helpers)
		all[i].piece = w.piece
		all[i].tilesFor(1)
	}
	return all
}

func release(all []*worker) {
	for _, w := range all {
		w.free()
	}
}

// panelLU is a factorization by panels of columns. Step k of a panel exchanges its rows as panel k
// requires, computes its rows of U beside panel k, and subtracts the products with panel k from the
// rows below. The panels are the panels of a par.Cascade, so that the next panel is factored while
// others are behind.
type panelLU struct {
	*worker
	a       matrix
	pivots  []int
	least   float64
	width   int
	threads []*worker
	packed  [][]float64    // rows of L below panel k, while other panels need them
	needed  []atomic.Int32 // number of panels that need them
	mu      sync.Mutex     // guards worker.panels
}

// luByPanels is lu for more than a few panels.
func (w *worker) luByPanels(a matrix, pivots []int, least float64) error {
	width := panelWidth(a.cols)
	panels := (a.cols + width - 1) / width
	f := &panelLU{
		worker: w, a: a, pivots: pivots, least: least, width: width, threads: w.helpers(),
		packed: make([][]float64, panels), needed: make([]atomic.Int32, panels),
	}
	defer release(f.threads)
	err := par.Cascade{Panels: panels, Steps: panels, Lead: f.lead, Follow: f.follow}.Run(w.ctx, w.threads)
	if err != nil || pivots == nil {
		return err
	}
	// Rows of a panel have been exchanged up to its own step.
	rooms := make([][]float64, max(w.threads, 1))
	err = par.For(w.ctx, w.threads, panels-1, func(thread, p int) {
		j0, j1 := f.span(p)
		if rooms[thread] == nil {
			rooms[thread] = make([]float64, a.rows)
		}
		room, order := rooms[thread], f.orderBehind(p)
		for j := j0; j < j1; j++ {
			column := a.data[j*a.ld+j1:][:len(order)]
			copy(room, column)
			for i, from := range order {
				column[i] = room[from]
			}
		}
	})
	for p := 1; p < panels && err == nil; p++ {
		from, to := f.span(p)
		for i := range pivots[from:to] {
			pivots[from+i] += from
		}
	}
	return err
}

// orderBehind returns the order in which the rows behind panel p follow after the exchanges of the
// panels behind it: row i of them is row order[i] of them before.
func (f *panelLU) orderBehind(p int) []int {
	_, first := f.span(p)
	order := make([]int, f.a.rows-first)
	for i := range order {
		order[i] = i
	}
	for k := p + 1; k*f.width < f.a.cols; k++ {
		from, _ := f.span(k)
		for i, pivot := range f.pivotsOf(k) {
			x, y := &order[from-first+i], &order[from-first+pivot]
			*x, *y = *y, *x
		}
	}
	return order
}

// span returns the first column of a panel and the end of its columns.
func (f *panelLU) span(p int) (from, to int) {
	return p * f.width, min((p+1)*f.width, f.a.cols)
}

// pivotsOf returns the pivots of a panel, relative to its first row.
func (f *panelLU) pivotsOf(k int) []int {
	if f.pivots == nil {
		return nil
	}
	from, to := f.span(k)
	return f.pivots[from:to]
}

// lead factors panel k and packs its rows below the diagonal block.
func (f *panelLU) lead(thread, k int) error {
	from, to := f.span(k)
	if err := f.threads[thread].lu(f.a.view(from, f.a.rows, from, to), f.pivotsOf(k), f.least); err != nil {
		return err
	}
	later := len(f.packed) - 1 - k
	if later == 0 {
		return nil
	}
	f.needed[k].Store(int32(later))
	f.packed[k] = f.take(f.packedSize(f.a.rows-to, to-from))
	packRows(f.packed[k], f.k.mr, f.a.view(to, f.a.rows, from, to))
	return nil
}

// follow is step k of panel p > k.
func (f *panelLU) follow(thread, p, k int) error {
	w := f.threads[thread]
	from, to := f.span(k)
	j0, j1 := f.span(p)
	exchange(f.a.view(from, f.a.rows, j0, j1), f.pivotsOf(k))
	top := f.a.view(from, to, j0, j1)
	if err := w.lower(f.a.view(from, to, from, to), top); err != nil {
		return err
	}
	w.packAll(top)
	w.tileAll(f.a.view(to, f.a.rows, j0, j1), f.packed[k], w.b, to-from, w.tiles[0])
	if f.needed[k].Add(-1) == 0 {
		f.mu.Lock()
		f.panels = append(f.panels, f.packed[k][:cap(f.packed[k])])
		f.mu.Unlock()
		f.packed[k] = nil
	}
	return nil
}

// take returns memory for the rows of a panel. All panels together take no more than they have
// rows, because later panels have fewer rows and fit in the memory of earlier ones.
func (f *panelLU) take(size int) []float64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	for len(f.panels) > 0 {
		last := len(f.panels) - 1
		x := f.panels[last]
		f.panels = f.panels[:last]
		if len(x) >= size {
			return x[:size]
		}
	}
	return make([]float64, size)
}

// packedSize returns the size of some packed rows with k entries each.
func (w *worker) packedSize(rows, k int) int {
	return (rows + w.k.mr - 1) / w.k.mr * w.k.mr * k
}

// packAll packs the columns of b in w.b.
func (w *worker) packAll(b matrix) {
	nr := w.k.nr
	panels := (b.cols + nr - 1) / nr
	w.b = room(w.b, panels*nr*b.rows)
	for p := range panels {
		packCols(w.b[p*nr*b.rows:(p+1)*nr*b.rows], nr, b.view(0, b.rows, p*nr, min(b.cols, (p+1)*nr)))
	}
}

// groupColumns is the number of columns of a triangle that are packed at a time: a multiple of all
// widths of panels that is less than length.
const groupColumns = 4 * whole

// byColumns solves T X = B for a lower triangle T with ones on its diagonal, or if up is set for an
// upper triangle, by blocks of columns of B. They do not depend on each other. With inverse, B is
// the identity, and its zeros are skipped.
func (w *worker) byColumns(t, b matrix, up, inverse bool) error {
	n, width := t.rows, panelWidth(t.rows)
	panels := (n + width - 1) / width
	wide := whole // columns of a block
	if w.threads > 1 {
		wide = whole / 2
	}
	blocks := (b.cols + wide - 1) / wide
	threads := w.helpers()
	defer release(threads)
	for first := 0; first < panels; first += groupColumns / width {
		group := make([]trianglePanel, min(groupColumns/width, panels-first))
		size := 0
		for i := range group {
			group[i] = panelOf(n, width, first+i, panels, up)
			group[i].at = size
			size += w.packedSize(group[i].end-group[i].begin, group[i].to-group[i].from)
		}
		w.a = room(w.a, size)
		if err := w.packGroup(t, group); err != nil {
			return err
		}
		begin, end := 0, blocks
		if last := group[len(group)-1]; inverse && up {
			begin = last.from / wide
		} else if inverse {
			end = min(blocks, (last.to+wide-1)/wide)
		}
		err := par.For(w.ctx, w.threads, end-begin, func(thread, i int) {
			if up {
				i = end - 1 - i // in the order of decreasing work
			} else {
				i += begin
			}
			h, j0, j1 := threads[thread], i*wide, min((i+1)*wide, b.cols)
			for _, p := range group {
				if inverse && (up && p.from >= j1 || !up && p.to <= j0) {
					continue
				}
				triangle, top := t.view(p.from, p.to, p.from, p.to), b.view(p.from, p.to, j0, j1)
				if up {
					_ = h.upper(triangle, top)
				} else {
					_ = h.lower(triangle, top)
				}
				h.packAll(top)
				h.tileAll(b.view(p.begin, p.end, j0, j1), w.a[p.at:], h.b, p.to-p.from, h.tiles[0])
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// trianglePanel is a panel of columns of a triangle, with the rows beside its diagonal block.
type trianglePanel struct {
	from, to   int
	begin, end int
	at         int // place of its packed rows
}

// panelOf returns the panel with the given number in the order of solution.
func panelOf(n, width, number, panels int, up bool) trianglePanel {
	if up {
		number = panels - 1 - number
	}
	p := trianglePanel{from: number * width, to: min((number+1)*width, n)}
	if up {
		p.end = p.from
	} else {
		p.begin, p.end = p.to, n
	}
	return p
}

// packGroup packs the rows of panels of a triangle in w.a.
func (w *worker) packGroup(t matrix, group []trianglePanel) error {
	some := 8 * w.k.mr // rows a call
	parts := (t.rows + some - 1) / some
	return par.For(w.ctx, w.threads, parts*len(group), func(_, i int) {
		p := group[i/parts]
		first := p.begin + i%parts*some
		last := min(first+some, p.end)
		if first < last {
			k := p.to - p.from
			at := p.at + (first-p.begin)*k
			packRows(w.a[at:at+w.packedSize(last-first, k)], w.k.mr, t.view(first, last, p.from, p.to))
		}
	})
}
