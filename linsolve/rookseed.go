package linsolve

import (
	"github.com/halfulp/halfulp/internal/dgemm"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/modular"
	"github.com/halfulp/halfulp/internal/proof/scale"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/proof/ziv"
)

// newRook returns what rookPivots does, with a seed if float64 suffices for one; nil too where
// numbers have more than most bits, with which pivots are never taken.
func newRook(s *call.Run, a num.Mat, most int) (*rooked, error) {
	defer s.Release()
	found, r, err := seed.RookPivots(s, a)
	if found == nil || err != nil {
		return nil, err
	}
	n := a.Rows
	p := &rooked{pivoted: pivoted{order: found.Order, c: modular.Chosen(a, r.Order, r.Order)}, blocks: found.Blocks}
	t := &splitting{s: s, k: n, blocks: r.Blocks, by: scale.Equilibrate(p.c, scale.Unscaled(n, n))}
	if t.f = call.Scaled(p.c, t.by, most); t.f.Arr == nil {
		return nil, nil
	}
	ok, err := t.invertBlocks(r, found.High)
	if ok {
		p.splitting = t
	}
	return p, err
}

// rooked is a pivoted one with the orders of the diagonal blocks.
type rooked struct {
	pivoted
	blocks []int
}

// rookAgain is rook with these pivots; nil if one of them vanishes.
func rookAgain(s *call.Run, p *rooked, bits int) (*rook, error) {
	if err := call.Workable(bits, p.c); err != nil {
		return nil, err
	}
	r := &rook{x: seed.LowerTriangle(p.c, uint(bits)), order: p.order, blocks: p.blocks}
	k := 0
	for _, size := range p.blocks {
		if ok, err := eliminateRook(s, r, k, size, uint(bits)); !ok || err != nil {
			return nil, err
		}
		k += size
	}
	return r, nil
}

// rookByElimination returns a seed from an elimination in as few bits as do, and what it encloses
// in so many bits; see byElimination.
func rookByElimination(s *call.Run, a num.Mat, most, bits int, regular func() error, eliminate func(some int) (*rook, error)) (p *rooked, e *ziv.Enclosure, err error) {
	n := a.Rows
	least, err := eliminationBits(s, a)
	if err != nil {
		return nil, nil, err
	}
	e, err = byElimination(s, n, n, least, bits, regular, func(some int) (*splitting, error) {
		r, err := eliminate(some)
		if r == nil || err != nil {
			return nil, err
		}
		li, ui, err := blockInverses(s, r, some)
		if err != nil {
			return nil, err
		}
		p = &rooked{pivoted: pivoted{order: r.order, c: modular.Chosen(a, r.order, r.order)}, blocks: r.blocks}
		p.splitting, err = newSplitting(s, p.c, r.blocks, li, ui, most)
		return p.splitting, err
	})
	return p, e, err
}

// invertBlocks makes S and T the inverses of L and U = D L^T in float64, for the matrix that was
// divided by 2^high, and reports whether they are of use.
//
// With G = U T - I and ‖G‖∞ ≤ 1/4, |T^-1| = |(I + G)^-1 U|, so that cond ≤ 4/3 ‖|U| |T|‖∞.
func (t *splitting) invertBlocks(r *seed.RookSeed, high int64) (ok bool, err error) {
	n := t.k
	l, x := t.s.Floats(n*n), t.s.Floats(n*n)
	clear(l)
	clear(x)
	u, y := t.s.Floats(n*n), t.s.Floats(n*n) // transposes of U and T
	starts := make([]int, len(r.Blocks))
	first := 0
	for k, size := range r.Blocks {
		starts[k] = first
		for j := first; j < first+size; j++ {
			l[j+j*n] = 1
			for i := first + size; i < n; i++ {
				l[i+j*n] = r.X[i][j]
			}
		}
		first += size
	}
	if err := dgemm.InvertLower(t.s.Ctx, t.s.Threads, n, l, x); err != nil {
		return false, err
	}
	err = par.Each(t.s.Ctx, t.s.Threads, len(starts), func(k int) {
		first, size := starts[k], r.Blocks[k]
		inverse, _ := r.Inverse(first, size)
		for c := range size {
			for i := range n {
				sum, other := 0.0, 0.0
				for d := range size {
					sum += float64(l[i+(first+d)*n] * r.At(first+d, first+c))
					other += float64(x[first+d+i*n] * inverse[d][c])
				}
				u[i+(first+c)*n] = sum   // U[first+c,i]
				y[i+(first+c)*n] = other // T[i,first+c]
			}
		}
	})
	if err != nil {
		return false, err
	}
	if !(max(call.LargestOf(l), call.LargestOf(x), call.LargestOf(u), call.LargestOf(y)) < 0x1p200) {
		return false, nil
	}
	rows, up := t.by.Rows, bound.Negated(t.by.Rows)
	if t.x, err = seed.Stored(t.s, n, func(i, j int) float64 { return x[i+j*n] }, rows, up); err != nil {
		return false, err
	}
	left, right := make([]int64, n), make([]int64, n)
	for i := range n {
		left[i], right[i] = -t.by.Cols[i]-high, high+t.by.Cols[i]
	}
	if t.y, err = seed.Stored(t.s, n, func(i, j int) float64 { return y[i+j*n] }, left, up); err != nil {
		return false, err
	}
	upper, err := seed.Stored(t.s, n, func(i, j int) float64 { return u[j+i*n] }, rows, right)
	if err != nil {
		return false, err
	}
	g := num.NewMat(num.Precision(24), n, n)
	if err := t.upperProduct(1, upper, t.y, -1, num.Identity(num.Float64, n), g, nil); err != nil {
		return false, err
	}
	near, err := magnitudesOf(t.s, g)
	if err != nil || !(call.LargestOf(near.rows()) <= 0.25) {
		return false, err
	}
	a, b, err := bothMagnitudes(t.s, upper, t.y)
	if err != nil {
		return false, err
	}
	t.cond = float64(1.5 * call.LargestOf(a.times(b.rows())))
	t.amp = 2*sizeOf(t.cond) + 1
	return t.amp < 1<<20, nil
}
