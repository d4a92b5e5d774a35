package mem

import "github.com/halfulp/halfulp/internal/cuda"

// CopyPeer copies n numbers of an array in the memory of another device, from number i on, to those
// of a from number j on, of the same format: see [cuda.Stream.CopyPeer].
func (a *Array) CopyPeer(s *cuda.Stream, j int, dev *cuda.Device, from *Array, i, n int) error {
	for t, size := range planeBytes(a.Format) {
		if err := s.CopyPeer(a.at(t, j), dev, from.at(t, i), size*int64(n)); err != nil {
			return err
		}
	}
	return nil
}
