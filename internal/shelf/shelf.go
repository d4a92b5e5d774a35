// Package shelf keeps large buffers between operations: fresh memory costs as much time, in page
// faults, as much of what is done with it.
package shelf

import (
	"runtime"
	"slices"
	"sync"
)

// A Shelf holds buffers, or what has some. Those that two garbage collections in a row find there
// are let go. It is no sync.Pool, of which a goroutine that has moved to another processor does not
// find all. The zero value is empty.
type Shelf[T any] struct {
	mu      sync.Mutex
	free    []kept[T]
	watched bool // whether the next collection will be noticed
}

type kept[T any] struct {
	buffer T
	size   int
	seen   int // collections since it was put there
}

// A mark is what collections are noticed by: nothing else refers to it. It is not of the size of
// objects that share their memory with others.
type mark struct{ _ [4]uint64 }

// Take returns the smallest buffer of a size from least to most, and whether there is one.
func (s *Shelf[T]) Take(least, most int) (b T, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	best := -1
	for i, k := range s.free {
		if k.size >= least && k.size <= most && (best < 0 || k.size < s.free[best].size) {
			best = i
		}
	}
	if best < 0 {
		return b, false
	}
	b = s.free[best].buffer
	s.free = slices.Delete(s.free, best, best+1)
	return b, true
}

// Put keeps a buffer of a size that nothing refers to any more.
func (s *Shelf[T]) Put(b T, size int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free = append(s.free, kept[T]{buffer: b, size: size})
	s.watch()
}

// watch has collected called after the next collection.
func (s *Shelf[T]) watch() {
	if s.watched || len(s.free) == 0 {
		return
	}
	s.watched = true
	runtime.SetFinalizer(new(mark), func(*mark) { s.collected() })
}

func (s *Shelf[T]) collected() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.free {
		s.free[i].seen++
	}
	s.free = slices.DeleteFunc(s.free, func(k kept[T]) bool { return k.seen > 1 })
	s.watched = false
	s.watch()
}
