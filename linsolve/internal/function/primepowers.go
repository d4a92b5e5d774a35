package function

import (
	"math"
	mathbits "math/bits"
	"slices"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/modular"
	"github.com/halfulp/halfulp/internal/proof/ziv"
)

// primePowers are what is known of A^e modulo primes.
type primePowers struct {
	s        *call.Run
	a        num.Mat
	e        int
	top, low int64               // |a_ij| < 2^top, all of them multiples of 2^low
	first    [][]uint64          // A^e modulo the first prime, nil: not known yet
	tried    map[position]string // the t of suspects that are no terms of a recurrence of zeros
}

func newPrimePowers(s *call.Run, a num.Mat, e int) *primePowers {
	top, low := ziv.Span(a)
	return &primePowers{s: s, a: a, e: e, top: top, low: low, tried: map[position]string{}}
}

// mostProofCost bounds what a proof modulo primes may cost, in multiplications modulo one: some
// minutes. More bits of the enclosures come next in its place.
const mostProofCost = 1 << 36

// prove returns the suspects that are proved to be t. Others may be, too, if a proof would take
// too long.
func (p *primePowers) prove(suspects []powerSuspect) (proved []powerSuspect, err error) {
	f := modular.New(modular.Prime(0))
	if p.first == nil {
		if p.first, err = p.power(f, p.e); err != nil {
			return nil, err
		}
		p.s.Stats.Primes++
	}
	same := func(f *modular.Field, power [][]uint64) func(s powerSuspect) bool {
		return func(s powerSuspect) bool { return power[s.row][s.col] == f.Rational(s.t) }
	}
	suspects = chosenFrom(suspects, same(f, p.first))
	cost := p.directCost(suspects)
	if proved, err = p.recurring(suspects, cost); err != nil {
		return nil, err
	}
	suspects = chosenFrom(suspects, func(s powerSuspect) bool {
		return !slices.ContainsFunc(proved, func(t powerSuspect) bool { return s.position == t.position })
	})
	if len(suspects) == 0 || p.directCost(suspects) > mostProofCost {
		return proved, nil
	}
	need := 0.0
	for _, s := range suspects {
		need = max(need, p.bits(s))
	}
	for i, have := 1, 60.0; have < need && len(suspects) > 0; i, have = i+1, have+60 {
		f := modular.New(modular.Prime(i))
		power, err := p.power(f, p.e)
		if err != nil {
			return nil, err
		}
		p.s.Stats.Primes++
		suspects = chosenFrom(suspects, same(f, power))
	}
	return append(proved, suspects...), nil
}

// chosenFrom returns those that are chosen.
func chosenFrom(x []powerSuspect, is func(powerSuspect) bool) (z []powerSuspect) {
	for _, s := range x {
		if is(s) {
			z = append(z, s)
		}
	}
	return z
}

// bits returns a number of bits that |2^-k ((A^e)_ij - t)| does not have, an integer for the k that
// makes all terms integers: it is 0 if primes of more bits divide it.
func (p *primePowers) bits(s powerSuspect) float64 {
	if !s.known {
		return math.Inf(1)
	}
	low := float64(float64(p.low) * float64(p.e))
	if s.t.Sign() != 0 {
		low = min(low, float64(s.t.MantExp(nil)-int(s.t.MinPrec())))
	}
	// Of 2^53 and more nothing is small enough to be proved.
	if math.Abs(low) >= 1<<52 || s.top >= 1<<52 || s.top <= -1<<52 {
		return math.Inf(1)
	}
	return max(0, float64(s.top)-low)
}

// directCost is the cost of A^e modulo as many primes as suspects take.
func (p *primePowers) directCost(suspects []powerSuspect) (cost float64) {
	for _, s := range suspects {
		cost = max(cost, float64(p.bits(s)/60*p.powerCost(p.e)))
	}
	return cost
}

// powerCost is the cost of A^k modulo a prime.
func (p *primePowers) powerCost(k int) float64 {
	return float64(call.Cube(p.a.Rows) * float64(mathbits.Len(uint(k))+mathbits.OnesCount(uint(k))))
}

// power returns A^k modulo a prime.
func (p *primePowers) power(f *modular.Field, k int) ([][]uint64, error) {
	a, err := f.Matrix(p.s.Ctx, p.s.Threads, p.a)
	if err != nil {
		return nil, err
	}
	return f.MatrixPower(p.s.Ctx, p.s.Threads, a, k)
}

// longestStep bounds the steps of recurrences. Zeros of a linear recurrence are a finite set beside
// those at all k of some residues modulo a step (the theorem of Skolem, Mahler and Lech), which is
// the order of a root of unity that is a quotient of eigenvalues: mostly 2, 3, 4, 6 or 8.
const longestStep = 24

// recurring returns the suspects that are proved to be t because (A^k)_ij = t for all k of a
// residue modulo a step, from some k on, if that costs less than most.
//
// With B = A^m the x_q = (A^k B^q)_ij - t satisfy, by the theorem of Cayley and Hamilton for B and
// for the number 1, a linear recurrence of n + 1 terms before each: x_q+n+1 = Σ c_i x_q+i. If n + 1
// of them in a row are 0 so are all that follow. For t = 0 that is n of them. They have far fewer
// bits than A^e, so that few primes prove it.
func (p *primePowers) recurring(suspects []powerSuspect, most float64) (proved []powerSuspect, err error) {
	n := p.a.Rows
	var open []powerSuspect
	var rows []int
	for _, s := range suspects {
		if t, ok := p.tried[s.position]; ok && t == s.t.Text('p', 0) {
			continue
		}
		open = append(open, s)
		if !slices.Contains(rows, s.row) {
			rows = append(rows, s.row)
		}
	}
	for m := 1; m <= longestStep && len(open) > 0; m++ {
		k := p.e % m
		k += (n - k + m) / m * m // at least n
		if k > p.e {
			continue
		}
		terms := n + 1
		last := k + m*(terms-1)
		need := float64(float64(last) * float64(p.top-p.low+int64(mathbits.Len(uint(n)))))
		for _, s := range open {
			if s.t.Sign() != 0 {
				need = max(need, p.tieBits(s, last))
			}
		}
		once := float64(float64(m)*call.Cube(n)) + p.powerCost(k) + float64(float64(len(rows)*terms)*float64(n*n))
		if cost := float64((need/60 + 1) * once); cost > min(most, mostProofCost) {
			break
		}
		left := open
		for i, have := 0, 0.0; have < need && len(left) > 0; i, have = i+1, have+60 {
			if left, err = p.terms(modular.New(modular.Prime(i)), rows, k, m, terms, left); err != nil {
				return nil, err
			}
			p.s.Stats.Primes++
		}
		proved = append(proved, left...)
		open = chosenFrom(open, func(s powerSuspect) bool {
			return !slices.ContainsFunc(left, func(t powerSuspect) bool { return s.position == t.position })
		})
	}
	for _, s := range open {
		p.tried[s.position] = s.t.Text('p', 0)
	}
	return proved, nil
}

// tieBits is bits for terms up to A^last of t != 0.
func (p *primePowers) tieBits(s powerSuspect, last int) float64 {
	per := p.top + int64(mathbits.Len(uint(p.a.Rows)))
	high := max(float64(per)*float64(last), float64(per), float64(s.t.MantExp(nil)))
	low := min(float64(p.low)*float64(last), float64(p.low), float64(s.t.MantExp(nil)-int(s.t.MinPrec())))
	return high + 2 - low
}

// terms returns the suspects for which the entries of A^k, A^(k+m), ... are t modulo a prime.
func (p *primePowers) terms(f *modular.Field, rows []int, k, m, terms int, suspects []powerSuspect) ([]powerSuspect, error) {
	step, err := p.power(f, m)
	if err != nil {
		return nil, err
	}
	power, err := p.power(f, k)
	if err != nil {
		return nil, err
	}
	at := make(map[int]int, len(rows))
	x := make([][]uint64, len(rows))
	for i, r := range rows {
		at[r], x[i] = i, power[r]
	}
	for q := range terms {
		if q > 0 {
			if x, err = f.Product(p.s.Ctx, p.s.Threads, x, step); err != nil {
				return nil, err
			}
		}
		if suspects = chosenFrom(suspects, func(s powerSuspect) bool { return x[at[s.row]][s.col] == f.Rational(s.t) }); len(suspects) == 0 {
			return nil, nil
		}
	}
	return suspects, nil
}
