package eigen

import (
	"errors"
	"fmt"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/modular"
	"github.com/halfulp/halfulp/internal/residue"
	"github.com/halfulp/halfulp/linsolve"
)

// ErrRCond is wrapped by errors about an RCond that is negative, infinite or NaN, or that is given
// together with weights.
var ErrRCond = errors.New("RCond must be finite and not negative, and has no weights")

// Options select which singular values are treated as 0.
type Options struct {
	halfulp.Options
	// RCond, if not nil, is a tolerance c ≥ 0 as in numpy: singular values σ ≤ c σ_max are treated
	// as 0. The numbers that are compared are the singular values, and c times the largest of them.
	// Each is correctly rounded, to the bits of the format of the result, or of A for Rank, with
	// exponents of any size. So equal input gives the same choice everywhere. If RCond is nil, the
	// rank of A is exact: matrices whose entries were rounded mostly have full rank, and
	// pseudo-inverses with entries of 1e16.
	RCond *halfulp.Scalar
}

// Rank returns the rank of a matrix. Without a tolerance it is linsolve.Rank: the exact rank,
// proved. With a tolerance c it is the number of singular values σ > c σ_max, all rounded to the
// bits of the format of A (see Options).
//
// The error wraps ErrRCond for an invalid tolerance. Other errors are as for [SVD] and
// linsolve.Rank.
func Rank(a *halfulp.Matrix, opt *Options) (int, error) {
	var o Options
	if opt != nil {
		o = *opt
	}
	if o.RCond == nil {
		r, err := linsolve.Rank(a, &o.Options)
		if err != nil {
			return 0, fmt.Errorf("eigen: %w", err)
		}
		return r, nil
	}
	if err := o.check(); err != nil {
		return 0, fmt.Errorf("Rank: %w", err)
	}
	r, err := kept(a, a.NumberFormat(), *o.RCond, &o.Options)
	if err != nil {
		return 0, fmt.Errorf("Rank: %w", err)
	}
	return r, nil
}

// check returns an error for an invalid tolerance.
func (o *Options) check() error {
	if c := o.RCond; c != nil && (c.IsNaN() || c.IsInf(0) || c.Big().Sign() < 0) {
		return fmt.Errorf("RCond is %v: %w", *c, ErrRCond)
	}
	return nil
}

// Pinv returns the pseudo-inverse (Moore and Penrose) A⁺ of an m x n matrix A of any rank: the n x
// m matrix X with A X A = A and X A X = X for which A X and X A are symmetric. Every entry is the
// exact one rounded once to format f, ties to even, whatever the condition of A. Zeros are +0. X
// lives where A does.
//
//	x, err := eigen.Pinv(a, halfulp.Float64, nil)
//
// With a tolerance (see Options), the singular values that are treated as 0 are replaced by 0
// before the pseudo-inverse is formed. If they are all exactly 0, the tolerance changes nothing.
// Otherwise its entries are rounded from enclosures with up to 4p + 64 bits, for a format
// of p bits; an entry that they leave open is almost certainly 0 or halfway between two numbers of
// the format. It becomes the simplest number of its enclosure, and Stats.Proof.Undecided counts it.
//
// The error wraps linsolve.ErrNotFinite for infinities and NaN in A, ErrRCond for an invalid
// tolerance, and linsolve.ErrRange if exponents are so far apart that no format holds the exact
// equations. Memory limits are as for linsolve.Solve.
//
// Method. For full rank X is the inverse, or the solution of AᵀA X = Aᵀ or of X AAᵀ = Aᵀ. For a
// rank r below m and n, an elimination modulo a prime finds r columns C and r rows F of A that are
// independent, and
//
//	A⁺ = Fᵀ K^-1 Cᵀ,  K = Cᵀ A Fᵀ
//
// (Ben-Israel and Greville, Generalized inverses, 2003, section 1.6, for A = C W^-1 F, where W has
// the common entries of C and F). K is formed without rounding. The product is part of the solution
// of a linear system of order 2 r or so, so its entries, ties and zeros are decided as in
// linsolve.Solve.
func Pinv(a *halfulp.Matrix, f halfulp.Format, opt *Options) (*halfulp.Matrix, error) {
	var o Options
	if opt != nil {
		o = *opt
	}
	if err := o.check(); err != nil {
		return nil, fmt.Errorf("Pinv: %w", err)
	}
	m, n := a.Dims()
	o.Progress = par.Rising(o.Progress)
	var singular error
	if o.RCond == nil && m == n {
		x, err := linsolve.Inverse(a, f, &o.Options)
		singular = err
		if !errors.Is(err, linsolve.ErrSingular) {
			if err != nil {
				err = fmt.Errorf("Pinv: %w", err)
			}
			return x, err
		}
	}
	s, on, err := start("Pinv", o.Options, a.View())
	if err != nil {
		return nil, err
	}
	z, err := func() (num.Mat, error) {
		p, err := newProblem(s, f, &o.Options, on[0], num.Mat{}, num.Mat{})
		if err != nil {
			return num.Mat{}, err
		}
		p.learn(singular)
		if o.RCond != nil {
			if z, err := p.truncated(*o.RCond); z.Arr != nil || err != nil {
				return z, err
			}
		}
		return p.pinv()
	}()
	if err := ended("Pinv", o.Options, s, err); err != nil {
		return nil, err
	}
	return moved(z, a.View())
}

// pinv returns the pseudo-inverse of A, by the normal equations if their matrix is regular and
// takes less memory than the augmented system.
func (p *problem) pinv() (num.Mat, error) {
	m, n := p.a.Dims()
	if m == n || m == 0 || n == 0 {
		return p.deficient()
	}
	tall := p.a
	if m < n {
		tall = tall.T()
	}
	width, order := productBits(tall, tall), int64(tall.Cols)
	if width > num.MaxPrec || order*order*width > int64(m+n)*int64(m+n)*(bound.Longest(p.a)+64) {
		z, err := linsolve.LeastSquares(halfulp.MatrixOf(p.a), halfulp.Identity(halfulp.Float64, m), p.f, &linsolve.LeastSquaresOptions{Options: *p.inner()})
		if errors.Is(err, linsolve.ErrSingular) {
			p.learn(err)
			return p.deficient()
		}
		if err != nil {
			return num.Mat{}, err
		}
		p.absorb()
		return z.View(), nil
	}
	square, err := p.exactProduct(tall, tall)
	if err != nil {
		return num.Mat{}, err
	}
	p.s.Stage("equations")
	z, err := linsolve.Solve(halfulp.MatrixOf(square), halfulp.MatrixOf(tall.T()), p.f, p.inner())
	if errors.Is(err, linsolve.ErrSingular) {
		p.learn(err)
		return p.deficient()
	}
	if err != nil {
		return num.Mat{}, err
	}
	p.absorb()
	if m < n {
		z = z.T()
	}
	return z.View(), nil
}

// problem is a least-squares problem of any rank, on the host: X = (√W A)⁺ √W B.
type problem struct {
	s   *call.Run
	f   halfulp.Format
	opt halfulp.Options // of routines that the routine calls
	st  halfulp.Stats   // of the last one

	a num.Mat // m x n
	b num.Mat // m x k; without an array it is the unit matrix
	w num.Mat // m x 1, positive; without an array all weights are 1

	rank  int            // of A, -1: not known
	prime *modular.Field // modulo which A has this rank; nil: not known
}

// newProblem checks the operands. Rows of weight 0 are left out.
func newProblem(s *call.Run, f halfulp.Format, opt *halfulp.Options, a, b, w num.Mat) (*problem, error) {
	p := &problem{s: s, f: f, opt: *opt, a: a, b: b, rank: -1}
	p.opt.Progress = s.Work.Report
	s.Stats.Method = call.Method
	for i, m := range []num.Mat{a, b} {
		if m.Arr == nil {
			continue
		}
		if err := call.Finite([]string{"A", "B"}[i], m); err != nil {
			return nil, err
		}
		if bound.Far(m, 1<<27) {
			return nil, fmt.Errorf("exponents beyond 2^27: %w", call.ErrRange)
		}
	}
	if w.Arr == nil {
		return p, nil
	}
	if bound.Far(w, 1<<27) {
		return nil, fmt.Errorf("exponents of weights beyond 2^27: %w", call.ErrRange)
	}
	var rows []int
	for i := range w.Rows {
		if w.Big(i, 0).Sign() != 0 {
			rows = append(rows, i)
		}
	}
	p.a, p.b, p.w = chosenRows(a, rows), chosenRows(b, rows), chosenRows(w, rows)
	return p, nil
}

// learn notes the rank of A that an error about A, or about AᵀA, states with a proof.
func (p *problem) learn(err error) {
	if e := (*linsolve.SingularError)(nil); errors.As(err, &e) {
		p.rank = e.Rank
	}
	if e := (*linsolve.RankError)(nil); errors.As(err, &e) {
		p.rank = e.Rank
	}
}

// provedRank returns the rank of A, and a prime modulo which A has this rank.
func (p *problem) provedRank() (r int, prime *modular.Field, err error) {
	if p.prime != nil {
		return p.rank, p.prime, nil
	}
	if p.rank < 0 {
		p.rank, p.prime, err = modular.Rank(p.s, p.a)
		return p.rank, p.prime, err
	}
	for next := modular.Primes(); ; {
		prime := modular.New(next())
		rows, err := prime.Matrix(p.s.Ctx, p.s.Threads, p.a)
		if err != nil {
			return 0, nil, err
		}
		pivots, _, err := prime.Eliminate(p.s.Ctx, p.s.Threads, rows, p.a.Cols, false)
		if err != nil {
			return 0, nil, err
		}
		p.s.Stats.Primes++
		if len(pivots) == p.rank {
			p.prime = prime
			return p.rank, prime, nil
		}
	}
}

// inner returns the options of a routine that the routine calls.
func (p *problem) inner() *halfulp.Options {
	o := p.opt
	p.st = halfulp.Stats{}
	o.Stats = &p.st
	return &o
}

// within is inner for a routine whose progress is reported as a share from lo to hi.
func (p *problem) within(lo, hi float64) *halfulp.Options {
	o := p.inner()
	if report := o.Progress; report != nil {
		o.Progress = func(done float64) { report(lo + (hi-lo)*done) } // may fuse: an estimate
	}
	return o
}

// quiet is inner for a routine that takes a small part of the time, which reports no progress.
func (p *problem) quiet() *halfulp.Options {
	o := p.inner()
	o.Progress = nil
	return o
}

// checked adds the comparisons of the last routine to those of the run, and returns its error.
func (p *problem) checked(err error) error {
	if p.s != nil && p.s.Stats.Check != nil && p.st.Check != nil {
		p.s.Stats.Check.Add(residue.Check(*p.st.Check))
	}
	return err
}

// absorb adds the statistics of the last routine to those of the run.
func (p *problem) absorb() {
	_ = p.checked(nil)
	t, from := &p.s.Stats, &p.st
	t.Device, t.Threads = from.Device, from.Threads
	t.Exact += from.Exact
	t.Overflow += from.Overflow
	t.Underflow += from.Underflow
	t.Steps += from.Steps
	t.Precision = max(t.Precision, from.Precision)
	t.Primes += from.Primes
	t.Ties += from.Ties
	t.Digits += from.Digits
	t.Undecided += from.Undecided
	t.Cond, t.Rounds, t.Rho, t.Solved = from.Cond, t.Rounds+from.Rounds, float64(from.Rho), t.Solved+from.Solved
	p.s.Stage("solution")
}
