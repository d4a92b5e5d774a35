package residue

import (
	"math"
	"time"

	"github.com/halfulp/halfulp/internal/modgemm"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/rounding"
	"github.com/halfulp/halfulp/internal/superacc"
)

// reconstructBytes bounds the residues that one step of the reconstruction packs, which stay in the
// first two levels of cache.
const reconstructBytes = 64 << 10

// packedBytes is the size of the residues that are packed at a time for tiles, for several steps.
// They stay in a second level cache of 2 MiB, and planes are read in runs long enough for hardware
// prefetching.
const packedBytes = 512 << 10

// A worker holds the scratch memory of one goroutine of multiply.
type worker struct {
	fin     finisher
	c       []int16 // residues of a block, plane by plane
	scratch *scratch
	columns int     // entries of a panel of y
	y       []int16 // packed residues of one or several steps
	packed  span    // the entries in y
	digits  []int16 // digits of old entries that are converted to residues
	words   []int64 // words of the step, row by row
	entries int     // entries of a step
	chunk   int     // entries packed at a time
	stride  int     // distance between rows of words: an odd number of cache lines
	across  *across // if results are rounded many at a time
	regions []region

	multiplying, rounding time.Duration
}

// newWorker returns a worker for blocks of at most so many entries, without residues.
func newWorker(p *product, w *weights, old, c num.Mat, l, r *operand, block int) *worker {
	k, n := p.plan.kernels, len(p.plan.base.moduli)
	kern := k.kernel
	wk := &worker{fin: finisher{p: p, old: old, c: c, w: w, left: l, right: r, ends: num.New(c.Arr.Format, 2)}}
	wk.fin.mag = make([]uint64, len(w.m)+2)
	wk.columns = kern.NR
	if w.bytes != nil {
		wk.columns = modgemm.PanelVectors
	}
	wk.entries = min(max(reconstructBytes/(2*n)/wk.columns, 1)*wk.columns, block)
	wk.chunk = wk.entries
	if w.bytes != nil {
		wk.chunk = min(max(packedBytes/(2*n)/wk.entries, 1)*wk.entries, block)
	}
	wk.stride = wk.entries | rounding.Group
	var ok bool
	if wk.scratch, ok = scratches.Take(0, math.MaxInt); !ok {
		wk.scratch = new(scratch)
	}
	wk.y = grow(&wk.scratch.y, modgemm.ByteColumns(n, wk.chunk))
	wk.words = grow(&wk.scratch.words, w.rowsOfWords(kern)*wk.stride)
	if p.across(w) {
		wk.across = newAcross(c.Arr.Format, w.mod, wk.stride, wk.scratch)
	}
	return wk
}

// release returns the memory for reuse by the next product.
func (wk *worker) release() {
	putBuffer(wk.c)
	scratches.Put(wk.scratch, cap(wk.scratch.words), wk.scratch.bytes())
}

// reconstruct computes entries of C from the residues of the block at (i0, j0) of rows x ldc
// entries. Planes are stride apart. It stops if the context is cancelled.
func (wk *worker) reconstruct(i0, j0, rows, ldc, stride int) {
	f := &wk.fin
	n := len(f.p.plan.base.moduli)
	rows = min(rows, f.c.Rows-i0)
	// Entries are processed in the order of storage, across rows unless a triangle is requested.
	wk.packed = span{}
	var e1 int
	for e0 := 0; e0 < rows*ldc; e0 = e1 {
		e1 = min(e0+wk.entries, rows*ldc)
		if f.p.cfg.Triangle != 0 {
			// At most to the end of the row, and without entries outside of the triangle.
			row := e0 / ldc * ldc
			end := row + ldc
			first, last := f.p.span(f.i0+i0+e0/ldc, f.j0+j0, ldc)
			e0 = max(e0, row+first/wk.columns*wk.columns)
			if e1 = min(e0+wk.entries, row+(last+wk.columns-1)/wk.columns*wk.columns); e0 >= e1 {
				e1 = end
				continue
			}
		}
		if f.w.check != nil {
			f.residues = wk.c[n*stride+e0:]
		}
		if f.p.cfg.Ctx.Err() != nil {
			return
		}
		wk.combine(e0, e1, rows*ldc, stride)
		if a := wk.across; a != nil {
			rounding.Integers(a.mag, a.neg, rounding.Pad(a.format.Limbs), wk.stride, wk.words, wk.stride, f.w.mod, e1-e0)
		}
		for e := e0; e < e1; {
			i, j := i0+e/ldc, j0+e%ldc
			end := min(e1, (e/ldc+1)*ldc)
			wk.row(i, j, min(end-e, f.c.Cols-j), e-e0)
			e = end
		}
	}
}

// combine computes the words of the entries e0 <= e < e1 of planes of all entries, which are stride
// apart.
func (wk *worker) combine(e0, e1, all, stride int) {
	k, w, n := wk.fin.p.plan.kernels, wk.fin.w, len(wk.fin.p.plan.base.moduli)
	panels := (e1 - e0) / wk.columns
	if w.bytes == nil {
		modgemm.PackPlanes(k.kernel, wk.y, wk.c[e0:], stride, n, panels)
		modgemm.Combine(k.kernel, wk.words, wk.stride, w.packed, wk.y, w.panels, panels, modgemm.Pairs(n))
		return
	}
	if wk.packed.and(span{e0, e1}) != (span{e0, e1}) {
		wk.packed = span{e0, min(e0+wk.chunk, all)}
		modgemm.PackResidues(k.bytes, wk.y, wk.c[e0:], stride, n, wk.packed.length()/wk.columns)
	}
	modgemm.CombineBytes(k.bytes, wk.words, wk.stride, w.bytes, wk.y[2*modgemm.Pairs(n)*(e0-wk.packed.from):], panels)
}

// row finishes n entries of row i from column j on, which are the numbers from e on of the step.
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
	acc                 superacc.Acc
	buf                 [num.MaxValueWords]uint64
	overflow, underflow int64
}

// vectors returns row i of A and column j of B, without numbers that meet zeros on the other side
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
	if r.Class == num.Zero && x.N < p.a.Cols {
		// The sign depends on all addends. It is + unless all of them are -0, which the first
		// addend usually refutes.
		if p.alpha.real.Class == num.Finite && !p.negativeZero(i, j) {
			r.Neg = false
		} else {
			r = w.acc.Entry(p.c.Arr.Format, p.alpha.real, p.a.Row(i), p.b.Row(j), p.beta.real, old)
		}
	}
	fl := p.c.Arr.Set(p.c.At(i, j), r)
	if fl&num.Overflow != 0 {
		w.overflow++
	}
	if fl&num.Underflow != 0 {
		w.underflow++
	}
}

// negativeZero reports whether every addend of entry (i, j) is -0 or its sign cannot be determined,
// if beta is zero. The caller knows that the sum of the addends is zero.
func (p *product) negativeZero(i, j int) bool {
	for h := range p.a.Cols {
		zeroA, negA := sign(p.a.Arr, p.a.At(i, h))
		zeroB, negB := sign(p.b.Arr, p.b.At(j, h))
		if !zeroA && !zeroB || negA != negB == p.alpha.neg {
			return false
		}
	}
	return true
}

// sign reports whether number i of an array is zero, and whether its sign is -. It is a fast path:
// products of matrices with many zeros call it as often as they do everything else with their
// numbers.
func sign(a *num.Array, i int) (zero, neg bool) {
	switch a.Kind {
	case num.F64:
		x := a.F64[0][i]
		return x == 0, math.Signbit(x)
	case num.MP:
		return a.Cls[i].Class() == num.Zero, a.Cls[i].Neg()
	}
	var buf [num.MaxValueWords]uint64
	r := a.Value(i, buf[:])
	return r.Class == num.Zero, r.Neg
}
