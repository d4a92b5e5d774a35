// Package bufpool keeps large buffers between operations, because page faults of fresh memory can
// cost as much time as the work on it. All shelves together keep a bounded number of bytes.
package bufpool

import (
	"cmp"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/halfulp/halfulp/internal/hugepage"
	"github.com/halfulp/halfulp/internal/memlimit"
)

// A Shelf is a pool of buffers, or of values that own buffers, shared by all processors. Unlike a
// sync.Pool it survives garbage collections: a buffer is dropped if two collections have found it
// on the shelf and it may not rest. The buffers put back last may rest for a while, as long as the
// resting buffers of all shelves together hold at most restBytes. The zero value is empty.
type Shelf[T any] struct{ rack }

// A rack is a shelf of buffers of any type, so that its code exists once for all types.
type rack struct {
	mu    sync.Mutex
	free  []kept // in the order in which they were put back
	known bool   // whether it is in racks
}

type kept struct {
	buffer any
	size   int // as Take counts it
	bytes  int64
	order  int64 // number of this put among the puts of all shelves
	seen   int   // collections since the put
	since  time.Time
}

var (
	// rest is how long a buffer may rest. If nothing is allocated, the runtime forces a collection
	// after that time.
	rest = 2 * time.Minute
	// restBytes bounds the bytes of resting buffers, of all shelves together.
	restBytes int64 = 1 << 25
	// most bounds the bytes that all shelves keep until the collector has seen them: a share of
	// the memory that routines may use.
	most = sync.OnceValue(func() int64 { return memlimit.Default() / 4 })
)

var (
	bytesKept atomic.Int64 // bytes on all shelves
	puts      atomic.Int64
	watched   atomic.Bool // whether a mark waits for the next collection

	racksMu sync.Mutex // if both are locked, a rack's mutex is locked first
	racks   []*rack    // racks that have buffers
)

// Kept returns how many bytes all shelves keep.
func Kept() int64 { return bytesKept.Load() }

// Drop drops the buffers of all shelves, so that the collector can free them.
func Drop() {
	racksMu.Lock()
	all := racks
	racks = nil
	racksMu.Unlock()
	for _, s := range all {
		s.mu.Lock()
		s.remove(0, len(s.free))
		s.known = false
		s.mu.Unlock()
	}
}

// A mark is an object without references whose finalizer signals a collection. It is too large for
// the allocator that packs several small objects together.
type mark struct{ _ [4]uint64 }

// Take removes and returns the smallest buffer with a size from least to most. It is not ok if
// there is none.
func (s *Shelf[T]) Take(least, most int) (b T, ok bool) {
	b, ok = s.take(least, most).(T)
	return b, ok
}

// take returns nil if there is no such buffer.
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
	s.remove(best, best+1)
	return b
}

// remove removes the buffers with indices i ≤ k < j.
func (s *rack) remove(i, j int) {
	for _, k := range s.free[i:j] {
		bytesKept.Add(-k.bytes)
	}
	s.free = slices.Delete(s.free, i, j)
}

// Put puts a buffer, to which nothing may refer any more, on the shelf. size is the size by which
// Take finds it, and bytes its memory. If the shelves would keep too many bytes, the shelf drops
// its oldest buffers, if necessary this one too.
func (s *Shelf[T]) Put(b T, size int, bytes int64) {
	s.put(kept{buffer: b, size: size, bytes: bytes})
}

func (s *rack) put(k kept) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k.order, k.since = puts.Add(1), time.Now()
	s.free = append(s.free, k)
	drop := 0
	for total := bytesKept.Add(k.bytes); total > most() && drop < len(s.free); drop++ {
		total -= s.free[drop].bytes
	}
	s.remove(0, drop)
	if !s.known && len(s.free) > 0 {
		racksMu.Lock()
		racks = append(racks, s)
		racksMu.Unlock()
		s.known = true
	}
	watch()
}

// watch arranges a call of collected after the next collection.
func watch() {
	if watched.CompareAndSwap(false, true) {
		runtime.SetFinalizer(new(mark), func(*mark) { collected() })
	}
}

// collected drops the buffers that two collections have found and that may not rest.
func collected() {
	racksMu.Lock()
	all := racks
	racks = nil
	racksMu.Unlock()
	var list []kept
	for _, s := range all {
		s.mu.Lock()
		for i := range s.free {
			s.free[i].seen++
		}
		list = append(list, s.free...)
		s.mu.Unlock()
	}
	slices.SortFunc(list, func(a, b kept) int { return cmp.Compare(b.order, a.order) })
	first := int64(math.MaxInt64) // order of the oldest buffer that may rest
	bytes := int64(0)
	for _, k := range list {
		if bytes += k.bytes; bytes > restBytes {
			break
		}
		first = k.order
	}
	now := time.Now()
	for _, s := range all {
		s.mu.Lock()
		for i := len(s.free) - 1; i >= 0; i-- {
			if k := s.free[i]; k.seen > 1 && (k.order < first || now.Sub(k.since) > rest) {
				s.remove(i, i+1)
			}
		}
		if s.known = len(s.free) > 0; s.known {
			racksMu.Lock()
			racks = append(racks, s)
			racksMu.Unlock()
		}
		s.mu.Unlock()
	}
	watched.Store(false)
	racksMu.Lock()
	left := len(racks) > 0 // includes shelves that were empty before
	racksMu.Unlock()
	if left {
		watch()
	}
}

// Most returns the largest size of a buffer that is used for n numbers. Otherwise small requests
// would occupy large buffers.
func Most(n int) int { return 4*n + 1<<12 }

// Slice returns at least n numbers with unspecified values. The caller releases them by [Return].
func Slice[T any](from *Shelf[[]T], n int) []T {
	if x, ok := from.Take(n, Most(n)); ok {
		return x
	}
	x := make([]T, n)
	hugepage.Large(x)
	return x
}

// Return puts numbers that Slice returned back on the shelf. x may be a beginning of them.
func Return[T any](to *Shelf[[]T], x []T) { to.Put(x[:cap(x)], cap(x), Bytes(x)) }

// Bytes returns how many bytes a slice holds, up to its capacity.
func Bytes[T any](x []T) int64 { return int64(cap(x)) * int64(unsafe.Sizeof(*new(T))) }
