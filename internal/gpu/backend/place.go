package backend

import (
	"context"
	"fmt"
	"math"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/direct"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/gpu/product"
	"github.com/halfulp/halfulp/internal/gpu/rows"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/residue"
	"github.com/halfulp/halfulp/internal/superacc"
)

// gpus is one GPU, or several GPUs that share products of host matrices. Numbers are stored on one
// GPU only.
type gpus struct {
	first *cuda.Device
	more  []int // numbers of the other GPUs
	name  string
}

func (p *gpus) String() string { return p.name }

func (p *gpus) First() place.Place { return at(p.first) }

// storage is an array in the memory of a GPU.
type storage struct {
	*mem.Array
	at *gpus
}

func (s *storage) Place() place.Place { return s.at }

// do runs f on the first GPU.
func (p *gpus) do(ctx context.Context, f func(s *cuda.Stream) error) error {
	return explained(p.first.Do(ctx, f))
}

func (p *gpus) New(ctx context.Context, f num.Format, rows, cols int) (*num.Array, error) {
	return p.array(ctx, f, rows*cols, mem.NewArray)
}

func (p *gpus) Room(cfg place.Config, f num.Format, rows, cols int) (*num.Array, error) {
	return p.array(cfg.Ctx, f, rows*cols, mem.Room)
}

func (p *gpus) Zeros(cfg place.Config, f num.Format, rows, cols int) (*num.Array, error) {
	return p.array(cfg.Ctx, f, rows*cols, mem.Zeros)
}

// array returns an array of n numbers allocated by make.
func (p *gpus) array(ctx context.Context, f num.Format, n int, make func(s *cuda.Stream, f num.Format, n int) (*mem.Array, error)) (*num.Array, error) {
	if len(p.more) > 0 {
		return nil, fmt.Errorf("%s: %w: numbers live on one GPU", p, place.ErrDevice)
	}
	if size := num.SizeOf(f); int64(n) > math.MaxInt64/size {
		return nil, fmt.Errorf("%v: %w: %d numbers", p, place.ErrMemory, n)
	}
	var a *mem.Array
	err := p.do(ctx, func(s *cuda.Stream) (err error) {
		a, err = make(s, f, n)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &num.Array{Format: f, Away: &storage{a, p}}, nil
}

// Borrow returns an array of n numbers of format float32 or float64, stored at address in memory of
// another library on the GPU p: see [cuda.Stream.Borrow].
func Borrow(ctx context.Context, p place.Place, f num.Format, address cuda.Pointer, n int) (*num.Array, error) {
	at := p.(*gpus)
	var a *mem.Array
	err := at.do(ctx, func(s *cuda.Stream) error {
		a = mem.Borrow(s, f, address, n)
		return nil
	})
	return &num.Array{Format: f, Away: &storage{a, at}}, err
}

// Borrowed reports whether an array is stored in memory of another library on a GPU.
func Borrowed(a *num.Array) bool {
	s, ok := a.Away.(*storage)
	return ok && s.Array.Borrowed()
}

func (p *gpus) Set(ctx context.Context, to, from num.Mat) error {
	return p.do(ctx, func(s *cuda.Stream) error { return Matrix(to).Set(s, from) })
}

func (p *gpus) Get(ctx context.Context, from num.Mat) (m num.Mat, err error) {
	err = p.do(ctx, func(s *cuda.Stream) error {
		m, err = Matrix(from).Get(s)
		return err
	})
	return m, err
}

func (p *gpus) Clone(ctx context.Context, m num.Mat) (num.Mat, error) {
	err := p.do(ctx, func(s *cuda.Stream) error {
		a, err := Matrix(m).Arr.Clone(s)
		m.Arr = &num.Array{Format: m.Arr.Format, Away: &storage{a, p}}
		return err
	})
	return m, err
}

func (p *gpus) Copy(c place.Config, to, from num.Mat) error {
	return p.do(c.Ctx, func(s *cuda.Stream) error { return rows.Copy(s, Matrix(from), Matrix(to)) })
}

func (p *gpus) Prepare(m num.Mat) { product.Prepare(Matrix(m)) }

func (p *gpus) Overlap(a, b num.Mat) bool { return Matrix(a).Overlaps(Matrix(b)) }

// Device returns the GPU of a place, the first of several.
func Device(p place.Place) *cuda.Device { return p.(*gpus).first }

// Do runs f on the GPU of a place, the first of several, with the errors of package place.
func Do(ctx context.Context, p place.Place, f func(s *cuda.Stream) error) error {
	return p.(*gpus).do(ctx, f)
}

// Matrix returns m as a view of its GPU array.
func Matrix(m num.Mat) mem.Matrix {
	return mem.Matrix{Arr: m.Arr.Away.(*storage).Array, Off: m.Off, RS: m.RS, CS: m.CS, Rows: m.Rows, Cols: m.Cols}
}

// Vector returns v as a view of its GPU array.
func Vector(v num.Vec) mem.Vector {
	return mem.Vector{Arr: v.Arr.Away.(*storage).Array, Off: v.Off, Inc: v.Inc, N: v.N}
}

// elsewhere returns the parts of operands that other GPUs store, as views of GPU arrays.
func elsewhere(of *place.Elsewhere) *product.Elsewhere {
	if of == nil {
		return nil
	}
	z := new(product.Elsewhere)
	for _, b := range of.A {
		z.Factors[0] = append(z.Factors[0], product.Block{Vector: b.Row, Number: b.Col, M: Matrix(b.M)})
	}
	for _, b := range of.B {
		z.Factors[1] = append(z.Factors[1], product.Block{Vector: b.Col, Number: b.Row, M: Matrix(b.M).T()})
	}
	for _, b := range of.C {
		z.Homes = append(z.Homes, product.Home{First: b.Col, M: Matrix(b.M)})
	}
	return z
}

func (p *gpus) Gemm(c place.Config, alpha num.Real, a, b num.Mat, beta num.Real, old, z num.Mat) (st residue.Stats, err error) {
	cfg := product.Config{Run: c.Run, Limit: c.Limit, Pattern: c.Pattern}
	if z.Arr.Away != nil {
		if c.Bound != nil {
			cfg.Tally = arrayOf(c.Bound.Tally)
		}
		if c.Panels != nil {
			cfg.Panels = c.Panels.(*product.Panels)
		}
		cfg.Elsewhere = elsewhere(c.Elsewhere)
		err = p.do(c.Ctx, func(s *cuda.Stream) (err error) {
			st, err = product.GemmOnDevice(s, cfg, alpha, Matrix(a), Matrix(b), beta, Matrix(old), Matrix(z))
			return err
		})
		return st, err
	}
	cfg.Timing = true
	for i, k := range c.Prepared {
		if k != nil {
			cfg.Copies[i] = k.(*product.Copies)
		}
	}
	for _, i := range p.more {
		dev, err := mem.Open(i)
		if err != nil {
			return st, absent(err)
		}
		cfg.More = append(cfg.More, dev)
	}
	st, err = product.Gemm(p.first, cfg, alpha, a, b, beta, old, z)
	return st, explained(err)
}

func (p *gpus) Gemv(c place.Config, alpha num.Real, m num.Mat, x num.Vec, beta num.Real, y, z num.Vec, count func(num.Flags)) (int64, error) {
	if z.Arr.Away == nil {
		n, err := rows.Gemv(p.first, c.Run, alpha, m, x, beta, y, z.Arr, count)
		return n.Host, explained(err)
	}
	var n rows.Counts
	err := p.do(c.Ctx, func(s *cuda.Stream) (err error) {
		n, err = rows.GemvOnDevice(s, c.Run, alpha, Matrix(m), Vector(x), beta, Vector(y), Vector(z), count)
		return err
	})
	return n.Host, err
}

func (p *gpus) Reduce(c place.Config, r direct.Reduction, x, y num.Vec, z *num.Array) (flags num.Flags, exact bool, err error) {
	var n rows.Counts
	if x.Arr.Away == nil {
		flags, n, err = rows.Reduce(p.first, c.Run, r, x, y, z)
		return flags, n.Host > 0, explained(err)
	}
	err = p.do(c.Ctx, func(s *cuda.Stream) (err error) {
		flags, n, err = rows.ReduceOnDevice(s, c.Run, r, Vector(x), Vector(y), z)
		return err
	})
	return flags, n.Host > 0, err
}

func (p *gpus) Norm(c place.Config, x num.Vec, z *num.Array) (flags num.Flags, exact bool, err error) {
	var n rows.Counts
	if x.Arr.Away == nil {
		flags, n, err = rows.Norm(p.first, c.Run, x, z)
		return flags, n.Host > 0, explained(err)
	}
	err = p.do(c.Ctx, func(s *cuda.Stream) (err error) {
		flags, n, err = rows.NormOnDevice(s, c.Run, Vector(x), z)
		return err
	})
	return flags, n.Host > 0, err
}

func (p *gpus) Iamax(c place.Config, x num.Vec) (best int, err error) {
	if x.Arr.Away == nil {
		best, _, err = rows.Iamax(p.first, c.Run, x)
		return best, explained(err)
	}
	err = p.do(c.Ctx, func(s *cuda.Stream) (err error) {
		best, _, err = rows.IamaxOnDevice(s, c.Run, Vector(x))
		return err
	})
	return best, err
}

func (p *gpus) Moments(c place.Config, x num.Vec, list ...direct.Moment) (sums []*superacc.Acc, err error) {
	if x.Arr.Away == nil {
		sums, _, err = rows.Moments(p.first, c.Run, x, list...)
		return sums, explained(err)
	}
	err = p.do(c.Ctx, func(s *cuda.Stream) (err error) {
		sums, _, err = rows.MomentsOnDevice(s, c.Run, Vector(x), list...)
		return err
	})
	return sums, err
}

func (p *gpus) Scal(c place.Config, alpha num.Real, x num.Vec, z *num.Array, count func(num.Flags)) error {
	if x.Arr.Away == nil {
		_, err := rows.Scal(p.first, c.Run, alpha, x, z, count)
		return explained(err)
	}
	return p.do(c.Ctx, func(s *cuda.Stream) error {
		_, err := rows.ScalOnDevice(s, c.Run, alpha, Vector(x), count)
		return err
	})
}

func (p *gpus) Update(c place.Config, alpha num.Real, x, y num.Vec, a num.Mat, z *num.Array, count func(num.Flags)) (err error) {
	switch {
	case a.Arr.Away != nil:
		return p.do(c.Ctx, func(s *cuda.Stream) (err error) {
			if y.Arr == nil {
				_, err = rows.AxpyOnDevice(s, c.Run, alpha, Vector(x), Vector(a.Col(0)), count)
			} else {
				_, err = rows.GerOnDevice(s, c.Run, alpha, Vector(x), Vector(y), Matrix(a), count)
			}
			return err
		})
	case y.Arr == nil:
		_, err = rows.Axpy(p.first, c.Run, alpha, x, a.Col(0), z, count)
	default:
		_, err = rows.Ger(p.first, c.Run, alpha, x, y, a, z, count)
	}
	return explained(err)
}
