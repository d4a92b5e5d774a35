// Package bufpool keeps large buffers between operations: fresh memory costs as much time, in page
// faults, as much of what is done with it.
package bufpool

import (
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/halfulp/halfulp/internal/hugepage"
)

// A Shelf holds buffers, or what has some. Those that two garbage collections in a row find there
// are let go, but for some that have not been there for long. It is no sync.Pool, of which a
// goroutine that has moved to another processor does not find all, and which two collections empty
// however soon they come. The zero value is empty.
type Shelf[T any] struct{ rack }

// A rack is a shelf of any buffers: one for all types, of little code.
type rack struct {
	mu      sync.Mutex
	free    []kept
	watched bool // whether the next collection will be noticed
}

type kept struct {
	buffer any
	size   int
	seen   int // collections since it was put there
	since  time.Time
}

// What a shelf holds up to a size in all may stay for a while whatever is collected: as long as the
// next collection takes to come where nothing is allocated.
var (
	rest     = 2 * time.Minute
	restSize = 1 << 25
)

// A mark is what collections are noticed by: nothing else refers to it. It is not of the size of
// objects that share their memory with others.
type mark struct{ _ [4]uint64 }

// Take returns the smallest buffer of a size from least to most, and whether there is one.
func (s *Shelf[T]) Take(least, most int) (b T, ok bool) {
	b, ok = s.take(least, most).(T)
	return b, ok
}

// take returns nil where there is none.
func (s *rack) take(least, most int) (b any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	best := -1
	for i, k := range s.free {
		if k.size >= least && k.size <= most && (best < 0 || k.size < s.free[best].size) {
			best = i
		}
	}
	if best < 0 {
		return nil
	}
	b = s.free[best].buffer
	s.free = slices.Delete(s.free, best, best+1)
	return b
}

// Put keeps a buffer of a size that nothing refers to any more.
func (s *Shelf[T]) Put(b T, size int) { s.put(b, size) }

func (s *rack) put(b any, size int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free = append(s.free, kept{buffer: b, size: size, since: time.Now()})
	s.watch()
}

// watch has collected called after the next collection.
func (s *rack) watch() {
	if s.watched || len(s.free) == 0 {
		return
	}
	s.watched = true
	runtime.SetFinalizer(new(mark), func(*mark) { s.collected() })
}

func (s *rack) collected() {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, size := time.Now(), 0
	for i := range s.free {
		s.free[i].seen++
	}
	s.free = slices.DeleteFunc(s.free, func(k kept) bool {
		size += k.size
		return k.seen > 1 && (size > restSize || now.Sub(k.since) > rest)
	})
	s.watched = false
	s.watch()
}

// Most is the size up to which a buffer is taken for n numbers: small ones would keep large ones
// from others.
func Most(n int) int { return 4*n + 1<<12 }

// Slice returns n numbers of any values or more, which the caller gives back by [Return].
func Slice[T any](from *Shelf[[]T], n int) []T {
	if x, ok := from.Take(n, Most(n)); ok {
		return x
	}
	x := make([]T, n)
	hugepage.Large(x)
	return x
}

// Return gives numbers back.
func Return[T any](to *Shelf[[]T], x []T) { to.Put(x, len(x)) }
