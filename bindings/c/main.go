// Command c is libhalfulp, the C library of halfulp: see halfulp.h. "make lib" of the repository
// builds it as a shared library. Package internal/table lists its functions; the header, the
// functions that C calls, and the declarations for Python are generated from that.
package main

import (
	_ "github.com/halfulp/halfulp/cuda" // GPUs
)

//go:generate go run ./internal/generate

func main() {}
