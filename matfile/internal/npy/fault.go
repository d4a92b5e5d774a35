package npy

import (
	"errors"
	"runtime"
	"runtime/debug"
)

// errFault is what becomes of a file that is mapped into memory and loses pages.
var errFault = errors.New("the file became shorter while it was read, or its disk failed")

// guarded calls a function that reads a file, which may be mapped into memory: if pages are gone
// the error is errFault.
func guarded(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true)) // of this goroutine alone
	defer func() {
		switch r := recover().(type) {
		case nil:
		case interface {
			runtime.Error
			Addr() uintptr // what a fault has and a nil pointer has not
		}:
			err = errFault
		default:
			panic(r)
		}
	}()
	return f()
}
