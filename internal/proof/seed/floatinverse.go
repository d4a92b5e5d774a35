package seed

import (
	"errors"
	"math"

	"github.com/halfulp/halfulp/internal/dgemm"
	"github.com/halfulp/halfulp/internal/memlimit"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/fixed"
	"github.com/halfulp/halfulp/internal/proof/scale"
)

// FloatInverse is R = Z P for F in float64, where Z is about the inverse of P F. The field Z holds
// -Z.
//
// The proof uses a computed residual, and not bounds of the errors of factors and inverses, which
// are larger by orders of magnitude. F' has the entries of F rounded to float64, which changes them
// by at most δ |F'|. dgemm.Subtract computes E' for I - P F' Z with errors of at most γ (I + |P F'|
// |Z|). Then
//
//	|I - P F R P^T| = |I - P F Z| ≤ |E'| + γ I + (γ + δ) |P F'| |Z|.
//
// The norm of this bound is rho. If rho < 1, F and R are regular, and as for triangles
//
//	F^-1 r = R (r + s),  ‖s‖∞ ≤ rho / (1 - rho) ‖r‖∞.
type FloatInverse struct {
	*Factors
	Perm []int     // row perm[i] of F is row i of P F
	Z    []float64 // -Z by columns
	Rho  float64
	Norm float64 // bound of ‖R‖

	sums []float64 // bounds of the row sums of |F^-1|, nil until they are needed
}

// farOff: a residual is not worth computing if norms bound its rounding errors by more than farOff
// MostRho. Bounds of single rows may be smaller than bounds by norms.
const farOff = 32

// InvertFactors returns an inverse by factors of a for a number of right-hand sides (columns), its
// rho and a bound of its norm; nil if none is proved to be good. For few right-hand sides it falls
// back to an InverseAgain, which takes only the memory of some columns, if another inverse, with
// `beside` further bytes, exceeds the memory limit.
func InvertFactors(s *call.Run, a num.Mat, f *Factors, columns int, beside float64) (r Inverse, rho, norm float64, err error) {
	end := s.Temporary()
	r, rho, norm, err = invertFactors(s, a, f, columns, beside)
	if columns > call.FewColumns || !errors.Is(err, memlimit.ErrExceeded) {
		return r, rho, norm, err
	}
	end()
	t, err := NewInverseAgain(s, a, f)
	if err != nil || !(t.Rho <= MostRho) {
		return nil, 0, 0, err
	}
	return t, t.Rho, t.Norm, nil
}

// invertFactors is InvertFactors with an inverse kept in memory.
func invertFactors(s *call.Run, a num.Mat, f *Factors, columns int, beside float64) (r Inverse, rho, norm float64, err error) {
	cut := UpperCut(f.N, columns)
	// may fuse: an estimate
	if err := s.Budget.Check(8*float64(f.N*f.N+cut*cut+(f.N-cut)*(f.N-cut)) + beside); err != nil {
		return nil, 0, 0, err
	}
	t, err := TrianglesOf(s, f, cut)
	if err == nil && cut < f.N && t != nil && !(t.Rho <= MostRho) {
		err = t.InvertUpper(s, f.N)
	}
	switch {
	case err != nil || t == nil || math.IsInf(t.Rho, 1):
		return nil, 0, 0, err
	case t.Rho <= MostRho:
		return t, t.Rho, t.Norm, nil
	case !(float64(dgemm.SubtractError(f.N)*f.Norm)*t.Norm <= farOff*MostRho):
		return nil, 0, 0, nil
	}
	// may fuse: an estimate
	if err := s.Budget.Check(8*float64(f.N)*float64(f.N) + beside); err != nil {
		return nil, 0, 0, err
	}
	z, err := NewFloatInverse(s, a, t)
	if err != nil || !(z.Rho <= MostRho) {
		return nil, 0, 0, err
	}
	return z, z.Rho, z.Norm, nil
}

// UpperCut returns the row at which the upper triangle of order n is cut in two for a number of
// right-hand sides (columns); n if it is not cut.
func UpperCut(n, columns int) int {
	if columns == 1 && n >= leastHalved && n <= mostHalved {
		return n / 2
	}
	return n
}

// NewMultiplied multiplies the inverses of the triangles; nothing is known of its rho.
func NewMultiplied(s *call.Run, t *Triangles) (*FloatInverse, error) {
	n := t.N
	r := &FloatInverse{Factors: t.Factors, Perm: t.Perm, Z: s.Floats(n * n)}
	err := par.Each(s.Ctx, s.Threads, n, func(j int) {
		clear(t.X[j*n : j*n+j])
		clear(t.Y[j*n+j+1 : (j+1)*n])
	})
	if err != nil {
		return nil, err
	}
	return r, dgemm.MultiplyTriangles(s.Ctx, s.Threads, n, r.Z, t.Y, t.X)
}

// NewFloatInverse multiplies the inverses of the triangles and computes rho. It overwrites the
// memory of t.
func NewFloatInverse(s *call.Run, a num.Mat, t *Triangles) (*FloatInverse, error) {
	n := t.N
	r, err := NewMultiplied(s, t)
	if err != nil {
		return nil, err
	}
	e, f := t.X, t.Float64sOn(s.Threads, a, t.Y)
	dgemm.ExchangeRows(s.Threads, n, f, t.Pivots)
	call.Zero(s.Threads, e)
	for i := range n {
		e[i+i*n] = -1
	}
	if err := dgemm.Subtract(s.Ctx, s.Threads, n, e, f, r.Z); err != nil {
		return nil, err
	}
	if !(max(call.LargestOfAll(s.Threads, f), call.LargestOfAll(s.Threads, r.Z), call.LargestOfAll(s.Threads, e)) < 0x1p100) {
		r.Rho = math.Inf(1)
		return r, nil
	}
	ones := make([]float64, n)
	for i := range ones {
		ones[i] = 1
	}
	first := AbsAll(r.Threads, n, r.Z, ones) // |Z| 1
	size := AbsAll(r.Threads, n, f, first)   // |P F'| |Z| 1
	gamma := dgemm.SubtractError(n)
	for i, sum := range AbsAll(r.Threads, n, e, ones) {
		rho := sum + gamma + float64((gamma+scale.Rounding(a))*size[i])
		// Entries of F below 2^-1000 are 0 in F', and underflow takes less than 2^-900 as well.
		r.Rho = max(r.Rho, float64(rho*1.001)+0x1p-700)
		r.Norm = max(r.Norm, first[i])
	}
	return r, nil
}

// Scales implements Inverse.
func (r *FloatInverse) Scales() scale.Scaling { return r.Scaling }

// MoreBits implements Inverse.
func (r *FloatInverse) MoreBits() int {
	_, e := math.Frexp(r.Norm)
	return e
}

// Leading implements Inverse.
func (r *FloatInverse) Leading() bool { return true }

// Words implements Inverse.
func (r *FloatInverse) Words() float64 { return 1 }

// Matrix implements Inverse.
func (r *FloatInverse) Matrix() *fixed.Matrix { return nil }

// Correct implements Inverse.
func (r *FloatInverse) Correct(v *Residual) ([][]float64, error) {
	z, x := make([]float64, r.N), make([]float64, r.N)
	some := 0
	for j, k := range r.Perm {
		if x[j] = -v.Lead[k]; x[j] != 0 {
			some++
		}
	}
	strips(r.Threads, r.N, func(first, last int) {
		if some > r.N/8 {
			dgemm.Combine(r.Z[first:], r.N, x, z[first:last])
			return
		}
		for j, f := range x { // Axpy skips zeros
			dgemm.Axpy(f, r.Z[j*r.N+first:j*r.N+last], z[first:last])
		}
	})
	return [][]float64{z}, nil
}

// Alone returns the inverse for a single thread. Several of them share its memory.
func (r *FloatInverse) Alone() Inverse {
	r.provideSums()
	alone, factors := *r, *r.Factors
	factors.Threads = 1
	alone.Factors = &factors
	return &alone
}

// Radius implements Inverse. For ‖s‖∞ ≤ rho / (1 - rho) ‖r‖∞ it bounds |R (r + s)| by row sums:
//
//	|F^-1 r| ≤ |R| e / (1 - rho) ‖r‖∞,  e = (1, ..., 1).
//
// The bounds |R| |r + s| may be smaller by a factor of 2 to 4, but take as long as a correction.
func (r *FloatInverse) Radius(v *Residual, _ []float64) []float64 {
	r.provideSums()
	return RadiusBy(r.sums, v)
}

// provideSums computes the sums unless they exist.
func (r *FloatInverse) provideSums() {
	if r.sums != nil {
		return
	}
	ones := make([]float64, r.N)
	for i := range ones {
		ones[i] = 1
	}
	r.sums = AbsAll(r.Threads, r.N, r.Z, ones)
	for i, sum := range r.sums {
		r.sums[i] = float64(sum * (1 + 0x1p-50) / (1 - r.Rho) * (1 + 0x1p-50))
	}
}
