package cudadrv

import "sync"

// Open loads the NVIDIA driver's library, once in a process, and initialises it. Its error wraps
// ErrNoDriver if there is no such library.
var Open = sync.OnceValues(func() (Driver, error) {
	d, err := load()
	if err != nil {
		return nil, err
	}
	if err := d.Init(); err != nil {
		return nil, err
	}
	return d, nil
})
