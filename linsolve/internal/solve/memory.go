package solve

import (
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/budget"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/newton"
	"github.com/halfulp/halfulp/internal/proof/refine"
	"github.com/halfulp/halfulp/internal/proof/scale"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/proof/ziv"
)

// may fuse throughout: estimates of memory, none of them a result.

// FewBytes returns the least memory in bytes that a solution with few right-hand sides in format f
// takes. It consists of the float64 factors, the inverses of both triangles (less for very few
// right-hand sides) and some rows of A in fixed point.
func FewBytes(a num.Mat, f num.Format, columns int) float64 {
	n, cut := float64(a.Rows), float64(seed.UpperCut(a.Rows, columns)) // of the factors' inverses
	rows := rowBytes(a, f)
	bytes := 8*(n*n+cut*cut+(n-cut)*(n-cut)) + rows
	if columns <= call.FewColumns {
		bytes = min(bytes, max(seed.AgainBytes(a.Rows), rows))
	}
	return 8*n*n + bytes
}

// rowBytes returns the bytes of some rows of A in fixed point. They have the bits of the result
// format f and about a word more, or the bits of A if these are fewer.
func rowBytes(a num.Mat, f num.Format) float64 {
	planes := (min(f.Bits(), a.Format().Bits()) + 127) / 64
	all := call.PlaneBytes(a, planes)
	if a.Arr.Kind == num.F64 && planes <= 2 {
		planes = 1
	}
	return min(all, refine.SomeBytes(a.Rows, planes))
}

// fits reports whether the bytes are within the limit, or whether the context forces a way.
func (p *problem) fits(bytes float64) bool {
	return call.Forced(p.s.Ctx, call.SystemWays...) || p.s.Budget.Check(bytes) == nil
}

// oneByOne switches to solving the open columns one after the other, as if they were few. This
// takes more time and the memory of one column.
func (p *problem) oneByOne() error {
	if err := p.s.Budget.Check(FewBytes(p.a, p.z.Format(), len(p.todo)) - 8*float64(len(p.lu.LU))); err != nil {
		return err
	}
	p.few = true
	planBy(p.s, p.lu, true, p.a, p.z.Format(), ziv.OpenColumns(p.todo))
	return nil
}

// floatBytes returns an upper bound of the bytes of an inverse in slices, without the factors. The
// numbers of float64 an entry were measured for random matrices of order 600.
func (p *problem) floatBytes() float64 {
	n := float64(p.a.Rows)
	if p.z.Format().Bits() <= scale.SeedBits {
		return 12 * 8 * n * n
	}
	return 17*8*n*n + float64(call.MatrixBytes(call.MP(p.a.Format().Bits()), p.a.Rows, p.a.Rows))
}

// newtonBytes returns the bytes of a solution by Newton's method and products for some columns at a
// time: F, the float64 inverse and its bounds, X, the correction of X unless by is coarse,
// right-hand sides, three matrices of solutions, and for residues half a matrix in the bits of the
// result.
func (p *problem) newtonBytes(by newton.Columns) float64 {
	n, bits := p.a.Rows, p.z.Format().Bits()
	square := func(bits int) float64 { return float64(call.MatrixBytes(call.MP(bits), n, n)) }
	columns := func(bits int) float64 { return float64(call.MatrixBytes(call.MP(bits), n, by.Width)) }
	half, first := max(bits/2+ziv.Guard(n), 64), scale.SeedBits
	bytes := square(p.a.Format().Bits()) + square(first) + 8*float64(n)*float64(n)
	bytes += budget.ForProducts(square(bits)/2*float64(by.Width)/float64(p.b.Cols), square(bits))
	if by.Coarse {
		return bytes + square(first) + 2*columns(bits+ziv.Guard(n)) + 2*columns(128) + columns(p.b.Format().Bits())
	}
	solving := square(half)
	if by.Width < p.b.Cols || !ziv.IsIdentity(p.b) {
		solving += 3*columns(half) + columns(p.b.Format().Bits())
	} else {
		solving += 2 * square(half)
	}
	return bytes + max(solving, square(half)+3*square(max(bits/4+ziv.Guard(n), first)))
}

// columns returns how Newton's method solves: for all columns at once, or for as many at a time as
// the limit allows, or coarsely. ok is false if so few columns fit at a time that solving one by
// one is better.
func (p *problem) columns() (by newton.Columns, ok bool) {
	k := p.b.Cols
	for _, by.Coarse = range []bool{false, true} {
		for parts := 1; ; parts++ {
			by.Width = (k + parts - 1) / parts
			if p.fits(p.newtonBytes(by)) {
				return by, true
			}
			if call.Few(by.Width, p.a.Rows) {
				break
			}
		}
	}
	return by, false
}
