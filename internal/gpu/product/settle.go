package product

import (
	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/abi"
)

// maxFused bounds the words of the integers that kernels/exact/finish.cu keeps in shared memory and
// rounds.
const maxFused = 96

// maxBelow bounds the words below the integers, for alpha and a window.
const maxBelow = 1024

// settle rounds the integers of a block of C.
func (m *multiplication) settle(l, r *operand, b region, room room) error {
	p := abi.Settling{
		C: abi.TargetOf(*m.c), Failed: m.failed(), Counts: m.control.At(countsAt),
		L: l.norms(), R: r.norms(), E: m.native, Raw: room.raw.Pointer(), Unit: m.unit(),
		Words: int32(m.weights.words), Below: int32(m.below),
		M: int32(l.n), N: int32(r.n), I0: int32(b.i0), J0: int32(b.j0), Triangle: int32(m.cfg.Triangle),
	}
	if m.within {
		p.E.Adds = 0
	}
	p.ErrorL, p.ErrorR, p.Error = m.errors()
	const warps = 8
	strips := (l.n + 31) / 32 * r.n
	if err := m.launch("settle", "settle", cuda.Dim{X: (strips + warps - 1) / warps}, cuda.Dim{X: 32 * warps}, 0, p); err != nil {
		return err
	}
	return m.mark("settle")
}

// rawBytes returns the memory of the integers of a block of C.
func (m *multiplication) rawBytes(rows, cols int) int64 {
	if !m.settles {
		return 0
	}
	return int64(roundUp(rows, 32)) * int64(cols) * 4 * int64(m.below+m.weights.words)
}
