package main

import "slices"

// A place is a register, or memory: a slot of the stack, or where a resident value lies.
type place struct {
	v    val
	reg  int // register, of masks if v is one and the target has them; -1 for memory
	slot int // slot of the stack; -1 for none
}

// A step is an instruction with its places. Loads, spills and copies of registers are
// steps too.
type step struct {
	what stepKind
	inst inst    // of compute and store
	dst  place   // of compute, load, move; of a spill its slot
	src  []place // operands, in the order of the instruction's
}

type stepKind uint8

const (
	compute stepKind = iota
	load             // src[0] of memory into dst
	spill            // src[0] of a register to the slot of dst
	move             // src[0] to dst, registers
	storeWord
	leave // unless all lanes of src[0] are set
)

const never = 1 << 30

type allocator struct {
	t     *target
	order []inst
	uses  map[val][]int // positions to come
	reg   map[val]int
	slot  map[val]int
	held  [2][]*val // by class and register
	free  []int     // slots
	slots int
	steps []step
	at    int
}

func (a *allocator) class(v val) int {
	if a.t.masks > 0 && v.mask() {
		return 1
	}
	return 0
}

// next is the position of the next use of v from the present one on.
func (a *allocator) next(v val, from int) int {
	for _, p := range a.uses[v] {
		if p >= from {
			return p
		}
	}
	return never
}

// allocate gives values registers: the value used last is evicted first (Belady), to the
// stack unless memory has it.
func allocate(t *target, order []inst, carry []val) (steps []step, slots int) {
	a := &allocator{t: t, order: order, uses: map[val][]int{}, reg: map[val]int{}, slot: map[val]int{}}
	a.held[0] = make([]*val, t.regs)
	a.held[1] = make([]*val, t.masks)
	for p, i := range order {
		for _, v := range i.operands() {
			a.uses[v] = append(a.uses[v], p)
		}
	}
	for r, v := range carry {
		a.reg[v] = r
		a.held[0][r] = &v
	}
	for p, i := range order {
		a.at = p
		if i.computes() {
			a.compute(i)
		} else {
			a.finish(i)
		}
		for _, v := range i.operands() {
			a.drop(v)
		}
	}
	return a.steps, a.slots
}

// drop forgets v if it is not used after the present instruction.
func (a *allocator) drop(v val) {
	if a.next(v, a.at+1) != never {
		return
	}
	if r, ok := a.reg[v]; ok {
		a.held[a.class(v)][r] = nil
		delete(a.reg, v)
	}
	if s, ok := a.slot[v]; ok {
		a.free = append(a.free, s)
		delete(a.slot, v)
	}
}

func (a *allocator) place(v val) place {
	p := place{v, -1, -1}
	if r, ok := a.reg[v]; ok {
		p.reg = r
	} else if s, ok := a.slot[v]; ok {
		p.slot = s
	}
	return p
}

// take returns a free register for v, evicting a value that the present instruction does
// not use.
func (a *allocator) take(v val, keep []val) int {
	held := a.held[a.class(v)]
	best, far := -1, -1
	for r, h := range held {
		if h == nil {
			best = r
			break
		}
		if slices.Contains(keep, *h) {
			continue
		}
		d := 2 * a.next(*h, a.at)
		if _, ok := a.slot[*h]; ok || h.resident() {
			d++ // nothing to write
		}
		if d > far {
			best, far = r, d
		}
	}
	if best < 0 {
		panic("no register")
	}
	if h := held[best]; h != nil {
		if _, ok := a.slot[*h]; !ok && !h.resident() {
			s := a.slots
			if n := len(a.free); n > 0 {
				s, a.free = a.free[n-1], a.free[:n-1]
			} else {
				a.slots++
			}
			a.steps = append(a.steps, step{what: spill, src: []place{{*h, best, -1}}, dst: place{*h, -1, s}})
			a.slot[*h] = s
		}
		delete(a.reg, *h)
	}
	held[best] = &v
	a.reg[v] = best
	return best
}

// fetch puts v into a register.
func (a *allocator) fetch(v val, keep []val) {
	if _, ok := a.reg[v]; ok {
		return
	}
	src := a.place(v)
	a.take(v, keep)
	a.steps = append(a.steps, step{what: load, src: []place{src}, dst: a.place(v)})
}

// finish stores a value or guards by it.
func (a *allocator) finish(i inst) {
	a.fetch(i.val, nil)
	what := storeWord
	if i.guard {
		what = leave
	}
	a.steps = append(a.steps, step{what: what, inst: i, src: []place{a.place(i.val)}})
}

// memoryOperands lists the operands that an instruction can take from memory, one of them.
func memoryOperands(k kind) []int {
	switch k {
	case add, mul, and, or, xor:
		return []int{1, 0}
	case sub, div, compare:
		return []int{1}
	case sqrt, nearest, floor, truncate:
		return []int{0}
	case fma:
		return []int{2, 1, 0}
	case choose:
		return []int{2}
	}
	return nil
}

func (a *allocator) compute(i inst) {
	ops := i.operands()
	// One operand may stay in memory: the one used last of those that are there.
	folded, far := -1, -1
	for _, k := range memoryOperands(i.how.kind) {
		if a.t.loads {
			break
		}
		v := ops[k]
		if _, ok := a.reg[v]; ok || v.kind == scalar || a.class(v) == 1 {
			continue
		}
		if i.how.kind == fma && a.onlyDying(ops, k) {
			continue
		}
		n := 0
		for _, o := range ops {
			if o == v {
				n++
			}
		}
		if d := a.next(v, a.at+1); n == 1 && d > far {
			folded, far = k, d
		}
	}
	if a.t.masks > 0 && (i.kind == maskAnd || i.kind == maskOr || i.kind == maskXor) {
		folded = -1
	}
	for k, v := range ops {
		if k != folded {
			a.fetch(v, ops)
		}
	}
	src := make([]place, len(ops))
	for k, v := range ops {
		src[k] = a.place(v)
	}
	s := step{what: compute, inst: i, src: src}
	dies := func(k int) bool { return k != folded && a.next(ops[k], a.at+1) == never }
	switch {
	case i.how.kind == fma && a.t.loads:
		a.overwrite(&s, ops, []int{2}, dies)
		return
	case i.how.kind == choose && a.t.loads:
		a.overwrite(&s, ops, []int{0, 1, 2}, dies)
		return
	case i.how.kind == fma:
		a.fmaResult(&s, ops, folded, dies)
		return
	}
	for k := range ops {
		if dies(k) && a.class(ops[k]) == a.class(i.val) {
			s.dst = a.inherit(i.val, ops[k])
			a.steps = append(a.steps, s)
			return
		}
	}
	a.take(i.val, ops)
	s.dst = a.place(i.val)
	a.steps = append(a.steps, s)
}

// onlyDying says that operand k of a fused multiply-add in memory would better be loaded
// and overwritten, since no other operand may be.
func (a *allocator) onlyDying(ops []val, k int) bool {
	for j, v := range ops {
		if j != k && a.next(v, a.at+1) == never {
			return false
		}
	}
	return true
}

// inherit gives v the register of a value that dies.
func (a *allocator) inherit(v, from val) place {
	r := a.reg[from]
	delete(a.reg, from)
	a.reg[v] = r
	a.held[a.class(v)][r] = &v
	return place{v, r, -1}
}

// inheritOne gives the result of s the register of the first of three operands, by their numbers,
// that dies and is not another operand as well.
func (a *allocator) inheritOne(s *step, ops []val, which []int, dies func(k int) bool) bool {
	for _, k := range which {
		if dies(k) && ops[k] != ops[(k+1)%3] && ops[k] != ops[(k+2)%3] {
			s.dst = a.inherit(s.inst.val, ops[k])
			a.steps = append(a.steps, *s)
			return true
		}
	}
	return false
}

// overwrite finds the operand that an instruction overwrites, one of which, or a register that is
// no operand's, to which a copy goes first.
func (a *allocator) overwrite(s *step, ops []val, which []int, dies func(k int) bool) {
	if a.inheritOne(s, ops, which, dies) {
		return
	}
	a.take(s.inst.val, ops)
	s.dst = a.place(s.inst.val)
	a.steps = append(a.steps, *s)
}

// fmaResult finds the operand that a fused multiply-add overwrites, its destination.
func (a *allocator) fmaResult(s *step, ops []val, folded int, dies func(k int) bool) {
	if a.inheritOne(s, ops, []int{2, 0, 1}, dies) {
		return
	}
	// None dies: a copy is overwritten.
	k := 2
	if folded == 2 {
		k = 0
	}
	a.take(s.inst.val, ops)
	s.dst = a.place(s.inst.val)
	// A value that memory has is in a register as well here: copying that is as good.
	a.steps = append(a.steps, step{what: move, src: []place{s.src[k]}, dst: s.dst})
	s.src[k] = s.dst
	a.steps = append(a.steps, *s)
}
