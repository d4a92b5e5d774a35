package eigen

import (
	"math/big"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/eigen/internal/sym"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/interval"
	"github.com/halfulp/halfulp/internal/proof/ziv"
)

// Polar returns the polar decomposition A = U H of an m x n matrix A, with a symmetric positive
// semidefinite H = (AᵀA)^(1/2), n x n, and U, m x n, each entry rounded once to format f. For
// independent columns the columns of U are orthonormal, and U is the matrix with orthonormal
// columns that is nearest to A. Otherwise U is the partial isometry with U x = 0 for A x = 0. U and
// H live where A does.
//
//	u, h, err := eigen.Polar(a, halfulp.Float64, nil)
//
// Entries that enclosures do not decide are treated as in [SymFunc], and errors are as for [SVD].
//
// Method. With A = V diag(σ) Wᵀ, correctly rounded in enough bits, U is the sum of v wᵀ over σ > 0,
// and H = W diag(σ) Wᵀ.
func Polar(a *halfulp.Matrix, f halfulp.Format, opt *halfulp.Options) (u, h *halfulp.Matrix, err error) {
	o := orDefault(opt)
	s, on, err := start("Polar", o, a.View())
	if err != nil {
		return nil, nil, err
	}
	left, right, err := polar(s, on[0], f.View())
	if err := ended("Polar", o, s, err); err != nil {
		return nil, nil, err
	}
	if u, err = moved(left, a.View()); err != nil {
		return nil, nil, err
	}
	if h, err = moved(right, a.View()); err != nil {
		u.Free()
		return nil, nil, err
	}
	return u, h, nil
}

// polar computes U and H for a matrix on the host.
func polar(s *call.Run, a num.Mat, format num.Format) (u, h num.Mat, err error) {
	if err := call.Finite("A", a); err != nil {
		return u, h, err
	}
	m, n := a.Dims()
	last := 5*format.Bits() + 128
	blocks, root := make([]int, n), connected(a)
	left := &entries{s: s, z: num.NewMat(format, m, n), last: last, blocks: blocks}
	right := &entries{s: s, z: num.NewMat(format, n, n), last: last, blocks: blocks}
	numbers := map[int]int{} // of blocks
	for j := range n {
		at := root[m+j]
		if _, ok := numbers[at]; !ok {
			numbers[at] = len(numbers)
		}
		blocks[j] = numbers[at]
		for i := range m {
			if root[i] == at {
				left.open = append(left.open, [2]int{i, j})
			}
		}
		for i := range j + 1 {
			if root[m+i] == at {
				right.open = append(right.open, [2]int{i, j})
			}
		}
	}
	c, swapped := a, m < n
	if swapped {
		c = a.T()
	}
	undecided := 0
	try := 0
	for bits := format.Bits() + ziv.Guard(max(m, n)) + 8; len(left.open)+len(right.open) > 0; bits = moreBits(bits, last) {
		end := attempt(s, &try)
		z, err := sym.SVD(s, c, call.MP(bits), sym.Wanted{Vectors: true, Last: min(m, n) - 1}, false)
		if end(); err != nil {
			return u, h, err
		}
		s.Stats.Undecided = undecided // the errors of vectors are known
		x, y := z.Left, z.Vectors
		if swapped {
			x, y = y, x
		}
		ones, sigma := make([]interval.Interval, x.Cols), make([]interval.Interval, x.Cols)
		for k := range sigma {
			v := z.Values.Big(k, 0)
			sigma[k], ones[k] = interval.Of(v), interval.Of(new(big.Float))
			if v.Sign() != 0 {
				sigma[k], ones[k] = interval.Prec(bits+8).Around(v, bits-1), interval.OfInt(1)
			}
		}
		for _, c := range z.Clusters {
			all := sigma[c[0]]
			for k := c[0]; k <= c[1]; k++ {
				all = hull(all, sigma[k])
			}
			for k := c[0]; k <= c[1]; k++ {
				sigma[k] = all
			}
		}
		if err := left.round(x, y, ones, bits); err != nil {
			return u, h, err
		}
		if err := right.round(y, y, sigma, bits); err != nil {
			return u, h, err
		}
		undecided = s.Stats.Undecided
	}
	for j := range n {
		for i := range j {
			right.z.Arr.CopyFrom(right.z.At(j, i), right.z.Arr, right.z.At(i, j))
		}
	}
	countOverflows(s, right.z)
	return left.z, right.z, nil
}
