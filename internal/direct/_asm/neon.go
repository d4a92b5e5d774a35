package main

import (
	"fmt"

	neon "github.com/halfulp/halfulp/internal/_neon"
)

// writeNEON writes the kernels for arm64. Go takes 22 instructions for a product of words in
// topWords, these take 4.
func writeNEON() {
	w := &neonWriter{new(neon.File)}
	w.compensated("sumNEON", false, false)
	w.compensated("asumNEON", false, true)
	w.compensated("dotNEON", true, false)
	w.axpyCompensated()
	for words := 2; words <= 7; words++ {
		w.mulAdd(words, false)
		w.mulAdd(words, true)
	}
	for rows := 1; rows <= 2; rows++ {
		for g := 1; g <= maxWidth; g++ {
			w.convolve(g, rows)
		}
	}
	w.Generate()
}

type neonWriter struct{ *neon.File }

func (w *neonWriter) doubles(op string, d, n, m int) {
	w.Vec("%s v%d.2d, v%d.2d, v%d.2d", op, d, n, m)
}

// addWithError writes s' = s + p to sum and the error of that, as twoSum has it, to e. z is another
// register, and p is lost.
func (w *neonWriter) addWithError(s, p, sum, e, z int) {
	w.doubles("fadd", sum, s, p)
	w.doubles("fsub", z, sum, s)
	w.doubles("fsub", e, sum, z)
	w.doubles("fsub", e, s, e)
	w.doubles("fsub", p, p, z)
	w.doubles("fadd", e, e, p)
}

// compensated writes the loops of sum2, asum2 and dot2, for eight entries at a time: their sums are
// in registers 0 to 3, the errors in 4 to 7, the magnitudes in 8 to 11.
func (w *neonWriter) compensated(name string, dot, abs bool) {
	args := "x *float64"
	if dot {
		args = "x, y *float64"
	}
	w.Func(name, fmt.Sprintf("func(%s, n int, out *[24]float64)", args), name+" is the loop of the reference of that name without the suffix. n is a positive multiple of 8.")
	w.Load("x", 0)
	if dot {
		w.Load("y", 1)
	}
	w.Load("n", 2)
	w.Load("out", 3)
	for i := range 12 {
		w.Vec("movi v%d.2d, #0", i)
	}
	w.Label("loop")
	w.Vec("ldp q14, q15, [x0, #32]")
	w.Vec("ldp q12, q13, [x0], #64")
	if dot {
		w.Vec("ldp q18, q19, [x1, #32]")
		w.Vec("ldp q16, q17, [x1], #64")
	}
	for v := range 4 {
		p, e, z, sum := 12+v, 20+3*v, 21+3*v, 22+3*v
		q := 16 + v // of dot, where y was
		if dot {
			y := q
			w.doubles("fmul", sum, p, y)
			w.Vec("fneg v%d.2d, v%d.2d", e, sum)
			w.doubles("fmla", e, p, y) // x y - p
			p, q, e, sum = sum, e, y, p
		}
		if abs {
			w.Vec("fabs v%d.2d, v%d.2d", p, p)
			w.doubles("fadd", 8+v, 8+v, p)
		} else {
			w.Vec("fabs v%d.2d, v%d.2d", z, p)
			w.doubles("fadd", 8+v, 8+v, z)
		}
		w.addWithError(v, p, sum, e, z)
		if dot {
			w.doubles("fadd", e, e, q)
		}
		w.doubles("fadd", 4+v, 4+v, e)
		w.Vec("mov v%d.16b, v%d.16b", v, sum)
	}
	w.Go("SUBS $8, R2, R2")
	w.Go("BNE loop")
	for i := 0; i < 12; i += 2 {
		w.Vec("stp q%d, q%d, [x3, #%d]", i, i+1, 16*i)
	}
	w.Go("RET")
}

// axpyCompensated writes the loop of axpy2, for four lanes at a time.
func (w *neonWriter) axpyCompensated() {
	w.Func("axpyCompensatedNEON", "func(a *float64, x *float64, n int, s, e, m *float64)", "axpyCompensatedNEON is the loop of axpy2. n is a positive multiple of 4.")
	for i, name := range []string{"a", "x", "n", "s", "e", "m"} {
		w.Load(name, i)
	}
	w.Vec("ld1r {v31.2d}, [x1]")
	w.Label("loop")
	w.Vec("ldp q0, q1, [x0], #32")
	w.Vec("ldp q2, q3, [x3, #0]")
	w.Vec("ldp q4, q5, [x4, #0]")
	w.Vec("ldp q6, q7, [x5, #0]")
	for v := range 2 {
		a, s, e, m := v, 2+v, 4+v, 6+v
		p, q, sum, d, z := 8+5*v, 9+5*v, 10+5*v, 11+5*v, 12+5*v
		w.doubles("fmul", p, a, 31)
		w.Vec("fneg v%d.2d, v%d.2d", q, p)
		w.doubles("fmla", q, a, 31) // q = a x - p
		w.Vec("fabs v%d.2d, v%d.2d", z, p)
		w.doubles("fadd", m, m, z)
		w.addWithError(s, p, sum, d, z)
		w.doubles("fadd", d, d, q)
		w.doubles("fadd", e, e, d)
	}
	w.Vec("stp q10, q15, [x3], #32")
	w.Vec("stp q4, q5, [x4], #32")
	w.Vec("stp q6, q7, [x5], #32")
	w.Go("SUBS $4, R2, R2")
	w.Go("BNE loop")
	w.Go("RET")
}

// mulAdd writes the loops of dotTop and axpyTop for a number of words, and of dotTop2 and axpyTop2,
// whose product is one word longer. A product of two words takes MUL, UMULH and an addition with
// carry for each half: all low halves of a row first, then the high ones.
func (w *neonWriter) mulAdd(words int, axpy bool) {
	name, signature := fmt.Sprintf("dotTop%dNEON", words), "func(acc *uint64, ref int64, a *uint64, ae *int32, ac *uint8, x *uint64, xe *int32, xc *uint8, n int)"
	if axpy {
		name, signature = fmt.Sprintf("axpyTop%dNEON", words), "func(acc *uint64, ref *int64, a *uint64, ae *int32, ac *uint8, x *uint64, scale int64, sign uint64, n int)"
	}
	w.Func(name, signature, fmt.Sprintf("%s is the loop of the reference for %d words. n is positive.", name, words))
	const acc, ref, a, ae, ac, x, xe, xc, n = 0, 1, 2, 3, 4, 5, 6, 7, 8
	const scale, sign = xe, xc // of axpy
	const word, mask, shift = 16, 17, 19
	tmp := 20 // free after the product
	if axpy {
		tmp = x
	}
	result := words // words of a product
	if words == 2 {
		result = 3
	}
	r := func(k int) string { return fmt.Sprintf("R%d", 9+k) } // of the product
	loadX := func() {
		for k := 0; k+1 < words; k += 2 {
			w.Go("LDP %d(R%d), (R%d, R%d)", 8*k, x, 20+k, 21+k)
		}
		if words%2 == 1 {
			w.Go("MOVD %d(R%d), R%d", 8*(words-1), x, 19+words)
		}
	}
	w.Load("acc", acc)
	w.Load("ref", ref)
	w.Load("a", a)
	w.Load("ae", ae)
	w.Load("ac", ac)
	w.Load("x", x)
	w.Load("n", n)
	if axpy {
		w.Load("scale", scale)
		w.Load("sign", sign)
		loadX()
	} else {
		w.Load("xe", xe)
		w.Load("xc", xc)
	}

	w.Label("loop")
	// Zeros are skipped. mask is the mask of the product's sign.
	w.Go("MOVBU (R%d), R%d", ac, mask)
	if axpy {
		w.Go("TBZ $1, R%d, next", mask)
		w.Go("EOR R%d, R%d", sign, mask)
	} else {
		w.Go("MOVBU (R%d), R%d", xc, shift)
		w.Go("AND R%d, R%d, R%d", shift, mask, word)
		w.Go("TBZ $1, R%d, next", word)
		w.Go("EOR R%d, R%d", shift, mask)
		loadX()
	}
	w.Go("SBFX $0, R%d, $1, R%d", mask, mask)
	mul := func(op string, k int) { w.Go("%s R%d, R%d, R%d", op, 20+k, word, shift) }
	// chain adds products to words from first on, which carry into the next.
	carry := func(i int) string {
		if i == 0 {
			return "ADDS"
		}
		return "ADCS"
	}
	for row := range words {
		w.Go("MOVD %d(R%d), R%d", 8*row, a, word)
		if words == 2 {
			// Word 0 of the product of four is left out; row 0 makes words 1 and 2 of it.
			if row == 0 {
				w.Go("UMULH R20, R%d, %s", word, r(0))
				mul("MUL", 1)
				w.Go("ADDS R%d, %s, %s", shift, r(0), r(0))
				w.Go("UMULH R21, R%d, %s", word, r(1))
				w.Go("ADC ZR, %s, %s", r(1), r(1))
				continue
			}
			mul("MUL", 0)
			w.Go("ADDS R%d, %s, %s", shift, r(0), r(0))
			mul("MUL", 1)
			w.Go("ADCS R%d, %s, %s", shift, r(1), r(1))
			w.Go("ADC ZR, ZR, %s", r(2))
			mul("UMULH", 0)
			w.Go("ADDS R%d, %s, %s", shift, r(1), r(1))
			mul("UMULH", 1)
			w.Go("ADC R%d, %s, %s", shift, r(2), r(2))
			continue
		}
		// The high triangle of the products; after row i it fits words 0 to i.
		if row == 0 {
			w.Go("UMULH R%d, R%d, %s", 20+words-1, word, r(0))
			continue
		}
		for k := range row {
			mul("MUL", words-row+k)
			w.Go("%s R%d, %s, %s", carry(k), shift, r(k), r(k))
		}
		w.Go("ADC ZR, ZR, %s", r(row))
		for k := range row + 1 {
			mul("UMULH", words-1-row+k)
			w.Go("%s R%d, %s, %s", carry(k), shift, r(k), r(k))
		}
	}
	w.Go("MOVW (R%d), R%d", ae, word)
	if axpy {
		w.Go("MOVD (R%d), R%d", ref, shift)
		w.Go("SUB R%d, R%d", scale, shift)
	} else {
		w.Go("MOVW (R%d), R%d", xe, shift)
		w.Go("SUB R%d, R%d, R%d", shift, ref, shift)
	}
	w.Go("SUB R%d, R%d", word, shift)
	w.Go("CMP $64, R%d", shift)
	w.Go("BHS far")
	w.Label("shift")
	w.Go("MVN R%d, R%d", shift, word) // 63 - shift modulo 64
	for k := range result {
		w.Go("LSR R%d, %s", shift, r(k))
		if k+1 < result {
			w.Go("LSL $1, %s, R%d", r(k+1), tmp)
			w.Go("LSL R%d, R%d", word, tmp)
			w.Go("ORR R%d, %s", tmp, r(k))
		}
		w.Go("EOR R%d, %s", mask, r(k))
	}
	for k := 0; k <= result; k += 2 {
		part := func(k int) string {
			if k == result {
				return fmt.Sprintf("R%d", mask)
			}
			return r(k)
		}
		if k == result {
			w.Go("MOVD %d(R%d), R%d", 8*k, acc, word)
			w.Go("ADC %s, R%d, R%d", part(k), word, word)
			w.Go("MOVD R%d, %d(R%d)", word, 8*k, acc)
			break
		}
		w.Go("LDP %d(R%d), (R%d, R%d)", 8*k, acc, word, tmp)
		w.Go("%s %s, R%d, R%d", carry(k), part(k), word, word)
		w.Go("ADCS %s, R%d, R%d", part(k+1), tmp, tmp)
		w.Go("STP (R%d, R%d), %d(R%d)", word, tmp, 8*k, acc)
	}
	w.Label("next")
	w.Go("ADD $%d, R%d", 8*words, a)
	w.Go("ADD $4, R%d", ae)
	w.Go("ADD $1, R%d", ac)
	if axpy {
		w.Go("ADD $%d, R%d", 8*(result+1), acc)
		w.Go("ADD $8, R%d", ref)
	} else {
		w.Go("ADD $%d, R%d", 8*words, x)
		w.Go("ADD $4, R%d", xe)
		w.Go("ADD $1, R%d", xc)
	}
	w.Go("SUBS $1, R%d, R%d", n, n)
	w.Go("BNE loop")
	w.Go("RET")
	// A shift by words comes first.
	w.Label("far")
	w.Go("CMP $%d, R%d", 64*result, shift)
	w.Go("BHS next")
	w.Label("word")
	for k := range result - 1 {
		w.Go("MOVD %s, %s", r(k+1), r(k))
	}
	w.Go("MOVD ZR, %s", r(result-1))
	w.Go("SUB $64, R%d", shift)
	w.Go("CMP $64, R%d", shift)
	w.Go("BHS word")
	w.Go("B shift")
}

// convolve writes the loop of convolveTile for rows rows and width groups of columns, as convolve
// of AVX2 does. The sums of group i of row r are in registers 8 + 2 (width r + i) and the next.
// Four columns of two rows and a digit, 8 multiply-adds, take 4 SMLAL or SMLAL2, a load and a UZP1,
// which leaves the low halves of x's digits.
func (w *neonWriter) convolve(width, rows int) {
	name := fmt.Sprintf("convolve%dx%dNEON", rows, width)
	w.Func(name, "func(acc *int64, accPitch int, a *int64, aPitch int, x *int64, n int, first, groups int)",
		fmt.Sprintf("%s is the loop of convolveTile for %d rows and %d groups of columns. Pitches count bytes.", name, rows, width))
	const acc, accPitch, a0, aPitch, x0, n, first, groups = 0, 1, 2, 3, 4, 5, 6, 7
	// a and the next are for both rows; x and the next three each for one digit further down.
	const a, x, k = 8, 10, 14
	for i, name := range []string{"acc", "accPitch", "a", "aPitch", "x", "n", "first", "groups"} {
		w.Load(name, i)
	}
	w.Go("LSL $5, R%d", first)
	w.Go("LSL $5, R%d", groups)
	sum := func(r, i int) int { return 8 + 2*(width*r+i) }
	for s := range 2 * width * rows {
		w.Vec("movi v%d.2d, #0", 8+s)
	}
	group := func(m, from int) {
		for r := range rows {
			w.Vec("ldp q2, q3, [x%d, #%d]", a+r, 32*m)
			w.Vec("uzp1 v%d.4s, v2.4s, v3.4s", r)
		}
		for s := range 4 {
			for i := from; i < width; i++ {
				v := 2 + 2*(i%3)
				w.Vec("ldp q%d, q%d, [x%d, #%d]", v, v+1, x+s, 32*(i-m))
				w.Vec("uzp1 v%d.4s, v%d.4s, v%d.4s", v, v, v+1)
				for r := range rows {
					w.Vec("smlal v%d.2d, v%d.2s, v%d.s[%d]", sum(r, i), v, r, s)
					w.Vec("smlal2 v%d.2d, v%d.4s, v%d.s[%d]", sum(r, i)+1, v, r, s)
				}
			}
		}
	}
	w.Label("number")
	w.Go("MOVD R%d, R%d", a0, a)
	if rows == 2 {
		w.Go("ADD R%d, R%d, R%d", aPitch, a0, a+1)
	}
	w.Go("ADD R%d, R%d, R%d", first, x0, x)
	w.Go("ADD $32, R%d", x)
	for s := range 3 {
		w.Go("SUB $%d, R%d, R%d", 8*(s+1), x, x+s+1)
	}
	w.Go("MOVD R%d, R%d", first, k)
	w.Go("CBZ R%d, triangle", k)
	w.Label("square")
	group(0, 0)
	for r := range rows {
		w.Go("ADD $32, R%d", a+r)
	}
	for s := range 4 {
		w.Go("SUB $32, R%d", x+s)
	}
	w.Go("SUBS $32, R%d, R%d", k, k)
	w.Go("BNE square")
	w.Label("triangle")
	for m := range width {
		group(m, m)
	}
	w.Go("ADD R%d, R%d", groups, a0)
	w.Go("ADD R%d, R%d", groups, x0)
	w.Go("ADD $32, R%d", x0)
	w.Go("SUBS $1, R%d, R%d", n, n)
	w.Go("BNE number")
	w.Vec("movi v0.16b, #255")
	w.Vec("ushr v0.2d, v0.2d, #%d", 64-digitBits)
	w.Go("ADD R%d<<1, R%d", first, acc)
	for r := range rows {
		for i := range width {
			for half, op := range []string{"and", "sshr"} {
				w.Vec("ldp q2, q3, [x%d, #%d]", acc, 64*i+32*half)
				for j := range 2 {
					if op == "and" {
						w.Vec("and v%d.16b, v%d.16b, v0.16b", 4+j, sum(r, i)+j)
					} else {
						w.Vec("sshr v%d.2d, v%d.2d, #%d", 4+j, sum(r, i)+j, digitBits)
					}
					w.Vec("add v%d.2d, v%d.2d, v%d.2d", 2+j, 2+j, 4+j)
				}
				w.Vec("stp q2, q3, [x%d, #%d]", acc, 64*i+32*half)
			}
		}
		if r+1 < rows {
			w.Go("ADD R%d, R%d", accPitch, acc)
		}
	}
	w.Go("RET")
}
