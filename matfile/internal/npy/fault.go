package npy

import (
	"errors"
	"runtime"
	"runtime/debug"
)

// errFault is the error for a mapped file that loses pages.
var errFault = errors.New("the file became shorter while it was read, or its disk failed")

// guarded calls f, which reads a file that may be mapped into memory. If pages of the file are gone
// the error is errFault.
func guarded(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true)) // for this goroutine only
	defer func() {
		switch r := recover().(type) {
		case nil:
		case interface {
			runtime.Error
			Addr() uintptr // a memory fault has Addr, a nil dereference has not
		}:
			err = errFault
		default:
			panic(r)
		}
	}()
	return f()
}
