package main

import (
	"fmt"

	neon "github.com/halfulp/halfulp/internal/_neon"
)

func writeNEON() {
	f := new(neon.File)
	neonMicro(f)
	neonMicroPairs(f)
	f.Generate()
}

// neonMicro emits the kernel of a tile of 8 x 12 sums: column s lies in registers 8 + 2s and 9 +
// 2s, a column of A in 0 and 1, a row of B in 2 to 4, whose elements multiply vectors. A step of k,
// 96 multiply-adds, takes 24 FMLA, 3 loads and 2 instructions of the loop: 3.3 multiply-adds an
// instruction.
func neonMicro(f *neon.File) {
	const nr, first = 12, 8
	f.Func("microNEON", "func(c []float32, ldc int, a, b []float32, k int, load bool)", "microNEON is microGeneric for the tile of this kernel.")
	f.Load("c", 0)
	f.Load("ldc", 1)
	f.Load("a", 2)
	f.Load("b", 3)
	f.Load("k", 4)
	f.Load("load", 5)
	f.Go("LSL $2, R1")
	columns := func(move string) {
		f.Go("MOVD R0, R6")
		for s := range nr {
			f.Vec("%s q%d, q%d, [x6, #0]", move, first+2*s, first+2*s+1)
			f.Go("ADD R1, R6")
		}
	}
	f.Go("CBZ R5, zero")
	columns("ldp")
	f.Go("B start")
	f.Label("zero")
	for sum := first; sum < 32; sum++ {
		f.Vec("movi v%d.2d, #0", sum)
	}
	f.Label("start")
	f.Go("CBZ R4, store")
	f.Label("step")
	f.Vec("ldp q0, q1, [x2], #32")
	f.Vec("ldr q4, [x3, #32]")
	f.Vec("ldp q2, q3, [x3], #48")
	for s := range nr {
		for v := range 2 {
			f.Vec("fmla v%d.4s, v%d.4s, v%d.s[%d]", first+2*s+v, v, 2+s/4, s%4)
		}
	}
	f.Go("SUBS $1, R4, R4")
	f.Go("BNE step")
	f.Label("store")
	columns("stp")
	f.Go("RET")
}

// neonMicroPairs emits the kernel of pairs for a tile of 4 x 8: the words of column s lie in
// registers 2s and 2s + 1, the pairs of A in 16 and 17, the high words of B in 18 and 19 and the
// low ones in 20 and 21. Two columns at a time, each with five registers, do not wait for each
// other. A column of a step, 4 products of pairs, takes 28 operations, as microPairs does.
func neonMicroPairs(f *neon.File) {
	const nr = 8
	f.Func("microPairsNEON", "func(hi, lo []float32, ldc int, aHi, aLo, bHi, bLo []float32, k int)", "microPairsNEON is microPairsGeneric for the tile of this kernel.")
	f.Load("hi", 0)
	f.Load("lo", 1)
	f.Load("ldc", 2)
	f.Load("aHi", 3)
	f.Load("aLo", 4)
	f.Load("bHi", 5)
	f.Load("bLo", 6)
	f.Load("k", 7)
	f.Go("LSL $2, R2")
	columns := func(move string) {
		for word := range 2 {
			f.Go("MOVD R%d, R8", word)
			for s := range nr {
				f.Vec("%s q%d, [x8, #0]", move, 2*s+word)
				f.Go("ADD R2, R8")
			}
		}
	}
	columns("ldr")
	f.Go("CBZ R7, store")
	f.Label("step")
	f.Vec("ldr q16, [x3, #0]")
	f.Vec("ldr q17, [x4, #0]")
	f.Vec("ldp q18, q19, [x5], #32")
	f.Vec("ldp q20, q21, [x6], #32")
	f.Go("ADD $16, R3")
	f.Go("ADD $16, R4")
	for s := 0; s < nr; s += 2 {
		var both [2][]string
		for i := range both {
			both[i] = addProductOfPairs(s+i, 22+5*i)
		}
		for line := range both[0] {
			f.Vec("%s", both[0][line])
			f.Vec("%s", both[1][line])
		}
	}
	f.Go("SUBS $1, R7, R7")
	f.Go("BNE step")
	f.Label("store")
	columns("str")
	f.Go("RET")
}

// addProductOfPairs returns the instructions of column s. They are the operations of microPairs,
// under its names, in five registers from temp on.
func addProductOfPairs(s, temp int) (lines []string) {
	x, x1, a, a1 := 2*s, 2*s+1, 16, 17
	p, e, y, t, u := temp, temp+1, temp+2, temp+3, temp+4
	element := func(op string, d, n, word int) {
		lines = append(lines, fmt.Sprintf("%s v%d.4s, v%d.4s, v%d.s[%d]", op, d, n, 18+2*word+s/4, s%4))
	}
	op := func(op string, d, n, m int) {
		lines = append(lines, fmt.Sprintf("%s v%d.4s, v%d.4s, v%d.4s", op, d, n, m))
	}
	element("fmul", p, a, 0)
	lines = append(lines, fmt.Sprintf("fneg v%d.4s, v%d.4s", e, p))
	element("fmla", e, a, 0)  // e = a b - p
	element("fmla", e, a, 1)  // + a b'
	element("fmla", e, a1, 0) // + a' b
	op("fadd", y, p, e)       // y = p + e
	op("fsub", t, y, p)
	op("fsub", e, e, t) // e - (y - p)

	// (s, s1) = 2Sum(x, y) in (u, t), (t, t1) = 2Sum(x1, e) in (x, x1).
	op("fadd", u, x, y)
	op("fsub", t, u, y)
	op("fsub", p, u, t)
	op("fsub", t, x, t)
	op("fsub", y, y, p)
	op("fadd", t, t, y)
	op("fadd", x, x1, e)
	op("fsub", p, x, e)
	op("fsub", y, x, p)
	op("fsub", x1, x1, p)
	op("fsub", e, e, y)
	op("fadd", x1, x1, e)

	op("fadd", t, t, x) // c = s1 + t
	op("fadd", y, u, t) // (v, v1) = Fast2Sum(s, c) in (y, t)
	op("fsub", p, y, u)
	op("fsub", t, t, p)
	op("fadd", x1, x1, t) // w = t1 + v1
	op("fadd", x, y, x1)  // Fast2Sum(v, w)
	op("fsub", p, x, y)
	op("fsub", x1, x1, p)
	return lines
}
