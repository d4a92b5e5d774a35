package main

import (
	"fmt"

	"github.com/halfulp/halfulp/internal/amx"
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// Offsets of the fields of tileJob.
const (
	tileA = 8 * iota
	tileB
	tileBUnit
	tileC
	tileCUnit
	tileSig
	tileTop
	tileRowSig
	tileColSig
	tileUnitSig
	tileExp
	tileCls
	tileStep
	tileUnitExp
	tileRef
	tileUnitRef
	tileScale
	tileSign
	tileUnitScale
	tileQuads
	tileUnits
	tileStage
	tileMasks
	tileColumns
	tileReady
	tileSoonPitch
	tileSoonBytes
	tileAfter
	tileNumber
	tilePitch
	tileBand
	tileLines
)

// halfDigits is half a digit in every byte of a word.
const halfDigits = 0x8080808080808080

// tileOp emits an instruction as data, after what it is.
func tileOp(o amx.Op) {
	Comment(o.String())
	for _, d := range amx.Directives(o.Encode()) {
		Instruction(&ir.Instruction{Opcode: d.Name, Operands: []Op{Imm(d.Value)}})
	}
}

// A tileFunc is a function that names all its registers: those of tile instructions are bytes to
// avo.
type tileFunc struct {
	two   bool // two blocks, not as many as the job says
	names int
	// What moves on.
	sig, exp, cls, ref, scale, sign, b, c, units Mem
	sigQuad, expQuad, clsQuad                    Mem
	left                                         Mem // quads
}

// job holds the tileJob.
var job = R15

func field(off int) Mem { return Mem{Base: job, Disp: off} }

// label returns a new label.
func (t *tileFunc) label(s string) string {
	t.names++
	return fmt.Sprintf("%s%d", s, t.names)
}

// The vectors that hold constants.
var (
	vHalf, vOne, vTwo, vClass, vNear, vAll, vBias = Z24, Z26, Z27, Z28, Z29, Z30, Z31
	// flagged has a bit for a number whose digits are not right yet.
	flagged = K7
)

func tileRows(two bool, config Mem) {
	t := &tileFunc{two: two}
	name, of := "tileRowsAMX", "as many blocks as the job says, 7 or more, and units of one quad"
	if two {
		name, of = "tileRows2AMX", "two blocks"
	}
	TEXT(name, NOSPLIT, "func(job *byte) (left int)")
	Doc(fmt.Sprintf("%s is the loop of tileRows for %s.", name, of),
		"It stops at a unit of which numbers have no digits yet, with the others converted, and",
		"returns how many are left.")
	Pragma("noescape")
	for _, m := range []*Mem{&t.sig, &t.exp, &t.cls, &t.ref, &t.scale, &t.sign, &t.b, &t.c, &t.units, &t.sigQuad, &t.expQuad, &t.clsQuad, &t.left} {
		*m = AllocLocal(8)
	}
	Load(Param("job"), job)
	for _, v := range []struct {
		off int
		to  Mem
	}{{tileSig, t.sig}, {tileExp, t.exp}, {tileCls, t.cls}, {tileRef, t.ref}, {tileScale, t.scale}, {tileSign, t.sign}, {tileB, t.b}, {tileC, t.c}, {tileUnits, t.units}} {
		MOVQ(field(v.off), RAX)
		MOVQ(RAX, v.to)
	}
	MOVQ(field(tileTop), RAX)
	ADDQ(RAX, t.sig)
	for _, c := range []struct {
		x uint32
		v VecPhysical
	}{{1, vOne}, {2, vTwo}, {6, vClass}, {63, vNear}} {
		MOVL(U32(c.x), EAX)
		VPBROADCASTQ(RAX, c.v)
	}
	VPTERNLOGQ(U8(255), vAll, vAll, vAll)
	LEAQ(config, RAX)
	for _, o := range amx.Begin() {
		tileOp(o)
	}
	CMPQ(field(tileReady), Imm(0))
	JNE(LabelRef("multiply"))
	Label("unit")
	t.convert()
	KORTESTB(flagged, flagged)
	JNE(LabelRef("done"))
	Label("multiply")
	t.multiply()
	for _, v := range []struct {
		off, scale int
		to         Mem
	}{{tileUnitSig, 1, t.sig}, {tileUnitExp, 4, t.exp}, {tileUnitExp, 1, t.cls}, {tileUnitRef, 8, t.ref}, {tileUnitScale, 8, t.scale}, {tileUnitScale, 1, t.sign}, {tileBUnit, 1, t.b}, {tileCUnit, 1, t.c}} {
		MOVQ(field(v.off), RAX)
		if v.scale > 1 {
			IMUL3Q(Imm(uint64(v.scale)), RAX, RAX)
		}
		ADDQ(RAX, v.to)
	}
	DECQ(t.units)
	JNE(LabelRef("unit"))
	Label("done")
	for _, o := range amx.End() {
		tileOp(o)
	}
	MOVQ(t.units, RAX)
	Store(RAX, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// convert makes the digits of the numbers of a unit, four columns after the other.
func (t *tileFunc) convert() {
	for _, m := range [][2]Mem{{t.sig, t.sigQuad}, {t.exp, t.expQuad}, {t.cls, t.clsQuad}} {
		MOVQ(m[0], RAX)
		MOVQ(RAX, m[1])
	}
	MOVQ(field(tileQuads), RAX)
	MOVQ(RAX, t.left)
	MOVQ(t.scale, R12)
	MOVQ(t.sign, R14)
	MOVQ(field(tileStage), RAX)
	MOVQ(field(tileA), RDI)
	KXORB(flagged, flagged, flagged)
	Label("quad")
	CMPQ(field(tileColumns), Imm(0))
	JEQ(LabelRef("byRows"))
	t.prepareColumns()
	t.digits(true)
	JMP(LabelRef("next"))
	Label("byRows")
	t.prepareRows()
	t.digits(false)
	Label("next")
	// RAX is back at the stage of the quad, RDI at its digits.
	ADDQ(U32(1024), RAX)
	ADDQ(field(tilePitch), RDI)
	ADDQ(Imm(32), R12)
	ADDQ(Imm(4), R14)
	MOVQ(field(tileColSig), RBX)
	SHLQ(Imm(2), RBX)
	ADDQ(RBX, t.sigQuad)
	MOVQ(U32(4), RBX)
	CMPQ(field(tileColumns), Imm(0))
	JEQ(LabelRef("lines"))
	MOVQ(field(tileStep), RBX)
	SHLQ(Imm(2), RBX)
	Label("lines")
	ADDQ(RBX, t.clsQuad)
	SHLQ(Imm(2), RBX)
	ADDQ(RBX, t.expQuad)
	DECQ(t.left)
	JNE(LabelRef("quad"))
}

// prepare stores the shifts and the signs of the numbers of a vector, eight or four, and notes
// which get no digits.
func prepare(v func(VecPhysical) VecPhysical, exp, cls, at Mem, ref, scale, sign func(VecPhysical)) {
	d, e, c, s := v(Z0), v(Z1), v(Z2), v(Z3)
	ref(d)
	VPMOVSXDQ(exp, e)
	VPSUBQ(e, d, d)
	scale(d)
	VPMOVZXBQ(cls, c)
	sign(s)
	VPTESTMQ(v(vTwo), s, K1) // not 0
	VPXORQ(c, s, s)
	VPTESTNMQ(v(vOne), s, K2)
	VPANDQ(v(vClass), c, c)
	VPCMPEQQ(v(vTwo), c, K3)
	VPCMPUQ(Imm(1), v(vNear), d, K3, K3) // d < 63
	KANDNB(K1, K3, K3)
	KORB(K3, flagged, flagged)
	VPSUBQ(v(vAll), d, d)
	VMOVDQU64(d, at)
	VPMOVM2Q(K2, s)
	VMOVDQU64(s, at.Offset(512))
}

// prepareColumns prepares four columns of 16 numbers in line.
func (t *tileFunc) prepareColumns() {
	MOVQ(t.expQuad, RSI)
	MOVQ(t.clsQuad, RBX)
	MOVQ(t.ref, RCX)
	MOVQ(field(tileStep), R8)
	MOVQ(R8, R9)
	SHLQ(Imm(2), R9)
	whole := func(v VecPhysical) VecPhysical { return v }
	for k := range 4 {
		MOVBQZX(Mem{Base: R14, Disp: k}, RDX)
		VPBROADCASTQ(RDX, Z4)
		for h := range 2 {
			prepare(whole, Mem{Base: RSI, Disp: 32 * h}, Mem{Base: RBX, Disp: 8 * h}, Mem{Base: RAX, Disp: 128*k + 64*h},
				func(d VecPhysical) { VMOVDQU64(Mem{Base: RCX, Disp: 64 * h}, d) },
				func(d VecPhysical) { VPSUBQ_BCST(Mem{Base: R12, Disp: 8 * k}, d, d) },
				func(s VecPhysical) { VMOVDQA64(Z4, s) })
		}
		PREFETCHT0(Mem{Base: RSI, Disp: 128})
		PREFETCHT0(Mem{Base: RBX, Disp: 64})
		ADDQ(R9, RSI)
		ADDQ(R8, RBX)
	}
}

// prepareRows prepares 16 rows of four numbers in line.
func (t *tileFunc) prepareRows() {
	MOVQ(t.expQuad, RSI)
	MOVQ(t.clsQuad, RBX)
	MOVQ(t.ref, RCX)
	MOVQ(field(tileStep), R8)
	MOVQ(R8, R9)
	SHLQ(Imm(2), R9)
	MOVQ(U32(amx.Rows), RDX)
	half := func(v VecPhysical) VecPhysical { return v.AsY().(VecPhysical) }
	VMOVDQU64(Mem{Base: R12}, Y5)
	VPMOVZXBQ(Mem{Base: R14}, Y4)
	loop := t.label("prepare")
	Label(loop)
	prepare(half, Mem{Base: RSI}, Mem{Base: RBX}, Mem{Base: RAX},
		func(d VecPhysical) { VPBROADCASTQ(Mem{Base: RCX}, d) },
		func(d VecPhysical) { VPSUBQ(Y5, d, d) },
		func(s VecPhysical) { VMOVDQA64(Y4, s) })
	PREFETCHT0(Mem{Base: RSI, Disp: 128})
	PREFETCHT0(Mem{Base: RBX, Disp: 64})
	ADDQ(R9, RSI)
	ADDQ(R8, RBX)
	ADDQ(Imm(8), RCX)
	ADDQ(Imm(32), RAX)
	DECQ(RDX)
	JNE(LabelRef(loop))
	SUBQ(U32(32*amx.Rows), RAX)
}

// digits stores the digits of a quad, whose shifts lie column by column or row by row.
func (t *tileFunc) digits(columns bool) {
	MOVQ(field(tileColSig), R9)
	MOVQ(field(tileRowSig), R13)
	column, row := 8, 32
	if columns {
		column, row = 128, 8
	}
	// The numbers of a row, and their shifts.
	number := func(k, disp int) Mem {
		m := Mem{Base: R8, Disp: disp}
		switch k {
		case 1, 2:
			m.Index, m.Scale = R9, uint8(k)
		case 3:
			m.Index, m.Scale = R10, 1
		}
		return m
	}
	shift := func(k int) Mem { return Mem{Base: RAX, Disp: column * k} }
	sign := func(k int) Mem { return shift(k).Offset(512) }
	LEAQ(Mem{Base: R9, Index: R9, Scale: 2}, R10)
	rows := func(name string, body func()) {
		loop := t.label(name)
		MOVQ(U32(amx.Rows), R11)
		Label(loop)
		body()
		ADDQ(R13, R8)
		ADDQ(Imm(uint64(row)), RAX)
		ADDQ(Imm(amx.RowBytes), RDI)
		DECQ(R11)
		JNE(LabelRef(loop))
		SUBQ(U32(uint32(row*amx.Rows)), RAX)
		SUBQ(U32(amx.Bytes), RDI)
	}
	MOVQ(field(tileMasks), RSI)
	// halves has in all bytes but the highest one of the vector the bit that makes them signed.
	halves := func(v VecPhysical, lanes int) {
		MOVQ(U64(halfDigits), RBX)
		VPBROADCASTQ(RBX, vHalf)
		MOVQ(U32(1<<(lanes-1)), RCX)
		KMOVB(RCX.As32(), K3)
		VPSRLQ(Imm(8), vHalf, v)
		VPBLENDMQ(v, vHalf, K3, v)
	}
	if t.two {
		KMOVB(Mem{Base: RSI}, K1)
		KMOVB(Mem{Base: RSI, Disp: 1}, K2)
		halves(vBias, 4)
		MOVQ(t.sigQuad, R8)
		SUBQ(Imm(32), R8)
		rows("half", func() {
			x, y := []VecPhysical{Y0, Y1, Y2, Y3}, []VecPhysical{Y4, Y5, Y6, Y7}
			for k := range x {
				VMOVDQU64_Z(number(k, 0), K1, x[k])
				VMOVDQU64_Z(number(k, 8), K2, y[k])
				VPSHRDVQ_BCST(shift(k), y[k], x[k])
				VPTERNLOGQ_BCST(Imm(0x96), sign(k), Y31, x[k])
			}
			VINSERTI64X4(Imm(1), Y1, Z0, Z0)
			VINSERTI64X4(Imm(1), Y3, Z2, Z2)
			VSHUFI64X2(Imm(0xdd), Z2, Z0, Z1)
			VSHUFI64X2(Imm(0x88), Z2, Z0, Z3)
			VMOVDQU64(Z1, Mem{Base: RDI})
			VMOVDQU64(Z3, Mem{Base: RDI, Disp: amx.Bytes})
		})
		return
	}
	halves(vBias, 8)
	MOVQ(t.sigQuad, RDX)
	loop := t.label("group")
	MOVQ(field(tilePitch), RBX) // of groups of four blocks
	SHRQ(Imm(12), RBX)
	Label(loop)
	SUBQ(Imm(64), RDX)
	MOVQ(RDX, R8)
	KMOVB(Mem{Base: RSI}, K1)
	KMOVB(Mem{Base: RSI, Disp: 1}, K2)
	// Words of all eight lanes are there, or but for the highest above the first ones, or are not.
	cases := []struct{ below, above bool }{{false, false}, {false, true}, {true, true}}
	end := t.label("stored")
	MOVBQZX(Mem{Base: RSI, Disp: 2}, RCX)
	labels := []string{t.label("all"), t.label("first"), t.label("some")}
	CMPQ(RCX, Imm(1))
	JEQ(LabelRef(labels[1]))
	JHI(LabelRef(labels[2]))
	for i, c := range cases {
		Label(labels[i])
		rows("rows", func() {
			x, y := []VecPhysical{Z0, Z1, Z2, Z3}, []VecPhysical{Z4, Z5, Z6, Z7}
			load := func(m Mem, masked bool, k, v Op) {
				if masked {
					VMOVDQU64_Z(m, k, v)
				} else {
					VMOVDQU64(m, v)
				}
			}
			for k := range x {
				load(number(k, 0), c.below, K1, x[k])
				load(number(k, 8), c.above, K2, y[k])
				VPSHRDVQ_BCST(shift(k), y[k], x[k])
				VPTERNLOGQ_BCST(Imm(0x96), sign(k), vBias, x[k])
			}
			for h, order := range []uint64{0xee, 0x44} {
				VSHUFI64X2(Imm(order), Z1, Z0, Z8)
				VSHUFI64X2(Imm(order), Z3, Z2, Z9)
				VSHUFI64X2(Imm(0xdd), Z9, Z8, Z10)
				VSHUFI64X2(Imm(0x88), Z9, Z8, Z11)
				VMOVDQU64(Z10, Mem{Base: RDI, Disp: 2 * h * amx.Bytes})
				VMOVDQU64(Z11, Mem{Base: RDI, Disp: (2*h + 1) * amx.Bytes})
			}
		})
		if i+1 < len(cases) {
			JMP(LabelRef(end))
		}
	}
	Label(end)
	VMOVDQA64(vHalf, vBias)
	ADDQ(U32(4*amx.Bytes), RDI)
	ADDQ(Imm(4), RSI)
	DECQ(RBX)
	JNE(LabelRef(loop))
	SUBQ(field(tilePitch), RDI)
}

// multiply adds the products of a unit, and fetches the numbers of the next one: for a product of
// tiles so many lines of 64 bytes that at the end all have been fetched.
func (t *tileFunc) multiply() {
	MOVQ(U32(amx.RowBytes), R12)
	// What to fetch: next, the run it is of, the end of that, and how far apart runs are.
	next, run, end, pitch := R8, R9, R10, R13
	MOVQ(t.sig, run)
	ADDQ(field(tileUnitSig), run)
	SUBQ(field(tileTop), run)
	CMPQ(t.units, Imm(1))
	CMOVQEQ(field(tileAfter), run)
	ADDQ(Imm(56), run)
	MOVQ(run, next)
	MOVQ(run, end)
	ADDQ(field(tileSoonBytes), end)
	MOVQ(field(tileSoonPitch), pitch)
	line := func() {
		same := t.label("soon")
		PREFETCHT0(Mem{Base: next})
		ADDQ(Imm(64), next)
		CMPQ(next, end)
		JCS(LabelRef(same))
		ADDQ(pitch, run)
		ADDQ(pitch, end)
		MOVQ(run, next)
		Label(same)
	}
	const twoLines = 10
	lines := R14
	do := func(ops []amx.Op) {
		for _, o := range ops {
			tileOp(o)
			if o.Kind != amx.Dot {
				continue
			}
			if t.two {
				for range twoLines {
					line()
				}
				continue
			}
			loop := t.label("line")
			MOVQ(lines, RAX)
			Label(loop)
			line()
			DECQ(RAX)
			JNE(LabelRef(loop))
		}
	}
	if t.two {
		MOVQ(t.c, R11)
		p := amx.NewTriangle(2, amx.Dot)
		do(p.Load)
		MOVQ(field(tileA), RSI)
		MOVQ(t.b, RDI)
		MOVQ(field(tileQuads), RDX)
		Label("step")
		do(p.Step)
		ADDQ(U32(2*amx.Bytes), RSI)
		ADDQ(U32(2*amx.Bytes), RDI)
		DECQ(RDX)
		JNE(LabelRef("step"))
		do(p.Store)
		return
	}
	b := bands{
		dot: amx.Dot, first: RCX, step: RDX, turns: AllocLocal(8), left: RBX, label: t.label, do: do,
		a: field(tileA), b: t.b, sums: t.c,
	}
	MOVQ(field(tileLines), lines)
	MOVQ(field(tileBand), b.first)
	b.begin()
	Label("band")
	b.load()
	b.enter()
	b.steps(func(int) {})
	b.store()
	b.next()
	CMPQ(b.first, field(tileNumber))
	JLT(LabelRef("band"))
}

// spreadDigits writes spreadDigitsAMX.
func spreadDigits() {
	order := GLOBL("spreadOrder", RODATA|NOPTR)
	bytesOf(func(i int) byte { return byte(i/4 + i%4) })
	TEXT("spreadDigitsAMX", NOSPLIT, "func(dst *int8, pitch int, digits *byte, blocks int)")
	Doc("spreadDigitsAMX is spreadDigits.")
	Pragma("noescape")
	dst, pitch := Load(Param("dst"), GP64()), Load(Param("pitch"), GP64())
	from, n := Load(Param("digits"), GP64()), Load(Param("blocks"), GP64())
	v, x := ZMM(), ZMM()
	VMOVDQU64(order, v)
	Label("block")
	for k := range 4 {
		VPERMB(Mem{Base: from, Disp: 4 * k}, v, x)
		VMOVDQU64(x, Mem{Base: dst, Disp: amx.RowBytes * k})
	}
	ADDQ(Imm(16), from)
	ADDQ(pitch, dst)
	DECQ(n)
	JNE(LabelRef("block"))
	VZEROUPPER()
	RET()
}

// bytesOf adds 64 bytes to the global that GLOBL began.
func bytesOf(at func(i int) byte) {
	for i := 0; i < 64; i += 8 {
		w := uint64(0)
		for k := range 8 {
			w |= uint64(at(i+k)) << (8 * k)
		}
		DATA(i, U64(w))
	}
}

// tiles writes all kernels on tiles.
func tiles() {
	config := GLOBL("tileConfig", RODATA|NOPTR)
	bytes := amx.Config()
	bytesOf(func(i int) byte { return bytes[i] })
	tileRows(true, config)
	tileRows(false, config)
	spreadDigits()
	tileDots(config)
}
