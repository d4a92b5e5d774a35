package halfulp

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/halfulp/halfulp/cuda"
	"github.com/halfulp/halfulp/internal/gpu"
)

// Devices that are not the number of a GPU.
const (
	cpu  = -1
	auto = -2 // the CPU or a GPU
)

// parseDevice returns the number of the GPU "cuda:N", cpu or auto.
func parseDevice(name string) (int, error) {
	switch name {
	case "", "auto":
		return auto, nil
	case "cpu":
		return cpu, nil
	}
	if digits, ok := strings.CutPrefix(name, "cuda:"); ok {
		if n, err := strconv.ParseUint(digits, 10, 16); err == nil {
			return int(n), nil
		}
	}
	return cpu, fmt.Errorf("device %q: %w (want auto, cpu or cuda:N)", name, ErrDevice)
}

// openDevice returns GPU number n.
func openDevice(n int) (*cuda.Device, error) {
	d, err := gpu.Open(n)
	if err != nil {
		return nil, fmt.Errorf("device \"cuda:%d\": %w", n, err)
	}
	return d, nil
}

// openOne returns the GPU "cuda:N".
func openOne(name string) (*cuda.Device, error) {
	n, err := parseDevice(name)
	if err != nil {
		return nil, err
	}
	if n < 0 {
		return nil, fmt.Errorf("device %q: %w (want cuda:N)", name, ErrDevice)
	}
	return openDevice(n)
}

// resident is an operand in a GPU's memory.
type resident interface {
	place() (*cuda.Device, *gpu.Array)
}

// placeOf returns the GPU of operands, none of which is nil. It panics if they are on several,
// or freed.
func placeOf(operands ...resident) *cuda.Device {
	first, _ := operands[0].place()
	for _, x := range operands {
		dev, a := x.place()
		if a.Freed() {
			panic(errFreed)
		}
		if dev != first {
			panic(errDevices)
		}
	}
	return first
}

// deviceError adds ErrMemory to errors about a device's memory.
func deviceError(err error) error {
	if errors.Is(err, cuda.ErrMemory) {
		return fmt.Errorf("%w: %w", ErrMemory, err)
	}
	return err
}
