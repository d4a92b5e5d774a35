package factors

import (
	"math"
	"slices"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/scale"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/proof/ziv"
)

// gathered returns the rows of a matrix in MP at the run's place in the given order.
func gathered(s *call.Run, a num.Mat, order []int) (num.Mat, error) {
	z, err := s.Room(a.Format(), a.Rows, a.Cols)
	if err != nil {
		return num.Mat{}, err
	}
	rows := make([]int32, len(order))
	for i, row := range order {
		rows[i] = int32(row)
	}
	return z, s.Gather(a, rows, z)
}

// longestFirst is seed.Pivots64 for a symmetric matrix at the run's place.
func longestFirst(s *call.Run, a num.Mat) ([]int, error) {
	n := a.Rows
	diagonal, err := diagonalHere(s, a)
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
	f, err := s.Scaled(a, scale.Scaling{Rows: exps, Cols: exps}, bound.MaxBits)
	if err != nil || f.Arr == nil {
		return nil, err
	}
	zeros, err := s.Matrix(num.Precision(24), n, n)
	if err != nil {
		return nil, err
	}
	near, err := s.Matrix(num.Float64, n, n)
	if err != nil {
		return nil, err
	}
	sum := place.Sum{X: f, D: zeros, Bits: f.Format().Bits(), Tally: s.Tally}
	if _, err := s.SumThere(sum, near); err != nil {
		return nil, err
	}
	here, err := place.On(nil, near)
	if err != nil {
		return nil, err
	}
	s.Drop(f, zeros, near)
	return seed.Longest64(s, scale.Unscaled(n, n).Float64s(here, s.Floats(n*n)), exps)
}

// longestThere reports whether the square of each R[k,k] exceeds the remaining squared length of
// every later column, Σ R[i,j]^2 for k ≤ i ≤ j, by a factor of at least 1 / (1 - 2^-30). Then an
// elimination whose diagonals have relative errors of at most 2^-33 takes these pivots.
//
// The sums are computed from n < 2^20 float64 numbers, the rounded entries of the factor of F.
// Their relative errors are at most (n + 4) 2^-53 < 2^-32, plus less than 2^-1000 where squares
// underflow.
func (t *CholeskyNewton) longestThere(e *ziv.Enclosure) (bool, error) {
	n, y, s := t.N, e.Root, t.S
	z, err := s.Matrix(num.Float64, n, n)
	if err != nil {
		return false, err
	}
	sum := place.Sum{X: y.X.Slice(0, n, 0, n), D: y.D.Slice(0, n, 0, n), Bits: e.Bits,
		Errors: y.Err[:n], Rows: y.Left, Cols: make([]int64, n), Triangle: 'U', Tally: s.Tally}
	if _, err := s.SumThere(sum, z); err != nil {
		return false, err
	}
	if left, err := s.Tallied(); err != nil || left > 0 {
		return false, err
	}
	here, err := place.On(nil, z)
	if err != nil {
		return false, err
	}
	s.Drop(z)
	r := scale.Unscaled(n, n).Float64s(here, s.Floats(n*n))
	fails := make([]bool, n)
	err = par.Each(s.Ctx, s.Threads, n, func(j int) {
		left := 0.0
		for k := j; k >= 0; k-- {
			v, pivot := r[k+j*n], r[k+k*n]
			left += float64(v * v)
			if k == j {
				fails[j] = fails[j] || !(pivot > 0x1p-400)
				continue
			}
			// The sum for C.
			shift := 2 * max(-4000, min(t.by.Cols[k]-t.by.Cols[j], 4000))
			if !(math.Ldexp(left, int(shift)) <= float64(float64(pivot*pivot)*seed.Clearly)) {
				fails[j] = true
			}
		}
	})
	return err == nil && !slices.Contains(fails, true), err
}
