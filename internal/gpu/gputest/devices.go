// Package gputest supports tests of code that runs on GPUs. It holds the kernels of products, rows,
// Newton's method and seeds in Go, which replace the real kernels on fake devices. It also opens
// the machine's GPU and makes random operands.
package gputest

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/cudadrv"
	"github.com/halfulp/halfulp/internal/cudadrv/fake"
	"github.com/halfulp/halfulp/internal/cudadrv/trace"
	"github.com/halfulp/halfulp/internal/gpu/mem"
)

// Machine returns the machine's first GPU. It skips the test if there is none.
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

// Machines returns two GPUs of the machine. It skips the test if there are fewer.
func Machines(t testing.TB) []*cuda.Device {
	t.Helper()
	devs := []*cuda.Device{Machine(t)}
	second, err := cuda.Open(1)
	if errors.Is(err, cuda.ErrNoDevice) && os.Getenv("HALFULP_WANT_GPUS") == "" {
		t.Skip("no second GPU:", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return append(devs, second)
}

// Wide skips a test of kernels in programs of 32 bits, which no driver has: structures of theirs
// end without the padding that kernels have.
func Wide(t testing.TB) {
	t.Helper()
	if strconv.IntSize < 64 {
		t.Skip("GPUs are for programs of 64 bits")
	}
}

// References returns n fake devices with Go functions for the kernels. Each device has its own
// driver and memory.
func References(t *testing.T, n int) ([]*cuda.Device, []*fake.Driver) {
	t.Helper()
	devs, drivers := make([]*cuda.Device, n), make([]*fake.Driver, n)
	for i := range devs {
		drivers[i] = &fake.Driver{Devices: n}
		Kernels(t, drivers[i])
		var err error
		if devs[i], err = cuda.OpenDriver(drivers[i], i); err != nil {
			t.Fatal(err)
		}
	}
	return devs, drivers
}

// Linked returns n fake devices of one driver, which can access each other's memory.
func Linked(t testing.TB, n int) ([]*cuda.Device, *fake.Driver) {
	t.Helper()
	drv := &fake.Driver{Devices: n}
	Kernels(t, drv)
	devs := make([]*cuda.Device, n)
	for i := range devs {
		var err error
		if devs[i], err = cuda.OpenDriver(drv, i); err != nil {
			t.Fatal(err)
		}
	}
	return devs, drv
}

// Kernels gives all kernels, in Go, to a driver.
func Kernels(t testing.TB, drv *fake.Driver) {
	t.Helper()
	Wide(t)
	Reference(t, drv)
	ElementReference(t, drv)
	NewtonReference(t, drv)
	FactorsReference(t, drv)
	SeedReference(t, drv)
}

// Emulate is the name of an environment variable. Its value lists sources of kernels, such as
// rows/triangular, or is "all". Fake devices run these kernels themselves, compiled for the host,
// instead of their references.
const Emulate = "HALFULP_EMULATE"

// opened returns the device of a driver with references, or with kernels in their place.
func opened(t testing.TB, drv *fake.Driver) *cuda.Device {
	t.Helper()
	Wide(t)
	if files := strings.Fields(os.Getenv(Emulate)); len(files) > 0 {
		emulate(t, drv, files...)
	}
	dev, err := cuda.OpenDriver(drv, 0)
	if err != nil {
		t.Fatal(err)
	}
	return dev
}

// Traced returns a device whose calls of the driver are recorded. For machine it is the machine's
// first GPU, whose calls are timed, and the test is skipped if there is none. Otherwise it is fake.
func Traced(t testing.TB, machine bool) (*cuda.Device, *trace.Driver) {
	t.Helper()
	var drv trace.Driver
	if machine {
		Machine(t)
		var err error
		if drv.Driver, err = cudadrv.Open(); err != nil {
			t.Fatal(err)
		}
		drv.Timed = true
	} else {
		d := new(fake.Driver)
		Kernels(t, d)
		drv.Driver = d
	}
	dev, err := cuda.OpenDriver(&drv, 0)
	if err != nil {
		t.Fatal(err)
	}
	return dev, &drv
}

// OnDevices runs f twice: on a fake device with small problems, and on the machine's first GPU with
// larger ones.
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
