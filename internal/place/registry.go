package place

import (
	"fmt"
	"sync"
)

var registered struct {
	sync.RWMutex
	backends map[string]Backend
	absent   map[string]error // the error if there is no backend of a kind
	provided map[any]any
}

// Register makes a backend known under the name of its kind. For tests it returns a function that
// restores the backend that was registered before.
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

// Explain sets the error that Find returns if the program has no backend of a kind. err wraps
// ErrDevice.
func Explain(kind string, err error) {
	registered.Lock()
	defer registered.Unlock()
	if registered.absent == nil {
		registered.absent = map[string]error{}
	}
	registered.absent[kind] = err
}

// Find returns the backend of a kind. If there is none, the error wraps ErrDevice and states what
// the program lacks.
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

// partKey is the key of a provided value: its interface type.
type partKey[T any] struct{}

// Provide registers the implementation of T, the interface through which a package of methods uses
// a backend's places.
func Provide[T any](part T) {
	registered.Lock()
	defer registered.Unlock()
	if registered.provided == nil {
		registered.provided = map[any]any{}
	}
	registered.provided[partKey[T]{}] = part
}

// Provided returns the value that was given to Provide. It panics if there is none; a program that
// has a place has linked the values that its backend provides.
func Provided[T any]() T {
	registered.RLock()
	defer registered.RUnlock()
	return registered.provided[partKey[T]{}].(T)
}
