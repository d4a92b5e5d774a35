package seed

import (
	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/launch"
)

// A queue is where a GPU eliminates the columns that it has, of which others may have more.
type queue struct {
	s          *cuda.Stream
	do         func(f func() error) error // where the GPU's operations may be queued
	kernels    *launch.Kernels
	memory     []*cuda.Memory
	begin, end int // the first column, and the one behind the last
	width      int // of panels

	sidestream *cuda.Stream   // of what all wait for: its blocks go first
	eliminated *cuda.Event    // a panel, in sidestream
	pulled     [2]*cuda.Event // what another GPU has made of every other panel, in sidestream
	updated    [2]*cuda.Event // columns other than the panel's, which has been in use for that
	done       *cuda.Event
}

func newQueue(s *cuda.Stream, begin, end, width int) queue {
	return queue{s: s, do: func(f func() error) error { return f() }, kernels: launch.KernelsOf(s), begin: begin, end: end, width: width}
}

// common returns q.
func (q *queue) common() *queue { return q }

// alloc returns the address of new memory.
func (q *queue) alloc(bytes int) (cuda.Pointer, error) {
	m, err := q.s.Alloc(int64(bytes))
	if err != nil {
		return 0, err
	}
	q.memory = append(q.memory, m)
	return m.Pointer(), nil
}

// A room is memory to be allocated.
type room struct {
	to    *cuda.Pointer
	bytes int
}

// allocAll allocates all or nothing.
func (q *queue) allocAll(rooms []room) (err error) {
	for _, r := range rooms {
		if *r.to, err = q.alloc(r.bytes); err != nil {
			q.free()
			return err
		}
	}
	return nil
}

func (q *queue) free() {
	for _, m := range q.memory {
		m.Free()
	}
	q.memory = nil
}

// events returns all events.
func (q *queue) events() []**cuda.Event {
	return []**cuda.Event{&q.eliminated, &q.pulled[0], &q.pulled[1], &q.updated[0], &q.updated[1], &q.done}
}

// start makes the sidestream, which follows the other stream, and the events.
func (q *queue) start() (err error) {
	if q.sidestream, err = q.s.NewStream(); err != nil {
		return err
	}
	for _, e := range q.events() {
		if *e, err = q.s.NewEvent(); err != nil {
			return err
		}
		if err = q.s.Record(*e); err != nil {
			return err
		}
	}
	return q.sidestream.Wait(q.done)
}

// stop waits for the stream and ends it and the events.
func (q *queue) stop() (err error) {
	if q.sidestream != nil {
		err = q.sidestream.Close()
		q.sidestream = nil
	}
	for _, e := range q.events() {
		if *e == nil {
			continue
		}
		if failed := (*e).Close(); err == nil {
			err = failed
		}
		*e = nil
	}
	return err
}

// A panel is columns that a GPU has and eliminates.
type panel struct {
	member
	begin, end int
}

// A memory is what other GPUs need of a panel.
type memory struct {
	at    cuda.Pointer
	bytes int
}

// A member of a team is a GPU, which has some columns.
type member interface {
	common() *queue
	// eliminatePanel makes the factors of a panel of the member, in the sidestream.
	eliminatePanel(begin, end int) error
	// made is where the factors of a panel are, or are to be, the same for all members.
	made(begin, end int) []memory
	// updateNext updates columns of the next panel, which is the member's, in the sidestream.
	updateNext(p, next panel) error
	// updateOthers updates what the member has of all other columns, in so many blocks at most.
	updateOthers(p, next panel, blocks int) error
	// swap has the next panel's factors elsewhere.
	swap()
}

// A team is GPUs that eliminate the columns of a matrix, in their order.
type team []member

// each runs f where operations of each GPU may be queued.
func (t team) each(f func(m member) error) (err error) {
	for _, m := range t {
		if e := m.common().do(func() error { return f(m) }); err == nil {
			err = e
		}
	}
	return err
}

// panels returns those of all GPUs.
func (t team) panels() (list []panel) {
	for _, m := range t {
		q := m.common()
		for begin := q.begin; begin < q.end; begin += q.width {
			list = append(list, panel{m, begin, min(begin+q.width, q.end)})
		}
	}
	return list
}

// eliminate eliminates a panel as soon as its columns are there, in the sidestream, while all other
// updates run in the other stream.
func (t team) eliminate() error {
	if err := t.each(func(m member) error { return m.common().start() }); err != nil {
		return err
	}
	list := t.panels()
	spare := spareFor(list[len(list)-1].end, len(t))
	for k, p := range list {
		next := panel{begin: p.end, end: p.end}
		if k+1 < len(list) {
			next = list[k+1]
		}
		parity := k % 2
		if err := p.common().do(func() error { return t.makeFactors(p, parity) }); err != nil {
			return err
		}
		made := p.made(p.begin, p.end)
		if err := t.each(func(m member) error { return update(m, p, next, made, parity, spare) }); err != nil {
			return err
		}
	}
	return t.each(func(m member) error {
		q := m.common()
		if err := q.sidestream.Record(q.done); err != nil {
			return err
		}
		if err := q.s.Wait(q.done); err != nil {
			return err
		}
		return q.s.Record(q.done)
	})
}

// makeFactors makes the factors of a panel, when no GPU reads those of the one before the last any
// more.
func (t team) makeFactors(p panel, parity int) error {
	q := p.common()
	for _, m := range t {
		if m != p.member {
			if err := q.sidestream.Wait(m.common().pulled[parity]); err != nil {
				return err
			}
		}
	}
	if err := p.eliminatePanel(p.begin, p.end); err != nil {
		return err
	}
	return q.sidestream.Record(q.eliminated)
}

// update updates columns other than the panel's, those of the next panel first, whose elimination
// has so many multiprocessors then. These have to have been updated by the panel before.
func update(m member, p, next panel, made []memory, parity, spare int) error {
	q := m.common()
	if err := q.follow(m.made(p.begin, p.end), p, m == p.member, made, parity); err != nil {
		return err
	}
	blocks := q.s.Device().Info().Multiprocessors
	if next.member == m {
		if err := q.sidestream.Wait(q.updated[1-parity]); err != nil {
			return err
		}
		if err := m.updateNext(p, next); err != nil {
			return err
		}
		blocks = max(1, blocks-spare)
	}
	if err := m.updateOthers(p, next, blocks); err != nil {
		return err
	}
	m.swap()
	return q.s.Record(q.updated[parity])
}

// follow lets the stream of updates wait for a panel, of which it gets what another GPU has made.
func (q *queue) follow(to []memory, p panel, own bool, made []memory, parity int) error {
	if own {
		return q.s.Wait(q.eliminated)
	}
	for _, e := range []*cuda.Event{p.common().eliminated, q.updated[parity]} {
		if err := q.sidestream.Wait(e); err != nil {
			return err
		}
	}
	for k, m := range made {
		if err := q.sidestream.CopyPeer(to[k].at, p.common().s.Device(), m.at, int64(m.bytes)); err != nil {
			return err
		}
	}
	if err := q.sidestream.Record(q.pulled[parity]); err != nil {
		return err
	}
	return q.s.Wait(q.pulled[parity])
}

// eliminateAlone is eliminate for one GPU.
func eliminateAlone(m member) error {
	err := team{m}.eliminate()
	if e := m.common().stop(); err == nil {
		err = e
	}
	return err
}
