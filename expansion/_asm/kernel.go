package main

import (
	"fmt"
	"strings"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// An argument of an elementwise kernel: arrays of words, or one number for all lanes.
type argument struct {
	name  string
	words int
	typ   string // named type of the value in the source, "" for a float64
	all   bool   // one number for all lanes
}

// An elementwise kernel z_i = f(x_i, y_i, ...), of blocks or of arrays whose words are a
// stride apart.
type elementwise struct {
	name    string
	doc     string
	result  argument
	args    []argument
	block   bool
	bare    bool // of arrays, but with the words that the function leaves
	compute func(s *source, args []value) value
}

// blockLanes is the number of lanes of a block in the package.
const blockLanes = 64

// flatten returns the words of a value.
func flatten(v value) []*node {
	switch v := v.(type) {
	case *node:
		return []*node{v}
	case *tuple:
		var ns []*node
		for _, e := range v.elems {
			ns = append(ns, flatten(e)...)
		}
		return ns
	}
	panic(fmt.Sprintf("%T is not a number", v))
}

// trace runs the kernel's function on symbols.
func (k *elementwise) trace(s *source) []*node {
	g := &graph{known: map[string]*node{}}
	s.g = g
	var args []value
	for i, a := range k.args {
		var elems []value
		for w := range a.words {
			kind := input
			if a.all {
				kind = scalar
			}
			elems = append(elems, g.node(node{kind: kind, arg: i + 1, word: w}))
		}
		if a.typ == "" {
			args = append(args, elems[0])
		} else {
			args = append(args, &tuple{a.typ, elems})
		}
	}
	return flatten(k.compute(s, args))
}

// pointers are the registers of an argument: word w is at base + w stride.
type pointers struct {
	base, stride, third reg.GPVirtual
	words               int
	all, block          bool
}

// strided says that the stride between words of a is a parameter.
func (k *elementwise) strided(a argument) bool { return a.words > 1 && !a.all && !k.block }

func (k *elementwise) load(a argument) *pointers {
	p := &pointers{words: a.words, all: a.all, block: k.block}
	p.base = Load(Param(a.name), GP64()).(reg.GPVirtual)
	if k.strided(a) {
		p.stride = Load(Param(a.name+"Stride"), GP64()).(reg.GPVirtual)
	}
	if a.words > 3 && k.strided(a) {
		p.third = GP64()
		LEAQ(Mem{Base: p.base, Index: p.stride, Scale: 2}, p.third)
		ADDQ(p.stride, p.third)
	}
	return p
}

func (p *pointers) at(word, disp int) Mem {
	switch {
	case p.all:
		return Mem{Base: p.base, Disp: 8 * word}
	case p.block:
		return Mem{Base: p.base, Disp: 8*blockLanes*word + disp}
	case word == 0:
		return Mem{Base: p.base, Disp: disp}
	case word == 3:
		return Mem{Base: p.third, Disp: disp}
	}
	return Mem{Base: p.base, Index: p.stride, Scale: uint8(word), Disp: disp}
}

func (p *pointers) advance(bytes int) {
	if p.all {
		return
	}
	ADDQ(I32(int32(bytes)), p.base)
	if p.words > 3 && !p.block {
		ADDQ(I32(int32(bytes)), p.third)
	}
}

func (k *elementwise) signature() string {
	if !k.block {
		return "func(z *float64, zStride int, x *float64, xStride int, y *float64, yStride int, c *float64, cStride int, n int) (left int)"
	}
	var b strings.Builder
	b.WriteString("func(")
	for _, a := range append([]argument{k.result}, k.args...) {
		fmt.Fprintf(&b, "%s *float64, ", a.name)
	}
	b.WriteString("n int)")
	return b.String()
}

// canonical returns results in the form that arrays store, without zeros of negative sign
// after the first word, and when they have it for certain: if no word but the last is half an ulp
// of the one before, or within 2^-50 of that. See canonical in ../words.go.
func canonical(g *graph, results []*node) (canon []*node, is *node) {
	zero := g.number(0)
	canon = append(canon, results[0])
	for _, r := range results[1:] {
		canon = append(canon, g.op(add, r, zero))
	}
	for i := 1; i+1 < len(canon); i++ {
		ok := g.compare(0x00, g.fma(canon[i], g.number(1+0x1p-50), canon[i-1]), canon[i-1])
		if is == nil {
			is = ok
		} else {
			is = g.op(maskAnd, is, ok)
		}
	}
	return canon, is
}

// split finds a condition under which all results are what costs least: those of the usual
// case, before they are chosen among.
func split(results []*node) (usual []*node, guard *node) {
	for _, r := range results {
		if r.kind != choose || r.args[0] != results[0].args[0] {
			return results, nil
		}
		usual = append(usual, r.args[2])
	}
	return usual, results[0].args[0]
}

// copies is the number of vectors that a pass of a kernel takes: one alone would wait for
// its own results.
const copies = 2

// A program is the steps of a pass of a kernel: those of the usual case, which leave for rare, if
// there are any, where a guard says so.
type program struct {
	steps, rare []step
	slots       int
}

// program orders the steps of the kernel for one target.
func (k *elementwise) program(s *source, t *target) program {
	results := k.trace(s)
	usual, guard := split(results)
	var rareGuard *node
	if !k.block && !k.bare {
		var ok *node
		usual, ok = canonical(s.g, usual)
		if ok != nil {
			guard = s.g.op(maskAnd, guard, ok)
		}
		results, rareGuard = canonical(s.g, results)
	}
	steps, slots := allocate(t, schedule(t, usual, guard, copies, t.limit), nil)
	report(k.name+t.suffix, steps, slots)
	var rare []step
	if guard != nil {
		var n int
		rare, n = allocate(t, schedule(t, results, rareGuard, copies, t.limit), nil)
		slots = max(slots, n)
	}
	return program{steps, rare, slots}
}

// emit writes the kernel for one target. n is rounded up to a multiple of lanes times copies.
// A kernel of arrays returns how many of n it has left when it meets numbers that are not
// canonical.
func (k *elementwise) emit(s *source, t *target) {
	p := k.program(s, t)
	Function(k.name + t.suffix)
	SignatureExpr(k.signature())
	Doc(k.name + t.suffix + " " + k.doc)
	Pragma("noescape")
	all := []*pointers{k.load(k.result)}
	for _, a := range k.args {
		all = append(all, k.load(a))
	}
	n := Load(Param("n"), GP64())
	e := &emitter{t: t, rare: "rare"}
	e.address = func(v val) Mem { return all[v.arg].at(v.word, v.copy*t.bytes()) }
	e.result = func(i inst) Mem { return all[0].at(i.word, i.copy*t.bytes()) }
	e.align(p.slots)
	Label("loop")
	for _, st := range p.steps {
		e.step(st)
	}
	Label("next")
	for _, p := range all {
		p.advance(copies * t.bytes())
	}
	SUBQ(I32(int32(copies*t.lanes)), n)
	JG(LabelRef("loop"))
	Label("done")
	if !k.block {
		Store(n, Return("left"))
	}
	VZEROUPPER()
	RET()
	if p.rare != nil {
		Label("rare")
		e.rare = "done"
		for _, st := range p.rare {
			e.step(st)
		}
		JMP(LabelRef("next"))
	}
}
