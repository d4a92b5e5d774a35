// Package gpu holds the engine on NVIDIA GPUs. A package may use the packages listed above it:
//
//	mem       arrays and views in a device's memory, and the devices that are open
//	abi       the structures that kernels take as arguments
//	launch    loaded kernels
//	product   matrix products
//	rows      sums, matrix-vector products, entrywise operations
//	newton    entrywise operations of Newton's method and of the factors of linsolve
//	seed      approximate inverses in float64, also of Cholesky factors
//	gputest   the kernels in Go, for tests
//
// The tests of this folder run routines of the root package on a fake device and on the machine's
// GPUs.
package gpu
