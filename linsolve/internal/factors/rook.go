package factors

import (
	"math/big"
	"slices"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/seed"
)

// Rook is an elimination of a symmetric matrix in some bits. Its error is not bounded.
type Rook struct {
	X      [][]*big.Float // L below the diagonal blocks, and the lower triangle of D
	Order  []int
	Blocks []int
}

// at returns entry (i, j) of the remaining matrix.
func (r *Rook) at(i, j int) *big.Float { return r.X[max(i, j)][min(i, j)] }

// RookOf eliminates a in some bits; nil if the remaining matrix vanishes.
func RookOf(s *call.Run, a num.Mat, bits int) (*Rook, error) {
	if err := call.Workable(bits, a); err != nil {
		return nil, err
	}
	n := a.Rows
	r := &Rook{X: seed.LowerTriangle(a, uint(bits)), Order: call.All(n)}
	for k := 0; k < n; {
		size := r.Pivot(k)
		if size == 0 {
			return nil, nil
		}
		if ok, err := EliminateRook(s, r, k, size, uint(bits)); !ok || err != nil {
			return nil, err
		}
		r.Blocks = append(r.Blocks, size)
		k += size
	}
	return r, nil
}

// exchange exchanges rows i and j, and columns i and j.
func (r *Rook) exchange(i, j int) {
	i, j = min(i, j), max(i, j)
	seed.ExchangeSymmetric(r.X, i, j)
	r.Order[i], r.Order[j] = r.Order[j], r.Order[i]
}

// largest returns the row of the off-diagonal entry of the largest magnitude in column j, from row
// k on, and that magnitude.
func (r *Rook) largest(k, j int) (int, *big.Float) {
	rows := slices.DeleteFunc(call.All(len(r.X)), func(i int) bool { return i < k || i == j })
	if len(rows) == 0 {
		return j, new(big.Float)
	}
	i := rows[seed.LargestPivot(len(rows), func(i int) *big.Float { return r.at(rows[i], j) })]
	return i, new(big.Float).Abs(r.at(i, j))
}

// Pivot brings a pivot to row k and returns its size, 0 if all candidates vanish.
func (r *Rook) Pivot(k int) int {
	enough := func(i int, most *big.Float) bool {
		return new(big.Float).Abs(r.at(i, i)).Cmp(new(big.Float).SetPrec(most.Prec()+64).Mul(most, seed.RookAlpha)) >= 0
	}
	i, most := r.largest(k, k)
	if enough(k, most) {
		if r.at(k, k).Sign() == 0 {
			return 0
		}
		return 1
	}
	for p := k; ; {
		j, row := r.largest(k, i)
		if enough(i, row) {
			r.exchange(k, i)
			return 1
		}
		if j == p || row.Cmp(most) <= 0 {
			r.exchange(k, p)
			if i == k {
				i = p
			}
			r.exchange(k+1, i)
			return 2
		}
		p, most, i = i, row, j
	}
}

// EliminateRook eliminates with the pivot of the given size in row k. It reports whether the pivot
// is regular.
func EliminateRook(s *call.Run, r *Rook, k, size int, prec uint) (bool, error) {
	inverse := r.inverse(k, size, prec)
	if inverse == nil {
		return false, nil
	}
	first := k + size
	l := make([][]*big.Float, len(r.X)-first)
	err := par.Each(s.Ctx, s.Threads, len(l), func(row int) {
		t := new(big.Float).SetPrec(prec)
		x := r.X[first+row]
		l[row] = make([]*big.Float, size)
		for c := range size {
			m := new(big.Float).SetPrec(prec)
			for d := range size {
				if t.Mul(x[k+d], inverse[d][c]); t.Sign() != 0 {
					seed.Subtract(m, t.Neg(t))
				}
			}
			if l[row][c] = m; m.Sign() == 0 {
				continue
			}
			for j := first; j <= first+row; j++ {
				if r.X[j][k+c].Sign() != 0 {
					seed.Subtract(x[j], t.Mul(m, r.X[j][k+c]))
				}
			}
		}
	})
	for row := range l {
		copy(r.X[first+row][k:], l[row])
	}
	return true, err
}

// inverse returns an approximate inverse of the block of D in row k, nil if the block is singular.
func (r *Rook) inverse(k, size int, prec uint) [][]*big.Float {
	number := func() *big.Float { return new(big.Float).SetPrec(prec) }
	p := r.X[k][k]
	if size == 1 {
		if p.Sign() == 0 {
			return nil
		}
		return [][]*big.Float{{number().Quo(big.NewFloat(1), p)}}
	}
	off, q := r.X[k+1][k], r.X[k+1][k+1]
	det := number().Mul(p, q)
	if seed.Subtract(det, number().Mul(off, off)); det.Sign() == 0 {
		return nil
	}
	minus := number().Quo(off, det)
	minus.Neg(minus)
	return [][]*big.Float{{number().Quo(q, det), minus}, {minus, number().Quo(p, det)}}
}

// blockInverses returns approximate inverses S of L and T of D L^T.
func blockInverses(s *call.Run, r *Rook, bits int) (li, ui num.Mat, err error) {
	n, f := len(r.X), num.Precision(uint(bits))
	l, inverse := num.NewMat(f, n, n), num.NewMat(f, n, n)
	b := 0
	for _, size := range r.Blocks {
		for i := b + size; i < n; i++ {
			for j := b; j < b+size; j++ {
				l.SetBig(i, j, r.X[i][j])
			}
		}
		for i, row := range r.inverse(b, size, uint(bits)) {
			for j, x := range row {
				inverse.SetBig(b+i, b+j, x)
			}
		}
		b += size
	}
	li, ui = num.NewMat(f, n, n), num.NewMat(f, n, n)
	if err := seed.InvertLower(s, l, li, true); err != nil {
		return num.Mat{}, num.Mat{}, err
	}
	return li, ui, s.Gemm(1, li.T(), inverse, 0, num.Mat{}, ui)
}
