package place

import (
	"fmt"
	"sync"
)

var registered struct {
	sync.RWMutex
	backends map[string]Backend
	absent   map[string]error // why there is no backend of a kind
	provided map[any]any
}

// Register makes a backend known under the name of its kind, and returns what takes it back, for
// tests: the backend that was there before takes its place again.
func Register(kind string, b Backend) (restore func()) {
	registered.Lock()
	defer registered.Unlock()
	if registered.backends == nil {
		registered.backends = map[string]Backend{}
	}
	was := registered.backends[kind]
	registered.backends[kind] = b
	return func() {
		registered.Lock()
		defer registered.Unlock()
		registered.backends[kind] = was
	}
}

// Explain makes err, which wraps ErrDevice, the reason why a program has no backend of a kind.
func Explain(kind string, err error) {
	registered.Lock()
	defer registered.Unlock()
	if registered.absent == nil {
		registered.absent = map[string]error{}
	}
	registered.absent[kind] = err
}

// Find returns the backend of a kind. The error, which wraps ErrDevice, says what is missing.
func Find(kind string) (Backend, error) {
	registered.RLock()
	defer registered.RUnlock()
	if b := registered.backends[kind]; b != nil {
		return b, nil
	}
	if err := registered.absent[kind]; err != nil {
		return nil, err
	}
	if kind == MPI {
		return nil, fmt.Errorf("%w: this process has joined no others (a Go program that mpiexec starts does so by Init of github.com/halfulp/halfulp/distributed)", ErrDevice)
	}
	return nil, fmt.Errorf("%w: this program is built without GPUs (a Go program has them with import _ \"github.com/halfulp/halfulp/%s\")", ErrDevice, kind)
}

// partKey tells what is provided apart by its interface.
type partKey[T any] struct{}

// Provide makes known what a backend's places do for a package of methods, T being the interface
// that the package calls.
func Provide[T any](part T) {
	registered.Lock()
	defer registered.Unlock()
	if registered.provided == nil {
		registered.provided = map[any]any{}
	}
	registered.provided[partKey[T]{}] = part
}

// Provided returns what Provide was given. It panics if there is nothing: whoever has a place has
// linked what its backend provides.
func Provided[T any]() T {
	registered.RLock()
	defer registered.RUnlock()
	return registered.provided[partKey[T]{}].(T)
}
