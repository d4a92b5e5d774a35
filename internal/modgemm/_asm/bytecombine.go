package main

import (
	"slices"

	"github.com/halfulp/halfulp/internal/amx"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// What ../bytecombine.go says of residues and of words.
const (
	residueOffset = 1 << 14
	bytesAWord    = 5
	blockWords    = amx.Block / bytesAWord
)

// packResidues writes packResiduesAMX.
func packResidues() {
	TEXT("packResiduesAMX", NOSPLIT, "func(dst, src *int16, planeStride, planes, panels int)")
	Pragma("noescape")
	Doc("packResiduesAMX is packResiduesGeneric for planes > 0 and panels > 0. Two planes are read at a time,",
		"from one end to the other, and the next two ahead.")
	dst, src, stride, pairs, size := RDI, RSI, RCX, RBX, R8
	from, to, left, ahead := R9, R10, R11, R12
	Load(Param("dst"), dst)
	Load(Param("src"), src)
	Load(Param("planeStride"), stride)
	Load(Param("planes"), pairs)
	SHLQ(U8(1), stride)
	LEAQ(Mem{Base: pairs, Disp: 1}, size)
	SHRQ(U8(1), size)
	SHLQ(U8(7), size) // of a panel
	offset := Z31
	MOVL(U32(residueOffset<<16|residueOffset), EAX)
	VPBROADCASTD(EAX, offset)
	planes := func(name string, both bool) {
		MOVQ(src, from)
		MOVQ(dst, to)
		LEAQ(Mem{Base: src, Index: stride, Scale: 2}, ahead)
		Load(Param("panels"), left)
		Label(name)
		if both {
			PREFETCHT0(Mem{Base: ahead})
			PREFETCHT0(Mem{Base: ahead, Index: stride, Scale: 1})
		}
		for v := range 2 {
			x, y := zmm[2*v], zmm[2*v+1]
			VPMOVZXWD(Mem{Base: from, Disp: 32 * v}, x)
			if both {
				VPMOVZXWD(Mem{Base: from, Index: stride, Scale: 1, Disp: 32 * v}, y)
				VPSLLD(U8(16), y, y)
				VPORD(y, x, x)
			}
			VPADDW(offset, x, x)
			VMOVDQU32(x, Mem{Base: to, Disp: 64 * v})
		}
		ADDQ(I8(2*amx.Block), from)
		ADDQ(I8(2*amx.Block), ahead)
		ADDQ(size, to)
		DECQ(left)
		JNZ(LabelRef(name))
	}
	Label("pair")
	SUBQ(I8(2), pairs)
	JL(LabelRef("odd"))
	planes("both", true)
	MOVQ(ahead, src)
	Load(Param("panels"), left)
	SHLQ(U8(6), left)
	SUBQ(left, src)
	ADDQ(I32(4*amx.Block), dst)
	JMP(LabelRef("pair"))
	Label("odd")
	CMPQ(pairs, I8(-1))
	JNE(LabelRef("done"))
	planes("one", false)
	Label("done")
	VZEROUPPER()
	RET()
}

// byteCombination writes combineBytesAMX. While the digits' sums of a block of words and a panel of
// columns are made on tiles, the words of those before are put together.
func byteCombination(config Mem) {
	TEXT("combineBytesAMX", NOSPLIT, "func(out *int64, outStride int, table *int8, first *int64, y *int16, words, blocks, pairs, steps, panels int, block *int32)")
	Pragma("noescape")
	Doc("combineBytesAMX is combineBytesGeneric for panels > 0, with two blocks of 32 x 32 words to work in.")
	// What is to be multiplied: columns, panels and blocks that are left. What is to be put
	// together: results, panels that are left, words. The way to the other block.
	from, panels, blocks := AllocLocal(8), AllocLocal(8), AllocLocal(8)
	results, left, done, swap := AllocLocal(8), AllocLocal(8), AllocLocal(8), AllocLocal(8)
	table, stride, first, words := R8, RCX, R15, RDX
	to, at, steps, count := R14, R10, RBX, RAX
	set := func(local Mem, param string) {
		Load(Param(param), RDI)
		MOVQ(RDI, local)
	}
	Load(Param("outStride"), stride)
	SHLQ(U8(3), stride)
	Load(Param("table"), table)
	Load(Param("first"), first)
	Load(Param("words"), words)
	Load(Param("out"), to)
	MOVQ(to, results)
	set(from, "y")
	set(panels, "panels")
	set(left, "panels")
	set(blocks, "blocks")
	MOVQ(U64(amx.BlockBytes), RDI)
	MOVQ(RDI, swap)
	Load(Param("block"), R9)
	MOVQ(R9, R11)
	MOVQ(U64(amx.RowBytes), R12)
	MOVQ(U64(4*amx.Block), R13)
	LEAQ(config, RAX)
	tileOps(amx.Begin())

	begin := func() {
		tileOps(amx.Clear())
		MOVQ(table, RSI)
		MOVQ(from, RDI)
		Load(Param("steps"), steps)
		tileOps(amx.Columns.First())
	}
	// multiply emits a step, other instructions between, and says whether there is another of the
	// panel.
	multiply := func(name string, parts []func()) {
		multiplyColumns(name, steps, parts, func() {
			XORQ(steps, steps)
			Load(Param("pairs"), RDI)
			SHLQ(U8(7), RDI)
			ADDQ(RDI, from)
			DECQ(panels)
			JNZ(LabelRef(name + "Within"))
			ADDQ(I32(amx.StepBytes), RSI)
			MOVQ(RSI, table)
			set(from, "y")
			set(panels, "panels")
			DECQ(blocks)
		})
		TESTQ(steps, steps)
	}
	begin()
	Label("fill")
	multiply("fill", nil)
	JNZ(LabelRef("fill"))

	Label("panel")
	CMPQ(blocks, I8(0))
	JEQ(LabelRef("together"))
	MOVQ(R9, R11)
	ADDQ(swap, R11)
	begin()
	Label("together")
	MOVQ(to, at)
	MOVQ(words, count)
	CMPQ(count, I8(blockWords))
	JLE(LabelRef("count"))
	MOVQ(U64(blockWords), count)
	Label("count")
	MOVQ(count, done)
	parts := putTogether(at, stride, first)
	Label("word")
	TESTQ(steps, steps)
	JZ(LabelRef("bare"))
	CMPQ(count, I8(2))
	JL(LabelRef("bare"))
	multiply("word", slices.Repeat(parts, 2))
	SUBQ(I8(2), count)
	JNZ(LabelRef("word"))
	JMP(LabelRef("drained"))
	Label("bare")
	for _, part := range parts {
		part()
	}
	DECQ(count)
	JNZ(LabelRef("bare"))
	Label("drained")
	TESTQ(steps, steps)
	JZ(LabelRef("next"))
	Label("drain")
	multiply("drain", nil)
	JNZ(LabelRef("drain"))
	Label("next")
	// R9 is behind the rows: back, and to the other block.
	MOVQ(done, RDI)
	IMUL3Q(I32(wordBytes), RDI, RSI)
	SUBQ(RSI, R9)
	MOVQ(swap, RSI)
	ADDQ(RSI, R9)
	NEGQ(RSI)
	MOVQ(RSI, swap)
	ADDQ(I32(8*amx.Block), to)
	DECQ(left)
	JZ(LabelRef("block"))
	SHLQ(U8(3), RDI)
	SUBQ(RDI, first)
	JMP(LabelRef("panel"))
	Label("block")
	set(left, "panels")
	IMUL3Q(I32(blockWords), stride, RSI)
	ADDQ(RSI, results)
	MOVQ(results, to)
	SUBQ(I8(blockWords), words)
	JG(LabelRef("panel"))
	tileOps(amx.End())
	VZEROUPPER()
	RET()
}

// wordBytes is the size of the rows of a word's digits in a block.
const wordBytes = 4 * amx.Block * bytesAWord

// putTogether returns what writes the 32 words that the rows at R9 make to at, and moves R9, at and
// first on, in parts of a few instructions.
func putTogether(at, stride, first GPPhysical) (parts []func()) {
	add := func(f func()) { parts = append(parts, f) }
	sum := func(v int) VecPhysical { return zmm[v] }
	digit := func(v int) VecPhysical { return zmm[4+v] }
	add(func() { VPBROADCASTQ(Mem{Base: first}, Z8) })
	for i := range bytesAWord {
		for v := range 4 {
			add(func() {
				from := Mem{Base: R9, Disp: 4*amx.Block*i + 32*v}
				if i == 0 {
					VPMOVSXDQ(from, sum(v))
					VPADDQ(Z8, sum(v), sum(v))
					return
				}
				VPMOVSXDQ(from, digit(v))
				VPSLLQ(U8(8*i), digit(v), digit(v))
				VPADDQ(digit(v), sum(v), sum(v))
			})
		}
	}
	for v := range 4 {
		add(func() { VMOVDQU64(sum(v), Mem{Base: at, Disp: 64 * v}) })
	}
	add(func() {
		ADDQ(stride, at)
		ADDQ(I32(wordBytes), R9)
		ADDQ(I8(8), first)
	})
	return parts
}
