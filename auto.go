package halfulp

import (
	"errors"
	"sync/atomic"
	"time"

	"github.com/halfulp/halfulp/cuda"
	"github.com/halfulp/halfulp/internal/exact"
	"github.com/halfulp/halfulp/internal/gpu"
	"github.com/halfulp/halfulp/internal/num"
)

// openTime is what a process spends on a GPU before its first result: the context and the kernels
// of a routine. On an H100 machine "halfulp gemm A A --format mp:424" for n = 600 took 0.59 s with
// --device cuda:0 and 0.27 s with --device cpu; a driver that has to compile the kernels takes longer.
const openTime = 600 * time.Millisecond

// fasterDevice returns the device for the product of a and b: GPU 0 where it takes less
// time by estimate, else the CPU.
func fasterDevice(s settings, a, b, c num.Mat) int {
	if s.method == methodDirect {
		return cpu
	}
	onCPU := exact.Estimate(s.threads, c.Rows, c.Cols, a.Cols, a.Arr.Format, b.Arr.Format, c.Arr.Format)
	onGPU, ok := gpu.Estimate(c.Rows, c.Cols, a.Cols, a.Arr.Format, b.Arr.Format, c.Arr.Format)
	if !ok || fasterGPU(onCPU, onGPU) == nil {
		return cpu
	}
	return 0
}

// fasterGPU returns GPU 0 if there is one and a routine takes less time there, opening it
// included.
func fasterGPU(onCPU, onGPU time.Duration) *cuda.Device {
	if unfit.Load() || onGPU >= onCPU || onGPU+openTime >= onCPU && !gpu.IsOpen(0) {
		return nil
	}
	dev, err := openDevice(0)
	if err != nil || dev.Info().Major < 8 {
		unfit.Store(true)
		return nil
	}
	return dev
}

// unfit notes that GPU 0 does not work, so that auto leaves it alone.
var unfit atomic.Bool

// leaves reports whether the CPU is to compute what auto has chosen a GPU for: it has failed, or
// has too little memory.
func (s settings) leaves(err error) bool {
	if err == nil || s.ctx.Err() != nil {
		return false
	}
	if !errors.Is(err, cuda.ErrMemory) {
		unfit.Store(true)
	}
	return true
}

// choose lets a routine with device auto run on GPU 0 where that takes less time for numbers of
// the host of so many bytes.
func (r *run) choose(onCPU time.Duration, bytes int64) {
	if r.devices[0] != auto {
		return
	}
	if r.gpu = fasterGPU(onCPU, gpu.EstimateTransfer(bytes)); r.gpu != nil {
		r.stats.Device = r.gpu.String()
	}
}

// leave reports whether a routine leaves the GPU that it has chosen, for the CPU.
func (r *run) leave(err error) bool {
	if r.devices[0] != auto || r.gpu == nil || !r.leaves(err) {
		return false
	}
	r.gpu, r.stats.Device = nil, "cpu"
	return true
}

// vecBytes returns the bytes of the numbers of v.
func vecBytes(v num.Vec) int64 { return int64(v.N) * num.SizeOf(v.Arr.Format) }
