package rns

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/place"
)

// A run is one call of a routine.
type run struct {
	Options  // without zeros
	name     string
	b        *Base
	ctx      context.Context
	at       place.Place // nil for the host
	resident bool        // whether the operands live at that place
	stats    halfulp.Stats
	since    time.Time

	mu   sync.Mutex
	done float64 // guarded by mu
}

// begin checks the options of routine name, and finds where it runs: where its operands live, or
// for operands of the host, where the options say.
func begin(name string, opt *Options, b *Base, operands ...view) (*run, error) {
	name = "rns." + name
	var places []place.Place
	for _, v := range operands {
		places = append(places, v.arr.where())
	}
	at, err := place.Same(name, places...)
	if err != nil {
		return nil, err
	}
	r := &run{name: name, b: b, ctx: context.Background(), at: at, resident: at != nil, since: time.Now()}
	if r.Options, err = opt.with(); err == nil && r.Context != nil {
		r.ctx = r.Context
		err = r.ctx.Err()
	}
	if err == nil && !r.resident {
		r.at, err = deviceOf(r.Device)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	r.stats = halfulp.Stats{Device: place.Label(r.at), Method: "rns", Threads: r.Threads, Moduli: b.n}
	return r, nil
}

// deviceOf returns the place that Options.Device names, the first of several, or nil for the host.
func deviceOf(d halfulp.Device) (place.Place, error) {
	n, err := place.ParseName(string(d))
	if err != nil || !n.IsPlace() {
		return nil, err
	}
	p, err := n.Open()
	if err != nil {
		return nil, err
	}
	return p.First(), nil
}

// end stores the statistics of a routine if its options ask for them, and returns its error. The
// statistics have one stage unless the routine noted its own stages.
func (r *run) end(stage string, err error) error {
	if err == nil {
		r.finish(stage)
	}
	if r.Stats != nil {
		*r.Stats = r.stats
	}
	if err != nil {
		return fmt.Errorf("%s: %w", r.name, err)
	}
	return nil
}

// finish notes the last stage.
func (r *run) finish(stage string) {
	total := time.Since(r.since)
	if r.stats.Stages == nil {
		r.stats.Stages = []halfulp.Stage{{Name: stage, Time: total}}
	} else { // the steps of algorithm 1
		for _, s := range r.stats.Stages {
			total -= s.Time
		}
		r.stats.Stages = append(r.stats.Stages, halfulp.Stage{Name: copiesStep, Time: max(total, 0)})
	}
	if r.Progress != nil {
		r.Progress(1)
	}
}

// number is end for a routine that returns the number z.
func (r *run) number(stage string, z *Number, err error) (*Number, error) {
	if err := r.end(stage, err); err != nil {
		return nil, err
	}
	return z, nil
}

// advance reports a share of the work.
func (r *run) advance(share float64) {
	if r.Progress == nil || share == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done = min(1, r.done+share)
	r.Progress(r.done)
}

// room returns an error if n numbers of the host take more memory than the limit.
func (r *run) room(n int) error {
	if need := int64(4*r.b.n+headBytes) * int64(n); r.MemoryLimit > 0 && need > r.MemoryLimit {
		return fmt.Errorf("%w: %d bytes of %d allowed for %d numbers", halfulp.ErrMemory, need, r.MemoryLimit, n)
	}
	return nil
}

// headBytes bounds the memory of a number beside its residues.
const headBytes = 40

// grain is the number of operations below which a goroutine is not worth its cost, interval the
// number of steps between two looks at the context.
const (
	grain    = 64
	interval = 256
)

// stopped reports whether the context is cancelled; it looks only at some of the steps k.
func (r *run) stopped(k int) bool { return k%interval == 0 && r.ctx.Err() != nil }

// each calls f for parts of [0, n), each item of so many operations, on several goroutines, each
// with its scratch memory. share is its part of the routine's work.
func (r *run) each(n, cost int, share float64, f func(lo, hi int, w *scratch)) error {
	grain := max(grain/max(cost, 1), 1)
	parts := (n + grain - 1) / grain
	return par.For(r.ctx, r.Threads, parts, func(_, i int) {
		w := r.b.getScratch()
		f(i*grain, min((i+1)*grain, n), w)
		r.b.putScratch(w)
		r.advance(share / float64(parts))
	})
}

// blocks calls f for every i of [0, n), like each for items of much work; s is the block of threads
// that a goroutine simulates.
func (r *run) blocks(n int, share float64, f func(i int, s *block)) error {
	blocks := make([]*block, r.Threads)
	return par.For(r.ctx, r.Threads, n, func(worker, i int) {
		if blocks[worker] == nil {
			blocks[worker] = newBlock(r)
		}
		f(i, blocks[worker])
		r.advance(share / float64(n))
	})
}

// columns calls f for parts lo ≤ i < hi of the columns j of a matrix, like each.
func (r *run) columns(a *Matrix, cost int, f func(j, lo, hi int, w *scratch)) error {
	if a.rows == 0 {
		return r.ctx.Err()
	}
	return r.each(a.rows*a.cols, cost, 1, func(lo, hi int, w *scratch) {
		for lo < hi {
			j, i := lo/a.rows, lo%a.rows
			end := min(a.rows, i+hi-lo)
			f(j, i, end, w)
			lo += end - i
		}
	})
}
