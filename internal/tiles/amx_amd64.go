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
		f := tileRowsAMX
		if j.blocks == 2 {
			f = tileRows2AMX
		}
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
	dot: func(j *tileDotJob) {
		f := tileDotAMX
		switch j.blocks {
		case 2:
			f = tileDot2AMX
		case 3:
			f = tileDot3AMX
		case 4:
			f = tileDot4AMX
		}
		f((*byte)(unsafe.Pointer(j)))
	},
	FewProducts: leastTileDot,
}
