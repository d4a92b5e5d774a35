// Command _asm writes the amd64 kernels of package sgemm. One run writes one instruction set:
//
//	go run . -isa avx2 -out ../avx2_amd64.s -stubs ../stubs_avx2_amd64.go -pkg sgemm
//
// The kernels equal the loop microGeneric in ../generic.go.
package main

import (
	"flag"
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// unroll is the number of steps in the body of the inner loop.
const unroll = 4

// A machine is a tile and the registers that it lies in: nv vectors of lanes numbers hold a
// column of A's panel, nr columns of the tile follow.
type machine struct {
	suffix        string
	lanes, nv, nr int
	vec           func(int) VecPhysical
	zero          func(dst VecPhysical)
}

func (m *machine) mr() int { return m.lanes * m.nv }

// acc is the accumulator of vector v of column s.
func (m *machine) acc(v, s int) VecPhysical { return m.vec(s*m.nv + v) }

// temp is a register that holds no accumulator.
func (m *machine) temp(i int) VecPhysical { return m.vec(m.nr*m.nv + i) }

func main() {
	isa := flag.String("isa", "", "instruction set: avx2 or avx512")
	flag.Parse()
	ConstraintExpr("amd64,!purego")
	switch *isa {
	case "avx2":
		// 12 of the 16 registers add; 2 loads of A, 6 broadcasts of B and 12 fused
		// multiply-adds a step.
		y := [16]VecPhysical{Y0, Y1, Y2, Y3, Y4, Y5, Y6, Y7, Y8, Y9, Y10, Y11, Y12, Y13, Y14, Y15}
		m := &machine{suffix: "AVX2", lanes: 8, nv: 2, nr: 6,
			vec:  func(i int) VecPhysical { return y[i] },
			zero: func(dst VecPhysical) { VXORPS(dst, dst, dst) }}
		m.micro()
	case "avx512":
		// 24 of the 32 registers add.
		z := [32]VecPhysical{Z0, Z1, Z2, Z3, Z4, Z5, Z6, Z7, Z8, Z9, Z10, Z11, Z12, Z13, Z14, Z15,
			Z16, Z17, Z18, Z19, Z20, Z21, Z22, Z23, Z24, Z25, Z26, Z27, Z28, Z29, Z30, Z31}
		m := &machine{suffix: "AVX512", lanes: 16, nv: 2, nr: 12,
			vec:  func(i int) VecPhysical { return z[i] },
			zero: func(dst VecPhysical) { VPXORD(dst, dst, dst) }}
		m.micro()
	default:
		panic(fmt.Sprintf("unknown -isa %q", *isa))
	}
	Generate()
}

// eachColumn calls f with the address of each column of the tile; ldc is in bytes.
func (m *machine) eachColumn(c Register, ldc Register, f func(s int, p Mem)) {
	p := GP64()
	MOVQ(c, p)
	for s := range m.nr {
		f(s, Mem{Base: p})
		if s < m.nr-1 {
			ADDQ(ldc, p)
		}
	}
}

// micro emits the kernel.
func (m *machine) micro() {
	TEXT("micro"+m.suffix, NOSPLIT, "func(c []float32, ldc int, a, b []float32, k int, load bool)")
	Doc("micro" + m.suffix + " is microGeneric for the tile of this kernel.")
	Pragma("noescape")
	c := Load(Param("c").Base(), GP64())
	ldc := Load(Param("ldc"), GP64())
	a := Load(Param("a").Base(), GP64())
	b := Load(Param("b").Base(), GP64())
	k := Load(Param("k"), GP64())
	load := Load(Param("load"), GP8())
	SHLQ(U8(2), ldc)
	size := 4 * m.lanes

	TESTB(load, load)
	JZ(LabelRef("zero"))
	m.eachColumn(c, ldc, func(s int, p Mem) {
		for v := range m.nv {
			VMOVUPS(p.Offset(v*size), m.acc(v, s))
		}
	})
	JMP(LabelRef("start"))
	Label("zero")
	m.eachColumn(c, ldc, func(s int, p Mem) {
		PREFETCHT0(p) // written at the end
		for v := range m.nv {
			m.zero(m.acc(v, s))
		}
	})

	Label("start")
	steps := func(n int, name string) {
		Label(name)
		for h := range n {
			for v := range m.nv {
				VMOVUPS(Mem{Base: a, Disp: 4*m.mr()*h + v*size}, m.temp(v))
			}
			for s := range m.nr {
				x := m.temp(m.nv + s%2)
				VBROADCASTSS(Mem{Base: b, Disp: 4*m.nr*h + 4*s}, x)
				for v := range m.nv {
					VFMADD231PS(m.temp(v), x, m.acc(v, s))
				}
			}
		}
		ADDQ(I32(4*m.mr()*n), a)
		ADDQ(I32(4*m.nr*n), b)
	}
	SUBQ(I8(unroll), k)
	JLT(LabelRef("rest"))
	steps(unroll, "unrolled")
	SUBQ(I8(unroll), k)
	JGE(LabelRef("unrolled"))
	Label("rest")
	ADDQ(I8(unroll), k)
	JZ(LabelRef("store"))
	steps(1, "single")
	DECQ(k)
	JNZ(LabelRef("single"))

	Label("store")
	m.eachColumn(c, ldc, func(s int, p Mem) {
		for v := range m.nv {
			VMOVUPS(m.acc(v, s), p.Offset(v*size))
		}
	})
	VZEROUPPER()
	RET()
}
