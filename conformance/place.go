package conformance

import (
	"errors"

	"github.com/halfulp/halfulp"
)

// Resident returns the backend of the NVIDIA GPUs with these numbers for operands that live there;
// on several GPUs matrices are distributed. The storage of a call's operands is copied there, views
// are taken of the copies, and results are copied back.
func Resident(n int, more ...int) Backend {
	b := CUDA(n, more...)
	b.place = halfulp.Device(b.Name)
	b.Name += ", resident"
	b.Modes = []Mode{{Name: b.Name}}
	return b
}

// Processes returns the backend of a grid of processes, for operands that live there (resident) or
// on the host. All processes run the suite, by RunSome.
func Processes(grid halfulp.Device, resident bool) Backend {
	b := Backend{Name: string(grid), Options: func() *halfulp.Options { return &halfulp.Options{Device: grid} }, Partial: true}
	if resident {
		b.Name, b.place = b.Name+", resident", grid
	}
	b.Modes = []Mode{{Name: b.Name}}
	return b
}

// moved is a copy of a matrix where the backend's operands live.
type moved struct{ from, there *halfulp.Matrix }

// move returns m for a backend of the host, else a copy of m where operands live. The end of the
// call frees the copy.
func (tr *trial) move(m *halfulp.Matrix) *halfulp.Matrix {
	if tr.b.place == "" {
		return m
	}
	there, err := m.On(tr.b.place)
	if err != nil {
		tr.lost = errors.Join(tr.lost, err)
		return m
	}
	tr.moved = append(tr.moved, moved{m, there})
	return there
}

// back copies the moved copy of m back to m, with the changes of the call.
func (tr *trial) back(m *halfulp.Matrix) error {
	for _, c := range tr.moved {
		if c.from == m {
			return m.CopyFrom(c.there)
		}
	}
	return tr.lost
}

// vectorOf returns the vector at a line of a grid.
func (tr *trial) vectorOf(v *view) *halfulp.Vector { return v.lineOn(tr.move(v.g.matrix())) }

// end frees the copies. It returns an error for copies that a call has changed and that were not
// copied back.
func (tr *trial) end() error {
	err := tr.lost
	for _, c := range tr.moved {
		h, failed := c.there.Host()
		switch {
		case failed != nil:
			err = errors.Join(err, failed)
		case !h.Same(c.from):
			err = errors.Join(err, mismatchf("an input that lives on %s has changed", tr.b.place))
		}
		c.there.Free()
	}
	tr.moved, tr.lost = nil, nil
	return err
}
