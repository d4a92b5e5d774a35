package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// digitsAhead is how many bytes ahead sums of digits ask for numbers: with 2 KiB the memory is
// waited for, with none at all some 2 to 4 times as long where it does not foresee what is read.
const digitsAhead = 12 << 10

// ifmaBits is the bits of the lower part of a word in a column.
const ifmaBits = 52

// sumDigits writes the loop of sumDigits. Of numbers of 1, 2 or 4 words several lie in a vector,
// and vectors is 1; else a number has so many vectors, of which the last may not be full.
func sumDigits(words, vectors int) {
	several := words != 0
	name := fmt.Sprintf("sumDigits%dIFMA", words)
	doc := fmt.Sprintf("%s is the loop of sumDigits for numbers of that many words", name)
	if !several {
		name = fmt.Sprintf("sumDigitsRows%dIFMA", vectors)
		doc = fmt.Sprintf("%s is the loop of sumDigits for numbers of %d to %d words", name, max(3, 8*vectors-7), 8*vectors)
	}
	TEXT(name, NOSPLIT, "func(out *uint64, sig *uint64, exp *int32, cls *uint8, n, limbs int, low int64, signs uint64)")
	Doc(doc + ". n is a positive multiple of 8; out is aligned; its first 16 words are scratch.")
	Pragma("noescape")
	out := Load(Param("out"), GP64())
	sig, exp, cls, n := numbers()
	t := GP64()
	broadcast := func(x uint64) VecVirtual {
		v := ZMM()
		MOVQ(U32(uint32(x)), t)
		VPBROADCASTQ(t, v)
		return v
	}
	one, two, class := broadcast(1), broadcast(2), broadcast(6)
	low, signs, negative := ZMM(), ZMM(), ZMM()
	VPBROADCASTQ(NewParamAddr("low", 48), low)
	VPBROADCASTQ(NewParamAddr("signs", 56), signs)
	VPXORQ(negative, negative, negative)

	steps, sets := 8, max(1, 4/vectors) // vectors or numbers of a loop, sums in turn
	if several {
		steps, sets = words, words
	}
	var last Register // the words of a number's last vector
	var pitch Register
	var index []VecVirtual // the numbers whose words a vector has
	if several {
		for v := range words {
			index = append(index, ZMM())
			if words == 1 {
				break
			}
			VMOVDQU64(words64(words, v), index[v])
		}
	} else {
		last, pitch = K(), GP64()
		Load(Param("limbs"), pitch)
		MOVQ(pitch, RCX)
		SUBQ(U32(uint32(8*vectors-8)), RCX)
		MOVQ(U32(1), t)
		SHLQ(CL, t)
		DECQ(t)
		KMOVB(t.As32(), last.(OpmaskVirtual))
		SHLQ(Imm(3), pitch)
	}
	type sum struct{ low, high, top VecVirtual }
	sums := make([][]sum, sets)
	for s := range sums {
		for range vectors {
			a := sum{ZMM(), ZMM(), ZMM()}
			for _, v := range []VecVirtual{a.low, a.high, a.top} {
				VPXORQ(v, v, v)
			}
			sums[s] = append(sums[s], a)
		}
	}
	factor, sign, w, top := ZMM(), ZMM(), ZMM(), ZMM()
	add := func(a sum, factor Op) {
		VPSRLQ(Imm(ifmaBits), w, top)
		VPMADD52LUQ(factor, w, a.low)
		VPMADD52HUQ(factor, w, a.high)
		VPMADD52LUQ(factor, top, a.top)
	}

	Label(name + "_numbers")
	// The factors and signs of eight numbers, 0 for those that are not finite.
	c, finite := ZMM(), K()
	VPMOVZXBQ(Mem{Base: cls, Index: n, Scale: 1}, c)
	VPANDQ(class, c, w)
	VPCMPEQQ(two, w, finite)
	VPTESTMQ(signs, c, finite, K1)
	VPMOVM2Q(K1, sign)
	VPMOVSXDQ(Mem{Base: exp, Index: n, Scale: 4}, factor)
	VPSUBQ(low, factor, factor)
	VPSLLVQ_Z(factor, one, finite, factor)
	VPANDQ(sign, factor, w)
	VPADDQ(w, negative, negative)
	if !several {
		VMOVDQU64(factor, Mem{Base: out})
		VMOVDQU64(sign, Mem{Base: out, Disp: 64})
	}
	for i := range steps {
		if several {
			from := Mem{Base: sig, Disp: 64 * i}
			PREFETCHT0(from.Offset(digitsAhead))
			f, s := factor, sign
			if words > 1 {
				f, s = c, top
				VPERMQ(sign, index[i], s)
				VPERMQ(factor, index[i], f)
			}
			VPXORQ(from, s, w)
			add(sums[i][0], f)
			continue
		}
		VPBROADCASTQ(Mem{Base: out, Disp: 8 * i}, factor)
		VPBROADCASTQ(Mem{Base: out, Disp: 64 + 8*i}, sign)
		for v := range vectors {
			from := Mem{Base: sig, Disp: 64 * v}
			PREFETCHT0(from.Offset(digitsAhead))
			if v == vectors-1 {
				VPXORQ_Z(from, sign, last, w)
			} else {
				VPXORQ(from, sign, w)
			}
			add(sums[i%sets][v], factor)
		}
		ADDQ(pitch, sig)
	}
	if several {
		ADDQ(U32(uint32(64*words)), sig)
	}
	ADDQ(Imm(8), n)
	JNE(LabelRef(name + "_numbers"))

	store := func(v VecVirtual, at int) {
		VPADDQ(Mem{Base: out, Disp: at}, v, v)
		VMOVDQU64(v, Mem{Base: out, Disp: at})
	}
	store(negative, 128)
	for v := range vectors {
		a := sums[0][v]
		for _, b := range sums[1:] {
			VPADDQ(b[v].low, a.low, a.low)
			VPADDQ(b[v].high, a.high, a.high)
			VPADDQ(b[v].top, a.top, a.top)
		}
		VPADDQ(a.top, a.high, a.high)
		store(a.low, 192+128*v)
		store(a.high, 256+128*v)
	}
	VZEROUPPER()
	RET()
}

// words64 returns, for every word of a vector of a block of eight numbers, the number it is of.
func words64(limbs, vector int) Mem {
	var of [8]uint64
	for i := range of {
		of[i] = uint64(8*vector+i) / uint64(limbs)
	}
	return words(fmt.Sprintf("numbers%d_%d", limbs, vector), of[:]...)
}
