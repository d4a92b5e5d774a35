package halfulp

import (
	"time"

	"github.com/halfulp/halfulp/internal/exact"
	"github.com/halfulp/halfulp/internal/gpu"
	"github.com/halfulp/halfulp/internal/num"
)

// openTime is what a process spends on a GPU before its first product: the context and
// the kernels. TestOpenTime on an H100.
const openTime = 600 * time.Millisecond

// fasterDevice returns the device for the product of a and b: GPU 0 where it takes less
// time by estimate, else the CPU.
func fasterDevice(s settings, a, b, c num.Mat) int {
	if s.method == methodDirect {
		return cpu
	}
	onCPU := exact.Estimate(s.threads, c.Rows, c.Cols, a.Cols, a.Arr.Format, b.Arr.Format, c.Arr.Format)
	if onCPU < 300*time.Microsecond {
		return cpu
	}
	onGPU, ok := gpu.Estimate(c.Rows, c.Cols, a.Cols, a.Arr.Format, b.Arr.Format, c.Arr.Format)
	if !ok {
		return cpu
	}
	if !gpu.IsOpen(0) {
		onGPU += openTime
	}
	if onGPU > onCPU {
		return cpu
	}
	if _, err := openDevice(0); err != nil {
		return cpu
	}
	return 0
}
