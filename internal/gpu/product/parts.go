package product

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/residue"
)

// parts is a product of host matrices in parts, each of which fits in a device's memory. The
// devices process the parts concurrently; the next part goes to the first free device.
type parts struct {
	devs        []*cuda.Device
	cfg         Config
	limit       int64 // bytes of the operands and results of a part
	least       int   // parts are not split below so many rows or columns to occupy several devices
	alpha, beta num.Real

	mu    sync.Mutex // guards the following fields
	err   error      // the first error
	stats residue.Stats
	ran   []int        // numbers of GPUs that ran parts
	left  []place.Rest // parts left to the host
}

// leastPart keeps parts for several devices large enough to fill tiles.
const leastPart = 2 * abi.Tile

// A part is a block of the result with its operands.
type part struct {
	a, b, old, c num.Mat
	triangle     byte
	i0, j0       int // position of its entry (0, 0)
}

// work returns the number of multiply-adds.
func (q part) work() float64 {
	w := float64(q.c.Rows) * float64(q.c.Cols) * float64(q.a.Cols)
	if q.triangle != 0 {
		w /= 2
	}
	return w
}

// bytes returns the bytes of operands and result.
func (q part) bytes() int64 {
	n := matBytes(q.a) + matBytes(q.b) + matBytes(q.c)
	if q.old.Arr != nil && q.old.Arr.Format != q.c.Arr.Format {
		n += matBytes(q.old)
	}
	return n
}

// block returns the part for rows i0 <= i < i1 and columns j0 <= j < j1 of q.
func (q part) block(i0, i1, j0, j1 int, triangle byte) part {
	k := q.a.Cols
	return part{block(q.a, i0, i1, 0, k), block(q.b, 0, k, j0, j1), block(q.old, i0, i1, j0, j1), block(q.c, i0, i1, j0, j1), triangle, q.i0 + i0, q.j0 + j0}
}

// matBytes returns the bytes of the entries of a view.
func matBytes(m num.Mat) int64 { return int64(m.Rows) * int64(m.Cols) * num.SizeOf(m.Arr.Format) }

// block returns rows i0 <= i < i1 and columns j0 <= j < j1 of m.
func block(m num.Mat, i0, i1, j0, j1 int) num.Mat {
	if m.Arr != nil {
		m.Off = m.At(i0, j0)
	}
	m.Rows, m.Cols = i1-i0, j1-j0
	return m
}

// byRows reports whether q is split by rows, so that all devices get the smaller factor.
func (q part) byRows() bool {
	return q.c.Cols == 1 || q.c.Rows > 1 && matBytes(q.a) > matBytes(q.b)
}

// halves splits q in two. A triangle is split into two triangles and the rectangle between them.
func (q part) halves() []part {
	m, n := q.c.Rows, q.c.Cols
	h := n / 2
	switch {
	case q.triangle == 'U':
		return []part{q.block(0, h, 0, h, 'U'), q.block(h, n, h, n, 'U'), q.block(0, h, h, n, 0)}
	case q.triangle != 0:
		return []part{q.block(0, h, 0, h, 'L'), q.block(h, n, h, n, 'L'), q.block(h, n, 0, h, 0)}
	case q.byRows():
		return []part{q.block(0, m/2, 0, n, 0), q.block(m/2, m, 0, n, 0)}
	}
	return []part{q.block(0, m, 0, h, 0), q.block(0, m, h, n, 0)}
}

// stripes splits q, which is not a triangle, into count parts of similar size, or into fewer that
// have the least size.
func (q part) stripes(count, least int) []part {
	m, n := q.c.Rows, q.c.Cols
	if q.byRows() {
		return cut(m, count, least, func(i0, i1 int) part { return q.block(i0, i1, 0, n, 0) })
	}
	return cut(n, count, least, func(j0, j1 int) part { return q.block(0, m, j0, j1, 0) })
}

// cut splits n into count ranges of similar size, or into fewer that have the least size.
func cut(n, count, least int, f func(from, to int) part) (list []part) {
	count = max(1, min(count, n/least))
	for k := range count {
		list = append(list, f(k*n/count, (k+1)*n/count))
	}
	return list
}

// fitting splits q into parts that fit in memory.
func (p *parts) fitting(q part) []part {
	if q.bytes() <= p.limit && counted(q.c.Rows, q.c.Cols) || q.c.Rows == 1 && q.c.Cols == 1 {
		return []part{q}
	}
	return p.each(q.halves(), p.fitting)
}

// each concatenates the results of f for all parts.
func (p *parts) each(list []part, f func(part) []part) (out []part) {
	for _, q := range list {
		out = append(out, f(q)...)
	}
	return out
}

// list returns the parts of q, the largest first.
func (p *parts) list(q part) []part {
	list := []part{q}
	if devs := len(p.devs); devs > 1 {
		if q.triangle == 0 {
			list = q.stripes(devs, p.least)
		} else {
			// Fine enough that the devices finish at about the same time.
			share := q.work() / float64(2*devs)
			var finer func(q part) []part
			finer = func(q part) []part {
				if q.work() <= share || min(q.c.Rows, q.c.Cols) < 2*p.least {
					return []part{q}
				}
				return p.each(q.halves(), finer)
			}
			list = finer(q)
		}
	}
	list = p.each(list, p.fitting)
	slices.SortStableFunc(list, func(a, b part) int { return cmp.Compare(b.work(), a.work()) })
	return list
}

// run computes C, or a triangle of it. The first error stops all devices.
func (p *parts) run(a, b, old, c num.Mat) (residue.Stats, error) {
	whole := part{a: a, b: b, old: old, c: c, triangle: p.cfg.Triangle}
	list := p.list(whole)
	devs := p.devs[:min(len(p.devs), len(list))]
	queue := make(chan part, len(list))
	for _, q := range list[len(devs):] {
		queue <- q
	}
	close(queue)
	cfg := p.cfg
	cfg.Threads = max(1, cfg.Threads/len(devs))
	if len(list) > len(devs) { // a factor that all parts share is kept on the devices until the end
		for side, m := range []num.Mat{a, b} {
			if cfg.Copies[side] == nil {
				cfg.Copies[side] = NewCopies(m)
				defer cfg.Copies[side].Free()
			}
		}
	}
	ctx, cancel := context.WithCancel(cfg.Ctx)
	defer cancel()
	cfg.Ctx = ctx
	done := newMeter(cfg.Progress)
	one := func(dev *cuda.Device, q part) bool {
		cfg := cfg
		cfg.Triangle, cfg.Progress = q.triangle, done.share(q.work()/whole.work())
		err := gemm(dev, cfg, p.alpha, p.beta, q, outcome{func(s residue.Stats) { p.add(dev, s) }, p.leave})
		if err != nil {
			p.fail(err)
			cancel()
		}
		return err == nil
	}
	work := func(i int) {
		ok := one(devs[i], list[i])
		for ok {
			q, more := <-queue
			ok = more && one(devs[i], q)
		}
	}
	var wg sync.WaitGroup
	for i := range devs[1:] {
		wg.Go(func() { work(1 + i) })
	}
	work(0)
	wg.Wait()
	p.stats.Device = p.device()
	switch {
	case p.err != nil:
		return p.stats, p.err
	case len(p.left) > 0:
		slices.SortFunc(p.left, func(x, y place.Rest) int { return cmp.Or(cmp.Compare(x.I0, y.I0), cmp.Compare(x.J0, y.J0)) })
		return p.stats, &place.Declined{List: p.left}
	}
	done.finish()
	return p.stats, nil
}

// leave records a part that is left to the host.
func (p *parts) leave(q part) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.left = append(p.left, place.Rest{I0: q.i0, I1: q.i0 + q.c.Rows, J0: q.j0, J1: q.j0 + q.c.Cols, Triangle: q.triangle})
}

// fail records the first error.
func (p *parts) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.err = cmp.Or(p.err, err)
}

// add adds the statistics of work that dev has done.
func (p *parts) add(dev *cuda.Device, s residue.Stats) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := dev.Info().Index; !slices.Contains(p.ran, i) {
		p.ran = append(p.ran, i)
	}
	if p.stats.Method == "" {
		p.stats = s
		return
	}
	t := &p.stats
	t.Moduli, t.WidthL, t.WidthR = max(t.Moduli, s.Moduli), max(t.WidthL, s.WidthL), max(t.WidthR, s.WidthR)
	t.Products += s.Products
	t.Blocks += s.Blocks
	t.Exact += s.Exact
	t.Overflow += s.Overflow
	t.Underflow += s.Underflow
	t.Check.Add(s.Check)
	for _, x := range s.Stages {
		i := slices.IndexFunc(t.Stages, func(y residue.Stage) bool { return y.Name == x.Name })
		if i < 0 {
			t.Stages = append(t.Stages, x)
		} else {
			t.Stages[i].Time += x.Time
		}
	}
}

// device returns the names of all devices that ran parts: cuda:0,2 for two GPUs.
func (p *parts) device() string {
	var names []string
	slices.Sort(p.ran)
	for k, i := range p.ran {
		name := strconv.Itoa(i)
		if k == 0 {
			name = "cuda:" + name
		}
		names = append(names, name)
	}
	return strings.Join(names, ",")
}
