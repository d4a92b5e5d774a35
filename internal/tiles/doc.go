// Package tiles computes sums of products of long numbers on the tiles of AMX, registers of 16
// rows of 64 bytes that one instruction multiplies: rows of a matrix times a vector ([Sums]), and
// dot products ([Dot]).
//
// Digits are bytes, B = 2^8. Of the product of two numbers of D digits those pairs are kept that
// count, a triangle of blocks of 16 digits, and the sums of products of digits are whole: int32 or
// uint32 hold as many as are added before they are carried. The products are relative to a
// reference exponent that none of them exceeds. In units of the last column the error of a product
// is less than (D/2 + 1) B for rows, where digits are signed, and in units of the last digit less
// than D + 1 for dot products; rows.go and dot.go prove it. A [Plan] takes as many digits as leave
// ten bits between n times that and the precision asked for.
//
// Numbers shifted by a word or more take a way tens of times as long: [Plan.Near] looks at samples
// of a matrix, and [Dot.Add] reports false, so that callers take lanes (package lanes) instead.
// What a sum leaves open is decided by an exact one, by the caller.
//
// The unit in Go defines what the kernels compute, bit for bit, and is tested on every machine
// ([EachUnit]); there is a kernel for every number of blocks that pays.
package tiles
