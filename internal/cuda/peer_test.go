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
