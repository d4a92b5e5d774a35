// Command _asm writes the kernels of package sgemm. One run writes one instruction set:
//
//	go run . -isa avx2 -out ../avx2_amd64.s -stubs ../stubs_avx2_amd64.go -pkg sgemm
//
// The kernels equal the loops microGeneric in ../generic.go and microPairsGeneric in
// ../pairs.go.
package main

import (
	"flag"
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	compact "github.com/halfulp/halfulp/internal/_compact"
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
	isa := flag.String("isa", "", "instruction set: avx2, avx512 or neon")
	flag.Parse()
	if *isa == "neon" {
		writeNEON()
		return
	}
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
		m.nv, m.nr = 1, 4
		m.microPairs()
	case "avx512":
		// 24 of the 32 registers add.
		z := [32]VecPhysical{Z0, Z1, Z2, Z3, Z4, Z5, Z6, Z7, Z8, Z9, Z10, Z11, Z12, Z13, Z14, Z15,
			Z16, Z17, Z18, Z19, Z20, Z21, Z22, Z23, Z24, Z25, Z26, Z27, Z28, Z29, Z30, Z31}
		m := &machine{suffix: "AVX512", lanes: 16, nv: 2, nr: 12,
			vec:  func(i int) VecPhysical { return z[i] },
			zero: func(dst VecPhysical) { VPXORD(dst, dst, dst) }}
		m.micro()
		m.nv, m.nr = 1, 8
		m.microPairs()
	default:
		panic(fmt.Sprintf("unknown -isa %q", *isa))
	}
	Generate()
	compact.Out()
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

// microPairs emits the kernel of pairs: the words of column s of the tile lie in registers 2s
// and 2s + 1, the pair of A after them, and six registers are for one step of a column. Columns
// do not depend on each other, so the processor runs several at a time.
func (m *machine) microPairs() {
	TEXT("microPairs"+m.suffix, NOSPLIT, "func(hi, lo []float32, ldc int, aHi, aLo, bHi, bLo []float32, k int)")
	Doc("microPairs" + m.suffix + " is microPairsGeneric for the tile of this kernel.")
	Pragma("noescape")
	hi := Load(Param("hi").Base(), GP64())
	lo := Load(Param("lo").Base(), GP64())
	ldc := Load(Param("ldc"), GP64())
	aHi := Load(Param("aHi").Base(), GP64())
	aLo := Load(Param("aLo").Base(), GP64())
	bHi := Load(Param("bHi").Base(), GP64())
	bLo := Load(Param("bLo").Base(), GP64())
	k := Load(Param("k"), GP64())
	SHLQ(U8(2), ldc)
	a, a1 := m.vec(2*m.nr), m.vec(2*m.nr+1)
	temp := func(i int) VecPhysical { return m.vec(2*m.nr + 2 + i) }
	m.eachColumn(hi, ldc, func(s int, p Mem) { VMOVUPS(p, m.vec(2*s)) })
	m.eachColumn(lo, ldc, func(s int, p Mem) { VMOVUPS(p, m.vec(2*s+1)) })

	TESTQ(k, k)
	JZ(LabelRef("store"))
	Label("step")
	VMOVUPS(Mem{Base: aHi}, a)
	VMOVUPS(Mem{Base: aLo}, a1)
	for s := range m.nr {
		x, x1 := m.vec(2*s), m.vec(2*s+1)
		b, b1, p, e, y, t := temp(0), temp(1), temp(2), temp(3), temp(4), temp(5)
		VBROADCASTSS(Mem{Base: bHi, Disp: 4 * s}, b)
		VBROADCASTSS(Mem{Base: bLo, Disp: 4 * s}, b1)
		VMULPS(b, a, p)
		VMOVAPS(a, e)
		VFMSUB213PS(p, b, e)  // e = a b - p
		VFMADD231PS(b1, a, e) // + a b'
		VFMADD231PS(b, a1, e) // + a' b
		VADDPS(e, p, y)       // y = p + e
		VSUBPS(p, y, t)
		VSUBPS(t, e, e) // e - (y - p)

		// (s, s1) = 2Sum(x, y) in (b, t), (t, t1) = 2Sum(x1, e) in (b1, x1).
		VADDPS(y, x, b)
		VSUBPS(y, b, b1)
		VSUBPS(b1, b, p)
		VSUBPS(b1, x, t)
		VSUBPS(p, y, y)
		VADDPS(y, t, t)
		VADDPS(e, x1, b1)
		VSUBPS(e, b1, p)
		VSUBPS(p, b1, y)
		VSUBPS(p, x1, x1)
		VSUBPS(y, e, e)
		VADDPS(e, x1, x1)

		VADDPS(b1, t, t) // c = s1 + t
		VADDPS(t, b, y)  // (v, v1) = Fast2Sum(s, c) in (y, t)
		VSUBPS(b, y, p)
		VSUBPS(p, t, t)
		VADDPS(t, x1, x1) // w = t1 + v1
		VADDPS(x1, y, x)  // Fast2Sum(v, w)
		VSUBPS(y, x, p)
		VSUBPS(p, x1, x1)
	}
	for _, p := range []struct {
		reg  Register
		size int
	}{{aHi, 4 * m.lanes}, {aLo, 4 * m.lanes}, {bHi, 4 * m.nr}, {bLo, 4 * m.nr}} {
		ADDQ(I32(p.size), p.reg)
	}
	DECQ(k)
	JNZ(LabelRef("step"))
	Label("store")
	m.eachColumn(hi, ldc, func(s int, p Mem) { VMOVUPS(m.vec(2*s), p) })
	m.eachColumn(lo, ldc, func(s int, p Mem) { VMOVUPS(m.vec(2*s+1), p) })
	VZEROUPPER()
	RET()
}
