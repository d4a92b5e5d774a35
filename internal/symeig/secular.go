// may fuse throughout: all results are seeds

package symeig

import (
	"math"
	"slices"

	"github.com/halfulp/halfulp/internal/par"
)

// unitRoundoff is 2^-53.
const unitRoundoff = 0x1p-53

// secular is the equation f(λ) = 1 + Σ z_j² / (D_j - λ) = 0 with poles D_0 < D_1 < ... Its roots
// λ_i lie between D_i and D_i+1, the last one above D_n-1. Poles are d_j or, for singular values,
// d_j² with d_j ≥ 0. Differences of poles are computed from d, with small relative errors.
type secular struct {
	k       *kernel
	d, z    []float64
	squared bool
}

// gaps sets to_j = D_j - D for the poles of d_j and of at.
func (e *secular) gaps(to, d []float64, at float64) {
	to = to[:len(d)]
	if e.squared {
		for j, x := range d {
			to[j] = (x - at) * (x + at)
		}
		return
	}
	for j, x := range d {
		to[j] = x - at
	}
}

// point has f at D_o + tau in parts: the sums ψ over the poles up to the first of two, and φ over
// the others, and their derivatives.
type point struct {
	psi, phi, dpsi, dphi float64
}

func (e *secular) at(gap []float64, i int, tau float64) (p point) {
	p.psi, p.dpsi = e.k.secularSums(e.z[:i+1], gap[:i+1], tau)
	p.phi, p.dphi = e.k.secularSums(e.z[i+1:], gap[i+1:], tau)
	return p
}

// root computes root i = D_o + tau. It leaves in gap the differences D_j - D_o, and returns o and
// tau. ok is false if the iteration does not converge.
//
// It interpolates f by c + s / (D_p - λ) + t / (D_q - λ) with the neighbouring poles (Li, Solving
// secular equations stably and efficiently, LAPACK working note 89, 1993), inside a bracket that it
// halves where the interpolation leaves it or converges slowly.
func (e *secular) root(i int, gap []float64) (o int, tau float64, ok bool) {
	n := len(e.d)
	last := i == n-1
	o = i
	e.gaps(gap, e.d, e.d[o])
	if n == 1 {
		return 0, e.z[0] * e.z[0], true
	}
	// The bracket, and f at its middle.
	low, high, split := 0.0, inner(e.z, e.z)*(1+8*unitRoundoff), n-2
	if !last {
		high, split = gap[i+1], i
	}
	p, q := split, split+1 // the poles of interpolations
	tau = high / 2
	here := e.at(gap, split, tau)
	zp, zq := e.z[p]*e.z[p], e.z[q]*e.z[q]
	w := 1 + here.psi + here.phi
	c := w - zp/(gap[p]-tau) - zq/(gap[q]-tau)
	switch {
	case w < 0 && !last:
		o = i + 1
		low, high = -gap[i+1]/2, 0
		e.gaps(gap, e.d, e.d[o])
	case w < 0:
		low = tau
	default:
		high = tau
	}
	tau = step(c*(gap[p]+gap[q])+zp+zq, c*gap[p]*gap[q]+zp*gap[q]+zq*gap[p], c, last)
	if !(low < tau && tau < high) {
		tau = middle(low, high)
	}
	before, bisect := math.Inf(1), false
	for range 200 {
		here = e.at(gap, split, tau)
		w = 1 + here.psi + here.phi
		slope := here.dpsi + here.dphi
		if math.Abs(w) <= unitRoundoff*(8*(math.Abs(here.psi)+math.Abs(here.phi))+2+math.Abs(tau)*slope) {
			return o, tau, true
		}
		if w < 0 {
			low = tau
		} else {
			high = tau
		}
		dp, dq := gap[p]-tau, gap[q]-tau
		slow := math.Abs(w) > before/4
		before = math.Abs(w)
		switch {
		case last || slow && !bisect: // the derivatives of both sums are interpolated
			c = w - dp*here.dpsi - dq*here.dphi
		case o == i: // the weight of the nearest pole is kept
			c = w - dq*slope + (dq-dp)*(zp/dp)/dp
		default:
			c = w - dp*slope + (dp-dq)*(zq/dq)/dq
		}
		next := tau + step((dp+dq)*w-dp*dq*slope, dp*dq*w, c, last)
		bisect = slow && !bisect
		if !(low < next && next < high) || slow && !bisect {
			next = middle(low, high)
		}
		if !(low < next && next < high) || next == tau { // nothing lies between
			return o, tau, tau != 0
		}
		tau = next
	}
	return o, tau, false
}

// step returns the root x of c + s / (p - x) + t / (q - x) = 0 between p < q or, if above, the root
// above both: a zero of c x² - a x + b, with a = c (p + q) + s + t and b = c p q + s q + t p.
func step(a, b, c float64, above bool) float64 {
	root := math.Sqrt(math.Abs(a*a - 4*b*c))
	if above {
		if a >= 0 {
			return (a + root) / (2 * c)
		}
		return 2 * b / (a - root)
	}
	if a <= 0 {
		return (a - root) / (2 * c)
	}
	return 2 * b / (a + root)
}

// middle returns a number between low and high, the geometric mean if they have the same sign.
func middle(low, high float64) float64 {
	if low > 0 || high < 0 {
		return math.Copysign(math.Sqrt(math.Abs(low))*math.Sqrt(math.Abs(high)), low+high)
	}
	return low + (high-low)/2
}

// solve computes the roots, and replaces z by a vector for which they are roots to high relative
// accuracy in all differences D_j - λ_i (Gu, Eisenstat, A stable and efficient algorithm for the
// rank-one modification of the symmetric eigenproblem, 1994). These become column i of delta. For
// singular values, roots has the square roots. It reports whether all iterations converge.
func (e *secular) solve(s *solver, delta matrix, roots []float64, workers int) bool {
	n := len(e.d)
	workers = max(1, min(workers, 1+n/64))
	failed := make([]bool, workers)
	const some = 8 // roots a task
	err := par.For(s.ctx, workers, (n+some-1)/some, func(worker, task int) {
		for i := task * some; i < min(n, (task+1)*some); i++ {
			gap := delta.column(i)
			o, tau, ok := e.root(i, gap)
			for j := range gap {
				gap[j] -= tau
			}
			if e.squared {
				roots[i] = math.Sqrt(e.d[o]*e.d[o] + tau)
			} else {
				roots[i] = e.d[o] + tau
			}
			failed[worker] = failed[worker] || !ok
		}
	})
	if err != nil || slices.Contains(failed, true) {
		return false
	}
	return par.For(s.ctx, workers, workers, func(_, part int) {
		e.rebuild(delta, n*part/workers, n*(part+1)/workers)
	}) == nil
}

// rebuild sets z_j² = Π_i (λ_i - D_j) / Π_i≠j (D_i - D_j) for first ≤ j < to. Signs are kept.
func (e *secular) rebuild(delta matrix, first, to int) {
	square, gap, d := make([]float64, to-first), make([]float64, to-first), e.d[first:to]
	for j := range square {
		square[j] = -delta.data[(first+j)*(1+delta.ld)]
	}
	for i, at := range e.d {
		e.gaps(gap, d, at) // D_j - D_i
		column := delta.column(i)[first:to]
		if first <= i && i < to {
			gap[i-first] = column[i-first]
		}
		e.k.scaleDivided(square, column, gap)
	}
	for j, x := range square {
		e.z[first+j] = math.Copysign(math.Sqrt(math.Abs(x)), e.z[first+j])
	}
}
