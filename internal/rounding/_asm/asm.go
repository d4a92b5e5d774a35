// Command _asm writes the kernels of package rounding:
//
//	go run . -out ../kernels_amd64.s -stubs ../stubs_amd64.go -pkg rounding
//
// Each is described by the loop it equals in ../generic.go.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	compact "github.com/halfulp/halfulp/internal/_compact"
)

const (
	// wordBits is the radix of the sums.
	wordBits = 39
	// magic is 1.5 2^52 as a word: added to a float64 below 2^51 it makes an integer of it.
	magic = 0x4338_0000_0000_0000
	sign  = 1 << 63
	// lowBits is the number of bits in the lower half of the last word of M.
	lowBits = 31
)

func main() {
	ConstraintExpr("amd64,!purego")
	integers()
	round()
	remainders()
	floats()
	significands()
	exponents()
	wideIntegers()
	wideRound()
	Generate()
	compact.Out()
}

// constant is a vector of four equal words in memory.
func constant(name string, x uint64) Mem {
	m := GLOBL(name, RODATA|NOPTR)
	for i := range 4 {
		DATA(8*i, U64(x))
	}
	return m
}

func load(m Mem) VecVirtual {
	v := YMM()
	VMOVDQU(m, v)
	return v
}

// arg returns an integer argument, times 2^shift.
func arg(name string, shift uint64) GPVirtual {
	r := Load(Param(name), GP64()).(GPVirtual)
	if shift > 0 {
		SHLQ(U8(shift), r)
	}
	return r
}

// integers writes integersAVX2. Carries are kept as carry + magic + 2^63, since vectors shift words
// without a sign: with x' = x + 2^63, floor(x/2^39) = floor(x'/2^39) - 2^24.
func integers() {
	half := constant("half", sign+1<<(wordBits-1))
	quotient := constant("quotient", magic-1<<24)
	first := constant("first", magic+sign)
	last := constant("last", 1<<64-(magic+sign))
	TEXT("integersAVX2", NOSPLIT, "func(mag *uint64, stride int, neg *uint64, words *int64, wordStride int, m *float64, count int, low, high int64, n int)")
	Pragma("noescape")
	Doc("integersAVX2 is integersGeneric for n > 0, a multiple of 8: count words of M at m, each below 2^39,",
		"then low + 2^31 high.")
	mag, stride, neg := arg("mag", 0), arg("stride", 3), arg("neg", 0)
	words, wordStride := arg("words", 0), arg("wordStride", 3)
	n := arg("n", 0)
	vMagic := load(constant("magic", magic))
	vNext := load(constant("next", magic+sign-1<<24))
	vMask := load(constant("mask", 1<<wordBits-1))

	Label("group")
	var q, c, acc, x, t [2]VecVirtual
	for v := range q {
		q[v], c[v], acc[v], x[v], t[v] = YMM(), YMM(), YMM(), YMM(), YMM()
	}
	p, out, m, left, have, cnt := GP64(), GP64(), GP64(), GP64(), GP64(), GP64()
	shift := XMM()
	MOVQ(words, p)
	MOVQ(mag, out)
	Load(Param("m"), m)
	Load(Param("count"), left)
	XORQ(have, have)
	for v := range q {
		VMOVDQU(half, q[v])
		VPADDQ(Mem{Base: p, Disp: 32 * v}, q[v], q[v])
		VPSRLQ(U8(wordBits), q[v], q[v])
		VPADDQ(quotient, q[v], q[v])
		VSUBPD(vMagic, q[v], q[v])
		VMOVDQU(first, c[v])
		VPXOR(acc[v], acc[v], acc[v])
	}
	TESTQ(left, left)
	JZ(LabelRef("last"))
	Label("word")
	ADDQ(wordStride, p)
	VMOVQ(have, shift)
	for v := range q {
		VBROADCASTSD(Mem{Base: m}, t[v])
		VFMADD213PD(vMagic, q[v], t[v])
		VPADDQ(Mem{Base: p, Disp: 32 * v}, c[v], c[v])
		VPSUBQ(t[v], c[v], x[v])
		VPSRLQ(U8(wordBits), x[v], c[v])
		VPADDQ(vNext, c[v], c[v])
		VPAND(vMask, x[v], x[v])
		VPSLLQ(shift, x[v], t[v])
		VPOR(t[v], acc[v], acc[v])
	}
	ADDQ(I8(wordBits), have)
	CMPQ(have, I8(64))
	JLT(LabelRef("next"))
	SUBQ(I8(64), have)
	MOVQ(U64(wordBits), cnt)
	SUBQ(have, cnt)
	VMOVQ(cnt, shift)
	for v := range q {
		VMOVDQU(acc[v], Mem{Base: out, Disp: 32 * v})
		VPSRLQ(shift, x[v], acc[v])
	}
	ADDQ(stride, out)
	Label("next")
	ADDQ(I8(8), m)
	DECQ(left)
	JNZ(LabelRef("word"))

	Label("last")
	ADDQ(wordStride, p)
	VMOVQ(have, shift)
	for v := range q {
		VADDPD(vMagic, q[v], q[v])
		VPADDQ(last, c[v], x[v])
		VPADDQ(Mem{Base: p, Disp: 32 * v}, x[v], x[v])
		for i, name := range []string{"low", "high"} {
			a, err := Param(name).Resolve()
			if err != nil {
				panic(err)
			}
			VPBROADCASTQ(a.Addr, t[v])
			VPMULDQ(t[v], q[v], t[v])
			if i == 1 {
				VPSLLQ(U8(lowBits), t[v], t[v])
			}
			VPSUBQ(t[v], x[v], x[v])
		}
		VPSLLQ(shift, x[v], t[v])
		VPOR(t[v], acc[v], acc[v])
		VMOVDQU(acc[v], Mem{Base: out, Disp: 32 * v})
		VPXOR(t[v], t[v], t[v])
		VPCMPGTQ(x[v], t[v], q[v]) // signs
		VMOVDQU(q[v], Mem{Base: neg, Disp: 32 * v})
	}
	ADDQ(stride, out)
	TESTQ(have, have)
	JZ(LabelRef("negate"))
	MOVQ(U64(64), cnt)
	SUBQ(have, cnt)
	for v := range q {
		VPSLLQ(shift, q[v], t[v])
		VMOVDQA(t[v], acc[v])
	}
	VMOVQ(cnt, shift)
	for v := range q {
		VPSRLQ(shift, x[v], t[v])
		VPOR(t[v], acc[v], acc[v])
		VMOVDQU(acc[v], Mem{Base: out, Disp: 32 * v})
	}
	ADDQ(stride, out)
	Label("negate")
	for v := range q {
		VMOVDQA(q[v], c[v])
		VPXOR(acc[v], acc[v], acc[v])
	}
	MOVQ(mag, p)
	Label("negation")
	for v := range q {
		at := Mem{Base: p, Disp: 32 * v}
		VPXOR(at, q[v], x[v])
		VPSUBQ(c[v], x[v], x[v])
		VMOVDQU(x[v], at)
		VPCMPEQQ(x[v], acc[v], x[v])
		VPAND(x[v], c[v], c[v])
	}
	ADDQ(stride, p)
	CMPQ(p, out)
	JNE(LabelRef("negation"))
	ADDQ(I8(64), mag)
	ADDQ(I8(64), neg)
	ADDQ(I8(64), words)
	SUBQ(I8(8), n)
	JNZ(LabelRef("group"))
	VZEROUPPER()
	RET()
}

// round writes roundAVX2.
func round() {
	lowHalf := constant("lowHalf", 0x4330_0000_0000_0000)   // 2^52
	highHalf := constant("highHalf", 0x4530_0000_0000_0000) // 2^84
	bothHalves := constant("bothHalves", 0x4530_0000_0010_0000)
	word, one, two := constant("wordOf64", 64), constant("one", 1), constant("two", 2)
	top, unbias := constant("topBit", sign), constant("unbias", 1086)
	most, scale := constant("mostDropped", 1070), constant("scale", 1076)
	limit, slack := constant("limit", 0x4320_0000_0000_0000), constant("slack", 0x4000_0000_0000_0000)
	TEXT("roundAVX2", NOSPLIT, "func(z *uint64, top *int64, ok, mag *uint64, stride, count, limbs, spare int, errRow float64, errCol *float64, n int)")
	Pragma("noescape")
	Doc("roundAVX2 is roundGeneric for n > 0, a multiple of 4, with mag at the lowest words of the numbers.")
	z, tops, oks, mag := arg("z", 0), arg("top", 0), arg("ok", 0), arg("mag", 0)
	stride, errCol := arg("stride", 3), arg("errCol", 0)
	n := arg("n", 0)
	// Vectors that the registers do not hold: spare - 64 limbs, and the counts spare, 64 - spare.
	local := AllocLocal(3 * 32)
	negPrec, spares, rest := local, local.Offset(32), local.Offset(64)
	{
		s, l, v := arg("spare", 0), arg("limbs", 6), YMM()
		keep := func(to Mem) {
			VPBROADCASTQ(v.AsX(), v)
			VMOVDQU(v, to)
		}
		VMOVQ(s, v.AsX())
		keep(spares)
		SUBQ(s, l)
		NEGQ(l)
		VMOVQ(l, v.AsX())
		keep(negPrec)
		NEGQ(s)
		ADDQ(I8(64), s)
		VMOVQ(s, v.AsX())
		keep(rest)
	}
	r, h := GP64(), GP64()

	Label("group")
	lower := GP64()
	Load(Param("count"), h)
	MOVQ(stride, r)
	IMULQ(h, r)
	ADDQ(mag, r)
	t, z1 := YMM(), YMM()
	Label("search")
	SUBQ(stride, r)
	VMOVDQU(Mem{Base: r}, t)
	VPTEST(t, t)
	JNZ(LabelRef("found"))
	DECQ(h)
	JNZ(LabelRef("search"))
	VMOVDQU(t, Mem{Base: oks})
	JMP(LabelRef("next"))

	Label("found")
	// z1 marks the numbers whose first word is the one below.
	bad := YMM()
	VPXOR(bad, bad, bad)
	VPCMPEQQ(t, bad, z1)
	MOVQ(r, lower)
	SUBQ(stride, lower)
	VBLENDVPD(z1, Mem{Base: lower}, t, t)
	VPCMPEQQ(t, bad, bad)
	// The exponent of the first word as a float64 counts its bits. Without the second of two
	// leading ones the conversion does not reach the next power of two.
	s, s2, x := YMM(), YMM(), YMM()
	VPSRLQ(U8(1), t, x)
	VPANDN(t, x, t)
	VPSRLQ(U8(32), t, x)
	VPOR(highHalf, x, x)
	VPBLENDD(U8(0xaa), lowHalf, t, t)
	VSUBPD(bothHalves, x, x)
	VADDPD(t, x, x)
	VPSRLQ(U8(52), x, x)
	VMOVDQU(unbias, s)
	VPSUBQ(x, s, s)
	VMOVDQU(word, s2)
	VPSUBQ(s, s2, s2)
	bits := YMM()
	SHLQ(U8(6), h)
	VMOVQ(h, bits.AsX())
	VPBROADCASTQ(bits.AsX(), bits)
	VPSUBQ(s, bits, bits)
	VPAND(word, z1, x)
	VPSUBQ(x, bits, bits)

	// From the lowest of limbs + 3 words on.
	left := GP64()
	Load(Param("limbs"), left)
	MOVQ(left, h)
	ADDQ(I8(2), h)
	IMULQ(stride, h)
	SUBQ(h, r)
	r0, r1, prev := YMM(), YMM(), YMM()
	VMOVDQU(Mem{Base: r}, r0)
	take := func(dst VecVirtual) {
		ADDQ(stride, r)
		VMOVDQU(Mem{Base: r}, r1)
		VBLENDVPD(z1, r0, r1, dst)
		VMOVDQA(r1, r0)
	}
	// shifted leaves the next word of the shifted number in dst.
	hi := YMM()
	shifted := func(dst VecVirtual) {
		take(hi)
		VPSRLVQ(s2, prev, prev)
		VPSLLVQ(s, hi, dst)
		VPOR(prev, dst, dst)
		VMOVDQA(hi, prev)
	}
	take(prev)
	tail, w := YMM(), YMM()
	shifted(tail)
	shifted(w)
	VPSRLQ(spares, tail, tail)
	VPSLLQ(rest, w, x)
	VPOR(x, tail, tail)
	// How far the tail is from the tie, without 11 bits.
	up, zero := YMM(), YMM()
	VPXOR(zero, zero, zero)
	VPCMPGTQ(tail, zero, up)
	VPXOR(top, tail, tail)
	VPCMPGTQ(tail, zero, x)
	VPXOR(x, tail, tail)
	VPSUBQ(x, tail, tail)
	VPSRLQ(U8(11), tail, tail)
	VPADDQ(lowHalf, tail, tail)
	VSUBPD(lowHalf, tail, tail)
	// The error in units of 2^11 of the tail.
	drop, e, ok := YMM(), YMM(), YMM()
	VPADDQ(negPrec, bits, drop)
	VPCMPGTQ(one, drop, ok)
	VPMAXSD(two, drop, drop)
	VPMINSD(most, drop, drop)
	VMOVDQU(scale, x)
	VPSUBQ(drop, x, x)
	VPSLLQ(U8(52), x, x)
	errRow, err := Param("errRow").Resolve()
	if err != nil {
		panic(err)
	}
	VBROADCASTSD(errRow.Addr, e)
	VADDPD(Mem{Base: errCol}, e, e)
	const equal, less = 0, 17
	VCMPPD(U8(equal), zero, e, drop)
	VPOR(drop, ok, ok)
	VMULPD(x, e, e)
	VCMPPD(U8(less), limit, e, x)
	VPAND(x, ok, ok)
	VADDPD(slack, e, e)
	VCMPPD(U8(less), tail, e, x)
	VPAND(x, ok, ok)
	VPANDN(ok, bad, ok)
	VMOVDQU(ok, Mem{Base: oks})
	// The lowest word, rounded. up becomes the carry.
	VPCMPEQQ(x, x, x)
	VPSLLQ(spares, x, x)
	VPAND(x, w, w)
	out := GP64()
	MOVQ(z, out)
	VPCMPEQQ(x, x, x)
	VPSRLQ(U8(63), x, x)
	VPSLLQ(spares, x, x)
	VPAND(x, up, x)
	VPADDQ(x, w, w)
	VMOVDQU(w, Mem{Base: out})
	VPCMPEQQ(w, zero, x)
	VPAND(x, up, up)
	DECQ(left)
	JZ(LabelRef("rounded"))
	Label("limb")
	ADDQ(stride, out)
	shifted(w)
	VPSUBQ(up, w, w)
	VMOVDQU(w, Mem{Base: out})
	VPCMPEQQ(w, zero, x)
	VPAND(x, up, up)
	DECQ(left)
	JNZ(LabelRef("limb"))
	Label("rounded")
	// A carry beyond the first word leaves a power of two.
	VPAND(top, up, x)
	VPOR(x, w, w)
	VMOVDQU(w, Mem{Base: out})
	VPSUBQ(up, bits, bits)
	VMOVDQU(bits, Mem{Base: tops})
	Label("next")
	for _, p := range []Register{z, tops, oks, mag, errCol} {
		ADDQ(I8(32), p)
	}
	SUBQ(I8(4), n)
	JNZ(LabelRef("group"))
	VZEROUPPER()
	RET()
}

// remainders writes remaindersAVX2.
func remainders() {
	TEXT("remaindersAVX2", NOSPLIT, "func(mag *uint64, stride int, neg *uint64, top *int64, count, prec, n int)")
	Pragma("noescape")
	Doc("remaindersAVX2 is remaindersGeneric for n > 0, a multiple of 4.")
	mag, stride, neg, top := arg("mag", 0), arg("stride", 3), arg("neg", 0), arg("top", 0)
	n := arg("n", 0)
	prec, err := Param("prec").Resolve()
	if err != nil {
		panic(err)
	}
	word := load(constant("wordBits", 64))
	ones, zero := YMM(), YMM()
	VPCMPEQQ(ones, ones, ones)
	VPXOR(zero, zero, zero)
	Label("group")
	drop, keep, w, up, mask, carry := YMM(), YMM(), YMM(), YMM(), YMM(), YMM()
	p, k := GP64(), GP64()
	VPBROADCASTQ(prec.Addr, keep)
	VMOVDQU(Mem{Base: top}, drop)
	VPSUBQ(keep, drop, drop)
	// The bit below the rounded number decides the sign.
	VPADDQ(ones, drop, keep)
	VPXOR(up, up, up)
	MOVQ(mag, p)
	Load(Param("count"), k)
	Label("bit")
	VMOVDQU(Mem{Base: p}, w)
	VPSRLVQ(keep, w, w)
	VPOR(w, up, up)
	VPSUBQ(word, keep, keep)
	ADDQ(stride, p)
	DECQ(k)
	JNZ(LabelRef("bit"))
	VPSLLQ(U8(63), up, up)
	VPCMPGTQ(up, zero, up)
	VPXOR(Mem{Base: neg}, up, w)
	VMOVDQU(w, Mem{Base: neg})
	VMOVDQA(up, carry)
	MOVQ(mag, p)
	Load(Param("count"), k)
	Label("word")
	VPSLLVQ(drop, ones, mask)
	VPCMPGTQ(zero, drop, keep)
	VPANDN(keep, mask, mask)
	VPXOR(Mem{Base: p}, up, w)
	VPAND(mask, w, w)
	VPSUBQ(carry, w, w)
	VMOVDQU(w, Mem{Base: p})
	VPCMPEQQ(w, zero, w)
	VPAND(w, carry, carry)
	VPSUBQ(word, drop, drop)
	ADDQ(stride, p)
	DECQ(k)
	JNZ(LabelRef("word"))
	for _, r := range []Register{mag, neg, top} {
		ADDQ(I8(32), r)
	}
	SUBQ(I8(4), n)
	JNZ(LabelRef("group"))
	VZEROUPPER()
	RET()
}

// floats writes floatsAVX2.
func floats() {
	TEXT("floatsAVX2", NOSPLIT, "func(z, ok *uint64, top, exps *int64, unit int64, neg *uint64, flip uint64, n int) int")
	Pragma("noescape")
	Doc("floatsAVX2 is floatsGeneric for n > 0, a multiple of 4. It returns 15 for true.")
	z, ok, top, exps := arg("z", 0), arg("ok", 0), arg("top", 0), arg("exps", 0)
	neg, n := arg("neg", 0), arg("n", 0)
	broadcast := func(name string) VecVirtual {
		v := YMM()
		a, err := Param(name).Resolve()
		if err != nil {
			panic(err)
		}
		VPBROADCASTQ(a.Addr, v)
		return v
	}
	unit, flip := broadcast("unit"), broadcast("flip")
	most, least := load(constant("mostExp", maxExp)), load(constant("leastExp", 1<<64-maxExp))
	// The leading bit of the significand goes into the exponent.
	bias, all := load(constant("floatBias", 1021)), YMM()
	VPCMPEQQ(all, all, all)

	Label("group")
	x, t, good := YMM(), YMM(), YMM()
	VPADDQ(Mem{Base: top}, unit, x)
	VPADDQ(Mem{Base: exps}, x, x)
	VPCMPGTQ(most, x, t)
	VPCMPGTQ(x, least, good)
	VPOR(t, good, good)
	VPANDN(Mem{Base: ok}, good, good)
	VMOVDQU(good, Mem{Base: ok})
	VPAND(good, all, all)
	VPADDQ(bias, x, x)
	VPSLLQ(U8(52), x, x)
	VMOVDQU(Mem{Base: z}, t)
	VPSRLQ(U8(11), t, t)
	VPADDQ(t, x, x)
	VPXOR(Mem{Base: neg}, flip, t)
	VPSLLQ(U8(63), t, t)
	VPOR(t, x, x)
	VMOVDQU(x, Mem{Base: z})
	for _, p := range []Register{z, ok, top, exps, neg} {
		ADDQ(I8(32), p)
	}
	SUBQ(I8(4), n)
	JNZ(LabelRef("group"))
	r := GP64()
	VMOVMSKPD(all, r.As32())
	Store(r, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// maxExp bounds the exponents of the numbers that floatsAVX2 makes.
const maxExp = 1000

// significands writes significandsAVX2: squares of four words of four numbers, the last of which
// overlaps the one before.
func significands() {
	TEXT("significandsAVX2", NOSPLIT, "func(sig, z *uint64, stride, limbs, n int)")
	Pragma("noescape")
	Doc("significandsAVX2 is significandsGeneric for at least two limbs and n > 0, a multiple of 4.")
	sig, z, stride, limbs, n := arg("sig", 0), arg("z", 0), arg("stride", 3), arg("limbs", 0), arg("n", 0)
	size := GP64() // of a number
	MOVQ(limbs, size)
	SHLQ(U8(3), size)
	var x, y [4]VecVirtual
	for i := range x {
		x[i], y[i] = YMM(), YMM()
	}
	// two loads two rows at p, and makes of them two neighbours of each number: of 0 and 2 in
	// y[to], of 1 and 3 in y[to+1].
	two := func(p Register, to int) {
		VMOVDQU(Mem{Base: p}, x[0])
		VMOVDQU(Mem{Base: p, Index: stride, Scale: 1}, x[1])
		VPUNPCKLQDQ(x[1], x[0], y[to])
		VPUNPCKHQDQ(x[1], x[0], y[to+1])
	}
	next := func(label string) {
		LEAQ(Mem{Base: sig, Index: size, Scale: 4}, sig)
		ADDQ(I8(32), z)
		SUBQ(I8(4), n)
		JNZ(LabelRef(label))
		VZEROUPPER()
		RET()
	}
	CMPQ(limbs, I8(3))
	JEQ(LabelRef("three"))
	JGT(LabelRef("more"))
	Label("two")
	two(z, 0)
	VPERM2I128(U8(0x20), y[1], y[0], x[0])
	VPERM2I128(U8(0x31), y[1], y[0], x[1])
	VMOVDQU(x[0], Mem{Base: sig})
	VMOVDQU(x[1], Mem{Base: sig, Disp: 32})
	next("two")

	Label("three")
	two(z, 0)
	VMOVDQU(Mem{Base: z, Index: stride, Scale: 2}, x[2])
	for half := range 2 {
		if half == 1 {
			for _, v := range []VecVirtual{y[0], y[1], x[2]} {
				VEXTRACTI128(U8(1), v, v.AsX())
			}
		}
		VMOVDQU(y[0].AsX(), Mem{Base: sig, Disp: 48 * half})
		VMOVQ(x[2].AsX(), Mem{Base: sig, Disp: 48*half + 16})
		VMOVDQU(y[1].AsX(), Mem{Base: sig, Disp: 48*half + 24})
		VPEXTRQ(U8(1), x[2].AsX(), Mem{Base: sig, Disp: 48*half + 40})
	}
	next("three")

	Label("more")
	from, to, left, p := GP64(), GP64(), GP64(), GP64()
	MOVQ(z, from)
	MOVQ(sig, to)
	MOVQ(limbs, left)
	Label("square")
	two(from, 0)
	LEAQ(Mem{Base: from, Index: stride, Scale: 2}, p)
	two(p, 2)
	MOVQ(to, p)
	for i := range x {
		VPERM2I128(U8(0x20+i/2*0x11), y[2+i%2], y[i%2], x[i])
		VMOVDQU(x[i], Mem{Base: p})
		if i < len(x)-1 {
			ADDQ(size, p)
		}
	}
	SUBQ(I8(4), left)
	JZ(LabelRef("done"))
	LEAQ(Mem{Base: from, Index: stride, Scale: 4}, from)
	ADDQ(I8(32), to)
	CMPQ(left, I8(4))
	JGE(LabelRef("square"))
	// Back to the last square: p words.
	MOVQ(left, p)
	SUBQ(I8(4), p)
	LEAQ(Mem{Base: to, Index: p, Scale: 8}, to)
	IMULQ(stride, p)
	ADDQ(p, from)
	MOVQ(U64(4), left)
	JMP(LabelRef("square"))
	Label("done")
	next("more")
}

// exponents writes exponentsAVX512: eight numbers at a time, the last ones by masks.
func exponents() {
	const least, most = -1<<31 + 2, 1<<31 - 3
	const notAbove = 2 // of unsigned comparisons
	TEXT("exponentsAVX512", NOSPLIT, "func(exp *int32, cls *uint8, ok *uint64, top, exps *int64, unit int64, neg *uint64, flip uint64, n int) int")
	Pragma("noescape")
	Doc("exponentsAVX512 is exponentsGeneric for n > 0. It returns 0 for true.")
	exp, cls, ok, top, exps := arg("exp", 0), arg("cls", 0), arg("ok", 0), arg("top", 0), arg("exps", 0)
	neg, n := arg("neg", 0), arg("n", 0)
	broadcast := func(r GPVirtual) VecVirtual {
		v := ZMM()
		VPBROADCASTQ(r, v)
		return v
	}
	constant := func(x int64) VecVirtual {
		r := GP64()
		MOVQ(I64(x), r)
		return broadcast(r)
	}
	// Exponents are moved to begin at 0.
	unit := broadcast(arg("unit", 0))
	low := constant(least)
	VPSUBQ(low, unit, unit)
	flip, one, finite, span := broadcast(arg("flip", 0)), constant(1), constant(2), constant(most-least)
	bad, mask := GP64(), GP64()
	XORQ(bad, bad)
	MOVQ(U64(0xff), mask)
	Label("group")
	CMPQ(n, I8(8))
	JGE(LabelRef("whole"))
	MOVQ(n, RCX)
	MOVQ(U64(1), mask)
	SHLQ(CL, mask)
	DECQ(mask)
	Label("whole")
	there, good := K(), K()
	KMOVW(mask.As32(), there)
	x, t := ZMM(), ZMM()
	VMOVDQU64_Z(Mem{Base: top}, there, x)
	VMOVDQU64_Z(Mem{Base: exps}, there, t)
	VPADDQ(unit, x, x)
	VPADDQ(t, x, x)
	VMOVDQU64_Z(Mem{Base: ok}, there, t)
	VPTESTMQ(t, t, there, good)
	VPCMPUQ(U8(notAbove), span, x, good, good)
	VMOVDQA64_Z(t, good, t)
	VMOVDQU64(t, there, Mem{Base: ok})
	VPADDQ(low, x, x)
	VPMOVQD(x, good, Mem{Base: exp})
	VMOVDQU64_Z(Mem{Base: neg}, there, t)
	VPXORQ(flip, t, t)
	VPANDQ(one, t, t)
	VPORQ(finite, t, t)
	VPMOVQB(t, good, Mem{Base: cls})
	k := GP64()
	KMOVW(good, k.As32())
	XORQ(mask, k)
	ORQ(k, bad)
	for _, p := range []Register{ok, top, exps, neg} {
		ADDQ(I8(64), p)
	}
	ADDQ(I8(32), exp)
	ADDQ(I8(8), cls)
	SUBQ(I8(8), n)
	JG(LabelRef("group"))
	Store(bad, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// wideIntegers writes integersAVX512, with the steps of integersAVX2 but for shifts that keep
// signs: carries are kept as carry + magic.
func wideIntegers() {
	TEXT("integersAVX512", NOSPLIT, "func(mag *uint64, stride int, neg *uint64, words *int64, wordStride int, m *float64, count int, low, high int64, n int)")
	Pragma("noescape")
	Doc("integersAVX512 is integersAVX2.")
	mag, stride, neg := arg("mag", 0), arg("stride", 3), arg("neg", 0)
	words, wordStride := arg("words", 0), arg("wordStride", 3)
	n := arg("n", 0)
	broadcast := func(x uint64) VecVirtual {
		v, r := ZMM(), GP64()
		MOVQ(U64(x), r)
		VPBROADCASTQ(r, v)
		return v
	}
	vMagic, vMask, vHalf := broadcast(magic), broadcast(1<<wordBits-1), broadcast(1<<(wordBits-1))
	ones, low, high := broadcast(1<<64-1), ZMM(), ZMM()
	VPBROADCASTQ(arg("low", 0), low)
	VPBROADCASTQ(arg("high", 0), high)

	Label("group")
	q, c, acc, x, t := ZMM(), ZMM(), ZMM(), ZMM(), ZMM()
	p, out, m, left, have, cnt := GP64(), GP64(), GP64(), GP64(), GP64(), GP64()
	shift := XMM()
	MOVQ(words, p)
	MOVQ(mag, out)
	Load(Param("m"), m)
	Load(Param("count"), left)
	XORQ(have, have)
	VPADDQ(Mem{Base: p}, vHalf, q)
	VPSRAQ(U8(wordBits), q, q)
	VPADDQ(vMagic, q, q)
	VSUBPD(vMagic, q, q)
	VMOVDQA64(vMagic, c)
	VPXORQ(acc, acc, acc)
	TESTQ(left, left)
	JZ(LabelRef("last"))
	Label("word")
	ADDQ(wordStride, p)
	VMOVQ(have, shift)
	VBROADCASTSD(Mem{Base: m}, t)
	VFMADD213PD(vMagic, q, t)
	VPADDQ(Mem{Base: p}, c, c)
	VPSUBQ(t, c, x)
	VPSRAQ(U8(wordBits), x, c)
	VPADDQ(vMagic, c, c)
	VPANDQ(vMask, x, x)
	VPSLLQ(shift, x, t)
	VPORQ(t, acc, acc)
	ADDQ(I8(wordBits), have)
	CMPQ(have, I8(64))
	JLT(LabelRef("next"))
	SUBQ(I8(64), have)
	MOVQ(U64(wordBits), cnt)
	SUBQ(have, cnt)
	VMOVQ(cnt, shift)
	VMOVDQU64(acc, Mem{Base: out})
	VPSRLQ(shift, x, acc)
	ADDQ(stride, out)
	Label("next")
	ADDQ(I8(8), m)
	DECQ(left)
	JNZ(LabelRef("word"))

	Label("last")
	ADDQ(wordStride, p)
	VMOVQ(have, shift)
	VADDPD(vMagic, q, q)
	VPSUBQ(vMagic, c, x)
	VPADDQ(Mem{Base: p}, x, x)
	VPMULDQ(low, q, t)
	VPSUBQ(t, x, x)
	VPMULDQ(high, q, t)
	VPSLLQ(U8(lowBits), t, t)
	VPSUBQ(t, x, x)
	VPSLLQ(shift, x, t)
	VPORQ(t, acc, acc)
	VMOVDQU64(acc, Mem{Base: out})
	VPSRAQ(U8(63), x, q) // signs
	VMOVDQU64(q, Mem{Base: neg})
	ADDQ(stride, out)
	TESTQ(have, have)
	JZ(LabelRef("negate"))
	MOVQ(U64(64), cnt)
	SUBQ(have, cnt)
	VMOVQ(cnt, shift)
	VPSRAQ(shift, x, acc)
	VMOVDQU64(acc, Mem{Base: out})
	ADDQ(stride, out)
	Label("negate")
	carry := K()
	VPMOVQ2M(q, carry)
	MOVQ(mag, p)
	Label("negation")
	VPXORQ(Mem{Base: p}, q, x)
	VPSUBQ(ones, x, carry, x)
	VMOVDQU64(x, Mem{Base: p})
	VPTESTNMQ(x, x, carry, carry)
	ADDQ(stride, p)
	CMPQ(p, out)
	JNE(LabelRef("negation"))
	ADDQ(I8(64), mag)
	ADDQ(I8(64), neg)
	ADDQ(I8(64), words)
	SUBQ(I8(8), n)
	JNZ(LabelRef("group"))
	VZEROUPPER()
	RET()
}

// wideRound writes roundAVX512, with the steps of roundAVX2 for eight numbers. If the first words
// of the two groups of four are in different rows, the groups are rounded one after the other.
func wideRound() {
	TEXT("roundAVX512", NOSPLIT, "func(z *uint64, top *int64, ok, mag *uint64, stride, count, limbs, spare int, errRow float64, errCol *float64, n int)")
	Pragma("noescape")
	Doc("roundAVX512 is roundAVX2 for n > 0, a multiple of 8.")
	z, tops, oks, mag := arg("z", 0), arg("top", 0), arg("ok", 0), arg("mag", 0)
	stride, errCol := arg("stride", 3), arg("errCol", 0)
	n := arg("n", 0)
	fill := func(r GPVirtual) VecVirtual {
		v := ZMM()
		VPBROADCASTQ(r, v)
		return v
	}
	broadcast := func(x uint64) VecVirtual {
		r := GP64()
		MOVQ(U64(x), r)
		return fill(r)
	}
	ones, top := broadcast(1<<64-1), broadcast(sign)
	word, two, most := broadcast(64), broadcast(2), broadcast(1070)
	unbias, scale := broadcast(1086), broadcast(1076)
	limit, slack := broadcast(0x4320_0000_0000_0000), broadcast(0x4000_0000_0000_0000) // 2^51, 2
	errRow := ZMM()
	a, err := Param("errRow").Resolve()
	if err != nil {
		panic(err)
	}
	VBROADCASTSD(a.Addr, errRow)
	spares, rest := XMM(), XMM() // spare, 64 - spare
	negPrec, spareMask, unit := ZMM(), ZMM(), ZMM()
	{
		s, l := arg("spare", 0), arg("limbs", 6)
		VMOVQ(s, spares)
		SUBQ(s, l)
		NEGQ(l)
		VPBROADCASTQ(l, negPrec)
		NEGQ(s)
		ADDQ(I8(64), s)
		VMOVQ(s, rest)
		VPSLLQ(spares, ones, spareMask)
		VPSRLQ(U8(63), ones, unit)
		VPSLLQ(spares, unit, unit)
	}
	r, h, todo, found := GP64(), GP64(), GP64(), GP64()

	Label("group")
	MOVQ(U64(0xff), todo)
	Label("again")
	lanes, below, t := K(), K(), ZMM()
	KMOVW(todo.As32(), lanes)
	Load(Param("count"), h)
	MOVQ(stride, r)
	IMULQ(h, r)
	ADDQ(mag, r)
	Label("search")
	SUBQ(stride, r)
	VMOVDQU64(Mem{Base: r}, t)
	VPTESTMQ(t, t, lanes, below)
	KMOVW(below, found.As32())
	TESTL(found.As32(), found.As32())
	JNZ(LabelRef("found"))
	DECQ(h)
	JNZ(LabelRef("search"))
	VPXORQ(t, t, t)
	VMOVDQU64(t, lanes, Mem{Base: oks})
	JMP(LabelRef("next"))

	Label("found")
	low := GP64()
	MOVQ(found, low)
	ANDL(U32(0xf), low.As32())
	NEGL(low.As32())
	SBBL(low.As32(), low.As32())
	ANDL(U32(0xf), low.As32())
	ANDL(U32(0xf0), found.As32())
	NEGL(found.As32())
	SBBL(found.As32(), found.As32())
	ANDL(U32(0xf0), found.As32())
	ORL(found.As32(), low.As32())
	KMOVW(low.As32(), lanes)
	XORQ(low, todo)
	// The first words of the numbers below are in the row below.
	good := K()
	VPTESTNMQ(t, t, lanes, below)
	lower := GP64()
	MOVQ(r, lower)
	SUBQ(stride, lower)
	VMOVDQU64(Mem{Base: lower}, below, t)
	VPTESTMQ(t, t, good)
	// The exponent of the first word as a float64 counts its bits. Without the second of two
	// leading ones the conversion does not reach the next power of two.
	s, s2, x, bits := ZMM(), ZMM(), ZMM(), ZMM()
	VPSRLQ(U8(1), t, x)
	VPANDNQ(t, x, t)
	VCVTUQQ2PD(t, x)
	VPSRLQ(U8(52), x, x)
	VPSUBQ(x, unbias, s)
	VPSUBQ(s, word, s2)
	SHLQ(U8(6), h)
	VPBROADCASTQ(h, bits)
	VPSUBQ(s, bits, bits)
	VPSUBQ(word, bits, below, bits)

	// From the lowest of limbs + 3 words on.
	left := GP64()
	Load(Param("limbs"), left)
	MOVQ(left, h)
	ADDQ(I8(2), h)
	IMULQ(stride, h)
	SUBQ(h, r)
	r0, r1, prev, hi := ZMM(), ZMM(), ZMM(), ZMM()
	VMOVDQU64(Mem{Base: r}, r0)
	take := func(dst VecVirtual) {
		ADDQ(stride, r)
		VMOVDQU64(Mem{Base: r}, r1)
		VMOVDQA64(r1, dst)
		VMOVDQA64(r0, below, dst)
		VMOVDQA64(r1, r0)
	}
	// shifted leaves the next word of the shifted number in dst.
	shifted := func(dst VecVirtual) {
		take(hi)
		VPSRLVQ(s2, prev, prev)
		VPSLLVQ(s, hi, dst)
		VPORQ(prev, dst, dst)
		VMOVDQA64(hi, prev)
	}
	take(prev)
	tail, w := ZMM(), ZMM()
	shifted(tail)
	shifted(w)
	VPSRLQ(spares, tail, tail)
	VPSLLQ(rest, w, x)
	VPORQ(x, tail, tail)
	// How far the tail is from the tie, without 11 bits.
	up := K()
	VPMOVQ2M(tail, up)
	VPXORQ(top, tail, tail)
	VPABSQ(tail, tail)
	VPSRLQ(U8(11), tail, tail)
	VCVTUQQ2PD(tail, tail)
	// The error in units of 2^11 of the tail.
	drop, e, ok, exact := ZMM(), ZMM(), K(), K()
	const equal, notLess, less = 0, 5, 17
	VPADDQ(negPrec, bits, drop)
	VPCMPQ(U8(notLess), two, drop, ok)
	VPMAXSQ(two, drop, drop)
	VPMINSQ(most, drop, drop)
	VPSUBQ(drop, scale, x)
	VPSLLQ(U8(52), x, x)
	VADDPD(Mem{Base: errCol}, errRow, e)
	VPXORQ(drop, drop, drop)
	VCMPPD(U8(equal), drop, e, exact)
	KORW(exact, ok, ok)
	VMULPD(x, e, e)
	VCMPPD(U8(less), limit, e, ok, ok)
	VADDPD(slack, e, e)
	VCMPPD(U8(less), tail, e, ok, ok)
	KANDW(good, ok, ok)
	VPMOVM2Q(ok, x)
	VMOVDQU64(x, lanes, Mem{Base: oks})
	// The lowest word, rounded. up becomes the carry.
	VPANDQ(spareMask, w, w)
	VPADDQ(unit, w, up, w)
	out := GP64()
	MOVQ(z, out)
	VMOVDQU64(w, lanes, Mem{Base: out})
	VPTESTNMQ(w, w, up, up)
	DECQ(left)
	JZ(LabelRef("rounded"))
	Label("limb")
	ADDQ(stride, out)
	shifted(w)
	VPSUBQ(ones, w, up, w)
	VMOVDQU64(w, lanes, Mem{Base: out})
	VPTESTNMQ(w, w, up, up)
	DECQ(left)
	JNZ(LabelRef("limb"))
	Label("rounded")
	// A carry beyond the first word leaves a power of two.
	VMOVDQA64(top, up, w)
	VMOVDQU64(w, lanes, Mem{Base: out})
	VPSUBQ(ones, bits, up, bits)
	VMOVDQU64(bits, lanes, Mem{Base: tops})
	TESTQ(todo, todo)
	JNZ(LabelRef("again"))
	Label("next")
	for _, p := range []Register{z, tops, oks, mag, errCol} {
		ADDQ(I8(64), p)
	}
	SUBQ(I8(8), n)
	JNZ(LabelRef("group"))
	VZEROUPPER()
	RET()
}
