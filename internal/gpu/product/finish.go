package product

import (
	"fmt"
	"slices"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/num"
)

// declaredShared bounds the shared memory in bytes that kernels declare, without dynamic shared
// memory.
const declaredShared = 1 << 10

// finish computes results from the residues of a block of C, home by home.
func (m *multiplication) finish(l, r *operand, b region, room room) error {
	if err := m.homes(b.j0, b.j1, func(from, until int, to abi.Target) error {
		c, of := b, room
		c.j0, c.j1 = from, until
		of.before = (from - b.j0) * room.ld
		return m.finishFor(l, r.sub(from-b.j0, until-b.j0), c, of, to)
	}); err != nil {
		return err
	}
	return m.mark("finish")
}

// finishFor computes the results that are stored in one target.
func (m *multiplication) finishFor(l, r *operand, b region, room room, to abi.Target) error {
	f := abi.Finishing{
		Failed: m.failed(),
		L:      l.norms(), R: r.norms(),
		Y: room.y.Pointer() + cuda.Pointer(room.before), Wide: room.wide.Pointer() + cuda.Pointer(2*room.before), Stride: room.n, LD: int64(room.ld),
		Unit: m.unit() + m.native.Alpha.Exp, Weights: m.weights.table.Pointer(), Product: m.weights.product.Pointer(),
		Plain: int32(m.base.plain), Karatsuba: int32(len(m.base.moduli) - m.base.plain), Check: m.checking(),
		Words: int32(m.weights.words), M: int32(l.n), N: int32(r.n), I0: int32(b.i0), J0: int32(b.j0),
		Neg: m.native.Alpha.Neg, Triangle: int32(m.cfg.Triangle),
	}
	f.ErrorL, f.ErrorR, f.Error = m.errors()
	if room.raw != nil {
		f.Raw, f.Pitch = room.raw.At(128*int64(m.below)), int32(m.below+m.weights.words)
	} else {
		f.C = to
	}
	steps := m.weights.steps
	kernel, long := fmt.Sprintf("finish%d", steps), !slices.Contains(abi.FinishSteps, steps)
	warps, weights := 8, 0 // bytes of weights in shared memory
	kind := m.c.Arr.Kind
	switch {
	case steps == 1 && room.raw == nil && !m.cfg.Check && m.weights.words <= abi.ShortWords && (kind == num.F32 || kind == num.F64):
		blocks := ((l.n+abi.ShortRows-1)/abi.ShortRows*r.n + warps - 1) / warps
		return m.launch("finish", "finish0", cuda.Dim{X: blocks}, cuda.Dim{X: 32 * warps}, abi.ShortBytes*warps, f)
	case long:
		kernel, warps, weights = "finishLong", 4, 3*8*512
		f.Steps = int32(steps)
	// registers for two blocks on a multiprocessor, one of which loads while the other multiplies
	case steps >= 9:
		warps = 4
		fallthrough
	case steps >= 5:
		weights = 2 * 512 * steps
	}
	words := m.weights.words
	if long && m.settles {
		words = 0
	}
	shared := func() int { return weights + 4*warps*(abi.TileDigits*36+roundUp(33*words, 4)) }
	for !long && shared() > m.e.dev.Info().SharedPerBlock-declaredShared && warps > 1 {
		warps /= 2
	}
	if m.cfg.Check {
		kernel += "Checked"
	}
	blocks := ((l.n+31)/32*r.n + warps - 1) / warps
	return m.launch("finish", kernel, cuda.Dim{X: blocks}, cuda.Dim{X: 32 * warps}, shared(), f)
}
