package halfulp

import (
	"errors"
	"sync/atomic"
	"time"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
)

// openTime is what a process spends on a GPU before its first result: the context and the kernels
// of a routine. On an H100 machine "halfulp gemm A A --format mp:424" for n = 600 took 0.59 s with
// --device cuda:0 and 0.27 s with --device cpu; a driver that has to compile the kernels takes
// longer.
const openTime = 600 * time.Millisecond

// fasterPlace returns GPU 0 if there is one and a routine takes less time there, opening it
// included.
func fasterPlace(gpus place.Backend, onHost, there time.Duration) place.Place {
	if unfit.Load() || there >= onHost || there+openTime >= onHost && !gpus.IsOpen(0) {
		return nil
	}
	p, err := gpus.Open(0)
	if err != nil || !gpus.Fit(p) {
		unfit.Store(true)
		return nil
	}
	return p
}

// unfit notes that GPU 0 does not work, so that auto leaves it alone.
var unfit atomic.Bool

// leaves reports whether the CPU is to compute what auto has chosen a GPU for: it has failed, has
// too little memory, or the method asked for does not apply.
func (s settings) leaves(err error) bool {
	if err == nil || s.ctx.Err() != nil {
		return false
	}
	if !errors.Is(err, ErrMemory) && !errors.Is(err, ErrMethod) {
		unfit.Store(true)
	}
	return true
}

// choose lets a routine with device auto run on GPU 0 where that takes less time for numbers of
// the host of so many bytes.
func (r *run) choose(onHost time.Duration, bytes int64) {
	if r.resident || r.device.Kind != place.Auto {
		return
	}
	gpus, err := place.Find(place.CUDA)
	if err != nil {
		return
	}
	if r.at = fasterPlace(gpus, onHost, gpus.EstimateTransfer(bytes)); r.at != nil {
		r.stats.Device = r.at.String()
	}
}

// leave reports whether a routine leaves the GPU that it has chosen, for the CPU.
func (r *run) leave(err error) bool {
	if r.resident || r.device.Kind != place.Auto || r.at == nil || !r.leaves(err) {
		return false
	}
	r.at, r.stats.Device = nil, place.Host
	return true
}

// vecBytes returns the bytes of the numbers of v.
func vecBytes(v num.Vec) int64 { return int64(v.N) * num.SizeOf(v.Arr.Format) }
