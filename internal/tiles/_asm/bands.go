package main

import (
	"github.com/halfulp/halfulp/internal/amx"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// bands writes the loops over the bands of the sums of many blocks, see package amx: over bands,
// and over the steps of a band, of r = 6 q + p. Steps of one p are the same code.
type bands struct {
	dot amx.Kind
	// The first sum of the band, and what the step at which it is entered has for p and q.
	first, step, turns Op
	left               Register // q of the steps to come
	a, b, sums         Mem      // hold pointers to the blocks
	label              func(string) string
	do                 func([]amx.Op)
}

// begin goes to the first band, which begins at b.first <= 0.
func (b *bands) begin() {
	MOVQ(b.first, RAX)
	MOVQ(RAX, b.step)
	XORL(EAX, EAX)
	MOVQ(RAX, b.turns)
}

// next goes to the next band.
func (b *bands) next() {
	same := b.label("turn")
	ADDQ(Imm(amx.BandSums), b.first)
	ADDQ(Imm(amx.BandSums), b.step)
	CMPQ(b.step, Imm(amx.BandPeriod))
	JLT(LabelRef(same))
	SUBQ(Imm(amx.BandPeriod), b.step)
	INCQ(b.turns)
	Label(same)
}

// load and store move the sums of a band, from 0 on.
func (b *bands) load()  { b.move(amx.Load) }
func (b *bands) store() { b.move(amx.Store) }

func (b *bands) move(kind amx.Kind) {
	one, two := b.label("from"), b.label("from")
	MOVQ(b.first, RAX)
	MOVQ(RAX, R11)
	SHLQ(Imm(10), R11) // blocks of 1024 bytes
	ADDQ(b.sums, R11)
	CMPQ(RAX, I8(-1))
	JLT(LabelRef(two))
	JEQ(LabelRef(one))
	b.do([]amx.Op{amx.BandSum(kind, 0)})
	Label(one)
	b.do([]amx.Op{amx.BandSum(kind, 1)})
	Label(two)
	b.do([]amx.Op{amx.BandSum(kind, 2)})
}

// jump goes to the label of p, which lies in a register.
func (b *bands) jump(p Register, labels func(p int) string) {
	high, mid := b.label("high"), b.label("low")
	to := func(jump func(Op), p int) { jump(LabelRef(labels(p))) }
	CMPQ(p, Imm(3))
	JGT(LabelRef(high))
	to(JEQ, 3)
	CMPQ(p, Imm(1))
	to(JGT, 2)
	to(JEQ, 1)
	CMPQ(p, I8(-1))
	JGT(LabelRef(mid))
	to(JEQ, -1)
	to(JMP, -2)
	Label(mid)
	to(JMP, 0)
	Label(high)
	CMPQ(p, Imm(4))
	to(JEQ, 4)
	to(JMP, 5)
}

func bandStep(p int) string {
	return [...]string{"second", "first", "step0", "step1", "step2", "step3", "step4", "step5"}[p-amx.LastStep]
}

// enter loads the blocks of the first step of a band, and goes to that.
func (b *bands) enter() {
	names := map[int]string{}
	for p := amx.LastStep; p < amx.BandPeriod; p++ {
		names[p] = b.label("enter")
	}
	// Pointers, see amx.BandEnter.
	MOVQ(b.step, RAX)
	MOVQ(RAX, RSI)
	SHLQ(Imm(10), RSI)
	ADDQ(b.a, RSI)
	SUBQ(U32((amx.BandPeriod-1)*amx.Bytes), RSI)
	MOVQ(b.turns, b.left)
	IMUL3Q(U32(amx.BandPeriod*amx.Bytes), b.left, RDI)
	ADDQ(b.b, RDI)
	SUBQ(U32(amx.Bytes), RDI)
	b.jump(RAX, func(p int) string { return names[p] })
	for p := amx.BandPeriod - 1; p >= amx.LastStep; p-- {
		Label(names[p])
		b.do(amx.BandEnter(p))
		JMP(LabelRef(bandStep(p)))
	}
}

// steps are those of a band, after each of which but the last one is what after writes, given p of
// the next one.
func (b *bands) steps(after func(p int)) {
	Label("turn")
	for p := amx.BandPeriod - 1; p >= 0; p-- {
		Label(bandStep(p))
		if p == 0 {
			TESTQ(b.left, b.left)
			JEQ(LabelRef("last"))
		}
		b.do(amx.BandStep(b.dot, p, true))
		if p == 0 {
			DECQ(b.left)
			ADDQ(U32(amx.BandPeriod*amx.Bytes), RSI)
			SUBQ(U32(amx.BandPeriod*amx.Bytes), RDI)
		}
		after((p + amx.BandPeriod - 1) % amx.BandPeriod)
	}
	JMP(LabelRef("turn"))
	Label("last") // three steps, with fewer and fewer products
	for p := 0; p >= amx.LastStep; p-- {
		if p < 0 {
			Label(bandStep(p))
		}
		b.do(amx.BandStep(b.dot, p, false))
		if p > amx.LastStep {
			after(p - 1)
		}
	}
}
