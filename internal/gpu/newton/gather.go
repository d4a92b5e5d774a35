package newton

import (
	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/gpu/launch"
	"github.com/halfulp/halfulp/internal/gpu/mem"
)

// Gather sets row i of z to row order[i] of x; both are in MP of the same precision. It does not
// wait for the device.
func Gather(s *cuda.Stream, x mem.Matrix, order []int32, z mem.Matrix) error {
	if x.Rows == 0 || x.Cols == 0 {
		return nil
	}
	z.Changed()
	m, err := cuda.NewCopy(s, order)
	if err != nil {
		return err
	}
	defer m.Free()
	f, err := launch.KernelsOf(s).Function(s, "newton/gather", "gathered")
	if err != nil {
		return err
	}
	g := abi.Gathering{X: abi.RowsOf(x), Z: abi.TargetOf(z), Order: m.Pointer()}
	return f.Launch(s, cuda.Dim{X: (x.Rows + threads - 1) / threads, Y: min(x.Cols, maxAcross)}, cuda.Dim{X: threads}, 0, g)
}
