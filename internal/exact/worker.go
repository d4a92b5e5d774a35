package exact

import (
	"time"

	"github.com/halfulp/halfulp/internal/direct"
	"github.com/halfulp/halfulp/internal/modgemm"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/rounding"
)

// reconstructBytes bounds the residues that one step of the reconstruction
// packs: they stay in the first two levels of cache.
const reconstructBytes = 64 << 10

// A worker holds the scratch of one goroutine of multiply.
type worker struct {
	fin     finisher
	c       []int16 // residues of a block, plane after plane
	scratch *scratch
	y       []int16 // packed residues of one step
	digits  []int16 // of old entries that become residues
	words   []int64 // its words, row after row
	entries int     // entries a step
	stride  int     // from row to row of words: an odd number of cache lines
	across  *across // if results are rounded many at a time
	regions []region

	multiplying, rounding time.Duration
}

func newWorker(p *product, w *weights, old, c num.Mat, l, r *operand, rowPanels, colPanels int) *worker {
	k, n := p.plan.kernels, len(p.plan.base.moduli)
	kern := k.kernel
	wk := &worker{fin: finisher{p: p, old: old, c: c, w: w, left: l, right: r, ends: num.New(c.Arr.Format, 2)}}
	wk.fin.mag = make([]uint64, len(w.m)+2)
	block := rowPanels * k.panel(left) * colPanels * k.panel(right)
	wk.c = getBuffer[int16](p.planes() * block)
	wk.entries = min(max(reconstructBytes/(2*n)/kern.NR, 1)*kern.NR, block)
	wk.stride = wk.entries | rounding.Group
	wk.scratch = scratches.Get().(*scratch)
	wk.y = grow(&wk.scratch.y, 2*modgemm.Pairs(n)*wk.entries)
	wk.words = grow(&wk.scratch.words, w.panels*kern.MR/3*wk.stride)
	if p.across(w) {
		wk.across = newAcross(c.Arr.Format, w.mod, wk.stride, wk.scratch)
	}
	return wk
}

// release hands the memory back for the next product.
func (wk *worker) release() {
	putBuffer(wk.c)
	scratches.Put(wk.scratch)
}

// reconstruct turns the residues of the block at (i0, j0) of rows x ldc entries
// into entries of C. Planes lie stride apart.
func (wk *worker) reconstruct(i0, j0, rows, ldc, stride int) {
	f := &wk.fin
	kern, n := f.p.plan.kernel, len(f.p.plan.base.moduli)
	rows = min(rows, f.c.Rows-i0)
	// Entries are taken in the order of storage, across rows unless a triangle is asked for.
	var e1 int
	for e0 := 0; e0 < rows*ldc; e0 = e1 {
		e1 = min(e0+wk.entries, rows*ldc)
		if f.p.cfg.Triangle != 0 {
			// No farther than the row's end, and without what lies outside of the triangle.
			row := e0 / ldc * ldc
			end := row + ldc
			first, last := f.p.span(f.i0+i0+e0/ldc, f.j0+j0, ldc)
			e0 = max(e0, row+first/kern.NR*kern.NR)
			if e1 = min(e0+wk.entries, row+(last+kern.NR-1)/kern.NR*kern.NR); e0 >= e1 {
				e1 = end
				continue
			}
		}
		if f.w.check != nil {
			f.residues = wk.c[n*stride+e0:]
		}
		panels := (e1 - e0) / kern.NR
		modgemm.PackPlanes(kern, wk.y, wk.c[e0:], stride, n, panels)
		modgemm.Combine(kern, wk.words, wk.stride, f.w.packed, wk.y, f.w.panels, panels, modgemm.Pairs(n))
		if a := wk.across; a != nil {
			rounding.Integers(a.mag, a.neg, rounding.Pad(a.format.Limbs), wk.stride, wk.words, wk.stride, f.w.mod, e1-e0)
		}
		for e := e0; e < e1; {
			i, j := i0+e/ldc, j0+e%ldc
			end := min(e1, (e/ldc+1)*ldc)
			if j < f.c.Cols { // a panel of bytes holds several of the kernel
				wk.row(i, j, min(end-e, f.c.Cols-j), e-e0)
			}
			e = end
		}
	}
}

// row finishes n entries of row i from column j on, numbers e on of the step.
func (wk *worker) row(i, j, n, e int) {
	f := &wk.fin
	from, to := f.p.span(f.i0+i, f.j0+j, n)
	if from >= to {
		return
	}
	if f.w.check != nil && !f.left.special[i] {
		for _, special := range f.right.special[j+from : j+to] {
			if !special {
				f.compared++
			}
		}
	}
	if wk.across != nil && !f.left.special[i] {
		start := from / rounding.Group * rounding.Group
		if f.w.check != nil && !f.agreeAcross(wk.across, i, j, from, to, wk.words, wk.stride, e) {
			return
		}
		f.roundRow(wk.across, i, j+start, from-start, to-start, wk.words, wk.stride, e+start)
		return
	}
	for d := from; d < to; d++ {
		f.entry(i, j+d, wk.words, wk.stride, e+d)
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
