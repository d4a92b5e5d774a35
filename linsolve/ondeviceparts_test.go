package linsolve

import (
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/gpu/gputest"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/testlength"
)

// where is the place of resident matrices in tests.
var where halfulp.Device = "cuda:0"

// onDevices is gputest.OnDevices, or everywhere if tests are long. Short tests leave the fake
// device to TestOnDevice and TestOnDeviceParts.
func onDevices(t *testing.T, small, large int, f func(t *testing.T, size int)) {
	switch {
	case testlength.Long():
		everywhere(t, small, large, f)
	case testing.Short():
		t.Run("device", func(t *testing.T) {
			gputest.Machine(t)
			f(t, large)
		})
	default:
		gputest.OnDevices(t, small, large, f)
	}
}

// everywhere runs a test by gputest.OnDevices, and with matrices in parts on two fake devices and
// on the devices of the machine if it has several.
func everywhere(t *testing.T, small, large int, f func(t *testing.T, size int)) {
	gputest.OnDevices(t, small, large, f)
	parts := func(t *testing.T, size int) {
		where = "cuda:0,1"
		defer func() { where = "cuda:0" }()
		f(t, size)
	}
	t.Run("parts reference", func(t *testing.T) {
		devs, _ := gputest.Linked(t, 2)
		defer mem.Substitute(devs...)()
		parts(t, small)
	})
	t.Run("parts device", func(t *testing.T) {
		gputest.Machine(t)
		if gpus, err := halfulp.GPUs(); err != nil || len(gpus) < 2 {
			t.Skip("one GPU")
		}
		parts(t, large)
	})
}

// TestOnDeviceParts factors matrices in parts.
func TestOnDeviceParts(t *testing.T) {
	devs, _ := gputest.Linked(t, 2)
	defer mem.Substitute(devs...)()
	where = "cuda:0,1"
	defer func() { where = "cuda:0" }()
	n := seed.Fewest + 3
	checkResidentCholesky(t, "f64", gramIn(t, halfulp.Float64, n, 0, 1), halfulp.Float64, true)
	checkResidentCholesky(t, "mp:106, transposed", gramIn(t, halfulp.MP(106), n, 10, 1).T(), halfulp.MP(200), true)
	checkResidentLU(t, "f64", gallery.Random(halfulp.Float64, n, n, 10, 1), halfulp.Float64, true)
	checkResidentLDLT(t, "f64", symmetricIn(halfulp.Float64, n, 0, 2, 0x1p-20), halfulp.Float64, true, true)
	checkResidentLU(t, "tall", gallery.Random(halfulp.Float64, n+5, n, 10, 4), halfulp.MP(106), true)
}
