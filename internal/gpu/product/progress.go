package product

import (
	"sync"

	"github.com/halfulp/halfulp/internal/cuda"
)

// A meter tells how much of a product in parts is done.
type meter struct {
	mu         sync.Mutex
	f          func(done float64)
	done, told float64
}

func newMeter(f func(done float64)) *meter { return &meter{f: f} }

// share returns a function that takes how much of a part is done which is that share of the
// whole. It may be called from any goroutine; what it is told anew, less being done than before,
// counts when that is exceeded. It is nil if nobody wants to know.
func (m *meter) share(of float64) func(done float64) {
	if m.f == nil {
		return nil
	}
	before := 0.0
	return func(done float64) {
		m.mu.Lock()
		defer m.mu.Unlock()
		if done > before {
			m.done += (done - before) * of // may fuse: progress
			before = done
			m.tell(min(m.done, 1))
		}
	}
}

// finish tells that all is done.
func (m *meter) finish() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tell(1)
}

func (m *meter) tell(done float64) {
	if m.f != nil && done > m.told {
		m.told = done
		m.f(done)
	}
}

// maxAhead is the number of steps that the host starts before an earlier one has ended: as many
// as keep the device busy. More would only put off the end of a cancelled product.
const maxAhead = 2

// steps are the chunks of moduli of the blocks of a product.
type steps struct {
	total, ended int
	ahead        []*cuda.Event // behind steps that may not have ended
}

// step ends a step: it waits until few are under way and tells what is done. The last one's end
// is the product's.
func (m *multiplication) step() error {
	t := &m.steps
	if t.ended+len(t.ahead)+1 == t.total {
		return nil
	}
	e, err := m.s.NewEvent()
	if err != nil {
		return err
	}
	t.ahead = append(t.ahead, e)
	if err := m.s.Record(e); err != nil || len(t.ahead) < maxAhead {
		return err
	}
	e, t.ahead = t.ahead[0], t.ahead[1:]
	defer e.Close()
	if err := e.Synchronize(); err != nil {
		return err
	}
	t.ended++
	if m.cfg.Progress != nil {
		m.cfg.Progress(float64(t.ended) / float64(t.total))
	}
	return nil
}

// free ends the events.
func (t *steps) free() {
	for _, e := range t.ahead {
		e.Close()
	}
	t.ahead = nil
}
