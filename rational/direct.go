package rational

import (
	"math/big"
	"math/bits"
	"slices"
	"sync"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/proof/modular"
)

// directRoom is the memory of computations modulo some primes, one after the other.
type directRoom struct {
	spaces   []workspace       // of the workers
	tries    []modular.Echelon // by the number of the prime
	accepted []int             // numbers of primes
	fields   []*modular.Field  // of these
	by       []uint64
	integers integers

	words       words
	bits        []int // of minors, by their order
	elimination wordElimination
}

// directRooms keeps the memory between calls: making it takes longer than eliminating a matrix of
// order 5.
var directRooms = sync.Pool{New: func() any { return new(directRoom) }}

// resize makes room for workers and primes.
func (z *directRoom) resize(workers, primes int) {
	for len(z.spaces) < workers {
		z.spaces = append(z.spaces, workspace{})
	}
	for len(z.tries) < primes {
		z.tries = append(z.tries, modular.Echelon{})
	}
}

// directly returns the echelon of G, whose pivots are the leftmost independent columns before
// column limit, by an elimination without fractions or by eliminations modulo primes.
//
// Of these the first prime gives rows R and columns P with a regular submatrix, and their order.
// Other primes eliminate the rows in this order, and are left out unless they choose the same rows
// and columns without exchanges: they divide a leading minor, as few primes do. A prime that finds
// a larger rank, or pivots further left, begins anew. By Cramer's rule the numerators of the
// echelon are minors, as is their denominator, and so are the numbers that the elimination leaves
// in other rows and before pivots. Minors that are 0 modulo all primes, whose product exceeds their
// bound, are 0.
func (s *run) directly(g ints, limit int) (*echelon, error) {
	room := directRooms.Get().(*directRoom)
	defer directRooms.Put(room)
	w := &room.words
	w.load(g)
	if e := room.byWords(limit); e != nil {
		return e, nil
	}
	if isLong(min(g.rows, limit), w.bits) {
		e, _, err := s.eliminate(g, limit)
		return e, err
	}
	bits := largestMinor(w.normsOf(g))
	cost := cube(min(g.rows, g.cols))
	room.accepted, room.fields = room.accepted[:0], room.fields[:0]
	var best *modular.Echelon
	var order []int // rows of w
	for i := 0; len(room.fields)*primeBits <= bits; {
		left := bits/primeBits + 1 - len(room.fields)
		s.Plan(float64(left) * cost)
		if best == nil {
			left = 1
		}
		room.resize(s.workers(left, cost), i+left)
		err := s.each(left, cost, func(worker, k int) {
			w.echelon(modular.Numbered(i+k), limit, &room.spaces[worker], &room.tries[i+k])
		})
		if err != nil {
			return nil, err
		}
		for end := i + left; i < end; {
			f, e := modular.Numbered(i), &room.tries[i]
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
				best, order = e, slices.Clone(e.Order)
				room.accepted, room.fields = append(room.accepted[:0], i-1), append(room.fields[:0], f)
				break // other primes eliminated the rows in another order
			}
			if slices.Equal(e.Pivots, best.Pivots) && slices.IsSorted(pivots) && largest(pivots) < len(pivots) {
				room.accepted, room.fields = append(room.accepted, i-1), append(room.fields, f)
			}
		}
	}
	return s.combined(room, best, order)
}

// combined returns the echelon with the pivots of best, and rows in the given order, whose residues
// are the ones of the accepted primes.
func (s *run) combined(room *directRoom, best *modular.Echelon, order []int) (*echelon, error) {
	r := len(best.Pivots)
	e := &echelon{pivots: slices.Clone(best.Pivots), rows: order[:r], free: slices.Clone(best.Free)}
	e.outside = make([]bool, len(e.free))
	crt := newRemainders(room.fields)
	room.by = room.by[:0]
	for i, k := range room.accepted {
		try := &room.tries[k]
		for k, x := range try.Outside {
			e.outside[k] = e.outside[k] || x
		}
		f := crt.fields[i]
		room.by = append(room.by, f.Value(f.Mul(try.Det, crt.factors[i])))
	}
	// The determinant, and behind it the numerators.
	z := &room.integers
	z.resize(1+r*len(e.free), len(crt.words))
	z.negative[0] = crt.sum(z.at(0), func(p int) uint64 { return room.by[p] })
	cost := float64(len(room.fields)*len(room.fields)*r) / 4 // of a column
	err := s.shared(len(e.free), cost, func(_, k int) {
		for i := k * r; i < (k+1)*r; i++ {
			if e.outside[k] {
				clear(z.at(1 + i))
				continue
			}
			negative := crt.sum(z.at(1+i), func(p int) uint64 {
				return crt.fields[p].Mul(room.tries[room.accepted[p]].X[i], room.by[p])
			})
			z.negative[1+i] = negative != z.negative[0]
		}
	})
	if err != nil {
		return nil, err
	}
	z.negative[0] = false
	e.setIntegers(z.pack())
	return e, nil
}

// directDet returns the determinant of a square matrix by the methods of directly.
func (s *run) directDet(a ints) (*big.Int, error) {
	room := directRooms.Get().(*directRoom)
	defer directRooms.Put(room)
	n, w := a.rows, &room.words
	w.load(a)
	if det := room.determinantByWords(); det != nil {
		return det, nil
	}
	if isLong(n, w.bits) {
		e, det, err := s.eliminate(a, n)
		if err == nil && len(e.pivots) < n {
			det = new(big.Int)
		}
		return det, err
	}
	count := hadamard(w.normsOf(a))/primeBits + 1
	s.Plan(float64(count) * cube(n))
	room.resize(s.workers(count, cube(n)), 0)
	room.fields, room.by = room.fields[:0], room.by[:0]
	for i := range count {
		room.fields, room.by = append(room.fields, modular.Numbered(i)), append(room.by, 0)
	}
	crt := newRemainders(room.fields)
	err := s.each(count, cube(n), func(worker, k int) {
		space, f := &room.spaces[worker], room.fields[k]
		if e := w.echelon(f, n, space, &space.echelon); len(e.Pivots) == n {
			if room.by[k] = f.Value(f.Mul(e.Det, crt.factors[k])); e.Odd && room.by[k] > 0 {
				room.by[k] = f.P - room.by[k]
			}
		}
	})
	if err != nil {
		return nil, err
	}
	z := &room.integers
	z.resize(1, len(crt.words))
	z.negative[0] = crt.sum(z.at(0), func(p int) uint64 { return room.by[p] })
	return &z.pack()[0], nil
}

// integers are some integers side by side, each of the same number of words.
type integers struct {
	each     int
	words    []uint64 // magnitudes
	negative []bool
}

func (z *integers) resize(count, each int) {
	z.each = each
	if cap(z.words) < count*each {
		z.words = make([]uint64, count*each)
	}
	if cap(z.negative) < count {
		z.negative = make([]bool, count)
	}
	z.words, z.negative = z.words[:count*each], z.negative[:count]
}

// at returns the words of integer i.
func (z *integers) at(i int) []uint64 { return z.words[i*z.each : (i+1)*z.each] }

// pack returns the integers in memory of their own, allocated at once.
func (z *integers) pack() []big.Int {
	total := 0
	for i := range z.negative {
		total += (num.BitLen(z.at(i)) + bits.UintSize - 1) / bits.UintSize
	}
	words, x := make([]big.Word, 0, total), make([]big.Int, len(z.negative))
	for i, negative := range z.negative {
		from, left := len(words), num.BitLen(z.at(i))
		for _, w := range z.at(i) {
			for h := 0; h < 64 && left > 0; h += bits.UintSize {
				words = append(words, big.Word(w>>h))
				left -= bits.UintSize
			}
		}
		x[i].SetBits(words[from:len(words):len(words)])
		if negative {
			x[i].Neg(&x[i])
		}
	}
	return x
}

// aloneCost is the work, in multiplications, below which one worker serves: some 100 microseconds,
// in which several workers would hardly have begun. It is an estimate.
const aloneCost = 1 << 16

// workers returns the number of workers for a number of tasks of the given cost.
func (s *run) workers(count int, cost float64) int {
	if float64(count)*cost < aloneCost {
		return 1
	}
	return max(1, s.Threads)
}

// shared calls f for all tasks k below count, which have the given cost, with workers.
func (s *run) shared(count int, cost float64, f func(worker, k int)) error {
	return par.For(s.Ctx, s.workers(count, cost), count, f)
}

// each calls f for all primes k below count on several threads, and reports their cost.
func (s *run) each(count int, cost float64, f func(worker, k int)) error {
	workers := s.workers(count, cost)
	for first := 0; first < count; {
		some := min(count-first, 16*workers)
		if err := par.For(s.Ctx, workers, some, func(worker, k int) { f(worker, first+k) }); err != nil {
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
