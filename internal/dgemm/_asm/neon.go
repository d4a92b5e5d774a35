package main

import neon "github.com/halfulp/halfulp/internal/_neon"

// The tile of NEON has 8 x 6 sums: column s lies in registers 8 + 4s to 11 + 4s, a column of A in 0
// to 3, a row of B in 4 to 6, whose elements multiply vectors. A step of k, 48 multiply-adds, takes
// 24 FMLA, 4 loads and 2 instructions of the loop: 1.6 multiply-adds an instruction.
const (
	neonNR    = 6
	neonFirst = 8
)

func writeNEON() {
	f := new(neon.File)
	f.Func("microNEON", "func(c []float64, ldc int, a, b []float64, k int)", "microNEON is microGeneric for the tile of this kernel; k > 0.")
	f.Load("c", 0)
	f.Load("ldc", 1)
	f.Load("a", 2)
	f.Load("b", 3)
	f.Load("k", 4)
	f.Go("LSL $3, R1")
	for sum := neonFirst; sum < 32; sum++ {
		f.Vec("movi v%d.2d, #0", sum)
	}
	f.Label("step")
	f.Vec("ldp q2, q3, [x2, #32]")
	f.Vec("ldp q0, q1, [x2], #64")
	f.Vec("ldr q6, [x3, #32]")
	f.Vec("ldp q4, q5, [x3], #48")
	for s := range neonNR {
		for v := range 4 {
			f.Vec("fmla v%d.2d, v%d.2d, v%d.d[%d]", neonFirst+4*s+v, v, 4+s/2, s%2)
		}
	}
	f.Go("SUBS $1, R4, R4")
	f.Go("BNE step")
	for s := range neonNR {
		f.Vec("ldp q0, q1, [x0, #0]")
		f.Vec("ldp q2, q3, [x0, #32]")
		for v := range 4 {
			f.Vec("fadd v%d.2d, v%d.2d, v%d.2d", v, v, neonFirst+4*s+v)
		}
		f.Vec("stp q0, q1, [x0, #0]")
		f.Vec("stp q2, q3, [x0, #32]")
		f.Go("ADD R1, R0")
	}
	f.Go("RET")
	f.Generate()
}
