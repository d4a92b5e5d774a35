package abi

import (
	"strconv"

	"github.com/halfulp/halfulp/internal/cuda"
)

// Structures of kernels/rows/batch.cu.

// BatchThreads is the number of threads of a block.
const BatchThreads = 256

// BatchMargin is the number of bits of an integer above its vector's largest number.
const BatchMargin = 3

// BatchDigits lists the numbers of digits for which there are kernels, rising.
var BatchDigits = []int{3, 5, 9, 17}

// BatchKernel returns the name of the kernel for the given number of digits.
func BatchKernel(digits int) string { return "batch" + strconv.Itoa(digits) }

// BatchInner is the largest inner dimension of the products.
const BatchInner = 256

// batchTerms is the most products of digits between two carries.
const batchTerms = 500

// BatchOperand is one operand of all problems.
type BatchOperand struct {
	A            Numbers
	Table        cuda.Pointer
	Step, RS, CS int64
}

// Why a problem is left: a number has too many bits, or something else.
const (
	BatchWide = 1 << iota
	BatchOther
)

// BatchOutcome is the outcome of a problem.
type BatchOutcome struct {
	Overflow, Underflow uint64
	Left, _             uint32
}

// BatchProducts is the argument of the kernels.
type BatchProducts struct {
	Factor                          [2]BatchOperand
	C                               BatchOperand
	List, Outcomes                  cuda.Pointer
	Prec, Exp                       int64
	Size, Log                       [2]int32
	K, Count, Across, Chunk, Neg, _ int32
}

// Problems returns the number of problems of a block.
func (p *BatchProducts) Problems() int { return BatchThreads >> (p.Log[0] + p.Log[1]) }

// SetTiles sets the tiles, and returns the grid and the bytes of shared memory of a launch for the
// given number of digits, room of which blocks may take for digits.
func (p *BatchProducts) SetTiles(digits, room int) (grid cuda.Dim, shared int) {
	tiles := 1
	for side, n := range p.Size {
		for p.Log[side] < 4 && 1<<p.Log[side] < n {
			p.Log[side]++
		}
		across := int(n+1<<p.Log[side]-1) >> p.Log[side]
		if side == 0 {
			p.Across = int32(across)
		}
		tiles *= across
	}
	number := 4 * digits * ((p.Problems()<<p.Log[0] | 1) + (p.Problems()<<p.Log[1] | 1))
	p.Chunk = min(p.K, batchTerms/int32(digits), int32(max(1, room/number)))
	words := (RowDigit*(2*digits-2) + 64 + 31) / 32
	return cuda.Dim{X: (int(p.Count) + p.Problems() - 1) / p.Problems(), Y: tiles}, max(number*int(p.Chunk), 4*BatchThreads*words)
}
