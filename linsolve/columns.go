package linsolve

import (
	"math"
	"math/big"
	"math/bits"
	"slices"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/interval"
	"github.com/halfulp/halfulp/internal/proof/scale"
	"github.com/halfulp/halfulp/internal/proof/ziv"
)

// Columns of QRPivoted are in the order in which longestColumns has them in so many bits, which
// takes n³ operations on big.Float. The same order comes from float64 arithmetic where the factors
// tell afterwards that each pivot is by more than longestColumns may err larger than all that it is
// chosen from.

// clearly is how much squares of lengths of columns have to differ, relatively: 2^-29.
const clearly = 1 - 0x1p-29

// longestColumns returns the order of pivots of a symmetric positive definite matrix, by an
// elimination in some bits with the largest entry of the diagonal as the next pivot; nil where that
// is not positive.
func longestColumns(s *call.Run, a num.Mat, bits int) ([]int, error) {
	if err := call.Workable(bits, a); err != nil {
		return nil, err
	}
	n, prec := a.Rows, uint(bits)
	order := call.All(n)
	x := lowerTriangle(a, prec)
	for k := range n {
		p := k + largestPivot(n-k, func(i int) *big.Float { return x[k+i][k+i] })
		exchangeSymmetric(x, k, p)
		order[k], order[p] = order[p], order[k]
		if x[k][k].Sign() <= 0 {
			return nil, nil
		}
		err := par.Each(s.Ctx, s.Threads, n-k-1, func(row int) {
			i := k + 1 + row
			l, t := new(big.Float).SetPrec(prec).Quo(x[i][k], x[k][k]), new(big.Float).SetPrec(prec)
			if l.Sign() == 0 {
				return
			}
			for j := k + 1; j <= i; j++ {
				x[i][j].Sub(x[i][j], t.Mul(l, x[j][k]))
			}
		})
		if err != nil {
			return nil, err
		}
	}
	return order, nil
}

// lowerTriangle returns the lower triangle of a matrix in numbers of some bits.
func lowerTriangle(a num.Mat, prec uint) [][]*big.Float {
	x := make([][]*big.Float, a.Rows)
	for i := range x {
		x[i] = make([]*big.Float, i+1)
		for j := range x[i] {
			x[i][j] = new(big.Float).SetPrec(prec).Set(a.Big(i, j))
		}
	}
	return x
}

// exchangeSymmetric exchanges rows and columns k ≤ p of a symmetric matrix, of which there is the
// lower triangle; what lies left of column k as well.
func exchangeSymmetric[T any](x [][]T, k, p int) {
	if k == p {
		return
	}
	for j := range k {
		x[k][j], x[p][j] = x[p][j], x[k][j]
	}
	for j := k + 1; j < p; j++ {
		x[j][k], x[p][j] = x[p][j], x[j][k]
	}
	for i := p + 1; i < len(x); i++ {
		x[i][k], x[i][p] = x[i][p], x[i][k]
	}
	x[k][k], x[p][p] = x[p][p], x[k][k]
}

// longest reports whether it is proved that each pivot is as long, but for slack, as what is left
// of the columns behind it: that Σ R[i,j]^2 for k ≤ i ≤ j is at most (1 + 2^-60) R[k,k]^2.
func longest(s *call.Run, e *ziv.Enclosure, n int) (bool, error) { return longestBy(s, slack, e, n) }

// longestBy reports whether it is proved that R[k,k]^2 exceeds those sums but for a factor.
func longestBy(s *call.Run, factor *big.Float, e *ziv.Enclosure, n int) (bool, error) {
	pivots := make([]interval.Interval, n)
	err := par.Each(s.Ctx, s.Threads, n, func(k int) { pivots[k] = e.Square(k, k) })
	if err != nil {
		return false, err
	}
	p := e.Arithmetic()
	fails := make([]bool, n)
	err = par.Each(s.Ctx, s.Threads, n, func(j int) {
		sum := p.Up().Set(pivots[j].Hi)
		for k := j - 1; k >= 0 && !fails[j]; k-- {
			sum.Add(sum, e.Square(k, j).Hi)
			fails[j] = sum.Cmp(p.Down().Mul(pivots[k].Lo, factor)) > 0
		}
	})
	return err == nil && !slices.Contains(fails, true), err
}

// pivots64 returns the order of the pivots of a symmetric matrix on the host that an elimination in
// float64 chooses as longestColumns does; nil if it breaks down. Nothing is proved of it.
func pivots64(s *call.Run, a num.Mat) ([]int, error) {
	n, m := a.Rows, a
	exps := make([]int64, n)
	for i := range exps {
		e := scale.Exponent(m.Arr, m.At(i, i))
		if e == scale.None {
			return nil, nil
		}
		exps[i] = -(e >> 1)
	}
	return longest64(s, scale.Scaling{Rows: exps, Cols: exps}.Float64s(m, s.Floats(n*n)), exps)
}

// longest64 is pivots64 for D A D by columns, D = diag(2^exps).
func longest64(s *call.Run, x []float64, exps []int64) ([]int, error) {
	n := len(exps)
	l, left := make([][]float64, n), make([]float64, n)
	for i := range l {
		l[i], left[i] = make([]float64, 0, n), x[i+i*n]
	}
	order := call.All(n)
	for k := range n {
		p, most, top := k, 0.0, int64(0)
		for i := k; i < n; i++ {
			frac, e := math.Frexp(left[i])
			exp := int64(e) - 2*exps[order[i]]
			if frac > 0 && (most == 0 || exp > top || exp == top && frac > most) {
				p, most, top = i, frac, exp
			}
		}
		order[k], order[p] = order[p], order[k]
		l[k], l[p] = l[p], l[k]
		left[k], left[p] = left[p], left[k]
		if !(left[k] > leastPivot) {
			return nil, nil
		}
		root := math.Sqrt(left[k])
		column := x[order[k]*n : (order[k]+1)*n]
		err := par.Each(s.Ctx, s.Threads, n-k-1, func(row int) {
			i := k + 1 + row
			v := (column[order[i]] - dot(l[i], l[k])) / root
			l[i] = append(l[i], v)
			left[i] -= float64(v * v)
		})
		if err != nil {
			return nil, err
		}
	}
	return order, nil
}

// dot returns about the scalar product of vectors of one length.
func dot(x, y []float64) float64 {
	var sum [4]float64
	y = y[:len(x)]
	i := 0
	for ; i+4 <= len(x); i += 4 {
		sum[0] += float64(x[i] * y[i])
		sum[1] += float64(x[i+1] * y[i+1])
		sum[2] += float64(x[i+2] * y[i+2])
		sum[3] += float64(x[i+3] * y[i+3])
	}
	for ; i < len(x); i++ {
		sum[0] += float64(x[i] * y[i])
	}
	return (sum[0] + sum[1]) + (sum[2] + sum[3])
}

// pivotsKept reports whether longestColumns in prec bits or more, if it takes these pivots, has all
// diagonals of what is left up to 2^-33 of them. Entries of F are below 2^top, and S is the seed,
// whose E is proved later to be at most 2^-8 in the norm.
//
// Let u = 2^-prec and X be what is left of C before a step, positive definite. The step computes
// X[i,j] - X[i,k] X[j,k] / X[k,k] up to
//
//	2.01 u |X[i,k] X[j,k]| / X[k,k] + u |result| ≤ 4.1 u (X[i,i] X[j,j])^(1/2)
//
// as that is how large entries off the diagonal may be, and diagonals do not grow but for
// roundings. An error of what is left is one of C at the same place. After any number of steps what
// is computed is hence left of C + δ, with |δ[i,j]| ≤ 8 n u (C[i,i] C[j,j])^(1/2), the rounding of
// C among it. For F = D C D these are 8 n u 2^top at most. With S F S^T = I + E and w = S^-T v
//
//	|v^T δ v| ≤ ‖S‖² ‖δ‖ |w|²,  v^T F v ≥ (1 - 2^-8) |w|²,  ‖S‖² ≤ ‖S‖∞ ‖S‖1,  ‖δ‖ ≤ 8 n² u 2^top
//
// in Euclidean norms: -ε F ≤ δ ≤ ε F for ε = 1.01 ‖S‖∞ ‖S‖1 8 n² u 2^top. Schur complements are
// monotonic, so that what is left of C + δ lies between 1 - ε and 1 + ε times what is left of C: it
// is positive definite, as the next step wants.
func (t *doubling) pivotsKept(top, prec int) (bool, error) {
	rows, err := t.s.RowNorm(t.x)
	if err != nil {
		return false, err
	}
	cols, err := t.s.RowNorm(t.x.T())
	if err != nil {
		return false, err
	}
	length := bits.Len(uint(t.n))
	return length <= 20 && 4+2*length+top+rows.MantExp(nil)+cols.MantExp(nil)-prec <= -33, nil
}
