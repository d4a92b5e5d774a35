// Package gputest is for tests of what runs on GPUs: the kernels of products, rows, Newton's method
// and seeds in Go, which stand for them on fake devices, the machine's GPU, and random operands.
package gputest

import (
	"errors"
	"os"
	"testing"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/cudadrv/fake"
	"github.com/halfulp/halfulp/internal/gpu/mem"
)

// Machine returns the machine's first GPU, or skips.
func Machine(t testing.TB) *cuda.Device {
	t.Helper()
	dev, err := cuda.Open(0)
	if errors.Is(err, cuda.ErrNoDevice) && os.Getenv("HALFULP_WANT_GPU") == "" {
		t.Skip("no GPU:", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dev
}

// References returns n fake devices with Go functions for the kernels. Each has a driver and a
// memory of its own.
func References(t *testing.T, n int) ([]*cuda.Device, []*fake.Driver) {
	t.Helper()
	devs, drivers := make([]*cuda.Device, n), make([]*fake.Driver, n)
	for i := range devs {
		drivers[i] = &fake.Driver{Devices: n}
		Reference(t, drivers[i])
		ElementReference(t, drivers[i])
		NewtonReference(t, drivers[i])
		FactorsReference(t, drivers[i])
		SeedReference(t, drivers[i])
		var err error
		if devs[i], err = cuda.OpenDriver(drivers[i], i); err != nil {
			t.Fatal(err)
		}
	}
	return devs, drivers
}

// OnDevices runs f on a fake device, which stands for the machine's, with problems of a small size,
// and on the machine's first GPU with larger ones.
func OnDevices(t *testing.T, small, large int, f func(t *testing.T, size int)) {
	t.Run("reference", func(t *testing.T) {
		devs, _ := References(t, 1)
		defer mem.Substitute(devs...)()
		f(t, small)
	})
	t.Run("device", func(t *testing.T) {
		Machine(t)
		f(t, large)
	})
}
