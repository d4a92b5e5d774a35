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
// bytes modulo the plain moduli, and modulo the others residues of 13 bits, which are split.
func (r *residues) computeBytes(ctx context.Context, threads int, o *operand, done func(share float64)) error {
	r.room = getBuffer[int8](r.byteRoom())
	r.planed = modgemm.AlignedBytes(r.room, r.byteRoom()-63)
	pairs := digitPairs(r.width)
	plain := min(r.base.pool.bytes.Plain, len(r.base.moduli))
	var conversion *modgemm.ByteConversion
	direct := 0 // moduli whose bytes come from the digits
	if modgemm.ByteConvertible(pairs) {
		conversion, direct = r.base.byteConversion(plain, pairs, r.side == left), plain
	}
	rest := r.base.moduli[direct:]
	constants := r.base.conversion(r.kernel, direct, pairs, r.side == left)
	moduli := modgemm.NewRowModuli(r.kernel, rest)
	nPanels := modgemm.LeftPanels(r.kernel, len(rest))
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
		room             digitScratch
	}
	work := make([]*scratch, max(threads, 1))
	return par.For(ctx, threads, tasks, func(worker, task int) {
		s := work[worker]
		if s == nil {
			s = &scratch{digits: make([]int16, 2*pairs*entries), residues: make([]int16, nPanels*r.kernel.MR*stride)}
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
			if !o.digitsTile(r.kernel, s.digits, pairs, &s.room.floats, v, h, r.side, r.width) {
				o.write(r.kernel, s.digits, pairs, &s.room, v, modgemm.TileVectors, h, h+modgemm.StepNumbers, group, r.width)
			}
			if direct > 0 {
				modgemm.ConvertBytes(r.bytes, r.planed[tile*entries:], r.stride, conversion, s.digits, r.kernel.NR, entries)
			}
			if len(rest) == 0 {
				continue
			}
			modgemm.Convert(r.kernel, s.residues, stride, constants, s.digits, nPanels, entries/r.kernel.NR, pairs, moduli)
			for i := range rest {
				t := direct + i
				out := r.planed[r.base.pool.products(t)*r.stride+tile*entries:]
				if src := s.residues[i*stride:][:entries]; t < plain {
					r.bytes.Narrow(out, src)
				} else {
					r.bytes.Split(out, r.stride, src)
				}
			}
		}
		done(1 / float64(tasks))
	})
}
