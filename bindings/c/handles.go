package main

import (
	"sync"
	"sync/atomic"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/gpu/backend"
	"github.com/halfulp/halfulp/internal/place"
)

// object is what a handle stands for. C sees handles alone, which are numbers: it keeps no Go
// pointer.
type object struct {
	value  any     // *halfulp.Matrix, halfulp.Scalar, *record or *options
	memory *memory // what value needs beyond the host's memory, nil if nothing
}

// memory is memory on a device. Handles of a matrix and of its views share it, and a call holds it
// while it runs; the last of them frees it.
type memory struct {
	uses atomic.Int64
	free func()
	at   place.Place
	// shared is whether other libraries use it as well: their work comes before a call, and calls
	// end when theirs is done.
	shared atomic.Bool
}

// newMemory returns the memory of a matrix, nil on the host.
func newMemory(m *halfulp.Matrix) *memory {
	a := m.View().Arr
	at := place.Of(a)
	if at == nil {
		return nil
	}
	z := &memory{free: m.Free, at: at}
	z.shared.Store(backend.Borrowed(a))
	return z
}

func (s *memory) hold() {
	if s != nil {
		s.uses.Add(1)
	}
}

func (s *memory) drop() {
	if s != nil && s.uses.Add(-1) == 0 {
		s.free()
	}
}

// slot is a place in the table of handles. The handle of an object is its index plus 1 in the low
// half and the generation in the high half, so that a freed handle is not taken for a later one.
type slot struct {
	generation uint32
	object     *object
}

var handles struct {
	sync.RWMutex
	slots []slot
	free  []uint32
}

// newHandle returns a handle for an object.
func newHandle(o *object) uint64 {
	o.memory.hold()
	h := &handles
	h.Lock()
	defer h.Unlock()
	var i uint32
	if n := len(h.free); n > 0 {
		i = h.free[n-1]
		h.free = h.free[:n-1]
	} else {
		i = uint32(len(h.slots))
		h.slots = append(h.slots, slot{generation: 1})
	}
	h.slots[i].object = o
	return uint64(h.slots[i].generation)<<32 | uint64(i+1)
}

// find returns the slot of a handle, nil if it stands for nothing. The caller holds the lock.
func find(handle uint64) *slot {
	i := uint32(handle) - 1
	if handle == 0 || uint64(i) >= uint64(len(handles.slots)) {
		return nil
	}
	s := &handles.slots[i]
	if s.object == nil || s.generation != uint32(handle>>32) {
		return nil
	}
	return s
}

// lookUp returns the object of a handle and holds its memory, or nil.
func lookUp(handle uint64) *object {
	handles.RLock()
	defer handles.RUnlock()
	s := find(handle)
	if s == nil {
		return nil
	}
	s.object.memory.hold()
	return s.object
}

// freeHandle frees a handle and reports whether it stood for anything.
func freeHandle(handle uint64) bool {
	h := &handles
	h.Lock()
	s := find(handle)
	if s == nil {
		h.Unlock()
		return false
	}
	o := s.object
	s.object = nil
	if s.generation++; s.generation != 0 { // else the slot has had all its handles
		h.free = append(h.free, uint32(handle)-1)
	}
	h.Unlock()
	o.memory.drop()
	return true
}

// liveHandles returns how many handles are not freed.
func liveHandles() (int, error) {
	handles.RLock()
	defer handles.RUnlock()
	n := 0
	for i := range handles.slots {
		if handles.slots[i].object != nil {
			n++
		}
	}
	return n, nil
}
