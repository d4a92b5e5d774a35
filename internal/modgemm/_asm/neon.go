package main

import (
	"fmt"

	neon "github.com/halfulp/halfulp/internal/_neon"
)

// A tile has 12 x 8 sums, in registers 8 to 31: row r in 8 + 2r and 9 + 2r, four columns each.
// Registers 0 to 2 hold a pair of k of the rows of A, whose elements multiply vectors, and 3 and 4
// the two k of the columns of B, taken apart by the load. So a pair of k, 192 multiply-adds, takes
// 48 SMLAL and SMLAL2, 3 loads and 2 instructions of the loop: 53, or 0.0212 instructions for a bit
// of a modulus of 13 bits and a multiply-add.
//
// SDOT, of processors with FEAT_DotProd, adds 16 products of bytes. A residue of 13 bits is two of
// them, x = 128 x1 + x0 with |x0 + x1| <= 96, so three products (Karatsuba) make one: for the same
// tile and two pairs of k 72 SDOT, 9 loads and 6 instructions of loops, 87 instead of 106, 0.0174
// for a bit, before the planes of bytes are made and the three sums joined. That sixth was not
// worth a second way to the same residues, which not all processors have. A modulus of 7.5 bits
// takes 29 instructions, 0.0101 for a bit, but this engine's moduli are of 13.
const (
	neonMR    = 12
	neonNR    = 8
	neonFirst = 32 - neonMR*neonNR/4 // register of the first sum
)

// neonSum is the register of columns 4v to 4v + 3 of row r.
func neonSum(r, v int) int { return neonFirst + 2*r + v }

// A neonWriter writes the kernels for arm64. Registers: 0 is the result, 1 its pitch in bytes, 2
// and 3 panel and pitch of A, 4 panel of B, 5 the panels to come, 6 the pairs to come, 7 and 8 run
// along A and B, 9 counts, 10 runs along the result.
type neonWriter struct{ *neon.File }

func writeNEON() {
	w := &neonWriter{new(neon.File)}
	w.modTiles()
	w.combineTiles()
	w.packPlanes()
	w.Generate()
}

// products emits the loop sums += A B over x9 > 0 pairs, and moves x7 and x8 on.
func (w *neonWriter) products(label string) {
	w.Label(label)
	w.Vec("ldr q2, [x7, #32]")
	w.Vec("ldp q0, q1, [x7], #48")
	w.Vec("ld2 {v3.8h, v4.8h}, [x8], #32")
	for k := range 2 {
		for r := range neonMR {
			at := 2*r + k
			w.Vec("smlal v%d.4s, v%d.4h, v%d.h[%d]", neonSum(r, 0), 3+k, at/8, at%8)
			w.Vec("smlal2 v%d.4s, v%d.8h, v%d.h[%d]", neonSum(r, 1), 3+k, at/8, at%8)
		}
	}
	w.Go("SUBS $1, R9, R9")
	w.Go("BNE %s", label)
}

// eachSum calls f for every register of the tile with its row.
func eachSum(f func(r, sum int)) {
	for r := range neonMR {
		for v := range 2 {
			f(r, neonSum(r, v))
		}
	}
}

func (w *neonWriter) clear() {
	eachSum(func(_, sum int) { w.Vec("movi v%d.2d, #0", sum) })
}

// words loads a word a row from the address in x into registers 0 to 2.
func (w *neonWriter) words(x int) {
	w.Vec("ldp q0, q1, [x%d, #0]", x)
	w.Vec("ldr q2, [x%d, #32]", x)
}

func (w *neonWriter) modTiles() {
	w.Func("modTilesNEON", "func(c []int16, ldc int, a []int16, aStride int, b []int16, panels, kPairs, block int, mod []int32, inv []float32, step []int32, modStep int, accumulate bool)",
		"modTilesNEON is modTilesGeneric for the tiles of this kernel.")
	const mod, inv, step, modStep, block, accumulate = 11, 12, 13, 14, 15, 16
	w.Load("c", 0)
	w.Load("ldc", 1)
	w.Load("a", 2)
	w.Load("aStride", 3)
	w.Load("b", 4)
	w.Load("panels", 5)
	w.Load("mod", mod)
	w.Load("inv", inv)
	w.Load("step", step)
	w.Load("modStep", modStep)
	w.Load("block", block)
	w.Load("accumulate", accumulate)
	w.Go("LSL $1, R1")
	w.Go("LSL $1, R3")
	w.Go("LSL $2, R%d", modStep)

	w.Label("tile")
	w.Go("CBZ R%d, zero", accumulate)
	w.Go("MOVD R0, R10")
	for r := range neonMR {
		w.Vec("ldr q0, [x10, #0]")
		w.Vec("sshll v%d.4s, v0.4h, #0", neonSum(r, 0))
		w.Vec("sshll2 v%d.4s, v0.8h, #0", neonSum(r, 1))
		w.Go("ADD R1, R10")
	}
	w.Go("B start")
	w.Label("zero")
	w.clear()

	w.Label("start")
	w.Go("MOVD R2, R7")
	w.Go("MOVD R4, R8")
	w.Load("kPairs", 6)
	w.Go("CBZ R6, last")
	w.Label("block")
	w.Go("CMP R%d, R6", block)
	w.Go("CSEL LT, R6, R%d, R9", block)
	w.Go("SUB R9, R6")
	w.products("pairs")
	w.Go("CBZ R6, last")
	w.words(step)
	for i := range 3 { // an int16 in the low half of a word
		w.Vec("shl v%d.4s, v%d.4s, #16", i, i)
		w.Vec("sshr v%d.4s, v%d.4s, #16", i, i)
	}
	w.Vec("movi v3.16b, #255")
	w.Vec("ushr v3.4s, v3.4s, #%d", 32-foldBits)
	eachSum(func(r, sum int) {
		high := 4 + r%4
		w.Vec("sshr v%d.4s, v%d.4s, #%d", high, sum, foldBits)
		w.Vec("and v%d.16b, v%d.16b, v3.16b", sum, sum)
		w.Vec("mla v%d.4s, v%d.4s, v%d.s[%d]", sum, high, r/4, r%4)
	})
	w.Go("B block")

	w.Label("last")
	// A fold takes the words of four rows to registers 0 and 1, inverses and moduli.
	for _, exact := range []bool{false, true} {
		if exact {
			w.Go("MOVW $0xb8000000, R9") // -2^-15
			w.Vec("dup v2.4s, w9")
		}
		for r := range neonMR {
			if r%4 == 0 {
				w.Vec("ldr q0, [x%d, #%d]", inv, 4*r)
				w.Vec("ldr q1, [x%d, #%d]", mod, 4*r)
			}
			for v := range 2 {
				sum, q := neonSum(r, v), 4+2*(r%2)+v
				if exact {
					w.Vec("scvtf v3.4s, v%d.4s", sum)
					w.Vec("mov v%d.16b, v2.16b", q)
					w.Vec("fmla v%d.4s, v3.4s, v0.s[%d]", q, r%4)
				} else {
					w.Vec("scvtf v%d.4s, v%d.4s", q, sum)
					w.Vec("fmul v%d.4s, v%d.4s, v0.s[%d]", q, q, r%4)
				}
				w.Vec("fcvtns v%d.4s, v%d.4s", q, q)
				w.Vec("mls v%d.4s, v%d.4s, v1.s[%d]", sum, q, r%4)
			}
		}
	}
	for r := range neonMR {
		w.Vec("uzp1 v0.8h, v%d.8h, v%d.8h", neonSum(r, 0), neonSum(r, 1)) // the low halves
		w.Vec("str q0, [x0, #0]")
		w.Go("ADD R1, R0")
	}
	w.Go("ADD R3, R2")
	for _, x := range []int{mod, inv, step} {
		w.Go("ADD R%d, R%d", modStep, x)
	}
	w.Go("SUBS $1, R5, R5")
	w.Go("BNE tile")
	w.Go("RET")
}

func (w *neonWriter) combineTiles() {
	w.Func("combineTilesNEON", "func(out []int64, ldo int, a []int16, aStride int, b []int16, panels, kPairs int, accumulate bool)",
		"combineTilesNEON is combineTilesGeneric for the tiles of this kernel.")
	const accumulate = 11
	w.Load("out", 0)
	w.Load("ldo", 1)
	w.Load("a", 2)
	w.Load("aStride", 3)
	w.Load("b", 4)
	w.Load("panels", 5)
	w.Load("kPairs", 6)
	w.Load("accumulate", accumulate)
	w.Go("LSL $3, R1")
	w.Go("LSL $1, R3")

	w.Label("tile")
	w.clear()
	w.Go("MOVD R2, R7")
	w.Go("MOVD R4, R8")
	w.Go("MOVD R6, R9")
	w.Go("CBZ R9, store")
	w.products("pairs")

	w.Label("store")
	for g := range neonMR / 3 {
		// Registers 0 to 3 are the sums of columns 2i and 2i + 1.
		w.Go("CBZ R%d, new%d", accumulate, g)
		w.Vec("ldp q0, q1, [x0, #0]")
		w.Vec("ldp q2, q3, [x0, #32]")
		w.Go("B add%d", g)
		w.Label(fmt.Sprint("new", g))
		for i := range 4 {
			w.Vec("movi v%d.2d, #0", i)
		}
		w.Label(fmt.Sprint("add", g))
		for i := range 3 {
			for v := range 2 {
				p := neonSum(3*g+i, v)
				w.Vec("sshll v4.2d, v%d.2s, #%d", p, digitBits*i)
				w.Vec("sshll2 v5.2d, v%d.4s, #%d", p, digitBits*i)
				w.Vec("add v%d.2d, v%d.2d, v4.2d", 2*v, 2*v)
				w.Vec("add v%d.2d, v%d.2d, v5.2d", 2*v+1, 2*v+1)
			}
		}
		w.Vec("stp q0, q1, [x0, #0]")
		w.Vec("stp q2, q3, [x0, #32]")
		w.Go("ADD R1, R0")
	}
	w.Go("ADD R3, R2")
	w.Go("SUBS $1, R5, R5")
	w.Go("BNE tile")
	w.Go("RET")
}

func (w *neonWriter) packPlanes() {
	w.Func("packPlanesNEON", "func(dst, src []int16, planeStride, planes int)",
		"packPlanesNEON is packPlanesGeneric for the panels of this kernel.")
	w.Load("dst", 0)
	w.Load("src", 1)
	w.Load("planeStride", 2)
	w.Load("planes", 3)
	w.Go("LSL $1, R2")
	w.Go("LSR $1, R3, R4")
	w.Go("CBZ R4, odd")
	w.Label("loop")
	w.Vec("ldr q0, [x1, #0]")
	w.Go("ADD R2, R1")
	w.Vec("ldr q1, [x1, #0]")
	w.Go("ADD R2, R1")
	w.Vec("st2 {v0.8h, v1.8h}, [x0], #32")
	w.Go("SUBS $1, R4, R4")
	w.Go("BNE loop")
	w.Label("odd")
	w.Go("TBZ $0, R3, done")
	w.Vec("ldr q0, [x1, #0]")
	w.Vec("movi v1.2d, #0")
	w.Vec("st2 {v0.8h, v1.8h}, [x0], #32")
	w.Label("done")
	w.Go("RET")
}
