package cuda

import (
	"time"

	"github.com/halfulp/halfulp/internal/cudadrv"
)

// A Stream is a sequence of operations of a device, each of which starts when the operations before
// it are done. Its methods must be called within Device.Do.
type Stream struct {
	dev *Device
	h   cudadrv.Stream
}

// Device returns the device of s.
func (s *Stream) Device() *Device { return s.dev }

// Handle returns the driver's CUstream, for libraries that add work to s. They must be called
// within Device.Do, where the device's context is current.
func (s *Stream) Handle() uintptr { return uintptr(s.h) }

// NewStream creates a stream whose operations run concurrently with the operations of s. Its
// kernels have priority over blocks of the main stream's kernels that have not started. Close ends
// it.
func (s *Stream) NewStream() (*Stream, error) {
	if err := s.dev.check(); err != nil {
		return nil, err
	}
	return s.dev.newStream(urgent)
}

// Priorities of streams.
const (
	usual  = 0
	urgent = -1
)

func (d *Device) newStream(priority int) (*Stream, error) {
	h, err := d.drv.StreamCreate(priority)
	if err != nil {
		return nil, d.failed(err)
	}
	d.counts.streams.Add(1)
	return &Stream{dev: d, h: h}, nil
}

// Close waits for the operations of s and ends it. It panics on the main stream.
func (s *Stream) Close() error {
	if s == s.dev.main {
		panic("cuda: the main stream is closed")
	}
	err := s.dev.failed(s.dev.drv.StreamSynchronize(s.h))
	s.dev.pool.forget(s)
	s.dev.counts.streams.Add(-1)
	if e := s.dev.failed(s.dev.drv.StreamDestroy(s.h)); err == nil {
		err = e
	}
	return err
}

// Synchronize waits until all operations of s are done. It returns errors of kernels that ran
// before, unless an earlier call has returned them.
func (s *Stream) Synchronize() error {
	if err := s.dev.check(); err != nil {
		return err
	}
	return s.dev.failed(s.dev.drv.StreamSynchronize(s.h))
}

// FollowDefault makes later operations of s wait for the operations so far of the context's default
// stream, which other libraries use. The default stream waits for all streams of the context except
// non-blocking ones, such as the streams of this package.
func (s *Stream) FollowDefault() error {
	e, err := s.NewEvent()
	if err != nil {
		return err
	}
	defer e.Close()
	if err := s.dev.failed(s.dev.drv.EventRecord(e.h, 0)); err != nil {
		return err
	}
	return s.Wait(e)
}

// SynchronizeContext waits until all operations of the context are done, including the operations
// of other libraries.
func (s *Stream) SynchronizeContext() error {
	if err := s.dev.check(); err != nil {
		return err
	}
	return s.dev.failed(s.dev.drv.CtxSynchronize())
}

// Event is a point in a stream.
type Event struct {
	dev *Device
	h   cudadrv.Event
}

// NewEvent creates an event; Close ends it.
func (s *Stream) NewEvent() (*Event, error) {
	if err := s.dev.check(); err != nil {
		return nil, err
	}
	h, err := s.dev.drv.EventCreate()
	if err != nil {
		return nil, s.dev.failed(err)
	}
	s.dev.counts.events.Add(1)
	return &Event{s.dev, h}, nil
}

// Close ends the event.
func (e *Event) Close() error {
	e.dev.counts.events.Add(-1)
	return e.dev.failed(e.dev.drv.EventDestroy(e.h))
}

// Record places e after the operations of s so far.
func (s *Stream) Record(e *Event) error {
	if err := s.dev.check(); err != nil {
		return err
	}
	return s.dev.failed(s.dev.drv.EventRecord(e.h, s.h))
}

// Wait makes later operations of s wait for e.
func (s *Stream) Wait(e *Event) error {
	if err := s.dev.check(); err != nil {
		return err
	}
	return s.dev.failed(s.dev.drv.StreamWaitEvent(s.h, e.h))
}

// Follow is Wait even after the context is cancelled: for use before memory is freed.
func (s *Stream) Follow(e *Event) error {
	return s.dev.failed(s.dev.drv.StreamWaitEvent(s.h, e.h))
}

// Synchronize waits until the operations before e are done.
func (e *Event) Synchronize() error {
	if err := e.dev.check(); err != nil {
		return err
	}
	return e.dev.failed(e.dev.drv.EventSynchronize(e.h))
}

// Since returns the time from start to e as the device measured it. Both events must have happened.
func (e *Event) Since(start *Event) (time.Duration, error) {
	if err := e.dev.check(); err != nil {
		return 0, err
	}
	ms, err := e.dev.drv.EventElapsedTime(start.h, e.h)
	return time.Duration(float64(ms) * float64(time.Millisecond)), e.dev.failed(err)
}
