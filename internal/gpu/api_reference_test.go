package gpu

import (
	"testing"

	"github.com/halfulp/halfulp/cuda"
	"github.com/halfulp/halfulp/internal/cudadrv/fake"
)

// References puts n fake devices, with Go functions for the kernels, in the place of the
// machine's, for tests of what is built on this package. Each has a driver and a memory of its
// own.
func References(t *testing.T, n int) ([]*cuda.Device, []*fake.Driver) {
	t.Helper()
	devs, drivers := make([]*cuda.Device, n), make([]*fake.Driver, n)
	for i := range devs {
		drivers[i] = &fake.Driver{Devices: n}
		reference(t, drivers[i])
		rowReference(t, drivers[i])
		var err error
		if devs[i], err = cuda.OpenDriver(drivers[i], i); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(Substitute(devs...))
	return devs, drivers
}

// Machine returns the machine's first GPU, or skips.
var Machine = func(t testing.TB) *cuda.Device { return machine(t) }
