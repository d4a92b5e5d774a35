package roots

import (
	"fmt"
	"math/big"

	"github.com/halfulp/halfulp/internal/bigfun"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/proof/call"
)

// Chebyshev returns the nodes, in ascending order, and weights of the rules of n points for the
// weight functions 1/√(1 - x²), kind 1, and √(1 - x²), kind 2, on [-1, 1], rounded to format f:
//
//	kind 1  x_j = sin(a π/(2 n)),        w_j = π/n
//	kind 2  x_j = sin(a π/(2 (n + 1))),  w_j = π/(n + 1) cos²(a π/(2 (n + 1))),  a = 2 j + 1 - n, j = 0, ..., n - 1.
//
// The sine of a rational multiple of π between -π/2 and π/2 is irrational unless it is 0 or ±1/2
// (Niven, 1956). Weights are algebraic multiples of π, so they are transcendental. So intervals
// decide all numbers but these sines.
func Chebyshev(s *call.Run, kind, n int, f num.Format) (nodes, weights *num.Array, err error) {
	if err := s.Budget.Check(float64(n) * 512); err != nil {
		return nil, nil, fmt.Errorf("%d nodes: %w", n, err)
	}
	nodes, weights = num.New(f, n), num.New(f, n)
	b := int64(2 * n)
	if kind == 2 {
		b += 2
	}
	x, w := make([]rounded, n), make([]rounded, n)
	if err := par.For(s.Ctx, s.Threads, n, func(_, j int) {
		to := newRounder(f)
		a := int64(2*j + 1 - n)
		switch {
		case a == 0:
			x[j] = rounded{value: num.New(f, 1).Scalar(0)}
		case 6*a == b || 6*a == -b:
			x[j] = to.exactly(dyadic{big.NewInt(a / max(a, -a)), -1})
			x[j].exact = false
		default:
			x[j] = enclosedBy(to, func(prec uint) *big.Float { return sine(a, b, prec) })
		}
		w[j] = enclosedBy(to, func(prec uint) *big.Float {
			z := new(big.Float).SetPrec(prec).Quo(bigfun.Pi(prec), new(big.Float).SetInt64(b/2))
			if kind == 2 {
				c := sine(b/2-max(a, -a), b, prec) // cos α = sin(π/2 - α)
				z.Mul(z, c.Mul(c, c))
			}
			return z
		})
	}); err != nil {
		return nil, nil, err
	}
	s.Stage("sines")
	for j := range n {
		nodes.CopyFrom(j, x[j].value.Array(), 0)
		weights.CopyFrom(j, w[j].value.Array(), 0)
		count(s, x[j])
		count(s, w[j])
	}
	return nodes, weights, nil
}

// sine returns sin(a π/b), |a/b| < 1/2, with a relative error below 2^(3-prec): the argument has
// three roundings, and |x cos x| ≤ |sin x| there.
func sine(a, b int64, prec uint) *big.Float {
	t := new(big.Float).SetPrec(prec+8).Mul(bigfun.Pi(prec+8), new(big.Float).SetInt64(a))
	t.Quo(t, new(big.Float).SetInt64(b))
	z, _ := bigfun.SinCos(t, prec+8)
	return z.SetPrec(prec)
}

// enclosedBy rounds a number, which is no number of a format nor halfway between two, from values
// with relative errors below 2^(5-prec).
func enclosedBy(to rounder, value func(prec uint) *big.Float) rounded {
	for prec := uint(to.two.Bits() + 64); ; prec *= 2 {
		lo, hi := around(value(prec), 1, 5-int(prec), prec)
		if z, ok := to.decide(dyadicOf(lo), dyadicOf(hi)); ok {
			return z
		}
	}
}
