package place

import (
	"context"
	"errors"
	"fmt"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
)

// ErrPlace is wrapped by errors about operands that live on different devices.
var ErrPlace = errors.New("operands live on different devices")

// Label returns the name of a place, Host for nil.
func Label(p Place) string {
	if p == nil {
		return Host
	}
	return p.String()
}

// Same returns the place where all operands of a routine live, nil for the host, given the place of
// each operand. The error wraps ErrPlace if two places differ.
func Same(routine string, places ...Place) (Place, error) {
	if len(places) == 0 {
		return nil, nil
	}
	p := places[0]
	for _, q := range places {
		if p != q {
			return nil, fmt.Errorf("%s: %w, %s and %s: On and Host copy them from one to another", routine, ErrPlace, Label(p), Label(q))
		}
	}
	return p, nil
}

// Leaves turns ErrUnsupported of a place into "not done", without an error: the host then computes
// the result.
func Leaves(done bool, err error) (bool, error) {
	if errors.Is(err, ErrUnsupported) {
		return false, nil
	}
	return done, err
}

// Home returns the place with this name where numbers can live, nil for the host. The error wraps
// ErrDevice if the name is not the name of a place, or if the place does not exist.
func Home(device string) (Place, error) {
	n, err := ParseName(device)
	switch {
	case n.Kind == Host:
		return nil, nil
	case err != nil || n.Kind == Auto:
		return nil, fmt.Errorf("device %q: %w (want cpu, cuda:N, or cuda:N,M or cuda:N-M of several GPUs)", device, ErrDevice)
	}
	return n.Open()
}

// One is Home for numbers that live on one GPU or on the host.
func One(device string) (Place, error) {
	if n, err := ParseName(device); err != nil || n.Kind == Auto || n.Kind == CUDA && len(n.Numbers) != 1 {
		return nil, fmt.Errorf("device %q: %w (want cpu or cuda:N)", device, ErrDevice)
	}
	return Home(device)
}

// Single returns an error that wraps ErrDevice if p is several GPUs. It is for routines that run on
// one GPU only.
func Single(p Place) error {
	if p == nil || p == p.First() {
		return nil
	}
	return fmt.Errorf("%s: %w: this runs on one GPU: On copies operands there", p, ErrDevice)
}

// NewMat returns a rows x cols matrix of +0 that lives at p; nil: the host.
func NewMat(p Place, f num.Format, rows, cols int) (num.Mat, error) {
	if p == nil {
		return num.NewMat(f, rows, cols), nil
	}
	a, err := p.New(context.Background(), f, rows, cols)
	return num.Mat{Arr: a, RS: 1, CS: max(rows, 1), Rows: rows, Cols: cols}, err
}

// Copy copies a to m, of the same shape and format, wherever they live. Within one place it does
// not copy by way of the host. a and m may overlap.
func Copy(m, a num.Mat) error {
	p, err := Common("", m.Arr)
	if err != nil {
		return err
	}
	q, err := Common("", a.Arr)
	if err != nil {
		return err
	}
	if p != nil && p == q {
		return p.Copy(Config{Run: par.Run{Ctx: context.Background()}}, m, a)
	}
	if q != nil {
		if a, err = q.Get(context.Background(), a); err != nil {
			return err
		}
	}
	switch {
	case p != nil:
		return p.Set(context.Background(), m, a)
	case m.Arr.Overlaps(a.Arr):
		a = a.Copy()
	}
	m.CopyFrom(a)
	return nil
}

// On returns a copy of m that lives at p; nil: the host.
func On(p Place, m num.Mat) (num.Mat, error) {
	z, err := room(p, m.Arr.Format, m.Rows, m.Cols)
	if err != nil {
		return z, err
	}
	if err := Copy(z, m); err != nil {
		z.Free()
		return z, err
	}
	return z, nil
}

// room is NewMat for a matrix that is stored completely before it is read.
func room(p Place, f num.Format, rows, cols int) (num.Mat, error) {
	newton, ok := Part[Newton](p)
	if !ok {
		return NewMat(p, f, rows, cols)
	}
	a, err := newton.Room(Config{Run: par.Run{Ctx: context.Background()}}, f, rows, cols)
	return num.Mat{Arr: a, RS: 1, CS: max(rows, 1), Rows: rows, Cols: cols}, err
}

// OnHost returns a matrix of the host with the entries of m; it is m itself if m lives on the host.
func OnHost(m num.Mat) (num.Mat, error) {
	p, err := Common("", m.Arr)
	if err != nil || p == nil {
		return m, err
	}
	return p.Get(context.Background(), m)
}
