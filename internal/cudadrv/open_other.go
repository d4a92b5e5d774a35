//go:build !((linux || windows) && (amd64 || arm64))

package cudadrv

import (
	"fmt"
	"runtime"
	"strconv"
)

func load() (Driver, error) {
	whom := runtime.GOOS + "/" + runtime.GOARCH
	if strconv.IntSize < 64 {
		whom += ", a program of 32 bits: GPUs need a program of 64 bits"
	}
	return nil, fmt.Errorf("%w: there is none for %s", ErrNoDriver, whom)
}
