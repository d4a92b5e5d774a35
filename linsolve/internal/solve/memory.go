package solve

import (
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/scale"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/proof/ziv"
)

// may fuse throughout: estimates of memory, none of them a result.

// FewBytes returns the bytes that a solution with few right-hand sides in format f takes: float64
// factors, the inverses of both triangles, and A in fixed point, of as many bits as the result and
// about a word more, unless A has fewer.
func FewBytes(a num.Mat, f num.Format, columns int) float64 {
	n, cut := float64(a.Rows), float64(seed.UpperCut(a.Rows, columns)) // of the factors' inverses
	return 8*(2*n*n+cut*cut+(n-cut)*(n-cut)) + call.PlaneBytes(a, (min(f.Bits(), a.Format().Bits())+127)/64)
}

// fits reports whether so many bytes keep to the limit, or whether the context asks for a way.
func (p *problem) fits(bytes float64) bool {
	return call.Forced(p.s.Ctx, call.SystemWays...) || p.s.Budget.Check(bytes) == nil
}

// oneByOne has what is open of many columns solved as if they were few, one after the other, which
// takes more time and the memory of one column.
func (p *problem) oneByOne() error {
	if err := p.s.Budget.Check(FewBytes(p.a, p.z.Format(), len(p.todo)) - 8*float64(len(p.lu.LU))); err != nil {
		return err
	}
	p.few = true
	planBy(p.s, p.lu, true, p.a, p.z.Format(), ziv.OpenColumns(p.todo))
	return nil
}

// floatBytes returns the bytes of an inverse in slices, at most, beside the factors: measured
// at order 600, for random matrices, in numbers of float64 an entry.
func (p *problem) floatBytes() float64 {
	n := float64(p.a.Rows)
	if p.z.Format().Bits() <= scale.SeedBits {
		return 12 * 8 * n * n
	}
	return 17*8*n*n + float64(call.MatrixBytes(call.MP(p.a.Format().Bits()), p.a.Rows, p.a.Rows))
}

// newtonBytes returns the bytes of a solution by Newton's method and products: F, right-hand sides,
// two inverses, three matrices as large as the solution in half of its bits, and half of one for
// residues.
func (p *problem) newtonBytes() float64 {
	n, k, bits := p.a.Rows, p.b.Cols, p.z.Format().Bits()
	bytes := call.MatrixBytes(call.MP(p.a.Format().Bits()), n, n) + 2*call.MatrixBytes(call.MP(max(bits, 2*scale.SeedBits)), n, n)
	bytes += 3*call.MatrixBytes(call.MP(bits/2+64), n, k) + call.MatrixBytes(call.MP(bits), n, n)/2
	if !ziv.IsIdentity(p.b) {
		bytes += call.MatrixBytes(call.MP(p.b.Format().Bits()), n, k)
	}
	return float64(bytes)
}
