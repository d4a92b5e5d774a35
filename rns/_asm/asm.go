// Command _asm writes the amd64 kernels of package rns:
//
//	go run . -out ../kernels_amd64.s -stubs ../stubs_amd64.go -pkg rns
//
// Each kernel is described by the loop it equals in ../residues.go. A vector has eight
// residues; products are taken of its four even and its four odd ones, in lanes of 64
// bits. Numbers of residues are multiples of eight, not zero.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	compact "github.com/halfulp/halfulp/internal/_compact"
)

func main() {
	ConstraintExpr("amd64,!purego")
	add()
	sub()
	mul()
	sumFractions()
	dotRows()
	sumRows()
	Generate()
	compact.Out()
}

func pointer(name string) GPVirtual { return Load(Param(name), GP64()).(GPVirtual) }

// at is vector i of the array at p, offset bytes on.
func at(p, i GPVirtual, offset int) Mem { return Mem{Base: p, Index: i, Scale: 4, Disp: offset} }

func load(m Mem) VecVirtual {
	v := YMM()
	VMOVDQU(m, v)
	return v
}

func zero() VecVirtual {
	v := YMM()
	VPXOR(v, v, v)
	return v
}

// odd returns the odd residues of v in lanes of 64 bits.
func odd(v VecVirtual) VecVirtual {
	w := YMM()
	VPSRLQ(U8(32), v, w)
	return w
}

// loop emits a loop over n residues.
func loop(name string, n GPVirtual, body func(i GPVirtual)) {
	i := GP64()
	XORQ(i, i)
	Label(name)
	body(i)
	ADDQ(U8(8), i)
	CMPQ(i, n)
	JLT(LabelRef(name))
}

// correct takes m off r where that leaves r ≥ 0.
func correct(r, m VecVirtual) {
	t := YMM()
	VPSUBD(m, r, t)
	VPMINUD(t, r, r)
}

func add() {
	TEXT("addAVX2", NOSPLIT, "func(z, x, y, m *uint32, n int)")
	Doc("addAVX2 is addModulo.")
	Pragma("noescape")
	z, x, y, m, n := pointer("z"), pointer("x"), pointer("y"), pointer("m"), pointer("n")
	loop("loop", n, func(i GPVirtual) {
		s := load(at(x, i, 0))
		VPADDD(at(y, i, 0), s, s)
		correct(s, load(at(m, i, 0)))
		VMOVDQU(s, at(z, i, 0))
	})
	VZEROUPPER()
	RET()
}

func sub() {
	TEXT("subAVX2", NOSPLIT, "func(z, x, y, m *uint32, n int)")
	Doc("subAVX2 is subModulo.")
	Pragma("noescape")
	z, x, y, m, n := pointer("z"), pointer("x"), pointer("y"), pointer("m"), pointer("n")
	loop("loop", n, func(i GPVirtual) {
		d, t := load(at(x, i, 0)), YMM()
		VPSUBD(at(y, i, 0), d, d)
		VPADDD(at(m, i, 0), d, t)
		VPMINUD(t, d, d)
		VMOVDQU(d, at(z, i, 0))
	})
	VZEROUPPER()
	RET()
}

// barrett replaces the lanes p < m² by p minus a multiple of m, below 2.2 m. With
// a = ⌊p / 2^(L-1)⌋ < 2^(L+1) and mu = ⌊2^(L+31) / m⌋ < 2^32 the quotient ⌊a mu / 2^32⌋ is
// below p/m by less than 1 for its own truncation, 2^(L-1)/m < 1 for the truncation of a, and
// a/2^32 ≤ m² / 2^(L+31) for the truncation of mu. For L ≤ 30 the last two are below 9/8
// together.
func barrett(p, m, mu, shift VecVirtual) {
	q := YMM()
	VPSRLVQ(shift, p, q)
	VPMULUDQ(mu, q, q)
	VPSRLQ(U8(32), q, q)
	VPMULUDQ(m, q, q)
	VPSUBQ(q, p, p)
}

// even clears the odd residues.
func even(v, mask VecVirtual) VecVirtual {
	w := YMM()
	VPAND(mask, v, w)
	return w
}

func lowMask() VecVirtual {
	v := YMM()
	VPCMPEQD(v, v, v)
	VPSRLQ(U8(32), v, v)
	return v
}

// merge returns the residues whose even and odd ones are given.
func merge(e, o VecVirtual) VecVirtual {
	VPSLLQ(U8(32), o, o)
	VPBLENDD(U8(0xaa), o, e, e)
	return e
}

func mul() {
	TEXT("mulAVX2", NOSPLIT, "func(z, x, y, m, mu, shift *uint32, n int)")
	Doc("mulAVX2 is mulModulo.")
	Pragma("noescape")
	z, x, y := pointer("z"), pointer("x"), pointer("y")
	m, mu, shift, n := pointer("m"), pointer("mu"), pointer("shift"), pointer("n")
	mask := lowMask()
	loop("loop", n, func(i GPVirtual) {
		xv, yv, mv := load(at(x, i, 0)), load(at(y, i, 0)), load(at(m, i, 0))
		muv, sv := load(at(mu, i, 0)), load(at(shift, i, 0))
		xo, yo := odd(xv), odd(yv)
		e, o := YMM(), YMM()
		VPMULUDQ(xv, yv, e)
		VPMULUDQ(xo, yo, o)
		barrett(e, mv, muv, even(sv, mask))
		barrett(o, odd(mv), odd(muv), odd(sv))
		r := merge(e, o)
		correct(r, mv)
		correct(r, mv)
		VMOVDQU(r, at(z, i, 0))
	})
	VZEROUPPER()
	RET()
}

// horizontal returns the sum of the four lanes of v.
func horizontal(v VecVirtual) GPVirtual {
	x, r := XMM(), GP64()
	VEXTRACTI128(U8(1), v, x)
	VPADDQ(v.AsX(), x, x)
	t := XMM()
	VPSRLDQ(U8(8), x, t)
	VPADDQ(t, x, x)
	VMOVQ(x, r)
	return r
}

func sumFractions() {
	TEXT("sumFractionsAVX2", NOSPLIT, "func(y, inv, mid, low *uint32, n int, sums *[4]uint64)")
	Doc("sumFractionsAVX2 sums y inv, and of y mid the high and the low halves, and the high halves of y low.")
	Pragma("noescape")
	y, inv, mid, low, n := pointer("y"), pointer("inv"), pointer("mid"), pointer("low"), pointer("n")
	sums := pointer("sums")
	mask := lowMask()
	acc := [4]VecVirtual{zero(), zero(), zero(), zero()}
	loop("loop", n, func(i GPVirtual) {
		yv := load(at(y, i, 0))
		// Multiplication looks at the low half of a lane, which is the odd residue of what
		// is loaded, or shifted, by 32 bits.
		for _, v := range []VecVirtual{yv, odd(yv)} {
			pick := func(p GPVirtual) VecVirtual {
				w := load(at(p, i, 0))
				if v != yv {
					VPSRLQ(U8(32), w, w)
				}
				VPMULUDQ(v, w, w)
				return w
			}
			VPADDQ(pick(inv), acc[0], acc[0])
			p := pick(mid)
			VPADDQ(odd(p), acc[1], acc[1])
			VPAND(mask, p, p)
			VPADDQ(p, acc[2], acc[2])
			VPADDQ(odd(pick(low)), acc[3], acc[3])
		}
	})
	for k, a := range acc {
		MOVQ(horizontal(a), Mem{Base: sums, Disp: 8 * k})
	}
	VZEROUPPER()
	RET()
}

func dotRows() {
	TEXT("dotRowsAVX2", NOSPLIT, "func(sums *uint64, rows int, y, table *uint32, stride, n int)")
	Doc("dotRowsAVX2 is dotRows, added to sums; rows of the table are stride bytes apart. It reads one residue beyond them.")
	Pragma("noescape")
	sums, rows, y, table := pointer("sums"), pointer("rows"), pointer("y"), pointer("table")
	stride, n := pointer("stride"), pointer("n")
	// Four rows at a time, then one.
	for _, group := range []int{4, 1} {
		name := map[int]string{4: "four", 1: "one"}[group]
		Label(name)
		CMPQ(rows, U8(uint8(group)))
		JLT(LabelRef(name + "End"))
		row := make([]GPVirtual, group)
		acc := make([][2]VecVirtual, group)
		for k := range row {
			acc[k] = [2]VecVirtual{zero(), zero()}
			row[k] = GP64()
			MOVQ(table, row[k])
			ADDQ(stride, table)
		}
		loop(name+"Loop", n, func(i GPVirtual) {
			yv := load(at(y, i, 0))
			yo := odd(yv)
			for k, p := range row {
				e, o := YMM(), YMM()
				VPMULUDQ(at(p, i, 0), yv, e)
				VPADDQ(e, acc[k][0], acc[k][0])
				VPMULUDQ(at(p, i, 4), yo, o)
				VPADDQ(o, acc[k][1], acc[k][1])
			}
		})
		for k := range row {
			VPADDQ(acc[k][1], acc[k][0], acc[k][0])
			ADDQ(horizontal(acc[k][0]), Mem{Base: sums, Disp: 8 * k})
		}
		ADDQ(U8(uint8(8*group)), sums)
		SUBQ(U8(uint8(group)), rows)
		JMP(LabelRef(name))
		Label(name + "End")
	}
	VZEROUPPER()
	RET()
}

func sumRows() {
	TEXT("sumRowsAVX2", NOSPLIT, "func(z, words *uint32, count int, table *uint32, stride int, m, mu, shift, inv, two32 *uint32, n int)")
	Doc("sumRowsAVX2 is sumRows; rows of the table are stride bytes apart. It reads one residue beyond them.")
	Pragma("noescape")
	z, words, count, table := pointer("z"), pointer("words"), pointer("count"), pointer("table")
	stride := pointer("stride")
	m, mu, shift, inv, two32 := pointer("m"), pointer("mu"), pointer("shift"), pointer("inv"), pointer("two32")
	n := pointer("n")
	mask := lowMask()
	loop("loop", n, func(i GPVirtual) {
		e, o := zero(), zero()
		p, a := GP64(), GP64()
		LEAQ(at(table, i, 0), p)
		XORQ(a, a)
		Label("words")
		w := YMM()
		VPBROADCASTD(Mem{Base: words, Index: a, Scale: 4}, w)
		t, u := YMM(), YMM()
		VPMULUDQ(Mem{Base: p}, w, t)
		VPADDQ(t, e, e)
		VPMULUDQ(Mem{Base: p, Disp: 4}, w, u)
		VPADDQ(u, o, o)
		ADDQ(stride, p)
		INCQ(a)
		CMPQ(a, count)
		JLT(LabelRef("words"))

		mv, muv, sv := load(at(m, i, 0)), load(at(mu, i, 0)), load(at(shift, i, 0))
		iv, tv := load(at(inv, i, 0)), load(at(two32, i, 0))
		wide(e, even(mv, mask), muv, even(sv, mask), iv, tv, mask)
		wide(o, odd(mv), odd(muv), odd(sv), odd(iv), odd(tv), mask)
		r := merge(e, o)
		correct(r, mv)
		correct(r, mv)
		VMOVDQU(r, at(z, i, 0))
	})
	VZEROUPPER()
	RET()
}

// wide replaces the lanes s < 2^64 by s minus a multiple of m, below 2.2 m. The halves are
// reduced by inv = ⌊2^32/m⌋, which leaves less than 2m; then (s1 mod m) (2^32 mod m) +
// (s0 mod m) is below m², as (m - 1)² + m - 1 is.
func wide(s, m, mu, shift, inv, two32, mask VecVirtual) {
	high, low := odd(s), even(s, mask)
	for _, h := range []VecVirtual{high, low} {
		q := YMM()
		VPMULUDQ(inv, h, q)
		VPSRLQ(U8(32), q, q)
		VPMULUDQ(m, q, q)
		VPSUBQ(q, h, h)
		correct(h, m)
	}
	VPMULUDQ(two32, high, high)
	VPADDQ(low, high, s)
	barrett(s, m, mu, shift)
}
