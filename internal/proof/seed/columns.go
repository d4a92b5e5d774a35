package seed

import (
	"math"
	"math/big"
	"slices"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/interval"
	"github.com/halfulp/halfulp/internal/proof/scale"
	"github.com/halfulp/halfulp/internal/proof/ziv"
)

// Clearly is the ratio of squared column lengths, 1 - 2^-29, below which they clearly differ.
const Clearly = 1 - 0x1p-29

// LongestColumns returns the order of pivots of a symmetric positive definite matrix. It eliminates
// in numbers of the given bits, and the next pivot is the largest entry of the diagonal; nil where
// that entry is not positive.
func LongestColumns(s *call.Run, a num.Mat, bits int) ([]int, error) {
	if err := call.Workable(bits, a); err != nil {
		return nil, err
	}
	n, prec := a.Rows, uint(bits)
	order := call.All(n)
	x := LowerTriangle(a, prec)
	for k := range n {
		p := k + LargestPivot(n-k, func(i int) *big.Float { return x[k+i][k+i] })
		ExchangeSymmetric(x, k, p)
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

// LowerTriangle returns the lower triangle of a matrix, rounded to prec bits.
func LowerTriangle(a num.Mat, prec uint) [][]*big.Float {
	x := make([][]*big.Float, a.Rows)
	for i := range x {
		x[i] = make([]*big.Float, i+1)
		for j := range x[i] {
			x[i][j] = new(big.Float).SetPrec(prec).Set(a.Big(i, j))
		}
	}
	return x
}

// ExchangeSymmetric exchanges rows and columns k ≤ p of a symmetric matrix given by its lower
// triangle. It exchanges the parts of the rows left of column k as well.
func ExchangeSymmetric[T any](x [][]T, k, p int) {
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

// Longest reports whether it is proved that each pivot is, within Slack, at least as long as the
// remaining columns behind it: that Σ R[i,j]^2 for k ≤ i ≤ j is at most (1 + 2^-60) R[k,k]^2.
func Longest(s *call.Run, e *ziv.Enclosure, n int) (bool, error) { return LongestBy(s, Slack, e, n) }

// LongestBy reports whether it is proved that these sums are at most factor times R[k,k]^2.
func LongestBy(s *call.Run, factor *big.Float, e *ziv.Enclosure, n int) (bool, error) {
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

// Pivots64 returns the order of the pivots of a symmetric matrix on the host, chosen as by
// LongestColumns but in float64; nil if the elimination breaks down. Nothing is proved of the
// order.
func Pivots64(s *call.Run, a num.Mat) ([]int, error) {
	n, m := a.Rows, a
	exps := make([]int64, n)
	for i := range exps {
		e := scale.Exponent(m.Arr, m.At(i, i))
		if e == scale.None {
			return nil, nil
		}
		exps[i] = -(e >> 1)
	}
	return Longest64(s, scale.Scaling{Rows: exps, Cols: exps}.Float64s(m, s.Floats(n*n)), exps)
}

// Longest64 is Pivots64 for D A D by columns, D = diag(2^exps).
func Longest64(s *call.Run, x []float64, exps []int64) ([]int, error) {
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
		if !(left[k] > LeastPivot) {
			return nil, nil
		}
		root := math.Sqrt(left[k])
		column := x[order[k]*n : (order[k]+1)*n]
		err := par.Each(s.Ctx, s.Threads, n-k-1, func(row int) {
			i := k + 1 + row
			v := (column[order[i]] - Dot(l[i], l[k])) / root
			l[i] = append(l[i], v)
			left[i] -= float64(v * v)
		})
		if err != nil {
			return nil, err
		}
	}
	return order, nil
}

// Dot returns about the scalar product of two vectors of equal length.
func Dot(x, y []float64) float64 {
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
