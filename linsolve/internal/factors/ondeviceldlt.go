package factors

import (
	"math/big"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/ziv"
)

// For factors P A P^T = L D L^T at a place the host computes pivots and approximate inverses, and
// the place computes products. For blocks of two rows the host computes the entries below the
// diagonal, fewer than n numbers of a matrix.

// RookBelow bounds the rounded entries of L at a place. It is more than the largest entry that
// exact pivots lead to, 1/(1 - alpha) < 2.781, and less than RookGrowth = 2.79, the bound on the
// host.
//
// A place must accept the pivots of the seed only if the host would. The host accepts them if its
// first enclosure by them proves that no |L[i,j]| exceeds 2.79. Suppose that at the place no
// rounded entry exceeds 2.785, which NotSmall decides up to 2^-51. It has 24 bits or more, so its
// error is at most 2^-23 and |L[i,j]| < 2.7851, in columns of 1 x 1 and of 2 x 2 blocks alike. The
// error of the enclosure from which it was rounded is at most 2^-32 (see ziv.Enclosure.Narrow). The
// enclosure of the host comes from the same seed by the same steps, or else from an elimination in
// more bits. The host requests the same bits, except that the place requests up to 12 bits more for
// formats of several terms. Both errors lie between 2^-4 and 2^4 times the requested ones. So the
// error on the host is less than 2^(-32+12+8) = 2^-12, and 2.7851 + 2^-12 < 2.79.
const RookBelow = 2.785

// LDLTThere returns the factors of a matrix that does not live on the host, where it lives, by the
// seed of its copy on the host. It returns nil if only the host can decide: for entries that are or
// may be ties or zeros, pivots that float64 arithmetic does not determine or that are not proved to
// be good enough, matrices that are singular or too ill-conditioned, and entries too small for
// products of some bits.
func LDLTThere(s *call.Run, a num.Mat, f num.Format, seed *Rooked) (*LDLTFactors, error) {
	if a.OnHost() || seed == nil || seed.LUNewton == nil || f.Bits() < num.Float32.Bits() {
		return nil, nil
	}
	if !place.Oblique(place.Of(a.Arr)) { // a grid of processes
		return nil, nil
	}
	return factored(s, place.EliminationFactors, a, func(a num.Mat) (*LDLTFactors, error) { return ldltOnDevice(s, a, f, seed) })
}

func ldltOnDevice(s *call.Run, a num.Mat, f num.Format, seed *Rooked) (*LDLTFactors, error) {
	n := a.Rows
	if err := s.NewTally(); err != nil {
		return nil, err
	}
	t, err := uploaded(s, seed.LUNewton)
	s.Stage("approximate inverse")
	if err != nil {
		return nil, err
	}
	terms := max(num.NewMat(f, 0, 0).Arr.Terms(), 1)
	e, err := t.Enclosure(f.Bits() + 4*(terms-1) + call.DeviceGuard)
	s.Stage("products")
	if err != nil || e == nil || !e.Narrow() {
		return nil, err
	}
	defer s.Stage("rounding")
	z := &LDLTFactors{P: seed.Order, Blocks: seed.Blocks}
	if z.L, err = place.NewMat(place.Of(a.Arr), f, n, n); err != nil {
		return nil, err
	}
	if z.D, err = place.NewMat(place.Of(a.Arr), f, n, n); err != nil {
		z.L.Free()
		return nil, err
	}
	ok, err := roundedRook(s, z, e)
	if err != nil || !ok {
		z.L.Free()
		z.D.Free()
		return nil, err
	}
	return z, nil
}

// uploaded copies an LUNewton of the host to the run's place. The place computes its condition
// again.
func uploaded(s *call.Run, of *LUNewton) (*LUNewton, error) {
	t := &LUNewton{S: s, K: of.K, Blocks: of.Blocks, By: of.By}
	t.Amp = of.Amp
	for _, m := range []struct {
		to *num.Mat
		of num.Mat
	}{{&t.F, of.F}, {&t.x, of.x}, {&t.y, of.y}} {
		var err error
		if *m.to, err = s.Upload(m.of); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// roundedRook rounds the factors. It reports whether all entries are decided and the entries of L
// are proved to be as small as RookBelow requires.
func roundedRook(s *call.Run, z *LDLTFactors, e *ziv.Enclosure) (bool, error) {
	if ok, err := roundedBlocks(s, z, e); !ok || err != nil {
		return false, err
	}
	// L^T lies above the diagonal. Within blocks it has zeros, which enclosures cannot decide.
	// Until the zeros are stored, 4/3 takes their place: its terms are not zeros or ties in any
	// format.
	n := z.L.Rows
	filler := new(big.Float).SetPrec(uint(e.L.X.Format().Bits()))
	filler.Quo(big.NewFloat(4), big.NewFloat(3))
	if err := change(s, belowDiagonal(e.L.X.T()), z.Blocks, func(h num.Mat, i int) {
		h.SetBig(i, 0, new(big.Float).SetMantExp(filler, int(-e.L.Left[i]-e.L.Right[i+1])))
	}); err != nil {
		return false, err
	}
	if err := change(s, belowDiagonal(e.L.D.T()), z.Blocks, func(h num.Mat, i int) { h.SetFloat64(i, 0, 0) }); err != nil {
		return false, err
	}
	above := func(a num.Mat) num.Mat { return a.Slice(0, n, 1, n) }
	l := place.Sum{X: above(e.L.X), D: above(e.L.D), Bits: e.Bits, Errors: e.L.Err[1:], Rows: e.L.Left, Cols: e.L.Right[1:], Triangle: 'U', Tally: s.Tally}
	if _, err := s.SumThere(l, above(z.L.T())); err != nil {
		return false, err
	}
	if left, err := s.Tallied(); err != nil || left > 0 {
		return false, err
	}
	if err := change(s, belowDiagonal(z.L), z.Blocks, func(h num.Mat, i int) { h.SetFloat64(i, 0, 0) }); err != nil {
		return false, err
	}
	if _, err := s.NotSmall(z.L, RookBelow, s.Tally); err != nil {
		return false, err
	}
	one, err := s.Identity(n)
	if err != nil {
		return false, err
	}
	if err := unitDiagonal(s, z.L, one); err != nil {
		return false, err
	}
	left, err := s.Tallied()
	return left == 0, err
}

// roundedBlocks rounds D, which has at most 2 n - 1 different entries, on the host. It reports
// whether all of them are decided and finite.
func roundedBlocks(s *call.Run, z *LDLTFactors, e *ziv.Enclosure) (bool, error) {
	n, f := z.D.Rows, z.D.Format()
	for off := range 2 {
		if off == 1 && len(z.Blocks) == n {
			break
		}
		// Entries (i, i + off) of U, in column i of a row.
		y := &bound.Nearly{Words: e.U.Words, Left: []int64{0}}
		var err error
		if y.X, err = diagonalHere(s, e.U.X.Slice(0, n-off, off, n)); err != nil {
			return false, err
		}
		if y.D, err = diagonalHere(s, e.U.D.Slice(0, n-off, off, n)); err != nil {
			return false, err
		}
		here := num.NewMat(f, n-off, 1)
		u := &ziv.Unknown{}
		y.X, y.D = y.X.T(), y.D.T()
		for i := range n - off {
			y.Err = append(y.Err, e.U.Err[i+off])
			y.Right = append(y.Right, e.U.Left[i]+e.U.Right[i+off])
		}
		i := 0
		for _, size := range z.Blocks {
			for j := i; j < i+size-off; j++ {
				u.Open = append(u.Open, ziv.Wanted{Part: ziv.OfU, I: 0, J: j, Z: &here, At: [2]int32{int32(j), 0}})
			}
			i += size
		}
		if err := ziv.RoundFactors(s, u, &ziv.Enclosure{U: y, Bits: e.Bits}); err != nil || len(u.Open) > 0 {
			return false, err
		}
		for i := range n - off {
			if here.Entry(i, 0).IsInf(0) {
				return false, nil
			}
		}
		there, err := s.Upload(here)
		if err != nil {
			return false, err
		}
		if err := place.Copy(diagonalOf(z.D.Slice(0, n-off, off, n)), there); err != nil {
			return false, err
		}
		if err := place.Copy(diagonalOf(z.D.Slice(off, n, 0, n-off)), there); err != nil {
			return false, err
		}
		s.Drop(there)
	}
	return true, nil
}
