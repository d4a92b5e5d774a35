package rational

import (
	"math/big"

	"github.com/halfulp/halfulp/internal/proof/modular"
)

// directKrylov is byKrylov for order up to modular.MostCross, modulo primes of 61 bits.
func (s *run) directKrylov(w *words, bits int) ([]*big.Int, error) {
	n := w.rows
	if n == 0 {
		return nil, nil
	}
	room := directRooms.Get().(*directRoom)
	defer directRooms.Put(room)
	room.accepted, room.fields = room.accepted[:0], room.fields[:0]
	for i := 0; len(room.fields)*primeBits <= bits; {
		some := bits/primeBits + 1 - len(room.fields)
		s.Plan(float64(some) * cube(n))
		if i == 0 {
			some = 1
		}
		room.resize(s.workers(some, cube(n)), i+some)
		err := s.each(some, cube(n), func(worker, k int) {
			w.krylov(modular.Numbered(i+k), &room.spaces[worker], &room.tries[i+k])
		})
		if err != nil {
			return nil, err
		}
		for range some {
			if len(room.tries[i].Pivots) == n {
				room.accepted, room.fields = append(room.accepted, i), append(room.fields, modular.Numbered(i))
			}
			i++
		}
		if i > len(room.fields)+i/8+1 || len(room.fields) == 0 {
			return nil, nil
		}
	}
	crt := newRemainders(room.fields)
	z := &room.integers
	z.resize(n+1, len(crt.words))
	for i := range n {
		z.negative[i] = crt.sum(z.at(i), func(p int) uint64 {
			return crt.fields[p].Value(crt.fields[p].Mul(room.tries[room.accepted[p]].X[i], crt.factors[p]))
		})
	}
	clear(z.at(n))
	z.at(n)[0], z.negative[n] = 1, false
	all, c := z.pack(), make([]*big.Int, n+1)
	for i := range c {
		c[i] = &all[i]
	}
	return c, nil
}

// krylov stores the first n coefficients of the characteristic polynomial modulo f's prime in e.X,
// as powerBasis.polynomial returns them, if e has n pivots. It computes with A / 2^64, as residues
// returns it.
func (w *words) krylov(f *modular.Field, space *workspace, e *modular.Echelon) {
	n := w.rows
	if need := n * (2*n + 3); len(space.elements) < need {
		space.elements = make([]uint64, need)
	}
	a, k, v, next := space.elements[:n*n], space.elements[n*n:n*(2*n+1)], space.elements[n*(2*n+1):n*(2*n+2)], space.elements[n*(2*n+2):n*(2*n+3)]
	w.residues(f, a)
	for i := range v { // any numbers
		v[i] = f.Residue(uint64(i+1) * 0x9e3779b97f4a7c15)
		k[i*(n+1)] = v[i]
	}
	for j := range n {
		for i := range v {
			next[i] = f.Dot(a[i*n:(i+1)*n], v)
			k[i*(n+1)+j+1] = next[i]
		}
		v, next = next, v
	}
	if f.Cross(k, n, n+1, n, e); len(e.Pivots) < n {
		return
	}
	by, power := f.Power64(1), f.One
	for i := n - 1; i >= 0; i-- { // of 2^64 times the matrix
		power = f.Mul(power, by)
		e.X[i] = f.Mul(f.Sub(0, e.X[i]), power)
	}
}
