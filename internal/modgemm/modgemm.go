// Package modgemm multiplies matrices of small integers exactly and reduces the
// products modulo small moduli, on one thread: the arithmetic under the residue
// number systems of the exact engine.
//
// Three tasks have the same inner loop, int32 += int16 int16 + int16 int16:
//
//   - Mul: residues times residues modulo one m, the products themselves;
//   - Convert: digits times the constants 2^(16 s) mod m_t, one modulus a row:
//     the way into the residue number system;
//   - Combine: digits of the weights times residues, as integers: the way out.
//
// # Packed operands
//
// Kernels read operands in panels. With MR and NR of the [Kernel], and a pair
// being two int16 that are neighbours along the summation index k,
//
//   - a left operand is a sequence of panels of MR rows; a panel holds, pair of k
//     after pair, the MR pairs of its rows;
//   - a right operand is a sequence of panels of NR columns; a panel holds, pair
//     of k after pair, the NR pairs of its columns.
//
// So row i, index h of a left operand of K pairs lies at
// ((i/MR K + h/2) MR + i%MR) 2 + h%2. Rows, columns and k are padded with zeros to
// whole panels and pairs; results have room for whole tiles of MR x NR. [PackLeft]
// and [PackRight] write these layouts.
//
// Convert treats every column as an entry of its own, so entries may come in any
// order. In the order of a packed operand its output planes are packed operands
// already, and can be passed to Mul.
package modgemm

//go:generate go -C _asm run . -isa avx2 -out ../avx2_amd64.s -stubs ../stubs_avx2_amd64.go -pkg modgemm
//go:generate go -C _asm run . -isa avx512 -out ../avx512_amd64.s -stubs ../stubs_avx512_amd64.go -pkg modgemm
//go:generate go -C _asm run . -isa amx -out ../amx_amd64.s -stubs ../stubs_amx_amd64.go -pkg modgemm
//go:generate go -C _asm run . -isa neon -out ../neon_arm64.s -stubs ../stubs_neon_arm64.go -pkg modgemm
