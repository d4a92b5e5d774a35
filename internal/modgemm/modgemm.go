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
//
// # How to add a kernel
//
// A kernel multiplies matrices of small integers exactly with the instructions of one machine. All
// kernels give the same bits.
//
//  1. generic.go holds the reference loops, whose results every kernel must reproduce. Prove in
//     bounds.go that no sum leaves its range for the longest blocks that the kernel gets.
//  2. Generate assembly in _asm, a separate module, with avo for amd64 and with internal/_neon for
//     arm64, and add the go:generate line to modgemm.go. "make generate" writes the .s file and the
//     stubs; commit them. Go's assembler lacks most vector instructions of arm64: internal/_neon
//     writes them as macros. A new instruction needs a line in its table and two examples in its
//     test.
//  3. Add an entry to the table of the architecture, kernels_amd64.go or kernels_arm64.go, best
//     kernel first: the tile, the instructions it needs, its cache blocks. A new architecture gets
//     a table of its own and is excluded by the build tags of kernels_portable.go. A new
//     instruction set becomes a level or a feature in internal/isa.
//  4. Nothing else changes: the tests run under every kernel of the machine and compare it with the
//     generic one. "HALFULP_WANT_KERNELS=avx2,generic go test -v -run TestKernels" fails on a
//     machine that lacks one of the named kernels.
//  5. Measure the cost by "make tune" and "go test -run '^$' -bench 'ModTiles|Mul'", and enter it
//     in internal/residue/cost.go. Without such a machine, derive the cost from instruction counts
//     and say so in a comment.
//
// The kernels of internal/direct, internal/superacc, internal/lanes, internal/tiles, internal/sgemm
// and rns follow the same pattern. The kernels of package expansion come from a compiler:
// expansion/_asm reads the portable Go functions (addQD, QD.Add, macQD), evaluates them
// symbolically and schedules several vectors side by side. A change of these Go functions changes
// the definition of the arithmetic, and "make generate" carries it into the assembly. The compiler
// accepts straight-line Go only: float64, arrays, constant loops, comparisons, math.FMA and
// math.Sqrt.
package modgemm

//go:generate go -C _asm run . -isa avx2 -out ../avx2_amd64.s -stubs ../stubs_avx2_amd64.go -pkg modgemm
//go:generate go -C _asm run . -isa avx512 -out ../avx512_amd64.s -stubs ../stubs_avx512_amd64.go -pkg modgemm
//go:generate go -C _asm run . -isa amx -out ../amx_amd64.s -stubs ../stubs_amx_amd64.go -pkg modgemm
//go:generate go -C _asm run . -isa neon -out ../neon_arm64.s -stubs ../stubs_neon_arm64.go -pkg modgemm
