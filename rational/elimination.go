package rational

import (
	"math/big"

	"github.com/halfulp/halfulp/internal/par"
)

// echelon represents the columns of an m x n matrix G of integers by columns that are independent.
type echelon struct {
	rows, pivots []int        // a regular submatrix of order r, the rank of the first columns
	free         []int        // the other columns
	x            [][]*big.Int // column free[k] is ∑ x[k][i] / d[k] times column pivots[i]
	d            []*big.Int   // positive
	// outside says that column free[k], which is none of the first columns, is no such sum: x[k] is
	// nil.
	outside []bool
}

// eliminate returns the echelon of G, whose pivots are the leftmost independent columns before
// column limit, by an elimination without fractions: with the pivot a_kl, and c the pivot before
// it,
//
//	a_ij <- (a_kl a_ij - a_il a_kj) / c, i ≠ k,
//
// is an integer, a minor of G (Bareiss, 1968), and after all pivots every pivot column is the last
// pivot times a unit vector. det is that pivot with the sign of the row exchanges, 1 without
// pivots.
func (s *run) eliminate(g ints, limit int) (e *echelon, det *big.Int, err error) {
	a := newInts(g.rows, g.cols)
	order := make([]int, g.rows)
	for i := range order {
		order[i] = i
	}
	for k, x := range g.a {
		a.a[k] = new(big.Int)
		if x != nil {
			a.a[k].Set(x)
		}
	}
	e = &echelon{}
	last, negative := one, false
	for j := range limit {
		r := len(e.pivots)
		k := -1
		for i := r; i < a.rows; i++ { // the shortest pivot
			if x := a.at(i, j); x.Sign() != 0 && (k < 0 || x.BitLen() < a.at(k, j).BitLen()) {
				k = i
			}
		}
		if k < 0 {
			e.free = append(e.free, j)
			continue
		}
		if k != r {
			x, y := a.row(k), a.row(r)
			for c := range x {
				x[c], y[c] = y[c], x[c]
			}
			order[k], order[r] = order[r], order[k]
			negative = !negative
		}
		e.pivots = append(e.pivots, j)
		pivot := new(big.Int).Set(a.at(r, j))
		row := a.row(r)
		threads := s.Threads
		if a.rows*a.cols < 256 {
			threads = 1
		}
		err := par.Each(s.Ctx, threads, a.rows, func(i int) {
			if i == r {
				return
			}
			by := new(big.Int).Set(a.at(i, j))
			t := new(big.Int)
			for c, x := range a.row(i) {
				if c < j && i > r { // zeros
					continue
				}
				if x.Sign() != 0 {
					x.Mul(x, pivot)
				}
				if by.Sign() != 0 && row[c].Sign() != 0 {
					x.Sub(x, t.Mul(by, row[c]))
				}
				if x.Sign() != 0 && last != one {
					x.Quo(x, last)
				}
			}
		})
		if err != nil {
			return nil, nil, err
		}
		last = pivot
	}
	for j := limit; j < g.cols; j++ {
		e.free = append(e.free, j)
	}
	r := len(e.pivots)
	e.rows = order[:r]
	det = new(big.Int).Set(last)
	if negative {
		det.Neg(det)
	}
	for _, j := range e.free {
		var x []*big.Int
		outside := false
		for i := r; i < a.rows; i++ {
			outside = outside || a.at(i, j).Sign() != 0
		}
		if !outside {
			x = make([]*big.Int, r)
			for i := range x {
				if x[i] = a.at(i, j); last.Sign() < 0 {
					x[i].Neg(x[i])
				}
			}
		}
		e.x, e.d, e.outside = append(e.x, x), append(e.d, new(big.Int).Abs(last)), append(e.outside, outside)
	}
	return e, det, nil
}
