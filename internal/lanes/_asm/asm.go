// Command _asm writes the kernels of package lanes:
//
//	go run . -out ../kernels_amd64.s -stubs ../stubs_amd64.go -pkg lanes
//
// They are described in ../vertical.go and ../linear.go, by the functions that do the same in Go.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"

	compact "github.com/halfulp/halfulp/internal/_compact"
)

func main() {
	ConstraintExpr("amd64,!purego")
	vertical()
	roundLanes()
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
