package distributed_test

import (
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance"
	_ "github.com/halfulp/halfulp/cuda"
	"github.com/halfulp/halfulp/distributed"
	"github.com/halfulp/halfulp/internal/gpu/gputest"
	"github.com/halfulp/halfulp/internal/mpitest"
)

// TestGPUs runs the suite in two processes that share the machine's GPUs, and with one of them on
// its CPUs.
func TestGPUs(t *testing.T) {
	gputest.Machine(t)
	if !mpitest.Run(t, 2) {
		return
	}
	comm, err := distributed.Init()
	if err != nil {
		t.Fatal(err)
	}
	grid := distributed.Device(0, 0)
	for _, mixed := range []bool{false, true} {
		device, name := "cuda:all", "GPUs"
		if mixed && comm.Rank() == 0 {
			device = "cpu"
		}
		if mixed {
			name = "Mixed"
		}
		if err := distributed.Use(halfulp.Device(device)); err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) {
			t.Run("Host", func(t *testing.T) { conformance.RunSome(t, conformance.Processes(grid, false), 200) })
			t.Run("Resident", func(t *testing.T) { conformance.RunSome(t, conformance.Processes(grid, true), 200) })
		})
	}
}
