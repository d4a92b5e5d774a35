package seed

import (
	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/launch"
)

// A queue is the state of a GPU's elimination of its columns; other GPUs may have further columns.
type queue struct {
	s          *cuda.Stream
	do         func(f func() error) error // runs f on the GPU's thread
	kernels    *launch.Kernels
	memory     []*cuda.Memory
	begin, end int // the first column, and the one after the last
	width      int // of panels

	sidestream *cuda.Stream   // for work that everything waits for: its blocks go first
	eliminated *cuda.Event    // a panel is eliminated, in sidestream
	pulled     [2]*cuda.Event // copies of every other panel from other GPUs are made, in sidestream
	updated    [2]*cuda.Event // columns outside of every other panel are updated
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

// A room is a request for memory.
type room struct {
	to    *cuda.Pointer
	bytes int
}

// allocAll allocates all rooms, or none.
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

// events returns the addresses of all events.
func (q *queue) events() []**cuda.Event {
	return []**cuda.Event{&q.eliminated, &q.pulled[0], &q.pulled[1], &q.updated[0], &q.updated[1], &q.done}
}

// start creates the sidestream, which first waits for the main stream, and the events.
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

// stop waits for the sidestream and ends it and the events.
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

// A panel is columns that a member stores and eliminates.
type panel struct {
	member
	begin, end int
}

// A memory is a range of a panel's factors that other GPUs need.
type memory struct {
	at    cuda.Pointer
	bytes int
}

// A member of a team is a GPU that has some of the columns.
type member interface {
	common() *queue
	// eliminatePanel computes the factors of a panel of the member, in the sidestream.
	eliminatePanel(begin, end int) error
	// made returns the places of the factors of a panel, in the same order for all members.
	made(begin, end int) []memory
	// updateNext updates the columns of the next panel, which is the member's, in the sidestream.
	updateNext(p, next panel) error
	// updateOthers updates all other columns of the member, with at most the given number of
	// blocks.
	updateOthers(p, next panel, blocks int) error
	// swap moves to other memory for the factors of the next panel.
	swap()
}

// A team is GPUs that eliminate the columns of a matrix, in the order of the columns.
type team []member

// each runs f on the thread of each GPU.
func (t team) each(f func(m member) error) (err error) {
	for _, m := range t {
		if e := m.common().do(func() error { return f(m) }); err == nil {
			err = e
		}
	}
	return err
}

// panels returns the panels of all GPUs.
func (t team) panels() (list []panel) {
	for _, m := range t {
		q := m.common()
		for begin := q.begin; begin < q.end; begin += q.width {
			list = append(list, panel{m, begin, min(begin+q.width, q.end)})
		}
	}
	return list
}

// eliminate eliminates each panel, in the sidestream, as soon as its columns are updated, while all
// other updates run in the main stream.
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
		if err := t.each(func(m member) error { return t.update(m, p, next, made, parity, spare) }); err != nil {
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

// makeFactors computes the factors of a panel, once no GPU reads the factors of the panel before
// the last any more.
func (t team) makeFactors(p panel, parity int) error {
	if err := t.awaitCopies(p.member, parity); err != nil {
		return err
	}
	if err := p.eliminatePanel(p.begin, p.end); err != nil {
		return err
	}
	return p.common().sidestream.Record(p.common().eliminated)
}

// awaitCopies makes the sidestream of a member wait until all others have copied the last panel of
// this parity.
func (t team) awaitCopies(m member, parity int) error {
	for _, other := range t {
		if other == m {
			continue
		}
		if err := m.common().sidestream.Wait(other.common().pulled[parity]); err != nil {
			return err
		}
	}
	return nil
}

// update updates the columns outside of the panel. It begins with the columns of the next panel,
// which the panel before must have updated, and whose factors the other GPUs must have copied; the
// elimination of the next panel then has spare multiprocessors.
func (t team) update(m member, p, next panel, made []memory, parity, spare int) error {
	q := m.common()
	if err := q.follow(m.made(p.begin, p.end), p, m == p.member, made, parity); err != nil {
		return err
	}
	blocks := q.s.Device().Info().Multiprocessors
	if next.member == m {
		if err := q.sidestream.Wait(q.updated[1-parity]); err != nil {
			return err
		}
		if err := t.awaitCopies(m, 1-parity); err != nil {
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

// follow makes the stream of updates wait for a panel, whose factors it copies if another GPU
// computed them.
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

// eliminateAlone is eliminate for a single GPU.
func eliminateAlone(m member) error {
	err := team{m}.eliminate()
	if e := m.common().stop(); err == nil {
		err = e
	}
	return err
}
