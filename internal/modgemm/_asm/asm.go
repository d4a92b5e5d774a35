// Command _asm writes the kernels of package modgemm. One run writes one
// instruction set:
//
//	go run . -isa avx2 -out ../avx2_amd64.s -stubs ../stubs_avx2_amd64.go -pkg modgemm
//
// The kernels are described by the loops they equal in ../generic.go, and their
// bounds are proved in ../bounds.go.
package main

import (
	"flag"
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	compact "github.com/halfulp/halfulp/internal/_compact"
)

// unroll is the number of pairs in the body of the inner loop; it divides both of
// the numbers of pairs between folds.
const unroll = 7

// foldBits is where a sum is cut in two to be folded (see ../bounds.go).
const foldBits = 21

// digitBits is the radix of the digits that combineTiles joins.
const digitBits = 13

// A machine is what the generic part below must know of an instruction set.
type machine struct {
	constants
	suffix string
	mr, nv int // rows of a tile, vectors in a row of it
	lanes  int // int32 lanes of a vector
	vec    func(int) VecPhysical
	xor    func(dst VecPhysical)
	// madd adds, for one pair, the products of a tile's column of A with its row of B.
	madd func(m *machine, a, b Register, pair int)
	// stepFold replaces acc by acc mod 2^21 + floor(acc/2^21) step.
	stepFold func(m *machine, acc []VecPhysical, step Mem)
	// The three ways results enter and leave registers.
	loadC   func(m *machine, row []VecPhysical, src Mem)
	storeC  func(m *machine, row []VecPhysical, dst Mem)
	combine func(m *machine, rows [3]VecPhysical, dst Mem, accumulate bool)
	// interleave joins m.lanes entries of two planes (hi may be absent).
	interleave func(m *machine, lo Mem, hi *Mem, dst Mem)
}

func (m *machine) nr() int { return m.nv * m.lanes }

// acc is accumulator v of row r: the tile lies in the first mr*nv registers.
func (m *machine) acc(r, v int) VecPhysical { return m.vec(r*m.nv + v) }

func (m *machine) row(r int) []VecPhysical {
	row := make([]VecPhysical, m.nv)
	for v := range row {
		row[v] = m.acc(r, v)
	}
	return row
}

// temp is a register that holds no accumulator.
func (m *machine) temp(i int) VecPhysical { return m.vec(m.mr*m.nv + i) }

// fold takes the multiple of m nearest to acc off acc. Exact folds pick, of the two representatives
// +-m/2, the positive one.
func (m *machine) fold(acc []VecPhysical, inv, mod Mem, exact bool) {
	vInv, vMod := m.temp(0), m.temp(1)
	VBROADCASTSS(inv, vInv)
	VPBROADCASTD(mod, vMod)
	for v, x := range acc {
		q := m.temp(2 + v)
		VCVTDQ2PS(x, q)
		if exact {
			// VFMSUB213PS bias, inv, q: q = inv q - bias.
			VFMSUB213PS(m.bias, vInv, q)
		} else {
			VMULPS(vInv, q, q)
		}
		VCVTPS2DQ(q, q)
		VPMULLD(vMod, q, q)
		VPSUBD(q, x, x)
	}
}

func main() {
	isa := flag.String("isa", "", "instruction set: avx2, avx512, amx or neon")
	flag.Parse()
	if *isa == "neon" {
		writeNEON()
		return
	}
	ConstraintExpr("amd64,!purego")
	switch *isa {
	case "avx2":
		m := avx2(newConstants(8))
		m.modTiles()
		m.combineTiles()
		m.packPlanes()
		digits()
		transpose()
		wordDigits()
		floatScan()
	case "avx512":
		k := newConstants(16)
		m := avx512(false, k)
		m.modTiles()
		m.combineTiles()
		m.packPlanes()
		m = avx512(true, k)
		m.modTiles()
		m.combineTiles()
		wordRows()
		twoWordRows()
		wideFloatScan()
		wideDigits()
		transposeRows()
		wordScan()
	case "amx":
		config := tileConfig()
		byteTiles(config)
		byteResidues()
		lanes := packedWords()
		plainConversion(lanes)
		byteConversion(config, lanes)
		packResidues()
		byteCombination(config)
	default:
		panic(fmt.Sprintf("unknown -isa %q", *isa))
	}
	Generate()
	compact.Out()
}

// products emits the loop acc += A B over n pairs, n >= 0, and moves a and b on.
func (m *machine) products(label string, a, b, n GPVirtual) {
	step := func(pairs int, name string) {
		Label(name)
		for q := range pairs {
			m.madd(m, a, b, q)
		}
		ADDQ(I32(pairs*4*m.mr), a)
		ADDQ(I32(pairs*4*m.nr()), b)
	}
	CMPQ(n, I8(unroll))
	JLT(LabelRef(label + "Rest"))
	step(unroll, label+"Unrolled")
	SUBQ(I8(unroll), n)
	CMPQ(n, I8(unroll))
	JGE(LabelRef(label + "Unrolled"))
	Label(label + "Rest")
	TESTQ(n, n)
	JZ(LabelRef(label + "Done"))
	step(1, label+"Single")
	DECQ(n)
	JNZ(LabelRef(label + "Single"))
	Label(label + "Done")
}

func (m *machine) modTiles() {
	TEXT("modTiles"+m.suffix, NOSPLIT, "func(c []int16, ldc int, a []int16, aStride int, b []int16, panels, kPairs, block int, mod []int32, inv []float32, step []int32, modStep int, accumulate bool)")
	Doc("modTiles" + m.suffix + " is modTilesGeneric for the tiles of this kernel.")
	c := Load(Param("c").Base(), GP64()).(GPVirtual)
	ldc := Load(Param("ldc"), GP64()).(GPVirtual)
	aPanel := Load(Param("a").Base(), GP64()).(GPVirtual)
	panels := Load(Param("panels"), GP64()).(GPVirtual)
	mod := Load(Param("mod").Base(), GP64()).(GPVirtual)
	inv := Load(Param("inv").Base(), GP64()).(GPVirtual)
	fold := Load(Param("step").Base(), GP64()).(GPVirtual)
	SHLQ(U8(1), ldc)

	Label("tile")
	accumulate := Load(Param("accumulate"), GP8()).(GPVirtual)
	TESTB(accumulate, accumulate)
	JZ(LabelRef("zero"))
	m.eachRow(c, ldc, func(r int, p Mem) { m.loadC(m, m.row(r), p) })
	JMP(LabelRef("start"))
	Label("zero")
	m.eachRow(c, ldc, func(r int, p Mem) {
		PREFETCHT0(p) // written at the end
		for _, acc := range m.row(r) {
			m.xor(acc)
		}
	})

	Label("start")
	a, n := GP64(), GP64()
	MOVQ(aPanel, a)
	b := Load(Param("b").Base(), GP64()).(GPVirtual)
	left := Load(Param("kPairs"), GP64()).(GPVirtual)
	Label("block")
	block := Load(Param("block"), GP64()).(GPVirtual)
	MOVQ(left, n)
	CMPQ(n, block)
	CMOVQGT(block, n)
	SUBQ(n, left)
	m.products("pairs", a, b, n)
	TESTQ(left, left)
	JZ(LabelRef("last"))
	for r := range m.mr {
		m.stepFold(m, m.row(r), Mem{Base: fold, Disp: 4 * r})
	}
	JMP(LabelRef("block"))

	Label("last")
	for _, exact := range []bool{false, true} {
		for r := range m.mr {
			m.fold(m.row(r), Mem{Base: inv, Disp: 4 * r}, Mem{Base: mod, Disp: 4 * r}, exact)
		}
	}
	MOVQ(m.eachRow(c, ldc, func(r int, p Mem) { m.storeC(m, m.row(r), p) }), c)
	aStride := Load(Param("aStride"), GP64()).(GPVirtual)
	LEAQ(Mem{Base: aPanel, Index: aStride, Scale: 2}, aPanel)
	modStep := Load(Param("modStep"), GP64()).(GPVirtual)
	for _, p := range []GPVirtual{mod, inv, fold} {
		LEAQ(Mem{Base: p, Index: modStep, Scale: 4}, p)
	}
	DECQ(panels)
	JNZ(LabelRef("tile"))
	m.ret()
}

func (m *machine) combineTiles() {
	TEXT("combineTiles"+m.suffix, NOSPLIT, "func(out []int64, ldo int, a []int16, aStride int, b []int16, panels, kPairs int, accumulate bool)")
	Doc("combineTiles" + m.suffix + " is combineTilesGeneric for the tiles of this kernel.")
	out := Load(Param("out").Base(), GP64()).(GPVirtual)
	ldo := Load(Param("ldo"), GP64()).(GPVirtual)
	aPanel := Load(Param("a").Base(), GP64()).(GPVirtual)
	aStride := Load(Param("aStride"), GP64()).(GPVirtual)
	panels := Load(Param("panels"), GP64()).(GPVirtual)
	accumulate := Load(Param("accumulate"), GP8()).(GPVirtual)
	SHLQ(U8(3), ldo)

	Label("tile")
	for r := range m.mr {
		for _, acc := range m.row(r) {
			m.xor(acc)
		}
	}
	a := GP64()
	MOVQ(aPanel, a)
	b := Load(Param("b").Base(), GP64()).(GPVirtual)
	n := Load(Param("kPairs"), GP64()).(GPVirtual)
	m.products("pairs", a, b, n)
	store := func(accumulate bool) {
		for g := range m.mr / 3 {
			for v := range m.nv {
				rows := [3]VecPhysical{m.acc(3*g, v), m.acc(3*g+1, v), m.acc(3*g+2, v)}
				m.combine(m, rows, Mem{Base: out, Disp: 8 * m.lanes * v}, accumulate)
			}
			ADDQ(ldo, out)
		}
	}
	TESTB(accumulate, accumulate)
	JZ(LabelRef("new"))
	store(true)
	JMP(LabelRef("next"))
	Label("new")
	store(false)
	Label("next")
	LEAQ(Mem{Base: aPanel, Index: aStride, Scale: 2}, aPanel)
	DECQ(panels)
	JNZ(LabelRef("tile"))
	m.ret()
}

func (m *machine) packPlanes() {
	TEXT("packPlanes"+m.suffix, NOSPLIT, "func(dst, src []int16, planeStride, planes int)")
	Doc("packPlanes" + m.suffix + " is packPlanesGeneric for the panels of this kernel.")
	dst := Load(Param("dst").Base(), GP64()).(GPVirtual)
	src := Load(Param("src").Base(), GP64()).(GPVirtual)
	stride := Load(Param("planeStride"), GP64()).(GPVirtual)
	planes := Load(Param("planes"), GP64()).(GPVirtual)
	SHLQ(U8(1), stride)
	n := GP64()
	// The entries behind these, in the order of storage.
	ahead := func(p Mem) { PREFETCHT0(p.Offset(2 * 2 * m.nr())) }
	pair := func(odd bool) {
		ahead(Mem{Base: src})
		if !odd {
			ahead(Mem{Base: src, Index: stride, Scale: 1})
		}
		for v := 0; v < m.nv; v++ {
			lo := Mem{Base: src, Disp: 2 * m.lanes * v}
			hi := Mem{Base: src, Index: stride, Scale: 1, Disp: 2 * m.lanes * v}
			to := Mem{Base: dst, Disp: 4 * m.lanes * v}
			if odd {
				m.interleave(m, lo, nil, to)
			} else {
				m.interleave(m, lo, &hi, to)
			}
		}
	}
	MOVQ(planes, n)
	SHRQ(U8(1), n)
	JZ(LabelRef("odd"))
	Label("loop")
	pair(false)
	LEAQ(Mem{Base: src, Index: stride, Scale: 2}, src)
	ADDQ(I32(4*m.nr()), dst)
	DECQ(n)
	JNZ(LabelRef("loop"))
	Label("odd")
	TESTB(U8(1), planes.As8())
	JZ(LabelRef("done"))
	pair(true)
	Label("done")
	m.ret()
}

// eachRow calls f with the address of every row of a tile and returns the register that
// then holds the address of the tile below.
func (m *machine) eachRow(base, stride GPVirtual, f func(r int, p Mem)) GPVirtual {
	p := GP64()
	MOVQ(base, p)
	for r := range m.mr {
		f(r, Mem{Base: p})
		ADDQ(stride, p)
	}
	return p
}

func (m *machine) ret() {
	VZEROUPPER()
	RET()
}

// constants are vectors in memory that the folds use: the low bits of a sum, and what
// exact folds subtract, 2^-15 (see ../bounds.go).
type constants struct{ lowBits, bias Mem }

func newConstants(lanes int) constants {
	vector := func(name string, word uint32) Mem {
		v := GLOBL(name, RODATA|NOPTR)
		for i := range lanes {
			DATA(4*i, U32(word))
		}
		return v
	}
	return constants{
		lowBits: vector("lowBits", 1<<foldBits-1),
		bias:    vector("bias", math.Float32bits(1.0/(1<<15))),
	}
}
