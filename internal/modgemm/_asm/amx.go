package main

import (
	"fmt"
	"math"

	"github.com/halfulp/halfulp/internal/amx"
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// The tiles' functions name all registers: those of tile instructions are bytes to avo, which
// therefore cannot choose any. A tile instruction changes no general register.
const (
	// plainRows and karatsubaRows are the rows of the block before that a step but the last
	// reduces: 9 steps of 64 hide all 32 rows under the products, and 12 of three planes.
	plainRows, karatsubaRows = 4, 1
	// aLines and bLines are the lines of A and of B that a step reads ahead.
	aLines, bLines = 2, 4
	// prefetchRows is how many rows of C ahead one is fetched.
	prefetchRows = 8
	// gap is how many parts, or instructions at least, come between tile instructions. On a core
	// whose other hardware thread is busy, steps with operands in the first level cache ran at 527
	// 10^9 multiply-adds a second without any, 832 with 2 between, 885 with tiles cleared before
	// loads, too, and 1004 with 12; on a core of its own at 2343 in all cases, up to 16 between.
	// What slows down tile instructions that follow each other there is not known.
	gap = 6
	// karatsubaBase is that of the two bytes of a residue modulo a Karatsuba modulus.
	karatsubaBase = 128
	// magic is 1.5 2^23: added to and taken off a float32 below 2^22 it rounds that to an integer.
	magic = 1.5 * (1 << 23)
)

// tileOps emits instructions byte by byte, after what they are.
func tileOps(ops []amx.Op) {
	for _, o := range ops {
		Comment(o.String())
		for _, b := range o.Encode() {
			Instruction(&ir.Instruction{Opcode: "BYTE", Operands: []Op{U8(b)}})
		}
	}
}

// byteVectors are the constants and the temporaries of the reduction.
var (
	vInv, vMod, vMagic, vBias, vBase, vOrder = Z31, Z30, Z29, Z28, Z27, Z26
	// keep selects the old entries where they count.
	keep = K1
)

// coarseByteFold takes the multiple of m that float32 arithmetic finds nearest to it off x.
func coarseByteFold(x, q VecPhysical) {
	VMOVAPS(vMagic, q)
	VFMADD231PS(x, vInv, q)
	VSUBPS(vMagic, q, q)
	VFNMADD231PS(q, vMod, x)
}

// exactByteFold is the exact fold of ../bounds.go.
func exactByteFold(x, q VecPhysical) {
	VMOVAPS(x, q)
	VFMSUB213PS(vBias, vInv, q)
	VADDPS(vMagic, q, q)
	VSUBPS(vMagic, q, q)
	VFNMADD231PS(q, vMod, x)
}

// reduceRow reduces a row of the block at R9, or of the three of a Karatsuba modulus, into the row
// of C at RAX, and moves both on. It returns what emits that, in parts of a few instructions.
func reduceRow(karatsuba bool) (parts []func()) {
	add := func(f func()) { parts = append(parts, f) }
	x, y, q := []VecPhysical{Z0, Z1}, []VecPhysical{Z2, Z3}, []VecPhysical{Z4, Z5}
	from := func(block, v int) Mem { return Mem{Base: R9, Disp: block*amx.BlockBytes + 64*v} }
	each := func(f func(v int)) {
		for v := range x {
			add(func() { f(v) })
		}
	}
	coarse := func(x []VecPhysical) { each(func(v int) { coarseByteFold(x[v], q[v]) }) }
	add(func() { PREFETCHT0(Mem{Base: RAX, Index: RCX, Scale: prefetchRows}) })
	each(func(v int) {
		VPMOVSXWD_Z(Mem{Base: RAX, Disp: 32 * v}, keep, x[v])
		VPADDD(from(0, v), x[v], x[v])
		VCVTDQ2PS(x[v], x[v])
	})
	if karatsuba {
		z := []VecPhysical{Z6, Z7} // a0 b1 + a1 b0
		each(func(v int) {
			VMOVDQU32(from(2, v), z[v])
			VCVTDQ2PS(from(1, v), y[v])
			VPSUBD(from(1, v), z[v], z[v])
		})
		each(func(v int) {
			VPSUBD(from(0, v), z[v], z[v])
			VCVTDQ2PS(z[v], z[v])
		})
		coarse(y)
		each(func(v int) { VFMADD213PS(z[v], vBase, y[v]) })
		coarse(y)
		each(func(v int) { VFMADD231PS(y[v], vBase, x[v]) })
	}
	coarse(x)
	each(func(v int) { exactByteFold(x[v], q[v]) })
	add(func() {
		for v := range x {
			VCVTPS2DQ(x[v], x[v])
		}
		VPACKSSDW(x[1], x[0], x[0])
	})
	add(func() {
		VPERMQ(x[0], vOrder, x[0])
		VMOVDQU32(x[0], Mem{Base: RAX})
		ADDQ(RCX, RAX)
		ADDQ(I32(4*amx.Block), R9)
	})
	return parts
}

// byteTiles writes byteTilesAMX and karatsubaTilesAMX.
func byteTiles() {
	config := GLOBL("tileConfig", RODATA|NOPTR)
	for i, b := range amx.Config() {
		DATA(i, U8(b))
	}
	order := GLOBL("packedOrder", RODATA|NOPTR)
	for i, q := range []uint64{0, 2, 4, 6, 1, 3, 5, 7} {
		DATA(8*i, U64(q))
	}
	tiles := func(karatsuba bool) {
		Load(Param("c"), RBX)
		Load(Param("ldc"), RCX)
		SHLQ(U8(1), RCX)
		Load(Param("a"), R8)
		Load(Param("block"), R11)
		MOVQ(U64(amx.RowBytes), R12)
		MOVQ(U64(4*amx.Block), R13)
		broadcast := func(p string, v VecPhysical) {
			Load(Param(p), X0)
			VBROADCASTSS(X0, v)
		}
		broadcast("inv", vInv)
		broadcast("m", vMod)
		constant := func(x float32, v VecPhysical) {
			MOVL(U32(math.Float32bits(x)), EAX)
			VPBROADCASTD(EAX, v)
		}
		constant(magic, vMagic)
		constant(1.0/(1<<15), vBias)
		VMOVDQU64(order, vOrder)
		if karatsuba {
			constant(karatsubaBase, vBase)
			LEAQ(Mem{Base: R11, Disp: 3 * amx.BlockBytes}, RAX)
			Store(RAX, Param("block"))
		}
		XORL(EAX, EAX)
		Load(Param("accumulate"), AL)
		NEGL(EAX)
		KMOVW(EAX, keep)
		LEAQ(config, RAX)
		tileOps(amx.Begin())
		XORQ(R10, R10) // rows to reduce
		byteLoop(karatsuba)
		tileOps(amx.End())
		VZEROUPPER()
		RET()
	}
	TEXT("byteTilesAMX", NOSPLIT, "func(c *int16, ldc int, a *int8, aStride int, b *int8, panels, steps int, block *int32, inv, m float32, accumulate bool, aNext, bNext int)")
	Pragma("noescape")
	Doc("byteTilesAMX is byteTilesGeneric of a plain modulus by the tiles of AMX-INT8, with inv next to",
		"1/m and a block of 32 x 32 words to work in. What lies aNext behind A and bNext behind B is",
		"read ahead: two lines a step from there on and four, B's for every panel behind the last.")
	tiles(false)
	TEXT("karatsubaTilesAMX", NOSPLIT, "func(c *int16, ldc int, a *int8, aStride, aPlane int, b *int8, bPlane, panels, steps int, block *int32, inv, m float32, accumulate bool, aNext, bNext int)")
	Pragma("noescape")
	Doc("karatsubaTilesAMX is byteTilesAMX of a Karatsuba modulus, with planes that lie aPlane and bPlane",
		"apart, and two times three blocks.")
	tiles(true)
}

// spaced emits tile instructions and other ones, in parts, evenly between them: at least gap parts
// after each, or instructions that do nothing.
func spaced(ops []amx.Op, parts []func()) {
	done := 0
	for i, o := range ops {
		tileOps([]amx.Op{o})
		to := len(parts) * (i + 1) / len(ops)
		for range gap - (to - done) {
			Instruction(&ir.Instruction{Opcode: "BYTE", Operands: []Op{U8(0x90)}}) // NOP
		}
		for ; done < to; done++ {
			parts[done]()
		}
	}
}

// byteLoop emits the loop over panels of A. While a block is multiplied, the rows of the one before
// are reduced: a plain modulus has one block, which is to be written again at the end of the
// panel; the blocks of a Karatsuba modulus take turns.
func byteLoop(karatsuba bool) {
	planes, rows := 1, plainRows
	if karatsuba {
		planes, rows = 3, karatsubaRows
	}
	var reduction []func()
	for range rows {
		reduction = append(reduction, reduceRow(karatsuba)...)
	}
	drain := func(name string) {
		TESTQ(R10, R10)
		JZ(LabelRef(name + "Drained"))
		Label(name + "Drain")
		for _, part := range reduction {
			part()
		}
		SUBQ(I8(rows), R10)
		JNZ(LabelRef(name + "Drain"))
		Label(name + "Drained")
	}
	Label("panel")
	for plane := range planes {
		tileOps(amx.Clear())
		if plane == 0 {
			MOVQ(R8, RSI)
			Load(Param("b"), RDI)
		} else {
			Load(Param("aPlane"), RDX)
			ADDQ(RDX, RSI)
			Load(Param("bPlane"), RDX)
			ADDQ(RDX, RDI)
		}
		Load(Param("aNext"), R14)
		ADDQ(RSI, R14)
		Load(Param("bNext"), R15)
		ADDQ(RDI, R15)
		Load(Param("steps"), RDX)
		step := fmt.Sprintf("step%d", plane)
		tileOps(amx.First())
		DECQ(RDX)
		JZ(LabelRef(step + "Last"))
		next := func(parts []func()) {
			spaced(amx.Next(), parts)
			ADDQ(I32(amx.StepBytes), RSI)
			ADDQ(I32(amx.StepBytes), RDI)
			for i := range aLines {
				PREFETCHT1(Mem{Base: R14, Disp: 64 * i})
			}
			ADDQ(I32(64*aLines), R14)
			for i := range bLines {
				PREFETCHT1(Mem{Base: R15, Disp: 64 * i})
			}
			ADDQ(I32(64*bLines), R15)
		}
		Label(step)
		TESTQ(R10, R10)
		JZ(LabelRef(step + "Bare"))
		next(reduction)
		SUBQ(I8(rows), R10)
		DECQ(RDX)
		JNZ(LabelRef(step))
		JMP(LabelRef(step + "Last"))
		Label(step + "Bare")
		next(nil)
		DECQ(RDX)
		JNZ(LabelRef(step + "Bare"))
		Label(step + "Last")
		spaced(amx.Last(), nil)
		if plane < planes-1 {
			// Back to the plane's beginning.
			Load(Param("steps"), RDX)
			DECQ(RDX)
			IMUL3Q(I32(amx.StepBytes), RDX, RDX)
			SUBQ(RDX, RSI)
			SUBQ(RDX, RDI)
		} else {
			drain("panel")
		}
		tileOps(amx.Write(plane))
	}
	MOVQ(RBX, RAX)
	MOVQ(R11, R9)
	MOVQ(U64(amx.Block), R10)
	if karatsuba {
		Load(Param("block"), RDX)
		Store(R11, Param("block"))
		MOVQ(RDX, R11)
	}
	MOVQ(RCX, RDX)
	SHLQ(U8(5), RDX)
	ADDQ(RDX, RBX) // 32 rows on
	Load(Param("aStride"), RDX)
	ADDQ(RDX, R8)
	Load(Param("steps"), RDX)
	IMUL3Q(I32(64*bLines), RDX, RDX)
	Load(Param("bNext"), R14)
	ADDQ(RDX, R14)
	Store(R14, Param("bNext"))
	Load(Param("panels"), RDX)
	DECQ(RDX)
	Store(RDX, Param("panels"))
	JNZ(LabelRef("panel"))
	drain("last")
}

// byteResidues writes narrowAMX and splitAMX.
func byteResidues() {
	begin := func(name, signature string, doc ...string) {
		TEXT(name, NOSPLIT, signature)
		Pragma("noescape")
		Doc(doc...)
		Load(Param("dst"), RDI)
		Load(Param("src"), RSI)
		Load(Param("n"), RDX)
	}
	end := func(stride int) {
		ADDQ(I32(2*stride), RSI)
		ADDQ(I32(stride), RDI)
		SUBQ(I32(stride), RDX)
		JNZ(LabelRef("loop"))
		VZEROUPPER()
		RET()
	}
	begin("narrowAMX", "func(dst *int8, src *int16, n int)", "narrowAMX is narrowGeneric for n > 0, a multiple of 64.")
	Label("loop")
	for v := range 2 {
		VMOVDQU16(Mem{Base: RSI, Disp: 64 * v}, zmm[v])
		VPMOVWB(zmm[v], Mem{Base: RDI, Disp: 32 * v})
	}
	end(64)
	begin("splitAMX", "func(dst *int8, stride int, src *int16, n int)", "splitAMX is splitGeneric for n > 0, a multiple of 64.")
	Load(Param("stride"), RCX)
	MOVL(U32(64<<16|64), EAX)
	VPBROADCASTD(EAX, Z31)
	Label("loop")
	for v := range 2 {
		low, high := zmm[2*v], zmm[2*v+1]
		VMOVDQU16(Mem{Base: RSI, Disp: 64 * v}, low)
		VPADDW(Z31, low, high)
		VPSRAW(U8(7), high, high)
		VPSLLW(U8(7), high, zmm[8+v])
		VPSUBW(zmm[8+v], low, low)
		VPMOVWB(low, Mem{Base: RDI, Disp: 32 * v})
		VPMOVWB(high, Mem{Base: RDI, Index: RCX, Scale: 1, Disp: 32 * v})
		VPADDW(low, high, high)
		VPMOVWB(high, Mem{Base: RDI, Index: RCX, Scale: 2, Disp: 32 * v})
	}
	end(64)
}

// byteConversion writes convertBytesAMX. A block of 64 entries, four vectors of words, is converted
// modulo four moduli at a time, and modulo those that are left one by one.
func byteConversion() {
	lanes := GLOBL("packedWords", RODATA|NOPTR)
	for i := range 16 {
		DATA(4*i, U32(i%4*4+i/4))
	}
	TEXT("convertBytesAMX", NOSPLIT, "func(dst *int8, stride int, table *uint32, digits *int16, moduli, pairs, blocks int)")
	Pragma("noescape")
	Doc("convertBytesAMX is convertBytesGeneric for panels of 32 entries, moduli > 0, pairs > 0 and blocks > 0.")
	dst, stride, table := RDI, RCX, RSI
	Load(Param("dst"), dst)
	Load(Param("stride"), stride)
	Load(Param("table"), table)
	moduli, row := RDX, R8 // moduli to do, bytes of a row of the table
	Load(Param("moduli"), moduli)
	Load(Param("pairs"), row)
	ADDQ(I8(tailWords), row)
	SHLQ(U8(2), row)
	constant := func(x uint32, v VecPhysical) {
		MOVL(U32(x), EAX)
		VPBROADCASTD(EAX, v)
	}
	flip, vMagic, order := Z31, Z30, Z29
	constant(0x80008000, flip)
	constant(math.Float32bits(magic), vMagic)
	VMOVDQU32(lanes, order)

	group := func(name string, n int) {
		Label(name)
		CMPQ(moduli, I8(n))
		JLT(LabelRef(name + "Done"))
		// The rows' ends: the words before them are those of pairs.
		ends := []Register{R9, R10, R11, R12}[:n]
		MOVQ(table, RAX)
		for _, e := range ends {
			ADDQ(row, RAX)
			MOVQ(RAX, e)
		}
		digits, to, blocks := R13, RBX, R14
		Load(Param("digits"), digits)
		MOVQ(dst, to)
		Load(Param("blocks"), blocks)
		acc := func(t, v int) VecPhysical { return zmm[4*t+v] }
		Label(name + "Block")
		for t, e := range ends {
			for v := range 4 {
				VPBROADCASTD(Mem{Base: e, Disp: -4 * tailWords}, acc(t, v))
			}
		}
		Load(Param("pairs"), RAX)
		second := R15 // the second panel of 32 entries
		MOVQ(RAX, second)
		SHLQ(U8(7), second)
		NEGQ(RAX)
		Label(name + "Pair")
		for v := range 4 {
			from := Mem{Base: digits, Disp: 64 * (v % 2)}
			if v >= 2 {
				from.Index, from.Scale = second, 1
			}
			VPXORD(from, flip, zmm[16+v])
		}
		for t, e := range ends {
			VPBROADCASTD(Mem{Base: e, Index: RAX, Scale: 4, Disp: -4 * tailWords}, zmm[20+t])
			for v := range 4 {
				VPDPBUSD(zmm[20+t], zmm[16+v], acc(t, v))
			}
		}
		ADDQ(I32(128), digits)
		INCQ(RAX)
		JNZ(LabelRef(name + "Pair"))
		ADDQ(second, digits)
		for t, e := range ends {
			inv, minus := zmm[20], zmm[21]
			VBROADCASTSS(Mem{Base: e, Disp: -8}, inv)
			VPBROADCASTD(Mem{Base: e, Disp: -4}, minus)
			for v := range 4 {
				VCVTDQ2PS(acc(t, v), zmm[16+v])
			}
			for v := range 4 {
				VFMADD213PS(vMagic, inv, zmm[16+v])
			}
			for v := range 4 {
				VPDPWSSD(minus, zmm[16+v], acc(t, v))
			}
			VPACKSSDW(acc(t, 1), acc(t, 0), zmm[16])
			VPACKSSDW(acc(t, 3), acc(t, 2), zmm[17])
			VPACKSSWB(zmm[17], zmm[16], zmm[16])
			VPERMD(zmm[16], order, zmm[16])
			if t == 0 {
				MOVQ(to, RAX)
			} else {
				ADDQ(stride, RAX)
			}
			VMOVDQU32(zmm[16], Mem{Base: RAX})
		}
		ADDQ(I8(64), to)
		DECQ(blocks)
		JNZ(LabelRef(name + "Block"))
		MOVQ(ends[n-1], table)
		MOVQ(stride, RAX)
		IMUL3Q(U8(n), RAX, RAX)
		ADDQ(RAX, dst)
		SUBQ(I8(n), moduli)
		JMP(LabelRef(name))
		Label(name + "Done")
	}
	group("four", 4)
	group("one", 1)
	VZEROUPPER()
	RET()
}

// tailWords are the words of a row of a table after those of pairs, and those of a modulus of a
// KaratsubaConversion.
const tailWords = 3

// karatsubaGroup is the moduli whose sums fill the rows of a block.
const karatsubaGroup = amx.Block / 2

// karatsubaConversion writes convertKaratsubaAMX. Sums of 64 entries, two blocks, modulo a group of
// moduli are made on tiles, then reduced modulus by modulus: while they are, those of the next 64
// entries are made in two other blocks.
func karatsubaConversion() {
	lanes := GLOBL("packedKaratsuba", RODATA|NOPTR)
	for i := range 16 {
		DATA(4*i, U32(i%4*4+i/4))
	}
	config := GLOBL("conversionConfig", RODATA|NOPTR)
	for i, b := range amx.Config() {
		DATA(i, U8(b))
	}
	TEXT("convertKaratsubaAMX", NOSPLIT, "func(dst *int8, stride int, table *int8, tails *uint32, digits *int16, moduli, pairs, steps, blocks int, block *int32, stream bool)")
	Pragma("noescape")
	Doc("convertKaratsubaAMX is convertKaratsubaGeneric for panels of 32 entries, moduli > 0 and blocks > 0",
		"of 64 entries, with four blocks of 32 x 32 words to work in. With stream it writes past the caches.")
	const twoBlocks = 2 * amx.BlockBytes
	// Entries to reduce by 64, digits, results, tails of the group, way to the other blocks.
	left, from, to, tails, swap := AllocLocal(8), AllocLocal(8), AllocLocal(8), AllocLocal(8), AllocLocal(8)
	stride, table, at, tail := RCX, R8, R10, R15
	steps, half := RBX, R14 // of tiles that are left, and of their block
	Load(Param("stride"), stride)
	Load(Param("table"), table)
	Load(Param("tails"), RAX)
	MOVQ(RAX, tails)
	Load(Param("block"), R9)
	MOVQ(U64(amx.RowBytes), R12)
	MOVQ(U64(4*amx.Block), R13)
	constant := func(x uint32, v VecPhysical) {
		MOVL(U32(x), EAX)
		VPBROADCASTD(EAX, v)
	}
	vMagic, order, offset, inv, minus, first := Z31, Z30, Z29, Z28, Z27, Z26
	constant(math.Float32bits(magic), vMagic)
	constant(64<<16|64, offset)
	VMOVDQU32(lanes, order)
	LEAQ(config, RAX)
	tileOps(amx.Begin())

	// Digits become the bytes of plain ones.
	constant(0x80008000, Z0)
	Load(Param("digits"), RAX)
	Load(Param("pairs"), RDX)
	Load(Param("blocks"), R11)
	IMULQ(R11, RDX)
	SHLQ(U8(2), RDX)
	Label("flip")
	VPXORD(Mem{Base: RAX}, Z0, Z1)
	VMOVDQU32(Z1, Mem{Base: RAX})
	ADDQ(I8(64), RAX)
	DECQ(RDX)
	JNZ(LabelRef("flip"))

	// begin prepares the products of the next 64 entries.
	begin := func() {
		tileOps(amx.Clear())
		MOVQ(table, RSI)
		MOVQ(from, RDI)
		Load(Param("steps"), half)
		LEAQ(Mem{Base: half, Index: half, Scale: 1}, steps)
	}
	// multiply emits a step of these products, other instructions between, and counts it.
	multiply := func(name string, parts []func()) {
		spaced(amx.MultiplyDigits(), parts)
		ADDQ(I32(amx.StepBytes), RSI)
		ADDQ(I32(amx.StepBytes), RDI)
		DECQ(half)
		JNZ(LabelRef(name + "Within"))
		// On to the next block.
		tileOps(amx.Write(0))
		ADDQ(I32(amx.BlockBytes), R11)
		tileOps(amx.Clear())
		MOVQ(table, RSI)
		Load(Param("pairs"), RDI)
		SHLQ(U8(7), RDI)
		ADDQ(from, RDI)
		MOVQ(RDI, from)
		Load(Param("steps"), half)
		Label(name + "Within")
		DECQ(steps)
	}

	Label("group")
	Load(Param("dst"), RAX)
	MOVQ(RAX, to)
	Load(Param("digits"), RAX)
	MOVQ(RAX, from)
	Load(Param("blocks"), RAX)
	MOVQ(RAX, left)
	MOVQ(U64(twoBlocks), RAX)
	MOVQ(RAX, swap)
	MOVQ(R9, R11)
	begin()
	Label("fill")
	multiply("fill", nil)
	JNZ(LabelRef("fill"))

	Label("block")
	XORQ(steps, steps)
	CMPQ(left, I8(1))
	JEQ(LabelRef("reduce"))
	MOVQ(R9, R11)
	ADDQ(swap, R11)
	begin()
	Label("reduce")
	MOVQ(to, at)
	MOVQ(tails, tail)
	Load(Param("moduli"), RDX)
	CMPQ(RDX, I8(karatsubaGroup))
	JLE(LabelRef("first"))
	MOVQ(U64(karatsubaGroup), RDX)
	Label("first")
	XORL(EAX, EAX)
	Load(Param("stream"), AL)
	parts := reduceModulus(stride, at, tail, vMagic, order, offset, inv, minus, first)
	count := func() {
		DECQ(RDX)
		JZ(LabelRef("reduced"))
	}
	Label("modulus")
	TESTQ(steps, steps)
	JZ(LabelRef("bare"))
	multiply("modulus", parts)
	count()
	JMP(LabelRef("modulus"))
	Label("bare")
	for _, part := range parts {
		part()
	}
	count()
	JMP(LabelRef("bare"))
	Label("reduced")
	TESTQ(steps, steps)
	JZ(LabelRef("next"))
	Label("drain")
	multiply("drain", nil)
	JNZ(LabelRef("drain"))
	Label("next")
	// R9 is behind the rows of the moduli: back, and to the other blocks.
	Load(Param("moduli"), RDX)
	CMPQ(RDX, I8(karatsubaGroup))
	JLE(LabelRef("back"))
	MOVQ(U64(karatsubaGroup), RDX)
	Label("back")
	SHLQ(U8(8), RDX) // rows of two sums of a modulus
	SUBQ(RDX, R9)
	MOVQ(swap, RAX)
	ADDQ(RAX, R9)
	NEGQ(RAX)
	MOVQ(RAX, swap)
	ADDQ(I8(64), to)
	DECQ(left)
	JNZ(LabelRef("block"))

	Load(Param("block"), R9)
	Load(Param("steps"), RAX)
	IMUL3Q(I32(amx.StepBytes), RAX, RAX)
	ADDQ(RAX, table)
	ADDQ(I32(4*tailWords*karatsubaGroup), tails)
	IMUL3Q(I32(3*karatsubaGroup), stride, RAX)
	Load(Param("dst"), RDX)
	ADDQ(RAX, RDX)
	Store(RDX, Param("dst"))
	Load(Param("moduli"), RDX)
	SUBQ(I8(karatsubaGroup), RDX)
	Store(RDX, Param("moduli"))
	JG(LabelRef("group"))
	tileOps(amx.End())
	SFENCE()
	VZEROUPPER()
	RET()
}

// reduceModulus returns what reduces the sums of 64 entries at R9 modulo the modulus of tail,
// writes the three planes from at on, past the caches unless EAX is 0, and moves R9, at and tail
// on, in parts of a few instructions.
func reduceModulus(stride, at, tail GPPhysical, vMagic, order, offset, inv, minus, first VecPhysical) (parts []func()) {
	add := func(f func()) { parts = append(parts, f) }
	stores := 0 // emitted: parts may be more than once
	low := func(v int) Mem { return Mem{Base: R9, Disp: v/2*amx.BlockBytes + v%2*64} }
	high := func(v int) Mem { return Mem{Base: R9, Disp: v/2*amx.BlockBytes + v%2*64 + 4*amx.Block} }
	x := func(v int) VecPhysical { return zmm[v] }
	q := func(v int) VecPhysical { return zmm[4+v] }
	each := func(f func(v int)) {
		for half := range 2 {
			add(func() {
				f(2 * half)
				f(2*half + 1)
			})
		}
	}
	fold := func() {
		each(func(v int) { VFMADD213PS(vMagic, inv, q(v)) })
		each(func(v int) { VPDPWSSD(minus, q(v), x(v)) })
	}
	add(func() {
		VPBROADCASTD(Mem{Base: tail}, first)
		VBROADCASTSS(Mem{Base: tail, Disp: 4}, inv)
		VPBROADCASTD(Mem{Base: tail, Disp: 8}, minus)
	})
	each(func(v int) { VMOVDQU32(high(v), x(v)) })
	each(func(v int) { VCVTDQ2PS(x(v), q(v)) })
	fold()
	each(func(v int) { VPSLLD(U8(7), x(v), x(v)) })
	each(func(v int) { VPADDD(low(v), first, q(v)) })
	each(func(v int) { VPADDD(q(v), x(v), x(v)) })
	for range 2 {
		each(func(v int) { VCVTDQ2PS(x(v), q(v)) })
		fold()
	}
	// The words of a, then a0 and a1.
	words, a1, a0 := []VecPhysical{Z8, Z9}, []VecPhysical{Z10, Z11}, []VecPhysical{Z12, Z13}
	for i := range words {
		add(func() {
			VPACKSSDW(x(2*i+1), x(2*i), words[i])
			VPADDW(offset, words[i], a1[i])
		})
		add(func() {
			VPSRAW(U8(7), a1[i], a1[i])
			VPSLLW(U8(7), a1[i], a0[i])
			VPSUBW(a0[i], words[i], a0[i])
		})
	}
	store := func(pair []VecPhysical, to Mem) {
		add(func() {
			VPACKSSWB(pair[1], pair[0], Z14)
			VPERMD(Z14, order, Z14)
			label := fmt.Sprintf("store%d", stores)
			stores++
			TESTL(EAX, EAX)
			JZ(LabelRef(label + "Cached"))
			VMOVNTDQ(Z14, to)
			JMP(LabelRef(label))
			Label(label + "Cached")
			VMOVDQU32(Z14, to)
			Label(label)
		})
	}
	store(a0, Mem{Base: at})
	store(a1, Mem{Base: at, Index: stride, Scale: 1})
	add(func() {
		for i := range a0 {
			VPADDW(a0[i], a1[i], a1[i])
		}
	})
	store(a1, Mem{Base: at, Index: stride, Scale: 2})
	add(func() {
		ADDQ(stride, at)
		LEAQ(Mem{Base: at, Index: stride, Scale: 2}, at)
		ADDQ(I32(2*4*amx.Block), R9)
		ADDQ(I8(4*tailWords), tail)
	})
	return parts
}
