package launch

import (
	"sync"

	"github.com/halfulp/halfulp/internal/cuda"
)

// PerDevice holds one T for each device.
type PerDevice[T any] struct {
	mu sync.Mutex
	of map[*cuda.Device]*T // guarded by mu
}

// Of returns the T of a device; make creates it at the first call.
func (p *PerDevice[T]) Of(dev *cuda.Device, make func() *T) *T {
	p.mu.Lock()
	defer p.mu.Unlock()
	x := p.of[dev]
	if x == nil {
		if p.of == nil {
			p.of = map[*cuda.Device]*T{}
		}
		x = make()
		p.of[dev] = x
	}
	return x
}
