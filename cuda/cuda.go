// Package cuda adds NVIDIA GPUs to a program. A program imports it for this effect alone:
//
//	import _ "github.com/halfulp/halfulp/cuda"
//
// The devices "cuda:0", "cuda:1" and so on are then known to package halfulp and to the packages of
// methods. It needs nothing but the NVIDIA driver, and needs it only when a device is opened.
// Programs without this import are smaller and, built with CGO_ENABLED=0, static.
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
