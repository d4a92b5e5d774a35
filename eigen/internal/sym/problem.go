package sym

import (
	"fmt"
	"math"
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
	// raw says that A is 2^-top a, and not normalized yet.
	raw bool
	top int

	bounds [2][]size    // the memory of sb and rb of a state
	plain  [2][]float64 // the memory of fs and fr
	there  there        // A and B on GPUs
}

// sizeRoom keeps the memory of bounds between calls, as floatRoom does.
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
	for i, x := range p.plain {
		if x != nil {
			bufpool.Return(&floatRoom, x)
		}
		p.plain[i] = nil
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
	norms, err := p.multiply(t)
	if err != nil {
		return nil, err
	}
	t.longS, t.lostS = norms.x, norms.ax
	if p.gram {
		t.longS, t.image = make([]size, n), slices.Clone(t.lostS)
		for j, v := range t.lostS {
			t.longS[j] = v.times(2.01)
			t.total = t.total.add(v.mul(v))
		}
		t.total = t.total.sqrt()
	}
	t.lostS = shiftedAll(t.lostS, -places)
	if norms.bx != nil {
		t.longR, t.lostR = norms.x, shiftedAll(norms.bx, -places)
	}
	for _, v := range norms.rows {
		t.wide = t.wide.max(v)
	}
	if t.away != nil {
		if ok, err := t.measureThere(); ok || err != nil && !declined(err) {
			return t, err
		}
		return t, t.bring(p)
	}
	return t, t.measure(p)
}

// normal returns A, normalized.
func (p *problem) normal(s *call.Run) (num.Mat, error) {
	if p.raw {
		a, _, err := normalized(s, p.a, false)
		if err != nil {
			return a, err
		}
		p.a, p.raw = a, false
	}
	return p.a, nil
}

// sizes returns memory for sb and rb of a state, and floats memory for fs and fr.
func (p *problem) sizes() (sb, rb []size) {
	for i := range p.bounds {
		if p.bounds[i] == nil {
			p.bounds[i] = bufpool.Slice(&sizeRoom, p.a.Cols*p.a.Cols)[:p.a.Cols*p.a.Cols]
		}
	}
	return p.bounds[0], p.bounds[1]
}

func (p *problem) floats() (fs, fr []float64) {
	for i := range p.plain {
		if p.plain[i] == nil {
			p.plain[i] = bufpool.Slice(&floatRoom, p.a.Cols*p.a.Cols)[:p.a.Cols*p.a.Cols]
		}
	}
	return p.plain[0], p.plain[1]
}

// norms are bounds of the 2-norms of the columns of X, A X and B X, and of the rows of X. bx is nil
// for a problem without B.
type norms struct{ x, ax, bx, rows []size }

// multiply computes S and R of t, and norms.
func (p *problem) multiply(t *state) (z norms, err error) {
	s, n, x := t.s, t.n, t.x
	f := call.MP(t.places)
	if s.Set.Device.Kind == place.CUDA && !p.there.host {
		sm, r, xx, z, err := p.there.products(s, p, x, f)
		if err == nil {
			t.away = &away{there: &p.there}
			if t.sm, t.r, t.x = sm, r, xx; x.OnHost() {
				t.away.here = x
			}
		}
		if !declined(err) {
			return z, err
		}
		if !x.OnHost() {
			if x, err = p.there.fetched(s, x); err != nil {
				return z, err
			}
			t.x.Free()
			t.x = x
		}
		p.there.release()
		p.there.host = true
	}
	a, err := p.normal(s)
	if err != nil {
		return z, err
	}
	t.sm, t.r = s.MatrixHere(f, n, n), s.MatrixHere(f, n, n)
	ax := s.MatrixHere(f, p.a.Rows, n)
	defer s.Drop(ax)
	if err := s.Gemm(1, a, x, 0, num.Mat{}, ax); err != nil {
		return z, err
	}
	left := x
	if p.gram {
		left = ax
	}
	if err := s.GemmTriangle('U', 1, left.T(), ax, 0, num.Mat{}, t.sm, nil); err != nil {
		return z, err
	}
	one, err := s.Identity(n)
	if err != nil {
		return z, err
	}
	bx := x
	if p.b.Arr != nil {
		bx = s.MatrixHere(f, n, n)
		defer s.Drop(bx)
		if err := s.Gemm(1, p.b, x, 0, num.Mat{}, bx); err != nil {
			return z, err
		}
		if z.bx, err = columnNorms(s, bx); err != nil {
			return z, err
		}
	}
	if z.x, err = columnNorms(s, x); err != nil {
		return z, err
	}
	if z.ax, err = columnNorms(s, ax); err != nil {
		return z, err
	}
	if z.rows, err = rowNorms(s, x); err != nil {
		return z, err
	}
	return z, s.GemmTriangle('U', -1, x.T(), bx, 1, one, t.r, nil)
}

// columnNorms returns bounds of the 2-norms of the columns of a matrix.
func columnNorms(s *call.Run, m num.Mat) ([]size, error) {
	z := make([]size, m.Cols)
	rooms := make([]squares, max(1, s.Threads))
	return z, par.For(s.Ctx, s.Threads, m.Cols, func(w, j int) {
		q := &rooms[w]
		q.begin(1)
		for i := range m.Rows {
			q.look(0, m.Arr, m.At(i, j))
		}
		for i := range m.Rows {
			q.add(0, m.Arr, m.At(i, j))
		}
		z[j] = q.norm(0, m.Rows)
	})
}

// rowNorms returns bounds of the 2-norms of the rows of a matrix.
func rowNorms(s *call.Run, m num.Mat) ([]size, error) {
	z := make([]size, m.Rows)
	rooms := make([]squares, max(1, s.Threads))
	return z, par.For(s.Ctx, s.Threads, (m.Rows+stripe-1)/stripe, func(w, part int) {
		q, first := &rooms[w], part*stripe
		count := min(stripe, m.Rows-first)
		q.begin(count)
		for j := range m.Cols {
			for i := range count {
				q.look(i, m.Arr, m.At(first+i, j))
			}
		}
		for j := range m.Cols {
			for i := range count {
				q.add(i, m.Arr, m.At(first+i, j))
			}
		}
		for i := range count {
			z[first+i] = q.norm(i, m.Cols)
		}
	})
}

// squares sums the squares of numbers of up to stripe vectors. All numbers of a vector are given to
// look before the first one is given to add.
type squares struct {
	top [stripe]int64 // magnitudes are below 2^top
	sum [stripe]float64
}

// begin starts the sums of count vectors.
func (q *squares) begin(count int) {
	for i := range count {
		q.top[i], q.sum[i] = math.MinInt64, 0
	}
}

// look tells vector i that number at of a belongs to it.
func (q *squares) look(i int, a *num.Array, at int) {
	if a.Kind == num.MP {
		if a.Cls[at].Class() == num.Finite {
			q.top[i] = max(q.top[i], int64(a.Exp[at]))
		}
		return
	}
	if x, e := a.Leading(at); x != 0 {
		q.top[i] = max(q.top[i], e)
	}
}

// add adds the square of number at of a to the sum of vector i, in units of 2^(2 top).
func (q *squares) add(i int, a *num.Array, at int) {
	x, e := a.Leading(at) // relative error 2^-48
	if x == 0 {
		return
	}
	d := max(e-q.top[i], -500)
	x *= math.Float64frombits(uint64(1023+d) << 52)
	q.sum[i] += float64(x * x)
}

// norm bounds the 2-norm of vector i, of n numbers. A number of less than 2^-500 of the largest one
// is summed as too large. The terms are in error by 2^-47 and by n roundings, relatively.
func (q *squares) norm(i, n int) size {
	if q.sum[i] == 0 {
		return size{}
	}
	z := normal(float64(q.sum[i]*(1+0x1p-30)*(1+float64(0x1p-52*float64(n)))), 0).sqrt()
	return z.shifted(q.top[i])
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
	c, err := p.normal(s)
	if err != nil {
		return 0, err
	}
	if m.Sign() != 0 {
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
		var err error
		if a, err = p.square(s); err != nil {
			return num.Mat{}, err
		}
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

// square returns CᵀC exactly.
func (p *problem) square(s *call.Run) (num.Mat, error) {
	c := p.a
	top, low := ziv.Span(c)
	f, err := ziv.FormatFor(2*(top-low) + int64(ziv.Guard(c.Rows)))
	if err != nil {
		return num.Mat{}, err
	}
	g, err := exactMatrix(s, f, c.Cols, c.Cols)
	if err != nil {
		return num.Mat{}, err
	}
	return g, s.Gemm(1, c.T(), c, 0, num.Mat{}, g)
}
