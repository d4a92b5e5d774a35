package roots

import (
	"errors"
	"math/big"
	"slices"
	"sync/atomic"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/proof/call"
)

// ErrZeroPolynomial is wrapped by errors about polynomials all of whose coefficients are 0.
var ErrZeroPolynomial = errors.New("the polynomial is 0: every number is a root")

// side is the polynomial whose roots in (0, 1), times 2^scale and -1 if neg is set, are roots of
// the given polynomial.
type side struct {
	p            poly
	neg          bool
	scale        int64
	multiplicity int
}

// located is a bracket of a root of a side.
type located struct {
	*side
	bracket
}

// Real returns the real roots of the polynomial with coefficients c in ascending powers, which are
// finite, in ascending order and rounded to format f.
func Real(s *call.Run, c num.Vec, f num.Format) (*num.Array, error) {
	p, scale, zeros, err := read(c, &s.Budget)
	if err != nil {
		return nil, err
	}
	if p == nil {
		return nil, ErrZeroPolynomial
	}
	var sides []*side
	if p.degree() > 0 {
		factors, err := squareFree(s.Ctx, p)
		if err != nil {
			return nil, err
		}
		s.Stage("factors")
		for _, g := range factors {
			by := g.p.bound()
			for _, neg := range []bool{true, false} {
				q := g.p
				if neg {
					q = q.mirrored()
				}
				sides = append(sides, &side{q.scaled(by), neg, scale + int64(by), g.multiplicity})
			}
		}
	}
	brackets := make([][]bracket, len(sides))
	errs := make([]error, len(sides))
	if err := par.For(s.Ctx, s.Threads, len(sides), func(_, i int) {
		brackets[i], errs[i] = isolate(s.Ctx, s.Budget, sides[i].p)
	}); err != nil {
		return nil, err
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	s.Stage("isolation")
	var all []located
	for i, list := range brackets {
		for _, b := range list {
			all = append(all, located{sides[i], b})
		}
	}
	results := make([]rounded, len(all))
	var done atomic.Int64
	report := s.Work.Report
	if err := par.For(s.Ctx, s.Threads, len(all), func(_, i int) {
		x := all[i]
		// The error is the context's, which For returns.
		results[i], _ = newRefiner(x.bracket, x.p).round(s.Ctx, newRounder(f), x.neg, x.scale)
		if n := done.Add(1); report != nil {
			report(float64(n) / float64(len(all)+1))
		}
	}); err != nil {
		return nil, err
	}
	s.Stage("refinement")
	type repeated struct {
		rounded
		neg   bool
		key   *big.Float
		times int
	}
	var sorted []repeated
	if zeros > 0 {
		zero := num.New(f, 1)
		sorted = append(sorted, repeated{rounded{value: zero.Scalar(0)}, false, new(big.Float), zeros})
	}
	n := zeros
	for i, z := range results {
		sorted = append(sorted, repeated{z, all[i].neg, z.value.Big(), all[i].multiplicity})
		n += all[i].multiplicity
	}
	slices.SortStableFunc(sorted, func(a, b repeated) int {
		if c := a.key.Cmp(b.key); c != 0 {
			return c
		}
		return boolInt(b.neg) - boolInt(a.neg) // -0 before +0
	})
	z := num.New(f, n)
	at := 0
	for _, x := range sorted {
		for range x.times {
			z.CopyFrom(at, x.value.Array(), 0)
			at++
			count(s, x.rounded)
		}
	}
	return z, nil
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// count adds a result to the statistics.
func count(s *call.Run, z rounded) {
	s.Stats.Exact += int64(boolInt(z.exact))
	s.Stats.Overflow += int64(boolInt(z.flags&num.Overflow != 0))
	s.Stats.Underflow += int64(boolInt(z.flags&num.Underflow != 0))
	s.Stats.Undecided += boolInt(z.open)
}
