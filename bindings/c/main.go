// Command c is libhalfulp, the C library of halfulp: see halfulp.h. "make lib" in the repository
// builds it as a shared library. Package internal/table lists its functions; the header, the
// functions that C calls, and the declarations for Python are generated from this table.
package main

import (
	_ "github.com/halfulp/halfulp/cuda" // GPUs
)

//go:generate go run ./internal/generate

func main() {}
