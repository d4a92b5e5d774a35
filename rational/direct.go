package rational

import (
	"math/big"
	"slices"

	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/proof/modular"
)

// directly returns the echelon of G, whose pivots are the leftmost independent columns before
// column limit, by eliminations modulo primes.
//
// The first prime gives rows R and columns P with a regular submatrix, and their order. Other
// primes eliminate the rows in this order, and are left out unless they choose the same rows and
// columns without exchanges: they divide a leading minor, as few primes do. A prime that finds a
// larger rank, or pivots further left, begins anew. By Cramer's rule the numerators of the echelon
// are minors, as is their denominator, and so are the numbers that the elimination leaves in other
// rows and before pivots. Minors that are 0 modulo all primes, whose product exceeds their bound,
// are 0.
func (s *run) directly(g ints, limit int) (*echelon, error) {
	bits := g.largestMinor()
	cost := cube(min(g.rows, g.cols))
	w := g.words()
	spaces := make([]workspace, max(1, s.Threads))
	var best *modular.Echelon
	var order []int // rows of w
	var fields []*modular.Field
	var tries []*modular.Echelon
	for i := 0; len(fields)*primeBits <= bits; {
		left := bits/primeBits + 1 - len(fields)
		s.Plan(float64(left) * cost)
		if best == nil {
			left = 1
		}
		found := make([]*modular.Echelon, left)
		err := s.each(left, cost, func(worker, k int) {
			found[k] = w.echelon(modular.Numbered(i+k), limit, &spaces[worker])
		})
		if err != nil {
			return nil, err
		}
		for _, e := range found {
			f := modular.Numbered(i)
			i++
			pivots := e.Order[:len(e.Pivots)]
			if best == nil || len(e.Pivots) > len(best.Pivots) || len(e.Pivots) == len(best.Pivots) && slices.Compare(e.Pivots, best.Pivots) < 0 {
				if !slices.IsSorted(e.Order) {
					w = w.permuted(e.Order)
				}
				if order != nil {
					for i, k := range e.Order {
						e.Order[i] = order[k]
					}
				}
				best, order = e, e.Order
				fields, tries = append(fields[:0], f), append(tries[:0], e)
				break // other primes eliminated the rows in another order
			}
			if slices.Equal(e.Pivots, best.Pivots) && slices.IsSorted(pivots) && largest(pivots) < len(pivots) {
				fields, tries = append(fields, f), append(tries, e)
			}
		}
	}
	r := len(best.Pivots)
	e := &echelon{pivots: best.Pivots, rows: order[:r], free: best.Free}
	crt := newRemainders(fields)
	det := crt.integer(func(k int) uint64 { return tries[k].Det })
	d := new(big.Int).Abs(det)
	e.x, e.d, e.outside = make([][]*big.Int, len(e.free)), make([]*big.Int, len(e.free)), make([]bool, len(e.free))
	for k := range e.free {
		e.d[k] = d
		for _, a := range tries {
			e.outside[k] = e.outside[k] || a.Outside[k]
		}
		if !e.outside[k] {
			e.x[k] = make([]*big.Int, r)
		}
	}
	return e, par.For(s.Ctx, s.Threads, r, func(_, i int) {
		for k, x := range e.x {
			if x != nil {
				y := crt.integer(func(p int) uint64 { return fields[p].Mul(tries[p].X[k*r+i], tries[p].Det) })
				x[i] = signed(y, det.Sign() < 0)
			}
		}
	})
}

// each calls f for all primes k below count on several threads, and reports their cost.
func (s *run) each(count int, cost float64, f func(worker, k int)) error {
	for first := 0; first < count; {
		some := min(count-first, 16*max(1, s.Threads))
		err := par.For(s.Ctx, s.Threads, some, func(worker, k int) { f(worker, first+k) })
		if err != nil {
			return err
		}
		first += some
		s.Stats.Primes += some
		s.Did(float64(some) * cost)
	}
	return nil
}

// largest returns the largest of some numbers, at least -1.
func largest(x []int) int {
	z := -1
	for _, v := range x {
		z = max(z, v)
	}
	return z
}
