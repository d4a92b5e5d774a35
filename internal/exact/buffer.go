package exact

import (
	"runtime"
	"slices"
	"sync"
	"unsafe"

	"github.com/halfulp/halfulp/internal/pages"
)

// Large buffers are kept between products: fresh memory costs as much time, in page faults, as the
// products of small problems. They are not in a sync.Pool, of which a goroutine that has moved to
// another processor does not find all: planes were fresh in every third product or so.
var (
	wordBuffers shelf[int16]
	byteBuffers shelf[int8]
)

// A shelf holds buffers. Those that two garbage collections in a row find there are let go.
type shelf[T int8 | int16] struct {
	sync.Mutex
	free    []shelved[T]
	watched bool // whether the next collection will be noticed
}

type shelved[T int8 | int16] struct {
	buffer []T
	seen   int // collections since it was put there
}

// A gcMark is what collections are noticed by: nothing else refers to it. It is not of the size of
// objects that share their memory with others.
type gcMark struct{ _ [4]uint64 }

// take returns the smallest buffer of at least n elements, nil if there is none.
func (s *shelf[T]) take(n int) []T {
	s.Lock()
	defer s.Unlock()
	best := -1
	for i, b := range s.free {
		if c := cap(b.buffer); c >= n && (best < 0 || c < cap(s.free[best].buffer)) {
			best = i
		}
	}
	if best < 0 {
		return nil
	}
	b := s.free[best].buffer
	s.free = slices.Delete(s.free, best, best+1)
	return b[:n]
}

func (s *shelf[T]) put(b []T) {
	s.Lock()
	defer s.Unlock()
	s.free = append(s.free, shelved[T]{buffer: b})
	s.watch()
}

// watch has collected called after the next collection.
func (s *shelf[T]) watch() {
	if s.watched || len(s.free) == 0 {
		return
	}
	s.watched = true
	runtime.SetFinalizer(new(gcMark), func(*gcMark) { s.collected() })
}

func (s *shelf[T]) collected() {
	s.Lock()
	defer s.Unlock()
	for i := range s.free {
		s.free[i].seen++
	}
	s.free = slices.DeleteFunc(s.free, func(b shelved[T]) bool { return b.seen > 1 })
	s.watched = false
	s.watch()
}

// shelfOf returns that of buffers of T.
func shelfOf[T int8 | int16]() *shelf[T] {
	if s, ok := any(&wordBuffers).(*shelf[T]); ok {
		return s
	}
	return any(&byteBuffers).(*shelf[T])
}

func getBuffer[T int8 | int16](n int) []T {
	if b := shelfOf[T]().take(n); b != nil {
		return b
	}
	b := make([]T, n)
	if unsafe.Sizeof(T(0)) == 1 {
		// Tiles are as fast as memory; other kernels do not gain what clearing them may cost.
		pages.Large(b)
	}
	return b
}

func putBuffer[T int8 | int16](b []T) {
	if cap(b) > 0 {
		shelfOf[T]().put(b)
	}
}

// A scratch is what a worker of a product writes to in steps. Products keep those of the ones
// before for the same reason.
type scratch struct {
	y               []int16
	words, top      []int64
	mag, z, neg, ok []uint64
	sums            []uint64
	open            []bool
	terms           []float64
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// grow returns n elements of *s, with any values, for which there is room then.
func grow[T any](s *[]T, n int) []T {
	if cap(*s) < n {
		*s = make([]T, n)
	}
	return (*s)[:n]
}
