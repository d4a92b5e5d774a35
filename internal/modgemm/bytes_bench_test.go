package modgemm

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// benchBytes measures the kernel of bytes of the machine.
func benchBytes(b *testing.B, f func(b *testing.B, k *ByteKernel)) {
	k := BestBytes()
	if k == nil {
		b.Skip("no tiles")
	}
	f(b, k)
}

// someBytes returns n random bytes that begin at a multiple of 64.
func someBytes(n int) []int8 {
	s := AlignedBytes(make([]int8, n+63), n)
	r := rand.New(rand.NewPCG(seed, 0))
	for i := range s {
		s[i] = int8(r.Uint32())
	}
	return s
}

// BenchmarkByteTiles is the rate of blocks with all operands in the first level cache, 16 blocks a
// call.
func BenchmarkByteTiles(b *testing.B) {
	for _, steps := range []int{2, 5, 8, 16} {
		for _, plain := range []bool{true, false} {
			b.Run(fmt.Sprintf("steps=%d/plain=%v", steps, plain), func(b *testing.B) {
				benchBytes(b, func(b *testing.B, k *ByteKernel) {
					const panels = 16
					mod, planes := benchModulus(plain)
					x := bytePanels{data: someBytes(planes * PanelBytes(steps)), plane: PanelBytes(steps)}
					y := bytePanels{data: someBytes(planes * PanelBytes(steps)), plane: PanelBytes(steps)}
					c := randomSlice(panels * PanelVectors * PanelVectors)
					for b.Loop() {
						k.tiles(c, PanelVectors, x, y, panels, steps, &mod, !plain)
					}
					report(b, planes*panels*PanelVectors*PanelVectors*steps*StepNumbers)
				})
			})
		}
	}
}

// benchModulus returns a modulus and its planes.
func benchModulus(plain bool) (ByteModulus, int) {
	pool := ByteModuli()
	mod := NewByteModulus(pool.Moduli[pool.Plain])
	if plain {
		mod = NewByteModulus(pool.Moduli[1])
	}
	return mod, mod.planes()
}

// BenchmarkByteMul multiplies packed operands modulo plain and Karatsuba moduli; the rate counts
// products of bytes.
func BenchmarkByteMul(b *testing.B) {
	for _, n := range []int{100, 300, 1000, 4000} {
		for _, plain := range []bool{true, false} {
			for _, kc := range []int{8, 11, 15, 16, 22, 31} {
				b.Run(fmt.Sprintf("n=%d/plain=%v/kc=%d", n, plain, kc), func(b *testing.B) {
					benchBytes(b, func(b *testing.B, k *ByteKernel) {
						own := *k
						if own.kc, own.karatsubaKc = kc, kc; plain && kc > byteSteps {
							b.Skip("too long")
						}
						rows, cols := min(n, 256), min(n, 512) // a block of package exact
						steps, mp, np := ByteSteps(n), BytePanels(rows), BytePanels(cols)
						mod, planes := benchModulus(plain)
						pa, pb := mp*PanelBytes(steps)+64, np*PanelBytes(steps)+64
						x, y, c := someBytes(planes*pa), someBytes(planes*pb), make([]int16, mp*np*PanelVectors*PanelVectors)
						for b.Loop() {
							MulBytes(&own, c, np*PanelVectors, x, pa, y, pb, mp, np, steps, 0, steps, &mod, false)
						}
						report(b, planes*rows*cols*n)
					})
				})
			}
		}
	}
}

// BenchmarkByteResidues takes residues to bytes.
func BenchmarkByteResidues(b *testing.B) {
	benchBytes(b, func(b *testing.B, k *ByteKernel) {
		const n = 1024
		src, dst := make([]int16, n), make([]int8, n)
		r := rand.New(rand.NewPCG(1, 1))
		for i := range src {
			src[i] = int16(r.IntN(256) - 128)
		}
		for b.Loop() {
			k.Narrow(dst, src)
		}
		b.SetBytes(2 * n)
	})
}
