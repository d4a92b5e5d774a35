package residue

import (
	"context"
	"slices"

	"github.com/halfulp/halfulp/internal/modgemm"
	"github.com/halfulp/halfulp/internal/par"
)

// side says which factor of a product an operand is.
type side bool

const (
	left  side = true
	right side = false
)

func (s side) index() int {
	if s == left {
		return 0
	}
	return 1
}

// residues are the residues of an aligned operand modulo every modulus of a
// base, each plane a packed operand of the kernel.
type residues struct {
	kernels
	base  *base
	side  side
	width int // bits of the integers

	panel  int // vectors a panel
	panels int
	stride int // from plane to plane
	kPairs int // of residues of 13 bits
	data   []int16
	steps  int // of bytes
	room   []int8
	planed []int8 // in room, planes of bytes

	// spans are those of the panels, in pairs, or steps of bytes: residues outside are 0. There are
	// none before the residues are computed.
	spans []span
}

// length returns the pairs, or steps of bytes, of a vector.
func (r *residues) length() int {
	if r.bytes != nil {
		return r.steps
	}
	return r.kPairs
}

// unit returns the numbers of a pair, or step of bytes, and of how many of these spans are
// multiples.
func (r *residues) unit() (numbers, align int) {
	if r.bytes != nil {
		return modgemm.StepNumbers, 1
	}
	return 2, pairAlign(r.kernel)
}

// full reports whether no panel has zeros that could be left out.
func (r *residues) full() bool {
	return !slices.ContainsFunc(r.spans, func(s span) bool { return s != span{0, r.length()} })
}

// paddedPairs returns the pairs of an operand of k numbers a vector, padded so
// that the entries of a panel fill whole panels of Convert.
func paddedPairs(kern *modgemm.Kernel, k int) int {
	align := pairAlign(kern)
	return (modgemm.Pairs(k) + align - 1) / align * align
}

// pairAlign returns how many pairs of all vectors of a panel, or a multiple of that, fill whole
// panels of Convert.
func pairAlign(kern *modgemm.Kernel) int { return kern.NR / modgemm.GCD(2*kern.MR, kern.NR) }

// newResidues lays out residues without computing them.
func newResidues(kerns kernels, b *base, s side, vectors, k, width int) *residues {
	r := &residues{kernels: kerns, base: b, side: s, width: width, panel: kerns.panel(s), panels: kerns.panels(s, vectors)}
	if kerns.bytes != nil {
		r.steps = modgemm.ByteSteps(k)
		r.stride = r.panels*modgemm.PanelBytes(r.steps) + 64
		return r
	}
	r.kPairs = paddedPairs(kerns.kernel, k)
	r.stride = planeStride(r.panels * r.panel * 2 * r.kPairs)
	return r
}

// planes returns the planes of residues that the kernel writes.
func (r *residues) planes() int {
	return modgemm.LeftPanels(r.kernel, len(r.base.planes)) * r.kernel.MR
}

// memory returns the bytes that the residues take.
func (r *residues) memory() int64 {
	if r.bytes != nil {
		return int64(r.byteRoom())
	}
	return 2 * int64(r.planes()) * int64(r.stride)
}

// plane returns the packed operand modulo planes[t] of the base, from panel p on.
func (r *residues) plane(t, p int) []int16 {
	return r.data[t*r.stride+p*r.panel*2*r.kPairs : t*r.stride+r.panels*r.panel*2*r.kPairs]
}

// digitBytes is the size of the digits of one task: they stay in the second
// level cache.
const digitBytes = 128 << 10

// compute fills in the residues of o. done is called with the share of the
// work that each task was.
func (r *residues) compute(ctx context.Context, threads int, o *operand, done func(share float64)) error {
	if r.bytes != nil {
		return r.computeBytes(ctx, threads, o, done)
	}
	r.data = getBuffer[int16](r.planes() * r.stride)
	pairs := digitPairs(r.width)
	constants := r.base.conversion(r.kernel, 0, len(r.base.planes), pairs, r.side == left)
	moduli := modgemm.NewRowModuli(r.kernel, r.base.planes)
	nPanels := modgemm.LeftPanels(r.kernel, len(r.base.planes))

	r.spans = o.panelSpans(r)
	_, align := r.unit()
	chunk := max(digitBytes/(8*r.panel*pairs)/align*align, align)
	chunks := (r.kPairs + chunk - 1) / chunk
	tasks := r.panels * chunks
	type scratch struct {
		digits []int16
		room   digitScratch
	}
	work := make([]*scratch, max(threads, 1))
	return par.For(ctx, threads, tasks, func(worker, task int) {
		defer done(1 / float64(tasks))
		p, q0 := task/chunks, task%chunks*chunk
		q1 := min(q0+chunk, r.kPairs)
		there := r.spans[p].and(span{q0, q1})
		if there.length() < q1-q0 {
			for t := range r.base.planes {
				clear(r.data[t*r.stride+(p*r.kPairs+q0)*2*r.panel:][:(q1-q0)*2*r.panel])
			}
		}
		if there.empty() {
			return
		}
		q0, q1 = there.from, there.to
		entries := r.panel * 2 * (q1 - q0)
		s := work[worker]
		if s == nil {
			s = &scratch{digits: make([]int16, 2*pairs*(r.panel*2*chunk+r.kernel.NR))}
			work[worker] = s
		}
		o.write(r.kernel, s.digits, pairs, &s.room, p*r.panel, r.panel, 2*q0, 2*q1, 2, r.width)
		out := r.data[(p*r.kPairs+q0)*2*r.panel:]
		modgemm.Convert(r.kernel, out, r.stride, constants, s.digits, nPanels, entries/r.kernel.NR, pairs, moduli)
	})
}

// release hands the memory back for the next product.
func (r *residues) release() {
	putBuffer(r.data)
	putBuffer(r.room)
	r.data, r.room, r.planed = nil, nil, nil
}
