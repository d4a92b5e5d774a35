package main

import (
	"fmt"
	"math"
)

// A kind is what a node of a graph computes, lane by lane.
type kind uint8

const (
	constant kind = iota // imm in all lanes
	input                // word of an argument: lanes i, i+1, ...
	scalar               // word of an argument that all lanes share
	carried              // what the pass before left in result arg, word
	add                  // a + b
	sub                  // a - b
	mul                  // a b
	div                  // a / b
	sqrt                 // √a
	fma                  // ±a b ± c, rounded once: neg negates the product, negc the addend
	and                  // a & b, bits
	or                   // a | b, bits
	xor                  // a ^ b, bits
	nearest              // a rounded to an integer, ties to even
	floor                // ⌊a⌋
	truncate             // a rounded to an integer, to zero
	compare              // a imm b, a mask
	maskAnd              // a & b of masks
	maskOr               // a | b of masks
	maskXor              // a ^ b of masks
	choose               // c where mask a, else b
)

// A node is one value of a graph, the same for all copies of it that are interleaved.
type node struct {
	id        int
	kind      kind
	args      []*node
	imm       uint64 // bits of a constant, predicate of a compare
	neg, negc bool
	arg, word int // of inputs and scalars
}

func (n *node) mask() bool { return n.kind >= compare && n.kind <= maskXor }

// resident says that memory holds the value: it is never spilled, and read again.
func (n *node) resident() bool { return n.kind <= scalar }

// A graph makes nodes, each once.
type graph struct {
	nodes []*node
	known map[string]*node
}

func (g *graph) node(n node) *node {
	key := fmt.Sprint(n.kind, n.imm, n.neg, n.negc, n.arg, n.word)
	for _, a := range n.args {
		key += fmt.Sprint(" ", a.id)
	}
	if m := g.known[key]; m != nil {
		return m
	}
	n.id = len(g.nodes)
	m := &n
	g.nodes = append(g.nodes, m)
	g.known[key] = m
	return m
}

func (g *graph) op(k kind, args ...*node) *node {
	if k == maskAnd {
		if x := g.ordinary(args[0], args[1]); x != nil {
			return x
		}
	}
	return g.node(node{kind: k, args: args})
}

// ordinary turns x != 0 && x-x == 0, neither zero nor infinite nor NaN, into one
// comparison: x and x - x are ordered and differ.
func (g *graph) ordinary(a, b *node) *node {
	isZero := func(n *node) bool { return n.kind == constant && n.imm == 0 }
	if a.kind != compare || a.imm != 0x04 || !isZero(a.args[1]) || b.kind != compare || b.imm != 0x00 || !isZero(b.args[1]) {
		return nil
	}
	x, d := a.args[0], b.args[0]
	if d.kind != sub || d.args[0] != x || d.args[1] != x {
		return nil
	}
	return g.compare(0x0c, x, d)
}

func (g *graph) bits(b uint64) *node    { return g.node(node{kind: constant, imm: b}) }
func (g *graph) number(x float64) *node { return g.bits(math.Float64bits(x)) }
func (g *graph) signBit() *node         { return g.bits(1 << 63) }
func (g *graph) abs(a *node) *node      { return g.op(and, a, g.bits(1<<63-1)) }
func (g *graph) signOf(a *node) *node   { return g.op(and, a, g.signBit()) }
func (n *node) isSignFlip() bool {
	return n.kind == xor && n.args[1].kind == constant && n.args[1].imm == 1<<63
}
func (g *graph) all(on bool) *node {
	return g.node(node{kind: compare, imm: map[bool]uint64{false: 0x1b, true: 0x1f}[on], args: []*node{g.bits(0), g.bits(0)}})
}

func (g *graph) not(m *node) *node {
	if m.kind == compare {
		return g.compare(m.imm^4, m.args[0], m.args[1]) // the opposite predicate
	}
	return g.op(maskXor, m, g.all(true))
}

func (g *graph) compare(p uint64, a, b *node) *node {
	return g.node(node{kind: compare, imm: p, args: []*node{a, b}})
}

// negate returns -a, folding double negations.
func (g *graph) negate(a *node) *node {
	if a.kind == constant {
		return g.bits(a.imm ^ 1<<63)
	}
	if a.isSignFlip() {
		return a.args[0]
	}
	return g.op(xor, a, g.signBit())
}

func (g *graph) fma(a, b, c *node) *node {
	n := node{kind: fma}
	strip := func(x *node, flag *bool) *node {
		if x.isSignFlip() {
			*flag = !*flag
			return x.args[0]
		}
		return x
	}
	n.args = []*node{strip(a, &n.neg), strip(b, &n.neg), strip(c, &n.negc)}
	return g.node(n)
}

func (g *graph) sub(a, b *node) *node {
	if b.isSignFlip() {
		return g.op(add, a, b.args[0])
	}
	return g.op(sub, a, b)
}

func (g *graph) add(a, b *node) *node {
	if b.isSignFlip() {
		return g.op(sub, a, b.args[0])
	}
	return g.op(add, a, b)
}

// choose returns yes where m, else no.
func (g *graph) choose(m, yes, no *node) *node {
	if yes == no {
		return yes
	}
	return g.op(choose, m, no, yes)
}
