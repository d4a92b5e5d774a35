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

	plainDigits = 18 // up to which the digits are cut without a loop over them
)

// A laneLoop is what the loops over vectors of numbers have in common.
type laneLoop struct {
	name             string
	lanes            int
	job, dst, sig, n Register
	i, ref, x        Register // what has been added to the indices of numbers, references and of x
	soon             Mem
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
	TEXT(l.name, NOSPLIT, "func(job *byte)")
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

// cutIFMA writes the loop of cutVertical for eight lanes of integers, for so many digits or any.
func cutIFMA(digits int) {
	l := beginLanes("IFMA", 8, digits)
	low, high, index, digit := ZMM(), ZMM(), ZMM(), ZMM()
	VMOVDQU64(lowPairs, low)
	VMOVDQU64(highPairs, high)
	VMOVDQU64(laneIndex, index)
	t := GP64()
	MOVQ(U64(1<<ifmaBits-1), t)
	VPBROADCASTQ(t, digit)
	constant := func(x uint64) VecVirtual {
		v := ZMM()
		MOVQ(U32(uint32(x)), t)
		VPBROADCASTQ(t, v)
		return v
	}
	one, two, class, word := constant(1), constant(2), constant(6), constant(64)
	valid, far, neg, part := K(), K(), K(), K()

	Label(l.label("number"))
	prefetch(l.name, l.soon, l.field(cutSoonPitch), l.field(cutSoonLines))
	// The shifts and signs of the lanes.
	d, v, c := ZMM(), ZMM(), ZMM()
	ref := l.at(cutRef, l.ref, 8)
	l.lane(cutRefLane, func() { VMOVDQU64(ref, d) }, func() { VPBROADCASTQ(ref, d) })
	VPMOVSXDQ(l.at(cutExp, l.i, 4), v)
	VPSUBQ(v, d, d)
	VPMOVZXBQ(l.at(cutCls, l.i, 1), c)
	scale, sign := l.at(cutScale, l.x, 8), l.at(cutSign, l.x, 1)
	l.lane(cutXLane, func() {
		VPSUBQ(scale, d, d)
		VPMOVZXBQ(sign, v)
	}, func() {
		VPSUBQ_BCST(scale, d, d)
		MOVBQZX(sign, t)
		VPBROADCASTQ(t, v)
	})
	VPXORQ(c, v, v)
	VPANDQ(class, c, c)
	VPCMPEQQ(two, c, valid)
	VPCMPUQ_BCST(Imm(1), l.field(cutLimit), d, valid, valid) // d < limit
	VPTESTMQ(one, v, valid, neg)
	negative := ZMM()
	VPMOVM2Q(neg, negative)

	// Words, four at a time, from the top.
	pw, pk, left := GP64(), GP64(), GP64()
	MOVQ(l.field(cutUsed), left)
	LEAQ(Mem{Base: l.sig, Index: left, Scale: 8, Disp: -32}, pw)
	MOVQ(l.field(cutWords), pk)
	SHLQ(Imm(6), pk)
	ADDQ(l.field(cutStage), pk)
	SUBQ(U32(256), pk)
	pitch, pitch3 := GP64(), GP64()
	MOVQ(l.field(cutSigLane), pitch)
	LEAQ(Mem{Base: pitch, Index: pitch, Scale: 2}, pitch3)
	MOVQ(U32(15), t)
	KMOVB(t.As32(), part)
	Label(l.label("words"))
	CMPQ(left, Imm(4))
	JGE(LabelRef(l.label("whole")))
	// The lowest 4 - left words are not there.
	MOVQ(U32(4), RCX)
	SUBQ(left, RCX)
	MOVQ(U32(15), t)
	SHLQ(CL, t)
	ANDQ(Imm(15), t)
	KMOVB(t.As32(), part)
	Label(l.label("whole"))
	pw4 := GP64()
	LEAQ(Mem{Base: pw, Index: pitch, Scale: 4}, pw4)
	var e [4]VecVirtual
	for i := range e {
		e[i] = ZMM()
		up := ZMM()
		at := func(base Register) Mem {
			switch i {
			case 0:
				return Mem{Base: base}
			case 3:
				return Mem{Base: base, Index: pitch3, Scale: 1}
			}
			return Mem{Base: base, Index: pitch, Scale: uint8(i)}
		}
		VMOVDQU64_Z(at(pw), part, e[i].AsY())
		VMOVDQU64_Z(at(pw4), part, up.AsY())
		VINSERTI64X4(Imm(1), up.AsY(), e[i], e[i])
	}
	var pairs [4]VecVirtual
	for i := range pairs {
		pairs[i] = ZMM()
	}
	VPUNPCKLQDQ(e[1], e[0], pairs[0])
	VPUNPCKHQDQ(e[1], e[0], pairs[1])
	VPUNPCKLQDQ(e[3], e[2], pairs[2])
	VPUNPCKHQDQ(e[3], e[2], pairs[3])
	for k := range 2 {
		w := ZMM()
		VMOVDQA64(pairs[k], w)
		VPERMT2Q(pairs[k+2], low, w)
		VMOVDQU64(w, Mem{Base: pk, Disp: 64 * k})
		VPERMT2Q(pairs[k+2], high, pairs[k])
		VMOVDQU64(pairs[k], Mem{Base: pk, Disp: 64 * (k + 2)})
	}
	SUBQ(Imm(32), pw)
	SUBQ(U32(256), pk)
	SUBQ(Imm(4), left)
	JG(LabelRef(l.label("words")))

	// Where a lane is shifted by whole words, each takes its own.
	from, to, k := GP64(), GP64(), GP64()
	MOVQ(l.field(cutStage), from)
	MOVQ(l.field(cutWords), k)
	MOVQ(k, to)
	SHLQ(Imm(7), to)
	LEAQ(Mem{Base: from, Index: to, Scale: 1, Disp: 128}, to)
	VPCMPUQ(Imm(5), word, d, valid, far) // d >= 64
	KORTESTB(far, far)
	JNE(LabelRef(l.label("far")))
	Label(l.label("near"))

	// Shifted right by the rest, complemented where negative.
	w, next, last, x := ZMM(), ZMM(), ZMM(), ZMM()
	VMOVDQU64(Mem{Base: from}, w)
	if digits > 0 {
		words := (ifmaBits*digits + 63) / 64
		s := digits - 1
		for k := range words {
			VMOVDQU64(Mem{Base: from, Disp: 64 * (k + 1)}, next)
			VPSHRDVQ_Z(d, next, valid, w)
			VPXORQ(negative, w, w)
			for ; s >= 0; s-- {
				q, r, two := place(ifmaBits, s, digits)
				if two && q == k || q > k {
					break
				}
				switch {
				case two:
					VPSHRDQ(Imm(uint64(r)), w, last, x)
					VPANDQ(digit, x, x)
				case r == 0:
					VPANDQ(digit, w, x)
				default:
					VPSRLQ(Imm(uint64(r)), w, x)
					if r+ifmaBits < 64 {
						VPANDQ(digit, x, x)
					}
				}
				VMOVDQU64(x, Mem{Base: l.dst, Disp: 64 * s})
			}
			w, next, last = next, last, w
		}
		VMOVDQU64(negative, Mem{Base: l.dst, Disp: 64 * digits})
	} else {
		Label(l.label("shift"))
		VMOVDQU64(Mem{Base: from, Disp: 64}, next)
		VPSHRDVQ_Z(d, next, valid, w)
		VPXORQ(negative, w, w)
		VMOVDQU64(w, Mem{Base: to})
		VMOVDQA64(next, w)
		ADDQ(Imm(64), from)
		ADDQ(Imm(64), to)
		DECQ(k)
		JNZ(LabelRef(l.label("shift")))
		MOVQ(l.field(cutWords), k)
		SHLQ(Imm(6), k)
		SUBQ(k, to)
		table, p := pw, pw4
		MOVQ(l.field(cutTable), table)
		MOVQ(l.field(cutDigits), k)
		MOVQ(l.dst, p)
		Label(l.label("digit"))
		MOVQ(Mem{Base: table}, t)
		VMOVDQU64(Mem{Base: to, Index: t, Scale: 8}, w)
		VMOVDQU64(Mem{Base: to, Index: t, Scale: 8, Disp: 64}, next)
		VPSHRDVQ_BCST(Mem{Base: table, Disp: 8}, next, w)
		VPANDQ(digit, w, w)
		VMOVDQU64(w, Mem{Base: p})
		ADDQ(Imm(64), p)
		ADDQ(Imm(24), table)
		DECQ(k)
		JNZ(LabelRef(l.label("digit")))
		VMOVDQU64(negative, Mem{Base: p})
	}
	l.end()

	Label(l.label("far"))
	at, g := ZMM(), K()
	VPSRLQ(Imm(6), d, at)
	VPSLLQ(Imm(3), at, at)
	VPADDQ(index, at, at)
	Label(l.label("gather"))
	VPXORQ(w, w, w)
	KMOVB(valid, g)
	VPGATHERQQ(Mem{Base: from, Index: at, Scale: 8}, g, w)
	VMOVDQU64(w, Mem{Base: to})
	ADDQ(Imm(64), from)
	ADDQ(Imm(64), to)
	DECQ(k)
	JNZ(LabelRef(l.label("gather")))
	l.moved(from, to, k, 6)
}

// moved goes on with the words that have been gathered: from becomes their place, after which lies
// a zero, and to that behind it, k the number of words.
func (l *laneLoop) moved(from, to, k Register, shift uint64) {
	MOVQ(l.field(cutWords), k)
	MOVQ(to, from)
	ADDQ(U32(1<<shift), to)
	MOVQ(k, RCX)
	SHLQ(Imm(shift), RCX)
	SUBQ(RCX, from)
	JMP(LabelRef(l.label("near")))
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
	l.moved(from, to, k, 5)
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
	TEXT(name, NOSPLIT, "func(acc *int64, a *uint64, aPitch int, x *uint64, xPitch int, n, first, digits int, soon uintptr, soonPitch, soonLines int)")
	Doc(fmt.Sprintf("%s is the loop of mulVertical for %d columns and %s lanes. Pitches count bytes.", name, width, count))
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
			if s > 0 {
				clearVector(ifma, sums[c][s])
			} else if ifma {
				VMOVDQU64(Mem{Base: acc, Disp: size * (c + 1)}, sums[c][0])
			} else {
				VMOVDQU(Mem{Base: acc, Disp: size * (c + 1)}, sums[c][0])
			}
		}
	}
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
	soon := AllocLocal(8)
	Load(Param("soon"), t)
	MOVQ(t, soon)
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
	JNE(LabelRef(name + "_number"))

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
	for d := 2; d <= plainDigits; d++ {
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
