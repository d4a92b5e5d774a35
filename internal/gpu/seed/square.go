package seed

import (
	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/gpu/launch"
	"github.com/halfulp/halfulp/internal/gpu/mem"
)

// mostSquared is the largest order for which Square is faster than products of integers: an LU
// factorization of order 1000 is faster with it, of order 2048 about as fast, of order 4096 slower.
const mostSquared = 1536

// SquareOrder returns the order of the result of Square for an n x n matrix, 0 if n is too large.
func SquareOrder(n int) int {
	if n > mostSquared {
		return 0
	}
	return (n + block - 1) / block * block
}

// Square implements place.Squaring. It does not wait for the device.
func Square(s *cuda.Stream, e, z mem.Matrix) error {
	size := SquareOrder(e.Rows)
	if size == 0 {
		return nil
	}
	z.Changed()
	bytes := int64(8 * size * size)
	memory, err := s.Alloc(2 * bytes)
	if err != nil {
		return err
	}
	defer memory.Free()
	q := abi.SquareOf{E: abi.RowsOf(e), Columns: memory.Pointer(), Rows: memory.At(bytes), Z: z.Arr.Plane(0) + cuda.Pointer(8*z.Off), Size: int32(size)}
	side := size / 32
	const stages = 4
	for _, k := range []struct {
		name   string
		grid   cuda.Dim
		shared int
	}{
		{"squaredFactors", cuda.Dim{X: side, Y: side}, 0},
		{"square", cuda.Dim{X: size / block * (size / block)}, 8 * stages * chunk * 2 * block},
	} {
		f, err := launch.KernelsOf(s).Function(s, source(s, "seed/seed"), k.name)
		if err != nil {
			return err
		}
		if err := f.Launch(s, k.grid, cuda.Dim{X: threads}, k.shared, q); err != nil {
			return err
		}
	}
	return nil
}
