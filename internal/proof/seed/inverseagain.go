package seed

import (
	"math"

	"github.com/halfulp/halfulp/internal/dgemm"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/fixed"
	"github.com/halfulp/halfulp/internal/proof/scale"
)

// InverseAgain is R for F that keeps only the float64 factors P F = L U. It recomputes R e_j = U^-1
// L^-1 P e_j whenever bounds are wanted, some columns at a time, and its error as well. Let E' be
// the matrix that dgemm computes for I - F' R, where F' has the entries of F rounded to float64,
// which changes them by at most δ |F'|. Then
//
//	|I - F R| ≤ |E'| + γ I + (γ + δ) |F'| |R|,
//
// as for FloatInverse. The norm of this bound is rho. If rho < 1, F and R are regular, and
//
//	F^-1 r = R (r + s),  ‖s‖∞ ≤ rho / (1 - rho) ‖r‖∞.
//
// All three terms of a bound come from the same numbers of R. The proof does not require that
// another computation gives the same numbers.
type InverseAgain struct {
	*Factors
	s     *call.Run
	a     num.Mat
	order []int // row order[i] of F is row i of L U
	Rho   float64
	Norm  float64 // bound of ‖R‖
}

const (
	// againColumns is how many columns of R are computed at a time. Fewer take longer.
	againColumns = 64
	// againPart is how many columns of F' are multiplied at a time.
	againPart = 2 * dgemm.Parts
)

// AgainBytes returns the bytes that InverseAgain takes in addition to factors of order n, for
// columns of R, of E' and of F'.
func AgainBytes(n int) float64 { return 8 * float64(n) * (2*againColumns + againPart) }

// NewInverseAgain returns the inverse by factors of a; its rho may be too large to be useful.
func NewInverseAgain(s *call.Run, a num.Mat, f *Factors) (*InverseAgain, error) {
	t := &InverseAgain{Factors: f, s: s, a: a}
	t.order, _ = f.Order()
	b, err := t.bounds(make([]float64, f.N))
	if err != nil {
		return nil, err
	}
	t.Rho, t.Norm = b.rho, call.LargestOf(b.rows)
	return t, nil
}

// againBounds bounds the error of R, and |R| v for a vector v.
type againBounds struct {
	rho         float64   // ≥ ‖I - F R‖∞, infinite for numbers that are too large for a proof
	rows, times []float64 // ≥ |R| 1 and |R| v
}

// bounds computes R column by column, and bounds for a v ≥ 0.
func (t *InverseAgain) bounds(v []float64) (*againBounds, error) {
	n := t.N
	defer t.s.Temporary()()
	r, e, part := t.s.Floats(n*againColumns), t.s.Floats(n*againColumns), t.s.Floats(n*againPart)
	b := &againBounds{rows: make([]float64, n), times: make([]float64, n)}
	left, largest := make([]float64, n), 0.0 // |E'| 1
	for j0 := 0; j0 < n; j0 += againColumns {
		t.s.Budget.Reclaim(0)
		k := min(againColumns, n-j0)
		r, e := r[:n*k], e[:n*k]
		clear(r)
		clear(e)
		for i, row := range t.order {
			if row >= j0 && row < j0+k {
				r[i+(row-j0)*n] = 1
			}
		}
		for j := range k {
			e[j0+j+j*n] = 1
		}
		err := dgemm.SolveLower(t.s.Ctx, t.s.Threads, n, k, t.LU, r)
		if err == nil {
			err = dgemm.SolveUpper(t.s.Ctx, t.s.Threads, n, k, t.LU, r)
		}
		if err == nil {
			err = t.parts(part, func(first, columns int) error {
				return dgemm.SubtractPart(t.s.Ctx, t.s.Threads, n, first, e, part[:n*columns], r)
			})
		}
		if err != nil {
			return nil, err
		}
		largest = max(largest, call.LargestOf(r), call.LargestOf(e))
		for j := range k {
			dgemm.AxpyAbs(1, r[j*n:(j+1)*n], b.rows)
			dgemm.AxpyAbs(v[j0+j], r[j*n:(j+1)*n], b.times)
			dgemm.AxpyAbs(1, e[j*n:(j+1)*n], left)
		}
	}
	Raised(b.rows)
	Raised(b.times)
	Raised(left)
	size := make([]float64, n) // |F'| |R| 1
	err := t.parts(part, func(first, columns int) error {
		largest = max(largest, call.LargestOf(part[:n*columns]))
		for j := range columns {
			dgemm.AxpyAbs(b.rows[first+j], part[j*n:(j+1)*n], size)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if !(largest < 0x1p100) {
		b.rho = math.Inf(1)
		return b, nil
	}
	Raised(size)
	gamma := dgemm.SubtractError(n)
	for i, sum := range left {
		rho := sum + gamma + float64((gamma+scale.Rounding(t.a))*size[i])
		// Entries of F below 2^-1000 are 0 in F', and underflow takes less than 2^-900 as well.
		b.rho = max(b.rho, float64(rho*1.001)+0x1p-700)
	}
	return b, nil
}

// parts calls do for some columns of F' after the other, stored in part.
func (t *InverseAgain) parts(part []float64, do func(first, columns int) error) error {
	for first := 0; first < t.N; first += againPart {
		last := min(first+againPart, t.N)
		by := scale.Scaling{Rows: t.Rows, Cols: t.Cols[first:last]}
		by.Float64s(t.a.Slice(0, t.N, first, last), part)
		if err := do(first, last-first); err != nil {
			return err
		}
	}
	return nil
}

// Scales implements Inverse.
func (t *InverseAgain) Scales() scale.Scaling { return t.Scaling }

// MoreBits implements Inverse.
func (t *InverseAgain) MoreBits() int {
	_, e := math.Frexp(t.Norm)
	return e
}

// Leading implements Inverse.
func (t *InverseAgain) Leading() bool { return true }

// Words implements Inverse.
func (t *InverseAgain) Words() float64 { return 1 }

// Matrix implements Inverse.
func (t *InverseAgain) Matrix() *fixed.Matrix { return nil }

// Correct implements Inverse.
func (t *InverseAgain) Correct(r *Residual) ([][]float64, error) {
	z := make([]float64, t.N)
	for i, k := range t.order {
		z[i] = r.Lead[k]
	}
	if err := dgemm.SolveLower(t.s.Ctx, t.s.Threads, t.N, 1, t.LU, z); err != nil {
		return nil, err
	}
	return [][]float64{z}, dgemm.SolveUpper(t.s.Ctx, t.s.Threads, t.N, 1, t.LU, z)
}

// Radius implements Inverse. It is infinite after an error, which comes from the context.
func (t *InverseAgain) Radius(r *Residual, _ []float64) []float64 {
	v := make([]float64, t.N)
	for i, x := range r.Lead {
		v[i] = math.Abs(x) + float64(1.001*r.slop)
	}
	b, err := t.bounds(v)
	if err != nil || !(b.rho <= MostRho) {
		for i := range v {
			v[i] = math.Inf(1)
		}
		return v
	}
	most := call.LargestOf(r.Lead) + r.slop
	s := float64(1.001 * float64(most*b.rho/(1-b.rho)))
	for i := range v {
		v[i] = float64((b.times[i] + float64(s*b.rows[i])) * (1 + 0x1p-50))
	}
	return v
}
