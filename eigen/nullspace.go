package eigen

import (
	"fmt"
	"math/big"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/eigen/internal/sym"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/interval"
	"github.com/halfulp/halfulp/linsolve"
)

// NullSpace returns a basis of the null space of an m x n matrix A, in format f, as the columns of
// an n x k matrix Z, which lives where A does.
//
//	z, err := eigen.NullSpace(a, halfulp.Float64, &eigen.Options{RCond: &c})
//
// Without a tolerance, for RCond nil or 0, it is linsolve.NullSpace: k is n minus the exact rank,
// and Z has an identity matrix in some of its rows.
//
// With a tolerance c > 0, k is n minus the number of singular values σ > c σ_max, all rounded to
// the bits of f as for [Rank] (see Options), and the columns of Z are an orthonormal basis of the
// span of the other right singular vectors: for m < n also of those without a singular value. This
// basis is unique: with P the projector on the span, Z is the Cholesky factor of P with pivots,
// P = Z Zᵀ, where each pivot is the first diagonal entry that exceeds π/4 of the largest one left.
// That is the rule for bases of clusters in [Sym].
//
// The entries of Z are then correctly rounded, but for two exceptions that Stats.Proof.Undecided
// counts. With p the bits of f, an entry below 2^-(4p + 64) becomes 0. An entry that an enclosure
// with an error of 2^-(5p + 96) does not decide, almost certainly because it is halfway between two
// numbers of the format, is rounded as if it were. Entries that are 0 because A is block diagonal
// after permutations of rows and columns are 0 and are not counted.
//
// The error wraps ErrRCond for an invalid tolerance. Other errors are as for [SVD] and
// linsolve.NullSpace.
//
// Method. P = I - V Vᵀ is enclosed with singular vectors V to the larger singular values, whose
// residuals bound the distance of their span from the exact one, in more and more bits.
func NullSpace(a *halfulp.Matrix, f halfulp.Format, opt *Options) (*halfulp.Matrix, error) {
	var o Options
	if opt != nil {
		o = *opt
	}
	const name = "NullSpace"
	if err := o.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if o.RCond == nil || o.RCond.Big().Sign() == 0 {
		z, err := linsolve.NullSpace(a, f, &o.Options)
		if err != nil {
			err = fmt.Errorf("eigen: %w", err)
		}
		return z, err
	}
	s, on, err := start(name, o.Options, a.View())
	if err != nil {
		return nil, err
	}
	z, err := func() (num.Mat, error) {
		p, err := newProblem(s, f, &o.Options, on[0], num.Mat{}, num.Mat{})
		if err != nil {
			return num.Mat{}, err
		}
		return p.nullSpace(*o.RCond)
	}()
	if err := ended(name, o.Options, s, err); err != nil {
		return nil, err
	}
	return moved(z, a.View())
}

// nullSpace returns the basis for the tolerance c.
func (p *problem) nullSpace(c halfulp.Scalar) (num.Mat, error) {
	m, n := p.a.Dims()
	a := halfulp.MatrixOf(p.a)
	kept, err := kept(a, p.f, c, p.within(0, 0.3))
	if p.checked(err) != nil {
		return num.Mat{}, err
	}
	p.s.Stage("singular values")
	z := num.NewMat(p.f.View(), n, n-kept)
	if kept == 0 {
		unit(z, 0, 0, n)
	}
	if kept == 0 || kept == n {
		return z, nil
	}
	root := connected(p.a)
	least := int64(-4*p.f.Bits() - 64)
	for try, bits := 0, p.f.Bits()+64; ; try, bits = try+1, bits*2 {
		p.s.Stats.Precision = bits
		q, beta, err := p.complement(a, halfulp.MP(uint(bits)), kept, try)
		if err != nil {
			return num.Mat{}, err
		}
		p.s.Stage("projector")
		if beta == nil {
			continue
		}
		in := interval.Prec(2 * bits)
		minus := new(big.Float).Neg(beta)
		basis, err := sym.ProjectorBasis(p.s, in, n, n-kept, func(i, j int) interval.Interval {
			if root[m+i] != root[m+j] {
				return interval.OfInt(0)
			}
			x := q.Big(i, j)
			return interval.Interval{Lo: in.Down().Add(x, minus), Hi: in.Up().Add(x, beta)}
		})
		if err != nil {
			return num.Mat{}, err
		}
		if !decided(basis, p.f, least) {
			continue
		}
		for j, column := range basis {
			for i, x := range column {
				sym.Settle(p.s, z, i, j, x, least)
			}
		}
		p.s.Stage("basis")
		return z, nil
	}
}

// complement returns the projector I - V Vᵀ on the complement of the right singular vectors of the
// k largest singular values, computed in format f, and a bound of the errors of its entries; the
// bound is nil if it is not small.
//
// In the notation of truncated, V Vᵀ has the blocks C Cᵀ, C xᵀ, x Cᵀ and x xᵀ in the basis [V1 V2],
// and CᵀC = VᵀV - xᵀx. So
//
//	‖V Vᵀ - V1 V1ᵀ‖ ≤ α + θ² + d θ.
func (p *problem) complement(a *halfulp.Matrix, f halfulp.Format, k, try int) (*halfulp.Matrix, *big.Float, error) {
	svd, s, next, err := p.triplets(a, f, k, try)
	if err != nil {
		return nil, nil, err
	}
	bits := f.Bits()
	e, err := p.subspaces(a, svd.U, svd.V, s, next, bits, p.f.Bits())
	if e == nil || err != nil {
		return nil, nil, err
	}
	if err := p.s.Budget.Check(float64(call.MatrixBytes(call.MP(2*bits), a.Cols(), a.Cols()))); err != nil {
		return nil, nil, err
	}
	q := halfulp.Identity(halfulp.MP(uint(2*bits)), a.Cols())
	err = halfulp.Gemm(halfulp.NoTrans, halfulp.Trans, halfulp.Float(-1), svd.V, svd.V, halfulp.Float(1), q, p.quiet())
	if p.checked(err) != nil {
		return nil, nil, err
	}
	// Entries of V Vᵀ are at most 3/2; rounding is in error by 2^-2bits at most. 5/4 exceeds d.
	beta := upperSum(e.alpha, upperSum(upperProduct(e.theta, e.theta), upperProduct(big.NewFloat(1.25), e.theta)))
	return q, upperSum(beta, new(big.Float).SetMantExp(big.NewFloat(1), 1-2*bits)), nil
}

// decided reports whether enclosures of a basis decide the entries in format f, or are so narrow
// that undecided ones are settled. Entries below 2^least become 0.
func decided(basis [][]interval.Interval, f halfulp.Format, least int64) bool {
	limit := new(big.Float).SetMantExp(big.NewFloat(1), int(least))
	open := basis == nil
	for _, column := range basis {
		for _, x := range column {
			width := new(big.Float).SetPrec(64).Sub(x.Hi, x.Lo)
			if width.Sign() == 0 || width.MantExp(nil) <= -5*f.Bits()-96 {
				continue
			}
			below := x.Below(limit)
			above := x.Lo.Cmp(limit) >= 0 || new(big.Float).Neg(x.Hi).Cmp(limit) >= 0
			open = open || !below && !(above && num.NewScalar(f.View(), x.Lo).Same(num.NewScalar(f.View(), x.Hi)))
		}
	}
	return !open
}
