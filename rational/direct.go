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
	var best *modular.Echelon
	var fields []*modular.Field
	var tries []*modular.Echelon
	var elements, space []uint64
	for i := 0; len(fields)*primeBits <= bits; i++ {
		s.Plan(float64(bits/primeBits+1-len(fields)) * cost)
		f := modular.Numbered(i)
		rows, err := s.moduloIn(f, g, &elements)
		if err != nil {
			return nil, err
		}
		if best != nil {
			old := slices.Clone(rows)
			for i, k := range best.Order {
				rows[i] = old[k]
			}
		}
		e := f.Crout(rows, g.cols, limit, &space)
		s.Stats.Primes++
		s.Did(cost)
		switch {
		case best == nil:
			best = e
		case len(e.Pivots) > len(best.Pivots), len(e.Pivots) == len(best.Pivots) && slices.Compare(e.Pivots, best.Pivots) < 0:
			for i, k := range e.Order { // rows of G
				e.Order[i] = best.Order[k]
			}
			best, fields, tries = e, nil, nil
		case !slices.Equal(e.Pivots, best.Pivots) || !slices.IsSorted(e.Order[:len(e.Pivots)]) || largest(e.Order[:len(e.Pivots)]) >= len(e.Pivots):
			continue
		}
		fields, tries = append(fields, f), append(tries, e)
	}
	r := len(best.Pivots)
	e := &echelon{pivots: best.Pivots, rows: best.Order[:r], free: best.Free}
	crt := newRemainders(fields)
	det := crt.integer(func(k int) uint64 { return tries[k].Det })
	d := new(big.Int).Abs(det)
	e.x, e.d, e.outside = make([][]*big.Int, len(e.free)), make([]*big.Int, len(e.free)), make([]bool, len(e.free))
	return e, par.For(s.Ctx, s.Threads, len(e.free), func(_, k int) {
		e.d[k] = d
		for _, a := range tries {
			e.outside[k] = e.outside[k] || a.Outside[k]
		}
		if e.outside[k] {
			return
		}
		e.x[k] = make([]*big.Int, r)
		for i := range e.x[k] {
			x := crt.integer(func(p int) uint64 { return fields[p].Mul(tries[p].X[k*r+i], tries[p].Det) })
			if det.Sign() < 0 {
				x.Neg(x)
			}
			e.x[k][i] = x
		}
	})
}

// largest returns the largest of some numbers, at least -1.
func largest(x []int) int {
	z := -1
	for _, v := range x {
		z = max(z, v)
	}
	return z
}
