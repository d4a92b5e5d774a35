package par

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestCrew calls one crew from several goroutines, while its members poll, sleep or are busy, and
// ends some calls early. Every number is called once before Do returns.
func TestCrew(t *testing.T) {
	defer func(was int) { manyProcessors = was }(manyProcessors)
	for _, many := range []int{1, 1 << 30} {
		manyProcessors = many
		var c Crew
		c.Do(0, func(int) { t.Error("called for nothing") })
		var wg sync.WaitGroup
		for caller := range 4 {
			wg.Go(func() {
				for round := range 30 {
					n := (caller + round) % 5
					counts := make([]atomic.Int64, n)
					c.Do(n, func(i int) {
						if round%10 == 9 {
							time.Sleep(3 * time.Millisecond)
						}
						counts[i].Add(1)
						if i > 0 && round%7 == 3 {
							runtime.Goexit()
						}
					})
					for i := range counts {
						if got := counts[i].Load(); got != 1 {
							t.Errorf("%d of %d was called %d times", i, n, got)
						}
					}
				}
			})
		}
		wg.Wait()
	}
}

// TestCrewMeets runs calls that wait for each other.
func TestCrewMeets(t *testing.T) {
	defer func(was int) { manyProcessors = was }(manyProcessors)
	manyProcessors = 1
	var c Crew
	for range 20 {
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				var all sync.WaitGroup
				all.Add(3)
				c.Do(3, func(int) {
					all.Done()
					all.Wait()
				})
			})
		}
		wg.Wait()
	}
}

// TestCrewShares runs loops on a crew, whose members sleep, poll or are busy. Every number is used
// once, and calls that have not begun when the first one returns are dropped.
func TestCrewShares(t *testing.T) {
	defer func(was int) { manyProcessors = was }(manyProcessors)
	for _, many := range []int{1, 1 << 30} {
		manyProcessors = many
		var c Crew
		c.Share(0, func(int) { t.Error("called for nothing") })
		var wg sync.WaitGroup
		for caller := range 4 {
			wg.Go(func() {
				for round := range 200 {
					var next atomic.Int64
					counts := make([]atomic.Int64, 20)
					var running atomic.Int64
					c.Share(1+(caller+round)%5, func(int) {
						running.Add(1)
						defer running.Add(-1)
						for {
							i := int(next.Add(1)) - 1
							if i >= len(counts) {
								return
							}
							counts[i].Add(1)
							if round%50 == 49 && i == 7 {
								time.Sleep(2 * time.Millisecond)
							}
							if round%50 == 20 && i == 12 {
								runtime.Gosched()
							}
						}
					})
					if n := running.Load(); n != 0 {
						t.Errorf("%d calls run on", n)
					}
					for i := range counts {
						if got := counts[i].Load(); got != 1 {
							t.Errorf("%d was used %d times", i, got)
						}
					}
				}
			})
		}
		wg.Wait()
	}
}

// TestCrewNests shares loops within shared loops, with callers that sleep at once until their calls
// have ended.
func TestCrewNests(t *testing.T) {
	defer func(was int, patience time.Duration) { manyProcessors, callerPatience = was, patience }(manyProcessors, callerPatience)
	manyProcessors, callerPatience = 1, 0
	var c Crew
	var sum atomic.Int64
	shared := func(n int, f func()) { // calls f n times
		var next atomic.Int64
		c.Share(n, func(int) {
			for next.Add(1) <= int64(n) {
				f()
			}
		})
	}
	for round := range 100 {
		sum.Store(0)
		shared(4, func() {
			shared(3, func() {
				if round%10 == 0 {
					time.Sleep(100 * time.Microsecond)
				}
				sum.Add(1)
			})
		})
		if got := sum.Load(); got != 12 {
			t.Fatalf("round %d: %d calls", round, got)
		}
	}
}

// TestCrewPanics checks that a panic of the caller's own call leaves no call behind, and that the
// crew works on.
func TestCrewPanics(t *testing.T) {
	defer func(was int) { manyProcessors = was }(manyProcessors)
	manyProcessors = 1
	var c Crew
	for range 50 {
		var running atomic.Int64
		func() {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			c.Share(4, func(i int) {
				if i == 0 {
					panic("own")
				}
				running.Add(1)
				defer running.Add(-1)
				time.Sleep(100 * time.Microsecond)
			})
		}()
		if n := running.Load(); n != 0 {
			t.Errorf("%d calls run on", n)
		}
		var sum atomic.Int64
		c.Do(4, func(i int) { sum.Add(int64(i)) })
		if sum.Load() != 6 {
			t.Errorf("sum %d", sum.Load())
		}
	}
}
