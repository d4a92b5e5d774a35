package launch

import (
	"testing"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/cudadrv"
	"github.com/halfulp/halfulp/internal/cudadrv/fake"
)

// TestKernel checks that a kernel is compiled once a device, for all streams, and that one that is
// not found leaves no module.
func TestKernel(t *testing.T) {
	for range 2 { // devices
		drv := &fake.Driver{}
		drv.Kernel("scale_add", func(*fake.Launch) {})
		dev, err := cuda.OpenDriver(drv, 0)
		if err != nil {
			t.Fatal(err)
		}
		drv.Fail("ModuleGetFunction", 0, cudadrv.NotFound)
		var first *cuda.Function
		for _, want := range []struct{ failed, modules int }{{1, 0}, {0, 1}, {0, 1}} {
			failed := 0
			if err := dev.Do(t.Context(), func(s *cuda.Stream) error {
				f, err := KernelsOf(s).Function(s, "selftest/selftest", "scale_add")
				switch {
				case err != nil:
					failed = 1
				case first == nil:
					first = f
				case f != first:
					t.Error("compiled again")
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			if failed != want.failed || drv.Live().Modules != want.modules {
				t.Errorf("failed %d, %d modules, want %v", failed, drv.Live().Modules, want)
			}
		}
	}
}
