package rns

import (
	"errors"
	"fmt"
	"math"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/counted"
	"github.com/halfulp/halfulp/internal/place"
)

// ErrBreakdown is wrapped by errors about systems for which conjugate gradients cannot go on: the
// matrix is not positive definite, or numbers leave the range.
var ErrBreakdown = errors.New("rns: conjugate gradients break down")

// Preconditioner selects the matrix by which CG multiplies residuals.
type Preconditioner int

// The preconditioners: none, and the inverse of the diagonal of A, whose entries must be positive.
const (
	NoPreconditioner Preconditioner = iota
	Jacobi
)

// CGOptions say how CG runs and when it ends. Nil stands for the zero CGOptions.
type CGOptions struct {
	// Options are passed to the routines that CG consists of: Blocks and BlockSize set the order of
	// additions of its dot products, RowThreads the order of its matrix-vector products. Bound is
	// ignored.
	Options
	// Preconditioner is none by default.
	Preconditioner Preconditioner
	// Tolerance, not negative, is the largest ‖r_k‖₂ / ‖r_0‖₂ that ends the iteration. Nil stands
	// for 2^(-⌊p/2⌋) for a base of p bits.
	Tolerance *Number
	// MaxIterations is the largest number of iterations; 0 stands for 10 n.
	MaxIterations int
}

// CGResult reports how CG ended.
type CGResult struct {
	// Iterations is the number of them.
	Iterations int
	// Converged reports whether ‖r_k‖₂ ≤ fl(Tolerance ‖r_0‖₂) in the end, for the residual that
	// iterations update. TrueResidual is about x.
	Converged bool
	// Residuals are ‖r_k‖₂ for k = 0, …, Iterations, as they are computed.
	Residuals []*Number
	// TrueResidual encloses the exact ‖b - A x‖₂ of the x that is returned.
	TrueResidual Interval
}

// CG solves A x = b by the conjugate gradient method, or by the preconditioned one with
// opt.Preconditioner = [Jacobi]. A is n x n, symmetric and positive definite. x holds the initial
// guess, and receives the result. These are mp_cg and mp_pcg of MPRES-BLAS, except that m_i below
// are not rounded to float64. Every operation is a routine of this package, so that CPU and GPU
// have the same bits:
//
//	r_i = fl(b_i - q_i), q = A x by SpMV; m_i = fl(1 / a_ii)
//	while ‖r‖₂ > fl(Tolerance ‖r_0‖₂), with ‖r‖₂ = fl(√(r·r)), dot products by Dot:
//	    z = r, or z_i = fl(m_i r_i);  ρ' = ρ, ρ = r·z
//	    p = z, but later β = fl(ρ / ρ'), p_i = fl(fl(β p_i) + z_i)
//	    q = A p by SpMV;  α = fl(ρ / p·q)
//	    x_i = fl(fl(α p_i) + x_i);  r_i = fl(r_i - fl(α q_i))
//
// The method is inexact. Rounding makes the updated residuals r drift away from b - A x and delays
// convergence, the more so the larger the condition of A and the fewer bits the base has. Only
// TrueResidual is proved: an enclosure of ‖b - A x‖₂ for the exact entries of A, by the bound of
// SpMV on a product with the final x and the bound of one subtraction. Without a bound on ‖A⁻¹‖₂ it
// implies nothing about ‖x - A⁻¹ b‖. Nor does CG prove A symmetric, which is not checked, or
// positive definite.
//
// CG returns an error that wraps ErrBreakdown if pᵀ A p ≤ 0, if Jacobi cannot use the diagonal, or
// if numbers leave the range; the CGResult then covers the iterations before. Too many iterations
// are no error: Converged is false.
//
// x must not overlap A and b. Operands on the host are copied once to the device of Options.Device
// = "cuda:N", and x is copied back. MemoryLimit applies to the memory of CG and to the memory of
// each of its routines. The diagonal, scalars and the bound of TrueResidual are computed on the
// host, to which A, b and x are copied.
func CG(a *Sparse, b, x *Vector, opt *CGOptions) (CGResult, error) {
	a.fits(x, b)
	if a.rows != a.cols {
		panic(errShape)
	}
	var all CGOptions
	if opt != nil {
		all = *opt
	}
	var r *run
	err := all.complete(a)
	if err == nil {
		r, err = begin("CG", &all.Options, a.Base(), a.values.view(), b.view(), x.view())
	}
	if err != nil {
		return CGResult{}, err
	}
	var result CGResult
	if r.at == nil || r.resident {
		result, err = r.cg(a, b, x, &all)
	} else {
		result, err = r.cgAway(a, b, x, &all)
	}
	return result, r.end("iterations", err)
}

// complete replaces zeros by defaults, and returns an error for an invalid option.
func (o *CGOptions) complete(a *Sparse) error {
	if o.Tolerance == nil {
		b := a.Base()
		o.Tolerance = b.NewNumber().MulPow2(b.NewNumber().SetInt64(1), -b.prec/2)
	}
	if !o.Tolerance.b.same(a.Base()) {
		panic(errBase)
	}
	if o.MaxIterations == 0 {
		o.MaxIterations = 10 * max(a.rows, 1)
	}
	switch {
	case o.Tolerance.IsNaN() || o.Tolerance.Sign() < 0:
		return fmt.Errorf("rns.CG: %w: tolerance %v", halfulp.ErrOptions, o.Tolerance)
	case o.MaxIterations < 0:
		return fmt.Errorf("rns.CG: %w: %d iterations", halfulp.ErrOptions, o.MaxIterations)
	case o.Preconditioner != NoPreconditioner && o.Preconditioner != Jacobi:
		return fmt.Errorf("rns.CG: %w: preconditioner %d", halfulp.ErrOptions, o.Preconditioner)
	}
	return nil
}

// cgAway is CG on a device, for operands that live on the host.
func (r *run) cgAway(a *Sparse, b, x *Vector, opt *CGOptions) (result CGResult, err error) {
	at := halfulp.Device(place.Label(r.at))
	da, err := a.On(at)
	if err != nil {
		return result, err
	}
	defer da.Free()
	db, err := b.On(at)
	if err != nil {
		return result, err
	}
	defer db.Free()
	dx, err := x.On(at)
	if err != nil {
		return result, err
	}
	defer dx.Free()
	r.resident = true
	if result, err = r.cg(da, db, dx, opt); err != nil {
		return result, err
	}
	return result, x.CopyFrom(dx)
}

// cgState holds the vectors and numbers of iterations, with the operands.
type cgState struct {
	*run
	parts      Options // for the routines
	a          *Sparse
	b, x       *Vector
	r, z, p, q *Vector
	inverse    *Vector // of the diagonal, nil without a preconditioner
	square     *Number // r·r
	rho        *Number // r·z of the iteration before
}

// cg is CG where its operands live.
func (r *run) cg(a *Sparse, b, x *Vector, opt *CGOptions) (CGResult, error) {
	s := &cgState{run: r, parts: r.Options, a: a, b: b, x: x}
	// The routines run where the operands live.
	s.parts.Progress, s.parts.Bound, s.parts.Stats, s.parts.Device = nil, nil, nil, halfulp.CPU
	defer s.free()
	var result CGResult
	if err := s.prepare(opt.Preconditioner); err != nil {
		return result, err
	}
	norm, err := s.start()
	if err != nil {
		return result, err
	}
	result.Residuals = append(result.Residuals, norm)
	limit := r.b.NewNumber().Mul(opt.Tolerance, norm)
	for {
		c, ordered := norm.Cmp(limit)
		if !ordered {
			return result, fmt.Errorf("%w: ‖r‖ is no number after %d iterations", ErrBreakdown, result.Iterations)
		}
		if result.Converged = c <= 0; result.Converged || result.Iterations == opt.MaxIterations {
			break
		}
		if norm, err = s.iterate(result.Iterations == 0, norm); err != nil {
			return result, err
		}
		result.Iterations++
		result.Residuals = append(result.Residuals, norm)
		s.progress(&result, limit, opt.MaxIterations)
	}
	result.TrueResidual, err = s.trueResidual()
	return result, err
}

// prepare makes the vectors.
func (s *cgState) prepare(c Preconditioner) error {
	list := []**Vector{&s.r, &s.p, &s.q}
	vectors := len(list)
	if c == Jacobi {
		list = append(list, &s.z)
		vectors += 2 // z and the inverse
	}
	if err := s.room(vectors * s.x.n); err != nil {
		return err
	}
	for _, v := range list {
		a, err := s.run.b.arrayAt(s.at, s.x.n)
		if err != nil {
			return err
		}
		*v = a.Vector(0, s.x.n, 1)
	}
	if c != Jacobi {
		s.z = s.r
		return nil
	}
	d, err := s.a.Diagonal()
	if err != nil {
		return err
	}
	one := s.run.b.NewNumber().SetInt64(1)
	for i := range d.n {
		z := d.At(i)
		if z.Sign() <= 0 {
			entry := z.String()
			return counted.New(ErrBreakdown, func(first int) string {
				return fmt.Sprintf("%v: entry (%d, %d) of the diagonal is %s, which Jacobi needs to be positive", ErrBreakdown, i+first, i+first, entry)
			})
		}
		d.Set(i, z.Quo(one, z))
	}
	s.inverse = d
	if s.at != nil {
		s.inverse, err = d.On(halfulp.Device(place.Label(s.at)))
	}
	return err
}

// free releases the vectors.
func (s *cgState) free() {
	for _, v := range []*Vector{s.r, s.p, s.q, s.z, s.inverse} {
		if v != nil {
			v.Free()
		}
	}
}

// start sets r = b - A x, and returns its norm.
func (s *cgState) start() (*Number, error) {
	if err := SpMV(s.a, s.x, s.q, &s.parts); err != nil {
		return nil, err
	}
	if err := Sub(s.b, s.q, s.r, &s.parts); err != nil {
		return nil, err
	}
	return s.norm()
}

// norm returns ‖r‖₂.
func (s *cgState) norm() (norm *Number, err error) {
	if s.square, err = Dot(s.r, s.r, &s.parts); err != nil {
		return nil, err
	}
	return s.run.b.NewNumber().Sqrt(s.square), nil
}

// iterate is one iteration, the first or a later one, and returns the norm of the residual.
func (s *cgState) iterate(first bool, norm *Number) (*Number, error) {
	rho := s.square // where z is r
	var err error
	if s.inverse != nil {
		if err = Mul(s.inverse, s.r, s.z, &s.parts); err == nil {
			rho, err = Dot(s.r, s.z, &s.parts)
		}
		if err != nil {
			return nil, err
		}
	}
	if first {
		err = s.p.CopyFrom(s.z)
	} else if err = Scal(s.run.b.NewNumber().Quo(rho, s.rho), s.p, &s.parts); err == nil {
		err = Add(s.p, s.z, s.p, &s.parts)
	}
	if err != nil {
		return nil, err
	}
	s.rho = rho
	if err := SpMV(s.a, s.p, s.q, &s.parts); err != nil {
		return nil, err
	}
	pq, err := Dot(s.p, s.q, &s.parts)
	if err != nil {
		return nil, err
	}
	if pq.Sign() <= 0 {
		return nil, fmt.Errorf("%w: pᵀ A p = %v where ‖r‖ = %v: the matrix is not positive definite, or the precision too low to tell",
			ErrBreakdown, pq, norm)
	}
	alpha := s.run.b.NewNumber().Quo(rho, pq)
	if err := Axpy(alpha, s.p, s.x, &s.parts); err != nil {
		return nil, err
	}
	if err := Maxpy(alpha, s.q, s.r, s.r, &s.parts); err != nil {
		return nil, err
	}
	return s.norm()
}

// progress reports the share of iterations done, or of the way to limit on a logarithmic scale.
func (s *cgState) progress(c *CGResult, limit *Number, most int) {
	share := float64(c.Iterations) / float64(most)
	log := func(x *Number) float64 {
		u := s.run.b.magnitude(&x.v, true)
		return math.Log2(u.F) + float64(u.I)
	}
	if !limit.IsZero() {
		first, last := log(c.Residuals[0]), log(c.Residuals[c.Iterations])
		share = max(share, (first-last)/(first-log(limit)))
	}
	if share = min(share, 0.99); share > s.done {
		s.advance(share - s.done)
	}
}

// trueResidual encloses ‖b - A x‖₂.
func (s *cgState) trueResidual() (Interval, error) {
	if _, err := s.start(); err != nil {
		return Interval{}, err
	}
	r, err := s.r.onHost()
	if err != nil {
		return Interval{}, err
	}
	b := s.run.b
	var low, up XFloat // of the square
	err = s.a.rowBounds(s.run.ctx, s.x, func(i int, bound XFloat) {
		v := r.val(i)
		if v.isNaN() {
			up = xInf
			return
		}
		// The error of the subtraction was at most u/(1 - u) < 2 u times its result.
		high := b.magnitude(&v, true)
		bound = bound.AddUp(b.u.Scale(1).MulUp(high))
		high, rest := high.AddUp(bound), b.magnitude(&v, false).SubDown(bound)
		low, up = low.AddDown(rest.MulDown(rest)), up.AddUp(high.MulUp(high))
	})
	if up.isInf() {
		low = xZero
	}
	return Interval{low.sqrt(false), up.sqrt(true)}, err
}
