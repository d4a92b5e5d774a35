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

// run is one call of a level-1 or level-2 routine: its settings and the statistics that it will
// report.
type run struct {
	place.Settings
	at                  place.Place // nil for the host
	ondevice            bool        // the operands live on the device at
	name                string
	out                 *Stats // Options.Stats
	stats               Stats
	overflow, underflow atomic.Int64
	exact               atomic.Int64
	done                atomic.Int64
	mu                  sync.Mutex
	since               time.Time
}

// begin checks the options of routine name, and determines where it runs: on the device where its
// operands live, or for operands of the host where the options say.
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

// beginOnHost is begin for a routine without operands that always runs on the CPU, even if the
// options name a device.
func beginOnHost(name string, opt *Options) (*run, error) {
	r, err := begin(name, opt)
	if err == nil && r.at != nil {
		r.at, r.stats.Device = nil, place.Host
	}
	return r, err
}

// newRun checks the options of routine name, except device and context.
func newRun(name string, opt *Options) (*run, error) {
	s, err := opt.settings()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if s.Method == methodResidue {
		return nil, fmt.Errorf("%s: method %q: %w: this routine has the method direct only (want auto or direct)", name, s.Method, ErrMethod)
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

// work returns the settings of the loops of r: threads, context and progress.
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

// stage records the time of the stage that ends. A routine on a device has no smaller steps, so its
// progress is 1 then.
func (r *run) stage(name string) {
	if r.at != nil && r.Progress != nil {
		r.Progress(1)
	}
	now := time.Now()
	r.stats.Stages = append(r.stats.Stages, Stage{name, now.Sub(r.since)})
	r.since = now
	r.done.Store(0)
}

// count counts the overflow or underflow of a rounding.
func (r *run) count(f num.Flags) {
	if f&num.Overflow != 0 {
		r.overflow.Add(1)
	}
	if f&num.Underflow != 0 {
		r.underflow.Add(1)
	}
}

// end stores the statistics of r if the options request them, and returns err with the name of the
// routine, or nil.
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

// reduced ends a reduction whose result is in z. exact says that the exact value decided the
// rounding.
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
