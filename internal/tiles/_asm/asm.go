// Command _asm writes the kernels of package tiles:
//
//	go run . -out ../kernels_amd64.s -stubs ../stubs_amd64.go -pkg tiles
//
// They are described in ../rows.go and ../dot.go, by the functions that do the same in Go.
package main

import (
	. "github.com/mmcloughlin/avo/build"

	compact "github.com/halfulp/halfulp/internal/_compact"
)

func main() {
	ConstraintExpr("amd64,!purego")
	tiles()
	Generate()
	compact.Out()
}
