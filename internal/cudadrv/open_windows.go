//go:build amd64 || arm64

package cudadrv

import (
	"fmt"

	"golang.org/x/sys/windows"
)

const library = "nvcuda.dll"

func load() (Driver, error) {
	dll := windows.NewLazySystemDLL(library)
	if err := dll.Load(); err != nil {
		return nil, fmt.Errorf("%w: %s not found", ErrNoDriver, library)
	}
	return newNative(func(symbol string) (uintptr, error) {
		return windows.GetProcAddress(windows.Handle(dll.Handle()), symbol)
	})
}
