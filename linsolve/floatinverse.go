package linsolve

import (
	"math"

	"github.com/halfulp/halfulp/internal/dgemm"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/fixed"
	"github.com/halfulp/halfulp/internal/proof/scale"
)

// floatInverse is R = Z P for F in float64: Z, about the inverse of P F, is -z.
//
// That R is good is proved by the residual computed, and not by bounds of what factors and inverses
// lose, which are larger by orders of magnitude. With F' the entries of F rounded to float64, off
// by δ |F'| at most, and E' what dgemm.Subtract makes of I - P F' Z, off by γ (I + |P F'| |Z|),
//
//	|I - P F R P^T| = |I - P F Z| ≤ |E'| + γ I + (γ + δ) |P F'| |Z|.
//
// The norm of this is rho. If rho < 1, F and R are regular, and as for triangles
//
//	F^-1 r = R (r + s),  ‖s‖∞ ≤ rho / (1 - rho) ‖r‖∞.
type floatInverse struct {
	*factors
	perm []int     // row perm[i] of F is row i of P F
	z    []float64 // by columns
	rho  float64
	norm float64 // bound of ‖R‖
}

// farOff is how much larger than mostRho the bounds of roundings in norms, which bounds of single
// rows may be below, make a residual not worth its while.
const farOff = 32

// invertFactors returns an inverse by factors of a for so many right-hand sides with its rho and a
// bound of its norm, nil if none is proved to be good.
func invertFactors(s *call.Run, a num.Mat, f *factors, columns int) (r inverse, rho, norm float64, err error) {
	cut := upperCut(f.n, columns)
	t, err := trianglesOf(s, f, cut)
	if err == nil && cut < f.n && t != nil && !(t.rho <= mostRho) {
		err = t.invertUpper(s, f.n)
	}
	switch {
	case err != nil || t == nil || math.IsInf(t.rho, 1):
		return nil, 0, 0, err
	case t.rho <= mostRho:
		return t, t.rho, t.norm, nil
	case !(float64(dgemm.SubtractError(f.n)*f.norm)*t.norm <= farOff*mostRho):
		return nil, 0, 0, nil
	}
	z, err := newFloatInverse(s, a, t)
	if err != nil || !(z.rho <= mostRho) {
		return nil, 0, 0, err
	}
	return z, z.rho, z.norm, nil
}

// upperCut returns the row at which the upper triangle of order n is cut in two for so many
// right-hand sides, and n if it is not.
func upperCut(n, columns int) int {
	if columns == 1 && n >= leastHalved && n <= mostHalved {
		return n / 2
	}
	return n
}

// multiplied multiplies the inverses of the triangles; nothing is known of its rho.
func multiplied(s *call.Run, t *triangles) (*floatInverse, error) {
	n := t.n
	r := &floatInverse{factors: t.factors, perm: t.perm, z: s.Floats(n * n)}
	for j := range n {
		clear(t.x[j*n : j*n+j])
		clear(t.y[j*n+j+1 : (j+1)*n])
	}
	return r, dgemm.MultiplyTriangles(s.Ctx, s.Threads, n, r.z, t.y, t.x)
}

// floatInverse multiplies the inverses of the triangles, whose room it takes, and computes rho.
func newFloatInverse(s *call.Run, a num.Mat, t *triangles) (*floatInverse, error) {
	n := t.n
	r, err := multiplied(s, t)
	if err != nil {
		return nil, err
	}
	e, f := t.x, t.Float64s(a, t.y)
	dgemm.ExchangeRows(n, f, t.pivots)
	clear(e)
	for i := range n {
		e[i+i*n] = -1
	}
	if err := dgemm.Subtract(s.Ctx, s.Threads, n, e, f, r.z); err != nil {
		return nil, err
	}
	if !(max(call.LargestOf(f), call.LargestOf(r.z), call.LargestOf(e)) < 0x1p100) {
		r.rho = math.Inf(1)
		return r, nil
	}
	ones := make([]float64, n)
	for i := range ones {
		ones[i] = 1
	}
	first := absAll(n, r.z, ones) // |Z| 1
	size := absAll(n, f, first)   // |P F'| |Z| 1
	gamma := dgemm.SubtractError(n)
	for i, sum := range absAll(n, e, ones) {
		rho := sum + gamma + float64((gamma+scale.Rounding(a))*size[i])
		// Entries of F below 2^-1000 are 0 in F', and underflow takes less than 2^-900 as well.
		r.rho = max(r.rho, float64(rho*1.001)+0x1p-700)
		r.norm = max(r.norm, first[i])
	}
	return r, nil
}

func (r *floatInverse) scales() scale.Scaling { return r.Scaling }

func (r *floatInverse) size() int {
	_, e := math.Frexp(r.norm)
	return e
}

func (r *floatInverse) leading() bool { return true }

func (r *floatInverse) words() float64 { return 1 }

func (r *floatInverse) matrix() *fixed.Matrix { return nil }

func (r *floatInverse) correct(v *residual) ([][]float64, error) {
	z := make([]float64, r.n)
	for j, k := range r.perm {
		dgemm.Axpy(-v.lead[k], r.z[j*r.n:(j+1)*r.n], z)
	}
	return [][]float64{z}, nil
}

func (r *floatInverse) radius(v *residual, _ []float64) []float64 {
	return absAll(r.n, r.z, spreadOf(v, r.perm, r.rho))
}
