package bufpool

import (
	"math"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

// limited sets the bounds of kept and of resting bytes until the test ends. Meanwhile only the test
// itself collects garbage.
func limited(t *testing.T, keep, resting int64, duration time.Duration) {
	if Kept() != 0 {
		t.Fatalf("other tests have left %d bytes", Kept())
	}
	for watched.Load() { // else a finalizer might still run
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
	oldMost, oldBytes, oldRest, percent := most, restBytes, rest, debug.SetGCPercent(-1)
	t.Cleanup(func() {
		most, restBytes, rest = oldMost, oldBytes, oldRest
		debug.SetGCPercent(percent)
	})
	most, restBytes, rest = func() int64 { return keep }, resting, duration
}

// empty takes all buffers of the shelves.
func empty[T any](shelves ...*Shelf[T]) {
	for _, s := range shelves {
		for ok := true; ok; {
			_, ok = s.Take(0, math.MaxInt)
		}
	}
}

// TestRest checks that the buffers of two shelves rest through collections. If they are too large
// together, the buffers put back last rest.
func TestRest(t *testing.T) {
	limited(t, math.MaxInt64, 250, time.Hour)
	var s, other Shelf[int]
	s.Put(0, 1, 100)
	other.Put(1, 1, 100)
	s.Put(2, 1, 100)
	s.Put(3, 1, 100)
	if collected(); Kept() != 400 {
		t.Fatalf("%d bytes are kept after one collection, want 400", Kept())
	}
	for range 3 {
		collected()
	}
	if len(s.free) != 2 || s.free[0].buffer != 2 || s.free[1].buffer != 3 || len(other.free) != 0 || Kept() != 200 {
		t.Fatalf("%v and %v rest, %d bytes, want 2 and 3", s.free, other.free, Kept())
	}
	s.free[0].since = time.Now().Add(-2 * rest)
	if collected(); len(s.free) != 1 || s.free[0].buffer != 3 || Kept() != 100 {
		t.Fatalf("%v rest, want 3", s.free)
	}
	s.free[0].since = time.Now().Add(-2 * rest)
	if collected(); Kept() != 0 || len(racks) != 0 || s.known {
		t.Fatalf("%d bytes of %d shelves rest too long", Kept(), len(racks))
	}
	s.Put(4, 1, 100) // the shelf is known again
	for range 2 {
		s.free[0].since = time.Now().Add(-2 * rest)
		collected()
	}
	if Kept() != 0 {
		t.Fatalf("%d bytes rest too long", Kept())
	}
}

// TestBound takes and puts back buffers of all sizes in many operations. Shelves never keep more
// than their bound, nor more after many operations than after few.
func TestBound(t *testing.T) {
	const keep, resting = 1 << 20, 1 << 16
	limited(t, keep, resting, time.Hour)
	var words Shelf[[]uint64]
	var floats Shelf[[]float64]
	defer empty(&words)
	defer empty(&floats)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 3000 {
		x, y, z := Slice(&words, rng.IntN(1<<13)), Slice(&floats, rng.IntN(1<<rng.IntN(15))), Slice(&words, 1+rng.IntN(100))
		Return(&words, x)
		Return(&floats, y)
		Return(&words, z)
		sum := int64(0)
		for _, k := range append(words.free[:len(words.free):len(words.free)], floats.free...) {
			sum += k.bytes
		}
		if Kept() != sum || sum > keep {
			t.Fatalf("after %d operations %d bytes are kept, %d are told, %d allowed", i, sum, Kept(), keep)
		}
		if i%300 == 299 {
			collected()
			if collected(); Kept() > resting {
				t.Fatalf("after %d operations and two collections %d bytes are kept, %d allowed", i, Kept(), resting)
			}
		}
	}
	if Return(&words, make([]uint64, keep)); len(words.free) != 0 || Kept() > keep {
		t.Fatalf("a buffer of more than all is kept")
	}
}

// TestShelf takes buffers that goroutines on other processors have put back: the smallest
// sufficient one each time.
func TestShelf(t *testing.T) {
	limited(t, math.MaxInt64, math.MaxInt64, time.Hour)
	var s Shelf[[]int16]
	defer empty(&s)
	const count = 8
	sizes := map[*int16]int{}
	for i := range count {
		b := make([]int16, 100*(i+1))
		sizes[&b[0]] = len(b)
		done := make(chan bool)
		go func() {
			runtime.LockOSThread()
			s.Put(b, len(b), Bytes(b))
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
	if n := len(s.free); n != len(sizes) {
		t.Fatalf("%d buffers, want %d", n, len(sizes))
	}
}

// TestCollected checks that collections drop the buffers of a shelf if nothing rests.
func TestCollected(t *testing.T) {
	limited(t, math.MaxInt64, 0, 0)
	var s Shelf[[]int16]
	for i := range 8 {
		b := make([]int16, 100*(i+1))
		s.Put(b, len(b), Bytes(b))
	}
	held := func() int {
		s.mu.Lock()
		defer s.mu.Unlock()
		return len(s.free)
	}
	for end := time.Now().Add(2 * time.Minute); held() > 0; time.Sleep(time.Millisecond) {
		if runtime.GC(); time.Now().After(end) {
			t.Fatalf("%d buffers are kept", held())
		}
	}
}

// TestDrop drops the buffers of several shelves, which take new ones afterwards.
func TestDrop(t *testing.T) {
	limited(t, math.MaxInt64, math.MaxInt64, time.Hour)
	var s, other Shelf[int]
	for range 2 {
		s.Put(0, 1, 100)
		s.Put(1, 1, 100)
		other.Put(2, 1, 100)
		if Kept() != 300 || len(racks) != 2 {
			t.Fatalf("%d bytes of %d shelves are kept, want 300 of 2", Kept(), len(racks))
		}
		if Drop(); Kept() != 0 || len(s.free)+len(other.free) != 0 || len(racks) != 0 {
			t.Fatalf("%d bytes of %d shelves are left", Kept(), len(racks))
		}
	}
}
