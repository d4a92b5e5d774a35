//go:build arm64 && !purego

package modgemm

import "github.com/halfulp/halfulp/internal/isa"

// kernels lists all kernels of this build, best first. The blocks of NEON follow from the sizes of
// the caches alone: nobody has measured them.
var kernels = []*Kernel{
	{
		Name: "neon", MR: 12, NR: 8,
		MaxModulus: maxModulus, ResiduePairs: residuePairs, DigitPairs: digitPairs,
		needs: isa.NEON,
		kc:    504, mc: 10,
		modTiles:     modTilesNEON,
		combineTiles: combineTilesNEON,
		packPlanes:   packPlanesNEON,
		digits:       digitsGeneric,
		floatScan:    floatScanGeneric,
		wordDigits:   wordDigitsGeneric,
		transpose:    transposeGeneric,
	},
	generic,
}
