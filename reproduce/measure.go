package reproduce

import (
	"context"
	"runtime"
	"time"
)

// Options say how an experiment runs.
type Options struct {
	// N is the number of addends, or the order of the matrix; 0 stands for the paper's.
	N       int
	Threads int // 0: as many as there are processors
	// Device is the GPU, cuda:N, whose rows are shown with the CPU's; "" or cpu: none.
	Device string
	// MemoryLimit bounds the numbers kept, in bytes.
	MemoryLimit int64
	Context     context.Context
	// Progress, if not nil, is called with the share of the work done, as each step begins.
	Progress func(done float64)
	// Watch, if not nil, is called before the work with the meter that estimates its duration.
	Watch   func(*Meter)
	Machine Machine
	Command string
}

// An experiment keeps the time.
type experiment struct {
	Options
	meter *Meter
	gpu   *gpuDevice // nil: none
}

// start begins an experiment with the planned steps.
func (o *Options) start(plan plan) (*experiment, error) {
	g, err := o.openGPU()
	if err != nil {
		return nil, err
	}
	e := &experiment{Options: *o, gpu: g}
	if e.Threads <= 0 {
		e.Threads = runtime.GOMAXPROCS(0)
	}
	if e.Context == nil {
		e.Context = context.Background()
	}
	steps, err := e.planned(plan)
	if err != nil {
		return nil, err
	}
	e.meter = newMeter(steps, time.Now)
	if e.Watch != nil {
		e.Watch(e.meter)
	}
	return e, nil
}

// next announces a piece of work, or returns the error of a cancelled context.
func (e *experiment) next() error {
	e.meter.next()
	if e.Progress != nil {
		done, _ := e.meter.State()
		e.Progress(done)
	}
	return e.Context.Err()
}

// finish ends the last piece of work and records how long all of it took.
func (e *experiment) finish(r *Report) {
	r.Seconds = e.meter.finish().Seconds()
	r.Estimate = e.meter.Estimate().Seconds()
}

// A measurement makes as many runs as fit in enough, from minRuns to maxRuns of them; a run that
// takes longer than long is made once.
const (
	enough  = 400 * time.Millisecond
	long    = time.Second
	minRuns = 2
	maxRuns = 20
)

// measure returns the time of the fastest run in ms, and the number of runs. prepare, if not nil,
// is called before each run and not counted.
func (e *experiment) measure(prepare func(), run func() error) (ms float64, runs int, err error) {
	return e.measureFor(enough, prepare, run)
}

// measureFor is measure with another time in place of enough.
func (e *experiment) measureFor(enough time.Duration, prepare func(), run func() error) (ms float64, runs int, err error) {
	var best, sum time.Duration
	for runs = 0; runs < maxRuns; {
		if err := e.Context.Err(); err != nil {
			return 0, 0, err
		}
		if prepare != nil {
			prepare()
		}
		start := time.Now()
		if err := run(); err != nil {
			return 0, 0, err
		}
		d := time.Since(start)
		if runs == 0 || d < best {
			best = d
		}
		runs++
		if sum += d; sum >= long || sum >= enough && runs >= minRuns {
			break
		}
	}
	return float64(best) / float64(time.Millisecond), runs, nil
}

// measuring returns how long measureFor takes for runs of that time.
func measuring(enough, run time.Duration) time.Duration {
	sum := time.Duration(0)
	for runs := 1; ; runs++ {
		if sum += run; sum >= long || runs >= maxRuns || sum >= enough && runs >= minRuns {
			return sum
		}
	}
}
