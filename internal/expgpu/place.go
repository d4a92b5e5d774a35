package expgpu

import (
	"errors"
	"fmt"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/backend"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/gpu/product"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
)

// expansions implements place.Expansions on GPUs.
type expansions struct{}

// Register registers the arithmetic on GPUs with package place.
func Register() { place.Provide[place.Expansions](expansions{}) }

// do runs f on the GPU p and waits for it. Errors about device memory wrap place.ErrMemory.
func do(p place.Place, cfg place.Config, f func(s *cuda.Stream) error) error {
	err := backend.Device(p).Do(cfg.Ctx, func(s *cuda.Stream) error {
		if err := f(s); err != nil {
			return err
		}
		return s.Synchronize()
	})
	if errors.Is(err, cuda.ErrMemory) {
		err = fmt.Errorf("%w: %w", place.ErrMemory, err)
	}
	return err
}

func (expansions) Widen(p place.Place, cfg place.Config, x, z num.Mat) error {
	return do(p, cfg, func(s *cuda.Stream) error { return Copy(s, backend.Matrix(z), backend.Matrix(x)) })
}

// The largest shares of the work between which the host synchronizes: entries of a result, and
// steps of products. Either takes the GPU at most tenths of a second.
const (
	shareEntries = 1 << 26
	shareSteps   = int64(1) << 36
)

func (expansions) Each(p place.Place, cfg place.Config, name string, operands []num.Mat, z num.Mat) error {
	return do(p, cfg, func(s *cuda.Stream) error {
		return shares(s, cfg, z.Rows, z.Cols, shareEntries, func(i0, i1, j0, j1 int) error {
			var in []mem.Matrix
			for _, m := range operands {
				in = append(in, cut(backend.Matrix(m), i0, i1, j0, j1))
			}
			return Each(s, name, cut(backend.Matrix(z), i0, i1, j0, j1), in...)
		})
	})
}

func (expansions) Gemm(p place.Place, cfg place.Config, alpha place.Words, a, b num.Mat, beta place.Words, c num.Mat) error {
	gemm := Gemm
	if cfg.Method == place.SquareBlocks {
		gemm = GemmSquare
	}
	return do(p, cfg, func(s *cuda.Stream) error {
		size := shareSteps / int64(max(a.Cols, 1))
		return shares(s, cfg, c.Rows, c.Cols, int(min(size, shareEntries)), func(i0, i1, j0, j1 int) error {
			x, y := cut(backend.Matrix(a), i0, i1, 0, a.Cols), cut(backend.Matrix(b), 0, b.Rows, j0, j1)
			return gemm(s, alpha, x, y, beta, cut(backend.Matrix(c), i0, i1, j0, j1))
		})
	})
}

// shares cuts a rows x cols result along its longer side into parts of about size entries, and
// calls f with the rows i0 <= i < i1 and columns j0 <= j < j1 of each. After each part it waits for
// the device and reports progress; the wait fails once the context is cancelled.
func shares(s *cuda.Stream, cfg place.Config, rows, cols, size int, f func(i0, i1, j0, j1 int) error) error {
	const whole = 128 // a multiple of the sides of all kernels' tiles
	long, short := max(rows, cols), min(rows, cols)
	if short == 0 {
		return nil
	}
	step := (size/short/whole + 1) * whole
	for lo := 0; lo < long; lo += step {
		hi := min(lo+step, long)
		i0, i1, j0, j1 := lo, hi, 0, cols
		if rows < cols {
			i0, i1, j0, j1 = 0, rows, lo, hi
		}
		if err := f(i0, i1, j0, j1); err != nil {
			return err
		}
		if err := s.Synchronize(); err != nil {
			return err
		}
		if cfg.Progress != nil {
			cfg.Progress(float64(hi) / float64(long))
		}
	}
	return nil
}

func (expansions) Gemv(p place.Place, cfg place.Config, alpha place.Words, a num.Mat, x num.Vec, beta place.Words, y num.Vec) error {
	return do(p, cfg, func(s *cuda.Stream) error {
		return Gemv(s, alpha, backend.Matrix(a), backend.Vector(x), beta, backend.Vector(y))
	})
}

func (expansions) Dot(p place.Place, cfg place.Config, x, y num.Vec) (sums [][]float64, err error) {
	err = do(p, cfg, func(s *cuda.Stream) (err error) {
		sums, err = Dot(s, backend.Vector(x), backend.Vector(y))
		return err
	})
	return sums, err
}

func (expansions) Solve(p place.Place, cfg place.Config, e place.Elimination, a, b, x num.Mat) error {
	o := Elimination{
		ZeroRule: e.ZeroRule, Block: e.Block, Method: cfg.Method,
		Config: product.Config{Run: cfg.Run, Limit: cfg.Limit},
	}
	return do(p, cfg, func(s *cuda.Stream) error {
		return Solve(s, o, backend.Matrix(a), backend.Matrix(b), backend.Matrix(x))
	})
}
