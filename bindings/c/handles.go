package main

import (
	"sync"
	"sync/atomic"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/gpu/backend"
	"github.com/halfulp/halfulp/internal/place"
)

// object is the object of a handle. C code gets only handles, which are numbers, and holds no Go
// pointers.
type object struct {
	value  any     // *halfulp.Matrix, halfulp.Scalar, *rational.Matrix, *record or *options
	memory *memory // what value needs beyond the host's memory, nil if nothing
}

// memory is memory on a device, with a count of its uses: the handles of a matrix and of its views,
// and the calls that run with them. The last user frees it.
type memory struct {
	uses atomic.Int64
	free func()
	at   place.Place
	// shared is whether other libraries also use the memory: a call then begins after their work in
	// the default stream, and returns when its own work is done.
	shared atomic.Bool
}

// newMemory returns the device memory of a matrix, or nil for a matrix on the host.
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

// slot is an entry in the table of handles. A handle has the slot's index plus 1 in its low half
// and the slot's generation in its high half, so a freed handle never equals a later one.
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

// find returns the slot of a handle, or nil if the handle is not live. The caller holds the lock.
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

// lookUp returns the object of a handle and holds the object's memory. It returns nil if the handle
// is not live.
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

// freeHandle frees a handle and reports whether it was live.
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

// liveHandles returns the number of handles that are not freed.
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
