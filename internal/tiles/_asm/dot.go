package main

import (
	"fmt"

	"github.com/halfulp/halfulp/internal/amx"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// Offsets of the fields of tileDotJob.
const (
	dotRoom = 8 * iota
	dotX
	dotXNumber
	dotXPairs
	dotXOdd
	dotY
	dotYNumber
	dotYPairs
	dotYOdd
	dotExp
	dotXCls
	dotYCls
	dotScale
	dotRef
	dotLimit
	dotFar
	dotSteps
	dotNumber
	dotBand
	dotShares
)

// Offsets in the room of a tileDotJob.
const (
	dotStage     = 0
	dotAbove     = 1024
	dotShifts    = 1536
	dotNegatives = 2048
	dotNear      = 2560
	dotSigns     = 3072
	dotOffsets   = 3136
)

// dotOrders are the permutations of bytes of tileDot.
type dotOrders struct{ eight, four, odd Mem }

// A tileDotFunc is a function that makes digits of the next 64 numbers and multiplies, meanwhile,
// those of the last ones. What moves on is in memory.
type tileDotFunc struct {
	blocks int // at most amx.MaxTriangle, with sums that stay in tiles; 0: the job says how many
	names  int
	orders dotOrders

	x, y, exp, xCls, yCls, scale, far, steps Mem
	sums                                     Mem // of products
	now, before, beforeY                     Mem // digits of x, and of y that go with before
	to                                       Mem // where the next digits are stored
	block, phase                             Mem
	// Work on tiles.
	share, state, a, b, left, first, step, turns Mem
}

// The phases of a step are the numbers of x, and of y. After the last step the digits that it made
// are multiplied.
const (
	phaseX = iota
	phaseY
	phaseEnd
)

func (t *tileDotFunc) label(s string) string {
	t.names++
	return fmt.Sprintf("%s%d", s, t.names)
}

// tileDot writes the loop of tileDot for a number of blocks.
func tileDot(blocks int, config Mem, orders dotOrders) {
	t := &tileDotFunc{blocks: blocks, orders: orders}
	name, of := "tileDotAMX", "as many blocks as the job says"
	if blocks > 0 {
		name, of = fmt.Sprintf("tileDot%dAMX", blocks), fmt.Sprintf("%d blocks", blocks)
	}
	TEXT(name, NOSPLIT, "func(job *byte)")
	Doc(fmt.Sprintf("%s is the loop of tileDotGeneric for %s.", name, of))
	Pragma("noescape")
	for _, m := range []*Mem{
		&t.x, &t.y, &t.exp, &t.xCls, &t.yCls, &t.scale, &t.far, &t.steps, &t.sums, &t.now, &t.before, &t.beforeY,
		&t.to, &t.block, &t.phase, &t.share, &t.state, &t.a, &t.b, &t.left, &t.first, &t.step, &t.turns,
	} {
		*m = AllocLocal(8)
	}
	Load(Param("job"), job)
	for _, v := range []struct {
		off int
		to  Mem
	}{{dotX, t.x}, {dotY, t.y}, {dotExp, t.exp}, {dotXCls, t.xCls}, {dotYCls, t.yCls}, {dotScale, t.scale}, {dotFar, t.far}, {dotSteps, t.steps}} {
		MOVQ(field(v.off), RAX)
		MOVQ(RAX, v.to)
	}
	VMOVDQU64(orders.eight, Z31)
	MOVL(U32(64), EAX)
	VPBROADCASTQ(RAX, Z27)
	MOVL(U32(1), EAX)
	VPBROADCASTQ(RAX, Z26)
	VPBROADCASTQ(field(dotRef), Z25)
	VPBROADCASTQ(field(dotLimit), Z24)
	VPXORQ(Z23, Z23, Z23)
	LEAQ(config, RAX)
	for _, o := range amx.Begin() {
		tileOp(o)
	}
	// The sums of y, 64 bytes a block, those of products, and digits: of x, y, and these before.
	MOVQ(field(dotNumber), RCX)
	MOVQ(RCX, RBX)
	SHLQ(Imm(6), RBX)
	MOVQ(field(dotRoom), RAX)
	LEAQ(Mem{Base: RAX, Disp: dotOffsets, Index: RBX, Scale: 1}, RSI)
	MOVQ(RSI, t.sums)
	SHLQ(Imm(4), RBX)
	ADDQ(RBX, RSI)
	MOVQ(RSI, t.now)
	LEAQ(Mem{Base: RSI, Index: RBX, Scale: 2}, RDI)
	MOVQ(RDI, t.before)
	ADDQ(RBX, RDI)
	MOVQ(RDI, t.beforeY)
	// Before the first digits there are zeros, and in blocks of y of which there are no words.
	SHLQ(Imm(6), RCX)
	Label("clear")
	VMOVDQU64(Z23, Mem{Base: RSI})
	ADDQ(Imm(64), RSI)
	DECQ(RCX)
	JNE(LabelRef("clear"))
	work := t.work()
	Label("step")
	t.prepare()
	MOVQ(field(dotShares), RCX)
	MOVQ(RCX, t.share)
	MOVQ(t.now, RCX)
	MOVQ(RCX, t.to)
	t.begin(phaseX, t.x, dotXNumber)
	Label("blockX")
	t.cut()
	work()
	Label("across")
	t.across()
	t.end("blockX")
	t.begin(phaseY, t.y, dotYNumber)
	VMOVDQU64(orders.four, Z30)
	MOVQ(I32(-1), RCX)
	KMOVQ(RCX, K2)
	Label("blockY")
	t.rows()
	JMP(LabelRef("work"))
	Label("doneY")
	t.end("blockY")
	MOVQ(t.now, RSI)
	MOVQ(t.before, RDI)
	MOVQ(RDI, t.now)
	MOVQ(RSI, t.before)
	MOVQ(field(dotNumber), RBX)
	SHLQ(Imm(10), RBX)
	ADDQ(RBX, RSI)
	MOVQ(RSI, t.beforeY)
	DECQ(t.steps)
	JNE(LabelRef("step"))
	MOVQ(U32(phaseEnd), RCX)
	MOVQ(RCX, t.phase)
	JMP(LabelRef("work"))
	Label("done")
	if blocks > 0 {
		MOVQ(t.sums, R11)
		t.tiles(amx.NewTriangle(blocks, amx.DotNatural).Store)
	}
	for _, o := range amx.End() {
		tileOp(o)
	}
	VZEROUPPER()
	RET()
}

// tiles does work on tiles.
func (t *tileDotFunc) tiles(ops []amx.Op) {
	for _, o := range ops {
		tileOp(o)
	}
}

// soon is what is fetched next.
var soon = R13

// begin begins a phase, of numbers that lie in words from those at a pointer on. R8 to R10 are 1, 3
// and 5 times what a number takes, R14 is where the words of a block are.
func (t *tileDotFunc) begin(phase int, at Mem, number int) {
	MOVQ(U32(uint32(phase)), RCX)
	MOVQ(RCX, t.phase)
	XORL(ECX, ECX)
	MOVQ(RCX, t.block)
	MOVQ(field(number), R8)
	MOVQ(at, R14)
	MOVQ(R8, soon)
	SHLQ(Imm(6), soon)
	ADDQ(R14, soon)
	MOVQ(soon, at)
	LEAQ(Mem{Base: R8, Index: R8, Scale: 2}, R9)
	LEAQ(Mem{Base: R8, Index: R8, Scale: 4}, R10)
}

// end goes to the next block of a phase.
func (t *tileDotFunc) end(block string) {
	ADDQ(U32(amx.Bytes), t.to)
	MOVQ(t.block, RDX)
	INCQ(RDX)
	MOVQ(RDX, t.block)
	CMPQ(RDX, field(dotNumber))
	JLT(LabelRef(block))
}

// fetch fetches the next lines.
func (t *tileDotFunc) fetch(lines int) {
	for i := range lines {
		PREFETCHT1(Mem{Base: soon, Disp: 64 * i})
	}
	ADDQ(Imm(uint64(64*lines)), soon)
}

// prepare stores the shifts and signs of 64 numbers, and which have digits.
func (t *tileDotFunc) prepare() {
	MOVQ(t.exp, RSI)
	MOVQ(t.xCls, RBX)
	MOVQ(t.yCls, RCX)
	MOVQ(t.scale, RDX)
	MOVQ(t.far, RDI)
	i := R8 // of numbers
	XORL(R8L, R8L)
	room := func(off int) Mem { return Mem{Base: RAX, Disp: off, Index: i, Scale: 8} }
	Label("prepare")
	VPMOVSXDQ(Mem{Base: RSI, Index: i, Scale: 4}, Z1)
	VPSUBQ(Z1, Z25, Z0)
	VPSUBQ(Mem{Base: RDX, Index: i, Scale: 8}, Z0, Z0)
	VPMOVZXBQ(Mem{Base: RBX, Index: i, Scale: 1}, Z2)
	VPMOVZXBQ(Mem{Base: RCX, Index: i, Scale: 1}, Z3)
	VPXORQ(Z3, Z2, Z2)
	VPCMPUQ(Imm(1), Z27, Z0, K1) // d < 64
	VPCMPUQ(Imm(1), Z24, Z0, K3) // d < limit
	KANDNB(K3, K1, K3)
	KMOVB(K3, Mem{Base: RDI})
	KMOVB(K1, room(dotNear))
	VMOVDQU64(Z0, room(dotShifts))
	VPTESTMQ(Z26, Z2, K1, K2)
	VPMOVM2Q(K2, Z4)
	VMOVDQU64(Z4, room(dotNegatives))
	VPMOVQB(Z4, Mem{Base: RAX, Disp: dotSigns, Index: i, Scale: 1})
	VMOVDQU64(Z23, room(dotAbove))
	INCQ(RDI)
	ADDQ(Imm(8), i)
	CMPQ(i, Imm(64))
	JNE(LabelRef("prepare"))
	ADDQ(U32(256), t.exp)
	ADDQ(U32(512), t.scale)
	ADDQ(Imm(64), t.xCls)
	ADDQ(Imm(64), t.yCls)
	ADDQ(Imm(8), t.far)
}

// gather loads four times 16 bytes.
func gather(to VecPhysical, lanes [4]Mem) {
	VMOVDQU(lanes[0], to.AsX())
	for i := 1; i < 4; i++ {
		VINSERTI32X4(Imm(uint64(i)), lanes[i], to, to)
	}
}

// cut cuts the bytes of a block of 16 digits of x: words of eight numbers, shifted, whose bytes
// become those of 64 numbers.
func (t *tileDotFunc) cut() {
	LEAQ(Mem{Base: R9, Index: R8, Scale: 4}, R11)
	MOVQ(t.block, RDX)
	CMPQ(field(dotXPairs), RDX)
	JHI(LabelRef("pair"))
	JNE(LabelRef("none"))
	CMPQ(field(dotXOdd), Imm(0))
	JEQ(LabelRef("none"))
	ADDQ(Imm(8), R14)
	t.cutWords(1)
	JMP(LabelRef("cut"))
	Label("none")
	t.cutWords(0)
	JMP(LabelRef("cut"))
	Label("pair")
	t.cutWords(2)
	SUBQ(Imm(16), R14)
	Label("cut")
}

// cutWords cuts a block of which so many words are there.
func (t *tileDotFunc) cutWords(words int) {
	at := func(index Register, scale uint8) Mem { return Mem{Base: RSI, Index: index, Scale: scale} }
	loop := t.label("words")
	MOVQ(R14, RSI)
	MOVQ(RAX, RDX)
	MOVL(U32(8), ECX)
	Label(loop)
	high, low, d, above := Z0, Z1, Z2, Z3
	if words > 0 {
		gather(Z4, [4]Mem{{Base: RSI}, at(R8, 2), at(R8, 4), at(R9, 2)})
		gather(Z5, [4]Mem{at(R8, 1), at(R9, 1), at(R10, 1), at(R11, 1)})
		t.fetch(words)
		LEAQ(at(R8, 8), RSI)
	}
	switch words {
	case 2:
		VPUNPCKHQDQ(Z5, Z4, high)
		VPUNPCKLQDQ(Z5, Z4, low)
	case 1: // the lower one of a pair
		VPUNPCKLQDQ(Z5, Z4, high)
		VPXORQ(low, low, low)
	case 0:
		VPXORQ(high, high, high)
		VPXORQ(low, low, low)
	}
	VMOVDQU64(Mem{Base: RDX, Disp: dotShifts}, d)
	VMOVDQU64(Mem{Base: RDX, Disp: dotAbove}, above)
	KMOVB(Mem{Base: RDX, Disp: dotNear}, K1)
	VMOVDQU64(low, Mem{Base: RDX, Disp: dotAbove})
	VPSHRDVQ_Z(d, high, K1, low)
	VPSHRDVQ_Z(d, above, K1, high)
	for i, w := range []VecPhysical{low, high} {
		VPXORQ(Mem{Base: RDX, Disp: dotNegatives}, w, w)
		VPERMB(w, Z31, w)
		VMOVDQU64(w, Mem{Base: RDX, Disp: dotStage + 512*i})
	}
	ADDQ(Imm(64), RDX)
	DECL(ECX)
	JNE(LabelRef(loop))
}

// across stores the bytes that cut leaves by digits.
func (t *tileDotFunc) across() {
	MOVQ(t.to, RDI)
	MOVQ(RAX, RSI)
	MOVL(U32(2), ECX)
	Label("half")
	for q := range 4 {
		row := func(h int) Mem { return Mem{Base: RSI, Disp: dotStage + 64*h + 16*q} }
		gather(Z4, [4]Mem{row(0), row(2), row(4), row(6)})
		gather(Z5, [4]Mem{row(1), row(3), row(5), row(7)})
		VPUNPCKLQDQ(Z5, Z4, Z0)
		VPUNPCKHQDQ(Z5, Z4, Z1)
		VMOVDQU64(Z0, Mem{Base: RDI, Disp: 128 * q})
		VMOVDQU64(Z1, Mem{Base: RDI, Disp: 128*q + 64})
	}
	ADDQ(U32(512), RSI)
	ADDQ(U32(512), RDI)
	DECL(ECX)
	JNE(LabelRef("half"))
}

// rows stores the digits of a block of y, four numbers a row, and adds up those of negative
// products.
func (t *tileDotFunc) rows() {
	MOVQ(t.block, RDX)
	CMPQ(field(dotYPairs), RDX)
	JHI(LabelRef("pairY"))
	JNE(LabelRef("rows"))
	CMPQ(field(dotYOdd), Imm(0))
	JEQ(LabelRef("rows"))
	ADDQ(Imm(8), R14)
	VMOVDQU64(t.orders.odd, Z30)
	MOVQ(U64(0xffffffff00000000), RCX)
	KMOVQ(RCX, K2)
	Label("pairY")
	MOVQ(R14, RSI)
	MOVQ(t.to, RDI)
	MOVQ(RDX, RBX)
	SHLQ(Imm(6), RBX)
	ADDQ(RAX, RBX)
	MOVQ(RAX, RDX)
	MOVL(U32(16), ECX)
	VMOVDQU64(Mem{Base: RBX, Disp: dotOffsets}, Z6)
	at := func(index Register, scale uint8) Mem { return Mem{Base: RSI, Index: index, Scale: scale} }
	Label("row")
	gather(Z4, [4]Mem{{Base: RSI}, at(R8, 1), at(R8, 2), at(R9, 1)})
	LEAQ(at(R8, 4), RSI)
	t.fetch(1)
	VPERMB_Z(Z4, Z30, K2, Z4)
	VPDPBUSD_BCST(Mem{Base: RDX, Disp: dotSigns}, Z4, Z6)
	VMOVDQU64(Z4, Mem{Base: RDI})
	ADDQ(Imm(4), RDX)
	ADDQ(Imm(64), RDI)
	DECL(ECX)
	JNE(LabelRef("row"))
	VMOVDQU64(Z6, Mem{Base: RBX, Disp: dotOffsets})
	SUBQ(Imm(16), R14)
	Label("rows")
}

// work prepares the tiles, and returns what writes a share of their work: with the digits before,
// beside a block of x or y, or all of it at the end. It goes on where the phase does.
func (t *tileDotFunc) work() func() {
	const newBand = amx.BandPeriod // of t.state, otherwise p of the next step
	var tr amx.Triangle
	if t.blocks > 0 {
		tr = amx.NewTriangle(t.blocks, amx.DotNatural)
		MOVQ(t.sums, R11)
		MOVQ(U32(amx.RowBytes), R12)
		t.tiles(tr.Load)
	}
	b := bands{
		dot: amx.DotNatural, first: t.first, step: t.step, turns: t.turns, left: RBX, label: t.label, do: t.tiles,
		a: t.before, b: t.beforeY, sums: t.sums,
	}
	begin := func() {
		MOVQ(field(dotBand), RAX)
		MOVQ(RAX, t.first)
		b.begin()
	}
	if t.blocks == 0 {
		begin()
		MOVQ(U32(newBand), RCX)
		MOVQ(RCX, t.state)
		MOVQ(field(dotRoom), RAX)
	}
	return func() {
		Label("work")
		MOVQ(U32(amx.RowBytes), R12)
		MOVQ(t.share, RDX)
		MOVBQZX(Mem{Base: RDX}, RCX)
		INCQ(t.share)
		if t.blocks > 0 {
			t.parts(tr.Step)
		} else {
			TESTQ(RCX, RCX)
			JEQ(LabelRef("worked"))
			MOVQ(t.state, RDX)
			CMPQ(RDX, Imm(newBand))
			JEQ(LabelRef("band"))
			MOVQ(t.a, RSI)
			MOVQ(t.b, RDI)
			MOVQ(t.left, RBX)
			b.jump(RDX, bandStep)
			Label("band")
			b.load()
			b.enter()
			b.steps(func(p int) {
				MOVQ(I32(int32(p)), RDX)
				DECQ(RCX)
				JEQ(LabelRef("pause"))
			})
			b.store()
			b.next()
			MOVQ(t.first, RAX)
			CMPQ(RAX, field(dotNumber))
			JLT(LabelRef("more"))
			begin()
			Label("more")
			MOVQ(U32(newBand), RDX)
			DECQ(RCX)
			JNE(LabelRef("band"))
			Label("pause")
			MOVQ(RDX, t.state)
			MOVQ(RSI, t.a)
			MOVQ(RDI, t.b)
			MOVQ(RBX, t.left)
			Label("worked")
			MOVQ(field(dotRoom), RAX)
		}
		CMPQ(t.phase, Imm(phaseY))
		JEQ(LabelRef("doneY"))
		JHI(LabelRef("done"))
	}
}

// parts writes the products of few blocks: RCX says which part, of as many as there are blocks of x
// and y, or that it is all of them.
func (t *tileDotFunc) parts(ops []amx.Op) {
	all := 2 * t.blocks
	MOVQ(t.before, RSI)
	MOVQ(t.beforeY, RDI)
	for i := 1; i < all; i++ {
		CMPQ(RCX, Imm(uint64(i)))
		JEQ(LabelRef(fmt.Sprint("part", i)))
	}
	products := t.blocks * (t.blocks + 1) / 2
	weights, upTo, done := 0, 0, 0
	for i := range all {
		weights += dotShare(i, t.blocks)
	}
	for i := range all {
		if i > 0 {
			Label(fmt.Sprint("part", i))
		}
		upTo += dotShare(i, t.blocks)
		k := 0
		for k < len(ops) && (i+1 == all || done*weights < upTo*products) {
			if ops[k].Kind == amx.DotNatural {
				done++
			}
			k++
		}
		t.tiles(ops[:k])
		ops = ops[k:]
		if i+1 < all {
			CMPQ(RCX, Imm(uint64(all)))
			JNE(LabelRef("worked"))
		}
	}
	Label("worked")
}

// dotShare is about the time for a block of x, before its bytes are stored by digits, or then of y.
func dotShare(i, blocks int) int {
	if i < blocks {
		return 5
	}
	return 3
}

// tileDots writes all kernels of dot products on tiles.
func tileDots(config Mem) {
	order := func(name string, from func(i int) int) Mem {
		m := GLOBL(name, RODATA|NOPTR)
		bytesOf(func(i int) byte { return byte(from(i)) })
		return m
	}
	orders := dotOrders{
		order("dotEight", func(i int) int { return 8*(i%8) + i/8 }),
		order("dotFour", func(i int) int { return 16*(i%4) + i/4 }),
		order("dotOdd", func(i int) int { return 16*(i%4) + max(0, i/4-8) }),
	}
	for _, n := range []int{0, 2, 3, 4} {
		tileDot(n, config, orders)
	}
}
