package seed

import (
	"math"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/place"
)

// merging has the memory of merges.
type merging struct {
	g    abi.SpectralMerge
	row  cuda.Pointer
	turn cuda.Pointer // rotations
}

// Load sets column j of Q to column j of q, of rows numbers, from row base[j] on, and to zeros
// elsewhere. T can no longer be computed from A, whose memory Q takes.
func (r *Reduction) Load(s *cuda.Stream, q []float64, rows int, base []int32) error {
	r.s = s
	if r.merging == nil {
		n := int(r.g.Order)
		m := &merging{}
		var small cuda.Pointer
		const lists = 7
		if err := r.allocAll([]room{
			{&m.g.Above, 8 * n * n}, {&m.g.Delta, 8 * n * n}, {&m.turn, rotationWords * 8 * n}, {&small, lists*8*n + 8},
		}); err != nil {
			return err
		}
		for i, to := range [lists]*cuda.Pointer{&m.row, &m.g.D, &m.g.Z, &m.g.Roots, &m.g.Tau, &m.g.Origin, &m.g.Place} {
			*to = small + cuda.Pointer(8*n*i)
		}
		m.g.Columns, m.g.Failed = m.g.Place+cuda.Pointer(4*n), small+lists*cuda.Pointer(8*n)
		m.g.LD = r.g.N
		r.merging = m
	}
	from, err := cuda.NewCopy(s, q)
	if err != nil {
		return err
	}
	defer from.Free()
	list, err := cuda.NewCopy(s, base)
	if err != nil {
		return err
	}
	defer list.Free()
	padded := int(r.g.N)
	return r.spectra("spectraLoad", r.blocks(padded, threads), padded, r.g.A, int64(padded), from.Pointer(), int32(rows), list.Pointer(), r.g.Order)
}

// rotationWords is the length of an abi.SpectralRotation.
const rotationWords = len(abi.SpectralRotation{})

// piece returns the argument of kernels for a piece.
func (r *Reduction) piece(p place.Piece) abi.SpectralMerge {
	g := r.merging.g
	g.Q = r.g.A + cuda.Pointer(8*p.First*(int(g.LD)+1))
	g.Order, g.Upper = int32(p.To-p.First), int32(p.Mid-p.First)
	return g
}

// merge runs a kernel of merges.
func (r *Reduction) merge(kernel string, grid cuda.Dim, args ...any) error {
	f, err := r.kernels.Function(r.s, "seed/merge", kernel)
	if err != nil {
		return err
	}
	return f.Launch(r.s, grid, cuda.Dim{X: threads}, 0, args...)
}

// Ends returns the last row of the first part of a piece of Q for its columns, and the first row of
// the second part for its columns.
func (r *Reduction) Ends(s *cuda.Stream, p place.Piece) ([]float64, error) {
	r.s = s
	g := r.piece(p)
	if err := r.merge("mergeRow", cuda.Dim{X: r.blocks(int(g.Order), threads)}, g, r.merging.row); err != nil {
		return nil, err
	}
	z := make([]float64, g.Order)
	return z, cuda.Download(s, z, r.merging.row)
}

// Merge computes the roots of the secular equation of a piece, and its vectors. It is not ok if an
// iteration does not converge.
func (r *Reduction) Merge(s *cuda.Stream, m place.Merge) (roots []float64, ok bool, err error) {
	r.s = s
	g := r.piece(m.Piece)
	k, kept := int(g.Order), len(m.D)
	g.Kept, g.Top, g.Mixed = int32(kept), int32(m.Top), int32(m.Mixed)
	g.Below = g.Above + cuda.Pointer(8*m.Mixed*int(g.Upper))
	g.Rest = g.Below + cuda.Pointer(8*(kept-m.Top)*int(g.Order-g.Upper))
	rows := r.blocks(k, threads)
	if len(m.Rotations) > 0 {
		var list []uint64
		for _, q := range m.Rotations {
			list = append(list, uint64(q.X)|uint64(q.Y)<<32, math.Float64bits(q.C), math.Float64bits(q.S))
		}
		if err := cuda.Upload(s, r.merging.turn, list); err != nil {
			return nil, false, err
		}
		if err := r.merge("mergeRotate", cuda.Dim{X: rows}, g, r.merging.turn, int32(len(m.Rotations))); err != nil {
			return nil, false, err
		}
	}
	if err := cuda.Upload(s, g.Columns, m.Columns); err != nil {
		return nil, false, err
	}
	if err := r.merge("mergeGather", cuda.Dim{X: rows, Y: k}, g); err != nil {
		return nil, false, err
	}
	if kept < k {
		if err := r.merge("mergeReturn", cuda.Dim{X: rows, Y: k - kept}, g); err != nil {
			return nil, false, err
		}
	}
	if kept == 0 {
		return nil, true, nil
	}
	if err := s.Zero(g.Failed, 4); err != nil {
		return nil, false, err
	}
	for to, list := range map[cuda.Pointer][]float64{g.D: m.D, g.Z: m.Z} {
		if err := cuda.Upload(s, to, list); err != nil {
			return nil, false, err
		}
	}
	if err := cuda.Upload(s, g.Place, m.Place); err != nil {
		return nil, false, err
	}
	for _, kernel := range []string{"mergeRoots", "mergeRebuild", "mergeVectors"} {
		if err := r.merge(kernel, cuda.Dim{X: kept}, g); err != nil {
			return nil, false, err
		}
	}
	tiles := cuda.Dim{X: r.blocks(max(m.Mid-m.First, m.To-m.Mid), block), Y: r.blocks(kept, block), Z: 2}
	if err := r.merge("mergeMultiply", tiles, g); err != nil {
		return nil, false, err
	}
	roots = make([]float64, kept)
	var failed [1]int32
	err = cuda.DownloadAll(s, cuda.To(roots, g.Roots), cuda.To(failed[:], g.Failed))
	return roots, failed[0] == 0, err
}
