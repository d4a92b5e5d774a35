package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// references writes the loops of referColumn and referRow.
func references() {
	// classes returns a constant and what notes the classes of all numbers.
	classes := func() (two, all VecVirtual) {
		two, all = ZMM(), ZMM()
		t := GP64()
		MOVQ(U32(2), t)
		VPBROADCASTQ(t, two)
		VPXORQ(all, all, all)
		return two, all
	}
	// number loads exponents and which numbers count.
	number := func(exp, cls Register, i GPVirtual, two, all, e VecVirtual, k Register) {
		c := ZMM()
		VPMOVSXDQ(Mem{Base: exp, Index: i, Scale: 4}, e)
		VPMOVZXBQ(Mem{Base: cls, Index: i, Scale: 1}, c)
		VPORQ(c, all, all)
		VPTESTMQ(two, c, k)
	}
	// special stores whether a class was an infinity's or NaN's.
	special := func(two, all VecVirtual, result int) {
		k, s := K(), GP64()
		VPADDQ(two, two, two)
		VPTESTMQ(two, all, k)
		KMOVB(k, s.As32())
		Store(s, ReturnIndex(result))
		VZEROUPPER()
		RET()
	}

	TEXT("referColumnAVX512", NOSPLIT, "func(ref *int64, exp *int32, cls *uint8, n int, scale int64) (special int)")
	Doc("referColumnAVX512 is the loop of referColumn for a positive multiple of 8 numbers. It returns 0 if",
		"none is special.")
	Pragma("noescape")
	ref, exp, cls := Load(Param("ref"), GP64()), Load(Param("exp"), GP64()), Load(Param("cls"), GP64())
	n := Load(Param("n"), GP64())
	two, all := classes()
	f, e, r, k := ZMM(), ZMM(), ZMM(), K()
	VPBROADCASTQ(NewParamAddr("scale", 32), f)
	i := GP64()
	XORQ(i, i)
	Label("numbers")
	number(exp, cls, i, two, all, e, k)
	at := Mem{Base: ref, Index: i, Scale: 8}
	VMOVDQU64(at, r)
	VPADDQ(f, e, e)
	VPMAXSQ(e, r, k, r)
	VMOVDQU64(r, at)
	ADDQ(Imm(8), i)
	CMPQ(i, n)
	JNE(LabelRef("numbers"))
	special(two, all, 0)

	TEXT("referRowAVX512", NOSPLIT, "func(exp *int32, cls *uint8, scale *int64, n int, tops *[8]int64) (special int)")
	Doc("referRowAVX512 is the loop of referRow for a positive multiple of 8 numbers, with the largest sums",
		"of every eighth number. It returns 0 if none is special.")
	Pragma("noescape")
	exp, cls = Load(Param("exp"), GP64()), Load(Param("cls"), GP64())
	scale := Load(Param("scale"), GP64())
	n = Load(Param("n"), GP64())
	two, all = classes()
	top, e, k := ZMM(), ZMM(), K()
	least := GP64()
	MOVQ(U64(1<<63), least)
	VPBROADCASTQ(least, top)
	i = GP64()
	XORQ(i, i)
	Label("numbers")
	number(exp, cls, i, two, all, e, k)
	VPADDQ(Mem{Base: scale, Index: i, Scale: 8}, e, e)
	VPMAXSQ(e, top, k, top)
	ADDQ(Imm(8), i)
	CMPQ(i, n)
	JNE(LabelRef("numbers"))
	VMOVDQU64(top, Mem{Base: Load(Param("tops"), GP64())})
	special(two, all, 0)
}
