// Package cuda gives a program NVIDIA GPUs: imported for that alone,
//
//	import _ "github.com/halfulp/halfulp/cuda"
//
// it makes the devices "cuda:0", "cuda:1" and so on known to package halfulp and to the packages of
// methods. Nothing but the NVIDIA driver is needed, and that only when a device is opened. Programs
// without it are smaller and, built with CGO_ENABLED=0, static.
package cuda

import (
	"github.com/halfulp/halfulp/internal/expgpu"
	"github.com/halfulp/halfulp/internal/gpu/backend"
	"github.com/halfulp/halfulp/internal/ozgpu"
	"github.com/halfulp/halfulp/internal/rnsgpu"
)

func init() {
	backend.Register()
	expgpu.Register()
	ozgpu.Register()
	rnsgpu.Register()
}
