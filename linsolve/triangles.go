package linsolve

import (
	"math"

	"github.com/halfulp/halfulp/internal/dgemm"
)

// triangles is R = Y X P for F: P F is about L U, X about L^-1 and Y about U^-1, all of them
// float64.
//
// With the computed factors and u = 2^-53, for sums in any order, fused or not (Higham, Accuracy
// and Stability of Numerical Algorithms, theorems 8.5 and 9.3), and γ = (n + 16) u,
//
//	|P F - L U| ≤ (γ + 32 u) |L| |U|,  |L X - I| ≤ γ |L| |X|,  |U Y - I| ≤ γ |U| |Y|,
//
// where 32 u covers the rounding of F's entries to float64, so that, with all factors there are,
//
//	|P (I - F R) P^T| ≤ γ |L| |X| + (2 γ + 32 u) |L| |U| |Y| |X|
//
// (Oishi and Rump, Fast verification of solutions of matrix equations, 2002). The norm of this is
// rho; no product of matrices is needed for it. If rho < 1, F and R are regular, and
//
//	F^-1 r = R (F R)^-1 r = R (r + s),  ‖s‖∞ ≤ rho / (1 - rho) ‖r‖∞.
type triangles struct {
	*factors
	perm []int     // row perm[i] of F is row i of P F
	x, y []float64 // by columns
	rho  float64
	norm float64 // bound of ‖R‖
}

// mostRho is the largest rho for which R is used.
const mostRho = 0.25

// invertTriangles returns an inverse by the factors, proved to be good if rho ≤ mostRho; nil if
// numbers are too large for a proof.
func (s *solver) invertTriangles(f *factors) (*triangles, error) {
	n := f.n
	t := &triangles{factors: f, x: s.floats(n * n), y: s.floats(n * n)}
	for j := range n { // no more than what is read: room may be fresh
		clear(t.x[j*n+max(0, j-dgemm.Strip) : (j+1)*n])
		clear(t.y[j*n : j*n+min(n, j+1+dgemm.Strip)])
	}
	t.perm, _ = f.order()
	// Underflow, of products up to 2^200 and quotients of them by pivots above 2^-80, takes less
	// than 2^-800 from anything below if no number is larger than 2^100.
	for k := range n {
		if !(math.Abs(f.lu[k+k*n]) > leastPivot) {
			return nil, nil
		}
	}
	if err := dgemm.InvertLower(s.ctx, s.threads, n, f.lu, t.x); err != nil {
		return nil, err
	}
	if err := dgemm.InvertUpper(s.ctx, s.threads, n, f.lu, t.y); err != nil {
		return nil, err
	}
	ones := make([]float64, n)
	for i := range ones {
		ones[i] = 1
	}
	first := absLower(n, t.x, ones)    // |X| 1
	second := absUpper(n, t.y, first)  // |Y| |X| 1
	third := absUpper(n, f.lu, second) // |U| |Y| |X| 1
	gamma := float64(float64(n+16) * 0x1p-53)
	both := make([]float64, n) // γ |X| 1 + (2 γ + 32 u) |U| |Y| |X| 1
	for i := range n {
		both[i] = float64(gamma*first[i]) + float64((2*gamma+0x1p-48)*third[i])
		t.norm = max(t.norm, second[i])
	}
	// |X| 1 ≥ 1, so that no number in X or Y is larger than these sums.
	if !(max(largestOf(first), largestOf(second), largestOf(f.lu)) < 0x1p100) {
		return nil, nil
	}
	for _, sum := range absLower(n, f.lu, both) {
		t.rho = max(t.rho, float64(sum*1.001)+0x1p-700) // 1.001 covers roundings here
	}
	return t, nil
}

func (t *triangles) scales() scaling { return t.scaling }

func (t *triangles) size() int {
	_, e := math.Frexp(t.norm)
	return e
}

func (t *triangles) leading() bool { return true }

func (t *triangles) correct(r *residual) ([][]float64, error) {
	n := t.n
	v := make([]float64, n)
	for i, k := range t.perm {
		v[i] = r.lead[k]
	}
	w := append([]float64(nil), v...)
	for j := range n {
		dgemm.Axpy(v[j], t.x[j*n+j+1:(j+1)*n], w[j+1:])
	}
	z := make([]float64, n)
	for j := range n {
		dgemm.Axpy(w[j], t.y[j*n:j*n+j+1], z[:j+1])
	}
	return [][]float64{z}, nil
}

func (t *triangles) radius(r *residual, _ []float64) []float64 {
	return absUpper(t.n, t.y, absLower(t.n, t.x, spreadOf(r, t.perm, t.rho)))
}

// spreadOf returns bounds of |r| + s with ‖s‖∞ ≤ rho / (1 - rho) ‖r‖∞, in the order perm.
func spreadOf(r *residual, perm []int, rho float64) []float64 {
	v := make([]float64, len(perm))
	most := largestOf(r.lead) + r.slop
	s := float64(1.001 * float64(most*rho/(1-rho)))
	for i, k := range perm {
		v[i] = math.Abs(r.lead[k]) + float64(1.001*float64(r.slop+s))
	}
	return v
}

// absAll returns bounds of |A| v for an n x n matrix A and v ≥ 0.
func absAll(n int, a, v []float64) []float64 {
	z := make([]float64, n)
	for j, f := range v {
		dgemm.AxpyAbs(f, a[j*n:(j+1)*n], z)
	}
	return raised(z)
}

// absUpper returns bounds of |U| v for the upper triangle U of an n x n matrix, its diagonal
// included, and v ≥ 0.
func absUpper(n int, u, v []float64) []float64 {
	z := make([]float64, n)
	for j, f := range v {
		dgemm.AxpyAbs(f, u[j*n:j*n+j+1], z)
	}
	return raised(z)
}

// absLower returns bounds of |L| v for the lower triangle L with a diagonal of ones, and v ≥ 0.
func absLower(n int, l, v []float64) []float64 {
	z := append([]float64(nil), v...)
	for j, f := range v {
		dgemm.AxpyAbs(f, l[j*n+j+1:(j+1)*n], z[j+1:])
	}
	return raised(z)
}

// raised makes bounds of sums of up to n = len(z) products of numbers that are not negative, whose
// relative errors are below (n + 1) 2^-53; underflow takes less than 2^-1074 from each product.
func raised(z []float64) []float64 {
	slack := 1 + float64(float64(len(z)+4)*0x1p-52)
	for i, v := range z {
		z[i] = float64(v*slack) + float64(float64(len(z))*0x1p-1000)
	}
	return z
}
