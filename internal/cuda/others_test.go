package cuda_test

import (
	"fmt"
	"testing"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/cudadrv/fake"
)

// TestOthers checks that work starts after the work of another library in the default stream. It
// also uses memory of that library, which must not enter the pool.
func TestOthers(t *testing.T) {
	drv := new(fake.Driver)
	dev := open(t, drv)
	const n = 100
	var theirs, source *cuda.Memory
	do(t, dev, func(s *cuda.Stream) (err error) {
		if theirs, err = s.Alloc(8 * n); err != nil {
			return err
		}
		if source, err = s.Alloc(8 * n); err != nil {
			return err
		}
		x := make([]uint64, n)
		for i := range x {
			x[i] = uint64(i)
		}
		if err := cuda.Upload(s, source.Pointer(), x); err != nil {
			return err
		}
		return s.Synchronize()
	})
	before := dev.Counters()
	do(t, dev, func(s *cuda.Stream) error {
		m := s.Borrow(theirs.Pointer(), 8*n)
		if !m.Borrowed() || theirs.Borrowed() || !m.On(dev) || m.Size() != 8*n {
			return fmt.Errorf("%+v", m)
		}
		if err := drv.MemcpyDtoDAsync(theirs.Pointer(), source.Pointer(), 8*n, 0); err != nil {
			return err
		}
		got := make([]uint64, n)
		if err := cuda.Download(s, got, m.Pointer()); err != nil {
			return err
		}
		if got[n-1] == n-1 {
			return fmt.Errorf("the fake default stream does its work at once")
		}
		if err := s.FollowDefault(); err != nil {
			return err
		}
		if err := cuda.Download(s, got, m.Pointer()); err != nil {
			return err
		}
		for i := range got {
			if got[i] != uint64(i) {
				return fmt.Errorf("element %d is %d", i, got[i])
			}
		}
		m.Free()
		m.Free()
		return nil
	})
	if after := dev.Counters(); after.InUse != before.InUse || after.Events != before.Events {
		t.Errorf("%+v, before %+v", after, before)
	}
	do(t, dev, func(s *cuda.Stream) error {
		if err := cuda.Upload(s, source.Pointer(), make([]uint64, n)); err != nil {
			return err
		}
		if err := s.Synchronize(); err != nil {
			return err
		}
		if err := drv.MemcpyDtoDAsync(theirs.Pointer(), source.Pointer(), 8*n, 0); err != nil {
			return err
		}
		if err := s.SynchronizeContext(); err != nil {
			return err
		}
		got := make([]uint64, n)
		if err := cuda.Download(s, got, theirs.Pointer()); err != nil || got[1] != 0 {
			return fmt.Errorf("the default stream was not waited for: %v, %w", got[1], err)
		}
		return nil
	})
}
