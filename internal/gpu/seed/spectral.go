package seed

import (
	"context"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/gpu/launch"
	"github.com/halfulp/halfulp/internal/gpu/mem"
)

// A Reduction is a matrix H, a product of reflectors, with H' A H tridiagonal for a symmetric A,
// and a matrix Q. It takes 16 n² bytes of a GPU, and with Q 32 n². kernels/seed/spectral.cu and
// merge.cu describe the methods.
type Reduction struct {
	queue
	*merging
	g      abi.Spectral
	zeros  cuda.Pointer
	parts  cuda.Pointer // of products, in at most mostParts parts
	turns  cuda.Pointer // T of all blocks of reflectors
	failed cuda.Pointer
}

// mostParts is the most parts of a product of reflectors and a matrix.
const mostParts = 8

// Tridiagonal computes the diagonal d, of n numbers, and the off-diagonal e, of n - 1, of T =
// H' A H in float64 arithmetic, for a symmetric n x n matrix A of finite numbers below 1. The
// errors have no known bound. If ctx is done, d and e are worthless.
func Tridiagonal(ctx context.Context, s *cuda.Stream, a mem.Matrix) (r *Reduction, d, e []float64, err error) {
	n := a.Rows
	r = &Reduction{queue: queue{s: s, kernels: launch.KernelsOf(s)}}
	defer func(r *Reduction) { // results are nil by then
		if err != nil {
			r.Free()
		}
	}(r)
	padded := (n + block - 1) / block * block
	r.g.N, r.g.Order = int32(padded), int32(n)
	var small cuda.Pointer
	many := 8 * padded
	if err := r.allocAll([]room{
		{&r.g.A, many * padded}, {&r.g.V, many * padded}, {&r.g.W, many * block},
		{&r.parts, many * block * mostParts}, {&r.turns, many * block}, {&small, 12 * many}, {&r.failed, 4},
	}); err != nil {
		return nil, nil, nil, err
	}
	for i, to := range []*cuda.Pointer{&r.g.Raw[0], &r.g.Raw[1], &r.g.Squares[0], &r.g.Squares[1], &r.g.U, &r.g.Cross, &r.g.D, &r.g.E, &r.g.Tau, &r.zeros, &r.g.P, &r.g.Q} {
		*to = small + cuda.Pointer(i*many)
	}
	if err := s.Zero(small, int64(12*many)); err != nil {
		return nil, nil, nil, err
	}
	if err := r.reduce(ctx, a); err != nil {
		return nil, nil, nil, err
	}
	d, e = make([]float64, n), make([]float64, max(0, n-1))
	return r, d, e, cuda.DownloadAll(s, cuda.To(d, r.g.D), cuda.To(e, r.g.E))
}

// Free releases the memory.
func (r *Reduction) Free() { r.free() }

// run runs a kernel.
func (r *Reduction) run(kernel string, grid cuda.Dim, threads, shared int, args ...any) error {
	f, err := r.kernels.Function(r.s, "seed/spectral", kernel)
	if err != nil {
		return err
	}
	return f.Launch(r.s, grid, cuda.Dim{X: threads}, shared, args...)
}

// reduce computes T and the reflectors.
func (r *Reduction) reduce(ctx context.Context, a mem.Matrix) error {
	n, padded := int(r.g.Order), int(r.g.N)
	if err := r.spectra("spectraFloats", r.blocks(padded, threads), padded, abi.RowsOf(a), r.g.A, int64(padded)); err != nil {
		return err
	}
	for _, z := range []room{{&r.g.V, 8 * padded * padded}, {&r.g.W, 8 * padded * block}} {
		if err := r.s.Zero(*z.to, int64(z.bytes)); err != nil {
			return err
		}
	}
	for first := 0; first < n && ctx.Err() == nil; first += block {
		last := first + block
		for j := first; j < min(last, n); j++ {
			if err := r.column(first, j, 1); err != nil {
				return err
			}
			if j == n-1 {
				return nil
			}
			dots := r.blocks(padded-j-1, abi.SpectralColumns) + r.blocks(2*(j-first), abi.SpectralColumns)
			if err := r.run("spectralDots", cuda.Dim{X: dots}, abi.SpectralThreads, 0, r.g, int32(first), int32(j)); err != nil {
				return err
			}
		}
		if err := r.column(first, last, 0); err != nil {
			return err
		}
		v := r.g.V + cuda.Pointer(8*padded*first)
		for _, f := range [][2]cuda.Pointer{{v, r.g.W}, {r.g.W, v}} {
			if err := r.update(abi.SpectralRank{F: r.g.A, Left: f[0], Right: f[1], Row: int32(last), Column: int32(last)}); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *Reduction) blocks(n, of int) int { return (n + of - 1) / of }

// column completes the vectors of column j - 1 of the panel from column first on, and computes
// column j unless more is 0.
func (r *Reduction) column(first, j, more int) error {
	return r.run("spectralColumn", cuda.Dim{X: r.blocks(int(r.g.N)-j, abi.SpectralRows)}, threads, 0, r.g, int32(first), int32(j), int32(more))
}

// update adds a product.
func (r *Reduction) update(u abi.SpectralRank) error {
	u.N, u.Zeros = r.g.N, r.zeros
	tiles := r.blocks(int(u.N-u.Row), tall) * int(u.N-u.Column) / block
	return r.run("spectralUpdate", cuda.Dim{X: tiles}, threads, updateShared(block), u)
}

// Apply sets column p of X to column order[p] of H Q. It is not ok if a number is not finite. If
// ctx is done, X is worthless. Q has the memory of A.
func (r *Reduction) Apply(ctx context.Context, s *cuda.Stream, order []int32, x mem.Matrix) (ok bool, err error) {
	r.s = s
	if err := r.apply(ctx); err != nil {
		return false, err
	}
	x.Changed()
	list, err := cuda.NewCopy(s, order)
	if err != nil {
		return false, err
	}
	defer list.Free()
	if err := s.Zero(r.failed, 4); err != nil {
		return false, err
	}
	n := r.g.Order
	if err := r.spectra("spectraSeed", r.blocks(int(n), threads), int(n), r.g.A, int64(r.g.N), list.Pointer(), abi.TargetOf(x), r.failed, n); err != nil {
		return false, err
	}
	var failed [1]uint32
	err = cuda.Download(s, failed[:], r.failed)
	return failed[0] == 0, err
}

// spectra runs a kernel of kernels/seed/spectra.cu.
func (q *queue) spectra(kernel string, across, down int, args ...any) error {
	f, err := q.kernels.Function(q.s, "seed/spectra", kernel)
	if err != nil {
		return err
	}
	return f.Launch(q.s, cuda.Dim{X: across, Y: down}, cuda.Dim{X: threads}, 0, args...)
}

// apply computes H Q in the memory of Q.
func (r *Reduction) apply(ctx context.Context) error {
	padded := int(r.g.N)
	count := padded / block
	if err := r.run("spectralFactors", cuda.Dim{X: count}, threads, 0, r.g, r.turns); err != nil {
		return err
	}
	p := abi.SpectralProduct{Z: r.g.A, To: r.parts, N: r.g.N, Parts: int32(max(1, min(mostParts, 256/count)))}
	for k := count - 1; k >= 0 && ctx.Err() == nil; k-- {
		p.V, p.Row = r.g.V+cuda.Pointer(8*padded*k*block), int32(k*block)
		if err := r.run("spectralProducts", cuda.Dim{X: count, Y: int(p.Parts)}, threads, 0, p); err != nil {
			return err
		}
		if err := r.run("spectralTurn", cuda.Dim{X: padded / abi.SpectralTurn}, threads, 0, p, r.turns+cuda.Pointer(8*k*block*block)); err != nil {
			return err
		}
		if err := r.update(abi.SpectralRank{F: r.g.A, Left: p.V, Right: r.parts, Row: p.Row}); err != nil {
			return err
		}
	}
	return nil
}
