package residue

import (
	"context"
	"slices"

	"github.com/halfulp/halfulp/internal/modgemm"
	"github.com/halfulp/halfulp/internal/par"
)

// side is the side of an operand in a product: left or right.
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

// residues are the residues of an aligned operand modulo every modulus of a base. Each plane is a
// packed operand of the kernel.
type residues struct {
	kernels
	base  *base
	side  side
	width int // bits of the integers

	panel  int // vectors of a panel
	panels int
	stride int // distance between planes
	kPairs int // pairs of residues of 13 bits of a vector
	data   []int16
	steps  int // steps of bytes of a vector
	room   []int8
	planed []int8 // planes of bytes, in room

	// spans are the spans of the panels, in pairs, or in steps of bytes: residues outside are 0.
	// spans is nil before the residues are computed.
	spans []span
}

// length returns the number of pairs, or of steps of bytes, of a vector.
func (r *residues) length() int {
	if r.bytes != nil {
		return r.steps
	}
	return r.kPairs
}

// unit returns the numbers of a pair, or of a step of bytes, and the number of pairs or steps of
// which spans are multiples.
func (r *residues) unit() (numbers, align int) {
	if r.bytes != nil {
		return modgemm.StepNumbers, 1
	}
	return 2, pairAlign(r.kernel)
}

// full reports whether no panel has zeros that could be omitted.
func (r *residues) full() bool {
	return !slices.ContainsFunc(r.spans, func(s span) bool { return s != span{0, r.length()} })
}

// paddedPairs returns the number of pairs of an operand of k numbers a vector, padded so that the
// entries of a panel fill whole panels of Convert.
func paddedPairs(kern *modgemm.Kernel, k int) int {
	align := pairAlign(kern)
	return (modgemm.Pairs(k) + align - 1) / align * align
}

// pairAlign returns the least number of pairs of all vectors of a panel that fills whole panels of
// Convert.
func pairAlign(kern *modgemm.Kernel) int { return kern.NR / modgemm.GCD(2*kern.MR, kern.NR) }

// newResidues returns the layout of residues without computing them.
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

// planes returns the number of planes of residues that the kernel writes.
func (r *residues) planes() int {
	return modgemm.LeftPanels(r.kernel, len(r.base.planes)) * r.kernel.MR
}

// memory returns the bytes of the residues.
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

// digitBytes is the size of the digits of one task, which stay in the second level cache.
const digitBytes = 128 << 10

// compute computes the residues of o. It calls done after each task, with the task's share of the
// work.
func (r *residues) compute(ctx context.Context, threads int, o *operand, done func(share float64)) error {
	if r.bytes != nil {
		return r.computeBytes(ctx, threads, o, done)
	}
	var err error
	if r.data, err = getPlanes[int16](ctx, threads, r.planes()*r.stride); err != nil {
		return err
	}
	pairs := digitPairs(r.width)
	constants := r.base.conversion(r.kernel, 0, len(r.base.planes), pairs, r.side == left)
	moduli := modgemm.NewRowModuli(r.kernel, r.base.planes)
	nPanels := modgemm.LeftPanels(r.kernel, len(r.base.planes))

	r.spans = o.panelSpans(r)
	_, align := r.unit()
	chunk := max(digitBytes/(8*r.panel*pairs)/align*align, align)
	chunks := (r.kPairs + chunk - 1) / chunk
	tasks := r.panels * chunks
	work := make([]*digitRoom, max(threads, 1))
	defer releaseDigits(work)
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
			s = newDigitRoom(2*pairs*(r.panel*2*chunk+r.kernel.NR), 0)
			work[worker] = s
		}
		o.write(r.kernel, s.digits, pairs, &s.scratch, p*r.panel, r.panel, 2*q0, 2*q1, 2, r.width)
		out := r.data[(p*r.kPairs+q0)*2*r.panel:]
		modgemm.Convert(r.kernel, out, r.stride, constants, s.digits, nPanels, entries/r.kernel.NR, pairs, moduli)
	})
}

// release returns the memory for reuse by the next product.
func (r *residues) release() {
	putBuffer(r.data)
	putBuffer(r.room)
	r.data, r.room, r.planed = nil, nil, nil
}
