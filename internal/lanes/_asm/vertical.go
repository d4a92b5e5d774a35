package main

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// Offsets of the fields of cutJob.
const (
	cutDst = 8 * iota
	cutDstPitch
	cutSig
	cutSigLane
	cutSigPitch
	cutExp
	cutCls
	cutStep
	cutRef
	cutRefLane
	cutRefStep
	cutScale
	cutSign
	cutXLane
	cutXStep
	cutN
	cutStage
	cutTable
	cutDigits
	cutLimit
	cutWords
	cutUsed
	cutSoon
	cutSoonPitch
	cutSoonLines
)

const (
	ifmaBits = 52 // of the digits that the lanes of AVX-512 hold as integers
	fmaBits  = 51 // of those that the lanes of AVX2 hold in binary64

	laneWidth = 9  // columns that the registers hold, with IFMA several sums of each
	ifmaSums  = 18 // that they hold in all
)

// A laneLoop is what the loops over vectors of numbers have in common.
type laneLoop struct {
	name             string
	lanes            int
	job, dst, sig, n Register
	i, ref, x        Register // what has been added to the indices of numbers, references and of x
	soon             Mem
	stops            bool // it returns how many vectors are left
}

// label returns a label of the function.
func (l *laneLoop) label(s string) string { return l.name + "_" + s }

func (l *laneLoop) field(off int) Mem { return Mem{Base: l.job, Disp: off} }

// at returns entry i of an array of elements of so many bytes.
func (l *laneLoop) at(off int, i Register, size uint8) Mem {
	p := GP64()
	MOVQ(l.field(off), p)
	return Mem{Base: p, Index: i, Scale: size}
}

// lane calls wide if a quantity is one a lane, and narrow if it is the same for all.
func (l *laneLoop) lane(step int, wide, narrow func()) {
	at := l.label(fmt.Sprintf("lane%d", step))
	CMPQ(l.field(step), Imm(0))
	JEQ(LabelRef(at))
	wide()
	JMP(LabelRef(at + "_end"))
	Label(at)
	narrow()
	Label(at + "_end")
}

func beginLanes(kind string, lanes, digits int) *laneLoop {
	l := &laneLoop{name: "cutVertical" + kind, lanes: lanes}
	doc := fmt.Sprintf(" is the loop of cutVertical for %d lanes.", lanes)
	if digits > 0 {
		l.name = fmt.Sprintf("cutVertical%d%s", digits, kind)
		doc = fmt.Sprintf(" is the loop of cutVertical for %d lanes and %d digits.", lanes, digits)
	}
	result := ""
	if l.stops = lanes == 8 && digits > 0; l.stops {
		result = " (left int)"
	}
	TEXT(l.name, NOSPLIT, "func(job *byte)"+result)
	Doc(l.name + doc)
	Pragma("noescape")
	l.job = Load(Param("job"), GP64())
	l.dst, l.sig, l.n, l.i, l.ref, l.x = GP64(), GP64(), GP64(), GP64(), GP64(), GP64()
	MOVQ(l.field(cutDst), l.dst)
	MOVQ(l.field(cutSig), l.sig)
	MOVQ(l.field(cutN), l.n)
	XORQ(l.i, l.i)
	XORQ(l.ref, l.ref)
	XORQ(l.x, l.x)
	l.soon = AllocLocal(8)
	p := GP64()
	MOVQ(l.field(cutSoon), p)
	MOVQ(p, l.soon)
	return l
}

func (l *laneLoop) end() {
	ADDQ(l.field(cutDstPitch), l.dst)
	ADDQ(l.field(cutSigPitch), l.sig)
	ADDQ(l.field(cutStep), l.i)
	ADDQ(l.field(cutRefStep), l.ref)
	ADDQ(l.field(cutXStep), l.x)
	DECQ(l.n)
	JNZ(LabelRef(l.label("number")))
	if l.stops {
		Store(l.n, ReturnIndex(0))
	}
	VZEROUPPER()
	RET()
}

// prefetch asks for lines of the cache from *soon on, which then moves on by pitch.
func prefetch(name string, soon, pitch, lines Mem) {
	p, k := GP64(), GP64()
	MOVQ(lines, k)
	TESTQ(k, k)
	JEQ(LabelRef(name + "_fetched"))
	MOVQ(soon, p)
	Label(name + "_prefetch")
	PREFETCHT0(Mem{Base: p})
	ADDQ(Imm(64), p)
	DECQ(k)
	JNZ(LabelRef(name + "_prefetch"))
	MOVQ(pitch, p)
	ADDQ(p, soon)
	Label(name + "_fetched")
}

// place returns where digit s of D of so many bits lies in words of 64: the word, the bits of it
// below the digit, and whether the next word has a part of it.
func place(bits, s, digits int) (word, shift int, two bool) {
	words := (bits*digits + 63) / 64
	pos := 64*words - bits*(s+1)
	return pos / 64, pos % 64, pos%64+bits > 64
}

// A cutLanes is what cutIFMA holds in registers for all vectors of numbers, and of one.
type cutLanes struct {
	*laneLoop
	low, high, digit       VecVirtual // orders of lanes, mask of a digit
	pitch, pitch3, pw, pw4 Register   // bytes to the next number, to the third; words of two
	part, partHigh         Register   // which of four words are there, for either half of the lanes
	d, negative            VecVirtual // shifts; all ones where a number is negative
	valid                  Register   // which lanes have digits
}

// cutIFMA writes the loop of cutVertical for eight lanes of integers, for so many digits or any.
//
// That for so many digits keeps all words in registers. It takes numbers that have words in the
// last group of four, or all but these, and stops at a vector of which a lane is shifted by whole
// words: it returns how many are left.
func cutIFMA(digits int) {
	l := &cutLanes{laneLoop: beginLanes("IFMA", 8, digits)}
	l.low, l.high, l.digit = ZMM(), ZMM(), ZMM()
	VMOVDQU64(lowPairs, l.low)
	VMOVDQU64(highPairs, l.high)
	t := GP64()
	MOVQ(U64(1<<ifmaBits-1), t)
	VPBROADCASTQ(t, l.digit)
	constant := func(x uint64) VecVirtual {
		v := ZMM()
		MOVQ(U32(uint32(x)), t)
		VPBROADCASTQ(t, v)
		return v
	}
	one, two, class, word := constant(1), constant(2), constant(6), constant(64)
	far, neg := K(), K()
	l.valid, l.part, l.partHigh = K(), K(), K()
	l.pitch, l.pitch3, l.pw, l.pw4 = GP64(), GP64(), GP64(), GP64()
	MOVQ(l.field(cutSigLane), l.pitch)
	LEAQ(Mem{Base: l.pitch, Index: l.pitch, Scale: 2}, l.pitch3)
	words := (ifmaBits*digits + 63) / 64
	if digits > 0 {
		MOVQ(l.field(cutUsed), RCX)
		SUBQ(Imm(uint64((words-1)/4*4)), RCX)
		l.masks(t)
	}

	Label(l.label("number"))
	prefetch(l.name, l.soon, l.field(cutSoonPitch), l.field(cutSoonLines))
	// The shifts and signs of the lanes.
	v, c := ZMM(), ZMM()
	l.d, l.negative = ZMM(), ZMM()
	ref := l.at(cutRef, l.ref, 8)
	l.lane(cutRefLane, func() { VMOVDQU64(ref, l.d) }, func() { VPBROADCASTQ(ref, l.d) })
	VPMOVSXDQ(l.at(cutExp, l.i, 4), v)
	VPSUBQ(v, l.d, l.d)
	VPMOVZXBQ(l.at(cutCls, l.i, 1), c)
	scale, sign := l.at(cutScale, l.x, 8), l.at(cutSign, l.x, 1)
	l.lane(cutXLane, func() {
		VPSUBQ(scale, l.d, l.d)
		VPMOVZXBQ(sign, v)
	}, func() {
		VPSUBQ_BCST(scale, l.d, l.d)
		MOVBQZX(sign, t)
		VPBROADCASTQ(t, v)
	})
	VPXORQ(c, v, v)
	VPANDQ(class, c, c)
	VPCMPEQQ(two, c, l.valid)
	VPCMPUQ_BCST(Imm(1), l.field(cutLimit), l.d, l.valid, l.valid) // d < limit
	VPTESTMQ(one, v, l.valid, neg)
	VPMOVM2Q(neg, l.negative)
	VPCMPUQ(Imm(5), word, l.d, l.valid, far) // d >= 64
	KORTESTB(far, far)
	JNE(LabelRef(l.label("far")))
	MOVQ(l.field(cutUsed), t)
	LEAQ(Mem{Base: l.sig, Index: t, Scale: 8, Disp: -32}, l.pw)
	LEAQ(Mem{Base: l.pw, Index: l.pitch, Scale: 4}, l.pw4)
	if digits > 0 {
		l.cutNear(digits)
		VMOVDQU64(l.negative, Mem{Base: l.dst, Disp: 64 * digits})
		l.end()
		Label(l.label("far"))
		Store(l.n, ReturnIndex(0))
		VZEROUPPER()
		RET()
		return
	}
	l.cutAny(t)
}

// masks makes the masks of as many words of four, from the highest, as RCX says, 0 to 4.
func (l *cutLanes) masks(t GPVirtual) {
	NEGQ(RCX)
	ADDQ(Imm(4), RCX)
	MOVQ(U32(15), t)
	SHLQ(CL, t)
	ANDQ(Imm(15), t)
	KMOVB(t.As32(), l.part)
	SHLQ(Imm(4), t)
	KMOVB(t.As32(), l.partHigh)
}

// four loads four words of every lane, those at pw + disp and pw4 + disp, and returns vectors of
// the n highest, from the highest on. Where masked, some of the lower ones are not there.
func (l *cutLanes) four(disp, n int, masked bool) (w []VecVirtual) {
	at := func(base Register, i int) Mem {
		m := Mem{Base: base, Disp: disp}
		switch i {
		case 1, 2:
			m.Index, m.Scale = l.pitch, uint8(i)
		case 3:
			m.Index, m.Scale = l.pitch3, 1
		}
		return m
	}
	var e, pairs [4]VecVirtual
	for i := range e {
		e[i] = ZMM()
		if masked {
			VMOVDQU64_Z(at(l.pw, i), l.part, e[i])
			VBROADCASTI64X4(at(l.pw4, i), l.partHigh, e[i])
			continue
		}
		VBROADCASTI64X4(at(l.pw, i), e[i])
		VINSERTI64X4(Imm(1), at(l.pw4, i), e[i], e[i])
	}
	for i := range n {
		w = append(w, ZMM())
		odd := 1 - i%2
		if i < 2 {
			unpack := VPUNPCKLQDQ
			if odd == 1 {
				unpack = VPUNPCKHQDQ
			}
			for k := odd; k < 4; k += 2 {
				pairs[k] = ZMM()
				unpack(e[k/2*2+1], e[k/2*2], pairs[k])
			}
		}
		order := l.high
		if i >= 2 {
			order = l.low
		}
		VMOVDQA64(pairs[odd], w[i])
		VPERMT2Q(pairs[odd+2], order, w[i])
	}
	return w
}

// shift makes w the bits from d on of a word and the one above it, and complements them in negative
// lanes.
func (l *cutLanes) shift(word, above, w VecVirtual) {
	VMOVDQA64(word, w)
	VPSHRDVQ_Z(l.d, above, l.valid, w)
	VPXORQ(l.negative, w, w)
}

// store stores the digit whose bits begin at bit r of w, and end in the word above it if two.
func (l *cutLanes) store(w, above VecVirtual, r int, two bool, to Mem) {
	x := ZMM()
	switch {
	case two:
		VPSHRDQ(Imm(uint64(r)), above, w, x)
		VPANDQ(l.digit, x, x)
	case r == 0:
		VPANDQ(l.digit, w, x)
	default:
		VPSRLQ(Imm(uint64(r)), w, x)
		if r+ifmaBits < 64 {
			VPANDQ(l.digit, x, x)
		}
	}
	VMOVDQU64(x, to)
}

// cutNear stores so many digits of one vector of numbers that are shifted by less than a word.
func (l *cutLanes) cutNear(digits int) {
	words := (ifmaBits*digits + 63) / 64
	above, last := ZMM(), ZMM()
	VPXORQ(above, above, above)
	s := 0
	for k := words - 1; k >= 0; {
		for _, word := range l.four(-8*(words-1-k), min(4, k+1), k < 4) {
			w := ZMM()
			l.shift(word, above, w)
			for ; s < digits; s++ {
				q, r, two := place(ifmaBits, s, digits)
				if q < k {
					break
				}
				l.store(w, last, r, two, Mem{Base: l.dst, Disp: 64 * s})
			}
			above, last = word, w
			k--
		}
	}
}

// blockDigits digits are blockWords words.
const blockDigits, blockWords = 16, 13

// cutAny stores the digits of one vector of numbers, however they are shifted, and ends the loop.
func (l *cutLanes) cutAny(t GPVirtual) {
	pk, to := GP64(), GP64()
	left, k := AllocLocal(8), AllocLocal(8)
	above, w := ZMM(), ZMM()
	// groups calls f for the vectors of four words after the other, until none is left.
	groups := func(name string, f func(words []VecVirtual)) {
		MOVQ(l.field(cutUsed), t)
		MOVQ(t, left)
		MOVQ(U32(4), RCX)
		l.masks(t)
		Label(l.label(name))
		CMPQ(left, Imm(4))
		JGE(LabelRef(l.label(name + "_whole")))
		MOVQ(left, RCX)
		l.masks(t)
		Label(l.label(name + "_whole"))
		SUBQ(U32(256), pk)
		f(l.four(0, 4, true))
		SUBQ(Imm(32), l.pw)
		SUBQ(Imm(32), l.pw4)
		SUBQ(Imm(4), left)
		JG(LabelRef(l.label(name)))
	}
	// Words that are shifted as they come lie behind those of vectors of which a lane is shifted by
	// whole words, and behind the zeros there.
	MOVQ(l.field(cutWords), t)
	MOVQ(t, k)
	SHLQ(Imm(8), t)
	ADDQ(l.field(cutStage), t)
	LEAQ(Mem{Base: t, Disp: 6 * 64}, pk)
	VPXORQ(above, above, above)
	groups("near", func(words []VecVirtual) {
		for i, word := range words {
			if i == 0 {
				l.shift(word, above, w)
			} else {
				l.shift(word, words[i-1], w)
			}
			VMOVDQU64(w, Mem{Base: pk, Disp: 64 * (3 - i)})
		}
		VMOVDQA64(words[3], above)
		SUBQ(Imm(4), k)
	})
	// The words of the digits that numbers do not have.
	zero := ZMM()
	VPXORQ(zero, zero, zero)
	MOVQ(k, t)
	TESTQ(t, t)
	JLE(LabelRef(l.label("shifted")))
	Label(l.label("short"))
	SUBQ(Imm(64), pk)
	l.shift(zero, above, w)
	VMOVDQU64(w, Mem{Base: pk})
	VMOVDQA64(zero, above)
	DECQ(t)
	JNE(LabelRef(l.label("short")))
	Label(l.label("shifted"))
	MOVQ(l.field(cutWords), t)
	SHLQ(Imm(8), t)
	ADDQ(l.field(cutStage), t)
	LEAQ(Mem{Base: t, Disp: 6 * 64}, pk)

	// Digits, from the words below pk.
	Label(l.label("digits"))
	p := to
	MOVQ(l.dst, p)
	MOVQ(l.field(cutDigits), t)
	Label(l.label("block"))
	last, at := ZMM(), blockWords
	for s := range blockDigits {
		q, r, two := place(ifmaBits, s, blockDigits)
		if q < at {
			w, last = ZMM(), w
			VMOVDQU64(Mem{Base: pk, Disp: 64 * (q - blockWords)}, w)
			at = q
		}
		l.store(w, last, r, two, Mem{Base: p, Disp: 64 * s})
		DECQ(t)
		JEQ(LabelRef(l.label("signs")))
	}
	ADDQ(U32(64*blockDigits), p)
	SUBQ(U32(64*blockWords), pk)
	JMP(LabelRef(l.label("block")))
	Label(l.label("signs"))
	MOVQ(l.field(cutDigits), t)
	SHLQ(Imm(6), t)
	VMOVDQU64(l.negative, Mem{Base: l.dst, Index: t, Scale: 1})
	l.end()

	// Where a lane is shifted by whole words, each takes its own.
	Label(l.label("far"))
	MOVQ(l.field(cutUsed), t)
	LEAQ(Mem{Base: l.sig, Index: t, Scale: 8, Disp: -32}, l.pw)
	LEAQ(Mem{Base: l.pw, Index: l.pitch, Scale: 4}, l.pw4)
	MOVQ(l.field(cutWords), pk)
	SHLQ(Imm(6), pk)
	ADDQ(l.field(cutStage), pk)
	groups("far_words", func(words []VecVirtual) {
		for i, word := range words {
			VMOVDQU64(word, Mem{Base: pk, Disp: 64 * (3 - i)})
		}
	})
	index, g := ZMM(), K()
	from := pk
	MOVQ(l.field(cutStage), from)
	MOVQ(l.field(cutWords), t)
	MOVQ(t, to)
	SHLQ(Imm(7), to)
	LEAQ(Mem{Base: from, Index: to, Scale: 1, Disp: 128}, to)
	VPSRLQ(Imm(6), l.d, index)
	VPSLLQ(Imm(3), index, index)
	VPADDQ(laneIndex, index, index)
	Label(l.label("gather"))
	VPXORQ(w, w, w)
	KMOVB(l.valid, g)
	VPGATHERQQ(Mem{Base: from, Index: index, Scale: 8}, g, w)
	VMOVDQU64(w, Mem{Base: to})
	ADDQ(Imm(64), from)
	ADDQ(Imm(64), to)
	DECQ(t)
	JNZ(LabelRef(l.label("gather")))
	// From the highest on, below a zero.
	MOVQ(l.field(cutWords), t)
	MOVQ(to, pk)
	VPXORQ(above, above, above)
	Label(l.label("shift"))
	SUBQ(Imm(64), pk)
	VMOVDQU64(Mem{Base: pk}, index)
	l.shift(index, above, w)
	VMOVDQU64(w, Mem{Base: pk})
	VMOVDQA64(index, above)
	DECQ(t)
	JNZ(LabelRef(l.label("shift")))
	MOVQ(to, pk)
	JMP(LabelRef(l.label("digits")))
}

// cutFMA writes the loop of cutVertical for four lanes of binary64 numbers, for so many digits or
// any.
func cutFMA(digits int) {
	constant := func(k int) Mem { return cutConstants.Offset(8 * k) }
	l := beginLanes("AVX2", 4, digits)
	t := GP64()

	Label(l.label("number"))
	prefetch(l.name, l.soon, l.field(cutSoonPitch), l.field(cutSoonLines))
	d, v, c, none, zero := YMM(), YMM(), YMM(), YMM(), YMM()
	ref := l.at(cutRef, l.ref, 8)
	l.lane(cutRefLane, func() { VMOVDQU(ref, d) }, func() { VPBROADCASTQ(ref, d) })
	VPMOVSXDQ(l.at(cutExp, l.i, 4), v)
	VPSUBQ(v, d, d)
	VPMOVZXBQ(l.at(cutCls, l.i, 1), c)
	scale, sign := l.at(cutScale, l.x, 8), l.at(cutSign, l.x, 1)
	l.lane(cutXLane, func() {
		VPSUBQ(scale, d, d)
		VPMOVZXBQ(sign, v)
	}, func() {
		VPBROADCASTQ(scale, v)
		VPSUBQ(v, d, d)
		MOVBQZX(sign, t)
		VMOVQ(t, v.AsX())
		VPBROADCASTQ(v.AsX(), v)
	})
	// The lanes without digits: those not finite, or with d < 0, or with d >= limit.
	magic := YMM()
	VPXOR(c, v, v)
	VPSLLQ(Imm(63), v, v)
	VPBROADCASTQ(constant(0), magic)
	VPOR(v, magic, magic) // 2^52 with the sign of the product
	VPBROADCASTQ(constant(1), v)
	VPAND(v, c, c)
	VPBROADCASTQ(constant(2), v)
	VPCMPEQQ(v, c, c)
	VPBROADCASTQ(l.field(cutLimit), v)
	VPCMPGTQ(d, v, v) // limit > d
	VPAND(v, c, c)
	VPXOR(zero, zero, zero)
	VPCMPEQQ(none, none, none)
	VPCMPGTQ(none, d, v) // d > -1
	VPAND(v, c, c)
	VPXOR(c, none, none)

	// Words, two at a time, from the top.
	pw, pk, left := GP64(), GP64(), GP64()
	MOVQ(l.field(cutUsed), left)
	LEAQ(Mem{Base: l.sig, Index: left, Scale: 8, Disp: -16}, pw)
	MOVQ(l.field(cutWords), pk)
	SHLQ(Imm(5), pk)
	ADDQ(l.field(cutStage), pk)
	pitch, pitch3 := GP64(), GP64()
	MOVQ(l.field(cutSigLane), pitch)
	LEAQ(Mem{Base: pitch, Index: pitch, Scale: 2}, pitch3)
	at := [4]Mem{{Base: pw}, {Base: pw, Index: pitch, Scale: 1}, {Base: pw, Index: pitch, Scale: 2}, {Base: pw, Index: pitch3, Scale: 1}}
	a, b, r := YMM(), YMM(), YMM()
	SUBQ(Imm(2), left)
	JLT(LabelRef(l.label("single")))
	Label(l.label("words"))
	VMOVDQU(at[0], a.AsX())
	VINSERTI128(Imm(1), at[2], a, a)
	VMOVDQU(at[1], b.AsX())
	VINSERTI128(Imm(1), at[3], b, b)
	SUBQ(Imm(16), pw)
	VPUNPCKLQDQ(b, a, r)
	VMOVDQU(r, Mem{Base: pk, Disp: -64})
	VPUNPCKHQDQ(b, a, r)
	VMOVDQU(r, Mem{Base: pk, Disp: -32})
	SUBQ(Imm(64), pk)
	SUBQ(Imm(2), left)
	JGE(LabelRef(l.label("words")))
	CMPQ(left, I8(-2))
	JEQ(LabelRef(l.label("whole")))
	Label(l.label("single"))
	VMOVQ(at[0].Offset(8), a.AsX())
	VPINSRQ(Imm(1), at[1].Offset(8), a.AsX(), a.AsX())
	VMOVQ(at[2].Offset(8), b.AsX())
	VPINSRQ(Imm(1), at[3].Offset(8), b.AsX(), b.AsX())
	VINSERTI128(Imm(1), b.AsX(), a, a)
	VMOVDQU(a, Mem{Base: pk, Disp: -32})
	Label(l.label("whole"))

	// Where a lane is shifted by whole words, each takes its own.
	from, to, k := pw, pitch, left
	MOVQ(l.field(cutStage), from)
	MOVQ(l.field(cutWords), k)
	MOVQ(k, to)
	SHLQ(Imm(6), to)
	LEAQ(Mem{Base: from, Index: to, Scale: 1, Disp: 64}, to)
	right, rest, far := YMM(), YMM(), YMM()
	VPBROADCASTQ(constant(3), v)
	VPCMPGTQ(v, d, far) // d > 63
	VPAND(v, d, right)
	VPBROADCASTQ(constant(4), v)
	VPSUBQ(right, v, rest)
	VPOR(none, right, right)
	VPOR(none, rest, rest)
	VPTEST(c, far)
	JNE(LabelRef(l.label("far")))
	Label(l.label("near"))

	// Shifted right by the rest.
	w, next, last, x := YMM(), YMM(), YMM(), YMM()
	mask := YMM()
	VPBROADCASTQ(constant(5), mask)
	VMOVDQU(Mem{Base: from}, w)
	if digits > 0 {
		words := (fmaBits*digits + 63) / 64
		s := digits - 1
		for k := range words {
			VPSRLVQ(right, w, w)
			if k+1 < words {
				VMOVDQU(Mem{Base: from, Disp: 32 * (k + 1)}, next)
				VPSLLVQ(rest, next, v)
				VPOR(v, w, w)
			}
			for ; s >= 0; s-- {
				q, r, two := place(fmaBits, s, digits)
				if two && q == k || q > k {
					break
				}
				switch {
				case two:
					VPSRLQ(Imm(uint64(r)), last, x)
					VPSLLQ(Imm(uint64(64-r)), w, v)
					VPOR(v, x, x)
					VPAND(mask, x, x)
				case r == 0:
					VPAND(mask, w, x)
				default:
					VPSRLQ(Imm(uint64(r)), w, x)
					if r+fmaBits < 64 {
						VPAND(mask, x, x)
					}
				}
				VPOR(magic, x, x)
				VSUBPD(magic, x, x)
				VMOVUPD(x, Mem{Base: l.dst, Disp: 32 * s})
			}
			w, next, last = next, last, w
		}
		VMOVDQU(zero, Mem{Base: l.dst, Disp: 32 * digits})
	} else {
		Label(l.label("shift"))
		VMOVDQU(Mem{Base: from, Disp: 32}, next)
		VPSRLVQ(right, w, w)
		VPSLLVQ(rest, next, v)
		VPOR(v, w, w)
		VMOVDQU(w, Mem{Base: to})
		VMOVDQA(next, w)
		ADDQ(Imm(32), from)
		ADDQ(Imm(32), to)
		DECQ(k)
		JNZ(LabelRef(l.label("shift")))
		MOVQ(l.field(cutWords), k)
		SHLQ(Imm(5), k)
		SUBQ(k, to)
		table, p := pw, pk
		MOVQ(l.field(cutTable), table)
		MOVQ(l.field(cutDigits), k)
		MOVQ(l.dst, p)
		Label(l.label("digit"))
		MOVQ(Mem{Base: table}, t)
		VPBROADCASTQ(Mem{Base: table, Disp: 8}, right)
		VPBROADCASTQ(Mem{Base: table, Disp: 16}, rest)
		VMOVDQU(Mem{Base: to, Index: t, Scale: 8}, w)
		VPSRLVQ(right, w, w)
		VMOVDQU(Mem{Base: to, Index: t, Scale: 8, Disp: 32}, next)
		VPSLLVQ(rest, next, next)
		VPOR(next, w, w)
		VPAND(mask, w, w)
		VPOR(magic, w, w)
		VSUBPD(magic, w, w)
		VMOVUPD(w, Mem{Base: p})
		ADDQ(Imm(32), p)
		ADDQ(Imm(24), table)
		DECQ(k)
		JNZ(LabelRef(l.label("digit")))
		VMOVDQU(zero, Mem{Base: p})
	}
	l.end()

	Label(l.label("far"))
	index, g := YMM(), YMM()
	VPSRLQ(Imm(6), d, index)
	VPSLLQ(Imm(2), index, index)
	VPADDQ(laneIndex, index, index)
	VPANDN(index, none, index)
	Label(l.label("gather"))
	VPCMPEQQ(g, g, g)
	VPGATHERQQ(g, Mem{Base: from, Index: index, Scale: 8}, w)
	VMOVDQU(w, Mem{Base: to})
	ADDQ(Imm(32), from)
	ADDQ(Imm(32), to)
	DECQ(k)
	JNZ(LabelRef(l.label("gather")))
	// The words gathered, after which lies a zero, become those to be shifted.
	MOVQ(l.field(cutWords), k)
	MOVQ(to, from)
	ADDQ(Imm(32), to)
	MOVQ(k, RCX)
	SHLQ(Imm(5), RCX)
	SUBQ(RCX, from)
	JMP(LabelRef(l.label("near")))
}

// mulVertical writes the loop of mulVertical for a tile of so many columns. x has one number for
// all lanes, or one a lane.
func mulVertical(width int, ifma, broadcast bool) {
	kind, lanes, vector, count := "AVX2", 4, YMM, "four"
	if ifma {
		kind, lanes, vector, count = "IFMA", 8, ZMM, "eight"
	}
	form := "Dot"
	if broadcast {
		form = "Axpy"
	}
	name := fmt.Sprintf("vertical%s%d%s", form, width, kind)
	args, doc := "", ""
	each := ifma && broadcast // may have sums for every vector of numbers
	if each {
		args, doc = ", accPitch int", " Unless accPitch is 0 every vector of numbers has its own sums."
	}
	TEXT(name, NOSPLIT, "func(acc *int64, a *uint64, aPitch int, x *uint64, xPitch int, n, first, digits int, soon uintptr, soonPitch, soonLines int"+args+")")
	Doc(fmt.Sprintf("%s is the loop of mulVertical for %d columns and %s lanes. Pitches count bytes.%s", name, width, count, doc))
	Pragma("noescape")
	size := 8 * lanes
	xs := size
	if broadcast {
		xs = 8
	}
	acc := Load(Param("acc"), GP64())
	a0 := Load(Param("a"), GP64())
	x0 := Load(Param("x"), GP64())
	n := Load(Param("n"), GP64())
	first := Load(Param("first"), GP64())
	digits := GP64()
	if ifma {
		Load(Param("digits"), digits)
		IMUL3Q(Imm(uint64(size)), digits, digits)
	}
	offset, xOffset := GP64(), GP64() // bytes to column first, to digit first of x
	MOVQ(first, offset)
	IMUL3Q(Imm(uint64(size)), offset, offset)
	MOVQ(first, xOffset)
	IMUL3Q(Imm(uint64(xs)), xOffset, xOffset)
	ADDQ(offset, acc)

	// Sums of a column in turn, so that none waits for the one before.
	sets := 1
	if ifma {
		sets = min(4, ifmaSums/width)
	}
	sums := make([][]VecVirtual, width)
	turn := make([]int, width)
	for c := range sums {
		sums[c] = make([]VecVirtual, sets)
		for s := range sums[c] {
			sums[c][s] = vector()
		}
	}
	begin := func() {
		for c := range sums {
			if ifma {
				VMOVDQU64(Mem{Base: acc, Disp: size * (c + 1)}, sums[c][0])
			} else {
				VMOVDQU(Mem{Base: acc, Disp: size * (c + 1)}, sums[c][0])
			}
			for _, s := range sums[c][1:] {
				clearVector(ifma, s)
			}
		}
	}
	soon := AllocLocal(8)
	next := GP64()
	Load(Param("soon"), next)
	MOVQ(next, soon)
	if each {
		Label(name + "_begin")
	}
	begin()
	sum := func(c int) VecVirtual {
		turn[c] = (turn[c] + 1) % sets
		return sums[c][turn[c]]
	}
	t := GP64()
	var c1, c2 VecVirtual
	if !ifma {
		c1, c2 = YMM(), YMM()
		MOVQ(U64(fmaHigh), t)
		VMOVQ(t, c1.AsX())
		VPBROADCASTQ(c1.AsX(), c1)
		MOVQ(U64(fmaHigh+3), t) // 1.5 2^103 + 3 2^51: the last place of the former is 2^51
		VMOVQ(t, c2.AsX())
		VPBROADCASTQ(c2.AsX(), c2)
	}
	a, x, k := GP64(), GP64(), GP64()
	av, xv, h, lo := vector(), vector(), vector(), vector()
	// row adds the products of the digit at a + disp with those of x from digit from to digit to,
	// to columns at + digit (high parts) and at + digit + 1 (low parts) of the tile.
	row := func(disp, xDisp, from, to, at int) {
		load := func(j int) {
			m := Mem{Base: x, Disp: xDisp + xs*j}
			switch {
			case ifma && broadcast:
				VPBROADCASTQ(m, xv)
			case ifma:
				VMOVDQU64(m, xv)
			case broadcast:
				VBROADCASTSD(m, xv)
			default:
				VMOVUPD(m, xv)
			}
		}
		if ifma {
			VMOVDQU64(Mem{Base: a, Disp: disp}, av)
		} else {
			VMOVUPD(Mem{Base: a, Disp: disp}, av)
		}
		for j := from; j <= to; j++ {
			load(j)
			c := at + j
			if ifma {
				if c >= 0 {
					VPMADD52HUQ(xv, av, sum(c))
				}
				if c+1 < width {
					VPMADD52LUQ(xv, av, sum(c+1))
				}
				continue
			}
			VMOVAPD(c1, h)
			VFMADD231PD(xv, av, h)
			if c >= 0 {
				VPADDQ(h, sums[c][0], sums[c][0])
			}
			if c+1 < width {
				VSUBPD(h, c2, lo)
				VFMADD231PD(xv, av, lo)
				VPADDQ(lo, sums[c+1][0], sums[c+1][0])
			}
		}
	}
	Label(name + "_number")
	prefetch(name, soon, NewParamAddr("soonPitch", 72), NewParamAddr("soonLines", 80))
	if ifma { // complements stand for negative numbers
		neg := K()
		VMOVDQU64(Mem{Base: a0, Index: digits, Scale: 1}, av)
		VPMOVQ2M(av, neg)
		LEAQ(Mem{Base: x0, Index: xOffset, Scale: 1}, x)
		for c := range width {
			m := Mem{Base: x, Disp: xs * c}
			if broadcast {
				VPBROADCASTQ(m, xv)
				VPSUBQ(xv, sums[c][0], neg, sums[c][0])
			} else {
				VPSUBQ(m, sums[c][0], neg, sums[c][0])
			}
		}
	}
	MOVQ(a0, a)
	LEAQ(Mem{Base: x0, Index: xOffset, Scale: 1}, x)
	MOVQ(first, k)
	TESTQ(k, k)
	JEQ(LabelRef(name + "_triangle"))
	Label(name + "_square")
	row(0, 0, -1, width-1, 0)
	ADDQ(Imm(uint64(size)), a)
	SUBQ(Imm(uint64(xs)), x)
	DECQ(k)
	JNE(LabelRef(name + "_square"))
	Label(name + "_triangle")
	for m := range width {
		row(size*m, 0, 0, width-1-m, m)
	}
	ADDQ(NewParamAddr("aPitch", 16), a0)
	ADDQ(NewParamAddr("xPitch", 32), x0)
	DECQ(n)
	accPitch := NewParamAddr("accPitch", 88)
	if each {
		JEQ(LabelRef(name + "_end"))
		CMPQ(accPitch, Imm(0))
		JEQ(LabelRef(name + "_number"))
		Label(name + "_end")
	} else {
		JNE(LabelRef(name + "_number"))
	}

	for c := range sums {
		for s := 1; s < sets; s++ {
			VPADDQ(sums[c][s], sums[c][0], sums[c][0])
		}
	}
	if !ifma {
		// Column c has c+1 high parts and c low ones a number, each with its bias.
		biases := uint64(fmaHigh) + fmaLow
		step := GP64()
		MOVQ(U64(biases), step)
		MOVQ(step, t)
		IMULQ(first, t)
		high := GP64()
		MOVQ(U64(fmaHigh), high)
		ADDQ(high, t)
		Load(Param("n"), n)
		IMULQ(n, t)
		IMULQ(n, step)
		for c := range sums {
			VMOVQ(t, xv.AsX())
			VPBROADCASTQ(xv.AsX(), xv)
			VPSUBQ(xv, sums[c][0], sums[c][0])
			if c+1 < width {
				ADDQ(step, t)
			}
		}
	}
	// Carries, from the last column to the slot before the first.
	base := uint64(fmaBits)
	if ifma {
		base = ifmaBits
	}
	mask := av
	MOVQ(U64(1<<base-1), t)
	if ifma {
		VPBROADCASTQ(t, mask)
	} else {
		VMOVQ(t, mask.AsX())
		VPBROADCASTQ(mask.AsX(), mask)
		MOVQ(U64(1<<63), t)
		VMOVQ(t, c1.AsX())
		VPBROADCASTQ(c1.AsX(), c1)
		MOVQ(U64(1<<(63-base)), t)
		VMOVQ(t, c2.AsX())
		VPBROADCASTQ(c2.AsX(), c2)
	}
	for c := width - 1; c >= 0; c-- {
		v := sums[c][0]
		out := Mem{Base: acc, Disp: size * (c + 1)}
		if ifma {
			VPANDQ(mask, v, xv)
			VMOVDQU64(xv, out)
			VPSRAQ(Imm(base), v, v)
		} else {
			VPAND(mask, v, xv)
			VMOVDQU(xv, out)
			VPADDQ(c1, v, v)
			VPSRLQ(Imm(base), v, v)
			VPSUBQ(c2, v, v)
		}
		if c > 0 {
			VPADDQ(v, sums[c-1][0], sums[c-1][0])
			continue
		}
		VPADDQ(Mem{Base: acc}, v, v)
		if ifma {
			VMOVDQU64(v, Mem{Base: acc})
		} else {
			VMOVDQU(v, Mem{Base: acc})
		}
	}
	if each {
		ADDQ(accPitch, acc)
		TESTQ(n, n)
		JNE(LabelRef(name + "_begin"))
	}
	VZEROUPPER()
	RET()
}

// fmaHigh and fmaLow are the bits of 1.5 2^103 and of 1.5 2^52, to which the high and the low part
// of a product are added.
const (
	fmaHigh = (1023+103)<<52 | 1<<51
	fmaLow  = (1023+52)<<52 | 1<<51
)

// clearVector clears a vector.
func clearVector(wide bool, v VecVirtual) {
	if wide {
		VPXORQ(v, v, v)
		return
	}
	VPXOR(v, v, v)
}

// Constants of the loops of cutVertical.
var lowPairs, highPairs, laneIndex, cutConstants Mem

// vertical writes all kernels of vertical digits.
func vertical() {
	lowPairs = words("lowPairs", 0, 1, 8, 9, 4, 5, 12, 13)
	highPairs = words("highPairs", 2, 3, 10, 11, 6, 7, 14, 15)
	laneIndex = words("laneIndex", 0, 1, 2, 3, 4, 5, 6, 7)
	cutConstants = words("cutConstants", math.Float64bits(1<<52), 6, 2, 63, 64, 1<<fmaBits-1)
	cutIFMA(0)
	cutFMA(0)
	for d := 2; d <= 18; d++ { // 848 bits take 17 or, of 50 bits, 18
		cutIFMA(d)
		cutFMA(d)
	}
	for _, broadcast := range []bool{true, false} {
		for w := 1; w <= laneWidth; w++ {
			mulVertical(w, true, broadcast)
			mulVertical(w, false, broadcast)
		}
	}
}
