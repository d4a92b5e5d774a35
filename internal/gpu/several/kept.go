package several

import (
	"slices"

	"github.com/halfulp/halfulp/internal/num"
)

// Products of a matrix with a few vectors take no longer than copying the matrix to the GPUs that
// need it. Copies of such factors are kept for the next product until the factor changes or is
// freed, or until memory is short.

// copied is a copy of a view that a GPU keeps.
type copied struct {
	wanted
	is    num.Mat
	users int  // number of calls in progress that read it
	stale bool // the last of them frees it
}

// known returns the kept copy of a view, or nil. leave must be called after its use.
func (p *Place) known(w wanted) *copied {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, x := range p.kept {
		if x.wanted == w && !x.stale {
			x.users++
			return x
		}
	}
	return nil
}

// store keeps copies, which calls in progress read, and returns them.
func (p *Place) store(list []*copied) []*copied {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.kept = append(p.kept, list...)
	return list
}

// leave ends the use of copies.
func (p *Place) leave(list []*copied) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, x := range list {
		x.users--
	}
	p.sweep()
}

// drop marks the copies of an array as stale, or all copies if s is nil, when memory is short.
func (p *Place) drop(s *storage) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, x := range p.kept {
		if s == nil || x.m.Arr.Away == num.Storage(s) {
			x.stale = true
		}
	}
	p.sweep()
}

// sweep frees the stale copies that no call reads. The caller must hold the lock.
func (p *Place) sweep() {
	p.kept = slices.DeleteFunc(p.kept, func(x *copied) bool {
		if x.stale && x.users == 0 {
			x.is.Arr.Away.Free()
			return true
		}
		return false
	})
}

// changed must be called before entries of a view change: it drops the copies of its array.
func (p *Place) changed(m num.Mat) {
	if m.Arr != nil && m.Arr.Away != nil {
		p.drop(storageOf(m.Arr))
	}
}
