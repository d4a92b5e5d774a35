//go:build amd64 && !purego

package modgemm

import (
	"unsafe"

	"github.com/halfulp/halfulp/internal/amx"
)

// byteKernel is that of level amx.
var byteKernel = &ByteKernel{
	Name: "amx", kc: byteSteps, mc: 32,
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
}

// tilesAMX calls byteTilesAMX with a block on the stack.
func tilesAMX(c []int16, ldc int, a []int8, aStride int, b []int8, panels, steps int, mod *ByteModulus, factor int, accumulate bool) {
	var room [amx.BlockBytes/4 + 15]int32
	block := &room[-uintptr(unsafe.Pointer(&room))&63/4]
	byteTilesAMX(&c[0], ldc, &a[0], aStride, &b[0], panels, steps, block, mod.inv, float32(mod.m), float32(factor), factor == 1 && !accumulate, accumulate)
}
