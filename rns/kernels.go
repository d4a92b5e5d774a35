package rns

import (
	"math/bits"

	"github.com/halfulp/halfulp/internal/isa"
)

// lanes is the number of residues that a step of the assembly processes.
const lanes = 8

// fastModuli bounds the moduli that the assembly supports: its Barrett reduction leaves less than
// 2.2 m, which must fit 32 bits.
const fastModuli = 1 << 30

// kernelConstants are the constants of the moduli that the assembly reads, each an array of n.
type kernelConstants struct {
	n int // residues that the assembly processes, a multiple of lanes; 0 for none

	mu    []uint32 // ⌊2^(L+31) / m⌋, L the bits of m
	shift []uint32 // L - 1
	inv   []uint32 // ⌊2^32 / m⌋: the high half of 1/m; the next two are the rest
	mid   []uint32 // bits 32 to 63 of 2^96 / m
	low   []uint32 // bits 0 to 31
	two32 []uint32 // 2^32 mod m
}

// setKernels decides, once for a base, whether the assembly runs: the active level of instruction
// sets must have it, and the moduli must be below fastModuli.
func (b *Base) setKernels() {
	if isa.Level() < isa.AVX2 || !assembly {
		return
	}
	k := &b.kernels
	for _, m := range b.m {
		if m >= fastModuli || m&(m-1) == 0 {
			return
		}
	}
	k.n = b.n &^ (lanes - 1)
	for i, m := range b.m {
		l := bits.Len32(m)
		k.mu = append(k.mu, uint32((uint64(1)<<(l+31))/uint64(m)))
		k.shift = append(k.shift, uint32(l-1))
		k.inv = append(k.inv, uint32(b.mu[i]>>32))
		k.mid = append(k.mid, uint32(b.mu[i]))
		k.low = append(k.low, uint32(b.cl[i]))
		k.two32 = append(k.two32, uint32(b.modulus(i).reduce(1<<32)))
	}
}

// SIMD reports whether loops over residues process several at a time, as the instruction sets that
// were active when the base was made allow.
func (b *Base) SIMD() bool { return b.kernels.n > 0 }

// addMod sets z = x + y.
func (b *Base) addMod(z, x, y []uint32) {
	n := b.kernels.n
	if n > 0 {
		addFast(z[:n], x[:n], y[:n], b.m)
	}
	addModulo(z[n:], x[n:], y[n:], b.m[n:])
}

// subMod sets z = x - y.
func (b *Base) subMod(z, x, y []uint32) {
	n := b.kernels.n
	if n > 0 {
		subFast(z[:n], x[:n], y[:n], b.m)
	}
	subModulo(z[n:], x[n:], y[n:], b.m[n:])
}

// mulMod sets z = x y.
func (b *Base) mulMod(z, x, y []uint32) {
	k := &b.kernels
	n := k.n
	if n > 0 {
		mulFast(z[:n], x[:n], y[:n], b.m, k)
	}
	mulModulo(z[n:], x[n:], y[n:], b.m[n:], b.mu[n:])
}

// sumFractions is the sum of fraction.
func (b *Base) sumFractions(y []uint32) (f uint64, carries int) {
	k := &b.kernels
	n := k.n
	f, carries = sumFractions(y[n:], b.mu[n:], b.cl[n:])
	if n > 0 {
		g, c := sumFractionsFast(y[:n], k)
		f += g
		carries += c
		if f < g {
			carries++
		}
	}
	return f, carries
}

// dotRows sets sums[a] = Σ_i y_i t_ai for the rows t_a of a table.
func (b *Base) dotRows(sums []uint64, y, table []uint32) {
	n := b.kernels.n
	if n < b.n {
		dotRows(sums, y[n:], table[n:], b.n)
	} else {
		clear(sums)
	}
	if n > 0 {
		dotRowsFast(sums, y[:n], table, b.n)
	}
}

// sumRows sets z to the number with the given words of a base.
func (b *Base) sumRows(z, words []uint32) {
	k := &b.kernels
	n := k.n
	if n > 0 {
		sumRowsFast(z[:n], words, b.pow, b.n, b.m, k)
	}
	if n < b.n {
		sumRows(z[n:], words, b.pow[n:], b.n, b.m[n:], b.mu[n:])
	}
}
