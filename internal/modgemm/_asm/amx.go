package main

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"github.com/halfulp/halfulp/internal/amx"
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// The functions for tiles name all registers, because avo sees tile instructions as bytes and
// cannot choose registers for them. A tile instruction changes no general register.
const (
	// plainRows and karatsubaRows are the rows of the block before that a step but the last
	// reduces: 9 steps of 64 hide all 32 rows under the products, and 17 of the last plane.
	plainRows, karatsubaRows = 4, 2
	// aLines and bLines are the lines of A and of B that a step reads ahead.
	aLines, bLines = 2, 4
	// prefetchRows is how many rows of C ahead one is fetched.
	prefetchRows = 8
	// gap is how many parts, or instructions at least, come between tile instructions. On a core
	// whose other hardware thread is busy, steps with operands in the first level cache ran at 527
	// 10^9 multiply-adds a second without any, 832 with 2 between, 885 with tiles cleared before
	// loads, too, and 1004 with 12; on a core of its own at 2343 in all cases, up to 16 between.
	// What slows down tile instructions that follow each other there is not known. In a later run,
	// with 6 between, medians on several cores: 1107 with each load right behind its clear, 1270 as
	// they are now; as much with 32 KiB as with 4 of operands, 890 with 512 KiB. With 2 loads in
	// place of 4 for 4 products 1976, with 4 into tiles that no product reads 1858: products that
	// wait for loads cannot be overlapped with them on such a core.
	gap = 6
	// karatsubaBase is the base of the two bytes of a residue modulo a Karatsuba modulus. The upper
	// byte is that residue times splitFactor 2^-15, rounded.
	karatsubaBase = 128
	splitFactor   = 257
	// magic is 1.5 2^23: added to and taken off a float32 below 2^22 it rounds that to an integer.
	magic = 1.5 * (1 << 23)
)

// tileOps emits instructions as data, after what they are.
func tileOps(ops []amx.Op) {
	for _, o := range ops {
		Comment(o.String())
		emitBytes(o.Encode())
	}
}

func emitBytes(code []byte) {
	for _, d := range amx.Directives(code) {
		Instruction(&ir.Instruction{Opcode: d.Name, Operands: []Op{Imm(d.Value)}})
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

// reduceRow reduces a row of the block at R9, or of the three of a Karatsuba modulus of which that
// is the last, into the row of C at RAX, and moves both on. It returns what emits that, in parts of
// a few instructions.
func reduceRow(karatsuba bool) (parts []func()) {
	add := func(f func()) { parts = append(parts, f) }
	x, y, q := []VecPhysical{Z0, Z1}, []VecPhysical{Z2, Z3}, []VecPhysical{Z4, Z5}
	last := 0 // the block at R9
	if karatsuba {
		last = 2
	}
	from := func(block, v int) Mem { return Mem{Base: R9, Disp: (block-last)*amx.BlockBytes + 64*v} }
	each := func(f func(v int)) {
		for v := range x {
			add(func() { f(v) })
		}
	}
	add(func() { PREFETCHT0(Mem{Base: RAX, Index: RCX, Scale: prefetchRows}) })
	each(func(v int) {
		VPMOVSXWD_Z(Mem{Base: RAX, Disp: 32 * v}, keep, x[v])
		VPADDD(from(0, v), x[v], x[v])
		if !karatsuba {
			VCVTDQ2PS(x[v], x[v])
		}
	})
	if karatsuba {
		z := []VecPhysical{Z6, Z7} // a0 b1 + a1 b0
		each(func(v int) {
			VMOVDQU32(from(1, v), y[v])
			VMOVDQU32(from(2, v), z[v])
		})
		each(func(v int) {
			VPSUBD(y[v], z[v], z[v])
			VPSUBD(from(0, v), z[v], z[v])
		})
		fold := func(x []VecPhysical) {
			each(func(v int) { VCVTDQ2PS(x[v], q[v]) })
			each(func(v int) { VFMADD213PS(vMagic, vInv, q[v]) })
			each(func(v int) { VPDPWSSD(vMod, q[v], x[v]) })
		}
		fold(y)
		each(func(v int) { VPDPWSSD(vBase, y[v], z[v]) })
		fold(z)
		each(func(v int) { VPDPWSSD(vBase, z[v], x[v]) })
		fold(x)
		fold(x)
	} else {
		each(func(v int) { coarseByteFold(x[v], q[v]) })
		each(func(v int) { exactByteFold(x[v], q[v]) })
		each(func(v int) { VCVTPS2DQ(x[v], x[v]) })
	}
	add(func() { VPACKSSDW(x[1], x[0], x[0]) })
	add(func() {
		VPERMQ(x[0], vOrder, x[0])
		VMOVDQU32(x[0], Mem{Base: RAX})
		ADDQ(RCX, RAX)
		ADDQ(I32(4*amx.Block), R9)
	})
	return parts
}

// tileConfig is the operand of LDTILECFG.
func tileConfig() Mem {
	config := GLOBL("tileConfig", RODATA|NOPTR)
	bytes := amx.Config()
	for i := 0; i < len(bytes); i += 8 {
		DATA(i, U64(binary.LittleEndian.Uint64(bytes[i:])))
	}
	return config
}

// byteTiles writes byteTilesAMX and karatsubaTilesAMX.
func byteTiles(config Mem) {
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
		constant := func(x float32, v VecPhysical) {
			MOVL(U32(math.Float32bits(x)), EAX)
			VPBROADCASTD(EAX, v)
		}
		constant(magic, vMagic)
		constant(1.0/(1<<15), vBias)
		VMOVDQU64(order, vOrder)
		if karatsuba {
			Load(Param("minus"), EAX)
			VPBROADCASTD(EAX, vMod)
			MOVL(U32(karatsubaBase), EAX)
			VPBROADCASTD(EAX, vBase)
		} else {
			broadcast("m", vMod)
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
	const next = "accumulate bool, aNext, bNext int)"
	TEXT("byteTilesAMX", NOSPLIT, "func(c *int16, ldc int, a *int8, aStride int, b *int8, panels, steps int, block *int32, inv, m float32, "+next)
	Pragma("noescape")
	Doc("byteTilesAMX is byteTilesGeneric of a plain modulus by the tiles of AMX-INT8, with inv next to",
		"1/m and a block of 32 x 32 words to work in. What lies aNext behind A and bNext behind B is",
		"read ahead: two lines a step from there on and four, B's for every panel behind the last.")
	tiles(false)
	TEXT("karatsubaTilesAMX", NOSPLIT, "func(c *int16, ldc int, a *int8, aStride, aPlane int, b *int8, bPlane, panels, steps int, block *int32, inv float32, minus uint32, "+next)
	Pragma("noescape")
	Doc("karatsubaTilesAMX is byteTilesAMX of a Karatsuba modulus m, with planes that lie aPlane and bPlane",
		"apart, three blocks for every panel, and minus, -m as an int16.")
	tiles(true)
}

// spaced emits tile instructions and other ones, in parts, evenly between them: at least gap parts
// after each, or instructions that do nothing.
func spaced(ops []amx.Op, parts []func()) {
	done := 0
	for i, o := range ops {
		tileOps([]amx.Op{o})
		to := len(parts) * (i + 1) / len(ops)
		const nop = "\x90"
		emitBytes([]byte(strings.Repeat(nop, max(0, gap-(to-done)))))
		for ; done < to; done++ {
			parts[done]()
		}
	}
}

// byteLoop emits the loops over panels of A. While a block is multiplied, the rows of the block
// before are reduced. A plain modulus has one block, which is written again at the end of the
// panel. For a Karatsuba modulus the loops compute the sums of one plane for all panels before the
// next plane, so that a plane of B stays in the first level cache. The sums are reduced along with
// the last plane.
func byteLoop(karatsuba bool) {
	if !karatsuba {
		bytePass("panel", plainRows, false)
		return
	}
	const planes = 3
	for plane := range planes {
		name := fmt.Sprintf("plane%d", plane)
		if plane < planes-1 {
			bytePass(name, 0, true)
		} else {
			bytePass(name, karatsubaRows, true)
			break
		}
		// Back to the first panel, in the next plane.
		Load(Param("a"), R8)
		Load(Param("aPlane"), RDX)
		ADDQ(RDX, R8)
		Store(R8, Param("a"))
		Load(Param("b"), RDI)
		Load(Param("bPlane"), RDX)
		ADDQ(RDX, RDI)
		Store(RDI, Param("b"))
		Load(Param("block"), R11)
		ADDQ(I32(amx.BlockBytes), R11)
		Store(R11, Param("block"))
	}
}

// bytePass emits the loop over the panels of a plane. Rows of the block before are reduced in each
// step, or none in this pass.
func bytePass(name string, rows int, karatsuba bool) {
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
	label := func(s string) string { return name + s }
	left, ahead := AllocLocal(8), AllocLocal(8)
	Load(Param("panels"), RDX)
	MOVQ(RDX, left)
	Load(Param("bNext"), RDX)
	MOVQ(RDX, ahead)
	tileOps(amx.Clear())
	MOVQ(R8, RSI)
	Load(Param("b"), RDI)
	tileOps(amx.Packed.First())
	Label(name)
	Load(Param("aNext"), R14)
	ADDQ(RSI, R14)
	MOVQ(ahead, R15)
	ADDQ(RDI, R15)
	Load(Param("steps"), RDX)
	DECQ(RDX)
	JZ(LabelRef(label("Last")))
	next := func(parts []func()) {
		spaced(amx.Packed.Next(), parts)
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
	if rows > 0 {
		Label(label("Step"))
		TESTQ(R10, R10)
		JZ(LabelRef(label("Bare")))
		next(reduction)
		SUBQ(I8(rows), R10)
		DECQ(RDX)
		JNZ(LabelRef(label("Step")))
		JMP(LabelRef(label("Last")))
	}
	Label(label("Bare"))
	next(nil)
	DECQ(RDX)
	JNZ(LabelRef(label("Bare")))
	// Along with the last products the first step of the next panel is loaded, or the first step
	// of this panel again if it is the last.
	Label(label("Last"))
	MOVQ(R8, RSI)
	Load(Param("b"), RDI)
	CMPQ(left, I8(1))
	JEQ(LabelRef(label("Once")))
	Load(Param("aStride"), RDX)
	ADDQ(RDX, RSI)
	Label(label("Once"))
	SUBQ(I32(amx.StepBytes), RSI)
	SUBQ(I32(amx.StepBytes), RDI)
	spaced(amx.Packed.Next(), nil)
	if rows > 0 {
		drain(label(""))
	}
	tileOps(amx.Write(0))
	tileOps(amx.Clear())
	ADDQ(I32(amx.StepBytes), RSI)
	ADDQ(I32(amx.StepBytes), RDI)
	if rows > 0 {
		MOVQ(RBX, RAX)
		MOVQ(R11, R9)
		MOVQ(U64(amx.Block), R10)
		MOVQ(RCX, RDX)
		SHLQ(U8(5), RDX)
		ADDQ(RDX, RBX) // 32 rows on
	}
	if karatsuba {
		ADDQ(I32(3*amx.BlockBytes), R11)
	}
	Load(Param("aStride"), RDX)
	ADDQ(RDX, R8)
	Load(Param("steps"), RDX)
	IMUL3Q(I32(64*bLines), RDX, RDX)
	ADDQ(RDX, ahead)
	DECQ(left)
	JNZ(LabelRef(name))
	if rows > 0 {
		drain(label("Rest"))
	}
}

// byteResidues writes narrowAMX and joinAMX.
func byteResidues() {
	begin := func(name, signature string, doc ...string) {
		TEXT(name, NOSPLIT, signature)
		Pragma("noescape")
		Doc(doc...)
		Load(Param("dst"), RDI)
		Load(Param("src"), RSI)
		Load(Param("n"), RDX)
	}
	end := func(from, to int) {
		ADDQ(I32(from), RSI)
		ADDQ(I32(to), RDI)
		SUBQ(I8(64), RDX)
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
	end(128, 64)
	begin("joinAMX", "func(dst *int16, src *int8, stride, n int)", "joinAMX is joinGeneric for n > 0, a multiple of 64.")
	Load(Param("stride"), RCX)
	Label("loop")
	for v := range 2 {
		VPMOVSXBW(Mem{Base: RSI, Disp: 32 * v}, zmm[v])
		VPMOVSXBW(Mem{Base: RSI, Index: RCX, Scale: 1, Disp: 32 * v}, zmm[2+v])
		VPSLLW(U8(7), zmm[2+v], zmm[2+v])
		VPADDW(zmm[2+v], zmm[v], zmm[v])
		VMOVDQU16(zmm[v], Mem{Base: RDI, Disp: 64 * v})
	}
	end(64, 128)
}
