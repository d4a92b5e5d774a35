//go:build amd64 || arm64

package cudadrv

import (
	"fmt"

	"github.com/ebitengine/purego"
)

// libraries are the names of the driver's library to try: first by the loader's search path, then
// where the Windows Subsystem for Linux installs it.
var libraries = []string{"libcuda.so.1", "libcuda.so", "/usr/lib/wsl/lib/libcuda.so.1"}

func load() (Driver, error) {
	for _, name := range libraries {
		if library, err := purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_LOCAL); err == nil {
			return newNative(func(symbol string) (uintptr, error) { return purego.Dlsym(library, symbol) })
		}
	}
	return nil, fmt.Errorf("%w: %s not found", ErrNoDriver, libraries[0])
}
