package eigen

import (
	"errors"
	"fmt"
	"math/big"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/eigen/internal/roots"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/interval"
)

// GaussLegendre returns the nodes x, in ascending order, and weights w of the Gauss-Legendre rule
// with n points,
//
//	∫ g(x) dx from -1 to 1 = Σ w_i g(x_i)   for all polynomials g of degree up to 2 n - 1.
//
// Every node and weight is the exact one rounded once to format f, ties to even.
//
//	x, w, err := eigen.GaussLegendre(20, halfulp.Float64, nil)
//
// The error wraps halfulp.ErrMemory if the working memory exceeds Options.MemoryLimit.
// Options.Method and Options.Check must be unset. Stats.Undecided counts weights that no interval
// decided with four times the bits of f, which are then likely to be ties; none is known.
// GaussLegendre panics if n is negative.
//
// Method. The nodes are eigenvalues of a tridiagonal matrix (Golub and Welsch, 1969), enclosed as
// by [Tridiagonal], and the weights are products of their differences. The time is proportional to
// n² times the bits of f.
func GaussLegendre(n int, f halfulp.Format, opt *halfulp.Options) (nodes, weights *halfulp.Vector, err error) {
	return gauss("GaussLegendre", n, f, opt, rule(roots.Legendre))
}

// GaussHermite returns the nodes x, in ascending order, and weights w of the Gauss-Hermite rule
// with n points, for the weight function of physics,
//
//	∫ exp(-x²) g(x) dx from -∞ to ∞ = Σ w_i g(x_i)   for all polynomials g of degree up to 2 n - 1.
//
// Every node and weight is the exact one rounded once to format f, ties to even; weights that
// underflow are counted by Stats.Underflow. Errors, method and panics are as for [GaussLegendre],
// but intervals decide all nodes and weights.
func GaussHermite(n int, f halfulp.Format, opt *halfulp.Options) (nodes, weights *halfulp.Vector, err error) {
	return gauss("GaussHermite", n, f, opt, rule(roots.Hermite))
}

// GaussLaguerre returns the nodes x, in ascending order, and weights w of the Gauss-Laguerre rule
// with n points,
//
//	∫ exp(-x) g(x) dx from 0 to ∞ = Σ w_i g(x_i)   for all polynomials g of degree up to 2 n - 1.
//
// Every node and weight is the exact one rounded once to format f, ties to even; weights that
// underflow are counted by Stats.Underflow. Errors, method and panics are as for [GaussLegendre],
// but intervals decide all nodes and weights.
func GaussLaguerre(n int, f halfulp.Format, opt *halfulp.Options) (nodes, weights *halfulp.Vector, err error) {
	return gauss("GaussLaguerre", n, f, opt, rule(roots.Laguerre))
}

// ErrWeightExponent is wrapped by errors about an exponent of a weight function that is infinite,
// NaN, or not greater than -1: the integral of the weight function does not exist.
var ErrWeightExponent = errors.New("exponents of a weight function must be finite and greater than -1")

// GaussGenLaguerre returns the nodes x, in ascending order, and weights w of the generalised
// Gauss-Laguerre rule with n points, for α > -1,
//
//	∫ x^α exp(-x) g(x) dx from 0 to ∞ = Σ w_i g(x_i)   for all polynomials g of degree up to 2 n - 1.
//
// The weights have the sum Γ(α + 1). Every node is the exact one rounded once to format f, ties to
// even. Weights are correctly rounded, but one that no interval decides with more than 4p + 256
// bits, for a format of p bits, becomes the simplest number of its interval, and Stats.Undecided
// counts it. For integers α and n = 1 it is exact; no other is known. Weights that underflow are
// counted by Stats.Underflow.
//
//	x, w, err := eigen.GaussGenLaguerre(20, halfulp.Float(0.5), halfulp.Float64, nil)
//
// The error wraps ErrWeightExponent for an invalid α, and linsolve.ErrRange for one above 2^20 or
// with bits below 2^-4096. Other errors, the method and panics are as for [GaussLegendre]. α = 0 is
// [GaussLaguerre]. Γ is enclosed by an incomplete Gamma function.
func GaussGenLaguerre(n int, alpha halfulp.Scalar, f halfulp.Format, opt *halfulp.Options) (nodes, weights *halfulp.Vector, err error) {
	return gauss("GaussGenLaguerre", n, f, opt, func(s *call.Run, n int, f num.Format) (nodes, weights *num.Array, err error) {
		a, err := exponent("α", alpha)
		if err != nil {
			return nil, nil, err
		}
		return roots.GenLaguerre(s, n, a, f)
	})
}

// GaussJacobi returns the nodes x, in ascending order, and weights w of the Gauss-Jacobi rule with
// n points, for α, β > -1,
//
//	∫ (1-x)^α (1+x)^β g(x) dx from -1 to 1 = Σ w_i g(x_i)   for all polynomials g of degree up to 2 n - 1.
//
// The weights have the sum 2^(α+β+1) Γ(α+1) Γ(β+1) / Γ(α+β+2). Rounding, undecided weights, errors
// and panics are as for [GaussGenLaguerre]; for integers α and β the weight for n = 1 and, if they
// are equal, of the node 0 are exact. α = β = 0, -1/2 and 1/2 are [GaussLegendre],
// [GaussChebyshev1] and [GaussChebyshev2].
//
//	x, w, err := eigen.GaussJacobi(20, halfulp.Float(0.5), halfulp.Float(1), halfulp.Float64, nil)
func GaussJacobi(n int, alpha, beta halfulp.Scalar, f halfulp.Format, opt *halfulp.Options) (nodes, weights *halfulp.Vector, err error) {
	return gauss("GaussJacobi", n, f, opt, func(s *call.Run, n int, f num.Format) (nodes, weights *num.Array, err error) {
		a, err := exponent("α", alpha)
		if err != nil {
			return nil, nil, err
		}
		b, err := exponent("β", beta)
		if err != nil {
			return nil, nil, err
		}
		return roots.Jacobi(s, n, a, b, f)
	})
}

// GaussGegenbauer returns the nodes x, in ascending order, and weights w of the Gauss-Gegenbauer
// rule with n points, for α > -1/2,
//
//	∫ (1-x²)^(α-1/2) g(x) dx from -1 to 1 = Σ w_i g(x_i)   for all polynomials g of degree up to 2 n - 1.
//
// It is [GaussJacobi] for both exponents α - 1/2.
func GaussGegenbauer(n int, alpha halfulp.Scalar, f halfulp.Format, opt *halfulp.Options) (nodes, weights *halfulp.Vector, err error) {
	return gauss("GaussGegenbauer", n, f, opt, func(s *call.Run, n int, f num.Format) (nodes, weights *num.Array, err error) {
		a, err := exponent("α", alpha)
		if err != nil {
			return nil, nil, err
		}
		a = interval.ExactSub(a, big.NewFloat(0.5))
		if a.Cmp(big.NewFloat(-1)) <= 0 {
			return nil, nil, fmt.Errorf("α - 1/2 is %s: %w", a.Text('g', 10), ErrWeightExponent)
		}
		return roots.Jacobi(s, n, a, a, f)
	})
}

// exponent returns an exponent of a weight function.
func exponent(name string, x halfulp.Scalar) (*big.Float, error) {
	if x.IsNaN() || x.IsInf(0) || x.Big().Cmp(big.NewFloat(-1)) <= 0 {
		return nil, fmt.Errorf("%s is %v: %w", name, x, ErrWeightExponent)
	}
	return x.Big(), nil
}

// GaussChebyshev1 returns the nodes x, in ascending order, and weights w of the Gauss-Chebyshev
// rule of the first kind with n points,
//
//	∫ g(x)/√(1 - x²) dx from -1 to 1 = Σ w_i g(x_i)   for all polynomials g of degree up to 2 n - 1,
//
// which are cosines of odd multiples of π/(2 n), and π/n. Every node and weight is the exact one
// rounded once to format f, ties to even. Errors and panics are as for [GaussLegendre].
func GaussChebyshev1(n int, f halfulp.Format, opt *halfulp.Options) (nodes, weights *halfulp.Vector, err error) {
	return gauss("GaussChebyshev1", n, f, opt, chebyshev(1))
}

// GaussChebyshev2 returns the nodes x, in ascending order, and weights w of the Gauss-Chebyshev
// rule of the second kind with n points,
//
//	∫ g(x) √(1 - x²) dx from -1 to 1 = Σ w_i g(x_i)   for all polynomials g of degree up to 2 n - 1,
//
// which are cosines of multiples of π/(n + 1), and π/(n + 1) times the squares of their sines.
// Every node and weight is the exact one rounded once to format f, ties to even. Errors and panics
// are as for [GaussLegendre].
func GaussChebyshev2(n int, f halfulp.Format, opt *halfulp.Options) (nodes, weights *halfulp.Vector, err error) {
	return gauss("GaussChebyshev2", n, f, opt, chebyshev(2))
}

// compute returns the nodes and weights of a rule.
type compute func(s *call.Run, n int, f num.Format) (nodes, weights *num.Array, err error)

func rule(r roots.Rule) compute {
	return func(s *call.Run, n int, f num.Format) (nodes, weights *num.Array, err error) {
		return roots.Gauss(s, r, n, f)
	}
}

func chebyshev(kind int) compute {
	return func(s *call.Run, n int, f num.Format) (nodes, weights *num.Array, err error) {
		return roots.Chebyshev(s, kind, n, f)
	}
}

func gauss(name string, n int, f halfulp.Format, opt *halfulp.Options, run compute) (nodes, weights *halfulp.Vector, err error) {
	if n < 0 {
		panic("eigen: negative number of points")
	}
	o := orDefault(opt)
	s, _, err := startOnHost(name, o)
	if err != nil {
		return nil, nil, err
	}
	x, w, err := run(s, n, f.View())
	if err := ended(name, o, s, err); err != nil {
		return nil, nil, err
	}
	return vectorOf(x), vectorOf(w), nil
}
