package cuda

import (
	"cmp"
	"context"
	"sync"

	"github.com/halfulp/halfulp/internal/cudadrv"
)

// peers records, for other devices, whether a device can access their memory directly.
type peers struct {
	sync.Mutex
	reached map[*Device]bool
}

// reach enables the device of s to access the memory of another device, and reports whether it can.
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

// Reaches enables kernels of the device of s to access the memory of another device of the same
// driver, and reports whether they can.
func (s *Stream) Reaches(from *Device) (bool, error) {
	if err := s.dev.check(); err != nil {
		return false, err
	}
	can, err := s.reach(from)
	return can, s.dev.failed(err)
}

// Linked enables kernels of each device to access the memory of all others, and reports whether all
// of them can. The devices must have the same driver.
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

// CopyPeer copies n bytes from the memory of another device of the same driver to the memory of the
// device of s: over the link between them if the device of s can access the other's memory, else
// through the host. The caller must ensure by events that the data is complete when the copy starts
// and unchanged until it ends.
func (s *Stream) CopyPeer(dst Pointer, from *Device, src Pointer, n int64) error {
	if err := s.dev.check(); err != nil || n == 0 {
		return err
	}
	if _, err := s.reach(from); err != nil {
		return s.dev.failed(err)
	}
	return s.dev.failed(s.dev.drv.MemcpyPeerAsync(dst, s.dev.ofDrv, src, from.ofDrv, uint64(n), s.h))
}

// Rows are rows of Width bytes each, which begin at From, Pitch bytes apart. They are copied to To
// contiguously.
type Rows struct {
	To, From           Pointer
	Width, Pitch, Rows int64
}

// PullRows copies rows from the memory of other devices, which the device of s can access. The
// copies run in the stream aside, after the operations of s so far. PullRows returns an event
// recorded after the copies. It returns the event together with an error if some copies may have
// started. See [Stream.CopyPeer].
func (s *Stream) PullRows(aside *Stream, list ...Rows) (there *Event, err error) {
	e, err := s.NewEvent()
	if err != nil {
		return nil, err
	}
	if err = s.Record(e); err == nil {
		err = aside.Wait(e)
	}
	if err != nil {
		_ = e.Close() // the first error is err
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
