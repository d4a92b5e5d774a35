package mem

// Kept is data that another package derives from the entries of a view and keeps, such as their
// residues.
type Kept interface {
	// Drop frees it, because the entries are about to change or to be freed. It may be filled anew
	// later.
	Drop()
}

// attached is a Kept with its view.
type attached struct {
	view Matrix
	what Kept
}

// Keep attaches k to m: k is dropped when entries of m change or the array is freed. It does
// nothing if something is attached to m or its transpose already. Nothing is attached to memory of
// another library, which changes without notice.
func (m Matrix) Keep(k Kept) {
	a := m.Arr
	if a.Borrowed() {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if what, _ := m.attached(); what == nil {
		a.kept = append(a.kept, attached{m, k})
	}
}

// Kept calls f with the data attached to m or to its transpose, if there is any. Nothing is dropped
// during the call.
func (m Matrix) Kept(f func(k Kept, transposed bool)) {
	m.Arr.mu.Lock()
	defer m.Arr.mu.Unlock()
	if k, transposed := m.attached(); k != nil {
		f(k, transposed)
	}
}

// attached returns the data attached to m or to its transpose. The caller must hold the array's
// lock.
func (m Matrix) attached() (k Kept, transposed bool) {
	for _, k := range m.Arr.kept {
		switch m {
		case k.view:
			return k.what, false
		case k.view.T():
			return k.what, true
		}
	}
	return nil, false
}

// Changed must be called before entries of m change: it drops the data attached to matrices that
// overlap m.
func (m Matrix) Changed() {
	m.Arr.mu.Lock()
	defer m.Arr.mu.Unlock()
	for _, k := range m.Arr.kept {
		if k.view.Overlaps(m) {
			k.what.Drop()
		}
	}
}
