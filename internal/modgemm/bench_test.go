package modgemm

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// report adds the rate that these kernels are compared by.
func report(b *testing.B, multiplyAdds int) {
	b.ReportMetric(float64(multiplyAdds)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GMAC/s")
}

func benchKernels(b *testing.B, f func(b *testing.B, k *Kernel)) {
	for _, k := range Kernels() {
		b.Run(k.Name, func(b *testing.B) { f(b, k) })
	}
}

func randomSlice(n int) []int16 {
	s := make([]int16, n)
	fill(rand.New(rand.NewPCG(seed, 0)), s, fillers[0], maxResidue)
	return s
}

// BenchmarkModTiles is the rate of single tiles with all operands in the first level cache.
func BenchmarkModTiles(b *testing.B) {
	benchKernels(b, func(b *testing.B, k *Kernel) {
		kPairs := k.kc
		x, y, c := randomSlice(2*k.MR*kPairs), randomSlice(2*k.NR*kPairs), randomSlice(k.MR*k.NR)
		mod := NewModulus(8191)
		for b.Loop() {
			k.modTiles(c, k.NR, x, 0, y, 1, kPairs, k.ResiduePairs, mod.m, mod.inv, mod.step, 0, true)
		}
		report(b, k.MR*k.NR*2*kPairs)
	})
}

func BenchmarkMul(b *testing.B) {
	for _, n := range []int{100, 1000} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			benchKernels(b, func(b *testing.B, k *Kernel) {
				mp, np := LeftPanels(k, n), RightPanels(k, n)
				x, y, c := randomSlice(LeftLen(k, n, n)), randomSlice(RightLen(k, n, n)), randomSlice(mp*k.MR*np*k.NR)
				mod := NewModulus(8191)
				for b.Loop() {
					Mul(k, c, np*k.NR, x, y, mp, np, Pairs(n), 0, Pairs(n), mod)
				}
				report(b, n*n*n)
			})
		})
	}
}

// BenchmarkConvert takes 16 digits to 24 moduli: 256 bits a number.
func BenchmarkConvert(b *testing.B) {
	benchKernels(b, func(b *testing.B, k *Kernel) {
		const moduli, digits, entries = 24, 16, 4096
		x, y := randomSlice(LeftLen(k, moduli, digits)), randomSlice(RightLen(k, digits, entries))
		const stride = entries + 64
		out := make([]int16, moduli*stride)
		rows := NewRowModuli(k, Moduli(13)[:moduli])
		for b.Loop() {
			Convert(k, out, stride, x, y, moduli/k.MR, entries/k.NR, Pairs(digits), rows)
		}
		report(b, moduli*digits*entries)
	})
}

// BenchmarkCombine takes 24 residues to 24 digits of radix 2^13.
func BenchmarkCombine(b *testing.B) {
	benchKernels(b, func(b *testing.B, k *Kernel) {
		const moduli, digits, entries = 24, 24, 4096
		x, y := randomSlice(LeftLen(k, digits, moduli)), randomSlice(RightLen(k, moduli, entries))
		out := make([]int64, digits/3*entries)
		for b.Loop() {
			Combine(k, out, entries, x, y, digits/k.MR, entries/k.NR, Pairs(moduli))
		}
		report(b, moduli*digits*entries)
	})
}

func BenchmarkPackPlanes(b *testing.B) {
	benchKernels(b, func(b *testing.B, k *Kernel) {
		const planes, entries = 24, 4096
		const stride = entries + 64
		src, dst := randomSlice(planes*stride), make([]int16, planes*entries)
		b.SetBytes(2 * planes * entries)
		for b.Loop() {
			PackPlanes(k, dst, src, stride, planes, entries/k.NR)
		}
	})
}
