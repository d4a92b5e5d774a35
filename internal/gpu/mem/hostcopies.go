package mem

import (
	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/num"
)

// HostCopies makes host copies of views on a device, each at its first use.
type HostCopies struct {
	s  *cuda.Stream
	of map[Matrix]num.Mat
}

// NewHostCopies returns a HostCopies, still empty, for views on the device of s.
func NewHostCopies(s *cuda.Stream) *HostCopies { return &HostCopies{s, map[Matrix]num.Mat{}} }

// Get returns the host copy of m, the same for equal views.
func (c *HostCopies) Get(m Matrix) (num.Mat, error) {
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

// Vector returns the host copy of v.
func (c *HostCopies) Vector(v Vector) (num.Vec, error) {
	m, err := c.Get(v.Col())
	return m.Col(0), err
}

// Put copies the host copy of m, with its changes, back to the device.
func (c *HostCopies) Put(m Matrix) error { return m.Set(c.s, c.of[m]) }
