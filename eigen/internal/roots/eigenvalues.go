package roots

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"sync/atomic"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/proof/budget"
	"github.com/halfulp/halfulp/internal/proof/call"
)

// A block is a part of a symmetric tridiagonal matrix between off-diagonal entries that are 0,
// times 2^-scale.
type block struct {
	d, e  []*big.Float
	scale int64
	t     *tridiagonal
	of    budget.Budget
}

// Eigenvalues returns the eigenvalues of the symmetric tridiagonal matrix with diagonal d and
// off-diagonal e, which are finite, in ascending order and rounded to format f.
func Eigenvalues(s *call.Run, d, e num.Vec, f num.Format) (*num.Array, error) {
	var blocks []*block
	for first := 0; first < d.N; {
		last := first
		for last+1 < d.N && e.Arr.Class(e.At(last)) != num.Zero {
			last++
		}
		b, err := blockOf(d.Slice(first, last+1), e.Slice(first, last))
		if err != nil {
			return nil, err
		}
		b.of = s.Budget
		blocks = append(blocks, b)
		first = last + 1
	}
	if err := par.For(s.Ctx, s.Threads, len(blocks), func(_, i int) { blocks[i].prepare() }); err != nil {
		return nil, err
	}
	s.Stage("seeds")
	type place struct{ block, i int }
	var all []place
	for k, b := range blocks {
		for i := range b.d {
			all = append(all, place{k, i})
		}
	}
	results, errs := make([]rounded, len(all)), make([]error, len(all))
	var done atomic.Int64
	report := s.Work.Report
	if err := par.For(s.Ctx, s.Threads, len(all), func(_, j int) {
		at := all[j]
		results[j], errs[j] = blocks[at.block].rounded(s.Ctx, at.i, newRounder(f))
		if n := done.Add(1); report != nil {
			report(float64(n) / float64(len(all)+1))
		}
	}); err != nil {
		return nil, err
	}
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	s.Stage("eigenvalues")
	type sorted struct {
		rounded
		key *big.Float
	}
	list := make([]sorted, len(all))
	for j, z := range results {
		list[j] = sorted{z, z.value.Big()}
		count(s, z)
	}
	slices.SortStableFunc(list, func(a, b sorted) int {
		if c := a.key.Cmp(b.key); c != 0 {
			return c
		}
		return boolInt(b.key.Signbit()) - boolInt(a.key.Signbit()) // -0 before +0
	})
	z := num.New(f, len(list))
	for j, x := range list {
		z.CopyFrom(j, x.value.Array(), 0)
	}
	return z, nil
}

// mostSpread bounds the exponents of a block apart: products and quotients of its entries stay in
// the range of big.Float.
const mostSpread = 1 << 28

// blockOf returns a block with entries below 1 in magnitude.
func blockOf(d, e num.Vec) (*block, error) {
	some, top, low := false, int64(0), int64(0)
	for _, v := range []num.Vec{d, e} {
		for i := range v.N {
			if c, h, l := v.Arr.Span(v.At(i)); c == num.Finite {
				if !some {
					some, top, low = true, h, l
				}
				top, low = max(top, h), min(low, l)
			}
		}
	}
	if top-low > mostSpread {
		return nil, fmt.Errorf("exponents of a block spread over more than 2^28: %w", call.ErrRange)
	}
	scaled := func(v num.Vec) []*big.Float {
		list := make([]*big.Float, v.N)
		for i := range list {
			r := v.Arr.Value(v.At(i), make([]uint64, num.MaxValueWords))
			list[i] = new(big.Float)
			if r.Class == num.Finite {
				list[i].SetInt(num.ToInt(r.Mag))
				list[i].SetMantExp(list[i], int(r.Exp-top))
				if r.Neg {
					list[i].Neg(list[i])
				}
			}
		}
		return list
	}
	return &block{d: scaled(d), e: scaled(e), scale: top}, nil
}

// prepare computes approximate eigenvalues.
func (b *block) prepare() {
	if len(b.d) == 1 {
		return
	}
	b.t = newTridiagonal(len(b.d), func(w uint) (a, square []*big.Float) {
		for _, x := range b.d {
			a = append(a, new(big.Float).SetPrec(w).Set(x))
		}
		for _, x := range b.e {
			square = append(square, new(big.Float).SetPrec(w).Mul(x, x))
		}
		return a, square
	})
}

// rounded returns eigenvalue i, times 2^scale.
func (b block) rounded(ctx context.Context, i int, to rounder) (rounded, error) {
	times := func(x *big.Float) dyadic {
		y := dyadicOf(x)
		y.e += b.scale
		return y
	}
	if b.t == nil {
		z := to.exactly(times(b.d[0]))
		z.exact = false
		return z, nil
	}
	x := b.t.eigenvalue(i)
	w := uint(to.two.Bits()) + guardBits
	exact := false
	for {
		// A level has two numbers for each row, and a pass a third one.
		if err := b.of.Check(3 * float64(w) / 8 * float64(len(b.d))); err != nil {
			return rounded{}, fmt.Errorf("an eigenvalue in %d bits: %w", w, err)
		}
		if err := x.refine(ctx, w); err != nil {
			return rounded{}, err
		}
		if z, ok := to.decide(times(x.lo), times(x.hi)); ok {
			z.exact = exact
			return z, nil
		}
		if w > 128 {
			t := simplest(x.lo, x.hi)
			below, equal, err := b.compare(ctx, t)
			switch {
			case err != nil:
				return rounded{}, err
			case below > i:
				x.hi = t
			case below == i && equal:
				return to.exactly(times(t)), nil
			default:
				x.lo = t
			}
			exact = true
		}
		w = max(2*w, 192)
	}
}

// simplest returns the number from lo to hi with the fewest significant bits.
func simplest(lo, hi *big.Float) *big.Float {
	switch {
	case lo.Sign() <= 0 && hi.Sign() >= 0:
		return new(big.Float)
	case hi.Sign() < 0:
		z := simplest(new(big.Float).Neg(hi), new(big.Float).Neg(lo))
		return z.Neg(z)
	}
	low := min(lo.MantExp(nil)-int(lo.MinPrec()), hi.MantExp(nil)-int(hi.MinPrec()))
	integer := func(x *big.Float) *big.Int {
		n, _ := new(big.Float).SetMantExp(x, -low).Int(nil)
		return n
	}
	// Of the integers from p to q, the one with the most trailing zeros.
	p, q := integer(lo), integer(hi)
	p.Sub(p, big.NewInt(1))
	end := uint(p.Xor(p, q).BitLen() - 1)
	q.Rsh(q, end)
	return new(big.Float).SetMantExp(new(big.Float).SetInt(q), int(end)+low)
}

// compare returns the number of eigenvalues below x, and whether x is one, from the signs of the
// leading minors of T - x I in integers (Sturm).
func (b *block) compare(ctx context.Context, x *big.Float) (below int, equal bool, err error) {
	low := x.MantExp(nil) - int(x.MinPrec())
	for _, list := range [][]*big.Float{b.d, b.e} {
		for _, y := range list {
			if y.Sign() != 0 {
				low = min(low, y.MantExp(nil)-int(y.MinPrec()))
			}
		}
	}
	// Three minors of up to n entries each.
	if err := b.of.Check(3 * float64(len(b.d)) * float64(1-low) / 8); err != nil {
		return 0, false, fmt.Errorf("minors of %d bits: %w", len(b.d)*(1-low), err)
	}
	integer := func(x *big.Float) *big.Int {
		n, _ := new(big.Float).SetMantExp(x, -low).Int(nil)
		return n
	}
	shift := integer(x)
	before, minor, t := new(big.Int), big.NewInt(1), new(big.Int)
	last := 1
	for k, d := range b.d {
		if err := ctx.Err(); err != nil {
			return 0, false, err
		}
		next := new(big.Int).Sub(integer(d), shift)
		next.Mul(next, minor)
		if k > 0 {
			e := integer(b.e[k-1])
			next.Sub(next, t.Mul(before, e.Mul(e, e)))
		}
		before, minor = minor, next
		// A minor that is 0 lies between two of opposite signs; it counts with either sign.
		if s := minor.Sign(); s != 0 {
			if s != last {
				below++
			}
			last = s
		}
	}
	return below, minor.Sign() == 0, nil
}
