package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A tile kernel adds k products of a column of A by a row of B to the sums of a tile of C:
// s_ij = mac(s_ij, a_i, b_j) for vectors i of rows and columns j. Sums stay in memory, which
// the registers of so many would not hold: the processor forwards them from one step to the
// next. Layout, in vectors: sums by i, j, word; a step of A by i, word; in numbers: a step of
// B by j, word.
type tile struct {
	name    string
	typ     string
	words   int
	vectors int // of rows
	columns int
}

// Words of the three arguments have numbers of their own.
const (
	wordsOfSums = 0
	wordsOfA    = 1000
	wordsOfB    = 2000
)

// program orders the steps of the kernel for one target.
func (k *tile) program(s *source, t *target) program {
	g := &graph{known: map[string]*node{}}
	s.g = g
	number := func(kind kind, first int) value {
		v := &tuple{typ: k.typ}
		for w := range k.words {
			v.elems = append(v.elems, g.node(node{kind: kind, word: first + w}))
		}
		return v
	}
	var results []*node
	for i := range k.vectors {
		a := number(input, wordsOfA+i*k.words)
		for j := range k.columns {
			b := number(scalar, wordsOfB+j*k.words)
			sum := number(input, wordsOfSums+(i*k.columns+j)*k.words)
			results = append(results, flatten(s.call("mac"+k.typ, sum, a, b))...)
		}
	}
	steps, slots := allocate(t, schedule(t, results, nil, 1, t.limit), nil)
	report(k.name+t.suffix, steps, slots)
	return program{steps: steps, slots: slots}
}

func (k *tile) emit(s *source, t *target) {
	p := k.program(s, t)
	Function(k.name + t.suffix)
	SignatureExpr("func(sums, a, b *float64, k int)")
	Doc(k.name + t.suffix + " is macTile for " + k.typ + ".")
	Pragma("noescape")
	sums := Load(Param("sums"), GP64()).(reg.GPVirtual)
	a := Load(Param("a"), GP64()).(reg.GPVirtual)
	b := Load(Param("b"), GP64()).(reg.GPVirtual)
	n := Load(Param("k"), GP64())
	e := &emitter{t: t}
	e.address = func(v val) Mem {
		switch {
		case v.word >= wordsOfB:
			return Mem{Base: b, Disp: 8 * (v.word - wordsOfB)}
		case v.word >= wordsOfA:
			return Mem{Base: a, Disp: t.bytes() * (v.word - wordsOfA)}
		}
		return Mem{Base: sums, Disp: t.bytes() * v.word}
	}
	e.result = func(i inst) Mem { return Mem{Base: sums, Disp: t.bytes() * i.word} }
	e.align(p.slots)
	Label("loop")
	for _, st := range p.steps {
		e.step(st)
	}
	ADDQ(I32(int32(t.bytes()*k.vectors*k.words)), a)
	ADDQ(I32(int32(8*k.columns*k.words)), b)
	DECQ(n)
	JNZ(LabelRef("loop"))
	VZEROUPPER()
	RET()
}
