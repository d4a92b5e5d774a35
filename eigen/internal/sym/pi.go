package sym

import (
	"math/big"

	"github.com/halfulp/halfulp/internal/proof/interval"
)

// quarterPi encloses π/4 = 4 arctan(1/5) - arctan(1/239) (Machin, 1706), with an error below 2^-p.
func quarterPi(p interval.Prec) interval.Interval {
	unit := uint(p) + 64
	x := arctan(5, unit)
	x.Sub(x.Lsh(x, 2), arctan(239, unit))
	// Terms of arctan(1/5) are below 2^-4.6k, each of them lost less than two units. So x is in
	// error by at most 4 (2 (unit/4.6 + 1) + 1) + 2 (unit/15 + 1) + 1 units.
	lost := big.NewInt(2*int64(unit) + 20)
	end := func(z *big.Float, x *big.Int) *big.Float { return z.SetMantExp(z.SetInt(x), -int(unit)) }
	return interval.Interval{Lo: end(p.Down(), new(big.Int).Sub(x, lost)), Hi: end(p.Up(), new(big.Int).Add(x, lost))}
}

// arctan returns arctan(1/q) 2^bits, Σ (-1)^k 2^bits / ((2k+1) q^(2k+1)), with each term cut.
func arctan(q int64, bits uint) *big.Int {
	sum, term := new(big.Int), new(big.Int).Lsh(big.NewInt(1), bits)
	term.Quo(term, big.NewInt(q))
	square, divisor, part := big.NewInt(q*q), new(big.Int), new(big.Int)
	for k := int64(0); term.Sign() != 0; k++ {
		part.Quo(term, divisor.SetInt64(2*k+1))
		if k%2 == 0 {
			sum.Add(sum, part)
		} else {
			sum.Sub(sum, part)
		}
		term.Quo(term, square)
	}
	return sum
}
