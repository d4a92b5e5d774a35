package newton

import (
	"slices"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/gpu/launch"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/place"
)

// shortSlices is the order up to which slices have a quarter of the columns, so that there are
// enough of them for all multiprocessors. A variable for tests.
var shortSlices = 2048

// Refine is place.Refiner's, for matrices of the device. Nothing waits for the device until the
// end.
func Refine(s *cuda.Stream, of place.Refinement, f, x, g, z mem.Matrix) (lengths [][]int, ok bool, err error) {
	n, count, limit := f.Rows, slices.Max(of.Planes), s.Device().Info().SharedPerBlock
	shared := func(threads int) int { return 8 * threads * (f.Arr.Limbs() | 1) }
	block := threads
	for block > 32 && shared(block) > limit/3 {
		block /= 2
	}
	chunks := func(planes int) int { return (planes + abi.FixedChunk - 1) / abi.FixedChunk }
	sums := func(planes int) int { return 8 * abi.FixedUpdate * (abi.FixedChunk*chunks(planes) + 2) }
	static := 8 * abi.FixedUpdate * abi.FixedParts * (abi.FixedChunk + 2)
	if shared(block) > limit || sums(count)+static > limit {
		return nil, false, nil
	}
	z.Changed()
	columns, slice := abi.FixedColumns, abi.FixedSlice
	if n <= shortSlices {
		columns, slice = columns/4, slice/4
	}
	slicesX, slicesF := (n+columns-1)/columns, (n+slice-1)/slice
	steps := len(of.Planes)
	k := abi.Refining{F: abi.RowsOf(f), X: abi.RowsOf(x), N: int32(n), Words: int32(of.Words),
		Top: int32(of.Top), Count: int32(count), Scale: int32(of.Scale), Columns: int32(columns), Slices: int32(slicesX), Slice: int32(slice)}
	var tops *cuda.Memory
	for _, m := range []struct {
		to    *cuda.Pointer
		bytes int
	}{
		{&k.Planes, 8 * count * n * n}, {&k.R, 8 * (of.Words + 1) * n}, {&k.Y, 8 * (of.Words + 2) * n},
		{&k.Parts, 8 * slicesX * n}, {&k.Sums, 8 * chunks(count) * slicesF * (abi.FixedChunk + 1) * n},
		{&k.Tops, 4 * (steps + 1) * g.Cols},
	} {
		p, err := s.Alloc(int64(m.bytes))
		if err != nil {
			return nil, false, err
		}
		defer p.Free()
		*m.to, tops = p.Pointer(), p
	}
	if err := s.Zero(tops.Pointer(), tops.Size()); err != nil {
		return nil, false, err
	}
	run := func(kernel string, grid cuda.Dim, threads, shared int, args ...any) error {
		f, err := launch.KernelsOf(s).Function(s, "newton/fixed", kernel)
		if err != nil {
			return err
		}
		return f.Launch(s, grid, cuda.Dim{X: threads}, shared, args...)
	}
	if err := run("fixedPlanes", cuda.Dim{X: (n + block - 1) / block, Y: min(n, maxAcross)}, block, shared(block), k); err != nil {
		return nil, false, err
	}
	rows := cuda.Dim{X: (n + abi.FixedRows - 1) / abi.FixedRows}
	column := func(m mem.Matrix, j int) abi.Vectors {
		m.Off, m.Cols = m.Off+j*m.CS, 1
		return abi.RowsOf(m)
	}
	for j := range g.Cols {
		k.G, k.Z, k.Shift = column(g, j), column(z, j), of.Shift[j]
		k.Tops = tops.At(int64(4 * (steps + 1) * j))
		if err := run("fixedBegin", rows, abi.FixedRows, 0, k); err != nil {
			return nil, false, err
		}
		for step, used := range of.Planes {
			k.Step, k.Used = int32(step), int32(used)
			if err := run("fixedCorrection", cuda.Dim{X: rows.X, Y: slicesX}, abi.FixedRows, 0, k); err != nil {
				return nil, false, err
			}
			if err := run("fixedProduct", cuda.Dim{X: rows.X, Y: slicesF, Z: chunks(used)}, abi.FixedRows, 0, k); err != nil {
				return nil, false, err
			}
			if err := run("fixedResidual", cuda.Dim{X: (n + abi.FixedUpdate - 1) / abi.FixedUpdate}, abi.FixedUpdate*abi.FixedParts, sums(used), k); err != nil {
				return nil, false, err
			}
		}
		if err := run("fixedNumbers", rows, abi.FixedRows, 0, k); err != nil {
			return nil, false, err
		}
	}
	told := make([]int32, (steps+1)*g.Cols)
	if err := cuda.Download(s, told, tops.Pointer()); err != nil {
		return nil, false, err
	}
	for j := range g.Cols {
		var list []int
		for _, v := range told[j*(steps+1) : (j+1)*(steps+1)] {
			list = append(list, int(v))
		}
		lengths = append(lengths, list)
	}
	return lengths, true, nil
}
