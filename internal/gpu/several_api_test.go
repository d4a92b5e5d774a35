package gpu_test

import (
	"testing"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/gputest"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/gpu/several"
	"github.com/halfulp/halfulp/internal/testlength"
)

// Small matrices are in parts, as large ones are.
func init() { several.AloneBelow = several.Orders{} }

// inUse is how many bytes of each device are in use.
func inUse(devs []*cuda.Device) (list []int64) {
	for _, d := range devs {
		list = append(list, d.Counters().InUse)
	}
	return list
}

// TestOnDeviceParts is TestOnDevice for matrices that live on several fake devices in parts. What a
// second time takes is given back: constants of products are kept from the first.
func TestOnDeviceParts(t *testing.T) {
	devs, _ := gputest.Linked(t, 3)
	defer mem.Substitute(devs...)()
	checkOnDevice(t, 12, "cuda:0-2", formatsOnDevice)
	was := inUse(devs)
	checkOnDevice(t, 12, "cuda:0-2", formatsOnDevice[:testlength.Of(2, 2, len(formatsOnDevice))])
	for d, n := range inUse(devs) {
		if n != was[d] {
			t.Errorf("%v: %d bytes in use, %d before", devs[d], n, was[d])
		}
	}
}
