package mem

import (
	"fmt"
	"sync"

	"github.com/halfulp/halfulp/internal/cuda"
)

// opened holds the GPUs in use, which stay open: their kernels are loaded once.
var opened struct {
	sync.Mutex
	devices map[int]*cuda.Device
	only    bool // the machine's GPUs are ignored
}

// Open returns GPU i.
func Open(i int) (*cuda.Device, error) {
	opened.Lock()
	defer opened.Unlock()
	if d := opened.devices[i]; d != nil {
		return d, nil
	}
	if opened.only {
		return nil, fmt.Errorf("%w cuda:%d", cuda.ErrNoDevice, i)
	}
	d, err := cuda.Open(i)
	if err != nil {
		return nil, err
	}
	if opened.devices == nil {
		opened.devices = map[int]*cuda.Device{}
	}
	opened.devices[i] = d
	return d, nil
}

// Count returns the number of GPUs, or an error that explains why there are none.
func Count() (int, error) {
	opened.Lock()
	defer opened.Unlock()
	if opened.only {
		return len(opened.devices), nil
	}
	list, err := cuda.Devices()
	return len(list), err
}

// IsOpen reports whether GPU i is open.
func IsOpen(i int) bool {
	opened.Lock()
	defer opened.Unlock()
	return opened.devices[i] != nil
}

// Substitute replaces the machine's GPUs by other devices until restore is called, for tests.
func Substitute(devs ...*cuda.Device) (restore func()) {
	opened.Lock()
	defer opened.Unlock()
	was, only := opened.devices, opened.only
	opened.devices, opened.only = map[int]*cuda.Device{}, true
	for i, d := range devs {
		opened.devices[i] = d
	}
	return func() {
		opened.Lock()
		defer opened.Unlock()
		opened.devices, opened.only = was, only
	}
}
