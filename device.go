package halfulp

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/halfulp/halfulp/cuda"
)

// cpu is the number of no GPU.
const cpu = -1

// parseDevice returns the number of the GPU "cuda:N", or cpu.
func parseDevice(name string) (int, error) {
	switch name {
	case "", "auto", "cpu":
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
