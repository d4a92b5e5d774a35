package mem

// lines describes the entries of a view as arithmetic progressions: positions at + i step + j
// stride for 0 <= i < n, 0 <= j < lines, where step and stride are positive and no line is longer
// than stride.
type lines struct{ at, step, n, stride, lines int }

// lines returns the progressions of m, which must have entries. It returns false if rows and
// columns are interleaved.
func (m Matrix) lines() (lines, bool) {
	at, _ := m.span()
	l := lines{at, max(m.RS, -m.RS), m.Rows, max(m.CS, -m.CS), m.Cols}
	if l.n == 1 || l.lines > 1 && l.stride < l.step {
		l.step, l.n, l.stride, l.lines = l.stride, l.lines, l.step, l.n
	}
	if l.n == 1 {
		l.step = 1
	}
	if l.lines == 1 {
		l.stride = l.step * l.n
	}
	return l, l.step*(l.n-1) < l.stride
}

// has reports whether position p is an entry.
func (l lines) has(p int) bool {
	p -= l.at
	return p >= 0 && p/l.stride < l.lines && p%l.stride%l.step == 0 && p%l.stride/l.step < l.n
}

// meets reports whether l and o, which have the same steps and strides, have an entry in common.
func (l lines) meets(o lines) bool {
	shift := (o.at - l.at) % l.stride
	if shift < 0 {
		shift += l.stride
	}
	// The lines of o begin at shift in a line of l, and may reach into the next.
	line := (o.at - l.at - shift) / l.stride
	for k := range 2 {
		j, i := line+k, shift-k*l.stride
		if j < l.lines && j+o.lines > 0 && i%l.step == 0 && i/l.step < l.n && i/l.step+o.n > 0 {
			return true
		}
	}
	return false
}

// Overlaps reports whether two views have a number of an array in common. If the rows and columns
// of one view are interleaved, it also returns true for views of the same array whose ranges
// overlap.
func (m Matrix) Overlaps(o Matrix) bool {
	if m.Arr != o.Arr {
		return false
	}
	lo, hi := m.span()
	low, high := o.span()
	if hi <= low || high <= lo {
		return false
	}
	a, ok := m.lines()
	b, good := o.lines()
	if !ok || !good {
		return true
	}
	if a.step == b.step && a.stride == b.stride {
		return a.meets(b)
	}
	if a.n*a.lines > b.n*b.lines {
		a, b = b, a
	}
	for j := range a.lines {
		for i := range a.n {
			if b.has(a.at + i*a.step + j*a.stride) {
				return true
			}
		}
	}
	return false
}
