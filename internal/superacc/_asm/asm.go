// Command _asm writes the kernels of package superacc, one architecture a run:
//
//	go run . -out ../kernels_amd64.s -stubs ../stubs_amd64.go -pkg superacc
//	go run . -neon -out ../neon_arm64.s -stubs ../stubs_neon_arm64.go -pkg superacc
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

func main() {
	arm64 := flag.Bool("neon", false, "for arm64")
	flag.Parse()
	if *arm64 {
		writeNEON()
		return
	}
	ConstraintExpr("amd64,!purego")
	span()
	sumLimbs()
	sumRows()
	for limbs := 4; limbs <= 8; limbs++ {
		sumRowsNear(limbs)
	}
	for words := 1; words <= 4; words *= 2 {
		sumDigits(words, 1)
	}
	for vectors := 1; vectors <= 4; vectors++ {
		sumDigits(0, vectors)
	}
	for words := 1; words <= 4; words++ {
		sumNear(words)
	}
	wordDot()
	for _, words := range []int{2, 3, 4, 7, 8} {
		if words <= 7 {
			dotHigh(words)
		}
		offsetWords(words)
		addRow(words)
	}
	for _, size := range []int{2, 7} {
		limbs := map[int]int{2: 3, 7: 9}[size]
		laneSet(size, limbs)
		laneDot(size, limbs, false)
		laneDot(size, limbs, true)
	}
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

// rowsAhead is how many bytes ahead sums ask for numbers.
const rowsAhead = 2 << 10

// Constants of sumRows.
var lowHalves, laneMasks Mem

// numbers loads the parameters of n MP numbers. Exponents and classes are those beyond the last, n
// is negative: it counts up to 0.
func numbers() (sig, exp, cls, n Register) {
	sig = Load(Param("sig"), GP64())
	exp = Load(Param("exp"), GP64())
	cls = Load(Param("cls"), GP64())
	n = Load(Param("n"), GP64())
	LEAQ(Mem{Base: exp, Index: n, Scale: 4}, exp)
	ADDQ(n, cls)
	NEGQ(n)
	return sig, exp, cls, n
}

// sumLimbs writes the loop of sumLimbs.
func sumLimbs() {
	TEXT("sumLimbsBMI2", NOSPLIT, "func(acc *uint64, pitch int, sig *uint64, exp *int32, cls *uint8, n, limbs int, base int64)")
	Doc("sumLimbsBMI2 is the loop of sumLimbs. n and limbs are positive, pitch counts bytes.")
	Pragma("noescape")
	acc := Load(Param("acc"), GP64())
	pitch := Load(Param("pitch"), GP64())
	sig := Load(Param("sig"), GP64())
	exp := Load(Param("exp"), GP64())
	cls := Load(Param("cls"), GP64())
	n := Load(Param("n"), GP64())
	limbs := Load(Param("limbs"), GP64())
	one := GP64()
	MOVQ(U32(1), one)
	Label("sum_element")
	c := GP64()
	MOVBQZX(Mem{Base: cls}, c)
	sign := GP64()
	MOVQ(c, sign)
	ANDQ(Imm(1), sign)
	XORQ(sign, c)
	CMPQ(c, Imm(2))
	JNE(LabelRef("sum_skip"))
	pos := GP64()
	MOVLQSX(Mem{Base: exp}, pos)
	SUBQ(NewParamAddr("base", 56), pos)
	s, back := GP64(), GP64()
	MOVQ(pos, s)
	ANDQ(Imm(63), s)
	MOVQ(s, back)
	XORQ(Imm(63), back)
	SHRQ(Imm(6), pos)
	NEGQ(sign)
	ANDQ(pitch, sign)
	dst := GP64()
	ADDQ(acc, sign)
	LEAQ(Mem{Base: sign, Index: pos, Scale: 8}, dst)
	k, carry := GP64(), GP64()
	MOVQ(limbs, k)
	XORQ(carry, carry) // clears CF
	Label("sum_limb")
	v, t := GP64(), GP64()
	MOVQ(Mem{Base: sig}, v)
	SHLXQ(s, v, t)
	LEAQ(Mem{Base: t, Index: carry, Scale: 1}, t)
	SHRXQ(one, v, carry)
	SHRXQ(back, carry, carry)
	ADCQ(t, Mem{Base: dst})
	LEAQ(Mem{Base: sig, Disp: 8}, sig)
	LEAQ(Mem{Base: dst, Disp: 8}, dst)
	DECQ(k)
	JNZ(LabelRef("sum_limb"))
	ADCQ(carry, Mem{Base: dst})
	JCC(LabelRef("sum_next"))
	Label("sum_carry")
	LEAQ(Mem{Base: dst, Disp: 8}, dst)
	ADDQ(Imm(1), Mem{Base: dst})
	JCS(LabelRef("sum_carry"))
	Label("sum_next")
	ADDQ(Imm(4), exp)
	INCQ(cls)
	DECQ(n)
	JNZ(LabelRef("sum_element"))
	RET()
	Label("sum_skip")
	LEAQ(Mem{Base: sig, Index: limbs, Scale: 8}, sig)
	JMP(LabelRef("sum_next"))
}

// sumRows writes the loop of sumRows.
func sumRows() {
	lowHalves = words("low32", 1<<32-1, 1<<32-1, 1<<32-1, 1<<32-1)
	laneMasks = words("laneMasks", 1<<64-1, 1<<64-1, 1<<64-1, 0, 0, 0)
	TEXT("sumRowsAVX2", NOSPLIT, "func(rows *uint64, used *[128]uint8, half int, sig *uint64, exp *int32, cls *uint8, n, limbs int, base int64, signs uint64)")
	Doc("sumRowsAVX2 is the loop of sumRows. n and limbs are positive, half counts bytes; the rows reach " +
		"three words further than the numbers.")
	Pragma("noescape")
	rows := Load(Param("rows"), GP64())
	used := Load(Param("used"), GP64())
	half := Load(Param("half"), GP64())
	sig, exp, cls, n := numbers()
	limbs := Load(Param("limbs"), GP64())
	full := GP64() // bytes in full vectors
	MOVQ(limbs, full)
	ANDQ(Imm(3), limbs) // words in the last one, if not full
	mask, part := YMM(), YMM()
	VMOVDQU(lowHalves, mask)
	table, off := GP64(), GP64()
	LEAQ(laneMasks, table)
	MOVQ(U32(3), off)
	SUBQ(limbs, off)
	VMOVDQU(Mem{Base: table, Index: off, Scale: 8}, part)
	SHRQ(Imm(2), full)
	SHLQ(Imm(5), full)
	pitch := GP64()
	LEAQ(Mem{Base: half, Index: half, Scale: 1}, pitch)
	add := func(v VecVirtual, at, up Mem) {
		t := YMM()
		VPAND(mask, v, t)
		VPADDQ(at, t, t)
		VMOVDQU(t, at)
		VPSRLQ(Imm(32), v, v)
		VPADDQ(up, v, v)
		VMOVDQU(v, up)
	}
	Label("rows_element")
	c, row, dst := GP64(), GP64(), GP64()
	MOVBQZX(Mem{Base: cls, Index: n, Scale: 1}, c)
	MOVLQSX(Mem{Base: exp, Index: n, Scale: 4}, row)
	SUBQ(NewParamAddr("base", 64), row)
	MOVQ(row, dst)
	SARQ(Imm(6), dst)
	SHLQ(Imm(3), dst)
	ANDQ(Imm(63), row)
	TESTB(Imm(2), c.As8()) // finite or NaN
	JEQ(LabelRef("rows_skip"))
	TESTB(Imm(4), c.As8()) // infinity or NaN
	JNE(LabelRef("rows_skip"))
	ANDQ(NewParamAddr("signs", 72), c)
	LEAQ(Mem{Base: c, Index: row, Scale: 2}, row)
	MOVB(U8(1), Mem{Base: used, Index: row, Scale: 1})
	IMULQ(pitch, row)
	ADDQ(row, dst)
	ADDQ(rows, dst)
	k := GP64()
	MOVQ(full, k)
	SUBQ(Imm(32), k)
	JCS(LabelRef("rows_part"))
	Label("rows_vector")
	v := YMM()
	PREFETCHT0(Mem{Base: sig, Disp: rowsAhead})
	VMOVDQU(Mem{Base: sig}, v)
	add(v, Mem{Base: dst}, Mem{Base: dst, Index: half, Scale: 1})
	ADDQ(Imm(32), sig)
	ADDQ(Imm(32), dst)
	SUBQ(Imm(32), k)
	JCC(LabelRef("rows_vector"))
	Label("rows_part")
	TESTQ(limbs, limbs)
	JEQ(LabelRef("rows_next"))
	w := YMM()
	VPMASKMOVQ(Mem{Base: sig}, part, w)
	add(w, Mem{Base: dst}, Mem{Base: dst, Index: half, Scale: 1})
	LEAQ(Mem{Base: sig, Index: limbs, Scale: 8}, sig)
	Label("rows_next")
	INCQ(n)
	JNE(LabelRef("rows_element"))
	VZEROUPPER()
	RET()
	Label("rows_skip")
	ADDQ(full, sig)
	LEAQ(Mem{Base: sig, Index: limbs, Scale: 8}, sig)
	JMP(LabelRef("rows_next"))
}

// sumRowsNear writes the loop of sumRows for finite numbers of so many words whose exponents choose
// their row from a table, two numbers at a time.
func sumRowsNear(limbs int) {
	name := fmt.Sprintf("sumRowsNear%dAVX2", limbs)
	TEXT(name, NOSPLIT, "func(rows, others *uint64, used *uint8, half int, table *int32, sig *uint64, exp *int32, cls *uint8, n int, low int64, signs uint64)")
	Doc(fmt.Sprintf("%s is the loop of sumRows for finite numbers of %d words. Numbers of odd index go to other rows: their ", name, limbs) +
		"sums need not wait for the sums before. table has, for every exponent from low on and both signs, the bytes to " +
		"where a number goes, used a byte that is set then. n is positive and even, half counts bytes.")
	Pragma("noescape")
	rows := []Register{Load(Param("rows"), GP64()), Load(Param("others"), GP64())}
	used := Load(Param("used"), GP64())
	half := Load(Param("half"), GP64())
	table := Load(Param("table"), GP64())
	sig, exp, cls, n := numbers()
	low := Load(Param("low"), GP64())
	ADDQ(low, low)
	SUBQ(low, used)
	SHLQ(Imm(2), low)
	SUBQ(low, table)
	mask, part := YMM(), YMM()
	VMOVDQU(lowHalves, mask)
	LEAQ(laneMasks, low)
	VMOVDQU(Mem{Base: low, Disp: 8 * (3 - limbs%4)}, part)
	signs := low
	Load(Param("signs"), signs)
	Label(name + "_pair")
	for i := range rows {
		c, dst := GP64(), GP64()
		MOVBQZX(Mem{Base: cls, Index: n, Scale: 1, Disp: i}, c)
		ANDQ(signs, c)
		MOVLQSX(Mem{Base: exp, Index: n, Scale: 4, Disp: 4 * i}, dst)
		LEAQ(Mem{Base: c, Index: dst, Scale: 2}, c)
		MOVB(U8(1), Mem{Base: used, Index: c, Scale: 1})
		MOVLQSX(Mem{Base: table, Index: c, Scale: 4}, dst)
		ADDQ(rows[i], dst)
		for w := 0; w < limbs; w += 4 {
			v, t := YMM(), YMM()
			from := Mem{Base: sig, Disp: 8 * (w + i*limbs)}
			if w%8 == 0 {
				PREFETCHT0(from.Offset(rowsAhead))
			}
			if w+4 <= limbs {
				VMOVDQU(from, v)
			} else {
				VPMASKMOVQ(from, part, v)
			}
			at := Mem{Base: dst, Disp: 8 * w}
			VPAND(mask, v, t)
			VPADDQ(at, t, t)
			VMOVDQU(t, at)
			at.Index, at.Scale = half, 1
			VPSRLQ(Imm(32), v, v)
			VPADDQ(at, v, v)
			VMOVDQU(v, at)
		}
	}
	ADDQ(U32(uint32(16*limbs)), sig)
	ADDQ(Imm(2), n)
	JNE(LabelRef(name + "_pair"))
	VZEROUPPER()
	RET()
}

// span writes the loop of span.
func span() {
	TEXT("spanAVX2", NOSPLIT, "func(exp *int32, cls *uint8, n int, low, high *[8]int32) (odd uint64)")
	Doc("spanAVX2 is the loop of span: the extremes of every eighth exponent. n is a positive multiple of 8.")
	Pragma("noescape")
	exp := Load(Param("exp"), GP64())
	cls := Load(Param("cls"), GP64())
	n := Load(Param("n"), GP64())
	mask, finite, odd, t := GP64(), GP64(), GP64(), GP64()
	MOVQ(U64(0xfefefefefefefefe), mask)
	MOVQ(U64(0x0202020202020202), finite)
	XORQ(odd, odd)
	low, high, e := YMM(), YMM(), YMM()
	VMOVDQU(Mem{Base: exp}, low)
	VMOVDQA(low, high)
	Label("span_loop")
	VMOVDQU(Mem{Base: exp}, e)
	VPMINSD(e, low, low)
	VPMAXSD(e, high, high)
	MOVQ(Mem{Base: cls}, t)
	ANDQ(mask, t)
	XORQ(finite, t)
	ORQ(t, odd)
	ADDQ(Imm(32), exp)
	ADDQ(Imm(8), cls)
	SUBQ(Imm(8), n)
	JNZ(LabelRef("span_loop"))
	p := Load(Param("low"), GP64())
	VMOVDQU(low, Mem{Base: p})
	p = Load(Param("high"), GP64())
	VMOVDQU(high, Mem{Base: p})
	Store(odd, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// sumNear writes the loop of sumNear for numbers of so many words, the sum in
// registers.
func sumNear(words int) {
	name := fmt.Sprintf("sumNear%dBMI2", words)
	label := func(s string) string { return fmt.Sprintf("near%d_%s", words, s) }
	TEXT(name, NOSPLIT, "func(acc *uint64, sig *uint64, exp *int32, cls *uint8, n int, base int64, signs uint64)")
	Doc(fmt.Sprintf("%s is the loop of sumNear for limbs = %d. n is positive.", name, words))
	Pragma("noescape")
	sig, exp, cls, n := numbers()
	acc := make([]GPVirtual, words+2)
	for i := range acc {
		acc[i] = GP64()
		XORQ(acc[i], acc[i])
	}
	Label(label("element"))
	sign, s := GP64(), GP64()
	MOVBQZX(Mem{Base: cls, Index: n, Scale: 1}, sign)
	ANDQ(NewParamAddr("signs", 48), sign)
	NEGQ(sign)
	MOVLQSX(Mem{Base: exp, Index: n, Scale: 4}, s)
	SUBQ(NewParamAddr("base", 40), s)
	// The carry stays in a register between groups of words, which the registers
	// bound. Shifts go by the low six bits, 1 <= s < 64; s is negated in turns.
	carry, t := GP64(), GP64()
	MOVQ(sign, carry) // the first carry completes the negation
	group := min(words+1, 5-words)
	x := make([]GPVirtual, group)
	for i := range x {
		x[i] = GP64()
	}
	for first := 0; first <= words; first += group {
		last := min(first+group, words+1)
		for i := first; i < min(last, words); i++ {
			SHLXQ(s, Mem{Base: sig, Disp: 8 * i}, x[i-first])
		}
		NEGQ(s)
		for i := max(first, 1); i < last; i++ {
			low := Mem{Base: sig, Disp: 8 * (i - 1)}
			if i == words {
				SHRXQ(s, low, x[i-first])
				continue
			}
			SHRXQ(s, low, t)
			ORQ(t, x[i-first])
		}
		for i := first; i < last; i++ {
			XORQ(sign, x[i-first])
		}
		ADDQ(carry, carry)
		for i := first; i < last; i++ {
			ADCQ(x[i-first], acc[i])
		}
		if last <= words {
			SBBQ(carry, carry)
			NEGQ(s)
		}
	}
	ADCQ(sign, acc[words+1])
	ADDQ(Imm(uint64(8*words)), sig)
	INCQ(n)
	JNZ(LabelRef(label("element")))
	out := Load(Param("acc"), GP64())
	for i := range acc {
		MOVQ(acc[i], Mem{Base: out, Disp: 8 * i})
	}
	RET()
}

// wordDot emits the products of the halves of words with the parts of integers.
func wordDot() {
	TEXT("wordDotAVX2", NOSPLIT, "func(w, parts *uint64, groups int, out *[6]uint64)")
	Doc("wordDotAVX2 is the loop of wordDot for up to wordGroups groups of four words, one at least.")
	Pragma("noescape")
	w := Load(Param("w"), GP64())
	parts := Load(Param("parts"), GP64())
	groups := Load(Param("groups"), GP64())
	out := Load(Param("out"), GP64())
	var acc [6]VecVirtual
	for i := range acc {
		acc[i] = YMM()
		VPXOR(acc[i], acc[i], acc[i])
	}
	Label("words_group")
	var half [2]VecVirtual
	half[0], half[1] = YMM(), YMM()
	VMOVDQU(Mem{Base: w}, half[0])
	VPSRLQ(Imm(32), half[0], half[1])
	var c [3]VecVirtual
	for k := range c {
		c[k] = YMM()
	}
	VMOVDQU(Mem{Base: parts}, c[0])
	VPSRLQ(Imm(32), c[0], c[1])
	VMOVDQU(Mem{Base: parts, Disp: 32}, c[2])
	for h := range half {
		for k := range c {
			p := YMM()
			VPMULUDQ(half[h], c[k], p)
			VPADDQ(p, acc[3*h+k], acc[3*h+k])
		}
	}
	ADDQ(Imm(32), w)
	ADDQ(Imm(64), parts)
	DECQ(groups)
	JNZ(LabelRef("words_group"))
	for i, a := range acc {
		high := XMM()
		VEXTRACTI128(Imm(1), a, high)
		VPADDQ(high, a.AsX(), a.AsX())
		VPSRLDQ(Imm(8), a.AsX(), high)
		VPADDQ(high, a.AsX(), a.AsX())
		VMOVQ(a.AsX(), Mem{Base: out, Disp: 8 * i})
	}
	VZEROUPPER()
	RET()
}
