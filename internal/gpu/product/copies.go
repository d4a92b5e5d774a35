package product

import (
	"sync"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/num"
)

// Copies keeps copies of a host matrix, prepared for products, on the devices that multiply with
// it.
type Copies struct {
	mat num.Mat
	mu  sync.Mutex
	on  map[*cuda.Device]*copied // guarded by mu
}

type copied struct {
	mem.Matrix
	e    *engine // nil if the matrix is lent
	size int64
}

// NewCopies returns an empty Copies of m.
func NewCopies(m num.Mat) *Copies { return &Copies{mat: m, on: map[*cuda.Device]*copied{}} }

// Free frees the copies, except lent ones.
func (c *Copies) Free() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, k := range c.on {
		if k.e != nil {
			k.Arr.Free()
			k.e.kept.Add(-k.size)
		}
	}
	clear(c.on)
}

// Lend makes z the copy of the matrix on dev, until its owner frees it, and prepares it.
func (c *Copies) Lend(dev *cuda.Device, z mem.Matrix) {
	c.mu.Lock()
	defer c.mu.Unlock()
	Prepare(z)
	c.on[dev] = &copied{Matrix: z}
}

// get returns a copy of m on the device of s, and a function to call after the product. Copies of
// the whole matrix or of its transpose are kept if there is room for them.
func (c *Copies) get(s *cuda.Stream, m num.Mat) (z mem.Matrix, free func(), err error) {
	if c != nil {
		if k, err := c.whole(s, m); k != nil || err != nil {
			return k.view(c, m), func() {}, err
		}
	}
	z, err = mem.UploadView(s, m)
	return z, z.Arr.Free, err
}

// view returns m as a view of its copy on the device.
func (k *copied) view(c *Copies, m num.Mat) mem.Matrix {
	switch {
	case k == nil:
		return mem.Matrix{}
	case m == c.mat:
		return k.Matrix
	}
	return k.T()
}

// of reports whether c keeps copies of m or of its transpose.
func (c *Copies) of(m num.Mat) bool { return c != nil && (m == c.mat || m == c.mat.T()) }

// whole returns the copy on the device of s, and makes it if necessary. It returns nil if m
// is neither the matrix nor its transpose, or if there is no room.
func (c *Copies) whole(s *cuda.Stream, m num.Mat) (*copied, error) {
	if !c.of(m) {
		return nil, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if k := c.on[s.Device()]; k != nil {
		return k, nil
	}
	e := engineOf(s)
	size := matBytes(m)
	if e.kept.Load()+size > e.mayKeep() {
		return nil, nil
	}
	z, err := mem.UploadView(s, c.mat)
	if err != nil {
		return nil, err
	}
	Prepare(z)
	e.kept.Add(size)
	c.on[s.Device()] = &copied{z, e, size}
	return c.on[s.Device()], nil
}
