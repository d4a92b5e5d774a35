package factors

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

// newRook returns the pivots of seed.RookPivots, with a float64 seed if float64 suffices for one.
// It is nil if RookPivots returns none, or if numbers have more than most bits: then float64 pivots
// are never used.
func newRook(s *call.Run, a num.Mat, most int) (*Rooked, error) {
	defer s.Temporary()()
	found, r, err := seed.RookPivots(s, a)
	if found == nil || err != nil {
		return nil, err
	}
	n := a.Rows
	p := &Rooked{Pivoted: Pivoted{Order: found.Order, C: modular.Chosen(a, r.Order, r.Order)}, Blocks: found.Blocks}
	t := &LUNewton{S: s, K: n, Blocks: r.Blocks, By: scale.Equilibrate(p.C, scale.Unscaled(n, n))}
	if t.F = call.Scaled(p.C, t.By, most); t.F.Arr == nil {
		return nil, nil
	}
	ok, err := t.InvertBlocks(r, found.High)
	if ok {
		p.LUNewton = t
	}
	return p, err
}

// Rooked is a Pivoted with the orders of the diagonal blocks.
type Rooked struct {
	Pivoted
	Blocks []int
}

// rookAgain eliminates with the pivots of p in some bits; nil if one of them vanishes.
func rookAgain(s *call.Run, p *Rooked, bits int) (*Rook, error) {
	if err := call.Workable(bits, p.C); err != nil {
		return nil, err
	}
	r := &Rook{X: seed.LowerTriangle(p.C, uint(bits)), Order: p.Order, Blocks: p.Blocks}
	k := 0
	for _, size := range p.Blocks {
		if ok, err := EliminateRook(s, r, k, size, uint(bits)); !ok || err != nil {
			return nil, err
		}
		k += size
	}
	return r, nil
}

// rookByElimination returns a seed from an elimination in as few bits as suffice, and its enclosure
// in bits; see byElimination.
func rookByElimination(s *call.Run, a num.Mat, most, bits int, regular func() error, eliminate func(some int) (*Rook, error)) (p *Rooked, e *ziv.Enclosure, err error) {
	least, err := eliminationBits(s, a)
	if err != nil {
		return nil, nil, err
	}
	e, err = byElimination(s, a, least, bits, regular, func(some int) (*LUNewton, error) {
		r, err := eliminate(some)
		if r == nil || err != nil {
			return nil, err
		}
		li, ui, err := blockInverses(s, r, some)
		if err != nil {
			return nil, err
		}
		p = &Rooked{Pivoted: Pivoted{Order: r.Order, C: modular.Chosen(a, r.Order, r.Order)}, Blocks: r.Blocks}
		p.LUNewton, err = newLUNewton(s, p.C, r.Blocks, li, ui, most)
		return p.LUNewton, err
	})
	return p, e, err
}

// InvertBlocks sets S and T to the float64 inverses of L and U = D L^T, for the matrix divided by
// 2^high. It reports whether they are good enough.
//
// With G = U T - I and ‖G‖∞ ≤ 1/4, |T^-1| = |(I + G)^-1 U|, so that cond ≤ 4/3 ‖|U| |T|‖∞.
func (t *LUNewton) InvertBlocks(r *seed.RookSeed, high int64) (ok bool, err error) {
	n := t.K
	l, x := t.S.Floats(n*n), t.S.Floats(n*n)
	clear(l)
	clear(x)
	u, y := t.S.Floats(n*n), t.S.Floats(n*n) // transposes of U and T
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
	if err := dgemm.InvertLower(t.S.Ctx, t.S.Threads, n, l, x); err != nil {
		return false, err
	}
	err = par.Each(t.S.Ctx, t.S.Threads, len(starts), func(k int) {
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
	rows, up := t.By.Rows, bound.Negated(t.By.Rows)
	if t.x, err = seed.Stored(t.S, n, func(i, j int) float64 { return x[i+j*n] }, rows, up); err != nil {
		return false, err
	}
	left, right := make([]int64, n), make([]int64, n)
	for i := range n {
		left[i], right[i] = -t.By.Cols[i]-high, high+t.By.Cols[i]
	}
	if t.y, err = seed.Stored(t.S, n, func(i, j int) float64 { return y[i+j*n] }, left, up); err != nil {
		return false, err
	}
	upper, err := seed.Stored(t.S, n, func(i, j int) float64 { return u[j+i*n] }, rows, right)
	if err != nil {
		return false, err
	}
	g := num.NewMat(num.Precision(24), n, n)
	if err := t.upperProduct(1, upper, t.y, -1, num.Identity(num.Float64, n), g, nil); err != nil {
		return false, err
	}
	near, err := call.MagnitudesOf(&t.S.Call, g)
	if err != nil || !(call.LargestOf(near.Rows()) <= 0.25) {
		return false, err
	}
	size, err := t.S.RowSpread(upper, t.y)
	if err != nil {
		return false, err
	}
	t.cond = float64(1.5 * size)
	t.Amp = 2*call.SizeOf(t.cond) + 1
	return t.Amp < 1<<20, nil
}
