package residue

import (
	"context"

	"github.com/halfulp/halfulp/internal/modgemm"
	"github.com/halfulp/halfulp/internal/par"
)

// byteRoom returns the size of the buffer of planes of bytes.
func (r *residues) byteRoom() int {
	return r.base.products()*r.stride + 63
}

// bytePlanes returns the planes of bytes modulo planes[t] of the base, which are stride apart, from
// panel p on.
func (r *residues) bytePlanes(t, p int) []int8 {
	return r.planed[r.base.pool.products(t)*r.stride+p*modgemm.PanelBytes(r.steps):]
}

// streamBytes is the size from which on planes are written past the caches, which would not hold
// them until they are multiplied.
const streamBytes = 64 << 20

// tileRun is the most tiles that a task of computeBytes converts.
const tileRun = 16

// convertedFrom returns the first plane whose bytes are computed directly from so many pairs of
// digits.
func (b *base) convertedFrom(pairs int) int {
	if modgemm.ByteConvertible(pairs, true) {
		return 0
	}
	return b.plain()
}

// computeBytes computes the planes of bytes, tile by tile. The digits of a tile's numbers are
// converted to bytes modulo the plain moduli, and to three planes of bytes modulo each of the
// others. Where the conversion to bytes does not support so many digits, residues of 13 bits modulo
// the plain moduli are narrowed to bytes.
func (r *residues) computeBytes(ctx context.Context, threads int, o *operand, done func(share float64)) error {
	var err error
	if r.room, err = getPlanes[int8](ctx, threads, r.byteRoom()); err != nil {
		return err
	}
	r.planed = modgemm.AlignedBytes(r.room, r.byteRoom()-63)
	pairs := digitPairs(r.width)
	// The bytes modulo the planes from index from on are computed directly from the digits.
	from := r.base.convertedFrom(pairs)
	var conversion *modgemm.ByteConversion
	if from < len(r.base.planes) {
		conversion = r.base.byteConversion(from, pairs, r.side == left)
	}
	rest := r.base.planes[:from]
	constants := r.base.conversion(r.kernel, 0, from, pairs, r.side == left)
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
	stream := r.byteRoom() > streamBytes
	tiles := r.panels * perPanel
	run := max(1, min(tileRun, tiles/(8*max(threads, 1))))
	tasks := (tiles + run - 1) / run
	work := make([]*digitRoom, max(threads, 1))
	defer releaseDigits(work)
	return par.For(ctx, threads, tasks, func(worker, task int) {
		s := work[worker]
		if s == nil {
			s = newDigitRoom(modgemm.ByteDigits(pairs, entries), nPanels*r.kernel.MR*stride)
			work[worker] = s
		}
		for tile := task * run; tile < min((task+1)*run, tiles); tile++ {
			panel, step, half := tile/perPanel, tile%perPanel/2, tile%2
			if r.spans[panel].and(span{step, step + 1}).empty() {
				for plane := range r.base.products() {
					clear(r.planed[plane*r.stride+tile*entries:][:entries])
				}
				continue
			}
			h := step * modgemm.StepNumbers
			v := panel*r.panel + half*modgemm.TileVectors
			if !o.digitsTile(r.kernel, s.digits, pairs, &s.scratch.floats, v, h, r.side, r.width) {
				o.write(r.kernel, s.digits, pairs, &s.scratch, v, modgemm.TileVectors, h, h+modgemm.StepNumbers, group, r.width)
			}
			at := r.planed[tile*entries:]
			if len(rest) > 0 {
				modgemm.Convert(r.kernel, s.residues, stride, constants, s.digits, nPanels, entries/r.kernel.NR, pairs, moduli)
			}
			for t := range rest {
				r.bytes.Narrow(at[t*r.stride:], s.residues[t*stride:][:entries])
			}
			if conversion != nil {
				modgemm.ConvertBytes(r.bytes, at[r.base.pool.products(from)*r.stride:], r.stride, conversion, s.digits, r.kernel.NR, entries, stream)
			}
		}
		done(1 / float64(tasks))
	})
}
