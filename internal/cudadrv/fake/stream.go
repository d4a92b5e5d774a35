package fake

import "github.com/halfulp/halfulp/internal/cudadrv"

// stream is a list of operations. The first done of them have been executed.
type stream struct {
	operations []func() bool // returns false if it accessed memory that is not allocated
	done       int
}

// event is a position in a stream; in is nil until the event is recorded.
type event struct {
	in *stream
	at int
}

// later delays an operation until its stream is waited for.
func (d *Driver) later(call string, s cudadrv.Stream, operation func() bool) error {
	st, ok := d.streams[s]
	if !ok {
		return d.fail(call, cudadrv.InvalidValue)
	}
	st.operations = append(st.operations, operation)
	return nil
}

// drain executes the first n operations of st.
func (d *Driver) drain(call string, st *stream, n int) error {
	for st.done < n {
		operation := st.operations[st.done]
		st.operations[st.done] = nil
		st.done++
		if !operation() {
			return d.fail(call, cudadrv.IllegalAddress)
		}
		if d.lost != 0 {
			return d.fail(call, d.lost)
		}
	}
	return nil
}

func (d *Driver) drainAll(call string) error {
	for _, st := range d.streams {
		if err := d.drain(call, st, len(st.operations)); err != nil {
			return err
		}
	}
	return nil
}

// CtxSynchronize executes the pending operations of all streams.
func (d *Driver) CtxSynchronize() error {
	defer d.mu.Unlock()
	if err := d.inContext("CtxSynchronize"); err != nil {
		return err
	}
	return d.drainAll("CtxSynchronize")
}

// StreamCreate creates a stream. It ignores the priority.
func (d *Driver) StreamCreate(int) (cudadrv.Stream, error) {
	defer d.mu.Unlock()
	if err := d.inContext("StreamCreate"); err != nil {
		return 0, err
	}
	s := cudadrv.Stream(d.handle())
	d.streams[s] = new(stream)
	return s, nil
}

// StreamDestroy executes the pending operations of a stream and ends it.
func (d *Driver) StreamDestroy(s cudadrv.Stream) error {
	defer d.mu.Unlock()
	if err := d.inContext("StreamDestroy"); err != nil {
		return err
	}
	st, ok := d.streams[s]
	if !ok {
		return d.fail("StreamDestroy", cudadrv.InvalidValue)
	}
	delete(d.streams, s)
	return d.drain("StreamDestroy", st, len(st.operations))
}

// StreamSynchronize executes the pending operations of a stream.
func (d *Driver) StreamSynchronize(s cudadrv.Stream) error {
	defer d.mu.Unlock()
	if err := d.inContext("StreamSynchronize"); err != nil {
		return err
	}
	st, ok := d.streams[s]
	if !ok {
		return d.fail("StreamSynchronize", cudadrv.InvalidValue)
	}
	return d.drain("StreamSynchronize", st, len(st.operations))
}

// StreamWaitEvent adds the wait for an event to a stream.
func (d *Driver) StreamWaitEvent(s cudadrv.Stream, e cudadrv.Event) error {
	defer d.mu.Unlock()
	if err := d.inContext("StreamWaitEvent"); err != nil {
		return err
	}
	ev, ok := d.events[e]
	if !ok {
		return d.fail("StreamWaitEvent", cudadrv.InvalidValue)
	}
	at := *ev
	return d.later("StreamWaitEvent", s, func() bool {
		return at.in == nil || d.drain("StreamWaitEvent", at.in, at.at) == nil
	})
}

// EventCreate creates an event.
func (d *Driver) EventCreate() (cudadrv.Event, error) {
	defer d.mu.Unlock()
	if err := d.inContext("EventCreate"); err != nil {
		return 0, err
	}
	e := cudadrv.Event(d.handle())
	d.events[e] = new(event)
	return e, nil
}

// EventDestroy ends an event.
func (d *Driver) EventDestroy(e cudadrv.Event) error {
	defer d.mu.Unlock()
	if err := d.inContext("EventDestroy"); err != nil {
		return err
	}
	if d.events[e] == nil {
		return d.fail("EventDestroy", cudadrv.InvalidValue)
	}
	delete(d.events, e)
	return nil
}

// EventRecord places an event after the operations of a stream so far.
func (d *Driver) EventRecord(e cudadrv.Event, s cudadrv.Stream) error {
	defer d.mu.Unlock()
	if err := d.inContext("EventRecord"); err != nil {
		return err
	}
	ev, st := d.events[e], d.streams[s]
	if ev == nil || st == nil {
		return d.fail("EventRecord", cudadrv.InvalidValue)
	}
	*ev = event{st, len(st.operations)}
	return nil
}

// EventSynchronize executes the operations before an event.
func (d *Driver) EventSynchronize(e cudadrv.Event) error {
	defer d.mu.Unlock()
	if err := d.inContext("EventSynchronize"); err != nil {
		return err
	}
	ev := d.events[e]
	if ev == nil {
		return d.fail("EventSynchronize", cudadrv.InvalidValue)
	}
	if ev.in == nil {
		return nil
	}
	return d.drain("EventSynchronize", ev.in, ev.at)
}

// EventElapsedTime returns 1 ms for any two events that have happened.
func (d *Driver) EventElapsedTime(start, end cudadrv.Event) (float32, error) {
	defer d.mu.Unlock()
	if err := d.inContext("EventElapsedTime"); err != nil {
		return 0, err
	}
	for _, e := range []cudadrv.Event{start, end} {
		if ev := d.events[e]; ev == nil || ev.in == nil || ev.in.done < ev.at {
			return 0, d.fail("EventElapsedTime", cudadrv.InvalidValue)
		}
	}
	return 1, nil
}
