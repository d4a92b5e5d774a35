//go:build amd64 && !purego

package modgemm

import (
	"sync"
	"unsafe"

	"github.com/halfulp/halfulp/internal/amx"
)

// byteKernel is the kernel of level amx.
var byteKernel = &ByteKernel{
	Name: "amx", kc: byteSteps, karatsubaKc: amxKaratsubaSteps, mc: amxPanels,
	tiles: tilesAMX,
	narrow: func(dst []int8, src []int16) {
		narrowAMX(&dst[0], &src[0], len(src))
	},
	join: func(dst []int16, a []int8, stride int) {
		joinAMX(&dst[0], &a[0], stride, len(dst))
	},
	convert: func(dst []int8, stride int, c *ByteConversion, digits []int16, panel, n int, stream bool) {
		if panel != 32 { // the assembly supports only the panels of the level's kernels
			convertBytesGeneric(dst, stride, c, digits, panel, n, stream)
			return
		}
		vectors := c.onVectors()
		stream = stream && uintptr(unsafe.Pointer(&dst[0]))%64 == 0 && stride%64 == 0
		if vectors > 0 {
			convertPlainAMX(&dst[0], stride, &c.words[0], &digits[0], vectors, c.pairs, n/64, stream)
		}
		if vectors == len(c.moduli) {
			return
		}
		dst = dst[vectors*stride:]
		r := rooms.Get().(*room)
		convertBytesAMX(&dst[0], stride, &c.table[0], &c.tails[0], &digits[0], c.plain-vectors, len(c.moduli)-c.plain, c.pairs, c.steps, n/64, r.blocks(), stream)
		rooms.Put(r)
	},
	packResidues: func(dst, src []int16, planeStride, planes, panels int) {
		packResiduesAMX(&dst[0], &src[0], planeStride, planes, panels)
	},
	combine: func(out []int64, outStride int, c *ByteCombination, y []int16, panels int) {
		r := rooms.Get().(*room)
		blocks := (c.words + blockWords - 1) / blockWords
		combineBytesAMX(&out[0], outStride, &c.table[0], &c.first[0], &y[0], c.words, blocks, Pairs(c.moduli), c.steps, panels, r.blocks())
		rooms.Put(r)
	},
}

const (
	// amxKaratsubaSteps is the number of steps of a plane of a panel of B that the first level
	// cache holds beside the steps of A that pass through it.
	amxKaratsubaSteps = 16
	// amxPanels is the largest number of panels of A that fit in the second level cache together
	// with their sums.
	amxPanels = 16
)

// A room has the blocks of sums that the assembly works in, three for every panel modulo Karatsuba
// moduli. On the stack they would be cleared for every call.
type room [amxPanels*karatsubaPlanes*amx.BlockBytes/4 + 15]int32

var rooms = sync.Pool{New: func() any { return new(room) }}

// blocks returns the first of the blocks, at a multiple of 64.
func (r *room) blocks() *int32 { return &r[-uintptr(unsafe.Pointer(r))&63/4] }

// tilesAMX calls the assembly.
func tilesAMX(c []int16, ldc int, a, b bytePanels, panels, steps int, mod *ByteModulus, accumulate bool) {
	checkRange(0, panels, amxPanels) // the room's
	r := rooms.Get().(*room)
	if mod.planes() > 1 {
		karatsubaTilesAMX(&c[0], ldc, &a.data[0], a.stride, a.plane, &b.data[0], b.plane, panels, steps, r.blocks(), mod.inv, uint32(uint16(-mod.m)), accumulate, a.next, b.next)
	} else {
		byteTilesAMX(&c[0], ldc, &a.data[0], a.stride, &b.data[0], panels, steps, r.blocks(), mod.inv, float32(mod.m), accumulate, a.next, b.next)
	}
	rooms.Put(r)
}
