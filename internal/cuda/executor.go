package cuda

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/halfulp/halfulp/internal/par"
)

// executor is the goroutine that makes a device's calls of the driver. It is locked to its thread,
// whose current context is the device's context. It never ends: a thread that has called the driver
// must not end before the process does.
type executor struct {
	jobs   chan *job
	closed bool                  // the device could not be opened: serve ends
	lost   atomic.Pointer[error] // why every call fails, once the device has failed
	ctx    context.Context       // of the running job
	// goroutines poll before they sleep, where other processors remain for the rest
	patient  bool
	patience time.Duration // how long the executor polls for the next job
	awake    atomic.Bool   // the executor will look at slot before it sleeps
	_        [64]byte
	// a job for an executor that is awake, beside jobs: a word with a cache line of its own passes
	// from one processor to another in less time than a channel, whose lock does too
	slot atomic.Pointer[job]
	_    [64]byte
}

// Waking a goroutine that is locked to a thread takes several µs, on a virtual machine with an H100
// 90 µs, longer than many jobs: calls of package linsolve, of some forty jobs each, slept for half
// of their time. Therefore the executor and its callers poll for a while before they sleep, if
// there is a processor for each, and longer where there are many processors. BenchmarkDo on an H100
// machine: 17 µs with sleep, 1.5 µs without.
var (
	// how long the executor polls for the next job
	executorPatience = patienceOf(50*time.Microsecond, 500*time.Microsecond)
	// how long a caller polls for the end of its job
	callerPatience = patienceOf(20*time.Microsecond, 2*time.Millisecond)
)

// patienceOf returns many if there are at least manyProcessors processors, else few.
func patienceOf(few, many time.Duration) time.Duration {
	if runtime.GOMAXPROCS(0) >= manyProcessors {
		return many
	}
	return few
}

const manyProcessors = 4

// job is a function to be run by the executor.
type job struct {
	state atomic.Int32
	done  atomic.Pointer[chan struct{}] // closed at the end, if the caller has stopped polling
	_     [64]byte                      // the caller polls state while the executor works

	ctx    context.Context
	opens  bool // f runs before the device has a main stream
	f      func(s *Stream) error
	err    error
	ended  ending
	caught any // the value of its panic
}

// The states of a job.
const (
	queued int32 = iota
	running
	finished
	abandoned // by its caller, while it was queued
)

// ending describes how a job's function ended.
type ending int

const (
	exited ending = iota // by runtime.Goexit, as in testing.T.FailNow
	returned
	panicked
)

// start starts the executor, makes the device's context current on its thread and creates the main
// stream.
func (d *Device) start() error {
	d.jobs = make(chan *job, 1)
	threads.serve(d)
	return d.run(&job{ctx: context.Background(), opens: true, f: func(*Stream) (err error) {
		defer func() { d.closed = err != nil }()
		dev, err := d.drv.DeviceGet(d.info.Index)
		if err != nil {
			return d.failed(err)
		}
		c, err := d.drv.DevicePrimaryCtxRetain(dev)
		if err != nil {
			return d.failed(err)
		}
		d.ofDrv = c
		if err = d.drv.CtxSetCurrent(c); err != nil {
			err = d.failed(err)
		} else if d.main, err = d.newStream(usual); err == nil {
			return nil
		}
		_ = d.drv.CtxSetCurrent(0)
		_ = d.drv.DevicePrimaryCtxRelease(dev)
		return err
	}})
}

// threads are the threads of executors. The thread of a device that could not be opened serves the
// next device.
var threads threadPool

type threadPool struct {
	sync.Mutex
	idle []chan *Device
}

// serve assigns a thread to d: an idle one, or a new one.
func (p *threadPool) serve(d *Device) {
	p.Lock()
	defer p.Unlock()
	if n := len(p.idle); n > 0 {
		p.idle[n-1] <- d
		p.idle = p.idle[:n-1]
		return
	}
	next := make(chan *Device, 1)
	next <- d
	go func() {
		runtime.LockOSThread()
		for d := range next {
			d.serve()
			p.Lock()
			p.idle = append(p.idle, next)
			p.Unlock()
		}
	}()
}

// serve runs jobs until one of them closes the executor.
func (d *Device) serve() {
	for !d.closed {
		if j := d.next(); j.state.CompareAndSwap(queued, running) {
			d.serveOne(j)
		}
	}
}

// next waits for a job, polling first if the executor is patient.
func (d *Device) next() *job {
	if d.patient {
		var j *job
		d.awake.Store(true)
		if par.LookOut(d.patience, func() bool {
			if d.slot.Load() != nil {
				j = d.slot.Swap(nil)
			}
			return j != nil || len(d.jobs) > 0
		}); j != nil {
			return j
		}
		// A caller that has filled the slot looks at awake afterwards.
		d.awake.Store(false)
		if j = d.slot.Swap(nil); j != nil {
			return j
		}
	}
	return <-d.jobs
}

// pass hands j to the executor, and reports whether it did.
func (d *Device) pass(j *job) bool {
	if !d.awake.Load() || !d.slot.CompareAndSwap(nil, j) {
		return false
	}
	// Unless it is awake still, the job is taken back or the executor has it.
	return d.awake.Load() || !d.slot.CompareAndSwap(j, nil)
}

func (d *Device) serveOne(j *job) {
	defer func() {
		if j.ended == exited {
			if j.caught = recover(); j.caught != nil {
				j.ended = panicked
			}
		}
		goexit := j.ended == exited
		d.ctx = nil
		j.state.Store(finished)
		if done := j.done.Load(); done != nil {
			close(*done)
		}
		if goexit {
			// Goexit cannot be stopped, but the goroutine lives on in this function.
			d.serve()
		}
	}()
	d.ctx = j.ctx
	if !j.opens {
		j.err = d.check()
	}
	if j.err == nil {
		j.err = j.f(d.main)
	}
	j.ended = returned
}

// run runs a job on the executor and returns its error, or the error of its context if that is
// cancelled before the job starts. A panic of the job, or its runtime.Goexit, continues in the
// caller.
func (d *Device) run(j *job) error {
	ctx := j.ctx
	if !d.pass(j) {
		select {
		case d.jobs <- j:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	ready := func() bool { return j.state.Load() == finished }
	if !d.patient || !par.LookOut(callerPatience, ready) {
		// The executor looks for the channel after it has set the state, so it closes the channel,
		// or the job is finished here.
		done := make(chan struct{})
		j.done.Store(&done)
		if !ready() {
			select {
			case <-done:
			case <-ctx.Done():
				if j.state.CompareAndSwap(queued, abandoned) {
					return ctx.Err()
				}
				<-done
			}
		}
	}
	switch j.ended {
	case panicked:
		panic(j.caught)
	case exited:
		runtime.Goexit()
	}
	return j.err
}

// Do runs f on the device's thread and returns its error. The operations of f are methods of s, the
// device's main stream. s and all other streams may be used only inside functions that Do runs, and
// f must not call Do. An operation fails with the error of ctx once ctx is cancelled, and with an
// error that wraps ErrLost once the device has failed.
//
// Work that f has started may still be in progress when Do returns. Work that later calls of Do
// start on the same stream runs after it.
func (d *Device) Do(ctx context.Context, f func(s *Stream) error) error {
	return d.run(&job{ctx: ctx, f: f})
}

// check returns the error that prevents operations now, or nil: the loss of the device or the
// cancellation of the context. It panics outside of Do.
func (d *Device) check() error {
	if lost := d.lost.Load(); lost != nil {
		return *lost
	}
	if d.ctx == nil {
		panic("cuda: operation outside of Device.Do")
	}
	return d.ctx.Err()
}
