// Command _asm writes the amd64 kernels of package modgemm. One run writes one
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
)

// digitBits is the radix of the digits that CombineTile joins.
const digitBits = 13

// A machine is what the generic part below must know of an instruction set.
type machine struct {
	suffix string
	mr, nv int // rows of a tile, vectors in a row of it
	lanes  int // int32 lanes of a vector
	unroll int // pairs in the body of the inner loop
	vec    func(int) VecPhysical
	xor    func(dst VecPhysical)
	// madd adds, for one pair, the products of a tile's column of A with its row of B.
	madd func(m *machine, a, b Register, pair int)
	// fold takes the multiple of m nearest to acc off acc. Exact folds pick, of the
	// two representatives +-m/2, the positive one.
	fold func(m *machine, acc []VecPhysical, inv, mod Mem, exact bool)
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

func main() {
	isa := flag.String("isa", "", "instruction set: avx2 or avx512")
	flag.Parse()
	ConstraintExpr("amd64,!purego")
	switch *isa {
	case "avx2":
		m := avx2(exactBias())
		m.modTile()
		m.combineTile()
		m.packPlanes()
	case "avx512":
		bias := exactBias()
		m := avx512(false, bias)
		m.modTile()
		m.combineTile()
		m.packPlanes()
		m = avx512(true, bias)
		m.modTile()
		m.combineTile()
	default:
		panic(fmt.Sprintf("unknown -isa %q", *isa))
	}
	Generate()
}

// products emits the loop acc += A B over n pairs, n >= 0, and moves a and b on.
func (m *machine) products(label string, a, b, n GPVirtual) {
	aPair, bPair := 4*m.mr, 4*m.nr()
	step := func(pairs int, count GPVirtual, name, done string) {
		Label(name)
		for q := 0; q < pairs; q++ {
			m.madd(m, a, b, q)
		}
		ADDQ(I32(pairs*aPair), a)
		ADDQ(I32(pairs*bPair), b)
		DECQ(count)
		JNZ(LabelRef(name))
	}
	q := GP64()
	MOVQ(n, q)
	shift := 0
	for 1<<shift < m.unroll {
		shift++
	}
	SHRQ(U8(shift), q)
	JZ(LabelRef(label + "Rest"))
	step(m.unroll, q, label+"Unrolled", label+"Rest")
	Label(label + "Rest")
	MOVQ(n, q)
	ANDQ(I8(m.unroll-1), q)
	JZ(LabelRef(label + "Done"))
	step(1, q, label+"Single", label+"Done")
	Label(label + "Done")
}

func (m *machine) modTile() {
	TEXT("modTile"+m.suffix, NOSPLIT, "func(c []int16, ldc int, a, b []int16, kPairs, block int, mod []int32, inv []float32, accumulate bool)")
	Doc("modTile" + m.suffix + " is modTileGeneric for the tiles of this kernel.")
	c := Load(Param("c").Base(), GP64()).(GPVirtual)
	ldc := Load(Param("ldc"), GP64()).(GPVirtual)
	a := Load(Param("a").Base(), GP64()).(GPVirtual)
	b := Load(Param("b").Base(), GP64()).(GPVirtual)
	left := Load(Param("kPairs"), GP64()).(GPVirtual)
	block := Load(Param("block"), GP64()).(GPVirtual)
	mod := Load(Param("mod").Base(), GP64()).(GPVirtual)
	inv := Load(Param("inv").Base(), GP64()).(GPVirtual)
	accumulate := Load(Param("accumulate"), GP8()).(GPVirtual)
	SHLQ(U8(1), ldc)

	TESTB(accumulate, accumulate)
	JZ(LabelRef("zero"))
	m.eachRow(c, ldc, func(r int, p Mem) { m.loadC(m, m.row(r), p) })
	JMP(LabelRef("block"))
	Label("zero")
	m.eachRow(c, ldc, func(r int, p Mem) {
		PREFETCHT0(p) // written at the end
		for _, acc := range m.row(r) {
			m.xor(acc)
		}
	})

	Label("block")
	n := GP64()
	MOVQ(left, n)
	CMPQ(n, block)
	CMOVQGT(block, n)
	SUBQ(n, left)
	m.products("pairs", a, b, n)
	for r := 0; r < m.mr; r++ {
		m.fold(m, m.row(r), Mem{Base: inv, Disp: 4 * r}, Mem{Base: mod, Disp: 4 * r}, false)
	}
	TESTQ(left, left)
	JNZ(LabelRef("block"))

	for r := 0; r < m.mr; r++ {
		m.fold(m, m.row(r), Mem{Base: inv, Disp: 4 * r}, Mem{Base: mod, Disp: 4 * r}, true)
	}
	m.eachRow(c, ldc, func(r int, p Mem) { m.storeC(m, m.row(r), p) })
	m.ret()
}

func (m *machine) combineTile() {
	TEXT("combineTile"+m.suffix, NOSPLIT, "func(out []int64, ldo int, a, b []int16, kPairs int, accumulate bool)")
	Doc("combineTile" + m.suffix + " is combineTileGeneric for the tiles of this kernel.")
	out := Load(Param("out").Base(), GP64()).(GPVirtual)
	ldo := Load(Param("ldo"), GP64()).(GPVirtual)
	a := Load(Param("a").Base(), GP64()).(GPVirtual)
	b := Load(Param("b").Base(), GP64()).(GPVirtual)
	n := Load(Param("kPairs"), GP64()).(GPVirtual)
	accumulate := Load(Param("accumulate"), GP8()).(GPVirtual)
	SHLQ(U8(3), ldo)
	for r := 0; r < m.mr; r++ {
		for _, acc := range m.row(r) {
			m.xor(acc)
		}
	}
	m.products("pairs", a, b, n)
	store := func(accumulate bool) {
		p := GP64()
		MOVQ(out, p)
		for g := 0; g < m.mr/3; g++ {
			for v := 0; v < m.nv; v++ {
				rows := [3]VecPhysical{m.acc(3*g, v), m.acc(3*g+1, v), m.acc(3*g+2, v)}
				m.combine(m, rows, Mem{Base: p, Disp: 8 * m.lanes * v}, accumulate)
			}
			if g < m.mr/3-1 {
				ADDQ(ldo, p)
			}
		}
		m.ret()
	}
	TESTB(accumulate, accumulate)
	JZ(LabelRef("zero"))
	store(true)
	Label("zero")
	store(false)
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
	pair := func(odd bool) {
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

// eachRow calls f with the address of every row of a tile.
func (m *machine) eachRow(base, stride GPVirtual, f func(r int, p Mem)) {
	p := GP64()
	MOVQ(base, p)
	for r := 0; r < m.mr; r++ {
		f(r, Mem{Base: p})
		if r < m.mr-1 {
			ADDQ(stride, p)
		}
	}
}

func (m *machine) ret() {
	VZEROUPPER()
	RET()
}

// exactBias is the constant subtracted in exact folds, 2^-15 (see ../bounds.go).
func exactBias() Mem {
	bias := GLOBL("exactBias", RODATA|NOPTR)
	for i := 0; i < 8; i++ {
		DATA(4*i, U32(math.Float32bits(1.0/(1<<15))))
	}
	return bias
}
