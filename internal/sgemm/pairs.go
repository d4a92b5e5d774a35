package sgemm

import (
	"context"

	"github.com/halfulp/halfulp/internal/par"
)

// A PairKernel multiplies matrices of pairs of float32 numbers, high and low word (double-float),
// on one kind of machine. An entry of the product is a chain over h = 0, 1, …, k-1 from
// (+0, +0): the product of (a, a') and (b, b'),
//
//	p = RN(a b), e = RN(a b - p), e = RN(a b' + e), e = RN(a' b + e), (p, e) = Fast2Sum(p, e),
//
// is added by algorithm 6, AccurateDWPlusDW, of Joldes, Muller and Popescu, Tight and rigorous
// error bounds for basic building blocks of double-word arithmetic, 2017.
type PairKernel struct {
	MR, NR int // widths of panels
	// micro continues the chains of a tile over k entries. The pair of entry (r, s) is
	// (hi, lo)[r + s ldc].
	micro func(hi, lo []float32, ldc int, aHi, aLo, bHi, bLo []float32, k int)
}

var genericPairs = &PairKernel{MR: genericTile, NR: genericTile, micro: microPairsGeneric}

// Pairs are the panels of both words of a factor.
type Pairs struct{ Hi, Lo *Panels }

// pairBlock is the length of a block of B of pairs, which stays in the first-level cache.
const pairBlock = 256

// Mul sets the pairs (hi, lo) of C = A B, entry (i, j) at i + j ldc.
func (k *PairKernel) Mul(ctx context.Context, threads int, hi, lo []float32, ldc int, a, b Pairs) error {
	m, n, length := a.Hi.N, b.Hi.N, a.Hi.Len
	cols := (n + k.NR - 1) / k.NR
	return par.For(ctx, threads, cols, func(_, p int) {
		j := p * k.NR
		width := min(k.NR, n-j)
		for s := range width {
			clear(hi[(j+s)*ldc : (j+s)*ldc+m])
			clear(lo[(j+s)*ldc : (j+s)*ldc+m])
		}
		for h := 0; h < length; h += pairBlock {
			for i := 0; i < m; i += k.MR {
				at, rows := i+j*ldc, min(k.MR, m-i)
				run := func(hi, lo []float32, ldc int) {
					k.micro(hi, lo, ldc, a.Hi.from(i, h), a.Lo.from(i, h), b.Hi.from(j, h), b.Lo.from(j, h), min(pairBlock, length-h))
				}
				if rows == k.MR && width == k.NR {
					run(hi[at:], lo[at:], ldc)
					continue
				}
				var t, u [maxTile]float32
				for s := range width {
					copy(t[s*k.MR:s*k.MR+rows], hi[at+s*ldc:])
					copy(u[s*k.MR:s*k.MR+rows], lo[at+s*ldc:])
				}
				run(t[:], u[:], k.MR)
				for s := range width {
					copy(hi[at+s*ldc:at+s*ldc+rows], t[s*k.MR:])
					copy(lo[at+s*ldc:at+s*ldc+rows], u[s*k.MR:])
				}
			}
		}
	})
}

// microPairsGeneric is the reference loop, whose bits all kernels of pairs reproduce.
func microPairsGeneric(hi, lo []float32, ldc int, aHi, aLo, bHi, bLo []float32, k int) {
	for s := range genericTile {
		for r := range genericTile {
			x, y := hi[r+s*ldc], lo[r+s*ldc]
			for h := range k {
				i, j := h*genericTile+r, h*genericTile+s
				p := float32(aHi[i] * bHi[j])
				e := fma(aHi[i], bHi[j], -p)
				e = fma(aHi[i], bLo[j], e)
				e = fma(aLo[i], bHi[j], e)
				p, e = fast2Sum(p, e)
				x, y = addPairs(x, y, p, e)
			}
			hi[r+s*ldc], lo[r+s*ldc] = x, y
		}
	}
}

// addPairs is AccurateDWPlusDW.
func addPairs(x, x1, y, y1 float32) (z, z1 float32) {
	s, s1 := twoSum(x, y)
	t, t1 := twoSum(x1, y1)
	v, v1 := fast2Sum(s, s1+t)
	return fast2Sum(v, t1+v1)
}

// twoSum returns RN(a + b) and its error.
func twoSum(a, b float32) (s, e float32) {
	s = a + b
	x := s - b
	y := s - x
	return s, (a - x) + (b - y)
}

// fast2Sum returns RN(a + b) and its error for |a| ≥ |b|.
func fast2Sum(a, b float32) (s, e float32) {
	s = a + b
	return s, b - (s - a)
}
