package abi

import "github.com/halfulp/halfulp/internal/cuda"

// Structures of kernels/newton/small.cu.

// SmallDigits are the bits that digits of solutions have, at most, before the sign.
const SmallDigits = 25

// SmallSystem are the matrices A and B of a system, and X, which is stored by columns.
type SmallSystem struct {
	A, B, X [3]cuda.Pointer // planes, from entry (0, 0) on
	RS, CS  [2]int64        // of A and B
	N, K    int32           // A is N x N, B N x K
}

// SmallFormat is a format of numbers: MP, F64 or F32.
type SmallFormat struct{ Kind, Limbs, Prec int32 }

// SmallBatch is the argument of solveSmall.
type SmallBatch struct {
	Systems, Done cuda.Pointer // []SmallSystem; []int32: 1 for systems that are solved
	Scratch       cuda.Pointer // Order² Words int32 for each block; 0: these are in shared memory
	Stride        int64        // integers of Scratch for a block
	A, B, X       SmallFormat
	Count, Order  int32 // systems; the largest N
	Words         int32 // of an integer, at most; even
	Places, _     int32 // words of a solution
}
