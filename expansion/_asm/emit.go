package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

var ymm = []reg.VecPhysical{reg.Y0, reg.Y1, reg.Y2, reg.Y3, reg.Y4, reg.Y5, reg.Y6, reg.Y7,
	reg.Y8, reg.Y9, reg.Y10, reg.Y11, reg.Y12, reg.Y13, reg.Y14, reg.Y15}

var zmm = []reg.VecPhysical{reg.Z0, reg.Z1, reg.Z2, reg.Z3, reg.Z4, reg.Z5, reg.Z6, reg.Z7,
	reg.Z8, reg.Z9, reg.Z10, reg.Z11, reg.Z12, reg.Z13, reg.Z14, reg.Z15,
	reg.Z16, reg.Z17, reg.Z18, reg.Z19, reg.Z20, reg.Z21, reg.Z22, reg.Z23,
	reg.Z24, reg.Z25, reg.Z26, reg.Z27, reg.Z28, reg.Z29, reg.Z30, reg.Z31}

var masks = []reg.OpmaskPhysical{reg.K1, reg.K2, reg.K3, reg.K4, reg.K5, reg.K6, reg.K7}

// emitter writes the steps of one kernel.
type emitter struct {
	t       *target
	address func(v val) Mem // of inputs and scalars
	result  func(i inst) Mem
	spills  reg.Register
	rare    string // where guards leave for
}

// align makes room for spilled values, at a multiple of their size.
func (e *emitter) align(slots int) {
	if slots == 0 {
		return
	}
	local := AllocLocal((slots + 1) * e.t.bytes())
	p := GP64()
	LEAQ(local.Offset(e.t.bytes()-1), p)
	ANDQ(I32(int32(-e.t.bytes())), p)
	e.spills = p
}

// constants are the numbers that the kernels of a file broadcast, in the order of their
// offsets in the data section.
var constants []uint64

func constantAt(bits uint64) Mem {
	k := -1
	for i, c := range constants {
		if c == bits {
			k = i
		}
	}
	if k < 0 {
		k = len(constants)
		constants = append(constants, bits)
	}
	return NewDataAddr(NewStaticSymbol("constants"), 64*k)
}

// writeConstants writes each constant eight times.
func writeConstants() {
	if len(constants) == 0 {
		return
	}
	GLOBL("constants", attr.RODATA|attr.NOPTR)
	for k, c := range constants {
		for j := range 8 {
			DATA(64*k+8*j, U64(c))
		}
	}
}

func (e *emitter) vec(r int) Op {
	if e.t == avx512 {
		return zmm[r]
	}
	return ymm[r]
}

func (e *emitter) op(p place) Op {
	switch {
	case p.reg >= 0 && e.t.masks > 0 && p.v.mask():
		return masks[p.reg]
	case p.reg >= 0:
		return e.vec(p.reg)
	case p.slot >= 0:
		return Mem{Base: e.spills, Disp: e.t.bytes() * p.slot}
	case p.v.kind == constant:
		return constantAt(p.v.imm)
	}
	return e.address(p.v)
}

func (e *emitter) step(s step) {
	isMask := func(v val) bool { return e.t.masks > 0 && v.mask() }
	switch s.what {
	case load:
		v := s.dst.v
		switch {
		case isMask(v):
			KMOVB(e.op(s.src[0]), e.op(s.dst))
		case v.kind == scalar:
			VBROADCASTSD(e.op(s.src[0]), e.op(s.dst))
		default:
			VMOVUPD(e.op(s.src[0]), e.op(s.dst))
		}
	case spill:
		if isMask(s.dst.v) {
			KMOVB(e.op(s.src[0]), e.op(s.dst))
		} else {
			VMOVUPD(e.op(s.src[0]), e.op(s.dst))
		}
	case move:
		VMOVAPD(e.op(s.src[0]), e.op(s.dst))
	case storeWord:
		VMOVUPD(e.op(s.src[0]), e.result(s.inst))
	case leave:
		r := GP32()
		if e.t.masks > 0 {
			KMOVB(e.op(s.src[0]), r)
		} else {
			VMOVMSKPD(e.op(s.src[0]), r)
		}
		CMPL(r, U32(uint32(1<<e.t.lanes-1)))
		JNE(LabelRef(e.rare))
	case compute:
		e.compute(s)
	}
}

var binary = map[kind]func(...Op){add: VADDPD, sub: VSUBPD, mul: VMULPD, div: VDIVPD, and: VANDPD, or: VORPD, xor: VXORPD}

var maskOps = map[kind][2]func(...Op){
	maskAnd: {VANDPD, wrap3(KANDB)}, maskOr: {VORPD, wrap3(KORB)}, maskXor: {VXORPD, wrap3(KXORB)},
}

func wrap3(f func(k, k1, k2 Op)) func(...Op) {
	return func(ops ...Op) { f(ops[0], ops[1], ops[2]) }
}

var roundings = map[kind]uint8{nearest: 8, floor: 9, truncate: 11}

func (e *emitter) compute(s step) {
	n := s.inst.how
	d := e.op(s.dst)
	x := make([]Op, len(s.src))
	for k, p := range s.src {
		x[k] = e.op(p)
	}
	inMemory := func(k int) bool { _, ok := x[k].(Mem); return ok }
	switch n.kind {
	case add, mul, and, or, xor:
		if inMemory(0) {
			x[0], x[1] = x[1], x[0]
		}
		binary[n.kind](x[1], x[0], d)
	case sub, div:
		binary[n.kind](x[1], x[0], d)
	case sqrt:
		VSQRTPD(x[0], d)
	case nearest, floor, truncate:
		if e.t == avx512 {
			VRNDSCALEPD(U8(roundings[n.kind]), x[0], d)
		} else {
			VROUNDPD(U8(roundings[n.kind]), x[0], d)
		}
	case compare:
		VCMPPD(U8(uint8(n.imm)), x[1], x[0], d)
	case maskAnd, maskOr, maskXor:
		if inMemory(0) {
			x[0], x[1] = x[1], x[0]
		}
		f := maskOps[n.kind][0]
		if e.t.masks > 0 {
			f = maskOps[n.kind][1]
		}
		f(x[1], x[0], d)
	case choose:
		if e.t.masks > 0 {
			VBLENDMPD(x[2], x[1], x[0], d)
		} else {
			VBLENDVPD(x[0], x[2], x[1], d)
		}
	case fma:
		e.fma(s, x, d)
	default:
		panic(fmt.Sprint("cannot compute kind ", n.kind))
	}
}

// forms of fused multiply-add by the operand that is overwritten: 0 for a factor with the
// addend in the place that may be memory, 1 for a factor with the other one there, 2 for
// the addend; by the signs of product and addend.
var forms = map[[2]bool][3]func(...Op){
	{false, false}: {VFMADD213PD, VFMADD132PD, VFMADD231PD},
	{false, true}:  {VFMSUB213PD, VFMSUB132PD, VFMSUB231PD},
	{true, false}:  {VFNMADD213PD, VFNMADD132PD, VFNMADD231PD},
	{true, true}:   {VFNMSUB213PD, VFNMSUB132PD, VFNMSUB231PD},
}

func (e *emitter) fma(s step, x []Op, d Op) {
	n := s.inst.how
	f := forms[[2]bool{n.neg, n.negc}]
	isMem := func(o Op) bool { _, ok := o.(Mem); return ok }
	a, b, c := x[0], x[1], x[2]
	if c == d {
		if isMem(a) {
			a, b = b, a
		}
		f[2](b, a, d)
		return
	}
	if b == d {
		a, b = b, a
	}
	if a != d {
		panic("fused multiply-add without destination")
	}
	if isMem(b) {
		f[1](b, c, d)
	} else {
		f[0](c, b, d)
	}
}
