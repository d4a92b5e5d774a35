package main

import (
	"fmt"
	"math"
	"slices"

	"github.com/halfulp/halfulp/internal/amx"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// tailWords is the number of words of a modulus in the tails of a ByteConversion, and of a plain
// modulus after the words of its pairs.
const tailWords = 3

// packedWords is the order of vectors of words from four that were packed.
func packedWords() Mem {
	lanes := GLOBL("packedWords", RODATA|NOPTR)
	for i := range 16 {
		DATA(4*i, U32(i%4*4+i/4))
	}
	return lanes
}

// plainConversion writes convertPlainAMX. A block of 64 entries, four vectors of words, is
// converted modulo four moduli at a time, and modulo those that are left one by one.
func plainConversion(lanes Mem) {
	TEXT("convertPlainAMX", NOSPLIT, "func(dst *int8, stride int, table *uint32, digits *int16, moduli, pairs, blocks int, stream bool)")
	Pragma("noescape")
	Doc("convertPlainAMX is convertBytesGeneric of the words of a conversion, for panels of 32 entries,",
		"moduli > 0, pairs > 0 and blocks > 0. With stream it writes past the caches.")
	past, err := Param("stream").Resolve()
	if err != nil {
		panic(err)
	}
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
		// The rows' ends: the words before them belong to pairs.
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
			stored := fmt.Sprintf("%sStored%d", name, t)
			CMPB(past.Addr, Imm(0))
			JEQ(LabelRef(stored + "Cached"))
			VMOVNTDQ(zmm[16], Mem{Base: RAX})
			JMP(LabelRef(stored))
			Label(stored + "Cached")
			VMOVDQU32(zmm[16], Mem{Base: RAX})
			Label(stored)
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
	CMPB(past.Addr, Imm(0))
	JEQ(LabelRef("ordered"))
	SFENCE()
	Label("ordered")
	VZEROUPPER()
	RET()
}

// byteConversion writes convertBytesAMX. Sums of 64 entries, two blocks, modulo a group of moduli
// are computed on tiles, then reduced modulus by modulus. Meanwhile the sums of the next 64 entries
// are computed in two other blocks.
func byteConversion(config, lanes Mem) {
	TEXT("convertBytesAMX", NOSPLIT, "func(dst *int8, stride int, table *int8, tails *uint32, digits *int16, plain, karatsuba, pairs, steps, blocks int, block *int32, stream bool)")
	Pragma("noescape")
	Doc("convertBytesAMX is convertBytesGeneric for panels of 32 entries, and blocks > 0 of 64 entries, of so",
		"many moduli of both kinds, with four blocks of 32 x 32 words to work in. With stream it writes",
		"past the caches.")
	c := &conversion{left: AllocLocal(8), from: AllocLocal(8), to: AllocLocal(8), swap: AllocLocal(8)}
	for _, p := range []struct {
		name string
		to   Register
	}{{"stride", c.stride()}, {"table", c.table()}, {"tails", c.tail()}, {"block", R9}} {
		Load(Param(p.name), p.to)
	}
	MOVQ(U64(amx.RowBytes), R12)
	MOVQ(U64(4*amx.Block), R13)
	constant := func(x uint32, v VecPhysical) {
		MOVL(U32(x), EAX)
		VPBROADCASTD(EAX, v)
	}
	constant(math.Float32bits(magic), vMagic)
	constant(splitFactor<<16|splitFactor, vSplit)
	VMOVDQU32(lanes, vOrder)
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
	XORL(EAX, EAX)
	Load(Param("stream"), AL)

	c.groups("plain", 1, 1)
	c.groups("karatsuba", 2, 3)
	tileOps(amx.End())
	SFENCE()
	VZEROUPPER()
	RET()
}

// The constants of a conversion, and the constants of the modulus that is reduced.
var vSplit, vMinus, vFirst = Z28, Z27, Z25 // and the constants of products

// A conversion is what the groups of both kinds of moduli share: entries to reduce by 64, digits,
// results, the way to the other blocks. EAX is 0 unless results go past the caches.
type conversion struct {
	left, from, to, swap Mem
	count                int // of labels
}

// labels returns a number that no label has.
func (c *conversion) labels() int {
	c.count++
	return c.count
}

func (*conversion) stride() GPPhysical { return RCX } // of planes
func (*conversion) table() GPPhysical  { return R8 }
func (*conversion) tail() GPPhysical   { return R15 } // of the modulus that is reduced
func (*conversion) at() GPPhysical     { return R10 } // its results

// groups emits the conversion modulo the moduli of a kind, of so many rows of the table and planes
// of results each.
func (c *conversion) groups(kind string, rows, planes int) {
	const twoBlocks = 2 * amx.BlockBytes
	group := amx.Block / rows
	// As many moduli are reduced during a step as make the 8 steps of 54 pairs, 1696 bits, hide
	// all.
	aStep := group / 8
	label := func(s string) string { return kind + s }
	// The moduli of the group, steps of the block to multiply, blocks that are left.
	moduli, steps, blocks := RDX, R14, RBX
	begin := func() {
		tileOps(amx.Clear())
		MOVQ(c.table(), RSI)
		MOVQ(c.from, RDI)
		Load(Param("steps"), steps)
		tileOps(amx.Columns.First())
	}
	// multiply emits a step, other instructions between, and says whether there is another.
	multiply := func(name string, parts []func()) {
		multiplyColumns(label(name), steps, parts, func() {
			ADDQ(I32(amx.BlockBytes), R11)
			Load(Param("pairs"), RDI)
			SHLQ(U8(7), RDI)
			ADDQ(RDI, c.from)
			DECQ(blocks)
			JZ(LabelRef(label(name + "Within")))
			begin()
		})
		TESTQ(blocks, blocks)
	}
	members := func() {
		Load(Param(kind), moduli)
		CMPQ(moduli, I8(group))
		few := label(fmt.Sprintf("Few%d", c.labels()))
		JLE(LabelRef(few))
		MOVQ(U64(group), moduli)
		Label(few)
	}

	Load(Param(kind), moduli)
	TESTQ(moduli, moduli)
	JZ(LabelRef(label("Done")))
	Label(label("Group"))
	set := func(param string, local Mem) {
		Load(Param(param), RDI)
		MOVQ(RDI, local)
	}
	set("dst", c.to)
	set("digits", c.from)
	set("blocks", c.left)
	MOVQ(U64(twoBlocks), RDI)
	MOVQ(RDI, c.swap)
	MOVQ(R9, R11)
	MOVQ(U64(2), blocks)
	begin()
	Label(label("Fill"))
	multiply("Fill", nil)
	JNZ(LabelRef(label("Fill")))

	Label(label("Block"))
	CMPQ(c.left, I8(1))
	JEQ(LabelRef(label("Reduce")))
	MOVQ(R9, R11)
	ADDQ(c.swap, R11)
	MOVQ(U64(2), blocks)
	begin()
	Label(label("Reduce"))
	MOVQ(c.to, c.at())
	members()
	parts := c.reduce(label, rows, planes)
	Label(label("Modulus"))
	TESTQ(blocks, blocks)
	JZ(LabelRef(label("Bare")))
	CMPQ(moduli, I8(aStep))
	JL(LabelRef(label("Bare")))
	multiply("Modulus", slices.Repeat(parts, aStep))
	SUBQ(I8(aStep), moduli)
	JZ(LabelRef(label("Reduced")))
	JMP(LabelRef(label("Modulus")))
	Label(label("Bare"))
	for _, part := range parts {
		part()
	}
	DECQ(moduli)
	JNZ(LabelRef(label("Bare")))
	Label(label("Reduced"))
	TESTQ(blocks, blocks)
	JZ(LabelRef(label("Next")))
	Label(label("Drain"))
	multiply("Drain", nil)
	JNZ(LabelRef(label("Drain")))
	Label(label("Next"))
	// R9 is behind the rows of the moduli: back, and to the other blocks. So are the tails.
	members()
	IMUL3Q(I32(4*amx.Block*rows), moduli, RDI)
	SUBQ(RDI, R9)
	MOVQ(c.swap, RDI)
	ADDQ(RDI, R9)
	NEGQ(RDI)
	MOVQ(RDI, c.swap)
	ADDQ(I8(64), c.to)
	DECQ(c.left)
	JZ(LabelRef(label("Through")))
	IMUL3Q(I8(4*tailWords), moduli, RDI)
	SUBQ(RDI, c.tail())
	JMP(LabelRef(label("Block")))

	Label(label("Through"))
	Load(Param("block"), R9)
	Load(Param("steps"), RDI)
	IMUL3Q(I32(amx.StepBytes), RDI, RDI)
	ADDQ(RDI, c.table())
	IMUL3Q(I8(planes), moduli, RDI)
	IMULQ(c.stride(), RDI)
	Load(Param("dst"), RSI)
	ADDQ(RSI, RDI)
	Store(RDI, Param("dst"))
	Load(Param(kind), RDI)
	SUBQ(moduli, RDI)
	Store(RDI, Param(kind))
	JNZ(LabelRef(label("Group")))
	Label(label("Done"))
}

// multiplyColumns emits a step of products by columns, the last of left, whereupon they are
// written, or not. last follows then.
func multiplyColumns(label string, left Register, parts []func(), last func()) {
	CMPQ(left, I8(1))
	JEQ(LabelRef(label + "Last"))
	spaced(amx.Columns.Next(), parts)
	ADDQ(I32(amx.StepBytes), RSI)
	ADDQ(I32(amx.StepBytes), RDI)
	DECQ(left)
	JMP(LabelRef(label + "Within"))
	Label(label + "Last")
	spaced(amx.Columns.Last(), parts)
	tileOps(amx.Write(0))
	last()
	Label(label + "Within")
}

// reduce returns what reduces the sums of 64 entries at R9 modulo the modulus of tail, writes its
// planes from at on, and moves R9, at and tail on, in parts of a few instructions. Parts may be
// emitted more than once.
func (c *conversion) reduce(label func(string) string, rows, planes int) (parts []func()) {
	add := func(f func()) { parts = append(parts, f) }
	sum := func(row, v int) Mem {
		return Mem{Base: R9, Disp: v/2*amx.BlockBytes + v%2*64 + row*4*amx.Block}
	}
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
		each(func(v int) { VCVTDQ2PS(x(v), q(v)) })
		each(func(v int) { VFMADD213PS(vMagic, vInv, q(v)) })
		each(func(v int) { VPDPWSSD(vMinus, q(v), x(v)) })
	}
	store := func(pair []VecPhysical, to Mem) {
		add(func() {
			VPACKSSWB(pair[1], pair[0], Z14)
			VPERMD(Z14, vOrder, Z14)
			name := label(fmt.Sprintf("Store%d", c.labels()))
			TESTL(EAX, EAX)
			JZ(LabelRef(name + "Cached"))
			VMOVNTDQ(Z14, to)
			JMP(LabelRef(name))
			Label(name + "Cached")
			VMOVDQU32(Z14, to)
			Label(name)
		})
	}
	add(func() {
		VPBROADCASTD(Mem{Base: c.tail()}, vFirst)
		VBROADCASTSS(Mem{Base: c.tail(), Disp: 4}, vInv)
		VPBROADCASTD(Mem{Base: c.tail(), Disp: 8}, vMinus)
	})
	words := []VecPhysical{Z8, Z9}
	pack := func() {
		for i := range words {
			add(func() { VPACKSSDW(x(2*i+1), x(2*i), words[i]) })
		}
	}
	if rows == 1 {
		each(func(v int) { VPADDD(sum(0, v), vFirst, x(v)) })
		fold()
		pack()
		store(words, Mem{Base: c.at()})
	} else {
		each(func(v int) { VMOVDQU32(sum(1, v), x(v)) })
		fold()
		each(func(v int) { VPSLLD(U8(7), x(v), x(v)) })
		each(func(v int) { VPADDD(sum(0, v), vFirst, q(v)) })
		each(func(v int) { VPADDD(q(v), x(v), x(v)) })
		fold()
		pack()
		a1, a0 := []VecPhysical{Z10, Z11}, []VecPhysical{Z12, Z13}
		for i := range words {
			add(func() {
				VPMULHRSW(vSplit, words[i], a1[i])
			})
			add(func() {
				VPSLLW(U8(7), a1[i], a0[i])
				VPSUBW(a0[i], words[i], a0[i])
			})
		}
		store(a0, Mem{Base: c.at()})
		store(a1, Mem{Base: c.at(), Index: c.stride(), Scale: 1})
		add(func() {
			for i := range a0 {
				VPADDW(a0[i], a1[i], a1[i])
			}
		})
		store(a1, Mem{Base: c.at(), Index: c.stride(), Scale: 2})
		add(func() { LEAQ(Mem{Base: c.at(), Index: c.stride(), Scale: 2}, c.at()) })
	}
	add(func() {
		ADDQ(c.stride(), c.at())
		ADDQ(I32(rows*4*amx.Block), R9)
		ADDQ(I8(4*tailWords), c.tail())
	})
	return parts
}
