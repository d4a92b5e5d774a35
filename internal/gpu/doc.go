// Package gpu holds the engine on NVIDIA GPUs, in rooms that know those before them:
//
//	mem       arrays and views in a device's memory, and the devices that are open
//	abi       the structures that kernels take
//	launch    kernels that are loaded
//	product   matrix products
//	rows      sums, matrix-vector products, and what is done entry by entry
//	newton    what Newton's method and factors of linsolve do entry by entry
//	seed      approximate inverses in float64, also of Cholesky factors
//	gputest   the kernels in Go, for tests
//
// The tests of this folder run the root package's routines on a fake device and on the machine's.
package gpu
