//go:build nogpu

package main

import (
	"fmt"

	"github.com/halfulp/halfulp/internal/place"
)

// A program built with the tag nogpu has no GPUs and, with CGO_ENABLED=0 and the tag nompi, needs
// no library of the system. It reports this if a GPU is requested.
func init() {
	place.Explain(place.CUDA, fmt.Errorf("%w: this is the CPU-only build of halfulp (tag nogpu)", place.ErrDevice))
}
