package halfulp

import (
	"time"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
)

// choose lets a routine with device "auto" run on GPU 0 if that takes less time. onHost is the
// estimated time on the CPU, bytes the size of the operands, which live on the host.
func (r *run) choose(onHost time.Duration, bytes int64) {
	if r.ondevice || r.Device.Kind != place.Auto {
		return
	}
	gpus, err := place.Find(place.CUDA)
	if err != nil {
		return
	}
	if r.at = place.Faster(gpus, 0, onHost, gpus.EstimateTransfer(bytes)); r.at != nil {
		r.stats.Device = r.at.String()
	}
}

// leave reports whether a routine that chose a GPU must run on the CPU instead, because the GPU
// failed with err. It resets the device of r in this case.
func (r *run) leave(err error) bool {
	if r.ondevice || r.Device.Kind != place.Auto || r.at == nil || !place.HostInstead(r.Ctx, err) {
		return false
	}
	r.at, r.stats.Device = nil, place.Host
	return true
}

// vecBytes returns the bytes of the numbers of v.
func vecBytes(v num.Vec) int64 { return int64(v.N) * num.SizeOf(v.Arr.Format) }
