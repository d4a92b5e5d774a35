package factors

import (
	"fmt"
	"math/big"
	"slices"
	"sync/atomic"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/interval"
	"github.com/halfulp/halfulp/internal/proof/scale"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/proof/ziv"
)

// Enclosures by approximate inverses of the factors have one error bound for all entries of a row
// or column. They say nothing about entries below that bound. If exponents are that far apart,
// elimination in interval arithmetic encloses the factors entry by entry (Neumaier, Interval
// methods for systems of equations, 1990, section 4.5). Usually one term of a sum is then far above
// the others, so that nothing is lost. The elimination also proves that the pivots are not 0.

// mostIntervalBits bounds the bits of such an elimination beyond the bits of the format, if no
// format has enough bits for another method. Order 50 takes a second.
const mostIntervalBits = 1 << 12

// EliminatedIntervals are intervals of L below the diagonal blocks and of U, entry (i, j) in row i.
type EliminatedIntervals struct {
	X     [][]interval.Interval
	Order []int // row i is row order[i] of the matrix
	Bad   int   // the first pivot, the end of a block, that may be 0; -1 if none may
}

// byIntervals reports whether the factors of c, in format f, must be enclosed in bits by
// elimination in intervals: some entry is smaller than the largest entries of its row and column by
// more than that many bits. The error wraps ErrRange if no format has the bits for another way and
// elimination in intervals with mostIntervalBits did not suffice: then cancelling terms leave
// others far below them.
func byIntervals(s *call.Run, c num.Mat, f num.Format, bits int) (bool, error) {
	m := c
	t := scale.TopsOf(m)
	least := t.Least(t.Equilibrate(scale.Unscaled(m.Rows, m.Cols)))
	if bits > f.Bits()+mostIntervalBits && least < -bound.MaxBits {
		return false, fmt.Errorf("factors of numbers whose exponents differ by up to %d beyond powers of two of rows and columns, of more than %d bits: %w", -least, bits/2, call.ErrRange)
	}
	return least < -int64(bits), nil
}

// EliminateIntervals eliminates the first columns of c, one block after the other, in intervals of
// some bits. With partial pivoting, for blocks of order 1, it chooses the pivot as seed.Eliminate
// does, by the larger ends in magnitude.
func EliminateIntervals(s *call.Run, c num.Mat, blocks []int, bits int, partial bool) (*EliminatedIntervals, error) {
	if err := call.Workable(bits, c); err != nil {
		return nil, err
	}
	m, n := c.Dims()
	p := interval.Prec(bits)
	z := &EliminatedIntervals{X: make([][]interval.Interval, m), Order: call.All(m), Bad: -1}
	err := par.Each(s.Ctx, s.Threads, m, func(i int) {
		z.X[i] = make([]interval.Interval, n)
		for j := range n {
			x := c.Big(i, j)
			z.X[i][j] = interval.Interval{Lo: p.Down().Set(x), Hi: p.Up().Set(x)}
		}
	})
	b := 0
	for _, size := range blocks {
		if err != nil {
			return nil, err
		}
		if partial {
			k := b + seed.LargestPivot(m-b, func(i int) *big.Float { return z.X[b+i][b].Larger() })
			z.X[b], z.X[k] = z.X[k], z.X[b]
			z.Order[b], z.Order[k] = z.Order[k], z.Order[b]
		}
		inverse := p.InvertBlock(z.X, b, size)
		if inverse == nil {
			z.Bad = b + size - 1
			return z, nil
		}
		first := b + size
		var beyond atomic.Bool
		err = par.Each(s.Ctx, s.Threads, m-first, func(i int) {
			if !p.EliminateRow(z.X[first+i], z.X[b:first], inverse, b) {
				beyond.Store(true)
			}
		})
		if err == nil && beyond.Load() {
			err = seed.ErrBeyond
		}
		b = first
	}
	return z, err
}

// enclosure returns the intervals as an Enclosure.
func (z *EliminatedIntervals) enclosure(bits int) *ziv.Enclosure {
	return &ziv.Enclosure{Each: z.X, Bits: bits}
}

// belowBy is belowEach for an enclosure of intervals.
func belowBy(s *call.Run, u *ziv.Unknown, e *ziv.Enclosure, bound func(i, j int) *big.Float) (bool, error) {
	fails := make([]bool, len(e.Each))
	err := par.Each(s.Ctx, s.Threads, len(e.Each), func(i int) {
		b := 0
		for _, size := range u.Blocks {
			if b+size > i {
				break
			}
			for j := b; j < b+size; j++ {
				fails[i] = fails[i] || !e.Each[i][j].Below(bound(i, j))
			}
			b += size
		}
	})
	return !slices.Contains(fails, true), err
}
