package cuda

import (
	"time"

	"github.com/halfulp/halfulp/internal/cudadrv"
)

// Stream is a sequence of operations of a device, each of which starts when those
// before it are done. Its methods are called within Device.Do.
type Stream struct {
	dev *Device
	h   cudadrv.Stream
}

// Device is the device whose stream it is.
func (s *Stream) Device() *Device { return s.dev }

// Handle is the driver's CUstream, for libraries that put work of their own into s. They are
// called within Device.Do, where the device's context is current.
func (s *Stream) Handle() uintptr { return uintptr(s.h) }

// NewStream creates a further stream, whose operations run beside those of s, and whose blocks of
// kernels go before those of the main stream that have not begun. It is ended by Close.
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

// Close waits for the operations of s and ends it. The main stream is not closed.
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

// Synchronize waits until all operations of s are done. An error of a kernel that ran
// before shows up here at the latest.
func (s *Stream) Synchronize() error {
	if err := s.dev.check(); err != nil {
		return err
	}
	return s.dev.failed(s.dev.drv.StreamSynchronize(s.h))
}

// FollowDefault lets later operations of s wait for those that the context's default stream has so
// far, which other libraries use. It has those of all streams that do not say that they leave it
// alone, as those of this package do.
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

// SynchronizeContext waits until all operations of the context are done, those of other libraries
// included.
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

// NewEvent creates an event, which is ended by Close.
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

// Record puts e behind the operations of s so far.
func (s *Stream) Record(e *Event) error {
	if err := s.dev.check(); err != nil {
		return err
	}
	return s.dev.failed(s.dev.drv.EventRecord(e.h, s.h))
}

// Wait lets later operations of s wait for e.
func (s *Stream) Wait(e *Event) error {
	if err := s.dev.check(); err != nil {
		return err
	}
	return s.dev.failed(s.dev.drv.StreamWaitEvent(s.h, e.h))
}

// Follow is Wait whatever became of the context: before memory is given back.
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

// Since is the time from start to e, both of which have happened, as the device
// measured it.
func (e *Event) Since(start *Event) (time.Duration, error) {
	if err := e.dev.check(); err != nil {
		return 0, err
	}
	ms, err := e.dev.drv.EventElapsedTime(start.h, e.h)
	return time.Duration(float64(ms) * float64(time.Millisecond)), e.dev.failed(err)
}
