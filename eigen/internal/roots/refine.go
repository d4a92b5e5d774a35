package roots

import (
	"context"
	"math/big"
)

// A refiner narrows a bracket.
type refiner struct {
	bracket
	values *valuer
	split  uint       // the next step tries to divide the width by 2^split
	lo, hi *big.Float // approximate values at the ends; nil if unknown
}

func newRefiner(b bracket, p poly) *refiner {
	return &refiner{bracket: b, values: newValuer(p), split: 2}
}

// ends returns the ends of the bracket; their exponents count from 2^0.
func (r *refiner) ends() (lo, hi dyadic) {
	lo = dyadic{r.m, -int64(r.k)}
	if r.exact {
		return lo, lo
	}
	return lo, dyadic{new(big.Int).Add(r.m, big.NewInt(1)), lo.e}
}

// value returns the sign and the value at m / 2^k. If that is the root, it becomes the bracket.
func (r *refiner) value(m *big.Int, k int) (sign int, value *big.Float) {
	sign, value = r.values.at(m, k)
	if sign == 0 {
		r.m, r.k, r.exact = m, k, true
	}
	return sign, value
}

// step divides the width by 2^split, where split grows as long as this succeeds, or by 2
// (quadratic interval refinement). The secant through the ends suggests the part with the root;
// the signs at both ends of that part prove it.
func (r *refiner) step() {
	one := big.NewInt(1)
	hi := new(big.Int).Add(r.m, one)
	if r.lo == nil {
		_, r.lo = r.values.at(r.m, r.k)
	}
	if r.hi == nil {
		_, r.hi = r.values.at(hi, r.k)
	}
	if r.lo == nil || r.hi == nil || r.split < 2 { // another root at an end
		r.bisect()
		r.split = 2
		return
	}
	k := r.k + int(r.split)
	parts := new(big.Int).Lsh(one, r.split)
	// j = 2^split lo / (lo - hi), rounded to nearest, from 0 to 2^split.
	w := r.split + 64
	at := new(big.Float).SetPrec(w).Sub(r.lo, r.hi)
	at.Quo(new(big.Float).SetPrec(w).Set(r.lo), at)
	at.SetMantExp(at, int(r.split))
	j, _ := at.Add(at, big.NewFloat(0.5)).Int(nil)
	if j.Sign() < 0 {
		j.SetInt64(0)
	}
	if j.Cmp(parts) > 0 {
		j.Set(parts)
	}
	first := new(big.Int).Lsh(r.m, r.split)
	sign, value := r.sign, r.lo
	switch {
	case j.Sign() == 0:
	case j.Cmp(parts) == 0:
		sign, value = -r.sign, r.hi
	default:
		if sign, value = r.value(new(big.Int).Add(first, j), k); sign == 0 {
			return
		}
	}
	// The root lies above part j if sign is its sign there.
	next := new(big.Int).Set(j)
	below := sign != r.sign
	if below {
		next.Sub(next, one)
	} else {
		next.Add(next, one)
	}
	other, otherValue := -r.sign, r.hi
	switch {
	case next.Sign() == 0:
		other, otherValue = r.sign, r.lo
	case next.Cmp(parts) == 0:
	default:
		if other, otherValue = r.value(new(big.Int).Add(first, next), k); other == 0 {
			return
		}
	}
	switch {
	case other == sign: // the root is elsewhere
		r.split /= 2
		if r.split < 2 {
			r.bisect()
			r.split = 2
		}
	case below:
		r.m, r.k, r.lo, r.hi = first.Add(first, next), k, otherValue, value
		r.split *= 2
	default:
		r.m, r.k, r.lo, r.hi = first.Add(first, j), k, value, otherValue
		r.split *= 2
	}
}

// bisect halves the bracket.
func (r *refiner) bisect() {
	m := new(big.Int).Lsh(r.m, 1)
	middle := new(big.Int).Add(m, big.NewInt(1))
	sign, value := r.value(middle, r.k+1)
	switch {
	case sign == 0:
		return
	case sign == r.sign:
		r.m, r.lo = middle, value
	default:
		r.m, r.hi = m, value
	}
	r.k++
}

// round narrows the bracket until the root, times 2^by and of the opposite sign if neg is set, can
// be rounded.
func (r *refiner) round(ctx context.Context, to rounder, neg bool, by int64) (rounded, error) {
	for {
		if err := ctx.Err(); err != nil {
			return rounded{}, err
		}
		lo, hi := r.ends()
		lo.e += by
		hi.e += by
		if neg {
			lo, hi = dyadic{new(big.Int).Neg(hi.m), hi.e}, dyadic{new(big.Int).Neg(lo.m), lo.e}
		}
		if r.exact {
			return to.exactly(lo), nil
		}
		if z, ok := to.decide(lo, hi); ok {
			return z, nil
		}
		r.step()
	}
}
