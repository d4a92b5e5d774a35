package halfulp

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/halfulp/halfulp/cuda"
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

// devices are the GPUs in use. They stay open: their kernels are loaded once.
var devices struct {
	sync.Mutex
	open map[int]*cuda.Device
}

// openDevice returns GPU number n.
func openDevice(n int) (*cuda.Device, error) {
	devices.Lock()
	defer devices.Unlock()
	if d := devices.open[n]; d != nil {
		return d, nil
	}
	d, err := cuda.Open(n)
	if err != nil {
		return nil, fmt.Errorf("device \"cuda:%d\": %w", n, err)
	}
	if devices.open == nil {
		devices.open = map[int]*cuda.Device{}
	}
	devices.open[n] = d
	return d, nil
}

// deviceError adds ErrMemory to errors about a device's memory.
func deviceError(err error) error {
	if errors.Is(err, cuda.ErrMemory) {
		return fmt.Errorf("%w: %w", ErrMemory, err)
	}
	return err
}
