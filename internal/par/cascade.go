package par

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// A Cascade computes panels in steps, as blocked eliminations do. Panel p has the steps 0 ≤ k ≤ p,
// k < Steps. Step k of any later panel needs the results of step k of panel k, which leads it.
//
// The panels that lead the next steps come first, and then the panels with the fewest steps. A
// worker stays with a panel for some steps, whose data its cache holds.
type Cascade struct {
	Panels, Steps int
	// Width returns the number of panels, at least 1, from panel k on whose step k Lead computes.
	// nil: always 1.
	Width func(k int) int
	// Lead computes step k of the panels k ≤ p < k + Width(k), once their earlier steps are done.
	Lead func(worker, k int) error
	// Follow computes step k of panel p, once Lead(k) and the earlier steps of the panel are done.
	Follow func(worker, p, k int) error
	// Led is called after Lead(k), for one k at a time in order. It may be nil.
	Led func(k int)
}

const (
	// together is the number of steps of a panel that a worker computes before it looks for
	// another.
	together = 4
	// lookahead is the number of panels behind the next leading one that are computed first.
	lookahead = 2
)

// cascade is a running Cascade.
type cascade struct {
	Cascade
	mu      sync.Mutex
	change  sync.Cond
	changes atomic.Int64 // how often led or over changed
	done    []int        // steps of each panel that are done
	busy    []bool       // panels that a worker computes
	led     int          // steps whose Lead is done
	active  int          // workers that compute
	over    bool
	alone   bool // there is one worker
	// the first failed step (or Steps), its first failed panel, and that error
	failed, at int
	err        error
}

// Run computes all steps with up to the given number of workers, numbered from 0. After an error it
// computes the other panels up to the failed step, and returns the error of the first failed step,
// and of its first panel. If ctx is done, Run returns its error.
func (c Cascade) Run(ctx context.Context, threads int) error {
	r := &cascade{Cascade: c, done: make([]int, c.Panels), busy: make([]bool, c.Panels), failed: c.Steps}
	r.change.L = &r.mu
	threads = min(threads, c.Panels)
	if r.alone = threads <= 1; r.alone {
		r.work(ctx, 0)
	} else {
		// Once a worker returns nothing is left to begin.
		crew.Share(threads, func(worker int) { r.work(ctx, worker) })
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return r.err
}

func (r *cascade) width(k int) int {
	if r.Width == nil {
		return 1
	}
	return r.Width(k)
}

// next returns a panel that can go on, and whether it leads a step; -1 if there is none.
//
// It prefers the panel that leads the next step, and the panels that lead the steps after it. One
// worker alone prefers panels that are many steps behind, so that they share the results of these
// steps in its cache.
func (r *cascade) next() (p int, leads bool) {
	end := min(r.led, r.failed+1) // steps that later panels may compute
	behind, least := -1, end      // the panel with the fewest steps
	near := -1
	for p := r.led; p < r.Panels; p++ {
		switch {
		case r.busy[p] || r.done[p] >= end:
		case near < 0 && p <= r.led+lookahead:
			near = p
		case r.done[p] < least:
			behind, least = p, r.done[p]
		}
	}
	switch {
	case r.alone && behind >= 0 && end-least >= together:
		return behind, false
	case r.canLead():
		return r.led, true
	case near >= 0:
		return near, false
	}
	return behind, false
}

// canLead reports whether Lead can compute its next step.
func (r *cascade) canLead() bool {
	k := r.led
	if k >= r.Steps || k > r.failed {
		return false
	}
	for p := k; p < k+r.width(k); p++ {
		if r.busy[p] || r.done[p] != k {
			return false
		}
	}
	return true
}

// work computes steps until all are done.
func (r *cascade) work(ctx context.Context, worker int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for !r.over {
		p, leads := r.next()
		switch {
		case p < 0 && r.active == 0 || ctx.Err() != nil:
			r.over = true
			r.changed()
		case p < 0:
			r.wait()
		case leads:
			r.lead(worker)
		default:
			r.follow(worker, p)
		}
	}
}

// changed wakes the workers that wait.
func (r *cascade) changed() {
	r.changes.Add(1)
	r.change.Broadcast()
}

// patience is how long a worker polls before it sleeps, see Crew.
const patience = 100 * time.Microsecond

// wait waits for a change.
func (r *cascade) wait() {
	seen := r.changes.Load()
	if pollers() {
		r.mu.Unlock()
		LookOut(patience, func() bool { return r.changes.Load() != seen })
		r.mu.Lock()
	}
	for r.changes.Load() == seen {
		r.change.Wait()
	}
}

// lead computes the next step of the panels that lead it.
func (r *cascade) lead(worker int) {
	k := r.led
	width := r.width(k)
	for p := k; p < k+width; p++ {
		r.busy[p] = true
	}
	r.active++
	r.mu.Unlock()
	err := r.Lead(worker, k)
	r.mu.Lock()
	r.active--
	for p := k; p < k+width; p++ {
		r.busy[p] = false
		r.done[p] = k + 1
	}
	if err != nil {
		r.fails(k, k, err)
		return
	}
	r.led++
	if r.Led != nil {
		r.Led(k)
	}
	r.changed()
}

// follow computes some steps of panel p.
func (r *cascade) follow(worker, p int) {
	r.busy[p] = true
	r.active++
	for range together {
		k := r.done[p]
		if k >= min(r.led, r.failed+1) || r.over {
			break
		}
		r.mu.Unlock()
		err := r.Follow(worker, p, k)
		r.mu.Lock()
		r.done[p]++
		if err != nil {
			r.fails(k, p, err)
		}
	}
	r.busy[p] = false
	r.active--
}

// fails notes an error.
func (r *cascade) fails(k, p int, err error) {
	if k < r.failed || k == r.failed && p < r.at {
		r.failed, r.at, r.err = k, p, err
	}
}
