package mem

// Kept is what another package makes of the entries of a view and keeps, such as their residues.
type Kept interface {
	// Drop frees it: the entries are about to change, or to go. It may be filled anew.
	Drop()
}

// attached is what is kept of a view.
type attached struct {
	view Matrix
	what Kept
}

// Keep lets k be dropped when entries of m change or the array is freed, unless something is kept
// of m, or of its transpose, already. Nothing is kept of memory of another library, which changes
// without notice.
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

// Kept calls f with what is kept of m, or of its transpose, if there is anything. Nothing is
// dropped meanwhile.
func (m Matrix) Kept(f func(k Kept, transposed bool)) {
	m.Arr.mu.Lock()
	defer m.Arr.mu.Unlock()
	if k, transposed := m.attached(); k != nil {
		f(k, transposed)
	}
}

// attached returns what is kept of m or of its transpose. The caller holds the array's lock.
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

// Changed says that the entries of m are about to change: what is kept of matrices that overlap m
// is dropped.
func (m Matrix) Changed() {
	m.Arr.mu.Lock()
	defer m.Arr.mu.Unlock()
	for _, k := range m.Arr.kept {
		if k.view.Overlaps(m) {
			k.what.Drop()
		}
	}
}
