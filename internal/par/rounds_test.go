package par

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestRounds runs rounds of loops from several goroutines, whose calls are now and then slow. Every
// call of a round runs once, after the lead of its round and before the lead of the next one.
func TestRounds(t *testing.T) {
	defer func(was int) { manyProcessors = was }(manyProcessors)
	for _, many := range []int{1, 1 << 30} {
		manyProcessors = many
		var wg sync.WaitGroup
		for caller := range 3 {
			wg.Go(func() {
				for threads := range 5 {
					const last = 40
					var counts []atomic.Int64
					at := -1
					err := Rounds(context.Background(), threads, func(round int) int {
						for i := range counts {
							if n := counts[i].Load(); n != 1 {
								t.Errorf("call %d of %d in round %d ran %d times", i, len(counts), at, n)
							}
						}
						if at++; round != at {
							t.Errorf("round %d follows %d", round, at-1)
						}
						if round == last {
							return -1
						}
						counts = make([]atomic.Int64, (round+caller)%9)
						return len(counts)
					}, func(worker, i int) {
						if worker < 0 || worker >= max(threads, 1) {
							t.Errorf("worker %d of %d", worker, threads)
						}
						if at%10 == 3 && i == 2 {
							time.Sleep(time.Millisecond)
						}
						if at%10 == 5 {
							runtime.Gosched()
						}
						counts[i].Add(1)
					})
					if err != nil || at != last {
						t.Errorf("%d rounds, %v", at, err)
					}
				}
			})
		}
		wg.Wait()
	}
}

// TestRoundsEnd checks that rounds end at once without a first round, and after the round in which
// the context is cancelled.
func TestRoundsEnd(t *testing.T) {
	defer func(was int) { manyProcessors = was }(manyProcessors)
	for _, many := range []int{1, 1 << 30} {
		manyProcessors = many
		if err := Rounds(context.Background(), 3, func(int) int { return -1 }, func(int, int) { t.Error("called for nothing") }); err != nil {
			t.Error(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		rounds := 0
		err := Rounds(ctx, 3, func(int) int { rounds++; return 4 }, func(_, i int) {
			if rounds == 2 && i == 3 {
				cancel()
			}
		})
		if !errors.Is(err, context.Canceled) || rounds != 2 {
			t.Errorf("%d rounds, %v", rounds, err)
		}
	}
}
