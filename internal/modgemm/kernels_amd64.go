//go:build amd64 && !purego

package modgemm

import "github.com/halfulp/halfulp/internal/impl"

// kernels lists all kernels of this build, best first.
var kernels = []*Kernel{
	{
		Name: "avx512vnni", MR: 12, NR: 32,
		MaxModulus: maxModulus, ResiduePairs: residuePairs, DigitPairs: digitPairs,
		needs: impl.AVX512, needsVNNI: true,
		kc: 192, mc: 28,
		modTile:     modTileAVX512VNNI,
		combineTile: combineTileAVX512VNNI,
		packPlanes:  packPlanesAVX512,
	},
	{
		Name: "avx512", MR: 12, NR: 32,
		MaxModulus: maxModulus, ResiduePairs: residuePairs, DigitPairs: digitPairs,
		needs: impl.AVX512,
		kc:    192, mc: 28,
		modTile:     modTileAVX512,
		combineTile: combineTileAVX512,
		packPlanes:  packPlanesAVX512,
	},
	{
		Name: "avx2", MR: 6, NR: 16,
		MaxModulus: maxModulus, ResiduePairs: residuePairs, DigitPairs: digitPairs,
		needs: impl.AVX2,
		kc:    256, mc: 40,
		modTile:     modTileAVX2,
		combineTile: combineTileAVX2,
		packPlanes:  packPlanesAVX2,
	},
	generic,
}
