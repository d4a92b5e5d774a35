package exact

import (
	"context"

	"github.com/halfulp/halfulp/internal/modgemm"
	"github.com/halfulp/halfulp/internal/par"
)

// byteRoom returns the size of the buffer of planes of bytes.
func (r *residues) byteRoom() int {
	return r.base.pool.products(len(r.base.moduli))*r.stride + 63
}

// bytePlanes returns the planes of bytes modulo moduli[t], which lie stride apart, from panel p on.
func (r *residues) bytePlanes(t, p int) []int8 {
	return r.planed[r.base.pool.products(t)*r.stride+p*modgemm.PanelBytes(r.steps):]
}

// tileRun is the most tiles that a task of computeBytes converts.
const tileRun = 16

// computeBytes fills in the planes of bytes, tile by tile: the digits of a tile's numbers become
// residues of 13 bits, and these bytes.
func (r *residues) computeBytes(ctx context.Context, threads int, o *operand, done func(share float64)) error {
	r.room = getBuffer[int8](r.byteRoom())
	r.planed = modgemm.AlignedBytes(r.room, r.byteRoom()-63)
	pairs := digitPairs(r.width)
	constants := r.base.conversion(r.kernel, pairs, r.side == left)
	moduli := modgemm.NewRowModuli(r.kernel, r.base.moduli)
	nPanels := modgemm.LeftPanels(r.kernel, len(r.base.moduli))
	plain := r.base.pool.bytes.Plain
	group := modgemm.RightGroup
	if r.side == left {
		group = modgemm.LeftGroup
	}

	const entries = modgemm.TileBytes
	const stride = entries + 32 // an odd number of cache lines
	r.spans = o.panelSpans(r)
	perPanel := 2 * r.steps
	tiles := r.panels * perPanel
	run := max(1, min(tileRun, tiles/(8*max(threads, 1))))
	tasks := (tiles + run - 1) / run
	type scratch struct {
		digits, residues []int16
		tile             tileNumbers
	}
	work := make([]*scratch, max(threads, 1))
	return par.For(ctx, threads, tasks, func(worker, task int) {
		s := work[worker]
		if s == nil {
			s = &scratch{digits: make([]int16, 2*pairs*entries), residues: make([]int16, r.planes()*stride)}
			work[worker] = s
		}
		for tile := task * run; tile < min((task+1)*run, tiles); tile++ {
			panel, step, half := tile/perPanel, tile%perPanel/2, tile%2
			if r.spans[panel].and(span{step, step + 1}).empty() {
				for plane := range r.base.pool.products(len(r.base.moduli)) {
					clear(r.planed[plane*r.stride+tile*entries:][:entries])
				}
				continue
			}
			h := step * modgemm.StepNumbers
			v := panel*r.panel + half*modgemm.TileVectors
			if !o.digitsTile(r.kernel, s.digits, pairs, &s.tile, v, h, r.side, r.width) {
				d := newDigitWriter(s.digits, r.kernel.NR, pairs)
				o.digits(d, v, modgemm.TileVectors, h, h+modgemm.StepNumbers, group, r.width)
			}
			modgemm.Convert(r.kernel, s.residues, stride, constants, s.digits, nPanels, entries/r.kernel.NR, pairs, moduli)
			for t := range r.base.moduli {
				out := r.planed[r.base.pool.products(t)*r.stride+tile*entries:]
				if src := s.residues[t*stride:][:entries]; t < plain {
					r.bytes.Narrow(out, src)
				} else {
					r.bytes.Split(out, r.stride, src)
				}
			}
		}
		done(1 / float64(tasks))
	})
}
