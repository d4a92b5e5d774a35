package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// quads are vectors of eight words in memory.
func quads(name string, word func(i int) uint64) Mem {
	m := GLOBL(name, RODATA|NOPTR)
	for i := range 8 {
		DATA(8*i, U64(word(i)))
	}
	return m
}

// wordRows writes wordRowsAVX512: number after number, eight words at a time. Loads leave out words
// that a number does not have, so that these are zeros.
func wordRows() {
	const lessThan = 1 // of unsigned comparisons
	all := func(x uint64) func(int) uint64 { return func(int) uint64 { return x } }
	biases := quads("wordBiases", all(0x8000_8000_8000_8000))
	places := quads("wordPlaces", func(i int) uint64 { return uint64(i) })
	eights := quads("eightWords", all(8))
	TEXT("wordRowsAVX512", NOSPLIT, "func(dst *uint64, step, words int, sig *uint64, limbs int, exp *int32, cls *uint8, stride int, base *int64, baseStep, count, ahead int)")
	Pragma("noescape")
	Doc("wordRowsAVX512 is what WordRows says, for count > 0 numbers.")
	dst := Load(Param("dst"), GP64()).(GPVirtual)
	sig := Load(Param("sig"), GP64()).(GPVirtual)
	limbs := Load(Param("limbs"), GP64()).(GPVirtual)
	exp := Load(Param("exp"), GP64()).(GPVirtual)
	cls := Load(Param("cls"), GP64()).(GPVirtual)
	base := Load(Param("base"), GP64()).(GPVirtual)
	// From number to number, and to the numbers ahead, in bytes.
	sigStep, dstStep, sigAhead := AllocLocal(8), AllocLocal(8), AllocLocal(8)
	t := GP64()
	Load(Param("ahead"), t)
	IMULQ(limbs, t)
	SHLQ(U8(3), t)
	MOVQ(t, sigAhead)
	Load(Param("stride"), t)
	IMULQ(limbs, t)
	SHLQ(U8(3), t)
	MOVQ(t, sigStep)
	Load(Param("step"), t)
	words := Load(Param("words"), GP64()).(GPVirtual)
	IMULQ(words, t)
	SHLQ(U8(3), t)
	MOVQ(t, dstStep)
	bias, ones, iota0, most, eight := ZMM(), ZMM(), ZMM(), ZMM(), ZMM()
	VMOVDQU64(eights, eight)
	VMOVDQU64(biases, bias)
	VPTERNLOGQ(U8(0xff), ones, ones, ones)
	VMOVDQU64(places, iota0)
	VPBROADCASTQ(limbs, most)

	Label("number")
	out, left := GP64(), GP64()
	MOVQ(dst, out)
	Load(Param("words"), left)
	class := GP64()
	MOVBQZX(Mem{Base: cls}, class)
	sign, carry := GP64(), GP64()
	MOVQ(class, sign)
	ANDQ(I8(1), sign)
	SHRQ(U8(1), class)
	CMPQ(class, I8(1))
	JNE(LabelRef("zero"))
	pos := GP64()
	MOVLQSX(Mem{Base: exp}, t)
	Load(Param("ahead"), pos)
	PREFETCHT0(Mem{Base: exp, Index: pos, Scale: 4})
	PREFETCHT0(Mem{Base: cls, Index: pos, Scale: 1})
	MOVQ(Mem{Base: base}, pos)
	SUBQ(t, pos)
	// The bit below the digits rounds. -x is ^x + 1, of x + 1: ^x.
	word := GP64()
	XORQ(carry, carry)
	LEAQ(Mem{Base: pos, Disp: -1}, t)
	MOVQ(t, word)
	SARQ(U8(6), word)
	CMPQ(word, limbs)
	JCC(LabelRef("rounded"))
	MOVQ(Mem{Base: sig, Index: word, Scale: 8}, word)
	BTQ(t, word)
	ADCQ(Imm(0), carry)
	Label("rounded")
	XORQ(sign, carry)
	NEGQ(sign)
	signs, at := ZMM(), ZMM()
	VPBROADCASTQ(sign, signs)
	// The word of the lowest bit, and the shift.
	MOVQ(pos, word)
	SARQ(U8(6), word)
	CMPQ(word, limbs)
	CMOVQGT(limbs, word)
	ANDQ(I8(63), pos)
	down, up := XMM(), XMM()
	VMOVQ(pos, down)
	NEGQ(pos)
	ADDQ(I8(64), pos)
	VMOVQ(pos, up)
	VPBROADCASTQ(word, at)
	VPADDQ(iota0, at, at)
	p := GP64()
	LEAQ(Mem{Base: sig, Index: word, Scale: 8}, p)

	Label("words")
	lo, hi := ZMM(), ZMM()
	there := K()
	VPCMPUQ(U8(lessThan), most, at, there)
	VMOVDQU64_Z(Mem{Base: p}, there, lo)
	VPSUBQ(ones, at, hi)
	VPCMPUQ(U8(lessThan), most, hi, there)
	VMOVDQU64_Z(Mem{Base: p, Disp: 8}, there, hi)
	g, q := GP64(), GP64()
	MOVQ(sigAhead, g)
	PREFETCHT0(Mem{Base: p, Index: g, Scale: 1})
	VPSRLQ(down, lo, lo)
	VPSLLQ(up, hi, hi)
	VPTERNLOGQ(U8(0x56), signs, hi, lo) // (lo | hi) ^ signs
	VPADDQ(bias, lo, lo)
	// Lanes that carry, those that pass a carry on, and what that makes.
	gen, pass := K(), K()
	VPCMPUQ(U8(lessThan), bias, lo, gen)
	VPCMPEQQ(ones, lo, pass)
	KMOVW(gen, g.As32())
	KMOVW(pass, q.As32())
	LEAQ(Mem{Base: carry, Index: g, Scale: 2}, g)
	ADDQ(q, g)
	XORQ(q, g)
	KMOVW(g.As32(), gen)
	VPSUBQ(ones, lo, gen, lo)
	VPXORQ(bias, lo, lo)
	MOVQ(g, carry)
	SHRQ(U8(8), carry)
	CMPQ(left, I8(8))
	JL(LabelRef("tail"))
	VMOVDQU64(lo, Mem{Base: out})
	SUBQ(I8(8), left)
	JZ(LabelRef("next"))
	ADDQ(I8(64), p)
	ADDQ(I8(64), out)
	VPADDQ(eight, at, at)
	JMP(LabelRef("words"))

	Label("zero")
	VPXORQ(lo, lo, lo)
	Label("clear")
	CMPQ(left, I8(8))
	JL(LabelRef("tail"))
	VMOVDQU64(lo, Mem{Base: out})
	ADDQ(I8(64), out)
	SUBQ(I8(8), left)
	JNZ(LabelRef("clear"))
	JMP(LabelRef("next"))

	Label("tail")
	VPBROADCASTQ(left, hi)
	VPCMPUQ(U8(lessThan), hi, iota0, there)
	VMOVDQU64(lo, there, Mem{Base: out})

	Label("next")
	ADDQ(dstStep, dst)
	ADDQ(sigStep, sig)
	Load(Param("stride"), t)
	LEAQ(Mem{Base: exp, Index: t, Scale: 4}, exp)
	ADDQ(t, cls)
	Load(Param("baseStep"), t)
	LEAQ(Mem{Base: base, Index: t, Scale: 8}, base)
	Load(Param("count"), t)
	DECQ(t)
	Store(t, Param("count"))
	JNZ(LabelRef("number"))
	VZEROUPPER()
	RET()
}

// transposeRows writes transposeRowsAVX512: squares of 16 numbers and 16 pairs.
func transposeRows() {
	TEXT("transposeRowsAVX512", NOSPLIT, "func(dst *int16, pairs int, rows *uint64, words, panels int)")
	Pragma("noescape")
	Doc("transposeRowsAVX512 is what TransposeRows says, for panels > 0 of 32 numbers.")
	dst, pairs, rows, size, panels, p, q, left, column := RDI, RBX, RSI, RCX, RDX, R8, R9, R10, R11
	Load(Param("dst"), dst)
	Load(Param("pairs"), pairs)
	Load(Param("rows"), rows)
	Load(Param("words"), size)
	SHLQ(U8(3), size)
	Load(Param("panels"), panels)
	x, y := zmm[:16], zmm[16:]
	Label("panel")
	for half := range 2 {
		name := func(s string) string { return fmt.Sprintf("%s%d", s, half) }
		MOVQ(rows, column)
		LEAQ(Mem{Base: dst, Disp: 64 * half}, q)
		MOVQ(pairs, left)
		Label(name("square"))
		MOVQ(column, p)
		for r := range x {
			VMOVDQU32(Mem{Base: p}, x[r])
			if r < len(x)-1 {
				ADDQ(size, p)
			}
		}
		for i := range 8 {
			VPUNPCKLDQ(x[2*i+1], x[2*i], y[2*i])
			VPUNPCKHDQ(x[2*i+1], x[2*i], y[2*i+1])
		}
		for i := 0; i < 16; i += 4 {
			for j := range 2 {
				VPUNPCKLQDQ(y[i+j+2], y[i+j], x[i+2*j])
				VPUNPCKHQDQ(y[i+j+2], y[i+j], x[i+2*j+1])
			}
		}
		// Lane l of x[4i+j] has pair 4l + j of numbers 4i to 4i + 3.
		const even, odd = 0x88, 0xdd // lanes of two vectors
		for j := range 4 {
			VSHUFI32X4(U8(even), x[4+j], x[j], y[4*j])
			VSHUFI32X4(U8(odd), x[4+j], x[j], y[4*j+1])
			VSHUFI32X4(U8(even), x[12+j], x[8+j], y[4*j+2])
			VSHUFI32X4(U8(odd), x[12+j], x[8+j], y[4*j+3])
		}
		for j := range 4 {
			VSHUFI32X4(U8(even), y[4*j+2], y[4*j], x[j])
			VSHUFI32X4(U8(even), y[4*j+3], y[4*j+1], x[4+j])
			VSHUFI32X4(U8(odd), y[4*j+2], y[4*j], x[8+j])
			VSHUFI32X4(U8(odd), y[4*j+3], y[4*j+1], x[12+j])
		}
		for r := range x {
			VMOVDQU32(x[r], Mem{Base: q, Disp: 128 * r})
			DECQ(left)
			JZ(LabelRef(name("done")))
		}
		ADDQ(I8(64), column)
		ADDQ(I32(128*16), q)
		JMP(LabelRef(name("square")))
		Label(name("done"))
		MOVQ(size, p)
		SHLQ(U8(4), p)
		ADDQ(p, rows)
	}
	MOVQ(pairs, p)
	SHLQ(U8(7), p)
	ADDQ(p, dst)
	DECQ(panels)
	JNZ(LabelRef("panel"))
	VZEROUPPER()
	RET()
}

// wordScan writes wordScanAVX512: eight numbers at a time, whose first and last words are gathered.
func wordScan() {
	const most, greater = 900, 6 // of unsigned comparisons
	all := func(x uint64) func(int) uint64 { return func(int) uint64 { return x } }
	constant := func(name string, word func(int) uint64) VecVirtual {
		v := ZMM()
		VMOVDQU64(quads(name, word), v)
		return v
	}
	TEXT("wordScanAVX512", NOSPLIT, "func(most, sum *float64, low *int64, sig *uint64, limbs int, exp *int32, cls *uint8, stride, vectors, columns, ahead int) int")
	Pragma("noescape")
	Doc("wordScanAVX512 is what ScanWords says, for vectors > 0 and columns > 0. It returns 0 for true.")
	mosts := Load(Param("most"), GP64()).(GPVirtual)
	sums := Load(Param("sum"), GP64()).(GPVirtual)
	lows := Load(Param("low"), GP64()).(GPVirtual)
	sig := Load(Param("sig"), GP64()).(GPVirtual)
	exp := Load(Param("exp"), GP64()).(GPVirtual)
	cls := Load(Param("cls"), GP64()).(GPVirtual)
	size := Load(Param("limbs"), GP64()).(GPVirtual) // of a number
	SHLQ(U8(3), size)
	one := constant("scanOne", all(1))
	expBias, expMost := constant("scanExponents", all(most)), constant("scanMost", all(2*most))
	bias, magic := constant("scanBias", all(1022)), constant("scanMagic", all(1023))
	lanes, counts := constant("scanLanes", func(i int) uint64 { return uint64(i) }), ZMM()
	zero, bits := ZMM(), ZMM()
	VPXORQ(zero, zero, zero)
	// Places of words of eight numbers, and the bits of a number.
	VPBROADCASTQ(size, bits)
	VPMULLQ(bits, lanes, counts)
	VPSLLQ(U8(3), bits, bits)
	bad := K()
	KXORW(bad, bad, bad)

	Label("column")
	i, p, t := GP64(), GP64(), GP64()
	XORQ(i, i)
	MOVQ(sig, p)
	Label("group")
	valid, finite, k := K(), K(), K()
	Load(Param("vectors"), t)
	SUBQ(i, t)
	c, e, top, low := ZMM(), ZMM(), ZMM(), ZMM()
	VPBROADCASTQ(t, c)
	VPCMPQ(U8(greater), lanes, c, valid)
	VPMOVZXBQ_Z(Mem{Base: cls, Index: i, Scale: 1}, valid, c)
	VPMOVSXDQ_Z(Mem{Base: exp, Index: i, Scale: 4}, valid, e)
	VPSRLQ(U8(1), c, c)
	VPCMPEQQ(one, c, finite)
	VPCMPUQ(U8(greater), one, c, k)
	KORW(k, bad, bad)
	VPADDQ(expBias, e, c)
	VPCMPUQ(U8(greater), expMost, c, finite, k)
	KORW(k, bad, bad)
	VPXORQ(top, top, top)
	VPXORQ(low, low, low)
	KMOVW(finite, k)
	VPGATHERQQ(Mem{Base: p, Index: counts, Scale: 1}, k, low)
	KMOVW(finite, k)
	ADDQ(size, p)
	VPGATHERQQ(Mem{Base: p, Index: counts, Scale: 1, Disp: -8}, k, top)
	SUBQ(size, p)
	VPTESTNMQ(low, low, finite, k)
	KORW(k, bad, bad)
	// Cut off to binary64.
	VPSLLQ(U8(1), top, top)
	VPSRLQ(U8(12), top, top)
	VPADDQ(bias, e, c)
	VPSLLQ(U8(52), c, c)
	VPORQ(top, c, c)
	VMOVDQA64_Z(c, finite, c)
	at := func(p GPVirtual) Mem { return Mem{Base: p, Index: i, Scale: 8} }
	VMOVUPD_Z(at(mosts), valid, top)
	VMAXPD(top, c, top)
	VMOVUPD(top, valid, at(mosts))
	VMOVUPD_Z(at(sums), valid, top)
	VADDPD(top, c, top)
	VMOVUPD(top, valid, at(sums))
	// The lowest bit is a number of binary64: its exponent.
	VPSUBQ(low, zero, c)
	VPANDQ(low, c, low)
	VCVTUQQ2PD(low, low)
	VPSRLQ(U8(52), low, low)
	VPADDQ(e, low, low)
	VPSUBQ(magic, low, low)
	VPSUBQ(bits, low, low)
	VMOVDQU64_Z(at(lows), valid, c)
	VPMINSQ(low, c, finite, c)
	VMOVDQU64(c, valid, at(lows))
	// The same vectors of a column ahead.
	Load(Param("ahead"), t)
	ADDQ(i, t)
	PREFETCHT0(Mem{Base: cls, Index: t, Scale: 1})
	PREFETCHT0(Mem{Base: exp, Index: t, Scale: 4})
	SUBQ(i, t)
	IMULQ(size, t)
	ADDQ(p, t)
	for range 8 {
		PREFETCHT0(Mem{Base: t})
		ADDQ(size, t)
		PREFETCHT0(Mem{Base: t, Disp: -8})
	}
	LEAQ(Mem{Base: p, Index: size, Scale: 8}, p)
	ADDQ(I8(8), i)
	Load(Param("vectors"), t)
	CMPQ(i, t)
	JLT(LabelRef("group"))
	Load(Param("stride"), t)
	ADDQ(t, cls)
	LEAQ(Mem{Base: exp, Index: t, Scale: 4}, exp)
	IMULQ(size, t)
	ADDQ(t, sig)
	Load(Param("columns"), t)
	DECQ(t)
	Store(t, Param("columns"))
	JNZ(LabelRef("column"))
	KMOVW(bad, t.As32())
	Store(t, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// twoWordRows writes twoWordRowsAVX512: eight numbers at a time, their lower and upper words side
// by side. Shifts by 64 or more, and by less than 0, leave 0.
func twoWordRows() {
	const lessThan = 1 // of unsigned comparisons
	all := func(x uint64) func(int) uint64 { return func(int) uint64 { return x } }
	constant := func(name string, word func(i int) uint64) VecVirtual {
		v := ZMM()
		VMOVDQU64(quads(name, word), v)
		return v
	}
	TEXT("twoWordRowsAVX512", NOSPLIT, "func(dst *uint64, places *int64, next int, sig *uint64, exp *int32, cls *uint8, base *int64, baseStep, count, ahead int)")
	Pragma("noescape")
	Doc("twoWordRowsAVX512 is what TwoWordRows says, for count > 0 numbers: the i-th of each eight goes",
		"places[i] bytes behind dst, which then moves by next.")
	dst := Load(Param("dst"), GP64()).(GPVirtual)
	places := Load(Param("places"), GP64()).(GPVirtual)
	sig := Load(Param("sig"), GP64()).(GPVirtual)
	exp := Load(Param("exp"), GP64()).(GPVirtual)
	cls := Load(Param("cls"), GP64()).(GPVirtual)
	base := Load(Param("base"), GP64()).(GPVirtual)
	count := Load(Param("count"), GP64()).(GPVirtual)
	bias, one, word := constant("rowBiases", all(0x8000_8000_8000_8000)), constant("rowOne", all(1)), constant("rowBits", all(64))
	lows, highs := constant("lowWords", func(i int) uint64 { return uint64(2 * i) }), constant("highWords", func(i int) uint64 { return uint64(2*i + 1) })
	first, second := constant("firstRows", func(i int) uint64 { return uint64(i/2 + i%2*8) }), constant("secondRows", func(i int) uint64 { return uint64(4 + i/2 + i%2*8) })
	bases, zero := ZMM(), ZMM()
	VPXORQ(zero, zero, zero)
	VPBROADCASTQ(Mem{Base: base}, bases)
	there, words := K(), K()
	mask := GP64()
	MOVQ(I32(-1), mask)
	KMOVW(mask.As32(), there)
	KMOVW(mask.As32(), words)
	MOVQ(U64(8), RCX)

	Label("group")
	// The first RCX of eight numbers are there.
	CMPQ(count, I8(8))
	JGE(LabelRef("whole"))
	MOVQ(count, RCX)
	MOVQ(U64(1), mask)
	SHLQ(CL, mask)
	SHLQ(CL, mask)
	DECQ(mask)
	KMOVW(mask.As32(), words)
	MOVQ(U64(1), mask)
	SHLQ(CL, mask)
	DECQ(mask)
	KMOVW(mask.As32(), there)
	Label("whole")
	t := GP64()
	Load(Param("ahead"), t)
	PREFETCHT0(Mem{Base: exp, Index: t, Scale: 4})
	PREFETCHT0(Mem{Base: cls, Index: t, Scale: 1})
	SHLQ(U8(4), t)
	PREFETCHT0(Mem{Base: sig, Index: t, Scale: 1})
	PREFETCHT0(Mem{Base: sig, Index: t, Scale: 1, Disp: 64})
	Load(Param("baseStep"), t)
	TESTQ(t, t)
	JZ(LabelRef("based"))
	VMOVDQU64_Z(Mem{Base: base}, there, bases)
	ADDQ(I8(64), base)
	Label("based")
	lo, hi, x := ZMM(), ZMM(), ZMM()
	upper, finite := K(), K()
	VMOVDQU64_Z(Mem{Base: sig}, words, lo)
	KSHIFTRW(U8(8), words, upper)
	VMOVDQU64_Z(Mem{Base: sig, Disp: 64}, upper, x)
	VMOVDQA64(lo, hi)
	VPERMT2Q(x, lows, lo)
	VPERMT2Q(x, highs, hi)
	sign, pos := ZMM(), ZMM()
	VPMOVZXBQ_Z(Mem{Base: cls}, there, sign)
	VPMOVSXDQ_Z(Mem{Base: exp}, there, pos)
	VPSUBQ(pos, bases, pos)
	VPSRLQ(U8(1), sign, x)
	VPCMPEQQ(one, x, finite)
	VMOVDQA64_Z(lo, finite, lo)
	VMOVDQA64_Z(hi, finite, hi)
	VPANDQ(one, sign, sign)
	// The bit below the digits rounds. -x is ^x + 1, of x + 1: ^x.
	carry, y, d := ZMM(), [2]VecVirtual{ZMM(), ZMM()}, ZMM()
	VPSUBQ(one, pos, d)
	VPSRLVQ(d, lo, carry)
	VPSUBQ(word, d, d)
	VPSRLVQ(d, hi, x)
	VPORQ(x, carry, carry)
	VPANDQ(one, carry, carry)
	VPXORQ(sign, carry, carry)
	VPSUBQ(sign, zero, sign)
	// Word w of x begins at bit b = pos + 64 w: of the words of the number, from 0 and 64 on.
	for w := range y {
		down, up := ZMM(), ZMM()
		if w == 0 {
			VMOVDQA64(pos, down)
		} else {
			VPADDQ(word, pos, down)
		}
		VPSUBQ(down, zero, up)
		VPSRLVQ(down, lo, y[w])
		VPSLLVQ(up, lo, x)
		VPORQ(x, y[w], y[w])
		VPSUBQ(word, down, down)
		VPADDQ(word, up, up)
		VPSRLVQ(down, hi, x)
		VPSLLVQ(up, hi, d)
		const orOr = 0xfe
		VPTERNLOGQ(U8(orOr), d, x, y[w])
		VPXORQ(sign, y[w], y[w])
	}
	// Digits that are 2^15 more are plain ones; the lower word may carry, once.
	over, wrapped := K(), K()
	VPADDQ(bias, y[0], y[0])
	VPCMPUQ(U8(lessThan), bias, y[0], over)
	VPADDQ(carry, y[0], y[0])
	VPCMPUQ(U8(lessThan), carry, y[0], wrapped)
	KORW(over, wrapped, over)
	VPADDQ(bias, y[1], y[1])
	VPADDQ(one, y[1], over, y[1])
	for w := range y {
		VPXORQ(bias, y[w], y[w])
	}
	VMOVDQA64(y[0], x)
	VPERMT2Q(y[1], first, x)
	VPERMT2Q(y[1], second, y[0])
	left := GP64()
	MOVQ(RCX, left)
	for i := range 8 {
		MOVQ(Mem{Base: places, Disp: 8 * i}, t)
		v := x
		if i >= 4 {
			v = y[0]
		}
		VEXTRACTI64X2(U8(i%4), v, Mem{Base: dst, Index: t, Scale: 1})
		if i < 7 {
			DECQ(left)
			JZ(LabelRef("next"))
		}
	}
	Label("next")
	Load(Param("next"), t)
	ADDQ(t, dst)
	ADDQ(I32(128), sig)
	ADDQ(I8(32), exp)
	ADDQ(I8(8), cls)
	SUBQ(I8(8), count)
	JG(LabelRef("group"))
	VZEROUPPER()
	RET()
}
