package newton

import (
	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/gpu/launch"
	"github.com/halfulp/halfulp/internal/gpu/mem"
)

// Part implements place.Splitting. It does not wait for the device.
func Part(s *cuda.Stream, a, lower, upper mem.Matrix) error {
	if a.Rows == 0 || a.Cols == 0 {
		return nil
	}
	lower.Changed()
	upper.Changed()
	return runSplitting(s, "parted", a, abi.Parting{A: abi.RowsOf(a), Lower: abi.TargetOf(lower), Upper: abi.TargetOf(upper)})
}

// NotSmall implements place.Splitting.
func NotSmall(s *cuda.Stream, a mem.Matrix, bound float64, tally *mem.Array) (count int, err error) {
	if a.Rows == 0 || a.Cols == 0 {
		return 0, nil
	}
	t, err := newTask(s, tally)
	if err != nil {
		return 0, err
	}
	defer t.free()
	if err := runSplitting(s, "notSmall", a, abi.RowsOf(a), t.at, bound); err != nil {
		return 0, err
	}
	return t.count()
}

// runSplitting runs a kernel for all entries of a matrix.
func runSplitting(s *cuda.Stream, kernel string, a mem.Matrix, args ...any) error {
	f, err := launch.KernelsOf(s).Function(s, "newton/splitting", kernel)
	if err != nil {
		return err
	}
	return f.Launch(s, cuda.Dim{X: (a.Rows + threads - 1) / threads, Y: min(a.Cols, maxAcross)}, cuda.Dim{X: threads}, 0, args...)
}
