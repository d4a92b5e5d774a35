// Command _asm writes the kernels of package direct, one architecture a run:
//
//	go run . -out ../kernels_amd64.s -stubs ../stubs_amd64.go -pkg direct
//	go run . -neon -out ../neon_arm64.s -stubs ../stubs_neon_arm64.go -pkg direct
//
// Each kernel is described by the loop it equals in ../generic.go.
package main

import (
	"flag"
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	compact "github.com/halfulp/halfulp/internal/_compact"
)

// digitBits is the radix of the digits that convolve multiplies; four of them
// are digitBytes bytes.
const (
	digitBits  = 28
	digitBytes = 4 * digitBits / 8
	maxWidth   = 6
)

func main() {
	arm64 := flag.Bool("neon", false, "for arm64")
	flag.Parse()
	if *arm64 {
		writeNEON()
		return
	}
	ConstraintExpr("amd64,!purego")
	compensated("sumAVX2", false, false)
	compensated("asumAVX2", false, true)
	compensated("dotAVX2", true, false)
	axpyCompensated()
	productSpan()
	mulAdd2(false)
	mulAdd2(true)
	for words := 3; words <= 7; words++ {
		mulAdd(words, false)
		mulAdd(words, true)
	}
	digits()
	for rows := 1; rows <= 2; rows++ {
		for g := 1; g <= maxWidth; g++ {
			convolve(g, rows)
		}
	}
	references()
	Generate()
	compact.Out()
}

func words(name string, v ...uint64) Mem {
	m := GLOBL(name, RODATA|NOPTR)
	for i, x := range v {
		DATA(8*i, U64(x))
	}
	return m
}

var absMask *Mem

// loadAbsMask returns four masks of all bits but the sign.
func loadAbsMask() VecVirtual {
	if absMask == nil {
		k := uint64(1<<63 - 1)
		m := words("absMask", k, k, k, k)
		absMask = &m
	}
	mask := YMM()
	VMOVUPD(*absMask, mask)
	return mask
}

// compensated writes the loops of sum2, asum2 and dot2.
func compensated(name string, dot, abs bool) {
	args := "x *float64"
	if dot {
		args = "x, y *float64"
	}
	TEXT(name, NOSPLIT, fmt.Sprintf("func(%s, n int, out *[24]float64)", args))
	Doc(name + " is the loop of the reference of that name without the suffix. n is a positive multiple of 8.")
	Pragma("noescape")
	x := Load(Param("x"), GP64())
	var y Register
	if dot {
		y = Load(Param("y"), GP64())
	}
	n := Load(Param("n"), GP64())
	out := Load(Param("out"), GP64())
	mask := loadAbsMask()
	var s, e, a [2]VecVirtual
	for v := range s {
		s[v], e[v], a[v] = YMM(), YMM(), YMM()
		for _, r := range []VecVirtual{s[v], e[v], a[v]} {
			VXORPD(r, r, r)
		}
	}
	Label(name + "_loop")
	for v := range s {
		p, q := YMM(), YMM()
		VMOVUPD(Mem{Base: x, Disp: 32 * v}, p)
		if dot {
			f := YMM()
			VMOVUPD(Mem{Base: y, Disp: 32 * v}, f)
			VMULPD(p, f, q)
			VFMSUB213PD(q, f, p) // p = p f - q
			p, q = q, p
		}
		t := YMM()
		VANDPD(mask, p, t)
		if abs {
			p = t
		}
		VADDPD(t, a[v], a[v])
		sum, z := YMM(), YMM()
		VADDPD(p, s[v], sum)
		VSUBPD(s[v], sum, z) // z = sum - s
		w := YMM()
		VSUBPD(z, sum, w)  // w = sum - z
		VSUBPD(w, s[v], w) // w = s - (sum - z)
		VSUBPD(z, p, z)    // z = p - z
		VADDPD(z, w, w)
		if dot {
			VADDPD(q, w, w)
		}
		VADDPD(w, e[v], e[v])
		VMOVAPD(sum, s[v])
	}
	ADDQ(Imm(64), x)
	if dot {
		ADDQ(Imm(64), y)
	}
	SUBQ(Imm(8), n)
	JNZ(LabelRef(name + "_loop"))
	for v := range s {
		VMOVUPD(s[v], Mem{Base: out, Disp: 32 * v})
		VMOVUPD(e[v], Mem{Base: out, Disp: 64 + 32*v})
		VMOVUPD(a[v], Mem{Base: out, Disp: 128 + 32*v})
	}
	VZEROUPPER()
	RET()
}

// axpyCompensated writes the loop of axpy2, for two groups of lanes at a time.
func axpyCompensated() {
	TEXT("axpyCompensatedAVX2", NOSPLIT, "func(a *float64, x float64, n int, s, e, m *float64)")
	Doc("axpyCompensatedAVX2 is the loop of axpy2. n is a positive multiple of 8.")
	Pragma("noescape")
	a := Load(Param("a"), GP64())
	n := Load(Param("n"), GP64())
	s := Load(Param("s"), GP64())
	e := Load(Param("e"), GP64())
	m := Load(Param("m"), GP64())
	addr, err := Param("x").Resolve()
	if err != nil {
		panic(err)
	}
	x := YMM()
	VBROADCASTSD(addr.Addr, x)
	mask := loadAbsMask()
	i := GP64()
	XORQ(i, i)
	Label("axpyCompensated_loop")
	for v := range 2 {
		at := func(base Register) Mem { return Mem{Base: base, Index: i, Scale: 8, Disp: 32 * v} }
		q, p, old, sum, z, w := YMM(), YMM(), YMM(), YMM(), YMM(), YMM()
		VMOVUPD(at(a), q)
		VMULPD(q, x, p)
		VFMSUB213PD(p, x, q) // q = q x - p
		VMOVUPD(at(s), old)
		VADDPD(p, old, sum)
		VMOVUPD(sum, at(s))
		VSUBPD(old, sum, z)
		VSUBPD(z, sum, w)
		VSUBPD(w, old, w)
		VSUBPD(z, p, z)
		VADDPD(z, w, w)
		VADDPD(q, w, w)
		VADDPD(at(e), w, w)
		VMOVUPD(w, at(e))
		VANDPD(mask, p, p)
		VADDPD(at(m), p, p)
		VMOVUPD(p, at(m))
	}
	ADDQ(Imm(8), i)
	CMPQ(i, n)
	JL(LabelRef("axpyCompensated_loop"))
	VZEROUPPER()
	RET()
}

// productSpan writes the loop of productSpan.
func productSpan() {
	TEXT("productSpanAVX2", NOSPLIT, "func(xe, ye *int32, xc, yc *uint8, n int, scale *int64, high *[4]int64) (odd uint64)")
	Doc("productSpanAVX2 is the loop of productSpan: the extremes of every fourth sum. n is a positive multiple of 8.")
	Pragma("noescape")
	xe, ye := Load(Param("xe"), GP64()), Load(Param("ye"), GP64())
	xc, yc := Load(Param("xc"), GP64()), Load(Param("yc"), GP64())
	n := Load(Param("n"), GP64())
	scale := Load(Param("scale"), GP64())
	for _, p := range []Register{xe, ye} {
		LEAQ(Mem{Base: p, Index: n, Scale: 4}, p)
	}
	ADDQ(n, xc)
	ADDQ(n, yc)
	LEAQ(Mem{Base: scale, Index: n, Scale: 8}, scale)
	NEGQ(n)
	mask, finite, odd, t := GP64(), GP64(), GP64(), GP64()
	MOVQ(U64(0xfefefefefefefefe), mask)
	MOVQ(U64(0x0202020202020202), finite)
	XORQ(odd, odd)
	least := GP64()
	MOVQ(U64(1<<63), least)
	var high [2]VecVirtual
	for k := range high {
		high[k] = YMM()
		VMOVQ(least, high[k].AsX())
		VPBROADCASTQ(high[k].AsX(), high[k])
	}
	Label("product_span")
	for k := range high {
		x, y := YMM(), YMM()
		VPMOVSXDQ(Mem{Base: xe, Index: n, Scale: 4, Disp: 16 * k}, x)
		VPMOVSXDQ(Mem{Base: ye, Index: n, Scale: 4, Disp: 16 * k}, y)
		VMOVDQU(y, Mem{Base: scale, Index: n, Scale: 8, Disp: 32 * k})
		VPADDQ(y, x, x)
		VPCMPGTQ(high[k], x, y)
		VBLENDVPD(y, x, high[k], high[k])
	}
	for _, p := range []Register{xc, yc} {
		MOVQ(Mem{Base: p, Index: n, Scale: 1}, t)
		ANDQ(mask, t)
		XORQ(finite, t)
		ORQ(t, odd)
	}
	ADDQ(Imm(8), n)
	JNE(LabelRef("product_span"))
	greater := YMM()
	VPCMPGTQ(high[0], high[1], greater)
	VBLENDVPD(greater, high[1], high[0], high[0])
	p := Load(Param("high"), GP64())
	VMOVDQU(high[0], Mem{Base: p})
	Store(odd, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// Offsets of the fields of digitJob.
const (
	jobDst = 8 * iota
	jobDstPitch
	jobStage
	jobStagePitch
	jobTop
	jobSig
	jobSigPitch
	jobBytes
	jobExp
	jobExpPitch
	jobCls
	jobClsPitch
	jobRef
	jobRefPitch
	jobScale
	jobScalePitch
	jobN
	jobGroups
	jobLimit
	jobAhead
)

// digits writes the loop of splitDigits.
func digits() {
	mask := words("digitMask", 1<<digitBits-1, 1<<digitBits-1, 1<<digitBits-1, 1<<digitBits-1)
	offset := words("digitShift", 4, 0, 4, 0)
	sh := GLOBL("digitShuffle", RODATA|NOPTR)
	for lane, b := range []int{10, 7, 3, 0} {
		for i := range 8 {
			o := uint8(b + i)
			if b+i > 15 {
				o = 0x80
			}
			DATA(8*lane+i, U8(o))
		}
	}
	TEXT("splitDigitsAVX2", NOSPLIT, "func(job *byte)")
	Doc("splitDigitsAVX2 is the loop of splitDigits.")
	Pragma("noescape")
	job := Load(Param("job"), GP64())
	field := func(off int) Mem { return Mem{Base: job, Disp: off} }
	n, size := GP64(), GP64()
	stage, sig := GP64(), GP64()
	MOVQ(field(jobN), n)
	MOVQ(field(jobStage), stage)
	MOVQ(field(jobSig), sig)
	MOVQ(field(jobBytes), size)
	y0, x0, w, ahead := YMM(), XMM(), GP64(), GP64()
	MOVQ(field(jobAhead), ahead)
	CMPQ(size, Imm(32))
	JGE(LabelRef("split_copy32"))
	CMPQ(size, Imm(16))
	JGE(LabelRef("split_copy16"))

	next := func() {
		ADDQ(field(jobStagePitch), stage)
		ADDQ(field(jobSigPitch), sig)
		DECQ(n)
	}
	Label("split_copy8")
	PREFETCHT0(Mem{Base: sig, Index: ahead, Scale: 1})
	MOVQ(Mem{Base: sig}, w)
	MOVQ(w, Mem{Base: stage})
	next()
	JNZ(LabelRef("split_copy8"))
	JMP(LabelRef("split_extract"))

	Label("split_copy16")
	PREFETCHT0(Mem{Base: sig, Index: ahead, Scale: 1})
	VMOVDQU(Mem{Base: sig}, x0)
	VMOVDQU(x0, Mem{Base: stage})
	VMOVDQU(Mem{Base: sig, Index: size, Scale: 1, Disp: -16}, x0)
	VMOVDQU(x0, Mem{Base: stage, Index: size, Scale: 1, Disp: -16})
	next()
	JNZ(LabelRef("split_copy16"))
	JMP(LabelRef("split_extract"))

	Label("split_copy32")
	k := GP64()
	last := GP64()
	MOVQ(size, last)
	SUBQ(Imm(32), last)
	Label("split_copy32_element")
	XORQ(k, k)
	next32 := GP64()
	LEAQ(Mem{Base: sig, Index: ahead, Scale: 1}, next32)
	Label("split_copy32_loop")
	PREFETCHT0(Mem{Base: next32, Index: k, Scale: 1})
	VMOVDQU(Mem{Base: sig, Index: k, Scale: 1}, y0)
	VMOVDQU(y0, Mem{Base: stage, Index: k, Scale: 1})
	ADDQ(Imm(32), k)
	CMPQ(k, last)
	JLT(LabelRef("split_copy32_loop"))
	VMOVDQU(Mem{Base: sig, Index: last, Scale: 1}, y0)
	VMOVDQU(y0, Mem{Base: stage, Index: last, Scale: 1})
	next()
	JNZ(LabelRef("split_copy32_element"))

	Label("split_extract")
	dst := GP64()
	exp, cls, ref, scale := GP64(), GP64(), GP64(), GP64()
	MOVQ(field(jobN), n)
	MOVQ(field(jobTop), stage) // the top of the staged significand, less digitBytes
	MOVQ(field(jobDst), dst)
	MOVQ(field(jobExp), exp)
	MOVQ(field(jobCls), cls)
	MOVQ(field(jobRef), ref)
	MOVQ(field(jobScale), scale)
	ymask, yoff, ysh, zero := YMM(), YMM(), YMM(), YMM()
	VMOVDQU(mask, ymask)
	VMOVDQU(offset, yoff)
	VMOVDQU(sh, ysh)
	VPXOR(zero, zero, zero)
	Label("split_element")
	c, d, e, neg, p, m := GP64(), GP64(), GP64(), GP64(), GP64(), GP64()
	MOVBQZX(Mem{Base: cls}, c)
	MOVQ(c, neg)
	ANDQ(Imm(1), neg)
	XORQ(neg, c)
	MOVQ(Mem{Base: ref}, d)
	MOVLQSX(Mem{Base: exp}, e)
	SUBQ(e, d)
	SUBQ(Mem{Base: scale}, d)
	MOVQ(dst, p)
	MOVQ(field(jobGroups), m)
	CMPQ(c, Imm(2))
	JNE(LabelRef("split_zero"))
	CMPQ(d, field(jobLimit))
	JAE(LabelRef("split_zero"))
	// sign is 1 - 2 neg in every dword
	ADDQ(neg, neg)
	SUBQ(Imm(1), neg)
	NEGQ(neg)
	ysign, ycount := YMM(), YMM()
	VMOVD(neg.As32(), ysign.AsX())
	VPBROADCASTD(ysign.AsX(), ysign)
	MOVQ(d, e)
	ANDQ(Imm(7), e)
	VMOVQ(e, ycount.AsX())
	VPBROADCASTQ(ycount.AsX(), ycount)
	VPADDQ(yoff, ycount, ycount)
	SHRQ(Imm(3), d)
	ADDQ(stage, d)
	Label("split_group")
	v := YMM()
	VBROADCASTI128(Mem{Base: d}, v)
	VPSHUFB(ysh, v, v)
	VPSRLVQ(ycount, v, v)
	VPAND(ymask, v, v)
	VPSIGND(ysign, v, v)
	VMOVDQU(v, Mem{Base: p})
	ADDQ(Imm(32), p)
	SUBQ(Imm(digitBytes), d)
	DECQ(m)
	JNZ(LabelRef("split_group"))
	Label("split_next")
	ADDQ(field(jobDstPitch), dst)
	ADDQ(field(jobStagePitch), stage)
	ADDQ(field(jobExpPitch), exp)
	ADDQ(field(jobClsPitch), cls)
	ADDQ(field(jobRefPitch), ref)
	ADDQ(field(jobScalePitch), scale)
	DECQ(n)
	JNZ(LabelRef("split_element"))
	VZEROUPPER()
	RET()
	Label("split_zero")
	VMOVDQU(zero, Mem{Base: p})
	ADDQ(Imm(32), p)
	DECQ(m)
	JNZ(LabelRef("split_zero"))
	JMP(LabelRef("split_next"))
}

var convMask, convBias, convBack *Mem

// convolve writes the loop of convolveTile for rows rows and width groups of columns.
func convolve(width, rows int) {
	if convMask == nil {
		four := func(name string, x uint64) *Mem {
			m := words(name, x, x, x, x)
			return &m
		}
		convMask = four("convMask", 1<<digitBits-1)
		convBias = four("convBias", 1<<63)
		convBack = four("convBack", 1<<(63-digitBits))
	}
	name := fmt.Sprintf("convolve%dx%dAVX2", rows, width)
	TEXT(name, NOSPLIT, "func(acc *int64, accPitch int, a *int64, aPitch int, x *int64, n int, first, groups int)")
	Doc(fmt.Sprintf("%s is the loop of convolveTile for %d rows and %d groups of columns. Pitches count bytes.", name, rows, width))
	Pragma("noescape")
	a0 := Load(Param("a"), GP64())
	aPitch := Load(Param("aPitch"), GP64())
	x0 := Load(Param("x"), GP64())
	n := Load(Param("n"), GP64())
	first := Load(Param("first"), GP64())
	groups := Load(Param("groups"), GP64())
	SHLQ(Imm(5), first)
	SHLQ(Imm(5), groups)
	sum := make([][]VecVirtual, rows)
	for r := range sum {
		sum[r] = make([]VecVirtual, width)
		for i := range sum[r] {
			sum[r][i] = YMM()
			VPXOR(sum[r][i], sum[r][i], sum[r][i])
		}
	}
	a, x, k := GP64(), GP64(), GP64()
	// group multiplies the four digits at a + 32 m with x, for columns from group from
	// of the tile on; group from of the tile meets x's digits at x + 32 (from - m).
	group := func(m, from int) {
		for s := range 4 {
			b := make([]VecVirtual, rows)
			for r := range b {
				b[r] = YMM()
				at := Mem{Base: a, Disp: 32*m + 8*s}
				if r == 1 {
					at.Index, at.Scale = aPitch, 1
				}
				VPBROADCASTD(at, b[r])
			}
			for i := from; i < width; i++ {
				xs := Mem{Base: x, Disp: 32*(i-m) - 8*s}
				if rows == 1 {
					t := YMM()
					VPMULDQ(xs, b[0], t)
					VPADDQ(t, sum[0][i], sum[0][i])
					continue
				}
				v, t := YMM(), YMM()
				VMOVDQU(xs, v)
				VPMULDQ(v, b[0], t)
				VPADDQ(t, sum[0][i], sum[0][i])
				VPMULDQ(v, b[1], v)
				VPADDQ(v, sum[1][i], sum[1][i])
			}
		}
	}
	Label(name + "_number")
	MOVQ(a0, a)
	LEAQ(Mem{Base: x0, Index: first, Scale: 1, Disp: 32}, x)
	MOVQ(first, k)
	TESTQ(k, k)
	JEQ(LabelRef(name + "_triangle"))
	Label(name + "_square")
	group(0, 0)
	ADDQ(Imm(32), a)
	SUBQ(Imm(32), x)
	SUBQ(Imm(32), k)
	JNE(LabelRef(name + "_square"))
	Label(name + "_triangle")
	for m := range width {
		group(m, m)
	}
	ADDQ(groups, a0)
	LEAQ(Mem{Base: x0, Index: groups, Scale: 1, Disp: 32}, x0)
	DECQ(n)
	JNE(LabelRef(name + "_number"))
	acc := Load(Param("acc"), GP64())
	accPitch := Load(Param("accPitch"), GP64())
	LEAQ(Mem{Base: acc, Index: first, Scale: 2}, acc)
	for r := range sum {
		for i, v := range sum[r] {
			at := Mem{Base: acc, Disp: 64 * i}
			if r == 1 {
				at.Index, at.Scale = accPitch, 1
			}
			t := YMM()
			VPAND(*convMask, v, t)
			VPADDQ(at, t, t)
			VMOVDQU(t, at)
			VPADDQ(*convBias, v, v)
			VPSRLQ(Imm(digitBits), v, v)
			VPSUBQ(*convBack, v, v)
			at = at.Offset(32)
			VPADDQ(at, v, v)
			VMOVDQU(v, at)
		}
	}
	VZEROUPPER()
	RET()
}

// skipZeros goes on to the next term if one of term i's factors is zero.
func skipZeros(name string, axpy bool, i, t, d Register) {
	MOVQ(NewParamAddr("ac", 32), t)
	MOVBQZX(Mem{Base: t, Index: i, Scale: 1}, t)
	if !axpy {
		MOVQ(NewParamAddr("xc", 56), d)
		MOVBQZX(Mem{Base: d, Index: i, Scale: 1}, d)
		ANDQ(d, t)
	}
	TESTQ(U32(2), t)
	JEQ(LabelRef(name + "_next"))
}

// alignment computes the shift d of term i and the mask t of its sign, and compares d with 64.
func alignment(axpy bool, i, t, d Register) {
	MOVQ(NewParamAddr("ref", 8), d)
	if axpy {
		MOVQ(Mem{Base: d, Index: i, Scale: 8}, d)
		SUBQ(NewParamAddr("scale", 64), d)
	} else {
		MOVQ(NewParamAddr("xe", 48), t)
		MOVLQSX(Mem{Base: t, Index: i, Scale: 4}, t)
		SUBQ(t, d)
	}
	MOVQ(NewParamAddr("ae", 24), t)
	MOVLQSX(Mem{Base: t, Index: i, Scale: 4}, t)
	SUBQ(t, d)
	MOVQ(NewParamAddr("ac", 32), t)
	MOVBQZX(Mem{Base: t, Index: i, Scale: 1}, t)
	if axpy {
		XORQ(NewParamAddr("sign", 72), t)
	} else {
		MOVQ(NewParamAddr("xc", 56), RDX)
		MOVBQZX(Mem{Base: RDX, Index: i, Scale: 1}, RDX)
		XORQ(RDX, t)
	}
	ANDQ(Imm(1), t)
	NEGQ(t)
	CMPQ(d, Imm(64))
}

// mulAdd2 writes the loops of dotTop2 and axpyTop2.
func mulAdd2(axpy bool) {
	name := "dotTop2BMI2"
	if axpy {
		name = "axpyTop2BMI2"
		TEXT(name, NOSPLIT, "func(acc *uint64, ref *int64, a *uint64, ae *int32, ac *uint8, n int, x1, x0 uint64, scale int64, sign uint64)")
	} else {
		TEXT(name, NOSPLIT, "func(acc *uint64, ref int64, a *uint64, ae *int32, ac *uint8, x *uint64, xe *int32, xc *uint8, n int)")
	}
	Doc(name + " is the loop of the reference of that name without the suffix. n is positive.")
	Pragma("noescape")
	var sum [4]Register
	var accp, x Register
	accp = Load(Param("acc"), GP64())
	a := Load(Param("a"), GP64())
	i := GP64()
	XORQ(i, i)
	var x1, x0 Op
	if axpy {
		x1, x0 = Load(Param("x1"), GP64()), Load(Param("x0"), GP64())
	} else {
		x = Load(Param("x"), GP64())
		for k := range sum {
			sum[k] = GP64()
			MOVQ(Mem{Base: accp, Disp: 8 * k}, sum[k])
		}
		x1, x0 = Mem{Base: x, Disp: 8}, Mem{Base: x}
	}
	Label(name + "_loop")
	w0, w1, w2, t, d := GP64(), GP64(), GP64(), GP64(), GP64()
	skipZeros(name, axpy, i, t, d)
	// The product, less its lowest word.
	h, l := t, d
	MOVQ(Mem{Base: a, Disp: 8}, RDX)
	MULXQ(x1, w1, w2)
	MULXQ(x0, w0, h)
	ADDQ(h, w1)
	ADCQ(Imm(0), w2)
	MOVQ(Mem{Base: a}, RDX)
	MULXQ(x1, l, h)
	ADDQ(l, w0)
	ADCQ(h, w1)
	ADCQ(Imm(0), w2)
	MULXQ(x0, l, h)
	ADDQ(h, w0)
	ADCQ(Imm(0), w1)
	ADCQ(Imm(0), w2)
	alignment(axpy, i, t, d)
	far := name + "_far"
	JAE(LabelRef(far))
	Label(name + "_shift")
	nd, hi := GP64(), RDX
	MOVQ(d, nd)
	XORQ(Imm(63), nd)
	SHRXQ(d, w0, w0)
	LEAQ(Mem{Base: w1, Index: w1, Scale: 1}, hi)
	SHLXQ(nd, hi, hi)
	ADDQ(hi, w0)
	SHRXQ(d, w1, w1)
	LEAQ(Mem{Base: w2, Index: w2, Scale: 1}, hi)
	SHLXQ(nd, hi, hi)
	ADDQ(hi, w1)
	SHRXQ(d, w2, w2)
	XORQ(t, w0)
	XORQ(t, w1)
	XORQ(t, w2)
	if axpy {
		ADDQ(w0, Mem{Base: accp})
		ADCQ(w1, Mem{Base: accp, Disp: 8})
		ADCQ(w2, Mem{Base: accp, Disp: 16})
		ADCQ(t, Mem{Base: accp, Disp: 24})
	} else {
		ADDQ(w0, sum[0])
		ADCQ(w1, sum[1])
		ADCQ(w2, sum[2])
		ADCQ(t, sum[3])
	}
	Label(name + "_next")
	ADDQ(Imm(16), a)
	off := 64
	if axpy {
		ADDQ(Imm(32), accp)
		off = 40
	} else {
		ADDQ(Imm(16), x)
	}
	INCQ(i)
	CMPQ(i, NewParamAddr("n", off))
	JLT(LabelRef(name + "_loop"))
	if !axpy {
		out := Load(Param("acc"), GP64())
		for k := range sum {
			MOVQ(sum[k], Mem{Base: out, Disp: 8 * k})
		}
	}
	RET()
	// A shift by words comes first.
	Label(far)
	CMPQ(d, U32(192))
	JAE(LabelRef(name + "_next"))
	Label(name + "_word")
	MOVQ(w1, w0)
	MOVQ(w2, w1)
	XORQ(w2, w2)
	SUBQ(Imm(64), d)
	CMPQ(d, Imm(64))
	JAE(LabelRef(name + "_word"))
	JMP(LabelRef(name + "_shift"))
}

// mulAdd writes the loops of dotTop and axpyTop for a number of words.
func mulAdd(words int, axpy bool) {
	name := fmt.Sprintf("dotTop%dADX", words)
	if axpy {
		name = fmt.Sprintf("axpyTop%dADX", words)
		TEXT(name, NOSPLIT, "func(acc *uint64, ref *int64, a *uint64, ae *int32, ac *uint8, n int, x *uint64, unused uint64, scale int64, sign uint64)")
	} else {
		TEXT(name, NOSPLIT, "func(acc *uint64, ref int64, a *uint64, ae *int32, ac *uint8, x *uint64, xe *int32, xc *uint8, n int)")
	}
	Doc(fmt.Sprintf("%s is the loop of the reference for %d words. n is positive.", name, words))
	Pragma("noescape")
	acc := Load(Param("acc"), GP64())
	a := Load(Param("a"), GP64())
	x := Load(Param("x"), GP64())
	i := GP64()
	XORQ(i, i)
	Label(name + "_loop")
	w := make([]Register, words)
	for k := range w {
		w[k] = GP64()
	}
	t, d, zero := GP64(), GP64(), GP64()
	skipZeros(name, axpy, i, t, d)
	// The high triangle of the products, row by row; after row i it fits words 0 to i.
	h, l := t, d
	for r := range words {
		MOVQ(Mem{Base: a, Disp: 8 * r}, RDX)
		if r == 0 {
			MULXQ(Mem{Base: x, Disp: 8 * (words - 1)}, l, w[0])
			continue
		}
		XORQ(zero, zero) // clears CF and OF
		MOVQ(zero, w[r])
		MULXQ(Mem{Base: x, Disp: 8 * (words - 1 - r)}, l, h)
		ADOXQ(h, w[0])
		for k := range r {
			MULXQ(Mem{Base: x, Disp: 8 * (words - r + k)}, l, h)
			ADCXQ(l, w[k])
			ADOXQ(h, w[k+1])
		}
		ADCXQ(zero, w[r])
	}
	alignment(axpy, i, t, d)
	JAE(LabelRef(name + "_far"))
	Label(name + "_shift")
	nd, hi := zero, RDX
	MOVQ(d, nd)
	XORQ(Imm(63), nd)
	for k := range words {
		SHRXQ(d, w[k], w[k])
		if k+1 < words {
			LEAQ(Mem{Base: w[k+1], Index: w[k+1], Scale: 1}, hi)
			SHLXQ(nd, hi, hi)
			ADDQ(hi, w[k])
		}
		XORQ(t, w[k])
	}
	for k := range words {
		if k == 0 {
			ADDQ(w[k], Mem{Base: acc})
		} else {
			ADCQ(w[k], Mem{Base: acc, Disp: 8 * k})
		}
	}
	ADCQ(t, Mem{Base: acc, Disp: 8 * words})
	Label(name + "_next")
	ADDQ(Imm(uint64(8*words)), a)
	off := 64
	if axpy {
		ADDQ(Imm(uint64(8*(words+1))), acc)
		off = 40
	} else {
		ADDQ(Imm(uint64(8*words)), x)
	}
	INCQ(i)
	CMPQ(i, NewParamAddr("n", off))
	JLT(LabelRef(name + "_loop"))
	RET()
	// A shift by words comes first.
	Label(name + "_far")
	CMPQ(d, U32(uint32(64*words)))
	JAE(LabelRef(name + "_next"))
	Label(name + "_word")
	for k := range words - 1 {
		MOVQ(w[k+1], w[k])
	}
	XORQ(w[words-1], w[words-1])
	SUBQ(Imm(64), d)
	CMPQ(d, Imm(64))
	JAE(LabelRef(name + "_word"))
	JMP(LabelRef(name + "_shift"))
}
