package fake

import "github.com/halfulp/halfulp/internal/cudadrv"

// stream is a list of operations, of which the first done have been carried out.
type stream struct {
	operations []func() bool // false if one touched memory that is not allocated
	done       int
}

// event is a place in a stream; nil stands for its beginning.
type event struct {
	in *stream
	at int
}

// later puts an operation off until its stream is waited for.
func (d *Driver) later(call string, s cudadrv.Stream, operation func() bool) error {
	st, ok := d.streams[s]
	if !ok {
		return d.fail(call, cudadrv.InvalidValue)
	}
	st.operations = append(st.operations, operation)
	return nil
}

// drain carries out the first n operations of st.
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

// CtxSynchronize does what is pending in all streams.
func (d *Driver) CtxSynchronize() error {
	defer d.mu.Unlock()
	if err := d.inContext("CtxSynchronize"); err != nil {
		return err
	}
	return d.drainAll("CtxSynchronize")
}

// StreamCreate creates a stream. Its priority changes nothing.
func (d *Driver) StreamCreate(int) (cudadrv.Stream, error) {
	defer d.mu.Unlock()
	if err := d.inContext("StreamCreate"); err != nil {
		return 0, err
	}
	s := cudadrv.Stream(d.handle())
	d.streams[s] = new(stream)
	return s, nil
}

// StreamDestroy ends a stream. What is pending in it is done.
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

// StreamSynchronize does what is pending in a stream.
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

// StreamWaitEvent puts the wait for an event into a stream.
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

// EventRecord puts an event behind what a stream holds.
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

// EventSynchronize does what stands before an event.
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
