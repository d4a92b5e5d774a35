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

// tileDotBlocks are the numbers of blocks for which there are functions.
var tileDotBlocks = []int{2, 3, 4, 7, 10, 12, 14, 16}

// dotOrders are the permutations of bytes of tileDot.
type dotOrders struct{ eight, four, odd Mem }

// tileDot writes the loop of tileDot for a number of blocks.
func tileDot(blocks int, config Mem, orders dotOrders) {
	size := blocks * amx.Bytes
	sums := dotOffsets + 64*blocks
	digits := sums + size // those of x, and behind them those of y, twice
	TEXT(fmt.Sprintf("tileDot%dAMX", blocks), NOSPLIT, "func(job *byte)")
	Doc(fmt.Sprintf("tileDot%dAMX is the loop of tileDotGeneric for %d blocks.", blocks, blocks))
	Pragma("noescape")
	names := 0
	label := func(s string) string {
		names++
		return fmt.Sprintf("%s%d", s, names)
	}
	local := func(off int) Mem {
		m := AllocLocal(8)
		MOVQ(field(off), RAX)
		MOVQ(RAX, m)
		return m
	}
	Load(Param("job"), job)
	x, y := local(dotX), local(dotY)
	exp, xCls, yCls := local(dotExp), local(dotXCls), local(dotYCls)
	scale, far, steps := local(dotScale), local(dotFar), local(dotSteps)
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
	t := newTileDotOps(blocks)
	now, before := AllocLocal(8), AllocLocal(8)
	// do multiplies digits that were made before.
	do := func(ops []amx.Op) {
		if len(ops) == 0 {
			return
		}
		MOVQ(before, RSI)
		LEAQ(Mem{Base: RSI, Disp: size}, RDI)
		LEAQ(Mem{Base: RAX, Disp: sums}, R11)
		MOVQ(U32(amx.RowBytes), R12)
		for _, o := range ops {
			tileOp(o)
		}
	}
	MOVQ(field(dotRoom), RAX)
	LEAQ(Mem{Base: RAX, Disp: digits}, RSI)
	MOVQ(RSI, now)
	LEAQ(Mem{Base: RSI, Disp: 2 * size}, RDI)
	MOVQ(RDI, before)
	// Before the first digits there are zeros, and in blocks of y of which there are no words.
	MOVL(U32(uint32(64*blocks)), ECX)
	Label("clear")
	VMOVDQU64(Z23, Mem{Base: RSI})
	ADDQ(Imm(64), RSI)
	DECL(ECX)
	JNE(LabelRef("clear"))
	do(t.first)

	Label("step")
	// Shifts, signs, and which numbers have digits.
	MOVQ(exp, RSI)
	MOVQ(xCls, RBX)
	MOVQ(yCls, RCX)
	MOVQ(scale, RDX)
	MOVQ(far, RDI)
	for h := range 8 {
		VPMOVSXDQ(Mem{Base: RSI, Disp: 32 * h}, Z1)
		VPSUBQ(Z1, Z25, Z0)
		VPSUBQ(Mem{Base: RDX, Disp: 64 * h}, Z0, Z0)
		VPMOVZXBQ(Mem{Base: RBX, Disp: 8 * h}, Z2)
		VPMOVZXBQ(Mem{Base: RCX, Disp: 8 * h}, Z3)
		VPXORQ(Z3, Z2, Z2)
		VPCMPUQ(Imm(1), Z27, Z0, K1) // d < 64
		VPCMPUQ(Imm(1), Z24, Z0, K3) // d < limit
		KANDNB(K3, K1, K3)
		KMOVB(K3, Mem{Base: RDI, Disp: h})
		KMOVB(K1, Mem{Base: RAX, Disp: dotNear + 64*h})
		VMOVDQU64(Z0, Mem{Base: RAX, Disp: dotShifts + 64*h})
		VPTESTMQ(Z26, Z2, K1, K2)
		VPMOVM2Q(K2, Z4)
		VMOVDQU64(Z4, Mem{Base: RAX, Disp: dotNegatives + 64*h})
		VPMOVQB(Z4, Mem{Base: RAX, Disp: dotSigns + 8*h})
		VMOVDQU64(Z23, Mem{Base: RAX, Disp: dotAbove + 64*h})
	}
	ADDQ(U32(256), exp)
	ADDQ(U32(512), scale)
	ADDQ(Imm(64), xCls)
	ADDQ(Imm(64), yCls)
	ADDQ(Imm(8), far)

	// The digits of x: words of eight numbers, shifted, whose bytes become those of 64 numbers.
	soon := R13
	next := func(at Mem, number int) {
		MOVQ(field(number), R8)
		MOVQ(at, R14)
		MOVQ(R8, soon)
		SHLQ(Imm(6), soon)
		ADDQ(R14, soon)
		MOVQ(soon, at)
		LEAQ(Mem{Base: R8, Index: R8, Scale: 2}, R9)
	}
	fetch := func(lines int) {
		for i := range lines {
			PREFETCHT1(Mem{Base: soon, Disp: 64 * i})
		}
		ADDQ(Imm(uint64(64*lines)), soon)
	}
	next(x, dotXNumber)
	LEAQ(Mem{Base: R8, Index: R8, Scale: 4}, R10)
	gather := func(to VecPhysical, lanes [4]Mem) {
		VMOVDQU(lanes[0], to.AsX())
		for i := 1; i < 4; i++ {
			VINSERTI32X4(Imm(uint64(i)), lanes[i], to, to)
		}
	}
	at := func(base Register, disp int, index Register, scale uint8) Mem {
		if index == nil {
			return Mem{Base: base, Disp: disp}
		}
		return Mem{Base: base, Disp: disp, Index: index, Scale: scale}
	}
	// cut cuts the bytes of a block of 16 digits, of whose words so many are there.
	cut := func(words int) {
		loop := label("words")
		MOVQ(R14, RSI)
		MOVQ(RAX, RDX)
		MOVL(U32(8), ECX)
		Label(loop)
		high, low, d, above := Z0, Z1, Z2, Z3
		if words > 0 {
			gather(Z4, [4]Mem{at(RSI, 0, nil, 0), at(RSI, 0, R8, 2), at(RSI, 0, R8, 4), at(RSI, 0, R9, 2)})
			gather(Z5, [4]Mem{at(RSI, 0, R8, 1), at(RSI, 0, R9, 1), at(RSI, 0, R10, 1), at(RSI, 0, R11, 1)})
			fetch(words)
			LEAQ(Mem{Base: RSI, Index: R8, Scale: 8}, RSI)
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
	// across stores them by digits.
	across := func(to int) {
		MOVQ(now, RDI)
		for i := range 2 {
			for q := range 4 {
				row := func(h int) Mem { return Mem{Base: RAX, Disp: dotStage + 512*i + 64*h + 16*q} }
				gather(Z4, [4]Mem{row(0), row(2), row(4), row(6)})
				gather(Z5, [4]Mem{row(1), row(3), row(5), row(7)})
				VPUNPCKLQDQ(Z5, Z4, Z0)
				VPUNPCKHQDQ(Z5, Z4, Z1)
				VMOVDQU64(Z0, Mem{Base: RDI, Disp: to + 512*i + 128*q})
				VMOVDQU64(Z1, Mem{Base: RDI, Disp: to + 512*i + 128*q + 64})
			}
		}
	}
	part := 0 // of the tiles' work
	share := func() {
		do(t.parts[part])
		part++
	}
	for v := range blocks {
		pair, none, end := label("pair"), label("none"), label("cut")
		LEAQ(Mem{Base: R9, Index: R8, Scale: 4}, R11)
		CMPQ(field(dotXPairs), Imm(uint64(v)))
		JHI(LabelRef(pair))
		JNE(LabelRef(none))
		CMPQ(field(dotXOdd), Imm(0))
		JEQ(LabelRef(none))
		ADDQ(Imm(8), R14)
		cut(1)
		JMP(LabelRef(end))
		Label(none)
		cut(0)
		JMP(LabelRef(end))
		Label(pair)
		cut(2)
		SUBQ(Imm(16), R14)
		Label(end)
		share()
		across(v * amx.Bytes)
		share()
	}

	// The digits of y, four numbers a row, and the sums of those of negative products.
	next(y, dotYNumber)
	VMOVDQU64(orders.four, Z30)
	MOVQ(I32(-1), RCX)
	KMOVQ(RCX, K2)
	for v := range blocks {
		pair, row, end := label("pair"), label("row"), label("end")
		CMPQ(field(dotYPairs), Imm(uint64(v)))
		JHI(LabelRef(pair))
		JNE(LabelRef(end))
		CMPQ(field(dotYOdd), Imm(0))
		JEQ(LabelRef(end))
		ADDQ(Imm(8), R14)
		VMOVDQU64(orders.odd, Z30)
		MOVQ(U64(0xffffffff00000000), RCX)
		KMOVQ(RCX, K2)
		Label(pair)
		MOVQ(R14, RSI)
		MOVQ(RAX, RDX)
		MOVQ(now, RDI)
		MOVL(U32(16), ECX)
		VMOVDQU64(Mem{Base: RAX, Disp: dotOffsets + 64*v}, Z6)
		Label(row)
		gather(Z4, [4]Mem{at(RSI, 0, nil, 0), at(RSI, 0, R8, 1), at(RSI, 0, R8, 2), at(RSI, 0, R9, 1)})
		LEAQ(Mem{Base: RSI, Index: R8, Scale: 4}, RSI)
		fetch(1)
		VPERMB_Z(Z4, Z30, K2, Z4)
		VPDPBUSD_BCST(Mem{Base: RDX, Disp: dotSigns}, Z4, Z6)
		VMOVDQU64(Z4, Mem{Base: RDI, Disp: size + amx.Bytes*v})
		ADDQ(Imm(4), RDX)
		ADDQ(Imm(64), RDI)
		DECL(ECX)
		JNE(LabelRef(row))
		VMOVDQU64(Z6, Mem{Base: RAX, Disp: dotOffsets + 64*v})
		SUBQ(Imm(16), R14)
		Label(end)
		share()
	}
	MOVQ(now, RSI)
	MOVQ(before, RDI)
	MOVQ(RDI, now)
	MOVQ(RSI, before)
	DECQ(steps)
	JNE(LabelRef("step"))
	for _, p := range t.parts {
		do(p)
	}
	do(t.last)
	for _, o := range amx.End() {
		tileOp(o)
	}
	VZEROUPPER()
	RET()
}

// tileDotOps is what tiles do with digits, in parts.
type tileDotOps struct {
	first []amx.Op // before all
	parts [][]amx.Op
	last  []amx.Op // after all
}

// Of the time in which new digits are made, the parts for a block of x, before and after its bytes
// are stored by digits, and for one of y.
var tileDotShares = [3]int{4, 1, 3}

func newTileDotOps(blocks int) (t tileDotOps) {
	program := amx.Triangles(blocks, amx.DotNatural)
	var ops []amx.Op
	if len(program) == 1 { // sums stay in tiles
		t.first, t.last = program[0].Load, program[0].Store
		ops = program[0].Step
	} else {
		for _, p := range program {
			ops = append(append(append(ops, p.Load...), p.Step...), p.Store...)
		}
	}
	products := 0
	for _, o := range ops {
		if o.Kind == amx.DotNatural {
			products++
		}
	}
	var shares []int
	for range blocks {
		shares = append(shares, tileDotShares[0], tileDotShares[1])
	}
	for range blocks {
		shares = append(shares, tileDotShares[2])
	}
	all := 0
	for _, s := range shares {
		all += s
	}
	done, upTo := 0, 0
	for i, s := range shares {
		upTo += s
		k := 0
		for k < len(ops) && (i+1 == len(shares) || done*all < upTo*products) {
			if ops[k].Kind == amx.DotNatural {
				done++
			}
			k++
		}
		t.parts = append(t.parts, ops[:k])
		ops = ops[k:]
	}
	return t
}

// tileDots writes all kernels of dot products on tiles.
func tileDots(config Mem) {
	order := func(name string, from func(i int) int) Mem {
		m := GLOBL(name, RODATA|NOPTR)
		for i := range 64 {
			DATA(i, U8(from(i)))
		}
		return m
	}
	orders := dotOrders{
		order("dotEight", func(i int) int { return 8*(i%8) + i/8 }),
		order("dotFour", func(i int) int { return 16*(i%4) + i/4 }),
		order("dotOdd", func(i int) int { return 16*(i%4) + max(0, i/4-8) }),
	}
	for _, n := range tileDotBlocks {
		tileDot(n, config, orders)
	}
}
