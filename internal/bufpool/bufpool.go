// Package bufpool keeps large buffers between operations: fresh memory costs as much time, in page
// faults, as much of what is done with it. All shelves together keep a bounded number of bytes.
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

// A Shelf holds buffers, or values that own some. Unlike a sync.Pool it survives garbage
// collections: a buffer that two collections in a row find there is dropped unless it may rest. The
// buffers put back last may rest for a while, as long as all shelves together hold no more than
// restBytes of them. All processors share a shelf. The zero value is empty.
type Shelf[T any] struct{ rack }

// A rack is a shelf of any buffers: one for all types, of little code.
type rack struct {
	mu    sync.Mutex
	free  []kept // in the order in which they were put there
	known bool   // whether it is one of racks
}

type kept struct {
	buffer any
	size   int // as Take counts it
	bytes  int64
	order  int64 // of all buffers put on any shelf
	seen   int   // collections since
	since  time.Time
}

var (
	// rest is how long a buffer may rest. Where nothing is allocated the next collection comes
	// after that time.
	rest = 2 * time.Minute
	// restBytes bounds the buffers that rest, of all shelves together.
	restBytes int64 = 1 << 25
	// most bounds the bytes that all shelves keep until the collector has seen them: a share of
	// the memory that routines may use.
	most = sync.OnceValue(func() int64 { return memlimit.Default() / 4 })
)

var (
	bytesKept atomic.Int64 // of all shelves
	puts      atomic.Int64
	watched   atomic.Bool // whether the next collection will be noticed

	racksMu sync.Mutex // a rack's mutex is locked first where both are
	racks   []*rack    // those that have buffers
)

// Kept returns how many bytes all shelves keep.
func Kept() int64 { return bytesKept.Load() }

// Drop drops the buffers of all shelves, for the collector to find.
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
	s.remove(best, best+1)
	return b
}

// remove takes the buffers from i to j away.
func (s *rack) remove(i, j int) {
	for _, k := range s.free[i:j] {
		bytesKept.Add(-k.bytes)
	}
	s.free = slices.Delete(s.free, i, j)
}

// Put keeps a buffer that nothing refers to any more, of a size by which Take finds it, and of so
// many bytes. The shelf drops the buffers it has had longest, or this one, where the shelves would
// keep too many bytes.
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

// watch has collected called after the next collection.
func watch() {
	if watched.CompareAndSwap(false, true) {
		runtime.SetFinalizer(new(mark), func(*mark) { collected() })
	}
}

// collected drops what two collections have found and what may not rest.
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
	first := int64(math.MaxInt64) // of the buffers that may rest
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
	left := len(racks) > 0 // also of shelves that were empty before
	racksMu.Unlock()
	if left {
		watch()
	}
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

// Return gives numbers back, which may be the first of those that Slice returned.
func Return[T any](to *Shelf[[]T], x []T) { to.Put(x[:cap(x)], cap(x), Bytes(x)) }

// Bytes returns how many bytes a slice holds, up to its capacity.
func Bytes[T any](x []T) int64 { return int64(cap(x)) * int64(unsafe.Sizeof(*new(T))) }
