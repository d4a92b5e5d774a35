package mem

import (
	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/num"
)

// span returns the smallest range lo <= i < hi of numbers of the array that contains the entries of
// m.
func (m Matrix) span() (lo, hi int) {
	if m.Rows == 0 || m.Cols == 0 {
		return 0, 0
	}
	down, across := (m.Rows-1)*m.RS, (m.Cols-1)*m.CS
	lo = m.Off + min(down, 0) + min(across, 0)
	return lo, m.Off + max(down, 0) + max(across, 0) + 1
}

// packed reports whether the entries of m are contiguous, column by column.
func (m Matrix) packed() bool {
	return (m.RS == 1 || m.Rows <= 1) && (m.CS == m.Rows*m.RS || m.Cols <= 1)
}

// Get returns a copy of m in host memory, with the strides of m.
func (m Matrix) Get(s *cuda.Stream) (num.Mat, error) {
	lo, hi := m.span()
	h := num.New(m.Arr.Format, hi-lo)
	if err := m.Arr.getFrom(s, lo, h); err != nil {
		return num.Mat{}, err
	}
	z := m.On(h)
	z.Off -= lo
	return z, nil
}

// Fetch copies m to h, which has the same shape and format and is stored by columns without gaps.
// It is not ok if m is stored in another way.
func (m Matrix) Fetch(s *cuda.Stream, h num.Mat) (ok bool, err error) {
	if !m.packed() {
		return false, nil
	}
	lo, hi := m.span()
	return true, m.Arr.getFrom(s, lo, h.Arr.Slice(h.Off, h.Off+hi-lo))
}

// Set copies the entries of h, which has the same shape and format, to m. Numbers of the array
// between the entries of m keep their values, but are copied to the host and back.
func (m Matrix) Set(s *cuda.Stream, h num.Mat) error {
	if m.Rows == 0 || m.Cols == 0 {
		return nil
	}
	m.Changed()
	lo, _ := m.span()
	if m.packed() {
		if n := m.Rows * m.Cols; h.RS == 1 && (h.CS == h.Rows || h.Cols == 1) {
			return m.Arr.setFrom(s, lo, h.Arr.Slice(h.Off, h.Off+n))
		}
		return m.Arr.setFrom(s, lo, Pack(h))
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

// Copy copies the entries of another view of the same shape and format to m if both are packed and
// of different arrays. It reports whether that is so.
func (m Matrix) Copy(s *cuda.Stream, from Matrix) (bool, error) {
	if m.Rows == 0 || m.Cols == 0 {
		return true, nil
	}
	if !m.packed() || !from.packed() || m.Arr == from.Arr {
		return false, nil
	}
	m.Changed()
	to, _ := m.span()
	at, end := from.span()
	if n := end - at; n == m.Arr.n && n == from.Arr.n {
		return true, s.Copy(m.Arr.memory.Pointer(), from.Arr.memory.Pointer(), m.Arr.memory.Size())
	}
	for i, size := range PlaneBytes(m.Arr.Format) {
		if err := s.Copy(m.Arr.at(i, to), from.Arr.at(i, at), size*int64(end-at)); err != nil {
			return true, err
		}
	}
	return true, nil
}
