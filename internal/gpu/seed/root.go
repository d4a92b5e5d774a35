package seed

import (
	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/gpu/launch"
	"github.com/halfulp/halfulp/internal/gpu/mem"
)

// InverseRoot stores about the inverse of the Cholesky factor of F = diag(2^exps) A diag(2^exps) in
// the n x n matrix x of Float64, lower triangular, whose entries share none with A, and returns the
// exponents, which bring the diagonal of F near 1. The lower triangle of A is all that it reads.
// Nothing is known of the error. It is not ok, and x unspecified, if a pivot is not positive, or
// numbers are not finite or F's beyond float64's.
func InverseRoot(s *cuda.Stream, a, x mem.Matrix) (exps []int64, ok bool, err error) {
	n := a.Rows
	if n == 0 || n > MaxOrder {
		return make([]int64, n), n == 0, nil
	}
	x.Changed()
	padded := (n + block - 1) / block * block
	g := abi.Root{A: abi.RowsOf(a), N: int32(padded)}
	for _, m := range []struct {
		to    *cuda.Pointer
		bytes int
	}{
		{&g.Status, 8 * (1 + n)}, // and exponents
		{&g.F, 8 * padded * padded},
		{&g.Inverse, 8 * block * block},
		{&g.Panel, 8 * block * padded},
	} {
		memory, err := s.Alloc(int64(m.bytes))
		if err != nil {
			return nil, false, err
		}
		defer memory.Free()
		*m.to = memory.Pointer()
	}
	g.Exps = g.Status + 8
	if err := s.Zero(g.Status, 8); err != nil {
		return nil, false, err
	}
	kernels := launch.KernelsOf(s)
	run := func(kernel string, grid cuda.Dim, shared int, args ...any) {
		if err != nil {
			return
		}
		var f *cuda.Function
		if f, err = kernels.Function(s, source(s, "seed/root"), kernel); err == nil {
			err = f.Launch(s, grid, cuda.Dim{X: threads}, shared, args...)
		}
	}
	run("rootExponents", cuda.Dim{X: (n + threads - 1) / threads}, 0, g)
	run("rootMatrix", cuda.Dim{X: (padded + threads - 1) / threads, Y: padded}, 0, g)
	for first := 0; first < padded; first += block {
		g.First = int32(first)
		run("rootBlock", cuda.Dim{X: 1}, 0, g)
		run("rootPanel", cuda.Dim{X: padded / strip}, 8*block*(block+strip), g)
		if behind := padded - first - block; behind > 0 {
			run("rootUpdate", cuda.Dim{X: (behind + tall - 1) / tall, Y: padded / block}, 8*block*(block+tall), g)
		}
	}
	run("rootInverse", cuda.Dim{X: (n + threads - 1) / threads, Y: n}, 0, g, x.Arr.Plane(0)+cuda.Pointer(8*x.Off), int64(x.RS), int64(x.CS))
	if err != nil {
		return nil, false, err
	}
	told := make([]int64, 1+n)
	if err := cuda.Download(s, told, g.Status); err != nil {
		return nil, false, err
	}
	return told[1:], told[0] == 0, nil
}
