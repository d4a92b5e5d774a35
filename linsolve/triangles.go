package linsolve

import (
	"math"

	"github.com/halfulp/halfulp/internal/dgemm"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/scale"
)

// triangles is R = Z X P for F: P F is about L U, X, of float64 numbers, about L^-1 and Z about
// U^-1.
//
// Z is that of float64 inverses Y of the blocks of U before and behind row cut, if that is not n,
//
//	    (Y1  -Y1 U12 Y2)             (|Y1|  |Y1| |U12| |Y2|)
//	Z = ( 0          Y2),  |Z| ≤ T = (  0              |Y2|).
//
// With γ of dgemm.FactorError and u = 2^-53,
//
//	|P F - L U| ≤ (γ + 32 u) |L| |U|,  |L X - I| ≤ γ |L| |X|,  |U Z - I| ≤ γ |U| T,
//
// where 32 u covers the rounding of F's entries to float64, and the last holds as U Z - I are the
// residuals of Y1 and Y2, the first one times I and -U12 Y2. So, with all factors there are,
//
//	|P (I - F R) P^T| ≤ γ |L| |X| + (2 γ + 32 u) |L| |U| T |X|
//
// (Oishi and Rump, Fast verification of solutions of matrix equations, 2002). The norm of this is
// rho; no product of matrices is needed for it. If rho < 1, F and R are regular, and
//
//	F^-1 r = R (F R)^-1 r = R (r + s),  ‖s‖∞ ≤ rho / (1 - rho) ‖r‖∞.
//
// T is larger than |U^-1| for random matrices, by some 40 at n = 100 and 1500 at n = 1000, but
// costs three fourths of the work of the inverse less. A right-hand side may take a step more.
type triangles struct {
	*factors
	perm []int     // row perm[i] of F is row i of P F
	x    []float64 // by columns
	y    []float64 // Y1 and then Y2, each by columns
	cut  int
	rho  float64
	norm float64 // bound of ‖R‖
}

// mostRho is the largest rho for which R is used.
const mostRho = 0.25

// mostHalved and leastHalved bound the orders for which Z in two blocks is tried. Rho is some 0.1
// for random matrices of order 1000, and grows with the fifth power of it.
const (
	leastHalved = 96
	mostHalved  = 1200
)

// invertTriangles returns an inverse by the factors, with that of all of U, proved to be good if
// rho ≤ mostRho; nil if numbers are too large for a proof.
func invertTriangles(s *call.Run, f *factors) (*triangles, error) {
	t, err := trianglesOf(s, f, f.n)
	if err != nil || t == nil || math.IsInf(t.rho, 1) {
		return nil, err
	}
	return t, nil
}

// trianglesOf returns an inverse by the factors for 0 < cut ≤ n; nil if pivots are too small.
func trianglesOf(s *call.Run, f *factors, cut int) (*triangles, error) {
	n := f.n
	t := &triangles{factors: f, x: s.Floats(n * n)}
	for j := range n { // no more than what is read: room may be fresh
		clear(t.x[j*n+max(0, j-dgemm.Strip) : (j+1)*n])
	}
	t.perm, _ = f.order()
	// Underflow, of products up to 2^200 and quotients of them by pivots above 2^-80, takes less
	// than 2^-800 from anything below if no number is larger than 2^100.
	for k := range n {
		if !(math.Abs(f.lu[k+k*n]) > leastPivot) {
			return nil, nil
		}
	}
	if err := dgemm.InvertLower(s.Ctx, s.Threads, n, f.lu, t.x); err != nil {
		return nil, err
	}
	return t, t.invertUpper(s, cut)
}

// invertUpper makes Y, and rho with it, for blocks before and behind row cut.
func (t *triangles) invertUpper(s *call.Run, cut int) error {
	n := t.n
	size := cut*cut + (n-cut)*(n-cut)
	if err := s.Budget.Check(8 * float64(size)); err != nil {
		return err
	}
	t.cut, t.y = cut, s.Floats(size)
	first, second := t.blocks()
	for i, y := range [][]float64{first, second} {
		at, m := i*cut, cut+i*(n-2*cut) // where the block is, and its order
		if m == 0 {
			break
		}
		for j := range m {
			clear(y[j*m : j*m+min(m, j+1+dgemm.Strip)])
		}
		if err := dgemm.InvertUpper(s.Ctx, s.Threads, m, t.lu[at+at*n:], n, y); err != nil {
			return err
		}
	}
	t.bound()
	return nil
}

// blocks returns Y1 and Y2.
func (t *triangles) blocks() (first, second []float64) { return t.y[:t.cut*t.cut], t.y[t.cut*t.cut:] }

// bound computes rho and the norm; rho is infinite if numbers are too large for a proof.
func (t *triangles) bound() {
	n := t.n
	ones := make([]float64, n)
	for i := range ones {
		ones[i] = 1
	}
	first := absLower(n, t.x, ones)    // |X| 1
	second := t.inverseUpper(first)    // T |X| 1
	third := absUpper(n, t.lu, second) // |U| T |X| 1
	gamma := dgemm.FactorError(n)
	both := make([]float64, n) // γ |X| 1 + (2 γ + 32 u) |U| T |X| 1
	t.rho, t.norm = 0, 0
	for i := range n {
		both[i] = float64(gamma*first[i]) + float64((float64(2*gamma)+0x1p-48)*third[i])
		t.norm = max(t.norm, second[i])
	}
	// |X| 1 ≥ 1, so that no number in X or Y is larger than these sums.
	if !(max(call.LargestOf(first), call.LargestOf(second), call.LargestOf(t.lu)) < 0x1p100) {
		t.rho = math.Inf(1)
		return
	}
	for _, sum := range absLower(n, t.lu, both) {
		t.rho = max(t.rho, float64(sum*1.001)+0x1p-700) // 1.001 covers roundings here
	}
}

func (t *triangles) scales() scale.Scaling { return t.Scaling }

func (t *triangles) size() int {
	_, e := math.Frexp(t.norm)
	return e
}

func (t *triangles) leading() bool { return true }

func (t *triangles) correct(r *residual) ([][]float64, error) {
	n, cut := t.n, t.cut
	v := make([]float64, n)
	for i, k := range t.perm {
		v[i] = r.lead[k]
	}
	w := append([]float64(nil), v...)
	for j := range n {
		dgemm.Axpy(v[j], t.x[j*n+j+1:(j+1)*n], w[j+1:])
	}
	z := make([]float64, n)
	first, second := t.blocks()
	m := n - cut
	for j := range m {
		dgemm.Axpy(w[cut+j], second[j*m:j*m+j+1], z[cut:cut+j+1])
	}
	for j := cut; j < n; j++ {
		dgemm.Axpy(-z[j], t.lu[j*n:j*n+cut], w[:cut])
	}
	for j := range cut {
		dgemm.Axpy(w[j], first[j*cut:j*cut+j+1], z[:j+1])
	}
	return [][]float64{z}, nil
}

func (t *triangles) radius(r *residual, _ []float64) []float64 {
	return t.inverseUpper(absLower(t.n, t.x, spreadOf(r, t.perm, t.rho)))
}

// inverseUpper returns bounds of T v for v ≥ 0.
func (t *triangles) inverseUpper(v []float64) []float64 {
	n, cut := t.n, t.cut
	first, second := t.blocks()
	below := absUpper(n-cut, second, v[cut:])
	above := append([]float64(nil), v[:cut]...)
	for j, f := range below {
		dgemm.AxpyAbs(f, t.lu[(cut+j)*n:(cut+j)*n+cut], above)
	}
	if cut < n {
		above = raisedBy(n, above)
	}
	return append(absUpper(cut, first, above), below...)
}

// spreadOf returns bounds of |r| + s with ‖s‖∞ ≤ rho / (1 - rho) ‖r‖∞, in the order perm.
func spreadOf(r *residual, perm []int, rho float64) []float64 {
	v := make([]float64, len(perm))
	most := call.LargestOf(r.lead) + r.slop
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
func raised(z []float64) []float64 { return raisedBy(len(z), z) }

// raisedBy is raised for sums of up to n products and one number more.
func raisedBy(n int, z []float64) []float64 {
	slack := 1 + float64(float64(n+4)*0x1p-52)
	for i, v := range z {
		z[i] = float64(v*slack) + float64(float64(n)*0x1p-1000)
	}
	return z
}
