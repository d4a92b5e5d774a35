// Package par runs loops on several goroutines with cancellation. Run holds the options that all
// routines pass on: context, threads, memory, progress.
package par

import (
	"context"
	"sync"
	"sync/atomic"
)

// Each calls f(i) for every 0 <= i < n like [For], with several calls to a task. It is for calls
// that take less than a microsecond.
func Each(ctx context.Context, threads, n int, f func(i int)) error {
	const some = 16
	return For(ctx, threads, (n+some-1)/some, func(_, part int) {
		for i := part * some; i < min(n, (part+1)*some); i++ {
			f(i)
		}
	})
}

// For calls f(worker, i) for every 0 <= i < n on up to threads goroutines; the next i goes to the
// first free worker. If ctx is cancelled For returns its error as soon as the calls under way have
// ended; else it returns nil.
func For(ctx context.Context, threads, n int, f func(worker, i int)) error {
	threads = min(threads, n)
	if threads <= 1 {
		for i := range n {
			if err := ctx.Err(); err != nil {
				return err
			}
			f(0, i)
		}
		return ctx.Err()
	}
	var next atomic.Int64
	work := func(w int) {
		for ctx.Err() == nil {
			i := int(next.Add(1)) - 1
			if i >= n {
				return
			}
			f(w, i)
		}
	}
	if pollers() {
		crew.Share(threads, work)
		return ctx.Err()
	}
	var wg sync.WaitGroup
	for w := range threads {
		wg.Go(func() { work(w) })
	}
	wg.Wait()
	return ctx.Err()
}

// crew runs the loops of For.
var crew Crew
