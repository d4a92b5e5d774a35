package product

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/residue"
)

// A flow is a product of host matrices in panels: rows or columns of C, with the corresponding rows
// or columns of one factor. While the device computes a panel, the next panels are copied to the
// device and the results of earlier panels are copied back, on separate threads.
type flow struct {
	dev         *cuda.Device
	cfg         Config
	alpha, beta num.Real
	shared      int // the factor that all panels use
	list        []part
	outcome

	mu  sync.Mutex
	err error // guarded by mu
}

// The fewest bytes that a panel transfers in both directions, which is 1.5 ms of the bus of an
// H100, of which the scan and the plan of another panel take 0.2 ms; and its fewest rows or
// columns. Tests change them.
var (
	panelBytes = int64(64 << 20)
	leastPanel = 2 * leastPart
)

// mostPanels is the most panels. A product of float64 matrices of order 8192 takes 41.6, 41.0 and
// 42.6 ms in 4, 8 and 16 panels on an H100.
const mostPanels = 8

// ahead is the most panels on the device: one that arrives, one that is computed, one that leaves.
const ahead = 3

// panels splits q into panels, along the factor whose panels are contiguous and that has no kept
// copies, and returns the other factor as shared. It returns no panels for a triangle or a small
// product.
func (q part) panels(kept [2]*Copies) (shared int, list []part) {
	columns := q.b.RS == 1 && q.b.CS == q.b.Rows && !kept[rightSide].of(q.b)
	rows := q.a.CS == 1 && q.a.RS == q.a.Cols && !kept[leftSide].of(q.a)
	if columns && rows {
		columns = q.c.RS == 1
	}
	m, n := q.c.Rows, q.c.Cols
	factor, length, block := q.b, n, func(from, to int) part { return q.block(0, m, from, to, 0) }
	switch {
	case q.triangle != 0:
		return leftSide, nil
	case columns:
		shared = leftSide
	case rows:
		shared = rightSide
		factor, length, block = q.a, m, func(from, to int) part { return q.block(from, to, 0, n, 0) }
	default:
		return leftSide, nil
	}
	count := min(mostPanels, int((matBytes(factor)+matBytes(q.c))/panelBytes), length/leastPanel)
	for i := range count {
		at := func(i int) int { return min(roundUp(i*length/count, abi.Tile), length) }
		list = append(list, block(at(i), at(i+1)))
	}
	return shared, list
}

func (f *flow) run(whole part) error {
	up, err := f.dev.SideStream(0)
	if err != nil {
		return err
	}
	down, err := f.dev.SideStream(1)
	if err != nil {
		return err
	}
	// The copy of the shared factor is kept until the end, with its residues if there is room.
	factor := [2]num.Mat{whole.a, whole.b}[f.shared]
	if f.cfg.Copies[f.shared] == nil {
		f.cfg.Copies[f.shared] = NewCopies(factor)
		defer f.cfg.Copies[f.shared].Free()
	}
	var copied mem.Matrix
	free := func() {}
	defer func() { free() }()
	err = f.dev.Do(f.cfg.Ctx, func(s *cuda.Stream) error {
		m, give, err := f.cfg.Copies[f.shared].get(s, factor)
		copied, free = m, give
		return err
	})
	if err != nil {
		return err
	}
	// If there is no memory for a further panel, no more panels are copied to the device, but the
	// panels on the device are computed and copied back. Whether memory suffices depends on timing,
	// and so must not decide whether the product fails.
	ctx, cancel := context.WithCancel(f.cfg.Ctx)
	defer cancel()
	rising, cancelRising := context.WithCancel(ctx)
	defer cancelRising()
	progress := newMeter(f.cfg.Progress)
	count := len(f.list)
	// panels that wait for the copy to the device, for the device, for the copy back, and finished
	// ones
	queues := make([]chan *panel, 4)
	for i := range queues {
		queues[i] = make(chan *panel, count)
	}
	all := make([]*panel, count)
	for i, q := range f.list {
		p := &panel{carried: carried{part: q, cfg: f.cfg, alpha: f.alpha, beta: f.beta}, takes: q.bytes() - matBytes(factor)}
		p.factors[f.shared] = &copied
		p.cfg.Ctx, p.cfg.Progress = ctx, progress.share(q.work()/whole.work())
		p.cfg.coming = func() int64 { return coming(all[i+1 : min(i+ahead, count)]) }
		all[i] = p
		queues[0] <- p
	}
	close(queues[0])
	room := make(chan struct{}, ahead)
	// stage passes panels from a queue to the next, until an error occurs or ctx is cancelled.
	stage := func(ctx context.Context, i int, do func(p *panel) error) {
		defer close(queues[i+1])
		for p := range queues[i] {
			if ctx.Err() != nil {
				return
			}
			if err := do(p); err != nil {
				if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
					return
				}
				f.fail(residue.Shifted(err, p.i0, p.j0))
				cancelRising()
				if !errors.Is(err, cuda.ErrMemory) {
					cancel()
				}
				return
			}
			queues[i+1] <- p
		}
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		stage(rising, 0, func(p *panel) error {
			select {
			case room <- struct{}{}:
			case <-rising.Done():
				return rising.Err()
			}
			return up.Do(rising, p.goUp)
		})
	})
	wg.Go(func() {
		stage(ctx, 2, func(p *panel) error {
			p.leaves = true
			if err := down.Do(ctx, p.comeDown); err != nil {
				return err
			}
			p.free()
			if p.declined {
				f.leave(p.part)
			} else {
				f.add(p.stats)
				if p.cfg.Progress != nil {
					p.cfg.Progress(1)
				}
			}
			<-room
			p.ended = true
			return nil
		})
	})
	stage(ctx, 1, func(p *panel) error {
		err := f.dev.Do(ctx, p.pass)
		if errors.Is(err, errRange) { // no kernel reads operands any more
			p.declined, err = true, nil
		}
		return err
	})
	wg.Wait()
	if f.err == nil && len(queues[3]) < count {
		f.err = f.cfg.Ctx.Err()
	}
	f.end(up, down, all)
	if errors.Is(f.err, cuda.ErrMemory) {
		return f.oneByOne(all, &copied)
	}
	return f.err
}

// oneByOne computes the panels that have not ended, each alone on the device: several panels
// together, or the memory that one needs beside others, did not fit. A panel whose results may have
// been copied in part over old entries is not tried again.
func (f *flow) oneByOne(all []*panel, copied *mem.Matrix) error {
	for _, p := range all {
		if p.ended {
			continue
		}
		if p.leaves {
			return cmp.Or(f.cfg.Ctx.Err(), f.err)
		}
		q := carried{part: p.part, cfg: p.cfg, alpha: f.alpha, beta: f.beta}
		q.factors[f.shared] = copied
		q.cfg.Ctx, q.cfg.coming = f.cfg.Ctx, nil
		if err := q.run(f.dev, f.outcome); err != nil {
			return err
		}
	}
	return nil
}

// A panel is a part of a flow.
type panel struct {
	carried
	there, computed *cuda.Event
	takes           int64 // bytes on the device
	arrived         atomic.Bool
	declined        bool // left to the host
	leaves, ended   bool // its results are being copied, or have been copied, to the host
}

// goUp copies a panel to the device.
func (p *panel) goUp(s *cuda.Stream) error {
	if err := p.up(s); err != nil {
		return err
	}
	p.arrived.Store(true)
	return record(s, &p.there)
}

// coming returns the bytes that panels will take on the device that have not arrived yet.
func coming(list []*panel) (bytes int64) {
	for _, p := range list {
		if !p.arrived.Load() {
			bytes += p.takes
		}
	}
	return bytes
}

// pass computes the panel.
func (p *panel) pass(s *cuda.Stream) error {
	if err := s.Wait(p.there); err != nil {
		return err
	}
	if err := p.compute(s); err != nil {
		return err
	}
	return record(s, &p.computed)
}

// comeDown copies the results to the host.
func (p *panel) comeDown(s *cuda.Stream) error {
	if p.declined {
		return nil
	}
	if err := s.Wait(p.computed); err != nil {
		return err
	}
	return p.down(s)
}

// record records a new event after the operations of s so far.
func record(s *cuda.Stream, e **cuda.Event) (err error) {
	if *e, err = s.NewEvent(); err != nil {
		return err
	}
	return s.Record(*e)
}

// end waits for operations in progress after an error, and frees the panels' data.
func (f *flow) end(up, down *cuda.Device, all []*panel) {
	ctx := context.WithoutCancel(f.cfg.Ctx)
	if f.err != nil {
		for _, dev := range []*cuda.Device{up, f.dev, down} {
			_ = dev.Do(ctx, (*cuda.Stream).Synchronize) // fails only if the device is lost
		}
	}
	_ = f.dev.Do(ctx, func(*cuda.Stream) error {
		for _, p := range all {
			p.free()
			for _, e := range []*cuda.Event{p.there, p.computed} {
				if e != nil {
					e.Close()
				}
			}
		}
		return nil
	})
}

// fail records the first error, or the first that is not about memory.
func (f *flow) fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err == nil || errors.Is(f.err, cuda.ErrMemory) && !errors.Is(err, cuda.ErrMemory) {
		f.err = err
	}
}
