package cuda

import (
	"context"
	"runtime"
	"sync/atomic"
)

// executor is the goroutine that makes a device's calls of the driver. It is locked to
// its thread, whose current context is the device's, and never ends: a thread that made
// calls of the driver must not end before the process does.
type executor struct {
	jobs chan *job
	lost atomic.Pointer[error] // why every call fails, once the device has failed
	ctx  context.Context       // the running job's
}

// job is a function on its way through the executor.
type job struct {
	ctx  context.Context
	f    func() error
	done chan struct{}

	err    error
	ended  ending
	caught any // the value of a panic
}

// ending is how a job's function ended.
type ending int

const (
	exited ending = iota // runtime.Goexit, as by testing.T.FailNow
	returned
	panicked
)

// start begins the executor, makes the device's context current on its thread and
// creates the main stream.
func (d *Device) start() error {
	d.jobs = make(chan *job)
	d.pool.init()
	go func() {
		runtime.LockOSThread()
		d.serve()
	}()
	return d.run(context.Background(), func() error {
		dev, err := d.drv.DeviceGet(d.info.Index)
		if err != nil {
			return err
		}
		c, err := d.drv.DevicePrimaryCtxRetain(dev)
		if err != nil {
			return err
		}
		if err := d.drv.CtxSetCurrent(c); err != nil {
			return err
		}
		d.main, err = d.newStream()
		return err
	})
}

// serve runs jobs for ever.
func (d *Device) serve() {
	for j := range d.jobs {
		d.serveOne(j)
	}
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
		close(j.done)
		if goexit {
			// Goexit cannot be stopped, but the goroutine lives on in this function.
			d.serve()
		}
	}()
	d.ctx = j.ctx
	j.err = j.f()
	j.ended = returned
}

// run runs f on the executor and returns what it returns.
func (d *Device) run(ctx context.Context, f func() error) error {
	j := &job{ctx: ctx, f: f, done: make(chan struct{})}
	select {
	case d.jobs <- j:
	case <-ctx.Done():
		return ctx.Err()
	}
	<-j.done
	switch j.ended {
	case panicked:
		panic(j.caught)
	case exited:
		runtime.Goexit()
	}
	return j.err
}

// Do runs f on the device's thread and returns its error. The operations of f are
// methods of s, the device's main stream; neither s nor any other stream is used once f
// has returned, and f does not call Do. Between operations it ends with ctx's error once
// ctx is cancelled, and with an error that wraps ErrLost once the device has failed.
//
// The work that f has started may still be going on when Do returns; what later calls
// of Do start on the same stream comes after it.
func (d *Device) Do(ctx context.Context, f func(s *Stream) error) error {
	return d.run(ctx, func() error {
		if err := d.check(); err != nil {
			return err
		}
		return f(d.main)
	})
}

// check is why no operation can start now.
func (d *Device) check() error {
	if lost := d.lost.Load(); lost != nil {
		return *lost
	}
	if d.ctx == nil {
		panic("cuda: operation outside of Device.Do")
	}
	return d.ctx.Err()
}
