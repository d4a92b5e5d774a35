// Package tiles computes sums of products of long numbers on the tiles of AMX: rows of a matrix
// times a vector ([Sums]), and dot products ([Dot]). A tile is a register of 16 rows of 64 bytes;
// one instruction multiplies two tiles.
//
// Digits are bytes, B = 2^8. The product of two numbers of D digits omits the pairs of digits below
// the last place: it keeps a triangle of blocks of 16 digits. Sums of products of digits are exact
// in int32 or uint32 until they are carried. Products are relative to a reference exponent that
// none of them exceeds. In units of the last column the error of a product is less than (D/2 + 1) B
// for rows, where digits are signed, and in units of the last digit less than D + 1 for dot
// products; rows.go and dot.go prove it. A [Plan] chooses the number of digits so that n times this
// error is at least ten bits below the requested precision.
//
// A number that must be shifted by a word or more takes tens of times as long. [Plan.Near] checks
// samples of a matrix for such numbers, and [Dot.Add] reports false if there are too many; callers
// then use package lanes. If the error bound leaves the rounding of a sum open, the caller computes
// the exact sum.
//
// The unit in Go says what the kernels compute, bit for bit, and is tested on every machine
// ([EachUnit]). Kernels are loops over the blocks, whatever their number, but for a few blocks,
// whose sums stay in registers: these have kernels of their own.
package tiles
