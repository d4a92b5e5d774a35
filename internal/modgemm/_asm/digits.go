package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// digits writes digitsAVX2.
func digits() {
	TEXT("digitsAVX2", NOSPLIT, "func(dst *int16, pairs, panel int, src *float64, stride int, base *int64, step, groups int)")
	Pragma("noescape")
	Doc("digitsAVX2 is digitsGeneric.")
	dst := Load(Param("dst"), GP64()).(GPVirtual)
	second := Load(Param("panel"), GP64()).(GPVirtual) // bytes to the second pair
	src := Load(Param("src"), GP64()).(GPVirtual)
	stride := Load(Param("stride"), GP64()).(GPVirtual)
	base := Load(Param("base"), GP64()).(GPVirtual)
	step := Load(Param("step"), GP64()).(GPVirtual)
	groups := Load(Param("groups"), GP64()).(GPVirtual)
	pairs := Load(Param("pairs"), GP64()).(GPVirtual)
	SHLQ(U8(2), second)
	SHLQ(U8(3), stride)
	SHLQ(U8(3), step)
	constant := func(x uint64) VecVirtual {
		v, r := YMM(), GP64()
		MOVQ(U64(x), r)
		VMOVQ(r, v.AsX())
		VPBROADCASTQ(v.AsX(), v)
		return v
	}
	fraction, leading := constant(1<<62-1), constant(1<<62)
	bias, ones, zero := constant(0x8000_8000_8000_8000), YMM(), YMM()
	VPCMPEQQ(ones, ones, ones)
	VPXOR(zero, zero, zero)
	order := YMM()
	VMOVDQU(lanes(), order)
	end, left := GP64(), GP64()
	Label("panel")
	MOVQ(second, left)
	Label("group")
	x, e, s := YMM(), YMM(), YMM()
	VMOVDQU(Mem{Base: src}, x)
	VPSLLQ(U8(1), x, e)
	VPSRLQ(U8(53), e, e)
	VPBROADCASTQ(Mem{Base: base}, s)
	VPSUBQ(e, s, s)
	VPSLLQ(U8(10), x, e)
	VPAND(fraction, e, e)
	VPOR(leading, e, e)
	VPSRLVQ(s, e, e)
	VPSUBQ(ones, e, e)
	VPSRLQ(U8(1), e, e)
	VPCMPGTQ(x, zero, s)
	VPXOR(s, e, e)
	VPSUBQ(s, e, e)
	VPADDQ(bias, e, e)
	VPXOR(bias, e, e)
	VPERMD(e, order, e)
	VMOVDQU(e.AsX(), Mem{Base: dst})
	CMPQ(pairs, I8(1))
	JE(LabelRef("one"))
	VEXTRACTI128(U8(1), e, Mem{Base: dst, Index: second, Scale: 1})
	Label("one")
	ADDQ(I8(16), dst)
	ADDQ(stride, src)
	ADDQ(step, base)
	DECQ(groups)
	JZ(LabelRef("done"))
	SUBQ(I8(16), left)
	JNZ(LabelRef("group"))
	MOVQ(pairs, end)
	DECQ(end)
	IMULQ(second, end)
	ADDQ(end, dst)
	JMP(LabelRef("panel"))
	Label("done")
	VZEROUPPER()
	RET()
}

// lanes are the lower halves of the four words of 64 bits, then the upper ones.
func lanes() Mem {
	m := GLOBL("digitLanes", RODATA|NOPTR)
	for i, l := range []uint32{0, 2, 4, 6, 1, 3, 5, 7} {
		DATA(4*i, U32(l))
	}
	return m
}
