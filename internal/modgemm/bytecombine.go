package modgemm

import (
	"math"

	"github.com/halfulp/halfulp/internal/amx"
)

// Combine of residues modulo the moduli of bytes, on tiles.
//
// A residue y, |y| <= 2^14, is l + 256 h - 2^14 with the bytes of y + 2^14, 0 <= l <= 255 and 0 <=
// h <= 128: two rows of unsigned bytes. Their weights are W for l and V for h - 64: 256 W, or what
// does as well modulo M. The words of a weight are made of signed bytes, CombinedDigits each, so
// that the words of a sum of n terms are
//
//	first + Σ_i 2^(8 i) P_i, P_i = Σ_t (l_t w_ti + h_t v_ti), first = -64 Σ_t (the word of V_t).
//
// Of n <= 1024 moduli, |P_i| <= n (255 + 255) 128 < 2^27 for any y of 16 bits; and as a word of a
// weight is below 2^38 + 2^32 in magnitude, one of a sum is below
//
//	n (255 + 64) (2^38 + 2^32) < 2^57
//
// for residues. Both are exact.

// CombinedDigits are the bits of the digits of a word of a ByteCombination, 39 in all, the lowest
// first. Digits are balanced: -2^(b-1) <= d < 2^(b-1).
var CombinedDigits = [...]uint{8, 8, 8, 8, 7}

const (
	// maxCombined bounds the moduli of a ByteCombination.
	maxCombined = 1024
	// residueOffset makes residues positive.
	residueOffset = 1 << 14
	// combinedDigits are the digits of a word.
	combinedDigits = len(CombinedDigits)
	// blockWords are the words whose digits are the rows of a block, but for the last two rows.
	blockWords = amx.Block / combinedDigits
)

// A ByteCombination holds the weights of CombineBytes. It is immutable.
type ByteCombination struct {
	moduli, words int
	steps         int     // of 64 bytes of a column
	table         []int8  // the rows of each block, as a left operand of so many steps
	first         []int64 // of the words
}

// NewByteCombination prepares weights of so many words and moduli: rows holds CombinedDigits rows a
// word, and a row the digits of W_t and of V_t at 2t and 2t + 1.
func NewByteCombination(rows []int16, words, moduli int) *ByteCombination {
	if words < 1 || moduli < 1 || moduli > maxCombined {
		panic(badSize)
	}
	checkLen(len(rows), combinedDigits*words*2*moduli)
	blocks := (words + blockWords - 1) / blockWords
	c := &ByteCombination{moduli: moduli, words: words, steps: ByteSteps(2 * moduli), first: make([]int64, words)}
	all := make([]int16, blocks*amx.Block*2*moduli)
	for w := range words {
		for i := range combinedDigits {
			row := rows[(w*combinedDigits+i)*2*moduli:][:2*moduli]
			copy(all[(w/blockWords*amx.Block+w%blockWords*combinedDigits+i)*2*moduli:], row)
			for t := range moduli {
				c.first[w] -= int64(row[2*t+1]) << (8*i + 6)
			}
		}
	}
	size := blocks * PanelBytes(c.steps)
	c.table = AlignedBytes(make([]int8, size+63), size)
	PackBytes(c.table, all, true, blocks*amx.Block, 2*moduli, 2*moduli, 1)
	return c
}

// Bytes returns the size of the weights.
func (c *ByteCombination) Bytes() int64 { return int64(len(c.table)) + 8*int64(len(c.first)) }

// ByteColumns returns how many elements PackResidues and CombineBytes want for n residues each of
// so many moduli: tiles are loaded whole.
func ByteColumns(moduli, n int) int { return 2*Pairs(moduli)*n + 2*PanelVectors*(RightGroup*4-1) }

// PackResidues writes the first 32 panels entries of planes 0 to planes-1 of residues, plane h at
// src[h planeStride], as columns of CombineBytes.
func PackResidues(k *ByteKernel, dst, src []int16, planeStride, planes, panels int) {
	checkSizes(planes, panels, 0)
	checkLen(len(dst), 2*PanelVectors*Pairs(planes)*panels)
	checkRows(len(src), planes, panels*PanelVectors, planeStride)
	if planes > 0 && panels > 0 {
		k.packResidues(dst, src, planeStride, planes, panels)
	}
}

// packResiduesGeneric writes panels, for planes h and entries j < 32 of panel p
//
//	dst[((p pairs + h/2) 32 + j) 2 + h%2] = src[h planeStride + 32 p + j] + 2^14  modulo 2^16,
//
// and any number for the plane that completes the last pair.
func packResiduesGeneric(dst, src []int16, planeStride, planes, panels int) {
	for h := range planes {
		for e, x := range src[h*planeStride:][:panels*PanelVectors] {
			p, j := e/PanelVectors, e%PanelVectors
			dst[((p*Pairs(planes)+h/2)*PanelVectors+j)*2+h%2] = x + residueOffset
		}
	}
}

// CombineBytes computes, for every word g of the weights and every column e of 32 panels, packed by
// PackResidues in ByteColumns elements, of residues y_te of any 16 bits, with those below -2^14
// taken modulo 2^16,
//
//	out[g outStride + e] = Σ_t (l_te W_tg + (h_te - 64) V_tg)  modulo 2^64.
func CombineBytes(k *ByteKernel, out []int64, outStride int, c *ByteCombination, y []int16, panels int) {
	checkSizes(panels, outStride, 0)
	if panels == 0 {
		return
	}
	checkLen(len(y), ByteColumns(c.moduli, panels*PanelVectors))
	checkRows(len(out), c.words, panels*PanelVectors, outStride)
	k.combine(out, outStride, c, y, panels)
}

// combineBytesGeneric is the definition of combine.
func combineBytesGeneric(out []int64, outStride int, c *ByteCombination, y []int16, panels int) {
	for g := range c.words {
		for e := range panels * PanelVectors {
			sum := c.first[g]
			for i := range combinedDigits {
				row := g/blockWords*amx.Block + g%blockWords*combinedDigits + i
				for t := range c.moduli {
					digits := c.table[((row/32*c.steps+t/32)*2+row%32/16)*amx.Bytes+row%16*amx.RowBytes+t%32*2:]
					z := uint16(y[(e/PanelVectors*Pairs(c.moduli)+t/2)*2*PanelVectors+e%PanelVectors*2+t%2])
					sum += (int64(digits[0])*int64(z&math.MaxUint8) + int64(digits[1])*int64(z>>8)) << (8 * i)
				}
			}
			out[g*outStride+e] = sum
		}
	}
}

// combineBytesEmulated is combineBytesGeneric by emulated tiles, as the assembly does it.
func combineBytesEmulated(out []int64, outStride int, c *ByteCombination, y []int16, panels int) {
	machine := newColumnsMachine()
	defer machine.end()
	for g0 := 0; g0 < c.words; g0 += blockWords {
		for p := range panels {
			machine.block(c.table[g0/blockWords*PanelBytes(c.steps):], y[p*2*Pairs(c.moduli)*PanelVectors:], c.steps)
			for g := g0; g < min(g0+blockWords, c.words); g++ {
				for j := range PanelVectors {
					sum := c.first[g]
					for i := range combinedDigits {
						sum += machine.sum((g-g0)*combinedDigits+i, j) << (8 * i)
					}
					out[g*outStride+p*PanelVectors+j] = sum
				}
			}
		}
	}
}
