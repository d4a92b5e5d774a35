package linsolve

import (
	"math"
	"math/bits"
	"slices"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/raw"
)

// Columns of QRPivoted at a place are in the order in which longestColumns has them on the host,
// which is proved: float64 arithmetic finds the order, and the factors tell afterwards that each
// pivot is by more than the host's elimination may err larger than all that it is chosen from.

// clearly is how much squares of lengths of columns have to differ, relatively: 2^-29.
const clearly = 1 - 0x1p-29

// gathered returns rows of a matrix in MP at the solver's place in an order.
func (s *solver) gathered(a *halfulp.Matrix, order []int) (*halfulp.Matrix, error) {
	z, err := s.room(a.Format(), a.Rows(), a.Cols())
	if err != nil {
		return nil, err
	}
	rows := make([]int32, len(order))
	for i, row := range order {
		rows[i] = int32(row)
	}
	return z, s.at.Gather(s.config(), raw.Matrix(a), rows, raw.Matrix(z))
}

// longestFirst returns the order of the pivots of a symmetric matrix at the solver's place that an
// elimination in float64 on the host chooses as longestColumns does; nil if it breaks down. Nothing
// is proved of it.
func (s *solver) longestFirst(a *halfulp.Matrix) ([]int, error) {
	n := a.Rows()
	diagonal, err := s.diagonalHere(a)
	if err != nil {
		return nil, err
	}
	exps := make([]int64, n)
	for i := range exps {
		d := diagonal.Big(i, 0)
		if d.Sign() <= 0 {
			return nil, nil
		}
		exps[i] = -int64(d.MantExp(nil) >> 1)
	}
	f, err := s.scaled(a, scaling{exps, exps}, maxBits)
	if err != nil || f == nil {
		return nil, err
	}
	zeros, err := s.matrix(halfulp.MP(24), n, n)
	if err != nil {
		return nil, err
	}
	near, err := s.matrix(halfulp.Float64, n, n)
	if err != nil {
		return nil, err
	}
	sum := place.Sum{X: raw.Matrix(f), D: raw.Matrix(zeros), Bits: f.Format().Bits(), Tally: s.tally}
	if _, err := s.at.Sum(s.config(), sum, raw.Matrix(near)); err != nil {
		return nil, err
	}
	here, err := near.Host()
	if err != nil {
		return nil, err
	}
	s.drop(f, zeros, near)
	return s.longest64(here, exps)
}

// longest64 is longestFirst for D A D on the host, D = diag(2^exps).
func (s *solver) longest64(a *halfulp.Matrix, exps []int64) ([]int, error) {
	n := a.Rows()
	x := unscaled(n, n).float64s(raw.Matrix(a), s.floats(n*n))
	l, left := make([][]float64, n), make([]float64, n)
	for i := range l {
		l[i], left[i] = make([]float64, 0, n), x[i+i*n]
	}
	order := all(n)
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
		err := s.each(n-k-1, func(row int) {
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
	rows, err := t.s.rowNorm(t.x)
	if err != nil {
		return false, err
	}
	cols, err := t.s.rowNorm(t.x.T())
	if err != nil {
		return false, err
	}
	length := bits.Len(uint(t.n))
	return length <= 20 && 4+2*length+top+rows.MantExp(nil)+cols.MantExp(nil)-prec <= -33, nil
}

// longestThere reports whether the square of each R[k,k] exceeds what is left of all columns behind
// it, Σ R[i,j]^2 for k ≤ i ≤ j, by so much that an elimination whose diagonals are right up to
// 2^-33 of them takes these pivots: by a factor of 1 / (1 - 2^-30) and more.
//
// Sums are those of float64 numbers, n < 2^20 of them, that are the rounded entries of the factor
// of F: they are computed up to (n + 4) 2^-53 < 2^-32 of them, and less than 2^-1000 where squares
// underflow.
func (t *doubling) longestThere(e *enclosure) (bool, error) {
	n, y, s := t.n, e.root, t.s
	z, err := s.matrix(halfulp.Float64, n, n)
	if err != nil {
		return false, err
	}
	sum := place.Sum{X: raw.Matrix(y.x.Slice(0, n, 0, n)), D: raw.Matrix(y.d.Slice(0, n, 0, n)), Bits: e.bits,
		Errors: y.err[:n], Rows: y.left, Cols: make([]int64, n), Triangle: 'U', Tally: s.tally}
	if _, err := s.at.Sum(s.config(), sum, raw.Matrix(z)); err != nil {
		return false, err
	}
	if _, left, err := s.at.Extents(s.config(), s.tally); err != nil || left > 0 {
		return false, err
	}
	here, err := z.Host()
	if err != nil {
		return false, err
	}
	s.drop(z)
	r := unscaled(n, n).float64s(raw.Matrix(here), s.floats(n*n))
	fails := make([]bool, n)
	err = s.each(n, func(j int) {
		left := 0.0
		for k := j; k >= 0; k-- {
			v, pivot := r[k+j*n], r[k+k*n]
			left += float64(v * v)
			if k == j {
				fails[j] = fails[j] || !(pivot > 0x1p-400)
				continue
			}
			// Of C.
			shift := 2 * max(-4000, min(t.by.cols[k]-t.by.cols[j], 4000))
			if !(math.Ldexp(left, int(shift)) <= float64(float64(pivot*pivot)*clearly)) {
				fails[j] = true
			}
		}
	})
	return err == nil && !slices.Contains(fails, true), err
}
