package main

import (
	"fmt"

	neon "github.com/halfulp/halfulp/internal/_neon"
)

// writeNEON writes the kernels for arm64. Go takes 15 instructions for a word in sumLimbs, these
// take 10. addMul has no kernel, as on amd64: its 15 instructions a word, MUL, UMULH, ADDS and ADC
// among them, could be 11.
func writeNEON() {
	w := &neonWriter{new(neon.File)}
	w.span()
	w.sumLimbs()
	for words := 1; words <= 4; words++ {
		w.sumNear(words)
	}
	w.Generate()
}

type neonWriter struct{ *neon.File }

// span writes the loop of span.
func (w *neonWriter) span() {
	w.Func("spanNEON", "func(exp *int32, cls *uint8, n int, low, high *[8]int32) (odd uint64)",
		"spanNEON is the loop of span: the extremes of every eighth exponent. n is a positive multiple of 8.")
	for i, name := range []string{"exp", "cls", "n", "low", "high"} {
		w.Load(name, i)
	}
	const mask, finite, odd, t = 5, 6, 7, 8
	w.Go("MOVD $0xfefefefefefefefe, R%d", mask)
	w.Go("MOVD $0x0202020202020202, R%d", finite)
	w.Go("MOVD ZR, R%d", odd)
	w.Vec("ldp q0, q1, [x0, #0]")
	w.Vec("ldp q2, q3, [x0, #0]")
	w.Label("loop")
	w.Vec("ldp q4, q5, [x0], #32")
	w.Go("MOVD.P 8(R1), R%d", t)
	for i := range 2 {
		w.Vec("smin v%d.4s, v%d.4s, v%d.4s", i, i, 4+i)
		w.Vec("smax v%d.4s, v%d.4s, v%d.4s", 2+i, 2+i, 4+i)
	}
	w.Go("AND R%d, R%d", mask, t)
	w.Go("EOR R%d, R%d", finite, t)
	w.Go("ORR R%d, R%d", t, odd)
	w.Go("SUBS $8, R2, R2")
	w.Go("BNE loop")
	w.Vec("stp q0, q1, [x3, #0]")
	w.Vec("stp q2, q3, [x4, #0]")
	w.Store(odd, "odd")
	w.Go("RET")
}

// sumLimbs writes the loop of sumLimbs, of ten instructions a word: the loop of a number leaves the
// carry where it is.
func (w *neonWriter) sumLimbs() {
	w.Func("sumLimbsNEON", "func(acc *uint64, pitch int, sig *uint64, exp *int32, cls *uint8, n, limbs int, base int64)",
		"sumLimbsNEON is the loop of sumLimbs. n and limbs are positive, pitch counts bytes.")
	const acc, pitch, sig, exp, cls, n, limbs, base = 0, 1, 2, 3, 4, 5, 6, 7
	const class, shift, back, dst, k, low, v, t = 8, 9, 10, 11, 12, 13, 14, 15
	for i, name := range []string{"acc", "pitch", "sig", "exp", "cls", "n", "limbs", "base"} {
		w.Load(name, i)
	}
	w.Label("element")
	w.Go("MOVBU.P 1(R%d), R%d", cls, class)
	w.Go("MOVW.P 4(R%d), R%d", exp, shift)
	w.Go("SUB R%d, R%d", base, shift)
	w.Go("ASR $6, R%d, R%d", shift, dst)
	w.Go("ADD R%d<<3, R%d, R%d", dst, acc, dst)
	w.Go("TBZ $0, R%d, positive", class)
	w.Go("ADD R%d, R%d", pitch, dst)
	w.Label("positive")
	w.Go("LSR $1, R%d", class)
	w.Go("CMP $1, R%d", class)
	w.Go("BNE skip")
	w.Go("MVN R%d, R%d", shift, back) // 63 - shift modulo 64
	w.Go("MOVD R%d, R%d", limbs, k)
	w.Go("ADDS ZR, ZR, R%d", low) // 0 without a carry
	w.Label("limb")
	w.Go("MOVD.P 8(R%d), R%d", sig, v)
	w.Go("LSL R%d, R%d, R%d", shift, v, t)
	w.Go("ORR R%d, R%d", low, t)
	w.Go("LSR $1, R%d", v)
	w.Go("LSR R%d, R%d, R%d", back, v, low)
	w.Go("MOVD (R%d), R%d", dst, v)
	w.Go("ADCS R%d, R%d, R%d", t, v, v)
	w.Go("MOVD.P R%d, 8(R%d)", v, dst)
	w.Go("SUB $1, R%d", k)
	w.Go("CBNZ R%d, limb", k)
	w.Go("MOVD (R%d), R%d", dst, v)
	w.Go("ADCS R%d, R%d, R%d", low, v, v)
	w.Go("MOVD R%d, (R%d)", v, dst)
	w.Go("BCC next")
	w.Label("carry")
	w.Go("MOVD 8(R%d), R%d", dst, v)
	w.Go("ADDS $1, R%d, R%d", v, v)
	w.Go("MOVD.W R%d, 8(R%d)", v, dst)
	w.Go("BCS carry")
	w.Label("next")
	w.Go("SUBS $1, R%d, R%d", n, n)
	w.Go("BNE element")
	w.Go("RET")
	w.Label("skip")
	w.Go("ADD R%d<<3, R%d", limbs, sig)
	w.Go("B next")
}

// sumNear writes the loop of sumNear for numbers of so many words, the sum in registers.
func (w *neonWriter) sumNear(words int) {
	name := fmt.Sprintf("sumNear%dNEON", words)
	w.Func(name, "func(acc *uint64, sig *uint64, exp *int32, cls *uint8, n int, base int64, signs uint64)",
		fmt.Sprintf("%s is the loop of sumNear for limbs = %d. n is positive.", name, words))
	const acc, sig, exp, cls, n, base, signs = 0, 1, 2, 3, 4, 5, 6
	const sign, shift, back, low = 7, 8, 9, 25
	for i, name := range []string{"acc", "sig", "exp", "cls", "n", "base", "signs"} {
		w.Load(name, i)
	}
	sum := func(k int) int { return 10 + k }
	word := func(k int) int { return 19 + k } // of the number, then of what is added
	for k := range words + 2 {
		w.Go("MOVD ZR, R%d", sum(k))
	}
	w.Label("element")
	w.Go("MOVBU.P 1(R%d), R%d", cls, sign)
	w.Go("AND R%d, R%d", signs, sign)
	w.Go("NEG R%d, R%d", sign, sign)
	w.Go("MOVW.P 4(R%d), R%d", exp, shift)
	w.Go("SUB R%d, R%d", base, shift)
	w.Go("NEG R%d, R%d", shift, back) // 64 - shift modulo 64
	for k := range words {
		w.Go("MOVD.P 8(R%d), R%d", sig, word(k))
	}
	w.Go("LSR R%d, R%d, R%d", back, word(words-1), word(words))
	for k := words - 1; k >= 0; k-- {
		w.Go("LSL R%d, R%d", shift, word(k))
		if k > 0 {
			w.Go("LSR R%d, R%d, R%d", back, word(k-1), low)
			w.Go("ORR R%d, R%d", low, word(k))
		}
	}
	w.Go("ADDS R%d, R%d, R%d", sign, sign, low) // the carry completes a negation
	for k := range words + 1 {
		w.Go("EOR R%d, R%d", sign, word(k))
		w.Go("ADCS R%d, R%d, R%d", word(k), sum(k), sum(k))
	}
	w.Go("ADC R%d, R%d, R%d", sign, sum(words+1), sum(words+1))
	w.Go("SUBS $1, R%d, R%d", n, n)
	w.Go("BNE element")
	for k := range words + 2 {
		w.Go("MOVD R%d, %d(R%d)", sum(k), 8*k, acc)
	}
	w.Go("RET")
}
