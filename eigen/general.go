package eigen

import (
	"errors"
	"fmt"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/eigen/internal/sym"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/linsolve"
)

// SymGeneral returns the eigenvalues and eigenvectors of A x = λ B x, for symmetric n x n matrices
// A and B of which B is positive definite. Every eigenvalue is the exact one rounded once to format
// f, whatever the condition of A and B. Eigenvectors satisfy xᵀ B x = 1. A and B may have different
// formats; the results live where A and B do.
//
//	z, err := eigen.SymGeneral(a, b, halfulp.Float64, nil)
//
// Signs, bases of clusters and undecided entries of the vectors, and the errors, are as for [Sym].
// The error is a *linsolve.NotPositiveDefiniteError, which names a leading minor, if B is proved
// not to be positive definite. SymGeneral panics if the shapes do not fit, or for positions in
// Index that do not exist.
//
// Method. B = L Lᵀ and L^-1 are computed in enough bits that L^-1 B L^-T is near the unit matrix.
// The float64 eigenvectors of L^-1 A L^-T are the first approximation, which is improved as in Sym
// with R = I - Xᵀ B X.
func SymGeneral(a, b *halfulp.Matrix, f halfulp.Format, opt *SymOptions) (*SymResult, error) {
	n := a.Rows()
	if a.Cols() != n || b.Rows() != n || b.Cols() != n {
		panic(errShape)
	}
	var o SymOptions
	if opt != nil {
		o = *opt
	}
	want := wanted(&o, n)
	s, on, err := start("SymGeneral", o.Options, a.View(), b.View())
	if err != nil {
		return nil, err
	}
	z, err := func() (sym.Result, error) {
		for i, m := range on {
			name := []string{"A", "B"}[i]
			if err := call.Finite(name, m); err != nil {
				return sym.Result{}, err
			}
			if err := sym.Symmetric(s, name, m); err != nil {
				return sym.Result{}, err
			}
		}
		inner := o.Options
		inner.Stats, inner.Progress = nil, nil
		z, err := sym.ByBlocks(s, on[0], on[1], f.View(), want, func(a, b num.Mat, f num.Format, want sym.Wanted) (sym.Result, error) {
			if err := sym.CheckGeneral(s, a, b, f, want); err != nil {
				return sym.Result{}, err
			}
			for bits := uint(64); ; bits *= 2 {
				// The problem itself takes about as long as its reduction.
				product := call.ProductOf(a.Rows, a.Rows, a.Rows, int(bits))
				reduction := call.InvertInCost(a.Rows, int(bits))
				reduction += 3 * product // may fuse: an estimate
				s.Plan(2 * reduction)
				x, err := reduced(s, halfulp.MatrixOf(a), halfulp.MatrixOf(b), halfulp.MP(bits), &inner)
				if err != nil {
					return sym.Result{}, err
				}
				s.Did(reduction)
				s.Stage("reduction")
				z, err := sym.General(s, a, b, x.View(), f, want)
				if !errors.Is(err, sym.ErrSeed) || bits > 1<<16 {
					return z, err
				}
			}
		})
		if indefinite := (*linsolve.NotPositiveDefiniteError)(nil); errors.As(err, &indefinite) && indefinite.Order < n {
			// A block of B is not definite: find the minor of B itself.
			if _, whole := linsolve.Cholesky(halfulp.MatrixOf(on[1]), halfulp.Float64, &inner); whole != nil {
				err = fmt.Errorf("matrix B: %w", whole)
			}
		}
		return z, err
	}()
	if err := ended("SymGeneral", o.Options, s, err); err != nil {
		return nil, err
	}
	return symResult(z, a.View())
}

// reduced returns approximate eigenvectors X = L^-T W of A x = λ B x, with B = L Lᵀ in format f and
// the float64 eigenvectors W of L^-1 A L^-T.
func reduced(s *call.Run, a, b *halfulp.Matrix, f halfulp.Format, opt *halfulp.Options) (*halfulp.Matrix, error) {
	l, err := linsolve.Cholesky(b, f, opt)
	if err != nil {
		return nil, fmt.Errorf("matrix B: %w", err)
	}
	z, err := linsolve.Inverse(l.L, f, opt)
	if err != nil {
		return nil, err
	}
	t, err := halfulp.Mul(z, a, f, opt)
	if err != nil {
		return nil, err
	}
	c, err := halfulp.Mul(t, z.T(), f, opt)
	if err != nil {
		return nil, err
	}
	w, err := sym.Seed(s, c.View())
	if err != nil {
		return nil, err
	}
	return halfulp.Mul(z.T(), halfulp.MatrixOf(w), f, opt)
}
