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
	// Device is the GPU, cuda:N, whose rows stand beside the CPU's; "" or cpu: none.
	Device string
	// MemoryLimit bounds the numbers kept, in bytes.
	MemoryLimit int64
	Context     context.Context
	// Progress, if not nil, is called with the share of the work done.
	Progress func(done float64)
	Machine  Machine
	Command  string
}

// An experiment keeps the clock.
type experiment struct {
	Options
	steps, step int
	gpu         *gpuDevice // nil: none
}

// start begins an experiment of so many steps, and more with a GPU.
func (o *Options) start(steps, more int) (*experiment, error) {
	g, err := o.openGPU()
	if err != nil {
		return nil, err
	}
	if g != nil {
		steps += more
	}
	e := &experiment{Options: *o, steps: steps, gpu: g}
	if e.Threads <= 0 {
		e.Threads = runtime.GOMAXPROCS(0)
	}
	if e.Context == nil {
		e.Context = context.Background()
	}
	return e, nil
}

// next announces a piece of work, or returns the error of a cancelled context.
func (e *experiment) next() error {
	if e.Progress != nil {
		e.Progress(min(float64(e.step)/float64(max(e.steps, 1)), 1))
	}
	e.step++
	return e.Context.Err()
}

// A measurement takes as many runs as fit in enough, from minRuns to maxRuns of them;
// what takes longer than long is run once.
const (
	enough  = 400 * time.Millisecond
	long    = time.Second
	minRuns = 2
	maxRuns = 20
)

// measure returns the time of the fastest run in ms, and how many there were. prepare, if
// not nil, comes before each of them and is not counted.
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
