package bufpool

import (
	"math"
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

// resting lets what shelves hold up to a size rest for a time until the test ends.
func resting(t *testing.T, size int, time time.Duration) {
	oldSize, oldTime := restSize, rest
	t.Cleanup(func() { restSize, rest = oldSize, oldTime })
	restSize, rest = size, time
}

// TestRest has buffers that rest whatever is collected, and some that are too large for that
// together, of which those that were put there first rest.
func TestRest(t *testing.T) {
	resting(t, 250, time.Hour)
	var s Shelf[int]
	for i := range 4 {
		s.Put(i, 100)
	}
	for range 3 {
		s.collected()
	}
	if len(s.free) != 2 || s.free[0].buffer != 0 || s.free[1].buffer != 1 {
		t.Fatalf("%v rest, want 0 and 1", s.free)
	}
	s.free[0].since = time.Now().Add(-2 * rest)
	if s.collected(); len(s.free) != 1 || s.free[0].buffer != 1 {
		t.Fatalf("%v rest, want 1", s.free)
	}
}

// TestShelf takes buffers that other processors' goroutines have put back, the smallest that will
// do, and none that the collector has found twice where nothing rests.
func TestShelf(t *testing.T) {
	resting(t, 0, 0)
	collecting := debug.SetGCPercent(-1)
	var s Shelf[[]int16]
	const count = 8
	sizes := map[*int16]int{}
	for i := range count {
		b := make([]int16, 100*(i+1))
		sizes[&b[0]] = len(b)
		done := make(chan bool)
		go func() {
			runtime.LockOSThread()
			s.Put(b, len(b))
			close(done)
		}()
		<-done
	}
	if b, ok := s.Take(100*count+1, math.MaxInt); ok {
		t.Fatalf("%d elements, of which there are none", len(b))
	}
	if b, ok := s.Take(201, 299); ok {
		t.Fatalf("%d elements for 201 to 299", len(b))
	}
	for _, n := range []int{101, 150, 1, 800, 401} {
		b, ok := s.Take(n, math.MaxInt)
		if !ok {
			t.Fatalf("no buffer of %d elements", n)
		}
		size, best := sizes[&b[0]], 0
		for _, c := range sizes {
			if c >= n && (best == 0 || c < best) {
				best = c
			}
		}
		if size != best {
			t.Fatalf("a buffer of %d elements for %d, want %d", size, n, best)
		}
		delete(sizes, &b[0])
	}
	held := func() int {
		s.mu.Lock()
		defer s.mu.Unlock()
		return len(s.free)
	}
	if n := held(); n != len(sizes) {
		t.Fatalf("%d buffers, want %d", n, len(sizes))
	}
	debug.SetGCPercent(collecting)
	for end := time.Now().Add(2 * time.Minute); held() > 0; time.Sleep(time.Millisecond) {
		if runtime.GC(); time.Now().After(end) {
			t.Fatalf("%d buffers are kept", held())
		}
	}
}
