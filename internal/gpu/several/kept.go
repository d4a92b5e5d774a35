package several

import (
	"slices"

	"github.com/halfulp/halfulp/internal/num"
)

// Products of a matrix with a few vectors take no longer than its way to where it is needed. Copies
// of such factors are kept for the next product, until the factor changes or is freed, or memory is
// short.

// copied is a copy of a view that a GPU keeps.
type copied struct {
	wanted
	is    num.Mat
	users int  // calls under way that read it
	stale bool // to be freed by the last of them
}

// known returns the copy that is kept of a view, which leave gives back; nil if there is none.
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

// store keeps copies, which calls under way read, and returns them.
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

// drop forgets copies, of an array or of all for nil. The caller of the latter is short of memory.
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

// sweep frees copies that nobody reads or will read. The caller holds the lock.
func (p *Place) sweep() {
	p.kept = slices.DeleteFunc(p.kept, func(x *copied) bool {
		if x.stale && x.users == 0 {
			x.is.Arr.Away.Free()
			return true
		}
		return false
	})
}

// changed says that entries of a view are about to change.
func (p *Place) changed(m num.Mat) {
	if m.Arr != nil && m.Arr.Away != nil {
		p.drop(storageOf(m.Arr))
	}
}
