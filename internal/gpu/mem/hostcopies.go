package mem

import (
	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/num"
)

// HostCopies makes copies on the host of views on a device, when they are asked for first.
type HostCopies struct {
	s  *cuda.Stream
	of map[Matrix]num.Mat
}

// NewHostCopies returns no copies yet, of views on the device of s.
func NewHostCopies(s *cuda.Stream) *HostCopies { return &HostCopies{s, map[Matrix]num.Mat{}} }

// Get returns the copy of m, the same for equal views.
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

// Vector returns the copy of v.
func (c *HostCopies) Vector(v Vector) (num.Vec, error) {
	m, err := c.Get(v.Col())
	return m.Col(0), err
}

// Put copies what became of the copy of m to the device.
func (c *HostCopies) Put(m Matrix) error { return m.Set(c.s, c.of[m]) }
