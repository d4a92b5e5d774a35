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
