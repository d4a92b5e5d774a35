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

// primePowers holds known residues of A^e modulo primes.
type primePowers struct {
	s        *call.Run
	a        num.Mat
	e        int
	top, low int64               // |a_ij| < 2^top, and all a_ij are multiples of 2^low
	first    [][]uint64          // A^e modulo the first prime; nil: not known yet
	tried    map[position]string // the t of suspects that recurring has not proved
}

func newPrimePowers(s *call.Run, a num.Mat, e int) *primePowers {
	top, low := ziv.SpanOn(s.Threads, a)
	return &primePowers{s: s, a: a, e: e, top: top, low: low, tried: map[position]string{}}
}

// mostProofCost bounds the cost of a proof modulo primes, in modular multiplications: some minutes.
// A more expensive proof is replaced by enclosures in more bits.
const mostProofCost = 1 << 36

// prove returns the suspects that are proved to equal t. Others may equal t too, if a proof would
// take too long.
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

// chosenFrom returns the suspects for which is returns true.
func chosenFrom(x []powerSuspect, is func(powerSuspect) bool) (z []powerSuspect) {
	for _, s := range x {
		if is(s) {
			z = append(z, s)
		}
	}
	return z
}

// bits bounds the bits of the integer |2^-k ((A^e)_ij - t)|, for the k that makes all terms
// integers. The integer is 0 if it is divisible by primes whose product has more bits.
func (p *primePowers) bits(s powerSuspect) float64 {
	if !s.known {
		return math.Inf(1)
	}
	low := float64(float64(p.low) * float64(p.e))
	if s.t.Sign() != 0 {
		low = min(low, float64(s.t.MantExp(nil)-int(s.t.MinPrec())))
	}
	// Beyond 2^52 no proof is affordable.
	if math.Abs(low) >= 1<<52 || s.top >= 1<<52 || s.top <= -1<<52 {
		return math.Inf(1)
	}
	return max(0, float64(s.top)-low)
}

// directCost is the cost of A^e modulo the primes that a proof of all suspects takes.
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

// longestStep bounds the steps of recurrences. The zeros of a linear recurrence are a finite set
// and all k in some residue classes modulo a step (theorem of Skolem, Mahler and Lech). The step is
// the order of a root of unity that is a quotient of eigenvalues: usually 2, 3, 4, 6 or 8.
const longestStep = 24

// recurring returns the suspects that are proved to equal t because (A^k)_ij = t for all k in a
// residue class modulo a step, from some k on. It stops before the cost exceeds most.
//
// Let B = A^m and x_q = (A^k B^q)_ij - t. By the Cayley-Hamilton theorem for B, and for the 1 x 1
// matrix 1, the x_q satisfy a linear recurrence over the n + 1 preceding terms: x_q+n+1 = Σ c_i
// x_q+i. If n + 1 consecutive terms are 0, all following terms are 0. For t = 0, n consecutive
// terms suffice. These terms have far fewer bits than A^e, so few primes prove them.
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

// tieBits is bits for the terms up to A^last and a t that is not 0.
func (p *primePowers) tieBits(s powerSuspect, last int) float64 {
	per := p.top + int64(mathbits.Len(uint(p.a.Rows)))
	high := max(float64(per)*float64(last), float64(per), float64(s.t.MantExp(nil)))
	low := min(float64(p.low)*float64(last), float64(p.low), float64(s.t.MantExp(nil)-int(s.t.MinPrec())))
	return high + 2 - low
}

// terms returns the suspects whose entries of A^k, A^(k+m), ..., in number terms, equal t modulo a
// prime.
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
