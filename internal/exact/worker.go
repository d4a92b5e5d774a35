package exact

import (
	"time"

	"github.com/halfulp/halfulp/internal/direct"
	"github.com/halfulp/halfulp/internal/modgemm"
	"github.com/halfulp/halfulp/internal/num"
)

// reconstructBytes bounds the residues that one step of the reconstruction
// packs: they stay in the first two levels of cache.
const reconstructBytes = 64 << 10

// A worker holds the scratch of one goroutine of multiply.
type worker struct {
	fin     finisher
	c       []int16 // residues of a block, plane after plane
	y       []int16 // packed residues of one step
	digits  []int16 // of old entries that become residues
	words   []int64 // its words, row after row
	entries int     // entries a step
	regions []region

	multiplying, rounding time.Duration
}

func newWorker(p *product, w *weights, old, c num.Mat, l, r *operand, rowPanels, colPanels int) *worker {
	k, n := p.plan.kernels, len(p.plan.base.moduli)
	kern := k.kernel
	wk := &worker{fin: finisher{p: p, old: old, c: c, w: w, left: l, right: r, ends: num.New(c.Arr.Format, 2)}}
	wk.fin.pad = max(c.Arr.Limbs(), 1) + 1
	wk.fin.padded = make([]uint64, wk.fin.pad+len(w.m)+2)
	wk.fin.mag = wk.fin.padded[wk.fin.pad:]
	wk.c = getBuffer[int16](p.planes() * rowPanels * k.panel(left) * colPanels * k.panel(right))
	wk.entries = max(reconstructBytes/(2*n)/kern.NR, 1) * kern.NR
	wk.y = make([]int16, 2*modgemm.Pairs(n)*wk.entries)
	wk.words = make([]int64, w.panels*kern.MR/3*wk.entries)
	return wk
}

// reconstruct turns the residues of the block at (i0, j0) of rows x ldc entries
// into entries of C. Planes lie stride apart.
func (wk *worker) reconstruct(i0, j0, rows, ldc, stride int) {
	f := &wk.fin
	kern, n := f.p.plan.kernel, len(f.p.plan.base.moduli)
	// Entries are taken in the order of storage, across rows unless a triangle is asked for.
	var e1 int
	for e0 := 0; e0 < rows*ldc; e0 = e1 {
		e1 = min(e0+wk.entries, rows*ldc)
		if i0+e0/ldc >= f.c.Rows {
			return
		}
		if f.p.cfg.Triangle != 0 {
			// No farther than the row's end, and without what lies outside of the triangle.
			row := e0 / ldc * ldc
			end := row + ldc
			first, last := f.within(i0+e0/ldc, j0, ldc)
			e0 = max(e0, row+first/kern.NR*kern.NR)
			if e1 = min(e0+wk.entries, row+(last+kern.NR-1)/kern.NR*kern.NR); e0 >= e1 {
				e1 = end
				continue
			}
		}
		panels := (e1 - e0) / kern.NR
		modgemm.PackPlanes(kern, wk.y, wk.c[e0:], stride, n, panels)
		modgemm.Combine(kern, wk.words, wk.entries, f.w.packed, wk.y, f.w.panels, panels, modgemm.Pairs(n))
		for e := e0; e < e1; {
			i, j := i0+e/ldc, j0+e%ldc
			if i >= f.c.Rows {
				return
			}
			end := min(e1, (e/ldc+1)*ldc)
			if j < f.c.Cols { // a panel of bytes holds several of the kernel
				f.row(i, j, min(end-e, f.c.Cols-j), wk.words, wk.entries, e-e0)
			}
			e = end
		}
	}
}

// within returns which of n entries of row i from column j on are in the triangle asked for:
// first <= d < last.
func (f *finisher) within(i, j, n int) (first, last int) {
	switch d := f.i0 + i - f.j0 - j; f.p.cfg.Triangle { // where the diagonal is
	case 'U':
		return min(max(d, 0), n), n
	case 'L':
		return 0, min(max(d+1, 0), n)
	}
	return 0, n
}

// row finishes those of n entries of row i from column j on that are asked for.
func (f *finisher) row(i, j, n int, words []int64, stride, e int) {
	p := f.p
	first, last := f.within(i, j, n)
	j, e, n = j+first, e+first, last-first
	if p.alpha.pow && (p.beta.zero || p.within != nil) && !f.left.special[i] &&
		(f.c.Arr.Kind == num.MP || f.c.Arr.Kind == num.F64) {
		if (f.c.Arr.Kind == num.F64 || f.c.Arr.Prec <= 64) && len(f.w.m) <= fastWords {
			f.fastRow1(i, j, n, words, stride, e)
		} else {
			f.fastRow(i, j, n, words, stride, e)
		}
		return
	}
	for d := range n {
		f.entry(i, j+d, words, stride, e+d)
	}
}

// A directWorker computes entries in exact arithmetic.
type directWorker struct {
	p                   *product
	acc                 direct.Acc
	buf                 [num.MaxValueWords]uint64
	overflow, underflow int64
}

// vectors returns row i of A and column j of B without numbers that have zeros on the other side,
// if both are finite.
func (p *product) vectors(i, j int) (x, y num.Vec) {
	x, y = p.a.Row(i), p.b.Row(j)
	if p.l == nil || p.l.special[i] || p.r.special[j] {
		return x, y
	}
	s := p.l.spans[i].and(p.r.spans[j])
	x.Off, x.N = x.At(s.from), s.length()
	y.Off, y.N = y.At(s.from), s.length()
	return x, y
}

func newDirectWorker(p *product) *directWorker { return &directWorker{p: p} }

func (w *directWorker) entry(i, j int) {
	p := w.p
	var old num.Real
	if !p.beta.zero {
		old = p.old.Arr.Value(p.old.At(i, j), w.buf[:])
	}
	x, y := p.vectors(i, j)
	r := w.acc.Entry(p.c.Arr.Format, p.alpha.real, x, y, p.beta.real, old)
	if r.Class == num.Zero && x.N < p.a.Cols { // its sign depends on all addends
		r = w.acc.Entry(p.c.Arr.Format, p.alpha.real, p.a.Row(i), p.b.Row(j), p.beta.real, old)
	}
	fl := p.c.Arr.Set(p.c.At(i, j), r)
	if fl&num.Overflow != 0 {
		w.overflow++
	}
	if fl&num.Underflow != 0 {
		w.underflow++
	}
}

// negativeZero reports whether every addend of entry (i, j), beta being zero,
// is -0, or cannot tell. The caller knows that their sum is zero.
func (p *product) negativeZero(i, j int) bool {
	var bufA, bufB [num.MaxValueWords]uint64
	for h := range p.a.Cols {
		a := p.a.Arr.Value(p.a.At(i, h), bufA[:])
		b := p.b.Arr.Value(p.b.At(j, h), bufB[:])
		if a.Class != num.Zero && b.Class != num.Zero || a.Neg != b.Neg == p.alpha.neg {
			return false
		}
	}
	return true
}
