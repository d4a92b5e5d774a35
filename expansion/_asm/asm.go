// Command _asm writes the kernels of package expansion, those of one instruction set a run.
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"

	. "github.com/mmcloughlin/avo/build"

	compact "github.com/halfulp/halfulp/internal/_compact"
)

var level = flag.String("level", "avx2", "instruction set: avx2, avx512 or neon")
var verbose = flag.Bool("v", false, "report the length of the kernels")

func main() {
	flag.Parse()
	s := readSource("..")
	if *level == neonLevel.name {
		writeNEON(s)
		return
	}
	t := map[string]*target{"avx2": avx2, "avx512": avx512}[*level]
	ConstraintExpr("amd64,!purego")
	for _, k := range kernels() {
		k.emit(s, t)
	}
	for _, k := range tiles {
		k.emit(s, t)
	}
	writeConstants()
	Generate()
	compact.Out()
}

// kernels lists the elementwise kernels. Those of blocks are the functions on words, for
// finite numbers; those of arrays the methods, special values and all.
func kernels() []*elementwise {
	var ks []*elementwise
	for w := 2; w <= 4; w++ {
		typ := formats[w]
		num := func(name string) argument { return argument{name: name, typ: typ, words: w} }
		float := argument{name: "y", words: 1}
		for _, b := range []struct {
			name string
			args []argument
		}{
			{"add", []argument{num("x"), num("y")}},
			{"sub", []argument{num("x"), num("y")}},
			{"mul", []argument{num("x"), num("y")}},
			{"div", []argument{num("x"), num("y")}},
			{"sqrt", []argument{num("x")}},
			{"addFloat", []argument{num("x"), float}},
			{"mulFloat", []argument{num("x"), float}},
		} {
			ks = append(ks, &elementwise{name: b.name + typ, doc: "is " + b.name + typ + " of blocks.", block: true, result: num("z"), args: b.args,
				compute: func(s *source, args []value) value {
					if b.name == "sub" {
						return s.call("add"+typ, wordsOf(args[0], s.negate(args[1]))...)
					}
					return s.call(b.name+typ, wordsOf(args...)...)
				}})
		}
		c := num("c")
		c.all = true
		ks = append(ks, &elementwise{name: "horner" + typ, doc: "is a step of horner" + typ + ": z = s x + c.", block: true, result: num("z"), args: []argument{num("s"), num("x"), c},
			compute: func(s *source, args []value) value {
				p := s.call("mul"+typ, wordsOf(args[:2]...)...)
				return s.call("add"+typ, wordsOf(p, args[2])...)
			}})
		for _, m := range []struct {
			name string
			args []argument
		}{
			{"Add", []argument{num("x"), num("y")}},
			{"Sub", []argument{num("x"), num("y")}},
			{"Mul", []argument{num("x"), num("y")}},
			{"Div", []argument{num("x"), num("y")}},
			{"Sqrt", []argument{num("x")}},
			{"FMA", []argument{num("x"), num("y"), num("c")}},
		} {
			ks = append(ks, &elementwise{name: strings.ToLower(typ) + m.name, doc: "is " + typ + "." + m.name + " of arrays.", result: num("z"), args: m.args,
				compute: func(s *source, args []value) value { return s.call(typ+"."+m.name, args...) }})
		}
		ks = append(ks, &elementwise{name: strings.ToLower(typ) + "Mac", doc: "is mac" + typ + " of arrays, c + x y.", bare: true, result: num("z"), args: []argument{num("x"), num("y"), num("c")},
			compute: func(s *source, a []value) value { return s.call("mac"+typ, a[2], a[0], a[1]) }})
	}
	z, x, c := argument{name: "s", words: 1}, argument{name: "x", words: 1}, argument{name: "c", words: 1, all: true}
	return append(ks, &elementwise{name: "hornerFloats", doc: "is a step of hornerFloats: z = s x + c.", block: true, result: argument{name: "z", words: 1}, args: []argument{z, x, c},
		compute: func(s *source, a []value) value { return s.g.fma(a[0].(*node), a[1].(*node), a[2].(*node)) }})
}

// tiles have sums enough that their chains of dependent operations fill the time.
var tiles = []*tile{
	{name: "macTileDD", typ: "DD", words: 2, vectors: 4, columns: 2},
	{name: "macTileTD", typ: "TD", words: 3, vectors: 2, columns: 2},
	{name: "macTileQD", typ: "QD", words: 4, vectors: 2, columns: 2},
	{name: "macColumnDD", typ: "DD", words: 2, vectors: 4, columns: 1},
	{name: "macColumnTD", typ: "TD", words: 3, vectors: 2, columns: 1},
	{name: "macColumnQD", typ: "QD", words: 4, vectors: 2, columns: 1},
}

var formats = [5]string{2: "DD", 3: "TD", 4: "QD"}

// wordsOf lists the words of values.
func wordsOf(vs ...value) []value {
	var ws []value
	for _, v := range vs {
		for _, n := range flatten(v) {
			ws = append(ws, n)
		}
	}
	return ws
}

// negate returns v with every word negated.
func (s *source) negate(v value) value {
	t := copyValue(v).(*tuple)
	for i, e := range t.elems {
		t.elems[i] = s.g.negate(e.(*node))
	}
	return t
}

// report tells how long a kernel is.
func report(name string, steps []step, slots int) {
	if !*verbose {
		return
	}
	count := map[stepKind]int{}
	for _, s := range steps {
		count[s.what]++
	}
	fmt.Fprintf(os.Stderr, "%-20s %d computed, %d loads, %d spills, %d moves, %d slots\n", name,
		count[compute], count[load], count[spill], count[move], slots)
}
