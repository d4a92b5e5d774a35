package cuda

import (
	"errors"
	"fmt"

	"github.com/halfulp/halfulp/internal/cudadrv"
)

// ErrNoDevice is wrapped by errors about devices that do not exist.
var ErrNoDevice = errors.New("no such device")

// ErrMemory is wrapped by errors about device memory that cannot be allocated.
var ErrMemory = errors.New("out of memory")

// ErrLost is wrapped by the errors of a device that has failed: the contents of its memory are
// lost, and every later call fails.
var ErrLost = errors.New("device lost")

// ErrDriver is wrapped by the error of a driver that is too old for a kernel.
var ErrDriver = errors.New("NVIDIA driver too old")

// noDevice returns an error that explains why the driver finds no device.
func noDevice(err error) error {
	switch cudadrv.CodeOf(err) {
	case cudadrv.NoDevice:
		return fmt.Errorf("%w: the NVIDIA driver sees no GPU", ErrNoDevice)
	case cudadrv.SystemDriverWrong:
		return fmt.Errorf("%w: the NVIDIA driver's library and its kernel module are of different versions: %w", ErrNoDevice, err)
	}
	return fmt.Errorf("%w: %w", ErrNoDevice, err)
}

// failed wraps err with the device and its class, and records the loss of the device.
func (d *Device) failed(err error) error {
	if err == nil {
		return nil
	}
	if cudadrv.CodeOf(err).Sticky() {
		lost := fmt.Errorf("%v: %w: %w", d, ErrLost, err)
		d.lost.CompareAndSwap(nil, &lost)
		return *d.lost.Load()
	}
	if cudadrv.CodeOf(err) == cudadrv.OutOfMemory && !errors.Is(err, ErrMemory) {
		return fmt.Errorf("%v: %w: %w", d, ErrMemory, err)
	}
	return fmt.Errorf("%v: %w", d, err)
}

// formatBytes formats a number of bytes with a binary unit.
func formatBytes(n uint64) string {
	switch {
	case n >= 10<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 10<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 10<<10:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d bytes", n)
}
