package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// Offsets of the fields of roundJob.
const (
	roundP = 8 * iota
	roundPPitch
	roundQ
	roundQPitch
	roundDigits
	roundXCls
	roundYCls
	roundNegP
	roundNegQ
	roundRef
	roundExact
	roundOK
	roundSig
	roundLimbs
	roundExp
	roundCls
	roundN
	roundStage
	roundWords
	roundSpare
	roundBound
	roundShift
)

// roundLanes writes the loop of roundVertical for eight lanes.
func roundLanes() {
	const name = "roundVerticalIFMA"
	TEXT(name, NOSPLIT, "func(job *byte)")
	Doc(name + " is the loop of roundVertical for eight lanes.")
	Pragma("noescape")
	job := Load(Param("job"), GP64())
	field := func(off int) Mem { return Mem{Base: job, Disp: off} }
	v, t := GP64(), GP64()
	XORQ(v, v)
	// at returns an entry of an array of elements of so many bytes for every vector.
	at := func(off int, size uint64) Mem {
		p := GP64()
		MOVQ(v, p)
		IMUL3Q(U32(uint32(size)), p, p)
		ADDQ(field(off), p)
		return Mem{Base: p}
	}
	broadcast := func(x uint64) VecVirtual {
		z, g := ZMM(), GP64()
		MOVQ(U64(x), g)
		VPBROADCASTQ(g, z)
		return z
	}
	one, digit := broadcast(1), broadcast(1<<ifmaBits-1)
	ok, k := K(), K()

	Label("round_vector")
	// Signs and classes of the lanes.
	signP, signQ, c := ZMM(), ZMM(), ZMM()
	class := broadcast(6)
	two := broadcast(2)
	VPMOVZXBQ(at(roundXCls, 8), signP)
	VPMOVZXBQ(at(roundYCls, 8), signQ)
	VPANDQ(class, signP, c)
	VPCMPEQQ(two, c, ok)
	VPANDQ(class, signQ, c)
	VPCMPEQQ(two, c, ok, ok)
	VPXORQ_BCST(field(roundNegP), signP, signP)
	VPXORQ_BCST(field(roundNegQ), signQ, signQ)

	// The sum or the difference of digits, from the last on.
	p, q, d, stage := GP64(), GP64(), GP64(), GP64()
	MOVQ(field(roundPPitch), p)
	IMULQ(v, p)
	ADDQ(field(roundP), p)
	MOVQ(field(roundQPitch), q)
	IMULQ(v, q)
	MOVQ(field(roundDigits), d)
	SHLQ(Imm(6), d)
	MOVQ(field(roundStage), stage)
	carry, r, hi, lo := ZMM(), ZMM(), ZMM(), ZMM()
	VPXORQ(carry, carry, carry)
	MOVQ(field(roundQ), t)
	TESTQ(t, t)
	JNE(LabelRef("round_two"))
	Label("round_copy")
	SUBQ(Imm(64), d)
	VMOVDQU64(Mem{Base: p, Index: d, Scale: 1}, r)
	VMOVDQU64(r, Mem{Base: stage, Index: d, Scale: 1})
	JNE(LabelRef("round_copy"))
	JMP(LabelRef("round_top"))
	Label("round_two")
	ADDQ(t, q)
	differ, same, swap := K(), K(), K()
	VPXORQ(signP, signQ, c)
	VPTESTMQ(one, c, differ)
	KNOTB(differ, same)
	VMOVDQU64(Mem{Base: p}, hi)
	VMOVDQU64(Mem{Base: q}, lo)
	VPCMPUQ(Imm(1), lo, hi, differ, swap) // the smaller first digit
	VPCMPUQ(Imm(0), lo, hi, differ, k)
	KANDNB(ok, k, ok) // alike: too much may cancel
	VPBLENDMQ(signQ, signP, swap, signP)
	Label("round_add")
	SUBQ(Imm(64), d)
	VMOVDQU64(Mem{Base: p, Index: d, Scale: 1}, hi)
	VMOVDQU64(Mem{Base: q, Index: d, Scale: 1}, lo)
	VPBLENDMQ(lo, hi, swap, r)
	VPBLENDMQ(hi, lo, swap, lo)
	VPADDQ(carry, r, r)
	VPADDQ(lo, r, same, r)
	VPSUBQ(lo, r, differ, r)
	VPSRAQ(Imm(ifmaBits), r, carry)
	VPANDQ(digit, r, r)
	VMOVDQU64(r, Mem{Base: stage, Index: d, Scale: 1})
	TESTQ(d, d)
	JNE(LabelRef("round_add"))
	Label("round_top")

	// Words of the sum, shifted so that its leading bit is the first: word 0 has the first digit
	// and what is above it.
	shift, prev := ZMM(), ZMM()
	VPSLLQ(Imm(ifmaBits), carry, prev)
	VPORQ(r, prev, prev)
	VPTESTMQ(prev, prev, ok, ok)
	VPLZCNTQ(prev, shift)
	out := GP64()
	MOVQ(field(roundWords), d)
	MOVQ(d, out)
	// The words lie in front of the digits.
	SHLQ(Imm(6), out)
	NEGQ(out)
	ADDQ(stage, out)
	from := GP64()
	LEAQ(Mem{Base: stage, Disp: 64}, from)
	Label("round_block")
	load := func(i int) VecVirtual {
		x := ZMM()
		VMOVDQU64(Mem{Base: from, Disp: 64 * i}, x)
		return x
	}
	word, have, x := prev, 0, load(0)
	for m := range blockWords {
		i, o := 64*m/ifmaBits, 64*m%ifmaBits
		for have < i {
			have++
			x = load(have)
		}
		y, u := load(i+1), ZMM()
		have = i + 1
		VPSLLQ(Imm(64-ifmaBits), y, u)
		VPSHLDQ(Imm(uint64(64-ifmaBits+o)), u, x, u)
		if o > 2*ifmaBits-64 {
			z := load(i + 2)
			VPSRLQ(Imm(uint64(3*ifmaBits-64-o)), z, z)
			VPORQ(z, u, u)
		}
		x = y
		VPSHLDVQ(shift, u, word)
		VMOVDQU64(word, Mem{Base: out, Disp: 64 * m})
		word = u
		DECQ(d)
		JEQ(LabelRef("round_rounded"))
	}
	VMOVDQA64(word, prev)
	ADDQ(U32(64*blockWords), out)
	ADDQ(U32(64*blockDigits), from)
	JMP(LabelRef("round_block"))
	Label("round_rounded")

	// What follows the last bit kept: tail, and whether anything is below it.
	MOVQ(field(roundWords), d)
	MOVQ(d, out)
	SHLQ(Imm(6), out)
	NEGQ(out)
	ADDQ(stage, out)
	l := GP64()
	MOVQ(field(roundLimbs), l)
	SUBQ(l, d)
	SHLQ(Imm(6), l)
	ADDQ(out, l) // the word behind the last one kept
	spare, last, tail, sticky := ZMM(), ZMM(), ZMM(), ZMM()
	VPBROADCASTQ(field(roundSpare), spare)
	VMOVDQU64(Mem{Base: l, Disp: -64}, last)
	VMOVDQU64(Mem{Base: l}, tail)
	unit := ZMM()
	VPSLLVQ(spare, one, unit)
	VPSUBQ(one, unit, c)
	VPANDQ(c, tail, sticky)
	VPSHRDVQ(spare, last, tail)
	VPANDNQ(last, c, last)
	MOVQ(l, p)
	Label("round_sticky")
	ADDQ(Imm(64), p)
	DECQ(d)
	JEQ(LabelRef("round_stuck"))
	VPORQ(Mem{Base: p}, sticky, sticky)
	JMP(LabelRef("round_sticky"))
	Label("round_stuck")

	// Lanes that an error of the sum leaves open.
	e, count, exact, half := ZMM(), ZMM(), K(), K()
	VPADDQ_BCST(field(roundShift), shift, count)
	zero := ZMM()
	VPXORQ(zero, zero, zero)
	VPMAXSQ(zero, count, count)
	VPBROADCASTQ(field(roundBound), e)
	VPSLLVQ(count, e, e)
	middle := broadcast(1 << 63)
	VPADDQ(e, tail, c)
	VPADDQ(one, c, c)
	VPXORQ(middle, c, c)
	VPADDQ(e, e, e)
	VPADDQ(one, e, e)
	VPCMPUQ(Imm(2), e, c, k) // c <= e
	limit := broadcast(50)
	VPCMPQ(Imm(5), limit, count, half) // count >= limit
	KORB(half, k, k)
	o := at(roundExact, 1)
	KMOVB(o, exact)
	KANDNB(k, exact, k)
	KANDNB(ok, k, ok)

	// Those to be rounded up.
	up := K()
	VPCMPEQQ(middle, tail, half)
	VPTESTMQ(unit, last, half, up)
	VPTESTMQ(sticky, sticky, half, half)
	KORB(half, up, up)
	VPCMPUQ(Imm(6), middle, tail, half) // tail > middle
	KORB(half, up, up)
	VPADDQ(unit, last, up, last)
	VMOVDQU64(last, Mem{Base: l, Disp: -64})
	VPTESTNMQ(last, last, up, k) // what has wrapped is 0
	VPXORQ(c, c, c)
	KORTESTB(k, k)
	JEQ(LabelRef("round_carried"))
	LEAQ(Mem{Base: l, Disp: -64}, p)
	Label("round_carry")
	CMPQ(p, out)
	JEQ(LabelRef("round_over"))
	SUBQ(Imm(64), p)
	VMOVDQU64(Mem{Base: p}, last)
	VPADDQ(one, last, k, last)
	VMOVDQU64(last, Mem{Base: p})
	VPTESTNMQ(last, last, k, k)
	KORTESTB(k, k)
	JNE(LabelRef("round_carry"))
	JMP(LabelRef("round_carried"))
	Label("round_over") // powers of two
	VMOVDQU64(Mem{Base: p}, last)
	VPADDQ(middle, last, k, last)
	VMOVDQU64(last, Mem{Base: p})
	VPADDQ(one, c, k, c)
	Label("round_carried")

	// Exponents, classes and signs.
	VPADDQ(at(roundRef, 64), c, c)
	VPSUBQ(shift, c, c)
	top := broadcast(64 - ifmaBits)
	VPADDQ(top, c, c)
	exp := ZMM()
	VPMOVSQD(c, exp.AsY())
	VMOVDQU(exp.AsY(), at(roundExp, 32))
	back := ZMM()
	VPMOVSXDQ(exp.AsY(), back)
	VPCMPEQQ(back, c, ok, ok)
	VPANDQ(one, signP, signP)
	VPORQ(two, signP, signP)
	VPMOVQB(signP, at(roundCls, 8))
	KMOVB(ok, at(roundOK, 1))

	// Numbers from words of all lanes, four at a time from the top.
	pitch, pitch3, row, row4, left := GP64(), GP64(), GP64(), GP64(), GP64()
	MOVQ(field(roundLimbs), left)
	MOVQ(left, pitch)
	SHLQ(Imm(3), pitch)
	LEAQ(Mem{Base: pitch, Index: pitch, Scale: 2}, pitch3)
	MOVQ(v, row)
	SHLQ(Imm(3), row)
	IMULQ(pitch, row)
	ADDQ(field(roundSig), row)
	LEAQ(Mem{Base: row, Index: pitch, Scale: 1, Disp: -32}, row)
	LEAQ(Mem{Base: row, Index: pitch, Scale: 4}, row4)
	low, high := ZMM(), ZMM()
	VMOVDQU64(lowPairs, low)
	VMOVDQU64(highPairs, high)
	part := K()
	MOVQ(U32(15), t)
	KMOVB(t.As32(), part)
	Label("round_rows")
	CMPQ(left, Imm(4))
	JGE(LabelRef("round_whole"))
	MOVQ(U32(4), RCX)
	SUBQ(left, RCX)
	MOVQ(U32(15), t)
	SHLQ(CL, t)
	ANDQ(Imm(15), t)
	KMOVB(t.As32(), part)
	Label("round_whole")
	var w [4]VecVirtual
	for i := range w {
		w[i] = ZMM()
		VMOVDQU64(Mem{Base: out, Disp: 64 * (3 - i)}, w[i])
	}
	for odd := range 2 {
		a, b := ZMM(), ZMM()
		if odd == 0 {
			VPUNPCKLQDQ(w[1], w[0], a)
			VPUNPCKLQDQ(w[3], w[2], b)
		} else {
			VPUNPCKHQDQ(w[1], w[0], a)
			VPUNPCKHQDQ(w[3], w[2], b)
		}
		for i, order := range []VecVirtual{low, high} {
			x, y := ZMM(), ZMM()
			VMOVDQA64(a, x)
			VPERMT2Q(b, order, x)
			VEXTRACTI64X4(Imm(1), x, y.AsY())
			for h, base := range []Register{row, row4} {
				to := Mem{Base: base}
				switch 2*i + odd {
				case 1, 2:
					to.Index, to.Scale = pitch, uint8(2*i+odd)
				case 3:
					to.Index, to.Scale = pitch3, 1
				}
				half := [2]VecVirtual{x, y}[h]
				VMOVDQU64(half.AsY(), part, to)
			}
		}
	}
	ADDQ(U32(256), out)
	SUBQ(Imm(32), row)
	SUBQ(Imm(32), row4)
	SUBQ(Imm(4), left)
	JG(LabelRef("round_rows"))
	INCQ(v)
	CMPQ(v, field(roundN))
	JLT(LabelRef("round_vector"))
	VZEROUPPER()
	RET()
}
