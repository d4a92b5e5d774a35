package cuda

import (
	"sync"

	"github.com/halfulp/halfulp/internal/cudadrv"
)

// peers are the devices whose memory a device reaches itself, or not.
type peers struct {
	sync.Mutex
	known map[*Device]bool
}

// reach lets the device of s reach the memory of another one, if it can.
func (s *Stream) reach(from *Device) error {
	d := s.dev
	d.peers.Lock()
	defer d.peers.Unlock()
	if d.peers.known[from] {
		return nil
	}
	here, err := d.drv.DeviceGet(d.info.Index)
	if err != nil {
		return err
	}
	there, err := d.drv.DeviceGet(from.info.Index)
	if err != nil {
		return err
	}
	can, err := d.drv.DeviceCanAccessPeer(here, there)
	if err != nil {
		return err
	}
	if can {
		if err := d.drv.CtxEnablePeerAccess(from.ofDrv); err != nil && cudadrv.CodeOf(err) != cudadrv.PeerEnabled {
			return err
		}
	}
	if d.peers.known == nil {
		d.peers.known = map[*Device]bool{}
	}
	d.peers.known[from] = true
	return nil
}

// CopyPeer copies n bytes from the memory of another device of the same driver to that of the
// device of s: over the link between them where the driver lets one reach the other's memory, else
// through the host. The caller sees to it, by events, that what is copied is there by then, and
// stays until it is copied.
func (s *Stream) CopyPeer(dst Pointer, from *Device, src Pointer, n int64) error {
	if err := s.dev.check(); err != nil || n == 0 {
		return err
	}
	if err := s.reach(from); err != nil {
		return s.dev.failed(err)
	}
	return s.dev.failed(s.dev.drv.MemcpyPeerAsync(dst, s.dev.ofDrv, src, from.ofDrv, uint64(n), s.h))
}
