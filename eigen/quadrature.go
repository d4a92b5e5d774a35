package eigen

import (
	"fmt"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/eigen/internal/roots"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/call"
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
	s, _, err := startOnHost(name, opt)
	if err != nil {
		return nil, nil, err
	}
	defer s.Release()
	x, w, err := run(s, n, f.View())
	if err == nil {
		s.Finished()
	}
	if opt != nil && opt.Stats != nil {
		*opt.Stats = runStats(s)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	return vectorOf(x), vectorOf(w), nil
}
