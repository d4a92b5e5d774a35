package main

import (
	"math"
	"slices"
)

// A target is an instruction set.
type target struct {
	name    string
	suffix  string
	regs    int // vector registers
	masks   int // mask registers; 0 for masks in vector registers
	lanes   int
	latency map[kind]int
	sums    bool // additions have units of their own, two
	limit   int  // live values that a schedule aims at
	loads   bool // operands lie in registers, where loads bring them
}

func (t *target) bytes() int { return 8 * t.lanes }

var avx2 = &target{"avx2", "AVX2", 16, 0, 4, map[kind]int{add: 3, sub: 3, mul: 4, fma: 4, div: 13, sqrt: 20,
	and: 1, or: 1, xor: 1, nearest: 3, floor: 3, truncate: 3, compare: 1, maskAnd: 1, maskOr: 1, maskXor: 1, choose: 1}, true, 18, false}

var avx512 = &target{"avx512", "AVX512", 32, 7, 8, map[kind]int{add: 4, sub: 4, mul: 4, fma: 4, div: 24, sqrt: 32,
	and: 1, or: 1, xor: 1, nearest: 8, floor: 8, truncate: 8, compare: 3, maskAnd: 1, maskOr: 1, maskXor: 1, choose: 1}, false, 30, false}

// neonLevel keeps a register for what takes more than one instruction. Its latencies are those of
// Neoverse V1 in Arm's optimization guide.
var neonLevel = &target{"neon", "NEON", 31, 0, 2, map[kind]int{add: 2, sub: 2, mul: 3, fma: 4, div: 15, sqrt: 16,
	and: 2, or: 2, xor: 2, nearest: 3, floor: 3, truncate: 3, compare: 2, maskAnd: 2, maskOr: 2, maskXor: 2, choose: 2}, false, 29, true}

// A val is a node of one of the copies of a graph that are interleaved.
type val struct {
	*node
	copy int
}

// An inst computes a val, stores it as word of the result, or leaves for the other way to
// compute these vectors if a lane of it, a mask, is clear.
type inst struct {
	val
	how          *node // the node, or the same value on another unit
	store, guard bool
	word         int
}

// computes says that an inst leaves its value in a register.
func (i inst) computes() bool { return !i.store && !i.guard }

// operands of an inst.
func (i inst) operands() []val {
	if !i.computes() {
		return []val{i.val}
	}
	vs := make([]val, len(i.how.args))
	for k, a := range i.how.args {
		vs[k] = i.of(a)
	}
	return vs
}

// of is a node in the same copy. Constants and scalars are the same in all.
func (v val) of(n *node) val {
	if n.kind == constant || n.kind == scalar {
		return val{n, 0}
	}
	return val{n, v.copy}
}

// schedule orders the computation of results for copies vectors at a time: cycle by
// cycle, the longest path to a result first, as long as no more than limit values live.
// Where additions have units of their own, those beyond what the units take go to the multipliers,
// as a 1 + b. Results are stored when guards, if any, have passed.
func schedule(t *target, results []*node, guard *node, copies, limit int) []inst {
	one := &node{kind: constant, imm: math.Float64bits(1), id: -1}
	var all []inst
	users := map[val][]int{}    // of a value: instructions
	readers := map[[2]int]int{} // of words of the inputs: uses to come
	seen := map[val]bool{}
	var visit func(v val)
	visit = func(v val) {
		if seen[v] || v.resident() || v.kind == carried {
			return
		}
		seen[v] = true
		for _, a := range v.args {
			visit(v.of(a))
		}
		all = append(all, inst{val: v, how: v.node})
	}
	for c := range copies {
		for _, r := range results {
			visit(val{r, c})
		}
		if guard != nil {
			visit(val{guard, c})
		}
	}
	guards := 0
	for c := range copies {
		if guard != nil {
			all = append(all, inst{val: val{guard, c}, guard: true})
			guards++
		}
	}
	for c := range copies {
		for w, r := range results {
			all = append(all, inst{val: val{r, c}, store: true, word: w})
		}
	}
	// reads lists the words of inputs that an instruction reads. A word of the result, which
	// may lie where those of inputs do, is stored after they are read.
	reads := func(i inst) (words [][2]int) {
		for _, v := range i.operands() {
			if v.kind == input && i.computes() {
				words = append(words, [2]int{v.copy, v.word})
			}
		}
		return words
	}
	waits := make([]int, len(all)) // operands not computed yet
	left := map[val]int{}          // uses of a value to come
	for k, i := range all {
		for _, w := range reads(i) {
			readers[w]++
		}
		ops := i.operands()
		slices.SortFunc(ops, func(a, b val) int { return a.id - b.id })
		for _, v := range slices.Compact(ops) {
			if !v.resident() {
				users[v] = append(users[v], k)
				left[v]++
				if v.kind != carried {
					waits[k]++
				}
			}
		}
	}
	// Longest path to the end; all is in the order of dependence.
	height := make([]int, len(all))
	for k := len(all) - 1; k >= 0; k-- {
		if i := all[k]; i.computes() {
			for _, u := range users[i.val] {
				height[k] = max(height[k], height[u])
			}
			height[k] += t.latency[i.kind]
		}
	}
	ready := map[int]int{} // instruction: cycle from which it may run
	for k := range all {
		if waits[k] == 0 {
			ready[k] = 0
		}
	}
	var order []inst
	live := 0
	// growth is what an instruction adds to the number of live values.
	growth := func(k int) int {
		i, n := all[k], 0
		if i.computes() {
			n = 1
		}
		ops := i.operands()
		slices.SortFunc(ops, func(a, b val) int { return a.id - b.id })
		for _, v := range slices.Compact(ops) {
			if !v.resident() && left[v] == 1 {
				n--
			}
		}
		return n
	}
	run := func(k, cycle int) {
		i := all[k]
		live += growth(k)
		delete(ready, k)
		for _, w := range reads(i) {
			readers[w]--
		}
		ops := i.operands()
		slices.SortFunc(ops, func(a, b val) int { return a.id - b.id })
		for _, v := range slices.Compact(ops) {
			if !v.resident() {
				left[v]--
			}
		}
		order = append(order, i)
		if i.guard {
			guards--
		}
		if !i.computes() {
			return
		}
		for _, u := range users[i.val] {
			if waits[u]--; waits[u] == 0 {
				ready[u] = cycle + t.latency[i.kind]
			}
		}
	}
	for cycle, idle := 0, 0; len(ready) > 0; cycle++ {
		sums, rest := 0, 2 // units that are free
		if t.sums {
			sums = 2
		}
		issued := 0
		for issued < 4 {
			best, bestGrowth := -1, 0
			stuck := idle > 40
			for k, from := range ready {
				i := all[k]
				if i.store && (readers[[2]int{i.copy, i.word}] > 0 || guards > 0) {
					continue
				}
				if from > cycle && !stuck {
					continue
				}
				more := growth(k)
				if live+more > limit && more > 0 && !stuck {
					continue
				}
				if i.computes() && rest == 0 && (!isSum(i.kind) || sums == 0) {
					continue
				}
				better := best < 0
				switch {
				case better:
				case stuck && more != bestGrowth:
					better = more < bestGrowth
				case i.computes() != all[best].computes():
					better = !i.computes()
				case height[k] != height[best]:
					better = height[k] > height[best]
				default:
					better = k < best
				}
				if better {
					best, bestGrowth = k, more
				}
			}
			if best < 0 {
				break
			}
			if i := &all[best]; i.computes() {
				if isSum(i.kind) && sums > 0 {
					sums--
				} else {
					if isSum(i.kind) && t.sums {
						i.how = asProduct(i.node, one)
					}
					rest--
				}
			}
			run(best, cycle)
			issued++
			idle = 0
			if stuck {
				break
			}
		}
		if issued == 0 {
			idle++
		}
	}
	return order
}

func isSum(k kind) bool { return k == add || k == sub }

// asProduct is a + b as a 1 + b, a - b as -b 1 + a: rounded the same.
func asProduct(n, one *node) *node {
	a, b := n.args[0], n.args[1]
	if n.kind == sub {
		a, b = b, a
	}
	return &node{kind: fma, neg: n.kind == sub, args: []*node{a, one, b}}
}
