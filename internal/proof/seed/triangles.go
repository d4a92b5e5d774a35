package seed

import (
	"context"
	"math"

	"github.com/halfulp/halfulp/internal/dgemm"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/fixed"
	"github.com/halfulp/halfulp/internal/proof/scale"
)

// Triangles is R = Z X P for F: P F ≈ L U, X ≈ L^-1 and Z ≈ U^-1. X consists of float64 numbers.
//
// Y are the float64 inverses of the blocks of U before and behind row cut. If cut < n, Z is
//
//	    (Y1  -Y1 U12 Y2)             (|Y1|  |Y1| |U12| |Y2|)
//	Z = ( 0          Y2),  |Z| ≤ T = (  0              |Y2|).
//
// With γ of dgemm.FactorError and u = 2^-53,
//
//	|P F - L U| ≤ (γ + 32 u) |L| |U|,  |L X - I| ≤ γ |L| |X|,  |U Z - I| ≤ γ |U| T,
//
// where 32 u covers the rounding of F's entries to float64. The last bound holds as U Z - I
// consists of the residuals of Y1 and Y2, the first one times I and -U12 Y2. Together,
//
//	|P (I - F R) P^T| ≤ γ |L| |X| + (2 γ + 32 u) |L| |U| T |X|
//
// (Oishi and Rump, Fast verification of solutions of matrix equations, 2002). The norm of this
// bound is rho; it needs no product of matrices. If rho < 1, F and R are regular, and
//
//	F^-1 r = R (F R)^-1 r = R (r + s),  ‖s‖∞ ≤ rho / (1 - rho) ‖r‖∞.
//
// T is larger than |U^-1| for random matrices, by a factor of some 40 at n = 100 and 1500 at n =
// 1000, but saves three fourths of the work of the inverse. A right-hand side may take a step more.
type Triangles struct {
	*Factors
	Perm []int     // row perm[i] of F is row i of P F
	X    []float64 // by columns
	Y    []float64 // Y1 and then Y2, each by columns
	Cut  int
	Rho  float64
	Norm float64 // bound of ‖R‖
}

// MostRho is the largest rho for which R is used.
const MostRho = 0.25

// leastHalved and mostHalved bound the orders for which Z in two blocks is tried. For random
// matrices rho is some 0.1 at order 1000, and grows with the fifth power of the order.
const (
	leastHalved = 96
	mostHalved  = 1200
)

// InvertTriangles returns an inverse by the factors, with an inverse of all of U. It is proved to
// be good if rho ≤ MostRho; nil if numbers are too large for a proof.
func InvertTriangles(s *call.Run, f *Factors) (*Triangles, error) {
	t, err := TrianglesOf(s, f, f.N)
	if err != nil || t == nil || math.IsInf(t.Rho, 1) {
		return nil, err
	}
	return t, nil
}

// TrianglesOf returns an inverse by the factors for 0 < cut ≤ n; nil if pivots are too small.
func TrianglesOf(s *call.Run, f *Factors, cut int) (*Triangles, error) {
	n := f.N
	t := &Triangles{Factors: f, X: s.Floats(n * n)}
	// Only the entries that are read: the memory may be fresh.
	err := par.Each(s.Ctx, s.Threads, n, func(j int) {
		clear(t.X[j*n+max(0, j-dgemm.Strip) : (j+1)*n])
	})
	if err != nil {
		return nil, err
	}
	t.Perm, _ = f.Order()
	// Underflow occurs in products up to 2^200 and in their quotients by pivots above 2^-80. It
	// changes all results below by less than 2^-800 if no number is larger than 2^100.
	for k := range n {
		if !(math.Abs(f.LU[k+k*n]) > LeastPivot) {
			return nil, nil
		}
	}
	if err := dgemm.InvertLower(s.Ctx, s.Threads, n, f.LU, t.X); err != nil {
		return nil, err
	}
	return t, t.InvertUpper(s, cut)
}

// InvertUpper computes Y, and rho with it, for blocks before and behind row cut.
func (t *Triangles) InvertUpper(s *call.Run, cut int) error {
	n := t.N
	size := cut*cut + (n-cut)*(n-cut)
	if err := s.Budget.Check(8 * float64(size)); err != nil {
		return err
	}
	t.Cut, t.Y = cut, s.Floats(size)
	first, second := t.Blocks()
	for i, y := range [][]float64{first, second} {
		at, m := i*cut, cut+i*(n-2*cut) // where the block begins, and its order
		if m == 0 {
			break
		}
		err := par.Each(s.Ctx, s.Threads, m, func(j int) { clear(y[j*m : j*m+min(m, j+1+dgemm.Strip)]) })
		if err != nil {
			return err
		}
		if err := dgemm.InvertUpper(s.Ctx, s.Threads, m, t.LU[at+at*n:], n, y); err != nil {
			return err
		}
	}
	t.bound()
	return nil
}

// Blocks returns Y1 and Y2.
func (t *Triangles) Blocks() (first, second []float64) { return t.Y[:t.Cut*t.Cut], t.Y[t.Cut*t.Cut:] }

// bound computes rho and the norm; rho is infinite if numbers are too large for a proof.
func (t *Triangles) bound() {
	n := t.N
	ones := make([]float64, n)
	for i := range ones {
		ones[i] = 1
	}
	first := AbsLower(t.Threads, n, t.X, ones)    // |X| 1
	second := t.inverseUpper(first)               // T |X| 1
	third := AbsUpper(t.Threads, n, t.LU, second) // |U| T |X| 1
	gamma := dgemm.FactorError(n)
	both := make([]float64, n) // γ |X| 1 + (2 γ + 32 u) |U| T |X| 1
	t.Rho, t.Norm = 0, 0
	for i := range n {
		both[i] = float64(gamma*first[i]) + float64((float64(2*gamma)+0x1p-48)*third[i])
		t.Norm = max(t.Norm, second[i])
	}
	// |X| 1 ≥ 1, so no number in X or Y is larger than these sums.
	if !(max(call.LargestOf(first), call.LargestOf(second), call.LargestOfAll(t.Threads, t.LU)) < 0x1p100) {
		t.Rho = math.Inf(1)
		return
	}
	for _, sum := range AbsLower(t.Threads, n, t.LU, both) {
		t.Rho = max(t.Rho, float64(sum*1.001)+0x1p-700) // 1.001 covers roundings here
	}
}

// Scales implements Inverse.
func (t *Triangles) Scales() scale.Scaling { return t.Scaling }

// MoreBits implements Inverse.
func (t *Triangles) MoreBits() int {
	_, e := math.Frexp(t.Norm)
	return e
}

// Leading implements Inverse.
func (t *Triangles) Leading() bool { return true }

// Words implements Inverse.
func (t *Triangles) Words() float64 { return 1 }

// Matrix implements Inverse.
func (t *Triangles) Matrix() *fixed.Matrix { return nil }

// Alone returns the inverse for a single thread. Several of them share its memory.
func (t *Triangles) Alone() Inverse {
	alone, factors := *t, *t.Factors
	factors.Threads = 1
	alone.Factors = &factors
	return &alone
}

// Correct implements Inverse.
func (t *Triangles) Correct(r *Residual) ([][]float64, error) {
	n, cut := t.N, t.Cut
	v := make([]float64, n)
	for i, k := range t.Perm {
		v[i] = r.Lead[k]
	}
	w := append([]float64(nil), v...)
	if n <= stripRows {
		addLower(n, t.X, v, w, 0, n)
	} else {
		strips(t.Threads, n, func(first, last int) { addLower(n, t.X, v, w, first, last) })
	}
	z := make([]float64, n)
	first, second := t.Blocks()
	m := n - cut
	addUpper(t.Threads, m, second, w[cut:], z[cut:])
	if cut < n {
		strips(t.Threads, cut, func(first, last int) {
			for j := cut; j < n; j++ {
				dgemm.Axpy(-z[j], t.LU[j*n+first:j*n+last], w[first:last])
			}
		})
	}
	addUpper(t.Threads, cut, first, w, z)
	return [][]float64{z}, nil
}

// addUpper adds U v, for the upper triangle U of an n x n matrix, to z.
func addUpper(threads, n int, u, v, z []float64) {
	if n <= stripRows {
		addUpperRows(n, u, v, z, 0, n)
		return
	}
	strips(threads, n, func(first, last int) { addUpperRows(n, u, v, z, first, last) })
}

func addUpperRows(n int, u, v, z []float64, first, last int) {
	for j := first; j < n; j++ {
		end := min(last, j+1)
		dgemm.Axpy(v[j], u[j*n+first:j*n+end], z[first:end])
	}
}

// addLower adds rows of L v, without the diagonal of L, to z.
func addLower(n int, l, v, z []float64, first, last int) {
	for j := range last {
		from := max(first, j+1)
		dgemm.Axpy(v[j], l[j*n+from:j*n+last], z[from:last])
	}
}

// Radius implements Inverse.
func (t *Triangles) Radius(r *Residual, _ []float64) []float64 {
	return t.inverseUpper(AbsLower(t.Threads, t.N, t.X, spreadOf(r, t.Perm, t.Rho)))
}

// inverseUpper returns bounds of T v for v ≥ 0.
func (t *Triangles) inverseUpper(v []float64) []float64 {
	n, cut := t.N, t.Cut
	first, second := t.Blocks()
	below := AbsUpper(t.Threads, n-cut, second, v[cut:])
	above := append([]float64(nil), v[:cut]...)
	if cut < n {
		strips(t.Threads, cut, func(first, last int) { addAbs(n, t.LU[cut*n:], below, above, first, last) })
	}
	if cut < n {
		above = raisedBy(n, above)
	}
	return append(AbsUpper(t.Threads, cut, first, above), below...)
}

// spreadOf returns bounds of |r| + s with ‖s‖∞ ≤ rho / (1 - rho) ‖r‖∞, in the order perm.
func spreadOf(r *Residual, perm []int, rho float64) []float64 {
	v := make([]float64, len(perm))
	most := call.LargestOf(r.Lead) + r.slop
	s := float64(1.001 * float64(most*rho/(1-rho)))
	for i, k := range perm {
		v[i] = math.Abs(r.Lead[k]) + float64(1.001*float64(r.slop+s))
	}
	return v
}

// stripRows is the least number of rows whose sums a thread computes at a time.
const stripRows = 64

// strips calls f for strips of rows first ≤ i < last of n rows on the threads; the bits of sums by
// dgemm.Axpy do not depend on the strips. They are as wide as the number of threads allows: short
// pieces of columns that lie far apart in memory take longer than whole columns. Callers with one
// strip call f themselves, without a closure on the heap.
func strips(threads, n int, f func(first, last int)) {
	if threads <= 1 {
		f(0, n)
		return
	}
	rows := (n + 2*threads - 1) / (2 * threads)
	rows = max(stripRows, (rows+7)&^7) // two strips a thread: triangles have less to do in some
	_ = par.For(context.Background(), threads, (n+rows-1)/rows, func(_, k int) {
		f(k*rows, min((k+1)*rows, n))
	})
}

// AbsAll returns bounds of |A| v for an n x n matrix A and v ≥ 0.
func AbsAll(threads, n int, a, v []float64) []float64 {
	z := make([]float64, n)
	if n <= stripRows {
		addAbs(n, a, v, z, 0, n)
	} else {
		strips(threads, n, func(first, last int) { addAbs(n, a, v, z, first, last) })
	}
	return Raised(z)
}

// addAbs adds rows of |A| v to z, for the columns of a matrix with n rows.
func addAbs(n int, a, v, z []float64, first, last int) {
	for j, f := range v {
		dgemm.AxpyAbs(f, a[j*n+first:j*n+last], z[first:last])
	}
}

// AbsUpper returns bounds of |U| v for the upper triangle U of an n x n matrix, its diagonal
// included, and v ≥ 0.
func AbsUpper(threads, n int, u, v []float64) []float64 {
	z := make([]float64, n)
	if n <= stripRows {
		addAbsUpper(n, u, v, z, 0, n)
	} else {
		strips(threads, n, func(first, last int) { addAbsUpper(n, u, v, z, first, last) })
	}
	return Raised(z)
}

func addAbsUpper(n int, u, v, z []float64, first, last int) {
	for j := first; j < n; j++ {
		end := min(last, j+1)
		dgemm.AxpyAbs(v[j], u[j*n+first:j*n+end], z[first:end])
	}
}

// AbsLower returns bounds of |L| v for the lower triangle L with a diagonal of ones, and v ≥ 0.
func AbsLower(threads, n int, l, v []float64) []float64 {
	z := append([]float64(nil), v...)
	if n <= stripRows {
		addAbsLower(n, l, v, z, 0, n)
	} else {
		strips(threads, n, func(first, last int) { addAbsLower(n, l, v, z, first, last) })
	}
	return Raised(z)
}

func addAbsLower(n int, l, v, z []float64, first, last int) {
	for j := range last {
		from := max(first, j+1)
		dgemm.AxpyAbs(v[j], l[j*n+from:j*n+last], z[from:last])
	}
}

// Raised returns upper bounds of sums of up to n = len(z) products of nonnegative numbers, in
// place. The computed sums have relative errors below (n + 1) 2^-53, and underflow takes less than
// 2^-1074 from each product.
func Raised(z []float64) []float64 { return raisedBy(len(z), z) }

// raisedBy is Raised for sums of up to n products and one further number.
func raisedBy(n int, z []float64) []float64 {
	slack := 1 + float64(float64(n+4)*0x1p-52)
	for i, v := range z {
		z[i] = float64(v*slack) + float64(float64(n)*0x1p-1000)
	}
	return z
}
