//go:build amd64 && !purego

package modgemm

import "github.com/halfulp/halfulp/internal/impl"

// kernels lists all kernels of this build, best first.
var kernels = []*Kernel{
	{
		Name: "avx512vnni", MR: 12, NR: 32,
		MaxModulus: maxModulus, ResiduePairs: residuePairs, DigitPairs: digitPairs,
		needs: impl.AVX512, needsVNNI: true,
		kc: 189, mc: 28,
		modTiles:     modTilesAVX512VNNI,
		combineTiles: combineTilesAVX512VNNI,
		packPlanes:   packPlanesAVX512,
	},
	{
		Name: "avx512", MR: 12, NR: 32,
		MaxModulus: maxModulus, ResiduePairs: residuePairs, DigitPairs: digitPairs,
		needs: impl.AVX512,
		kc:    189, mc: 28,
		modTiles:     modTilesAVX512,
		combineTiles: combineTilesAVX512,
		packPlanes:   packPlanesAVX512,
	},
	{
		Name: "avx2", MR: 6, NR: 16,
		MaxModulus: maxModulus, ResiduePairs: residuePairs, DigitPairs: digitPairs,
		needs: impl.AVX2,
		kc:    252, mc: 40,
		modTiles:     modTilesAVX2,
		combineTiles: combineTilesAVX2,
		packPlanes:   packPlanesAVX2,
	},
	generic,
}
