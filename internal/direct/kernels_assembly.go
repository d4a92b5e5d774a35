//go:build (amd64 || arm64) && !purego

package direct

import "unsafe"

// convolveFast runs tiles of at most maxWidth groups of columns. The wide tiles come last, where
// the sums are longest.
func convolveFast(rows, groups int, acc unsafe.Pointer, accPitch int, a unsafe.Pointer, aPitch int, x unsafe.Pointer, n int) {
	for first := 0; first < groups; {
		width := (groups-first-1)%maxWidth + 1
		convolvers[rows-1][width-1]((*int64)(acc), accPitch, (*int64)(a), aPitch, (*int64)(x), n, first, groups)
		first += width
	}
}

// maxWidth is the number of groups of columns that the registers hold for two rows.
const maxWidth = 6
