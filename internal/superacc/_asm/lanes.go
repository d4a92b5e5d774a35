package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// Offsets of the fields of a laneSet, in bytes.
const (
	setDst = 8 * iota
	setSums
	setTops
	setSig
	setExp
	setCls
	setStride
	setCount
	setFirst
	setLast
	setExtra
	setSquare
	setAcross
	setWithin
	setBad
)

// Offsets of the fields of a laneDot, in bytes.
const (
	dotU = 8 * iota
	dotV
	dotCU
	dotCV
	dotTU
	dotTV
	dotSig
	dotExp
	dotCls
	dotOpen
	dotLen
	dotColumns
	dotPitch
	dotLanes
	dotBound
	dotBase
	dotFlip
	dotHalf
	dotSpare
	// The places of the next column, which the collector must not take for pointers.
	nextV
	nextCV
	nextTV
	nextSig
	nextExp
	nextCls
	nextOpen
)

const (
	orAnd  = 0xa8 // (a or b) and c
	either = 0xfe // a or b or c
)

// laneConstant returns eight times x.
func laneConstant(x uint64) VecVirtual {
	t, v := GP64(), ZMM()
	MOVQ(U64(x), t)
	VPBROADCASTQ(t, v)
	return v
}

var laneTables = map[string]Mem{}

// laneTable returns eight words of that name.
func laneTable(name string, v ...uint64) Mem {
	if _, ok := laneTables[name]; !ok {
		laneTables[name] = words(name, v...)
	}
	return laneTables[name]
}

// laneIndex returns 0, step, ..., 7 step.
func laneIndex(step int) VecVirtual {
	v := ZMM()
	VMOVDQU64(laneTable(fmt.Sprintf("lanes%d", step), 0, uint64(step), uint64(2*step), uint64(3*step), uint64(4*step), uint64(5*step), uint64(6*step), uint64(7*step)), v)
	return v
}

// laneFold replaces v by op(v, v with exchanged lanes), for pairs of lanes at the distance.
func laneFold(distance int, v VecVirtual, op func(x, y VecVirtual)) {
	t := ZMM()
	switch distance {
	case 4:
		VSHUFI64X2(Imm(0x4e), v, v, t)
	case 2:
		VPERMQ(Imm(0x4e), v, t)
	case 1:
		VPERMQ(Imm(0xb1), v, t)
	}
	op(t, v)
}

// laneFolds folds vectors as the fields across and within of the laneSet at s request.
func laneFolds(label string, s Register, v []VecVirtual, op func(x, y VecVirtual)) {
	CMPQ(at(s, setAcross/8), Imm(0))
	JEQ(LabelRef(label + "_within"))
	for _, x := range v {
		laneFold(4, x, op)
	}
	Label(label + "_within")
	CMPQ(at(s, setWithin/8), Imm(0))
	JEQ(LabelRef(label + "_done"))
	for _, x := range v {
		laneFold(2, x, op)
		laneFold(1, x, op)
	}
	Label(label + "_done")
}

// laneSet writes the loop of setLanes for numbers of some words and integers of some limbs.
func laneSet(size, limbs int) {
	name := fmt.Sprintf("setLanes%dIFMA", size)
	TEXT(name, NOSPLIT, "func(s **uint64)")
	Doc(fmt.Sprintf("%s is the loop of laneSet.run for numbers of %d words.", name, size))
	Pragma("noescape")
	s := Load(Param("s"), GP64())
	mask, one := laneConstant(1<<ifmaBits-1), laneConstant(1)
	two, four := laneConstant(2), laneConstant(4)
	top := laneConstant(1 << 63)
	any, c, e := ZMM(), ZMM(), ZMM()
	VPXORQ(any, any, any)
	lanes, finite := K(), K()
	exp, cls, stride, n := GP64(), GP64(), GP64(), GP64()
	begin := func() {
		MOVQ(at(s, setExp/8), exp)
		MOVQ(at(s, setCls/8), cls)
		MOVQ(at(s, setStride/8), stride)
		MOVQ(at(s, setCount/8), n)
		KMOVB(at(s, setFirst/8), lanes)
	}
	// number loads exponents and classes of a vector.
	number := func(label string) {
		CMPQ(n, Imm(1))
		JNE(LabelRef(label))
		KMOVB(at(s, setLast/8), lanes)
		Label(label)
		VPMOVZXBQ_Z(Mem{Base: cls}, lanes, c)
		VPTESTMQ(two, c, finite)
		VPMOVSXDQ_Z(Mem{Base: exp}, lanes, e)
	}
	next := func() {
		LEAQ(Mem{Base: exp, Index: stride, Scale: 4}, exp)
		ADDQ(stride, cls)
	}
	begin()
	Label(name + "_tops")
	number(name + "_top")
	VPORQ(c, any, any)
	VPMAXSQ(e, top, finite, top)
	next()
	DECQ(n)
	JNZ(LabelRef(name + "_tops"))
	laneFolds(name+"_tops", s, []VecVirtual{top}, func(x, y VecVirtual) { VPMAXSQ(x, y, y) })
	KMOVB(at(s, setFirst/8), lanes)
	VMOVDQA64_Z(top, lanes, top)
	p := GP64()
	MOVQ(at(s, setTops/8), p)
	VMOVDQU64(top, Mem{Base: p})
	bad, k := K(), K()
	VPTESTMQ(four, any, bad)
	VPABSQ(top, e)
	VPCMPUQ(Imm(6), laneConstant(1<<29), e, k)
	KORB(k, bad, bad)

	begin()
	VPADDQ_BCST(at(s, setExtra/8), top, top)
	index, sig, dst := laneIndex(size), GP64(), GP64()
	MOVQ(at(s, setSig/8), sig)
	MOVQ(at(s, setDst/8), dst)
	bytes := GP64()
	IMUL3Q(Imm(uint64(8*size)), stride, bytes)
	sums, x := make([]VecVirtual, limbs), make([]VecVirtual, size)
	for q := range sums {
		sums[q] = ZMM()
		VPXORQ(sums[q], sums[q], sums[q])
	}
	width, sign := laneConstant(ifmaBits), ZMM()
	offset := laneConstant(1 << (ifmaBits - 1))
	Label(name + "_numbers")
	number(name + "_number")
	down, back := e, ZMM()
	VPSUBQ(e, top, down)
	VPCMPUQ(Imm(5), width, down, finite, k) // not less
	KORB(k, bad, bad)
	VPSUBQ(down, width, back)
	VPTESTMQ(one, c, k)
	VMOVDQA64_Z(mask, k, sign)
	for w := range x {
		x[w] = ZMM()
		VPXORQ(x[w], x[w], x[w])
		KMOVB(finite, k)
		VPGATHERQQ(Mem{Base: sig, Index: index, Scale: 8, Disp: 8 * w}, k, x[w])
	}
	// limb returns bits ifmaBits q to ifmaBits (q + 1) of the numbers at the top of the limbs.
	limb := func(q int) VecVirtual {
		y := ZMM()
		b := ifmaBits*q - (ifmaBits*limbs - 64*size)
		switch w := b / 64; {
		case b <= -ifmaBits:
			VPXORQ(y, y, y)
			return y
		case b < 0:
			VPSLLQ(Imm(uint64(-b)), x[0], y)
		case b%64 == 0:
			VPANDQ(mask, x[w], y)
			return y
		default:
			VPSRLQ(Imm(uint64(b%64)), x[w], y)
			if b%64 > 64-ifmaBits && w+1 < size {
				t := ZMM()
				VPSLLQ(Imm(uint64(64-b%64)), x[w+1], t)
				VPTERNLOGQ(Imm(orAnd), mask, t, y)
				return y
			}
		}
		VPANDQ(mask, y, y)
		return y
	}
	y := limb(0)
	for q := range limbs {
		z := ZMM()
		VPSRLVQ(down, y, z)
		if q+1 < limbs {
			y = limb(q + 1)
			t := ZMM()
			VPSLLVQ(back, y, t)
			VPTERNLOGQ(Imm(orAnd), mask, t, z)
		} else {
			VPXORQ(offset, z, z)
		}
		VPXORQ(sign, z, z)
		VMOVDQU64(z, Mem{Base: dst, Disp: 64 * q})
		VPADDQ(z, sums[q], lanes, sums[q])
	}
	ADDQ(U32(uint32(64*limbs)), dst)
	ADDQ(bytes, sig)
	next()
	DECQ(n)
	JNZ(LabelRef(name + "_numbers"))
	laneFolds(name+"_sums", s, sums, func(x, y VecVirtual) { VPADDQ(x, y, y) })
	MOVQ(at(s, setSums/8), p)
	for q := range sums {
		h, t := ZMM(), ZMM()
		VPSRLQ(Imm(1), sums[q], h)
		if q+1 < limbs {
			VPANDQ(one, sums[q+1], t)
			VPSLLQ(Imm(ifmaBits-1), t, t)
			VPADDQ(t, h, h)
			VPXORQ(t, t, t)
		} else {
			VPBROADCASTQ(at(s, setSquare/8), t)
		}
		VPSUBQ(h, t, h)
		VMOVDQU64(h, Mem{Base: p, Disp: 64 * q})
	}
	KMOVB(bad, p.As32())
	MOVQ(p, at(s, setBad/8))
	VZEROUPPER()
	RET()
}

// laneDot writes the loop of laneDot.run for numbers of some words and integers of some limbs.
func laneDot(size, limbs int, four bool) {
	name := fmt.Sprintf("dotLanes%dIFMA", size)
	what := ""
	if four {
		name = fmt.Sprintf("dotFours%dIFMA", size)
		what = " of matrices of order 4"
	}
	TEXT(name, NOSPLIT, "func(s **uint64)")
	Doc(fmt.Sprintf("%s is the loop of laneDot.run for numbers of %d words%s.", name, size, what))
	Pragma("noescape")
	s := Load(Param("s"), GP64())
	place := GP64()
	for _, c := range [][2]int{{dotV, nextV}, {dotCV, nextCV}, {dotTV, nextTV}, {dotSig, nextSig}, {dotExp, nextExp}, {dotCls, nextCls}, {dotOpen, nextOpen}} {
		MOVQ(at(s, c[0]/8), place)
		MOVQ(place, at(s, c[1]/8))
	}
	Label(name + "_column")
	u, v, y, n, rest := GP64(), GP64(), GP64(), GP64(), GP64()
	MOVQ(at(s, dotU/8), u)
	MOVQ(at(s, nextV/8), v)
	// Every sum of products of one weight has several parts, against the latency.
	sums := make([][]VecVirtual, limbs)
	most := 1
	if limbs <= 3 {
		most = 3
	}
	high := make([][]VecVirtual, limbs)
	zero := func(count int) (z []VecVirtual) {
		for range count {
			x := ZMM()
			VPXORQ(x, x, x)
			z = append(z, x)
		}
		return z
	}
	for q := range limbs {
		if q+1 < limbs {
			sums[q] = zero(min(most, limbs-1-q))
		}
		high[q] = zero(min(most, limbs-q))
	}
	var index, each VecVirtual
	step, other := GP64(), GP64()
	if four {
		index, each = ZMM(), laneConstant(1)
		VMOVDQU64(laneTable("fours", 0, 0, 0, 0, 4, 4, 4, 4), index)
		MOVQ(U32(4), n)
		MOVQ(U32(32), step)
		MOVQ(U32(uint32(64*limbs-32)), other)
	} else {
		MOVQ(at(s, dotLen/8), rest)
		Label(name + "_block")
		MOVQ(U32(8), n)
		CMPQ(rest, n)
		CMOVQLT(rest, n)
		SUBQ(n, rest)
		MOVQ(v, y)
	}
	Label(name + "_loop")
	x := make([]VecVirtual, limbs)
	for i := range x {
		x[i] = ZMM()
		if four {
			VBROADCASTI64X4(Mem{Base: u, Disp: 64 * i}, x[i])
		} else {
			VMOVDQU64(Mem{Base: u, Disp: 64 * i}, x[i])
		}
	}
	low, up := make([]int, limbs), make([]int, limbs)
	for j := range limbs {
		b := ZMM()
		if four {
			VPERMQ(Mem{Base: v, Disp: 64 * j}, index, b)
		} else {
			VPBROADCASTQ(Mem{Base: y, Disp: 64 * j}, b)
		}
		for i := max(0, limbs-1-j); i < limbs; i++ {
			if q := i + j - limbs; q >= 0 {
				VPMADD52LUQ(b, x[i], sums[q][low[q]%len(sums[q])])
				low[q]++
			}
			q := i + j + 1 - limbs
			VPMADD52HUQ(b, x[i], high[q][up[q]%len(high[q])])
			up[q]++
		}
	}
	if four {
		ADDQ(step, u)
		XCHGQ(step, other)
		VPADDQ(each, index, index)
	} else {
		ADDQ(U32(uint32(64*limbs)), u)
		ADDQ(Imm(8), y)
	}
	DECQ(n)
	JNZ(LabelRef(name + "_loop"))
	if !four {
		ADDQ(U32(uint32(64*limbs)), v)
		CMPQ(rest, Imm(0))
		JNE(LabelRef(name + "_block"))
	}
	// The sums in limbs of two's complement.
	r := make([]VecVirtual, limbs)
	cu, cv := GP64(), GP64()
	MOVQ(at(s, dotCU/8), cu)
	MOVQ(at(s, nextCV/8), cv)
	mask := laneConstant(1<<ifmaBits - 1)
	for q := range r {
		r[q] = high[q][0]
		for _, x := range append(high[q][1:], sums[q]...) {
			VPADDQ(x, r[q], r[q])
		}
		VPADDQ(Mem{Base: cu, Disp: 64 * q}, r[q], r[q])
		VPADDQ(Mem{Base: cv, Disp: 64 * q}, r[q], r[q])
		if q > 0 {
			t := ZMM()
			VPSRAQ(Imm(ifmaBits), r[q-1], t)
			VPADDQ(t, r[q], r[q])
			VPANDQ(mask, r[q-1], r[q-1])
		}
	}
	ADDQ(U32(uint32(64*limbs)), cv)
	MOVQ(cv, at(s, nextCV/8))
	sign := ZMM()
	VPSRAQ(Imm(63), r[limbs-1], sign)
	VPXORQ(sign, r[limbs-1], r[limbs-1])
	t := ZMM()
	VPANDQ(mask, sign, t)
	for q := range limbs - 1 {
		VPXORQ(t, r[q], r[q])
	}
	// The magnitudes begin with the top bit of the limbs.
	left, right := ZMM(), ZMM()
	VPLZCNTQ(r[limbs-1], left)
	VPSUBQ(laneConstant(64-ifmaBits), left, left)
	VPSUBQ(left, laneConstant(ifmaBits), right)
	for q := limbs - 1; q >= 0; q-- {
		VPSLLVQ(left, r[q], r[q])
		if q > 0 {
			t := ZMM()
			VPSRLVQ(right, r[q-1], t)
			VPTERNLOGQ(Imm(orAnd), mask, t, r[q])
		} else {
			VPANDQ(mask, r[q], r[q])
		}
	}
	w := make([]VecVirtual, size)
	gap := ifmaBits*limbs - 64*size
	for h := range w {
		q, b := (gap+64*h)/ifmaBits, (gap+64*h)%ifmaBits
		w[h] = ZMM()
		VPSRLQ(Imm(uint64(b)), r[q], w[h])
		t, t2 := ZMM(), ZMM()
		VPSLLQ(Imm(uint64(ifmaBits-b)), r[q+1], t)
		if b > 2*ifmaBits-64 {
			VPSLLQ(Imm(uint64(2*ifmaBits-b)), r[q+2], t2)
			VPTERNLOGQ(Imm(either), t2, t, w[h])
		} else {
			VPORQ(t, w[h], w[h])
		}
	}
	// Rounding.
	lanes, done, carry := K(), K(), K()
	KMOVB(at(s, dotLanes/8), lanes)
	gaps, half, spare := laneConstant(uint64(gap)), ZMM(), ZMM()
	VPBROADCASTQ(at(s, dotHalf/8), half)
	VPBROADCASTQ(at(s, dotSpare/8), spare)
	VPCMPUQ(Imm(2), gaps, left, lanes, done) // left <= gap
	bound, tie := ZMM(), ZMM()
	VPSUBQ(left, gaps, gaps)
	VPBROADCASTQ(at(s, dotBound/8), bound)
	VPSRLVQ(gaps, bound, bound)
	VPANDQ(spare, w[0], tie)
	VPSUBQ(half, tie, tie)
	VPABSQ(tie, tie)
	VPADDQ(laneConstant(2), bound, bound)
	VPCMPUQ(Imm(6), bound, tie, done, done) // tie > bound
	VPADDQ(half, w[0], w[0])
	VPCMPUQ(Imm(1), half, w[0], carry)
	VPANDNQ(w[0], spare, w[0])
	one := laneConstant(1)
	VPADDQ(one, w[1], carry, w[1])
	wrapped := K()
	VPTESTNMQ(w[1], w[1], carry, wrapped) // a carry beyond word 1
	e := ZMM()
	p := GP64()
	MOVQ(at(s, dotTU/8), p)
	VPBROADCASTQ(at(s, dotBase/8), e)
	VPADDQ(Mem{Base: p}, e, e)
	MOVQ(at(s, nextTV/8), p)
	VPADDQ(Mem{Base: p}, e, e)
	ADDQ(Imm(64), p)
	MOVQ(p, at(s, nextTV/8))
	VPSUBQ(left, e, e)
	KANDNB(done, wrapped, done)
	MOVQ(at(s, dotPitch/8), n)
	MOVQ(at(s, nextExp/8), p)
	VPMOVQD(e, lanes, Mem{Base: p})
	LEAQ(Mem{Base: p, Index: n, Scale: 4}, p)
	MOVQ(p, at(s, nextExp/8))
	VPANDQ(one, sign, sign)
	VPXORQ_BCST(at(s, dotFlip/8), sign, sign)
	MOVQ(at(s, nextCls/8), p)
	VPMOVQB(sign, lanes, Mem{Base: p})
	ADDQ(n, p)
	MOVQ(p, at(s, nextCls/8))
	MOVQ(at(s, nextSig/8), p)
	places := laneIndex(size)
	for h := range w {
		KMOVB(lanes, carry)
		VPSCATTERQQ(w[h], carry, Mem{Base: p, Index: places, Scale: 8, Disp: 8 * h})
	}
	IMUL3Q(Imm(uint64(8*size)), n, n)
	ADDQ(n, p)
	MOVQ(p, at(s, nextSig/8))
	open := GP64()
	KANDNB(lanes, done, carry)
	KMOVB(carry, open.As32())
	MOVQ(at(s, nextOpen/8), p)
	MOVB(open.As8(), Mem{Base: p})
	INCQ(p)
	MOVQ(p, at(s, nextOpen/8))
	if four {
		ADDQ(U32(uint32(64*limbs)), v)
	}
	MOVQ(v, at(s, nextV/8))
	DECQ(at(s, dotColumns/8))
	JNZ(LabelRef(name + "_column"))
	VZEROUPPER()
	RET()
}
