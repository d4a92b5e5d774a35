package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// at is word k of the words at p.
func at(p Register, k int) Mem { return Mem{Base: p, Disp: 8 * k} }

// offsetWords writes the loop of offsetWords for a number of words.
func offsetWords(words int) {
	name := fmt.Sprintf("offsetWords%dBMI2", words)
	TEXT(name, NOSPLIT, "func(dst, src *uint64, d, sign uint64, sum *uint64)")
	Doc(fmt.Sprintf("%s is the loop of offsetWords for %d words. d is from 1 to 63, sign is 0 or 2^64 - 1.", name, words))
	Pragma("noescape")
	dst, src := Load(Param("dst"), GP64()), Load(Param("src"), GP64())
	d, sign := Load(Param("d"), GP64()), Load(Param("sign"), GP64())
	sum := Load(Param("sum"), GP64())
	back := GP64()
	MOVQ(U32(64), back)
	SUBQ(d, back)
	w := make([]Register, words)
	t := GP64()
	for k := range w {
		w[k] = GP64()
		SHRXQ(d, at(src, k), w[k])
		if k+1 < words {
			SHLXQ(back, at(src, k+1), t)
			ORQ(t, w[k])
		}
		XORQ(sign, w[k])
	}
	NEGQ(sign)
	ADDQ(sign, w[0])
	for k := 1; k < words; k++ {
		ADCQ(Imm(0), w[k])
	}
	BTCQ(Imm(63), w[words-1])
	for k := range w {
		MOVQ(w[k], at(dst, k))
	}
	ADDQ(w[0], at(sum, 0))
	for k := 1; k < words; k++ {
		ADCQ(w[k], at(sum, k))
	}
	ADCQ(Imm(0), at(sum, words))
	RET()
}

// dotHigh writes the loop of dotHigh for a number of words.
func dotHigh(words int) {
	name := fmt.Sprintf("dotHigh%dADX", words)
	TEXT(name, NOSPLIT, "func(out, u, uc, v, vc *uint64, k, columns int)")
	Doc(fmt.Sprintf("%s is the loop of dotHigh for %d words. k and columns are positive.", name, words))
	Pragma("noescape")
	out, v := Load(Param("out"), GP64()), Load(Param("v"), GP64())
	Label(name + "_column")
	u, n := GP64(), GP64()
	acc := make([]Register, words+1)
	inside := words <= 3 // the sum stays in registers
	MOVQ(NewParamAddr("uc", 16), u)
	MOVQ(NewParamAddr("vc", 32), n)
	t := GP64()
	for k := range acc {
		if inside {
			acc[k] = GP64()
			MOVQ(at(u, k), acc[k])
		} else {
			MOVQ(at(u, k), t)
		}
		add := ADCQ
		if k == 0 {
			add = ADDQ
		}
		if inside {
			add(at(n, k), acc[k])
			continue
		}
		add(at(n, k), t)
		MOVQ(t, at(out, k+1))
	}
	ADDQ(Imm(uint64(8*(words+1))), n)
	MOVQ(n, NewParamAddr("vc", 32))
	MOVQ(NewParamAddr("u", 8), u)
	MOVQ(NewParamAddr("k", 40), n)
	Label(name + "_loop")
	w := make([]Register, words)
	for k := range w {
		w[k] = GP64()
	}
	l, h := GP64(), GP64()
	// The high triangle of the products, row by row; after row r it fits words 0 to r.
	for r := range words {
		MOVQ(at(u, r), RDX)
		if r == 0 {
			MULXQ(at(v, words-1), l, w[0])
			continue
		}
		XORQ(w[r], w[r]) // clears CF and OF
		MULXQ(at(v, words-1-r), l, h)
		ADOXQ(h, w[0])
		for k := range r {
			MULXQ(at(v, words-r+k), l, h)
			ADCXQ(l, w[k])
			ADOXQ(h, w[k+1])
		}
		MOVQ(U32(0), l)
		ADCXQ(l, w[r])
	}
	for k := range acc {
		add := ADCQ
		if k == 0 {
			add = ADDQ
		}
		switch {
		case inside && k < words:
			add(w[k], acc[k])
		case inside:
			add(Imm(0), acc[k])
		case k < words:
			add(w[k], at(out, k+1))
		default:
			add(Imm(0), at(out, k+1))
		}
	}
	ADDQ(Imm(uint64(8*words)), u)
	ADDQ(Imm(uint64(8*words)), v)
	DECQ(n)
	JNZ(LabelRef(name + "_loop"))
	sign := GP64()
	if !inside {
		for k := range acc {
			acc[k] = GP64()
			MOVQ(at(out, k+1), acc[k])
		}
	}
	MOVQ(acc[words], sign)
	SARQ(Imm(63), sign)
	MOVQ(sign, at(out, 0))
	for k := range acc {
		XORQ(sign, acc[k])
	}
	NEGQ(sign)
	ADDQ(sign, acc[0])
	for k := 1; k <= words; k++ {
		ADCQ(Imm(0), acc[k])
	}
	for k := range acc {
		MOVQ(acc[k], at(out, k+1))
	}
	ADDQ(Imm(uint64(8*(words+2))), out)
	DECQ(NewParamAddr("columns", 48))
	JNZ(LabelRef(name + "_column"))
	RET()
}

// addRow writes the loop of addRow for a number of words.
func addRow(words int) {
	name := fmt.Sprintf("addRow%dADX", words)
	TEXT(name, NOSPLIT, "func(acc *uint64, shift uint64, c *uint64, low, high uint64, u, d *uint64, n int)")
	Doc(fmt.Sprintf("%s is the loop of addRow for %d words. n is positive, shift from 1 to 63.", name, words))
	Pragma("noescape")
	acc := make([]Register, words+1)
	l, h, u, d, n := GP64(), GP64(), GP64(), GP64(), GP64()
	p, shift, back := u, d, n
	MOVQ(NewParamAddr("acc", 0), p)
	MOVQ(NewParamAddr("shift", 8), shift)
	MOVQ(U32(64), back)
	SUBQ(shift, back)
	for k := range acc {
		acc[k] = GP64()
		SHLXQ(shift, at(p, k), acc[k])
		if k > 0 {
			SHRXQ(back, at(p, k-1), l)
			ORQ(l, acc[k])
		}
	}
	ADDQ(NewParamAddr("low", 24), acc[words-1])
	ADCQ(NewParamAddr("high", 32), acc[words])
	MOVQ(NewParamAddr("c", 16), p)
	for k := range acc {
		if k == 0 {
			ADDQ(at(p, k), acc[k])
		} else {
			ADCQ(at(p, k), acc[k])
		}
	}
	MOVQ(NewParamAddr("u", 40), u)
	MOVQ(NewParamAddr("d", 48), d)
	MOVQ(NewParamAddr("n", 56), n)
	Label(name + "_loop")
	MOVQ(at(d, 0), RDX)
	XORQ(l, l) // clears CF and OF
	for k := range words {
		MULXQ(at(u, k), l, h)
		ADCXQ(l, acc[k])
		ADOXQ(h, acc[k+1])
	}
	MOVQ(U32(0), l)
	ADCXQ(l, acc[words])
	ADDQ(Imm(uint64(8*words)), u)
	ADDQ(Imm(8), d)
	DECQ(n)
	JNZ(LabelRef(name + "_loop"))
	MOVQ(NewParamAddr("acc", 0), h)
	for k := range acc {
		MOVQ(acc[k], at(h, k))
	}
	RET()
}
