//go:build amd64 && !purego

package lanes

import (
	"github.com/halfulp/halfulp/internal/isa"
)

//go:generate go -C _asm run . -out ../kernels_amd64.s -stubs ../stubs_amd64.go -pkg lanes

func machineUnit() *Unit {
	switch {
	case isa.HasIFMA():
		return &unitIFMA
	case isa.Level() >= isa.AVX2:
		return &unitAVX2
	}
	return nil
}

type verticalKernel = func(acc *int64, a *uint64, aPitch int, x *uint64, xPitch int, n, first, digits int, soon uintptr, soonPitch, soonLines int)
