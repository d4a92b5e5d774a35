//go:build amd64 && !purego

package tiles

import (
	"unsafe"

	"github.com/halfulp/halfulp/internal/isa"
	"golang.org/x/sys/cpu"
)

//go:generate go -C _asm run . -out ../kernels_amd64.s -stubs ../stubs_amd64.go -pkg tiles

func machineTiles() *Unit {
	if isa.Level() >= isa.AMX && isa.HasIFMA() && cpu.X86.HasAVX512VBMI {
		return &unitAMX
	}
	return nil
}

var unitAMX = Unit{
	rows: 64, few: 8000, samples: 8,
	run: func(j *tileJob) {
		f := tileRowsAMX[j.blocks]
		for {
			left := f((*byte)(unsafe.Pointer(j)))
			if left == 0 {
				return
			}
			j.skip(j.units - left)
			j.convert(false)
			j.ready = 1
		}
	},
	spread: func(dst []int8, pitch int, digits []byte, blocks int) {
		spreadDigitsAMX(&dst[0], pitch, &digits[0], blocks)
	},
	dot:         func(j *tileDotJob) { tileDotsAMX[j.blocks]((*byte)(unsafe.Pointer(j))) },
	FewProducts: leastTileDot,
}

var tileDotsAMX = [...]func(*byte){
	2: tileDot2AMX, 3: tileDot3AMX, 4: tileDot4AMX, 7: tileDot7AMX,
	10: tileDot10AMX, 12: tileDot12AMX, 14: tileDot14AMX, 16: tileDot16AMX,
}

var tileRowsAMX = [...]func(*byte) int{
	2: tileRows2AMX, 7: tileRows7AMX, 8: tileRows8AMX, 10: tileRows10AMX, 12: tileRows12AMX, 14: tileRows14AMX, 16: tileRows16AMX,
}
