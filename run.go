package halfulp

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/halfulp/halfulp/internal/direct"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
)

// run is one call of a level-1 or level-2 routine: its settings and what it will
// report.
type run struct {
	place.Settings
	at                  place.Place // nil for the host
	ondevice            bool        // the operands live there
	name                string
	out                 *Stats // of the options
	stats               Stats
	overflow, underflow atomic.Int64
	exact               atomic.Int64
	done                atomic.Int64
	mu                  sync.Mutex
	since               time.Time
}

// begin checks the options of routine name, and finds where it runs: where its operands live, or
// for operands of the host where the options say.
func begin(name string, opt *Options, operands ...*num.Array) (*run, error) {
	at, err := whereabouts(name, operands...)
	if err != nil {
		return nil, err
	}
	r, err := newRun(name, opt)
	if err != nil {
		return nil, err
	}
	r.at, r.ondevice = at, at != nil
	if !r.ondevice && r.Device.IsPlace() {
		p, err := r.Device.Open()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		r.at = p.First()
	}
	if err := place.Ended(r.Ctx, r.at); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if r.at != nil {
		r.stats.Device = r.at.String()
	}
	return r, nil
}

// beginOnHost checks the options of routine name, which the CPU runs in place of a device.
func beginOnHost(name string, opt *Options) (*run, error) {
	r, err := begin(name, opt)
	if err == nil && r.at != nil {
		r.at, r.stats.Device = nil, place.Host
	}
	return r, err
}

// newRun checks the options of routine name, device and context aside.
func newRun(name string, opt *Options) (*run, error) {
	s, err := opt.settings()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if s.Method == methodResidue {
		return nil, fmt.Errorf("%s: method %q: %w: this routine has the direct method only", name, s.Method, ErrMethod)
	}
	if err := s.Unchecked(name); err != nil {
		return nil, err
	}
	r := &run{Settings: s, name: name, since: time.Now()}
	if opt != nil {
		r.out = opt.Stats
	}
	r.stats = Stats{Device: place.Host, Method: methodDirect, Threads: s.Threads}
	return r, nil
}

// work is how loops of r run.
func (r *run) work() direct.Work {
	w := direct.Work{Run: r.Run}
	if r.Progress != nil {
		w.Done = func(part, of int) {
			r.mu.Lock()
			defer r.mu.Unlock()
			d := r.done.Add(int64(part))
			r.Progress(min(1, float64(d)/float64(of)))
		}
	}
	return w
}

// stage ends a stage, which is all that there is at a place.
func (r *run) stage(name string) {
	if r.at != nil && r.Progress != nil {
		r.Progress(1)
	}
	now := time.Now()
	r.stats.Stages = append(r.stats.Stages, Stage{name, now.Sub(r.since)})
	r.since = now
	r.done.Store(0)
}

// count counts what a rounding met.
func (r *run) count(f num.Flags) {
	if f&num.Overflow != 0 {
		r.overflow.Add(1)
	}
	if f&num.Underflow != 0 {
		r.underflow.Add(1)
	}
}

// end stores the statistics of r where the options ask for them, and returns the error of r, if
// there is one.
func (r *run) end(err error) error {
	r.stats.Overflow = r.overflow.Load()
	r.stats.Underflow = r.underflow.Load()
	r.stats.Exact = r.exact.Load()
	if r.out != nil {
		*r.out = r.stats
	}
	if err != nil {
		return fmt.Errorf("%s: %w", r.name, err)
	}
	return nil
}

// reduced is what a reduction to z ended with; exact says that the exact value decided it.
func (r *run) reduced(name string, z *num.Array, flags num.Flags, exact bool, err error) (Scalar, error) {
	if err != nil {
		return Scalar{}, r.end(err)
	}
	r.count(flags)
	if exact {
		r.exact.Add(1)
	}
	r.stage("sum")
	return Scalar{num.ScalarOf(z)}, r.end(nil)
}

// scalar returns v rounded to f.
func (r *run) scalar(f Format, v num.Real) Scalar {
	a := num.New(f.View(), 1)
	r.count(a.Set(0, v))
	return Scalar{num.ScalarOf(a)}
}

// value returns s exactly.
func (s Scalar) value() num.Real { return s.n.Real() }
