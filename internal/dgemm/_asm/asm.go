// Command _asm writes the kernels of package dgemm. One run writes one instruction set:
//
//	go run . -isa avx2 -out ../avx2_amd64.s -stubs ../stubs_avx2_amd64.go -pkg dgemm
//
// The kernels do what microGeneric in ../gemm.go and the generic loops of ../vectors.go do.
package main

import (
	"flag"
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	compact "github.com/halfulp/halfulp/internal/_compact"
)

// A machine is a tile and the registers that it lies in: nv vectors of lanes numbers hold a
// column of A's panel, nr columns of the tile follow.
type machine struct {
	suffix        string
	lanes, nv, nr int
	vec           func(int) VecPhysical
	zero          func(dst VecPhysical)
}

// acc is the accumulator of vector v of column s.
func (m *machine) acc(v, s int) VecPhysical { return m.vec(s*m.nv + v) }

// narrow returns the machine with a tile of three columns.
func (m *machine) narrow() *machine {
	z := *m
	z.suffix, z.nv, z.nr = "Narrow"+m.suffix, 3, 3
	return &z
}

// temp is a register that holds no accumulator.
func (m *machine) temp(i int) VecPhysical { return m.vec(m.nr*m.nv + i) }

func main() {
	isa := flag.String("isa", "", "instruction set: avx2, avx512 or neon")
	flag.Parse()
	if *isa == "neon" {
		writeNEON()
		return
	}
	ConstraintExpr("amd64,!purego")
	switch *isa {
	case "avx2":
		y := [16]VecPhysical{Y0, Y1, Y2, Y3, Y4, Y5, Y6, Y7, Y8, Y9, Y10, Y11, Y12, Y13, Y14, Y15}
		m := &machine{suffix: "AVX2", lanes: 4, nv: 2, nr: 6,
			vec:  func(i int) VecPhysical { return y[i] },
			zero: func(dst VecPhysical) { VXORPD(dst, dst, dst) }}
		m.micro(false)
		m.micro(true)
		m.narrow().micro(true)
		m.axpy("axpy", false)
		m.axpy("axpyAbs", true)
		m.eliminate()
		m.combine(false)
		m.combine(true)
		triangle()
	case "avx512":
		z := [32]VecPhysical{Z0, Z1, Z2, Z3, Z4, Z5, Z6, Z7, Z8, Z9, Z10, Z11, Z12, Z13, Z14, Z15,
			Z16, Z17, Z18, Z19, Z20, Z21, Z22, Z23, Z24, Z25, Z26, Z27, Z28, Z29, Z30, Z31}
		m := &machine{suffix: "AVX512", lanes: 8, nv: 2, nr: 12,
			vec:  func(i int) VecPhysical { return z[i] },
			zero: func(dst VecPhysical) { VPXORQ(dst, dst, dst) }}
		m.micro(false)
		m.micro(true)
		m.narrow().micro(true)
	default:
		panic(fmt.Sprintf("unknown -isa %q", *isa))
	}
	Generate()
	compact.Out()
}

// micro emits the kernel, for an a of doubles or of singles.
func (m *machine) micro(single bool) {
	width, load := 8, VMOVUPD
	if single {
		width, load = 4, VCVTPS2PD
		TEXT("microSingle"+m.suffix, NOSPLIT, "func(c []float64, ldc int, a []float32, b []float64, k int)")
		Doc("microSingle" + m.suffix + " is microGeneric for the tile of this kernel and an a of single precision.")
	} else {
		TEXT("micro"+m.suffix, NOSPLIT, "func(c []float64, ldc int, a, b []float64, k int)")
		Doc("micro" + m.suffix + " is microGeneric for the tile of this kernel; k > 0.")
	}
	Pragma("noescape")
	c := Load(Param("c").Base(), GP64())
	ldc := Load(Param("ldc"), GP64())
	a := Load(Param("a").Base(), GP64())
	b := Load(Param("b").Base(), GP64())
	k := Load(Param("k"), GP64())
	SHLQ(U8(3), ldc)
	size := 8 * m.lanes
	p := GP64()
	MOVQ(c, p)
	for s := range m.nr {
		PREFETCHT0(Mem{Base: p}) // read and written at the end
		for v := range m.nv {
			m.zero(m.acc(v, s))
		}
		ADDQ(ldc, p)
	}
	Label("step")
	for v := range m.nv {
		load(Mem{Base: a, Disp: v * m.lanes * width}, m.temp(v))
	}
	for s := range m.nr {
		x := m.temp(m.nv + s%2)
		VBROADCASTSD(Mem{Base: b, Disp: 8 * s}, x)
		for v := range m.nv {
			VFMADD231PD(m.temp(v), x, m.acc(v, s))
		}
	}
	ADDQ(I32(m.nv*m.lanes*width), a)
	ADDQ(I32(8*m.nr), b)
	DECQ(k)
	JNZ(LabelRef("step"))
	for s := range m.nr {
		for v := range m.nv {
			VADDPD(Mem{Base: c, Disp: v * size}, m.acc(v, s), m.acc(v, s))
			VMOVUPD(m.acc(v, s), Mem{Base: c, Disp: v * size})
		}
		if s < m.nr-1 {
			ADDQ(ldc, c)
		}
	}
	VZEROUPPER()
	RET()
}

// axpy emits y += alpha x, or y += alpha |x|, for whole vectors; Go does the rest.
func (m *machine) axpy(name string, abs bool) {
	TEXT(name+m.suffix, NOSPLIT, "func(alpha float64, x, y []float64)")
	Doc(name + m.suffix + " is " + name + "Generic for lengths that are multiples of 8.")
	Pragma("noescape")
	alpha := m.vec(0)
	VBROADCASTSD(NewParamAddr("alpha", 0), alpha)
	x := Load(Param("x").Base(), GP64())
	y := Load(Param("y").Base(), GP64())
	n := Load(Param("x").Len(), GP64())
	mask := m.vec(1)
	if abs {
		VPCMPEQQ(mask, mask, mask)
		VPSRLQ(U8(1), mask, mask)
	}
	SHRQ(U8(3), n)
	JZ(LabelRef("done"))
	Label("step")
	size := 8 * m.lanes
	for v := range 8 / m.lanes {
		t, z := m.vec(2+2*v), m.vec(3+2*v)
		VMOVUPD(Mem{Base: x, Disp: v * size}, t)
		if abs {
			VANDPD(mask, t, t)
		}
		VMOVUPD(Mem{Base: y, Disp: v * size}, z)
		VFMADD231PD(alpha, t, z)
		VMOVUPD(z, Mem{Base: y, Disp: v * size})
	}
	ADDQ(U8(64), x)
	ADDQ(U8(64), y)
	DECQ(n)
	JNZ(LabelRef("step"))
	Label("done")
	VZEROUPPER()
	RET()
}

// eliminate emits a step of an elimination of rows of whole vectors.
func (m *machine) eliminate() {
	TEXT("eliminate"+m.suffix, NOSPLIT, "func(a []float64, n, k int)")
	Doc("eliminate" + m.suffix + " is eliminateGeneric for positive n that are multiples of 4.")
	Pragma("noescape")
	p := Load(Param("a").Base(), GP64())
	n := Load(Param("n"), GP64())
	k := Load(Param("k"), GP64())
	bytes, row, i, j := GP64(), GP64(), GP64(), GP64()
	MOVQ(n, bytes)
	SHLQ(U8(3), bytes)
	MOVQ(bytes, row)
	IMULQ(k, row)
	ADDQ(p, row)
	MOVQ(n, i)
	alpha, z := m.vec(0), m.vec(1)
	pivot, last := m.vec(2).AsX(), m.vec(3).AsX()
	VMOVSD(Mem{Base: row, Index: k, Scale: 8}, pivot)
	Label("rows")
	CMPQ(p, row)
	JEQ(LabelRef("next"))
	VBROADCASTSD(Mem{Base: p, Index: k, Scale: 8}, alpha)
	XORQ(j, j)
	Label("vectors")
	VMOVUPD(Mem{Base: p, Index: j, Scale: 8}, z)
	VFNMADD231PD(Mem{Base: row, Index: j, Scale: 8}, alpha, z)
	VMOVUPD(z, Mem{Base: p, Index: j, Scale: 8})
	ADDQ(U8(4), j)
	CMPQ(j, n)
	JNE(LabelRef("vectors"))
	VXORPD(last, last, last)
	VFNMADD231SD(pivot, alpha.AsX(), last)
	VMOVSD(last, Mem{Base: p, Index: k, Scale: 8})
	Label("next")
	ADDQ(bytes, p)
	DECQ(i)
	JNZ(LabelRef("rows"))
	VZEROUPPER()
	RET()
}

// combine emits y += Σ a_j x_j for whole vectors: sums of 32, 16 or 8 entries of y stay in
// registers.
func (m *machine) combine(single bool) {
	width, shift := 8, 3
	if single {
		width, shift = 4, 2
		TEXT("combineSingle"+m.suffix, NOSPLIT, "func(x []float32, ld int, a, y []float64)")
		Doc("combineSingle" + m.suffix + " is combine" + m.suffix + " for an x of single precision.")
	} else {
		TEXT("combine"+m.suffix, NOSPLIT, "func(x []float64, ld int, a, y []float64)")
		Doc("combine" + m.suffix + " is combineGeneric for a y of a length that is a multiple of 8; a is not empty.")
	}
	Pragma("noescape")
	x := Load(Param("x").Base(), GP64())
	ld := Load(Param("ld"), GP64())
	first := Load(Param("a").Base(), GP64())
	count := Load(Param("a").Len(), GP64())
	y := Load(Param("y").Base(), GP64())
	n := Load(Param("y").Len(), GP64())
	SHLQ(U8(shift), ld)
	p, a, k := GP64(), GP64(), GP64()
	size := 8 * m.lanes
	factor := m.vec(8)
	for rows := 32; rows >= 8; rows /= 2 {
		label, next := fmt.Sprintf("block%d", rows), fmt.Sprintf("less%d", rows)
		Label(label)
		CMPQ(n, U8(rows))
		JL(LabelRef(next))
		for v := range rows / m.lanes {
			VMOVUPD(Mem{Base: y, Disp: v * size}, m.vec(v))
		}
		MOVQ(x, p)
		MOVQ(first, a)
		MOVQ(count, k)
		Label("step" + label)
		VBROADCASTSD(Mem{Base: a}, factor)
		for v := range rows / m.lanes {
			if single {
				t := m.vec(9 + v%4)
				VCVTPS2PD(Mem{Base: p, Disp: v * m.lanes * width}, t)
				VFMADD231PD(t, factor, m.vec(v))
			} else {
				VFMADD231PD(Mem{Base: p, Disp: v * size}, factor, m.vec(v))
			}
		}
		ADDQ(U8(8), a)
		ADDQ(ld, p)
		DECQ(k)
		JNZ(LabelRef("step" + label))
		for v := range rows / m.lanes {
			VMOVUPD(m.vec(v), Mem{Base: y, Disp: v * size})
		}
		ADDQ(U32(width*rows), x)
		ADDQ(U32(8*rows), y)
		SUBQ(U8(rows), n)
		JMP(LabelRef(label))
		Label(next)
	}
	VZEROUPPER()
	RET()
}

// block is the order of the triangles that triangle solves with.
const block = 12

// triangle emits substitution for four right-hand sides, whose rows are vectors.
func triangle() {
	TEXT("triangleAVX2", NOSPLIT, "func(t, x []float64)")
	Doc("triangleAVX2 is triangleGeneric.")
	Pragma("noescape")
	t := Load(Param("t").Base(), GP64())
	x := Load(Param("x").Base(), GP64())
	rows := [block]VecPhysical{Y0, Y1, Y2, Y3, Y4, Y5, Y6, Y7, Y8, Y9, Y10, Y11}
	temps := [4]VecPhysical{Y12, Y13, Y14, Y15}
	for i, r := range rows {
		VMOVUPD(Mem{Base: x, Disp: 32 * i}, r)
	}
	next := 0
	entry := func(i, k int) VecPhysical {
		v := temps[next%4]
		next++
		VBROADCASTSD(Mem{Base: t, Disp: 8 * (k*block + i)}, v)
		return v
	}
	for k, r := range rows {
		VMULPD(entry(k, k), r, r)
		for i := k + 1; i < block; i++ {
			VFNMADD231PD(entry(i, k), r, rows[i])
		}
	}
	for i, r := range rows {
		VMOVUPD(r, Mem{Base: x, Disp: 32 * i})
	}
	VZEROUPPER()
	RET()
}
