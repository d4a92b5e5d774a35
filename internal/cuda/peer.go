package cuda

import (
	"cmp"
	"context"
	"sync"

	"github.com/halfulp/halfulp/internal/cudadrv"
)

// peers are the devices of which it is known whether a device reaches their memory itself.
type peers struct {
	sync.Mutex
	reached map[*Device]bool
}

// reach lets the device of s reach the memory of another one, if it can.
func (s *Stream) reach(from *Device) (can bool, err error) {
	d := s.dev
	d.peers.Lock()
	defer d.peers.Unlock()
	if can, known := d.peers.reached[from]; known {
		return can, nil
	}
	here, err := d.drv.DeviceGet(d.info.Index)
	if err != nil {
		return false, err
	}
	there, err := d.drv.DeviceGet(from.info.Index)
	if err != nil {
		return false, err
	}
	if can, err = d.drv.DeviceCanAccessPeer(here, there); err != nil {
		return false, err
	}
	if can {
		if err := d.drv.CtxEnablePeerAccess(from.ofDrv); err != nil && cudadrv.CodeOf(err) != cudadrv.PeerEnabled {
			return false, err
		}
	}
	if d.peers.reached == nil {
		d.peers.reached = map[*Device]bool{}
	}
	d.peers.reached[from] = can
	return can, nil
}

// Reaches reports whether kernels of the device of s reach the memory of another device of the same
// driver, and lets them.
func (s *Stream) Reaches(from *Device) (bool, error) {
	if err := s.dev.check(); err != nil {
		return false, err
	}
	can, err := s.reach(from)
	return can, s.dev.failed(err)
}

// Linked reports whether kernels of each device reach the memory of all others, which are of the
// same driver, and lets them.
func Linked(ctx context.Context, devs ...*Device) (all bool, err error) {
	all = true
	for _, d := range devs {
		if err := d.Do(ctx, func(s *Stream) error {
			for _, other := range devs {
				if other == d {
					continue
				}
				can, err := s.Reaches(other)
				if err != nil {
					return err
				}
				all = all && can
			}
			return nil
		}); err != nil {
			return false, err
		}
	}
	return all, nil
}

// CopyPeer copies n bytes from the memory of another device of the same driver to that of the
// device of s: over the link between them where the driver lets one reach the other's memory, else
// through the host. The caller sees to it, by events, that what is copied is there by then, and
// stays until it is copied.
func (s *Stream) CopyPeer(dst Pointer, from *Device, src Pointer, n int64) error {
	if err := s.dev.check(); err != nil || n == 0 {
		return err
	}
	if _, err := s.reach(from); err != nil {
		return s.dev.failed(err)
	}
	return s.dev.failed(s.dev.drv.MemcpyPeerAsync(dst, s.dev.ofDrv, src, from.ofDrv, uint64(n), s.h))
}

// Rows are rows of so many bytes, which begin at From, a pitch apart, and come to To, one after the
// other.
type Rows struct {
	To, From           Pointer
	Width, Pitch, Rows int64
}

// PullRows lets rows come from the memory of other devices which the device of s reaches, behind
// what s was told to do so far, but in the stream aside, and returns an event behind their coming;
// with an error as well, if any may come. See [Stream.CopyPeer].
func (s *Stream) PullRows(aside *Stream, list ...Rows) (there *Event, err error) {
	e, err := s.NewEvent()
	if err != nil {
		return nil, err
	}
	if err = s.Record(e); err == nil {
		err = aside.Wait(e)
	}
	if err != nil {
		_ = e.Close() // err is what came first
		return nil, err
	}
	for _, r := range list {
		if err == nil && r.Width > 0 && r.Rows > 0 {
			err = s.dev.drv.Memcpy2DAsync(cudadrv.Memcpy2D{From: r.From, To: r.To, FromPitch: uint64(r.Pitch), ToPitch: uint64(r.Width),
				Width: uint64(r.Width), Rows: uint64(r.Rows)}, aside.h)
		}
	}
	return e, s.dev.failed(cmp.Or(err, s.dev.drv.EventRecord(e.h, aside.h)))
}
