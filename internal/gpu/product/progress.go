package product

import (
	"sync"

	"github.com/halfulp/halfulp/internal/cuda"
)

// A meter reports the progress of a product in parts.
type meter struct {
	mu         sync.Mutex
	f          func(done float64)
	done, told float64
}

func newMeter(f func(done float64)) *meter { return &meter{f: f} }

// share returns the progress function of a part, which is the fraction of of the whole product. It
// may be called from any goroutine. If a part starts anew and reports less than before, its
// progress counts once it exceeds the earlier value. share returns nil if no progress is reported.
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

// finish reports that all is done.
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

// maxAhead is the number of steps that the host starts before an earlier one has ended: enough to
// keep the device busy. More would only delay the end of a cancelled product.
const maxAhead = 2

// steps are the chunks of moduli of all blocks of a product.
type steps struct {
	total, ended int
	ahead        []*cuda.Event // recorded after steps that may not have ended
}

// step ends a step: it waits until fewer than maxAhead steps are in progress, and reports progress.
// The end of the last step is the end of the product.
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

// free closes the events.
func (t *steps) free() {
	for _, e := range t.ahead {
		e.Close()
	}
	t.ahead = nil
}
