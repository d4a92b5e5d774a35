package expansion

import "github.com/halfulp/halfulp/internal/isa"

// An operation is an elementwise operation with kernels on arrays.
type operation int

const (
	opAdd operation = iota
	opSub
	opMul
	opDiv
	opSqrt
	opFMA
	operations
)

// A kernel computes one operation on n expansions, n a positive multiple of the kernels' step. Word
// k of number i of x is k xStride bytes and i float64s after x. Results are canonical. z may be an
// operand or must lie apart from it. The kernel returns how many numbers it has left undone: it
// stops, rarely, at results that only canonical can put into their form.
type kernel func(z *float64, zStride int, x *float64, xStride int, y *float64, yStride int, c *float64, cStride int, n int) (left int)

// kernels is the arithmetic under one level of instruction sets.
type kernels struct {
	blocks *arithmetic
	arrays [5][operations]kernel // by words; nil for none
	macs   [5]kernel             // c + x y by macDD, macTD, macQD, not normalised; nil for none
	step   int                   // numbers that a pass of a kernel computes

	tiles, columns [5]tile // by words: for products of matrices, and of a matrix and a vector
}

var portableKernels = kernels{
	blocks:  &portable,
	step:    1,
	tiles:   [5]tile{2: {4, 1, 4, macTile(4, macDD)}, 3: {4, 1, 4, macTile(4, macTD)}, 4: {4, 1, 4, macTile(4, macQD)}},
	columns: [5]tile{2: {4, 1, 1, macTile(1, macDD)}, 3: {4, 1, 1, macTile(1, macTD)}, 4: {4, 1, 1, macTile(1, macQD)}},
}

// activeKernels returns the kernels of the active level of instruction sets.
func activeKernels() *kernels { return kernelsOf(isa.Level()) }
