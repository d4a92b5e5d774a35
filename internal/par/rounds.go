package par

import (
	"context"
	"runtime"
	"sync/atomic"
)

// Rounds runs short loops in turn, with serial work before each. In round r = 0, 1, ... it calls
// lead(r), which returns the number of calls of the round, or a negative number after the last
// round. Then it calls f(worker, i) for all of them on up to threads goroutines, and goes on when
// all have ended. In most rounds call i runs on worker i % threads. The goroutines poll between
// rounds, so that a round takes about a microsecond more than its calls, and several times less
// than a loop of For. If ctx is cancelled Rounds returns its error after the current round.
func Rounds(ctx context.Context, threads int, lead func(round int) int, f func(worker, i int)) error {
	if threads <= 1 || !pollers() {
		for r := 0; ; r++ {
			n := lead(r)
			if n < 0 {
				return ctx.Err()
			}
			if err := For(ctx, threads, n, f); err != nil {
				return err
			}
		}
	}
	t := &rounds{f: f, threads: threads}
	crew.Share(threads, func(worker int) {
		if worker > 0 {
			t.follow(worker)
			return
		}
		defer t.now.Store(last) // also if lead or f panics
		for r := 0; ctx.Err() == nil; r++ {
			n := lead(r)
			if n < 0 {
				return
			}
			t.run(int64(r)+1, n)
		}
	})
	return ctx.Err()
}

// rounds are running Rounds.
type rounds struct {
	f       func(worker, i int)
	threads int
	now     atomic.Pointer[round] // nil before the first round; polled
	_       [64]byte
	calls   []*call
}

// round is a round, numbered from 1 on.
type round struct {
	number int64
	calls  []*call
}

// last stands for the end of all rounds.
var last = new(round)

// spins is how often a goroutine polls before it lets others run.
const spins = 1 << 14

// call is a call of f in a cache line of its own: the last rounds in which it was claimed by a
// worker, and in which it ended.
type call struct {
	claimed, ended atomic.Int64
	_              [48]byte
}

// try runs call i of a round on a worker, unless another worker has claimed it.
func (t *rounds) try(r *round, worker, i int) {
	c := r.calls[i]
	if was := c.claimed.Load(); was >= r.number || !c.claimed.CompareAndSwap(was, r.number) {
		return
	}
	defer c.ended.Store(r.number) // also if f panics or ends the goroutine
	t.f(worker, i)
}

// run runs a round of n calls: first the calls of worker 0, then the calls that no other worker has
// claimed yet.
func (t *rounds) run(number int64, n int) {
	for len(t.calls) < n {
		t.calls = append(t.calls, new(call))
	}
	r := &round{number, t.calls[:n]}
	t.now.Store(r)
	for i := 0; i < n; i += t.threads {
		t.try(r, 0, i)
	}
	for i := range n {
		t.try(r, 0, i)
	}
	for _, c := range r.calls {
		for k := 1; c.ended.Load() < number; k++ {
			if k%spins == 0 {
				runtime.Gosched()
			}
		}
	}
}

// follow runs the calls of a worker in all rounds to come.
func (t *rounds) follow(worker int) {
	var seen *round
	for k := 1; seen != last; k++ {
		r := t.now.Load()
		if r == seen {
			if k%spins == 0 {
				runtime.Gosched()
			}
			continue
		}
		seen = r
		for i := worker; i < len(r.calls); i += t.threads {
			t.try(r, worker, i)
		}
	}
}
