package bigfun

import (
	"math"
	"math/big"
	"math/bits"
)

// Gamma returns Γ(x) for 0 < x < 2^21. It takes time proportional to x + prec.
//
// The argument is moved to 1 ≤ y < 2 by Γ(y + 1) = y Γ(y). There
//
//	Γ(y) = N^y e^-N Σ N^k / (y (y + 1) ... (y + k)) + Γ(y, N),  k = 0, 1, ...
//
// (NIST Handbook, section 8.7), and 0 < Γ(y, N) ≤ 2 N e^-N for N ≥ 2, since y - 1 ≤ 1. All terms
// are positive. With N ≥ (prec + 32) ln 2 the rest is below 2.3 N 2^-32 2^-prec Γ(y), as Γ(y) >
// 0.88. For k ≥ 2 N a term is less than half of the one before, so the terms left out are less than
// the last one.
func Gamma(x *big.Float, prec uint) *big.Float {
	n := int64(math.Ceil(float64(float64(prec+32)*math.Ln2))) + 2
	p := prec + guard + uint(2*bits.Len64(uint64(n)))
	exactly := number(max(exact, p, x.Prec()+64))
	y, factor := exactly.Set(x), number(p+32).SetInt64(1)
	one := integer(1, p)
	below := y.Cmp(one) < 0
	if below {
		factor.Quo(one, y)
		y.Add(y, one)
	}
	for y.Cmp(integer(2, p)) >= 0 {
		y.Sub(y, one)
		factor.Mul(factor, y)
	}
	if y.Cmp(one) == 0 {
		return number(p).Set(factor)
	}
	if y.Cmp(big.NewFloat(1.5)) == 0 {
		root := number(p).Sqrt(number(p).Set(Pi(p)))
		return root.Mul(scale(root, -1), factor)
	}
	step := integer(n, p)
	term, sum := number(p).Quo(one, y), number(p)
	for k, z := int64(1), number(max(exact, x.Prec()+64)).Set(y); k <= 2*n || term.MantExp(nil) > sum.MantExp(nil)-int(p); k++ {
		sum.Add(sum, term)
		term.Mul(term, step)
		term.Quo(term, z.Add(z, one))
	}
	// N^y e^-N = e^(y ln N - N): an error of the exponent is a relative error of the power.
	w := p + uint(bits.Len64(uint64(n)))
	e := number(w+32).Mul(y, Log(integer(n, w), w))
	e.Sub(e, integer(n, w))
	sum.Mul(sum, Exp(e, p))
	return sum.Mul(sum, factor)
}
