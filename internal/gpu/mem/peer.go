package mem

import "github.com/halfulp/halfulp/internal/cuda"

// CopyPeer copies n numbers of from, an array of the same format in the memory of another device,
// from number i on, to the numbers of a from number j on: see [cuda.Stream.CopyPeer].
func (a *Array) CopyPeer(s *cuda.Stream, j int, dev *cuda.Device, from *Array, i, n int) error {
	for t, size := range PlaneBytes(a.Format) {
		if err := s.CopyPeer(a.at(t, j), dev, from.at(t, i), size*int64(n)); err != nil {
			return err
		}
	}
	return nil
}

// On reports whether the array is stored in the memory of dev.
func (a *Array) On(dev *cuda.Device) bool { return a.memory.On(dev) }

// A Pulled is a copy of a matrix in the memory of another device, while it is being made.
type Pulled struct {
	Matrix
	s     *cuda.Stream
	there *cuda.Event
}

// Pull starts to copy a matrix from the memory of another device, which the device of s can access,
// to the memory of the device of s. The numbers of its columns, or of its rows, must be contiguous.
// See [cuda.Stream.PullRows]. Over the links of two H100 the numbers arrive at 380 GB/s this way,
// at 70 to 240 GB/s if kernels read them directly.
func (m Matrix) Pull(s, aside *cuda.Stream) (*Pulled, error) {
	w, turned := m, m.RS != 1
	if turned {
		w = m.T()
	}
	a, err := Room(s, m.Arr.Format, w.Rows*w.Cols)
	if err != nil {
		return nil, err
	}
	var list []cuda.Rows
	for t, size := range PlaneBytes(m.Arr.Format) {
		list = append(list, cuda.Rows{To: a.at(t, 0), From: m.Arr.at(t, w.Off), Width: size * int64(w.Rows), Pitch: size * int64(w.CS), Rows: int64(w.Cols)})
	}
	z := &Pulled{Matrix{Arr: a, RS: 1, CS: w.Rows, Rows: w.Rows, Cols: w.Cols}, s, nil}
	if turned {
		z.Matrix = z.T()
	}
	if z.there, err = s.PullRows(aside, list...); err != nil {
		z.Free()
		return nil, err
	}
	return z, nil
}

// Pulls reports whether m is suitable for Pull to dev: it is not in the memory of dev, and the
// numbers of its columns, or of its rows, are contiguous.
func (m Matrix) Pulls(dev *cuda.Device) bool {
	return !m.Arr.memory.On(dev) && (m.RS == 1 && m.CS >= m.Rows || m.CS == 1 && m.RS >= m.Cols)
}

// Await makes later operations of the stream wait for the copy.
func (p *Pulled) Await() error { return p.s.Wait(p.there) }

// Free frees the copy.
func (p *Pulled) Free() {
	if p.there != nil {
		_ = p.s.Follow(p.there) // fails only if the device is lost
		_ = p.there.Close()
	}
	p.Arr.Free()
}
