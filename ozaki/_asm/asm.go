// Command _asm writes the amd64 kernel of package ozaki:
//
//	go run . -out ../slice_amd64.s -stubs ../stubs_amd64.go -pkg ozaki
//
// It equals the loop sliceGeneric in ../slice.go.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	compact "github.com/halfulp/halfulp/internal/_compact"
)

// lanes is the number of partial sums, which the entries of a step go to.
const lanes = 32

func main() {
	ConstraintExpr("amd64,!purego")
	abs := GLOBL("abs", RODATA|NOPTR)
	DATA(0, U64(1<<63-1))
	smallest := GLOBL("smallest32", RODATA|NOPTR)
	DATA(0, F64(0x1p-126))

	TEXT("sliceAVX2", NOSPLIT, "func(r []float64, q, rest []float32, next float64, part *[32]float64) (squares float64)")
	Doc("sliceAVX2 is sliceGeneric for a number of entries that is a multiple of 32.")
	Pragma("noescape")
	r := Load(Param("r").Base(), GP64())
	n := Load(Param("r").Len(), GP64())
	q := Load(Param("q").Base(), GP64())
	rest := Load(Param("rest").Base(), GP64())
	part := Load(Param("part"), GP64())
	sums := [lanes / 4]VecPhysical{Y8, Y9, Y10, Y11, Y12, Y13, Y14, Y15}
	mask, least, next, squares, zero := Y7, Y6, Y5, Y4, Y3
	VBROADCASTSD(abs, mask)
	VBROADCASTSD(smallest, least)
	address, err := Param("next").Resolve()
	if err != nil {
		panic(err)
	}
	VBROADCASTSD(address.Addr, next)
	VXORPD(squares, squares, squares)
	VXORPD(zero, zero, zero)
	for i, s := range sums {
		VMOVUPD(Mem{Base: part, Disp: 32 * i}, s)
	}
	SUBQ(I8(lanes), n)
	JLT(LabelRef("done"))
	Label("step")
	for i, s := range sums {
		x, y, z := Y0, Y1, Y2
		VMOVUPD(Mem{Base: r, Disp: 32 * i}, x)
		VCVTPD2PSY(x, X1)
		VMOVUPS(X1, Mem{Base: rest, Disp: 16 * i})
		VCVTPS2PD(X1, y)
		VANDPD(mask, y, y)
		VMAXPD(least, y, y)
		VCMPPD(U8(4), zero, x, z) // x ≠ 0
		VANDPD(z, y, y)
		VMULPD(y, y, y)
		VADDPD(y, s, s)
		VROUNDPD(U8(8), x, z) // to nearest, ties to even
		VCVTPD2PSY(z, X1)
		VMOVUPS(X1, Mem{Base: q, Disp: 16 * i})
		VMULPD(z, z, y)
		VADDPD(y, squares, squares)
		VSUBPD(z, x, x)
		VMULPD(next, x, x)
		VMOVUPD(x, Mem{Base: r, Disp: 32 * i})
	}
	ADDQ(I32(8*lanes), r)
	ADDQ(I32(4*lanes), q)
	ADDQ(I32(4*lanes), rest)
	SUBQ(I8(lanes), n)
	JGE(LabelRef("step"))
	Label("done")
	for i, s := range sums {
		VMOVUPD(s, Mem{Base: part, Disp: 32 * i})
	}
	VEXTRACTF128(U8(1), squares, X0)
	VADDPD(X4, X0, X0)
	VUNPCKHPD(X0, X0, X1)
	VADDSD(X1, X0, X0)
	VZEROUPPER()
	Store(X0, ReturnIndex(0))
	RET()
	Generate()
	compact.Out()
}
