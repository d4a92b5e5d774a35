//go:build amd64 && !purego

package rns

//go:generate go -C _asm run . -out ../kernels_amd64.s -stubs ../stubs_amd64.go -pkg rns

const assembly = true

func addFast(z, x, y, m []uint32) { addAVX2(&z[0], &x[0], &y[0], &m[0], len(z)) }
func subFast(z, x, y, m []uint32) { subAVX2(&z[0], &x[0], &y[0], &m[0], len(z)) }

func mulFast(z, x, y, m []uint32, k *kernelConstants) {
	mulAVX2(&z[0], &x[0], &y[0], &m[0], &k.mu[0], &k.shift[0], len(z))
}

// sumFractionsFast joins four sums: of y inv, of the high and the low halves of y mid,
// and of the high halves of y low.
func sumFractionsFast(y []uint32, k *kernelConstants) (f uint64, carries int) {
	var s [4]uint64
	sumFractionsAVX2(&y[0], &k.inv[0], &k.mid[0], &k.low[0], len(y), &s)
	low := s[2] + s[3]
	high := s[0] + s[1] + low>>32
	return high<<32 | low&(1<<32-1), int(high >> 32)
}

// dotRowsFast adds to sums.
func dotRowsFast(sums []uint64, y, table []uint32, stride int) {
	if len(sums) > 0 {
		dotRowsAVX2(&sums[0], len(sums), &y[0], &table[0], 4*stride, len(y))
	}
}

func sumRowsFast(z, words, table []uint32, stride int, m []uint32, k *kernelConstants) {
	sumRowsAVX2(&z[0], &words[0], len(words), &table[0], 4*stride, &m[0], &k.mu[0], &k.shift[0], &k.inv[0], &k.two32[0], len(z))
}
