//go:build !((linux || windows) && (amd64 || arm64))

package cudadrv

import (
	"fmt"
	"runtime"
)

func load() (Driver, error) {
	return nil, fmt.Errorf("%w: there is none for %s/%s", ErrNoDriver, runtime.GOOS, runtime.GOARCH)
}
