//go:build !linux || !(amd64 || arm64) || nompi

package mpi

import (
	"fmt"
	"runtime"
)

func open() (*library, error) {
	return nil, fmt.Errorf("%w in this build for %s/%s", ErrNoMPI, runtime.GOOS, runtime.GOARCH)
}

// missing returns false: no process waits in this build.
func missing() bool { return false }
