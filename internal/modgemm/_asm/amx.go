package main

import (
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
	// pendingRows is the number of rows of the block before that a step reduces. 16 steps of 64,
	// the most of a call, hide all 32 rows under the products.
	pendingRows = 2
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
	vInv, vMod, vMagic, vBias, vFactor, vOrder = Z31, Z30, Z29, Z28, Z27, Z26
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

// reduceRow reduces a row of the block at R9 into the row of C at RAX, and moves both on.
func reduceRow(plain bool) {
	x, q, old := []VecPhysical{Z0, Z1}, []VecPhysical{Z2, Z3}, []VecPhysical{Z4, Z5}
	for v := range x {
		VCVTDQ2PS(Mem{Base: R9, Disp: 64 * v}, x[v])
	}
	for v := range x {
		coarseByteFold(x[v], q[v])
	}
	if !plain {
		for v := range x {
			VPMOVSXWD_Z(Mem{Base: RAX, Disp: 32 * v}, keep, old[v])
			VCVTDQ2PS(old[v], old[v])
			VFMADD231PS(x[v], vFactor, old[v])
		}
		x = old
		for v := range x {
			coarseByteFold(x[v], q[v])
		}
	}
	for v := range x {
		exactByteFold(x[v], q[v])
	}
	for v := range x {
		VCVTPS2DQ(x[v], x[v])
	}
	VPACKSSDW(x[1], x[0], x[0])
	VPERMQ(x[0], vOrder, x[0])
	VMOVDQU32(x[0], Mem{Base: RAX})
	ADDQ(RCX, RAX)
	ADDQ(I32(4*amx.Block), R9)
}

// byteTiles writes byteTilesAMX.
func byteTiles() {
	config := GLOBL("tileConfig", RODATA|NOPTR)
	for i, b := range amx.Config() {
		DATA(i, U8(b))
	}
	order := GLOBL("packedOrder", RODATA|NOPTR)
	for i, q := range []uint64{0, 2, 4, 6, 1, 3, 5, 7} {
		DATA(8*i, U64(q))
	}
	TEXT("byteTilesAMX", NOSPLIT, "func(c *int16, ldc int, a *int8, aStride int, b *int8, panels, steps int, block *int32, inv, m, factor float32, plain, accumulate bool)")
	Pragma("noescape")
	Doc("byteTilesAMX is byteTilesGeneric by the tiles of AMX-INT8, with inv next to 1/m and a block of",
		"32 x 32 words to work in. plain: factor is 1 and accumulate false.")
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
	broadcast("factor", vFactor)
	constant := func(x float32, v VecPhysical) {
		MOVL(U32(math.Float32bits(x)), EAX)
		VPBROADCASTD(EAX, v)
	}
	constant(magic, vMagic)
	constant(1.0/(1<<15), vBias)
	VMOVDQU64(order, vOrder)
	XORL(EAX, EAX)
	Load(Param("accumulate"), AL)
	NEGL(EAX)
	KMOVW(EAX, keep)
	LEAQ(config, RAX)
	tileOps(amx.Begin())
	XORQ(R10, R10) // rows to reduce
	Load(Param("plain"), AL)
	TESTB(AL, AL)
	JZ(LabelRef("general"))
	byteLoop("plain", true)
	JMP(LabelRef("done"))
	Label("general")
	byteLoop("general", false)
	Label("done")
	tileOps(amx.End())
	VZEROUPPER()
	RET()
}

// byteLoop emits the loop over panels of A. While a block is multiplied, the rows of the one before
// are reduced.
func byteLoop(label string, plain bool) {
	Label(label + "Panel")
	tileOps(amx.Clear())
	MOVQ(R8, RSI)
	Load(Param("b"), RDI)
	Load(Param("steps"), RDX)
	Label(label + "Step")
	tileOps(amx.Multiply())
	ADDQ(I32(amx.StepBytes), RSI)
	ADDQ(I32(amx.StepBytes), RDI)
	TESTQ(R10, R10)
	JZ(LabelRef(label + "Reduced"))
	for range pendingRows {
		reduceRow(plain)
	}
	SUBQ(I8(pendingRows), R10)
	Label(label + "Reduced")
	DECQ(RDX)
	JNZ(LabelRef(label + "Step"))
	drain := func(name string) {
		TESTQ(R10, R10)
		JZ(LabelRef(name + "Drained"))
		Label(name + "Drain")
		for range pendingRows {
			reduceRow(plain)
		}
		SUBQ(I8(pendingRows), R10)
		JNZ(LabelRef(name + "Drain"))
		Label(name + "Drained")
	}
	drain(label)
	tileOps(amx.Write())
	MOVQ(RBX, RAX)
	MOVQ(R11, R9)
	MOVQ(U64(amx.Block), R10)
	MOVQ(RCX, RDX)
	SHLQ(U8(5), RDX)
	ADDQ(RDX, RBX) // 32 rows on
	Load(Param("aStride"), RDX)
	ADDQ(RDX, R8)
	Load(Param("panels"), RDX)
	DECQ(RDX)
	Store(RDX, Param("panels"))
	JNZ(LabelRef(label + "Panel"))
	drain(label + "Last")
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

// tailWords are the words of a row of a table after those of pairs.
const tailWords = 3
