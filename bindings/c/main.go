// Command c is libhalfulp, the C library of halfulp: see halfulp.h. It is built by "make lib" of the
// repository, as a shared library. internal/table lists its functions; the header, what C calls, and
// the declarations for Python are generated from that.
package main

import (
	_ "github.com/halfulp/halfulp/cuda" // GPUs
)

//go:generate go run ./internal/generate

func main() {}
