//go:build !linux || !amd64

package gputest

import (
	"testing"

	"github.com/halfulp/halfulp/internal/cudadrv/fake"
)

func emulate(t testing.TB, _ *fake.Driver, _ ...string) {
	t.Helper()
	t.Skip("kernels are emulated on Linux alone, on amd64")
}
