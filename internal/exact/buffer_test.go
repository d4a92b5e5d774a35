package exact

import (
	"runtime"
	"testing"
	"time"
)

// TestBuffers takes buffers that other processors' goroutines have put back, the smallest that will
// do, and none that the collector has found twice.
func TestBuffers(t *testing.T) {
	var s shelf[int16]
	const count = 8
	sizes := map[*int16]int{}
	for i := range count {
		b := make([]int16, 100*(i+1))
		sizes[&b[0]] = len(b)
		done := make(chan bool)
		go func() {
			runtime.LockOSThread()
			s.put(b[:10])
			close(done)
		}()
		<-done
	}
	if b := s.take(100*count + 1); b != nil {
		t.Fatalf("%d elements, of which there are none", cap(b))
	}
	for _, n := range []int{101, 150, 1, 800, 401} {
		b := s.take(n)
		if b == nil || len(b) != n {
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
		s.Lock()
		defer s.Unlock()
		return len(s.free)
	}
	if n := held(); n != len(sizes) {
		t.Fatalf("%d buffers, want %d", n, len(sizes))
	}
	for end := time.Now().Add(time.Minute); held() > 0; time.Sleep(time.Millisecond) {
		if runtime.GC(); time.Now().After(end) {
			t.Fatalf("%d buffers are kept", held())
		}
	}
}
