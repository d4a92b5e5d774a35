package sym

import (
	"fmt"
	"math/big"
	"slices"

	"github.com/halfulp/halfulp/internal/bufpool"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/modular"
	"github.com/halfulp/halfulp/internal/proof/ziv"
)

// A problem is A x = λ B x, with a symmetric A and the unit matrix or a symmetric positive definite
// B, of order n; or the same for A = Cᵀ C with an m x n matrix C, whose eigenvalues are the squares
// of the singular values of C.
type problem struct {
	a, b num.Mat // b without an array stands for the unit matrix
	gram bool    // a is C

	bounds [2][]size // the memory of sb and rb of a state
	there  there     // A and B on GPUs
}

// sizeRoom keeps the memory of bounds between calls.
var sizeRoom bufpool.Shelf[[]size]

// release gives back the memory of bounds, and of GPUs.
func (p *problem) release() {
	p.there.release()
	for i, x := range p.bounds {
		if x != nil {
			bufpool.Return(&sizeRoom, x)
		}
		p.bounds[i] = nil
	}
}

// products computes S and R for the vectors X, in places bits.
//
// A product A X is rounded, to A x_j + f_j with |f_j| ≤ 2^-places |A x_j|, so entry (i, j) of Xᵀ (A
// X) is in error by ‖x_i‖ 2^-places ‖A x_j‖ at most, and entry (i, j) of (C X)ᵀ (C X) by twice
// ‖C x_i‖ 2^-places ‖C x_j‖ and a term of second order.
func (p *problem) products(s *call.Run, x num.Mat, places int) (*state, error) {
	n := x.Rows
	t := &state{s: s, n: n, x: x, places: places}
	ax, bx, err := p.multiply(t)
	if err != nil {
		return nil, err
	}
	defer s.Drop(ax)
	if p.b.Arr != nil {
		defer s.Drop(bx)
	}
	norms, err := columnNorms(s, x)
	if err != nil {
		return nil, err
	}
	if t.lostS, err = columnNorms(s, ax); err != nil {
		return nil, err
	}
	t.longS = norms
	if p.gram {
		t.longS, t.image = make([]size, n), slices.Clone(t.lostS)
		for j, v := range t.lostS {
			t.longS[j] = v.times(2.01)
			t.total = t.total.add(v.mul(v))
		}
		t.total = t.total.sqrt()
	}
	t.lostS = shiftedAll(t.lostS, -places)
	if p.b.Arr != nil {
		if t.lostR, err = columnNorms(s, bx); err != nil {
			return nil, err
		}
		t.longR, t.lostR = norms, shiftedAll(t.lostR, -places)
	}
	rows, err := columnNorms(s, x.T())
	if err != nil {
		return nil, err
	}
	for _, v := range rows {
		t.wide = t.wide.max(v)
	}
	if p.bounds[0] == nil {
		for i := range p.bounds {
			p.bounds[i] = bufpool.Slice(&sizeRoom, n*n)[:n*n]
		}
	}
	t.sb, t.rb = p.bounds[0], p.bounds[1]
	return t, t.measure()
}

// multiply computes S and R of t, and returns A X and B X; B X is X for a problem without B.
func (p *problem) multiply(t *state) (ax, bx num.Mat, err error) {
	s, n, x := t.s, t.n, t.x
	f := call.MP(t.places)
	if s.Set.Device.Kind == place.CUDA && !p.there.host {
		ax, t.sm, t.r, bx, err = p.there.products(s, p.a, p.b, p.gram, x, f)
		if !declined(err) {
			return ax, bx, err
		}
		p.there.release()
		p.there.host = true
	}
	t.sm, t.r = s.MatrixHere(f, n, n), s.MatrixHere(f, n, n)
	ax = s.MatrixHere(f, p.a.Rows, n)
	if err := s.Gemm(1, p.a, x, 0, num.Mat{}, ax); err != nil {
		return ax, bx, err
	}
	left := x
	if p.gram {
		left = ax
	}
	if err := s.GemmTriangle('U', 1, left.T(), ax, 0, num.Mat{}, t.sm, nil); err != nil {
		return ax, bx, err
	}
	one, err := s.Identity(n)
	if err != nil {
		return ax, bx, err
	}
	bx = x
	if p.b.Arr != nil {
		bx = s.MatrixHere(f, n, n)
		if err := s.Gemm(1, p.b, x, 0, num.Mat{}, bx); err != nil {
			return ax, bx, err
		}
	}
	return ax, bx, s.GemmTriangle('U', -1, x.T(), bx, 1, one, t.r, nil)
}

// columnNorms returns bounds of the 2-norms of the columns of a matrix.
func columnNorms(s *call.Run, m num.Mat) ([]size, error) {
	z := make([]size, m.Cols)
	return z, par.For(s.Ctx, s.Threads, m.Cols, func(_, j int) {
		var sum size
		for i := range m.Rows {
			v := sizeOf(m.Arr, m.At(i, j))
			sum = sum.add(v.mul(v))
		}
		z[j] = sum.sqrt().times(1 + 0x1p-30) // for numbers that are rounded to 48 bits or more
	})
}

func shiftedAll(x []size, e int) []size {
	for i := range x {
		x[i] = x[i].shifted(int64(e))
	}
	return x
}

// nullity returns the exact dimension of the null space of A - m B.
func (p *problem) nullity(s *call.Run, m *big.Float) (int, error) {
	n := p.a.Cols
	c := p.a
	if m.Sign() != 0 {
		var err error
		if c, err = p.pencil(s, m); err != nil {
			return 0, err
		}
	}
	r, _, err := modular.Rank(s, c)
	return n - r, err
}

// pencil returns A - m B exactly.
func (p *problem) pencil(s *call.Run, m *big.Float) (num.Mat, error) {
	a := p.a
	if p.gram {
		top, low := ziv.Span(a)
		f, err := ziv.FormatFor(2*(top-low) + int64(ziv.Guard(a.Rows)))
		if err != nil {
			return num.Mat{}, err
		}
		g, err := exactMatrix(s, f, a.Cols, a.Cols)
		if err != nil {
			return num.Mat{}, err
		}
		if err := s.Gemm(1, a.T(), a, 0, num.Mat{}, g); err != nil {
			return num.Mat{}, err
		}
		a = g
	}
	n := a.Rows
	b := p.b
	if b.Arr == nil {
		b = num.Identity(num.Float64, n)
	}
	top, low := ziv.Span(a)
	if t, l := ziv.Span(b); b.Rows > 0 {
		e := int64(m.MantExp(nil))
		top, low = max(top, t+e), min(low, l+e-int64(m.MinPrec()))
	}
	f, err := ziv.FormatFor(top - low + 2)
	if err != nil {
		return num.Mat{}, fmt.Errorf("multiplicity of %s: %w", m.Text('g', 6), err)
	}
	if err := s.Budget.Check(float64(call.MatrixBytes(f, n, n))); err != nil {
		return num.Mat{}, err
	}
	z := a.Convert(f)
	return z, par.For(s.Ctx, s.Threads, n, func(_, j int) {
		x := new(big.Float)
		for i := range n {
			if b.Arr.Class(b.At(i, j)) == num.Zero {
				continue
			}
			v := b.Big(i, j)
			x.SetPrec(m.MinPrec()+v.MinPrec()).Mul(m, v)
			y := new(big.Float).SetPrec(uint(f.Bits()))
			z.SetBig(i, j, y.Sub(z.Big(i, j), x))
		}
	})
}
