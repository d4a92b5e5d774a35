package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// digits writes digitsAVX2. The loop for three or four pairs differs from that for one or two by
// the upper words.
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
	SHLQ(U8(5), step)
	constant := func(x uint64) VecVirtual {
		v, r := YMM(), GP64()
		MOVQ(U64(x), r)
		VMOVQ(r, v.AsX())
		VPBROADCASTQ(v.AsX(), v)
		return v
	}
	fraction, leading := constant(1<<62-1), constant(1<<62)
	bias, biasFlipped, word := constant(0x8000_8000_8000_8000), constant(0x0000_8000_8000_8000), constant(64)
	flip, ones, zero := constant(1<<63), YMM(), YMM()
	VPCMPEQQ(ones, ones, ones)
	VPXOR(zero, zero, zero)
	order := YMM()
	VMOVDQU(lanes(), order)
	third, end, left := GP64(), GP64(), GP64()
	LEAQ(Mem{Base: second, Index: second, Scale: 2}, third)
	MOVQ(pairs, end)
	DECQ(end)
	IMULQ(second, end)

	loop := func(name string, wide bool) {
		Label(name + "Panel")
		MOVQ(second, left)
		Label(name + "Group")
		x, m, s := YMM(), YMM(), YMM()
		lo, hi, t := YMM(), YMM(), YMM()
		VMOVDQU(Mem{Base: src}, x)
		VPSLLQ(U8(1), x, t)
		VPSRLQ(U8(53), t, t)
		VMOVDQU(Mem{Base: base}, s)
		VPSUBQ(t, s, s)
		VPSLLQ(U8(10), x, m)
		VPAND(fraction, m, m)
		VPOR(leading, m, m)
		VPSRLVQ(s, m, lo)
		if wide {
			VPSUBQ(s, zero, t)
			VPSLLVQ(t, m, t)
			VPOR(t, lo, lo)
			VPADDQ(word, s, t)
			VPSRLVQ(t, m, hi)
		}
		VPSUBQ(ones, lo, lo)
		VPSRLQ(U8(1), lo, lo)
		if wide {
			VPSLLQ(U8(63), hi, t)
			VPOR(t, lo, lo)
			VPSRLQ(U8(1), hi, hi)
		}
		VPCMPGTQ(x, zero, s)
		if wide {
			VPXOR(s, hi, hi)
			VPCMPEQQ(zero, lo, t)
			VPAND(s, t, t)
			VPSUBQ(t, hi, hi)
		}
		VPXOR(s, lo, lo)
		VPSUBQ(s, lo, lo)
		VPADDQ(bias, lo, lo)
		if wide { // a carry leaves a sum below bias
			VPXOR(flip, lo, t)
			VPCMPGTQ(t, biasFlipped, t)
			VPADDQ(bias, hi, hi)
			VPSUBQ(t, hi, hi)
			VPXOR(bias, hi, hi)
			VPERMD(hi, order, hi)
		}
		VPXOR(bias, lo, lo)
		VPERMD(lo, order, lo)
		VMOVDQU(lo.AsX(), Mem{Base: dst})
		if wide {
			VEXTRACTI128(U8(1), lo, Mem{Base: dst, Index: second, Scale: 1})
			VMOVDQU(hi.AsX(), Mem{Base: dst, Index: second, Scale: 2})
			CMPQ(pairs, I8(3))
			JE(LabelRef(name + "Short"))
			VEXTRACTI128(U8(1), hi, Mem{Base: dst, Index: third, Scale: 1})
		} else {
			CMPQ(pairs, I8(1))
			JE(LabelRef(name + "Short"))
			VEXTRACTI128(U8(1), lo, Mem{Base: dst, Index: second, Scale: 1})
		}
		Label(name + "Short")
		ADDQ(I8(16), dst)
		ADDQ(stride, src)
		ADDQ(step, base)
		DECQ(groups)
		JZ(LabelRef("done"))
		SUBQ(I8(16), left)
		JNZ(LabelRef(name + "Group"))
		ADDQ(end, dst)
		JMP(LabelRef(name + "Panel"))
	}
	CMPQ(pairs, I8(2))
	JG(LabelRef("widePanel"))
	loop("narrow", false)
	loop("wide", true)
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

// transpose writes transposeAVX2.
func transpose() {
	TEXT("transposeAVX2", NOSPLIT, "func(dst *float64, dstStride int, src *float64, srcStride int, rows, columns int)")
	Pragma("noescape")
	Doc("transposeAVX2 is transposeGeneric.")
	dst := Load(Param("dst"), GP64()).(GPVirtual)
	dstStride := Load(Param("dstStride"), GP64()).(GPVirtual)
	src := Load(Param("src"), GP64()).(GPVirtual)
	srcStride := Load(Param("srcStride"), GP64()).(GPVirtual)
	columns := Load(Param("columns"), GP64()).(GPVirtual)
	SHLQ(U8(3), dstStride)
	SHLQ(U8(3), srcStride)
	Label("column")
	from, to, rows, p := GP64(), GP64(), GP64(), GP64()
	MOVQ(src, from)
	MOVQ(dst, to)
	Load(Param("rows"), rows)
	Label("block")
	var x, y [4]VecVirtual
	for i := range x {
		x[i], y[i] = YMM(), YMM()
	}
	MOVQ(from, p)
	for i := range x {
		VMOVUPD(Mem{Base: p}, x[i])
		ADDQ(srcStride, p)
	}
	for i := range 2 {
		VUNPCKLPD(x[2*i+1], x[2*i], y[2*i])
		VUNPCKHPD(x[2*i+1], x[2*i], y[2*i+1])
	}
	VPERM2F128(U8(0x20), y[2], y[0], x[0])
	VPERM2F128(U8(0x20), y[3], y[1], x[1])
	VPERM2F128(U8(0x31), y[2], y[0], x[2])
	VPERM2F128(U8(0x31), y[3], y[1], x[3])
	for i := range x {
		VMOVUPD(x[i], Mem{Base: to})
		ADDQ(dstStride, to)
	}
	ADDQ(I8(32), from)
	SUBQ(I8(4), rows)
	JNZ(LabelRef("block"))
	LEAQ(Mem{Base: src, Index: srcStride, Scale: 4}, src)
	ADDQ(I8(32), dst)
	SUBQ(I8(4), columns)
	JNZ(LabelRef("column"))
	VZEROUPPER()
	RET()
}

// wordDigits writes wordDigitsAVX2. Four numbers at a time, their words are loaded, zeros where
// there are none, transposed, and shifted, each lane by its own count.
func wordDigits() {
	word := func(name string, words ...uint64) Mem {
		m := GLOBL(name, RODATA|NOPTR)
		for i := range 4 {
			DATA(8*i, U64(words[i%len(words)]))
		}
		return m
	}
	flip, minusOne := word("signBits", 1<<63), word("minusOne", 1<<64-1)
	bitsOfWord := word("bitsOfWord", 64)
	iota0, four := word("wordNumbers", 0, 1, 2, 3), word("fourWords", 4)
	biases, orders := word("digitBiases", 0x8000_8000_8000_8000), Mem{Symbol: Symbol{Name: "digitLanes", Static: true}, Base: StaticBase}
	TEXT("wordDigitsAVX2", NOSPLIT, "func(dst *int16, pairs, panel int, src *uint64, limbs int, numbers *int64, groups int)")
	Pragma("noescape")
	Doc("wordDigitsAVX2 is wordDigitsGeneric.")
	dst := Load(Param("dst"), GP64()).(GPVirtual)
	second := Load(Param("panel"), GP64()).(GPVirtual) // bytes to the second pair
	group := Load(Param("numbers"), GP64()).(GPVirtual)
	SHLQ(U8(2), second)
	bias, order, limbs := YMM(), YMM(), YMM()
	VMOVDQU(biases, bias)
	VMOVDQU(orders, order)
	r := Load(Param("limbs"), GP64()).(GPVirtual)
	VMOVQ(r, limbs.AsX())
	VPBROADCASTQ(limbs.AsX(), limbs)
	// The arrays of a WordGroup.
	const at, first, shift, sign, size = 0, 32, 64, 96, 128
	left := GP64()
	field := func(disp int) Mem { return Mem{Base: group, Disp: disp} }

	Label("panel")
	MOVQ(second, left)
	Label("group")
	src := Load(Param("src"), GP64()).(GPVirtual)
	var p [4]GPVirtual
	for n := range p {
		p[n] = GP64()
		MOVQ(field(at+8*n), p[n])
		LEAQ(Mem{Base: src, Index: p[n], Scale: 8}, p[n])
	}
	numbers, carry, last, rest := YMM(), YMM(), YMM(), YMM()
	VMOVDQU(bitsOfWord, rest)
	VPSUBQ(field(shift), rest, rest)
	VMOVDQU(iota0, numbers)
	out, pairs := GP64(), GP64()
	MOVQ(dst, out)
	Load(Param("pairs"), pairs)

	load := func() (m [4]VecVirtual) {
		var a, y [4]VecVirtual
		for n := range a {
			a[n] = YMM()
			i, k := YMM(), YMM()
			VPBROADCASTQ(field(first+8*n), i)
			VPADDQ(numbers, i, i)
			VPCMPGTQ(i, limbs, k)
			VPCMPGTQ(minusOne, i, i)
			VPAND(i, k, k)
			VPMASKMOVQ(Mem{Base: p[n]}, k, a[n])
			ADDQ(I8(32), p[n])
		}
		VPADDQ(four, numbers, numbers)
		for n := range y {
			y[n], m[n] = YMM(), YMM()
		}
		for n := range 2 {
			VPUNPCKLQDQ(a[2*n+1], a[2*n], y[2*n])
			VPUNPCKHQDQ(a[2*n+1], a[2*n], y[2*n+1])
		}
		VPERM2I128(U8(0x20), y[2], y[0], m[0])
		VPERM2I128(U8(0x20), y[3], y[1], m[1])
		VPERM2I128(U8(0x31), y[2], y[0], m[2])
		VPERM2I128(U8(0x31), y[3], y[1], m[3])
		return m
	}
	shifted := func(lo, hi VecVirtual) VecVirtual {
		x, t := YMM(), YMM()
		VPSRLVQ(field(shift), lo, x)
		VPSLLVQ(rest, hi, t)
		VPOR(t, x, x)
		return x
	}
	write := func(lo, hi VecVirtual) {
		x, b, t := shifted(lo, hi), YMM(), YMM()
		VPXOR(field(sign), x, x)
		// A carry leaves a sum below bias and the carry before.
		VPSUBQ(carry, bias, b)
		VPADDQ(b, x, x)
		VPXOR(flip, b, b)
		VPXOR(flip, x, t)
		VPCMPGTQ(t, b, carry)
		VPXOR(bias, x, x)
		VPERMD(x, order, x)
		VMOVDQU(x.AsX(), Mem{Base: out})
		DECQ(pairs)
		JZ(LabelRef("next"))
		VEXTRACTI128(U8(1), x, Mem{Base: out, Index: second, Scale: 1})
		LEAQ(Mem{Base: out, Index: second, Scale: 2}, out)
		DECQ(pairs)
		JZ(LabelRef("next"))
	}
	m := load()
	// The word below the digits, whose top bit rounds. -x is ^x + 1, of x + 1: ^x.
	below, zero := shifted(m[0], m[1]), YMM()
	VPXOR(zero, zero, zero)
	VPCMPGTQ(below, zero, carry)
	VPXOR(field(sign), carry, carry)
	write(m[1], m[2])
	write(m[2], m[3])
	VMOVDQA(m[3], last)
	Label("words")
	m = load()
	write(last, m[0])
	for n := range 3 {
		write(m[n], m[n+1])
	}
	VMOVDQA(m[3], last)
	JMP(LabelRef("words"))

	Label("next")
	ADDQ(I8(16), dst)
	SUBQ(I8(-size), group)
	groups := Load(Param("groups"), GP64()).(GPVirtual)
	DECQ(groups)
	Store(groups, Param("groups"))
	JZ(LabelRef("done"))
	SUBQ(I8(16), left)
	JNZ(LabelRef("group"))
	end := Load(Param("pairs"), GP64()).(GPVirtual)
	DECQ(end)
	IMULQ(second, end)
	ADDQ(end, dst)
	JMP(LabelRef("panel"))
	Label("done")
	VZEROUPPER()
	RET()
}

// floatScan writes floatScanAVX2.
func floatScan() {
	TEXT("floatScanAVX2", NOSPLIT, "func(most, sum *float64, low *uint64, src *float64, stride, vectors, columns int)")
	Pragma("noescape")
	Doc("floatScanAVX2 is floatScanGeneric for vectors > 0, a multiple of 4, and columns > 0.")
	most := Load(Param("most"), GP64()).(GPVirtual)
	sum := Load(Param("sum"), GP64()).(GPVirtual)
	low := Load(Param("low"), GP64()).(GPVirtual)
	src := Load(Param("src"), GP64()).(GPVirtual)
	stride := Load(Param("stride"), GP64()).(GPVirtual)
	vectors := Load(Param("vectors"), GP64()).(GPVirtual)
	columns := Load(Param("columns"), GP64()).(GPVirtual)
	SHLQ(U8(3), stride)
	constant := func(x uint64) VecVirtual {
		v, r := YMM(), GP64()
		MOVQ(U64(x), r)
		VMOVQ(r, v.AsX())
		VPBROADCASTQ(v.AsX(), v)
		return v
	}
	abs, fraction, leading := constant(1<<63-1), constant(1<<52-1), constant(1<<52)
	two52, zero := constant(math.Float64bits(1<<52)), YMM()
	VPXOR(zero, zero, zero)
	i := GP64()
	Label("column")
	XORQ(i, i)
	Label("group")
	at := func(p GPVirtual) Mem { return Mem{Base: p, Index: i, Scale: 8} }
	x, m, t, k := YMM(), YMM(), YMM(), YMM()
	VPAND(at(src), abs, x)
	VMAXPD(at(most), x, t)
	VMOVUPD(t, at(most))
	VADDPD(at(sum), x, t)
	VMOVUPD(t, at(sum))
	// The last bit of the significand, 2^z, becomes a number of binary64, and that its exponent.
	VPAND(fraction, x, m)
	VPOR(leading, m, m)
	VPSUBQ(m, zero, t)
	VPAND(t, m, m)
	VPADDQ(two52, m, m)
	VSUBPD(two52, m, m)
	VPSRLQ(U8(52), m, m)
	VPSRLQ(U8(52), x, t)
	VPADDQ(t, m, m)
	VPCMPEQQ(zero, x, t)
	VPOR(t, m, m)
	VPCMPGTQ(x, leading, k)
	VPANDN(k, t, t)
	VPANDN(m, t, m)
	VPMINUD(at(low), m, m)
	VMOVDQU(m, at(low))
	ADDQ(I8(4), i)
	CMPQ(i, vectors)
	JLT(LabelRef("group"))
	ADDQ(stride, src)
	DECQ(columns)
	JNZ(LabelRef("column"))
	VZEROUPPER()
	RET()
}

// wideFloatScan writes floatScanAVX512, with the steps of floatScanAVX2 but for the last bit of a
// significand, which a conversion makes a number of binary64.
func wideFloatScan() {
	TEXT("floatScanAVX512", NOSPLIT, "func(most, sum *float64, low *uint64, src *float64, stride, vectors, columns int)")
	Pragma("noescape")
	Doc("floatScanAVX512 is floatScanGeneric for vectors > 0, a multiple of 8, and columns > 0.")
	most := Load(Param("most"), GP64()).(GPVirtual)
	sum := Load(Param("sum"), GP64()).(GPVirtual)
	low := Load(Param("low"), GP64()).(GPVirtual)
	src := Load(Param("src"), GP64()).(GPVirtual)
	stride := Load(Param("stride"), GP64()).(GPVirtual)
	vectors := Load(Param("vectors"), GP64()).(GPVirtual)
	columns := Load(Param("columns"), GP64()).(GPVirtual)
	SHLQ(U8(3), stride)
	constant := func(x uint64) VecVirtual {
		v, r := ZMM(), GP64()
		MOVQ(U64(x), r)
		VPBROADCASTQ(r, v)
		return v
	}
	abs, fraction, leading, zero := constant(1<<63-1), constant(1<<52-1), constant(1<<52), ZMM()
	VPXORQ(zero, zero, zero)
	i, ahead := GP64(), GP64()
	Label("column")
	XORQ(i, i)
	LEAQ(Mem{Base: src, Index: stride, Scale: 8}, ahead)
	Label("group")
	const ternary = 0xea // a & b | c
	at := func(p GPVirtual) Mem { return Mem{Base: p, Index: i, Scale: 8} }
	x, m, t := ZMM(), ZMM(), ZMM()
	some, normal := K(), K()
	VPANDQ(at(src), abs, x)
	PREFETCHT0(at(ahead))
	VMAXPD(at(most), x, t)
	VMOVUPD(t, at(most))
	VADDPD(at(sum), x, t)
	VMOVUPD(t, at(sum))
	VMOVDQA64(x, m)
	VPTERNLOGQ(U8(ternary), leading, fraction, m)
	VPSUBQ(m, zero, t)
	VPANDQ(t, m, m)
	VCVTUQQ2PD(m, m)
	VPSRLQ(U8(52), m, m)
	VPSRLQ(U8(52), x, t)
	VPTESTMQ(x, x, some)
	VPTESTMQ(t, t, some, normal)
	VPADDQ(t, m, normal, m)
	VMOVDQA64_Z(m, normal, m)
	VMOVDQU64(at(low), t)
	VPMINUQ(m, t, some, t)
	VMOVDQU64(t, at(low))
	ADDQ(I8(8), i)
	CMPQ(i, vectors)
	JLT(LabelRef("group"))
	ADDQ(stride, src)
	DECQ(columns)
	JNZ(LabelRef("column"))
	VZEROUPPER()
	RET()
}

// wideDigits writes digitsAVX512, with the steps of digitsAVX2 on two groups at a time.
func wideDigits() {
	const lessThan = 1 // of unsigned comparisons
	TEXT("digitsAVX512", NOSPLIT, "func(dst *int16, pairs, panel int, src *float64, stride int, base *int64, step, groups int)")
	Pragma("noescape")
	Doc("digitsAVX512 is digitsGeneric for an even number of groups and panels of a multiple of 8.")
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
	SHLQ(U8(5), step)
	constant := func(x uint64) VecVirtual {
		v, r := ZMM(), GP64()
		MOVQ(U64(x), r)
		VPBROADCASTQ(r, v)
		return v
	}
	fraction, leading := constant(1<<62-1), constant(1<<62)
	bias, word, zero := constant(0x8000_8000_8000_8000), constant(64), ZMM()
	one := constant(1)
	VPXORQ(zero, zero, zero)
	order := ZMM()
	// The lower halves of eight words, then the upper ones.
	VMOVDQU64(quads("wideDigitLanes", func(i int) uint64 {
		lane := uint64(i%4*4 + i/4)
		return lane | (lane+2)<<32
	}), order)
	third, end, left := GP64(), GP64(), GP64()
	LEAQ(Mem{Base: second, Index: second, Scale: 2}, third)
	MOVQ(pairs, end)
	DECQ(end)
	IMULQ(second, end)

	loop := func(name string, wide bool) {
		Label(name + "Panel")
		MOVQ(second, left)
		Label(name + "Group")
		x, m, s := ZMM(), ZMM(), ZMM()
		lo, hi, t := ZMM(), ZMM(), ZMM()
		negative, carry := K(), K()
		VMOVDQU(Mem{Base: src}, x.AsY())
		VINSERTI64X4(U8(1), Mem{Base: src, Index: stride, Scale: 1}, x, x)
		VPSLLQ(U8(1), x, t)
		VPSRLQ(U8(53), t, t)
		VMOVDQU(Mem{Base: base}, s.AsY())
		VINSERTI64X4(U8(1), Mem{Base: base, Index: step, Scale: 1}, s, s)
		VPSUBQ(t, s, s)
		VPSLLQ(U8(10), x, m)
		const ternary = 0xea // a & b | c
		VPTERNLOGQ(U8(ternary), leading, fraction, m)
		VPSRLVQ(s, m, lo)
		if wide {
			VPSUBQ(s, zero, t)
			VPSLLVQ(t, m, t)
			VPORQ(t, lo, lo)
			VPADDQ(word, s, t)
			VPSRLVQ(t, m, hi)
		}
		VPADDQ(one, lo, lo)
		VPSRLQ(U8(1), lo, lo)
		if wide {
			VPSLLQ(U8(63), hi, t)
			VPORQ(t, lo, lo)
			VPSRLQ(U8(1), hi, hi)
		}
		VPMOVQ2M(x, negative)
		if wide { // -y has the upper word -hi - 1, but -hi where the lower one is 0
			VPTESTMQ(lo, lo, negative, carry)
			VPSUBQ(hi, zero, negative, hi)
			VPSUBQ(one, hi, carry, hi)
		}
		VPSUBQ(lo, zero, negative, lo)
		VPADDQ(bias, lo, lo)
		if wide { // a carry leaves a sum below bias
			VPCMPUQ(U8(lessThan), bias, lo, carry)
			VPADDQ(bias, hi, hi)
			VPADDQ(one, hi, carry, hi)
			VPXORQ(bias, hi, hi)
			VPERMD(hi, order, hi)
		}
		VPXORQ(bias, lo, lo)
		VPERMD(lo, order, lo)
		VMOVDQU(lo.AsY(), Mem{Base: dst})
		if wide {
			VEXTRACTI64X4(U8(1), lo, Mem{Base: dst, Index: second, Scale: 1})
			VMOVDQU(hi.AsY(), Mem{Base: dst, Index: second, Scale: 2})
			CMPQ(pairs, I8(3))
			JE(LabelRef(name + "Short"))
			VEXTRACTI64X4(U8(1), hi, Mem{Base: dst, Index: third, Scale: 1})
		} else {
			CMPQ(pairs, I8(1))
			JE(LabelRef(name + "Short"))
			VEXTRACTI64X4(U8(1), lo, Mem{Base: dst, Index: second, Scale: 1})
		}
		Label(name + "Short")
		ADDQ(I8(32), dst)
		LEAQ(Mem{Base: src, Index: stride, Scale: 2}, src)
		LEAQ(Mem{Base: base, Index: step, Scale: 2}, base)
		SUBQ(I8(2), groups)
		JZ(LabelRef("done"))
		SUBQ(I8(32), left)
		JNZ(LabelRef(name + "Group"))
		ADDQ(end, dst)
		JMP(LabelRef(name + "Panel"))
	}
	CMPQ(pairs, I8(2))
	JG(LabelRef("widePanel"))
	loop("narrow", false)
	loop("wide", true)
	Label("done")
	VZEROUPPER()
	RET()
}
