package main

import (
	"fmt"
	"slices"

	neon "github.com/halfulp/halfulp/internal/_neon"
)

// General registers of the kernels for arm64: pointers are the lower ones.
const (
	countReg     = 19
	strideReg    = 20
	scratchReg   = 21
	constantsReg = 22
	spillsReg    = 23
	pointerRegs  = 16
)

// scratch is the vector register that no value has.
const scratch = 31

func writeNEON(s *source) {
	f := new(neon.File)
	for _, k := range kernels() {
		k.emitNEON(f, s)
	}
	for _, k := range tiles {
		k.emitNEON(f, s)
	}
	f.Generate()
}

// A neonEmitter writes the steps of one kernel.
type neonEmitter struct {
	*neon.File
	address func(v val) (base, disp int) // of inputs and scalars
	result  func(i inst) (base, disp int)
	rare    string // where guards leave for
}

// begin begins a function, with room for spilled values.
func (e *neonEmitter) begin(name, signature, doc string, p program) {
	frame := 0
	if p.slots > 0 {
		frame = 16*p.slots + 16
	}
	e.FuncFrame(name, signature, name+" "+doc, frame)
	if p.slots > 0 {
		e.Go("ADD $16, RSP, R%d", spillsReg) // beyond the link register
	}
	constant := func(s step) bool {
		return s.what == load && s.src[0].slot < 0 && s.src[0].v.kind == constant
	}
	if slices.ContainsFunc(p.steps, constant) || slices.ContainsFunc(p.rare, constant) {
		e.Go("MOVD $constants<>(SB), R%d", constantsReg)
	}
}

// at adds disp to the register of an address where an instruction takes no offset.
func (e *neonEmitter) at(base, disp int) int {
	if disp == 0 {
		return base
	}
	e.Go("ADD $%d, R%d, R%d", disp, base, scratchReg)
	return scratchReg
}

func (e *neonEmitter) step(s step) {
	switch s.what {
	case load:
		v, d := s.dst.v, s.dst.reg
		switch {
		case s.src[0].slot >= 0:
			e.Vec("ldr q%d, [x%d, #%d]", d, spillsReg, 16*s.src[0].slot)
		case v.kind == constant:
			e.Vec("ldr q%d, [x%d, #%d]", d, constantsReg, e.Constant(v.imm))
		case v.kind == scalar:
			e.Vec("ld1r {v%d.2d}, [x%d]", d, e.at(e.address(v)))
		default:
			base, disp := e.address(v)
			e.Vec("ldr q%d, [x%d, #%d]", d, base, disp)
		}
	case spill:
		e.Vec("str q%d, [x%d, #%d]", s.src[0].reg, spillsReg, 16*s.dst.slot)
	case storeWord:
		base, disp := e.result(s.inst)
		e.Vec("str q%d, [x%d, #%d]", s.src[0].reg, base, disp)
	case leave: // unless both lanes are ones, -1
		e.Vec("xtn v%d.2s, v%d.2d", scratch, s.src[0].reg)
		e.Vec("fmov x%d, d%d", scratchReg, scratch)
		e.Go("CMN $1, R%d", scratchReg)
		e.Go("BNE %s", e.rare)
	case compute:
		e.compute(s)
	default:
		panic(fmt.Sprint("no step ", s.what))
	}
}

var neonBinary = map[kind]string{add: "fadd", sub: "fsub", mul: "fmul", div: "fdiv"}
var neonLogical = map[kind]string{and: "and", or: "orr", xor: "eor", maskAnd: "and", maskOr: "orr", maskXor: "eor"}
var neonUnary = map[kind]string{sqrt: "fsqrt", nearest: "frintn", floor: "frintm", truncate: "frintz"}

func (e *neonEmitter) compute(s step) {
	n, d := s.inst.how, s.dst.reg
	x := make([]int, len(s.src))
	for k, p := range s.src {
		x[k] = p.reg
	}
	switch n.kind {
	case add, sub, mul, div:
		e.Vec("%s v%d.2d, v%d.2d, v%d.2d", neonBinary[n.kind], d, x[0], x[1])
	case and, or, xor, maskAnd, maskOr, maskXor:
		e.Vec("%s v%d.16b, v%d.16b, v%d.16b", neonLogical[n.kind], d, x[0], x[1])
	case sqrt, nearest, floor, truncate:
		e.Vec("%s v%d.2d, v%d.2d", neonUnary[n.kind], d, x[0])
	case compare:
		e.compare(n.imm, d, x[0], x[1])
	case choose:
		e.choose(d, x[0], x[1], x[2])
	case fma:
		switch {
		case n.negc:
			e.Vec("fneg v%d.2d, v%d.2d", d, x[2])
		case d != x[2]:
			e.Vec("mov v%d.16b, v%d.16b", d, x[2])
		}
		op := "fmla"
		if n.neg {
			op = "fmls"
		}
		e.Vec("%s v%d.2d, v%d.2d, v%d.2d", op, d, x[0], x[1])
	default:
		panic(fmt.Sprint("cannot compute kind ", n.kind))
	}
}

// compare writes a comparison by the predicates of VCMPPD that graphs have, of which p^4 is the
// opposite of p.
func (e *neonEmitter) compare(p uint64, d, a, b int) {
	vec := func(op string, d, a, b int) { e.Vec("%s v%d.2d, v%d.2d, v%d.2d", op, d, a, b) }
	not := func() { e.Vec("mvn v%d.16b, v%d.16b", d, d) }
	switch p {
	case 0x00, 0x04: // equal
		vec("fcmeq", d, a, b)
	case 0x11, 0x15: // less
		vec("fcmgt", d, b, a)
	case 0x12, 0x16: // less or equal
		vec("fcmge", d, b, a)
	case 0x1d, 0x19: // greater or equal
		vec("fcmge", d, a, b)
	case 0x1e, 0x1a: // greater
		vec("fcmgt", d, a, b)
	case 0x0c, 0x08: // ordered and not equal, and its opposite
		vec("fcmgt", scratch, b, a)
		vec("fcmgt", d, a, b)
		e.Vec("orr v%d.16b, v%d.16b, v%d.16b", d, d, scratch)
	default:
		panic(fmt.Sprintf("no predicate %#x", p))
	}
	switch p {
	case 0x04, 0x15, 0x16, 0x19, 0x1a, 0x08:
		not()
	}
}

// choose writes d = yes where mask, else no. d is one of the operands, or none.
func (e *neonEmitter) choose(d, mask, no, yes int) {
	switch d {
	case no:
		e.Vec("bit v%d.16b, v%d.16b, v%d.16b", d, yes, mask)
	case yes:
		e.Vec("bif v%d.16b, v%d.16b, v%d.16b", d, no, mask)
	default:
		if d != mask {
			e.Vec("mov v%d.16b, v%d.16b", d, mask)
		}
		e.Vec("bsl v%d.16b, v%d.16b, v%d.16b", d, yes, no)
	}
}

// emitNEON is emit for arm64. Every word of an array has a pointer.
func (k *elementwise) emitNEON(f *neon.File, s *source) {
	t := neonLevel
	p := k.program(s, t)
	e := &neonEmitter{File: f, rare: "rare"}
	e.begin(k.name+t.suffix, k.signature(), k.doc, p)
	var first []int // pointer of each argument
	used, moved := 0, 0
	args := append([]argument{k.result}, k.args...)
	for _, a := range args { // single numbers come last
		first = append(first, used)
		e.Load(a.name, used)
		words := 1
		if k.strided(a) {
			e.Load(a.name+"Stride", strideReg)
			for ; words < a.words; words++ {
				e.Go("ADD R%d, R%d, R%d", strideReg, used+words-1, used+words)
			}
		}
		used += words
		if !a.all {
			moved = used
		}
	}
	if used > pointerRegs {
		panic("too many pointers: " + k.name)
	}
	at := func(arg, word, copy int) (base, disp int) {
		switch {
		case args[arg].all:
			return first[arg], 8 * word
		case k.block:
			return first[arg], 8*blockLanes*word + copy*t.bytes()
		}
		return first[arg] + word, copy * t.bytes()
	}
	e.address = func(v val) (int, int) { return at(v.arg, v.word, v.copy) }
	e.result = func(i inst) (int, int) { return at(0, i.word, i.copy) }
	e.Load("n", countReg)
	e.Label("loop")
	for _, st := range p.steps {
		e.step(st)
	}
	e.Label("next")
	for r := range moved {
		e.Go("ADD $%d, R%d", copies*t.bytes(), r)
	}
	e.Go("SUBS $%d, R%d, R%d", copies*t.lanes, countReg, countReg)
	e.Go("BGT loop")
	e.Label("done")
	if !k.block {
		e.Store(countReg, "left")
	}
	e.Go("RET")
	if p.rare != nil {
		e.Label("rare")
		e.rare = "done"
		for _, st := range p.rare {
			e.step(st)
		}
		e.Go("B next")
	}
}

// emitNEON is emit for arm64.
func (k *tile) emitNEON(f *neon.File, s *source) {
	t := neonLevel
	p := k.program(s, t)
	e := &neonEmitter{File: f}
	e.begin(k.name+t.suffix, "func(sums, a, b *float64, k int)", "is macTile for "+k.typ+".", p)
	const sums, a, b = 0, 1, 2
	e.Load("sums", sums)
	e.Load("a", a)
	e.Load("b", b)
	e.Load("k", countReg)
	e.address = func(v val) (base, disp int) {
		switch {
		case v.word >= wordsOfB:
			return b, 8 * (v.word - wordsOfB)
		case v.word >= wordsOfA:
			return a, t.bytes() * (v.word - wordsOfA)
		}
		return sums, t.bytes() * v.word
	}
	e.result = func(i inst) (base, disp int) { return sums, t.bytes() * i.word }
	e.Label("loop")
	for _, st := range p.steps {
		e.step(st)
	}
	e.Go("ADD $%d, R%d", t.bytes()*k.vectors*k.words, a)
	e.Go("ADD $%d, R%d", 8*k.columns*k.words, b)
	e.Go("SUBS $1, R%d, R%d", countReg, countReg)
	e.Go("BNE loop")
	e.Go("RET")
}
