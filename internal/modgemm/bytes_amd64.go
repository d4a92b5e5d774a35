//go:build amd64 && !purego

package modgemm

import (
	"unsafe"

	"github.com/halfulp/halfulp/internal/amx"
)

// byteKernel is that of level amx.
var byteKernel = &ByteKernel{
	Name: "amx", kc: byteSteps, karatsubaKc: karatsubaSteps, mc: 32,
	tiles: tilesAMX,
	narrow: func(dst []int8, src []int16) {
		narrowAMX(&dst[0], &src[0], len(src))
	},
	split: func(dst []int8, stride int, src []int16) {
		splitAMX(&dst[0], stride, &src[0], len(src))
	},
	convert: func(dst []int8, stride int, c *ByteConversion, digits []int16, panel, n int) {
		if panel != 32 { // that of the kernels of the level
			convertBytesGeneric(dst, stride, c, digits, panel, n)
			return
		}
		convertBytesAMX(&dst[0], stride, &c.table[0], &digits[0], c.moduli, c.pairs, n/64)
	},
	convertKaratsuba: func(dst []int8, stride int, c *KaratsubaConversion, digits []int16, panel, n int, stream bool) {
		if panel != 32 {
			convertKaratsubaGeneric(dst, stride, c, digits, panel, n, stream)
			return
		}
		var room [4*amx.BlockBytes/4 + 15]int32
		block := &room[-uintptr(unsafe.Pointer(&room))&63/4]
		convertKaratsubaAMX(&dst[0], stride, &c.table[0], &c.tails[0], &digits[0], len(c.moduli), c.pairs, c.steps, n/64, block, stream && uintptr(unsafe.Pointer(&dst[0]))%64 == 0 && stride%64 == 0)
	},
}

// tilesAMX calls the assembly with blocks on the stack.
func tilesAMX(c []int16, ldc int, a, b bytePanels, panels, steps int, mod *ByteModulus, accumulate bool) {
	var room [2*karatsubaPlanes*amx.BlockBytes/4 + 15]int32
	block := &room[-uintptr(unsafe.Pointer(&room))&63/4]
	if mod.planes() > 1 {
		karatsubaTilesAMX(&c[0], ldc, &a.data[0], a.stride, a.plane, &b.data[0], b.plane, panels, steps, block, mod.inv, float32(mod.m), accumulate, a.next, b.next)
		return
	}
	byteTilesAMX(&c[0], ldc, &a.data[0], a.stride, &b.data[0], panels, steps, block, mod.inv, float32(mod.m), accumulate, a.next, b.next)
}
