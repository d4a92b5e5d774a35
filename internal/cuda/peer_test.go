package cuda_test

import (
	"slices"
	"testing"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/cudadrv"
	"github.com/halfulp/halfulp/internal/cudadrv/fake"
)

// TestCopyPeer copies from one device to another, which can reach each other's memory or not.
// Each asks for access once, and one that is there already is no error. Failures of calls are
// errors.
func TestCopyPeer(t *testing.T) {
	for _, alone := range []bool{false, true} {
		drv := &fake.Driver{Devices: 2, NoPeers: alone}
		var devs [2]*cuda.Device
		for i := range devs {
			var err error
			if devs[i], err = cuda.OpenDriver(drv, i); err != nil {
				t.Fatal(err)
			}
		}
		want := []uint32{1, 2, 3, 4, 5}
		var from, to *cuda.Memory
		do := func(d int, f func(s *cuda.Stream) error) error { return devs[d].Do(t.Context(), f) }
		err := do(0, func(s *cuda.Stream) (err error) {
			if from, err = cuda.NewCopy(s, want); err == nil {
				err = s.Synchronize()
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		pull := func() error {
			return do(1, func(s *cuda.Stream) (err error) {
				if to == nil {
					if to, err = s.Alloc(20); err != nil {
						return err
					}
				}
				return s.CopyPeer(to.At(4), devs[0], from.At(8), 12)
			})
		}
		if !alone {
			drv.Fail("CtxEnablePeerAccess", 0, cudadrv.PeerEnabled)
		}
		for _, call := range []string{"DeviceCanAccessPeer", "MemcpyPeerAsync"} {
			drv.Fail(call, 0, cudadrv.NotSupported)
			if err := pull(); cudadrv.CodeOf(err) != cudadrv.NotSupported {
				t.Errorf("%s: %v", call, err)
			}
		}
		for range 2 {
			if err := pull(); err != nil {
				t.Fatal(err)
			}
		}
		got := make([]uint32, 3)
		if err := do(1, func(s *cuda.Stream) error { return cuda.Download(s, got, to.At(4)) }); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, want[2:]) {
			t.Errorf("%v, want %v", got, want[2:])
		}
		if err := do(0, func(s *cuda.Stream) error {
			can, err := s.Reaches(devs[1])
			if can == alone {
				t.Errorf("the memory of the other is reached: %v", can)
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
		asked := 0
		for _, call := range drv.Calls() {
			if call == "CtxEnablePeerAccess" {
				asked++
			}
		}
		if asked > 2 || alone && asked > 0 {
			t.Errorf("access is asked for %d times", asked)
		}
	}
}

// TestPullRows brings rows of bytes from one device to another, behind what the latter's stream was
// told to do, and in a stream aside.
func TestPullRows(t *testing.T) {
	drv := &fake.Driver{Devices: 2}
	var devs [2]*cuda.Device
	for i := range devs {
		var err error
		if devs[i], err = cuda.OpenDriver(drv, i); err != nil {
			t.Fatal(err)
		}
	}
	if linked, err := cuda.Linked(t.Context(), devs[:]...); err != nil || !linked {
		t.Fatal(linked, err)
	}
	x := []uint8{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}
	var from *cuda.Memory
	if err := devs[0].Do(t.Context(), func(s *cuda.Stream) (err error) {
		if from, err = cuda.NewCopy(s, x); err == nil {
			err = s.Synchronize()
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if err := devs[1].Do(t.Context(), func(s *cuda.Stream) error {
		aside, err := s.NewStream()
		if err != nil {
			return err
		}
		to, err := s.Alloc(8)
		if err != nil {
			return err
		}
		if err := s.Fill(to.Pointer(), 99, 8); err != nil {
			return err
		}
		for _, call := range []string{"EventCreate", "EventRecord", "StreamWaitEvent", "Memcpy2DAsync"} {
			drv.Fail(call, 0, cudadrv.InvalidValue)
			there, err := s.PullRows(aside, cuda.Rows{To: to.Pointer(), From: from.Pointer(), Width: 1, Pitch: 1, Rows: 1})
			if cudadrv.CodeOf(err) != cudadrv.InvalidValue || (there != nil) != (call == "Memcpy2DAsync") {
				t.Errorf("%s: %v %v", call, there, err)
			}
			if there != nil {
				if err := there.Close(); err != nil {
					return err
				}
			}
		}
		there, err := s.PullRows(aside, cuda.Rows{To: to.Pointer(), From: from.At(1), Width: 2, Pitch: 4, Rows: 3}, cuda.Rows{To: to.At(7), From: from.At(11), Width: 1, Pitch: 1})
		if err != nil {
			return err
		}
		if err := s.Follow(there); err != nil {
			return err
		}
		got := make([]uint8, 8)
		if err := cuda.Download(s, got, to.Pointer()); err != nil {
			return err
		}
		if want := []uint8{2, 3, 6, 7, 10, 11, 99, 99}; !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
		if err := there.Close(); err != nil {
			return err
		}
		return aside.Close()
	}); err != nil {
		t.Fatal(err)
	}
	if c := devs[1].Counters(); c.Events != 0 {
		t.Errorf("%d events are left", c.Events)
	}
}
