package gpu

import (
	"github.com/halfulp/halfulp/cuda"
	"github.com/halfulp/halfulp/internal/num"
)

// span returns the numbers lo <= i < hi of its array that m lies in.
func (m Matrix) span() (lo, hi int) {
	if m.Rows == 0 || m.Cols == 0 {
		return 0, 0
	}
	down, across := (m.Rows-1)*m.RS, (m.Cols-1)*m.CS
	lo = m.Off + min(down, 0) + min(across, 0)
	return lo, m.Off + max(down, 0) + max(across, 0) + 1
}

// packed reports whether the entries of m lie one after the other, column by column.
func (m Matrix) packed() bool {
	return (m.RS == 1 || m.Rows <= 1) && (m.CS == m.Rows*m.RS || m.Cols <= 1)
}

// Get returns a copy of m in the host's memory, with the strides of m.
func (m Matrix) Get(s *cuda.Stream) (num.Mat, error) {
	lo, hi := m.span()
	h := num.New(m.Arr.Format, hi-lo)
	if err := m.Arr.getFrom(s, lo, h); err != nil {
		return num.Mat{}, err
	}
	z := m.on(h)
	z.Off -= lo
	return z, nil
}

// Set copies the entries of h, of the same shape and format, to m. Those between them keep
// their values, but travel to the host and back.
func (m Matrix) Set(s *cuda.Stream, h num.Mat) error {
	if m.Rows == 0 || m.Cols == 0 {
		return nil
	}
	m.changed()
	lo, _ := m.span()
	if m.packed() {
		if n := m.Rows * m.Cols; h.RS == 1 && (h.CS == h.Rows || h.Cols == 1) {
			return m.Arr.setFrom(s, lo, h.Arr.Slice(h.Off, h.Off+n))
		}
		return m.Arr.setFrom(s, lo, pack(h))
	}
	to, err := m.Get(s)
	if err != nil {
		return err
	}
	eachColumn(m.Cols, func(j int) {
		for i := range m.Rows {
			to.Arr.CopyFrom(to.At(i, j), h.Arr, h.At(i, j))
		}
	})
	return m.Arr.setFrom(s, lo, to.Arr)
}

// hostCopies makes copies on the host of views on a device, when they are asked for first.
type hostCopies struct {
	s  *cuda.Stream
	of map[Matrix]num.Mat
}

func newHostCopies(s *cuda.Stream) *hostCopies { return &hostCopies{s, map[Matrix]num.Mat{}} }

// get returns the copy of m, the same for equal views.
func (c *hostCopies) get(m Matrix) (num.Mat, error) {
	h, ok := c.of[m]
	if !ok {
		var err error
		if h, err = m.Get(c.s); err != nil {
			return h, err
		}
		c.of[m] = h
	}
	return h, nil
}

// vector returns the copy of v.
func (c *hostCopies) vector(v Vector) (num.Vec, error) {
	m, err := c.get(v.Col())
	return m.Col(0), err
}

// put copies what became of the copy of m to the device.
func (c *hostCopies) put(m Matrix) error { return m.Set(c.s, c.of[m]) }

// Col returns the vector as a matrix of one column.
func (v Vector) Col() Matrix { return Matrix{Arr: v.Arr, Off: v.Off, RS: v.Inc, Rows: v.N, Cols: 1} }

// lines are the entries of a view as progressions: position at + i step + j stride for 0 <= i
// < n, 0 <= j < lines, with step and stride positive and no line longer than stride.
type lines struct{ at, step, n, stride, lines int }

// lines returns the progressions of m, which has entries. It returns false if rows and columns
// are interleaved.
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

// meets reports whether l and o, of the same steps and strides, have an entry in common.
func (l lines) meets(o lines) bool {
	shift := (o.at - l.at) % l.stride
	if shift < 0 {
		shift += l.stride
	}
	// The lines of o reach from shift on into the next of l's, perhaps.
	line := (o.at - l.at - shift) / l.stride
	for k := range 2 {
		j, i := line+k, shift-k*l.stride
		if j < l.lines && j+o.lines > 0 && i%l.step == 0 && i/l.step < l.n && i/l.step+o.n > 0 {
			return true
		}
	}
	return false
}

// Overlaps reports whether two views have a number of an array in common. Where the rows and
// columns of one are interleaved, sharing the array will do.
func (m Matrix) Overlaps(o Matrix) bool {
	lo, hi := m.span()
	low, high := o.span()
	if m.Arr != o.Arr || hi <= low || high <= lo {
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
