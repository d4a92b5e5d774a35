package halfulp

import (
	"time"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
)

// choose lets a routine with device auto run on GPU 0 where that takes less time for numbers of
// the host of so many bytes.
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

// leave reports whether a routine leaves the GPU that it has chosen, for the CPU.
func (r *run) leave(err error) bool {
	if r.ondevice || r.Device.Kind != place.Auto || r.at == nil || !place.HostInstead(r.Ctx, err) {
		return false
	}
	r.at, r.stats.Device = nil, place.Host
	return true
}

// vecBytes returns the bytes of the numbers of v.
func vecBytes(v num.Vec) int64 { return int64(v.N) * num.SizeOf(v.Arr.Format) }
