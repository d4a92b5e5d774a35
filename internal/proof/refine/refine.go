package refine

import (
	"fmt"
	"math/big"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/modular"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/proof/ziv"
)

// Open is refine for the open columns alone. It leaves no column open.
func Open(s *call.Run, a, b num.Mat, p *seed.Approximate, cond int, z num.Mat, todo []*ziv.Entries) error {
	var list []*ziv.Entries
	for _, e := range todo {
		if e != nil {
			list = append(list, e)
		}
	}
	if len(list) == len(todo) {
		return refine(s, a, b, p, cond, z, todo)
	}
	n := a.Rows
	right, x := num.NewMat(b.Format(), n, len(list)), num.NewMat(z.Format(), n, len(list))
	part := ziv.NewEntries(s, a, right, x)
	from, to, mx, mz := b, right, x, z
	for c, e := range list {
		part[c].Open = append([]int(nil), e.Open...)
		for i := range n {
			to.Arr.CopyFrom(to.At(i, c), from.Arr, from.At(i, e.J))
			mx.Arr.CopyFrom(mx.At(i, c), mz.Arr, mz.At(i, e.J))
		}
	}
	if err := refine(s, a, right, p, cond, x, part); err != nil {
		return err
	}
	for c, e := range list {
		for _, i := range e.Open {
			mz.Arr.CopyFrom(mz.At(i, e.J), mx.Arr, mx.At(i, c))
		}
	}
	clear(todo)
	return nil
}

// mostFarBits bounds the bits beyond the bits of the format that solutions take where exponents are
// far apart: a few entries take seconds.
const mostFarBits = 1 << 12

// refine stores the rounded solution in z, for the entries open in todo; the condition number is
// below 2^cond.
func refine(s *call.Run, a, b num.Mat, p *seed.Approximate, cond int, z num.Mat, todo []*ziv.Entries) error {
	n, k := b.Rows, b.Cols
	target := z.Format().Bits() + 64
	if err := call.Workable(max(target, cond+64), b); err != nil {
		return err
	}
	known := p.Gain // about how many bits of X are right
	// Numbers that are not ties differ from every tie within this many bits.
	integers := modular.ToIntegers(a)
	most := min(target+2*integers.MinorBits()+int(ziv.ColumnBits(b))+1<<16, bound.MaxBits)
	// No format has so many bits, and fewer are unlikely to suffice.
	if integers.MostBits() > bound.MaxBits/4 {
		most = min(most, target+mostFarBits)
	}
	enough := enough(p, integers, b, z.Format(), cond)
	width := func() int { return min(int(known+p.Gain)+64, target) }

	// How many bits of the largest entries of X are proved to be right. X - R B is at most rho
	// times X, and a step leaves the same share of an error, plus the rounding of X.
	proved := min(p.Proved(), float64(width()-4))
	var x, r num.Mat // the solution so far, and its residual
	// 1/(1 - rho), rounded up
	more := bound.Upper().Quo(p.Rho, new(big.Float).SetPrec(64).SetMode(big.ToNegativeInf).Sub(big.NewFloat(1), p.Rho))
	var suspected []ziv.Suspects
	left, missing := 0, float64(target)
	for _, e := range todo {
		if e != nil {
			left++
		}
	}
	// improve adds R r to X, in as many bits as are then known; the first X is R B.
	improve := func() error {
		next := num.NewMat(num.Precision(uint(width())), n, k)
		if x.Arr == nil {
			x = next
			return s.Gemm(1, p.R, b, 0, num.Mat{}, x)
		}
		s.Stats.Steps++
		err := s.Gemm(1, p.R, r, 1, x, next)
		x = next
		return err
	}
	// round decides entries by the residual of X.
	round := func() error {
		planRefinement(s, missing, p.Gain, cond, a, x)
		// R r loses up to cond bits to cancellation.
		r = num.NewMat(num.Precision(uint(64+cond)), n, k)
		if err := s.Gemm(-1, a, x, 1, b, r); err != nil {
			return err
		}
		s.Stats.Precision = x.Format().Bits()
		missing = 0
		for j, e := range todo {
			if e == nil {
				continue
			}
			radius := p.Abs.Apply(ziv.Magnitudes(r, j, p.Scale))
			most := bound.Upper().Mul(bound.Largest(radius), more)
			for i := range radius {
				radius[i] = bound.Upper().Add(radius[i], most)
				radius[i] = bound.ScaledUp(radius[i], p.Weights[i])
			}
			mid := func(i int) *big.Float { return x.Big(i, j) }
			ties, err := e.Decide(mid, radius, p.Weights)
			if err != nil {
				return err
			}
			if len(e.Open) == 0 {
				todo[j] = nil
				left--
				continue
			}
			if ties != nil {
				suspected = append(suspected, ziv.Suspects{Entries: e, Ties: ties})
			}
			missing = max(missing, e.Missing(mid, radius))
		}
		if err := ziv.Lift(s, suspected); err != nil {
			return err
		}
		for _, x := range suspected {
			if len(x.Open) == 0 {
				todo[x.J] = nil
				left--
			}
		}
		suspected = suspected[:0]
		if s.Work.Report != nil {
			s.Did(residualCost(n, left, a.Arr.Format, x.Arr.Format))
			s.Work.Guessed = false // the number of missing bits is known
		}
		return nil
	}
	loop := ziv.Loop{What: "a solution", First: target, Most: max(most, target)}
	err := ziv.Decide(s, loop, func(bits int) (missing int, err error) {
		for target = bits; ; {
			if x.Arr != nil {
				proved = min(proved+p.Proved(), float64(width()-4))
			}
			if err := improve(); err != nil {
				return 0, err
			}
			if err := round(); err != nil {
				return 0, err
			}
			switch known += p.Gain; {
			case left == 0:
				return ziv.Done, nil
			case int(proved) >= enough:
				return 0, call.Contradiction(fmt.Sprintf("%d bits do not decide %d entries", x.Format().Bits(), ziv.CountOpen(todo)))
			case int(known) > target:
				return 64, nil // entries near ties, or far below others
			}
		}
	})
	if err == nil && left > 0 {
		err = fmt.Errorf("%d entries in %d bits: %w", ziv.CountOpen(todo), most, call.ErrMemory)
	}
	return err
}

// enough returns how many bits of the largest entries of X, scaled as by F, have to be right to
// decide all entries, by theory. p is an approximate inverse of A, and 2^cond is above the
// condition number of F.
//
// Let Z be the integers of A with minors of M bits, and B a multiple of 2^-t below 2^b, all up to
// powers of two in front of rows and columns. By Cramer's rule entries of Z^-1 B are quotients of
// minors: their magnitudes lie between 2^(-M - t) and 2^(M + b), or are 0. Ties near them have at
// most M + t + tieBits bits behind the point, so that other entries differ from ties by at least
// 2^(-2 M - t - tieBits). Residuals prove cond bits fewer than are right. An entry that is 0 or a
// tie is then suspected, with Suspicion bits more, and proved by its digits.
func enough(p *seed.Approximate, z modular.Integers, b num.Mat, f num.Format, cond int) int {
	minor := z.MinorBits()
	if minor < 0 || minor > ziv.BeyondMost {
		minor = ziv.BeyondMost
	}
	column := int(min(ziv.ColumnBits(b), ziv.BeyondMost))
	return 3*minor + column + ziv.SpanOfSums(z.Rows, make([]int64, len(z.Rows))) + ziv.SpanOfSums(z.Cols, p.Weights) + ziv.TieBits(f) + cond + 256
}
